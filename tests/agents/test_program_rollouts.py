"""Rollouts of an agent program: verified, one segment per session, its tokens those that were sampled, on disk."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.known import PLAIN
from agents.policy import PolicyAnswers, ReferencePolicy
from agents.program_episode import Endpoint, ProgramLimits
from agents.program_rollouts import ProgramPlayer, require_program_image
from agents.templates import ChatTemplate
from operators.episode import Episode, EpisodeLimits
from operators.reference import ReferenceOperator
from operators.rollouts import RolloutPlan, read_finished, run_episodes
from pipeline.files import read_trajectories
from sandbox.containers import IMAGE
from schema import BadInputError, OperatorInfo, Scenario
from tests.helpers import ROOT
from tests.helpers.agent_endpoint import PolicyEndpoint, serving
from tests.helpers.real_base import real_base
from tests.helpers.rollouts import made

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> ChatTemplate:
    from transformers import AutoTokenizer

    subprocess.run(["sh", "runs/agent_image.sh", "plain"], cwd=ROOT, check=True, timeout=600)
    return ChatTemplate.of(AutoTokenizer.from_pretrained(real_base(tmp_path_factory)))


def test_template_authored_scenarios_through_the_plain_program(template: ChatTemplate, tmp_path: Path) -> None:
    sampled: dict[str, list[int]] = {}

    @contextlib.contextmanager
    def endpoint(scenario: Scenario, seed: int) -> Iterator[Endpoint]:
        policy = ReferencePolicy(ReferenceOperator(), scenario, PLAIN, seed=seed)
        with serving(PolicyEndpoint(PolicyAnswers(template, policy))) as open_endpoint:
            yield open_endpoint
        sampled[scenario.id] = [id_ for ids in open_endpoint.sampled for id_ in ids]

    cancelled = threading.Event()
    info = OperatorInfo(kind="agent", agent="plain", model="reference")
    play = ProgramPlayer(PLAIN, ProgramLimits(max_steps=60), IMAGE, info, endpoint, 1, cancelled)
    plan = RolloutPlan(
        ReferenceOperator, 1, EpisodeLimits(60, 30.0), 2, cancelled, IMAGE, play=play, options=play.options
    )
    scenarios = [one for one in made() if one.task in ("set_config", "missing_source")]
    run_episodes(plan, [Episode(one) for one in scenarios], tmp_path, label="rollout")
    found = read_trajectories(tmp_path, partial=True)
    assert sorted((one.axes["task"], one.outcome, one.kept) for one in found) == [
        ("missing_source", "panic", True), ("set_config", "exit", True)
    ]  # fmt: skip
    for one in found:
        (row,) = one.segments or []
        assert [id_ for id_, on in zip(row.token_ids, row.assistant_mask, strict=True) if on] == sampled[
            one.scenario_id
        ]
        assert one.steps
        assert one.operator.seed == Episode(next(s for s in scenarios if s.id == one.scenario_id)).seed_in(1)
    assert all(read_finished(tmp_path, Episode(one)) for one in scenarios)


@pytest.fixture
def world() -> Iterator[str]:
    """Another image of the world: the same files, another id."""
    name = f"sekft-world-{os.getpid()}"
    build = f"FROM {IMAGE}\nLABEL sekft.other=1\n"
    subprocess.run(["docker", "build", "--quiet", "--tag", name, "-"], input=build.encode(), check=True, timeout=300)
    yield name
    for one in (f"{name}-plain", name):
        subprocess.run(["docker", "rmi", "--force", one], check=True, timeout=300)


def test_an_image_that_is_missing_or_built_on_another_world_is_refused(template: ChatTemplate, world: str) -> None:
    remedy = f"run `WORLD={world} sh runs/agent_image.sh plain`"
    with pytest.raises(BadInputError) as missing:
        require_program_image(PLAIN, world)
    assert str(missing.value) == f"--agent plain: image '{world}-plain' is missing or unfit; {remedy}"
    subprocess.run(["docker", "tag", f"{IMAGE}-plain", f"{world}-plain"], check=True, timeout=300)
    with pytest.raises(BadInputError) as other:
        require_program_image(PLAIN, world)
    assert str(other.value) == f"--agent plain: image '{world}-plain' was built on another '{world}'; {remedy}"
