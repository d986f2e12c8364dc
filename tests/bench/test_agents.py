"""An agent program that others wrote plays an episode: verified, one row, its tokens those that were sampled."""

import sys
from pathlib import Path

import pytest

from bench import agents
from pipeline.files import read_json
from tests.helpers.agent_image import build_agent_image
from tests.helpers.hand_scenarios import hand
from tests.helpers.real_base import real_base
from tests.helpers.rollouts import write_scenarios


@pytest.mark.docker
@pytest.mark.slow
def test_mini_swe_agent_solves_a_scenario_with_the_reference_behind_the_endpoint(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its packages come from the pinned list, when the image is built and not in the episode."""
    build_agent_image("mini-swe-agent", PIP_PYTHON=sys.executable)
    scenarios = write_scenarios(tmp_path / "scenarios", [hand(blocked=False)])
    out, base = tmp_path / "agents.json", str(real_base(tmp_path_factory))
    assert agents.main(scenarios=scenarios, agent=["mini-swe-agent"], base=base, limit=None, out=out) == 0
    figures = read_json(out)["mini-swe-agent"]
    names = ("n", "voided", "verified", "kept", "one_segment", "tokens_equal")
    assert [figures[name] for name in names] == [1, 0, 1, 1, 1, 1]
    assert figures["sampled_tokens"] > 0
