"""The steps of a replay: those of the run that played the episodes, else by sample number; foreign ids are left out."""

import json
from pathlib import Path
from typing import Any

import pytest

from model.render import Renderer, Wire, session_messages
from pipeline.files import write_json
from schema import BadInputError, OperatorInfo, Segment, Trajectory
from tests.helpers import tiny
from training.rl_replay import of_other_render, refuse_other_base, replay_groups
from training.rl_settings import RlSettings
from training.run import load_tokenizer

WORLDS = [tiny.scenario(id_) for id_ in ("a", "b", "c")]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("replay") / "base")


def renderer(base: Path, wire: Wire = "markers") -> Renderer:
    return Renderer(load_tokenizer(str(base)), wire)


def settings(base: Path, **changes: Any) -> RlSettings:
    given: dict[str, Any] = {"base": str(base), "adapter": Path("x"), "scenarios": Path("x"), "episodes": 2}
    return RlSettings(**{**given, **changes})


def played(*ids: str) -> list[Trajectory]:
    worlds = {one.id: one for one in WORLDS}
    return [
        tiny.trajectory(id_).model_copy(
            update={"scenario_hash": worlds[id_[0]].content_hash} if id_[0] in worlds else {}
        )
        for id_ in ids
    ]


def steps_of(rows: list[Trajectory], base: Path, **changes: Any) -> tuple[list[list[list[str]]], dict[str, list[str]]]:
    """The ids of each group of each step, and what is left out."""
    steps, left_out = replay_groups(rows, WORLDS, renderer(base), settings(base, **changes))
    return [[[one.id for one in group.episodes] for group in groups] for groups in steps], left_out


def run_of(directory: Path, steps: list[list[str]]) -> Path:
    """What rl.py leaves of a run with these scenarios in its steps; returns its episodes' directory."""
    flags = {"groups": 2, "episodes": 2}
    write_json(directory / "episodes" / "manifest.json", {"stage": "rl", "finished": True, "flags": flags})
    lines = [json.dumps({"step": number, "scenarios": ids}) for number, ids in enumerate(steps, 1)]
    (directory / "log_history.jsonl").write_text("\n".join(lines) + "\n")
    return directory / "episodes"


def test_the_episodes_of_a_run_come_in_its_steps(base: Path, tmp_path: Path) -> None:
    rows = played("a-s0", "a-s1", "a-s2", "a-s3", "b-s0", "b-s1", "c-s0", "c-s1", "c-s2", "z-s0")
    replay = run_of(tmp_path, [["c", "a"], ["b"], ["a"]])
    steps, left_out = steps_of(rows, base, replay=replay, groups=2)
    assert steps == [[["c-s0", "c-s1"], ["a-s0", "a-s1"]], [["b-s0", "b-s1"]], [["a-s2", "a-s3"]]]
    assert left_out == {"other_scenario": ["z-s0"], "unfinished_step": ["c-s2"]}
    with pytest.raises(BadInputError, match=r"--groups is 8, the run of .* had 2; pass --groups 2"):
        steps_of(rows, base, replay=replay)


def test_other_episodes_come_by_sample_number(base: Path, tmp_path: Path) -> None:
    rows = played("a-s0", "a-s1", "a-s2", "b-s0", "b-s1", "c-s0")
    write_json(tmp_path / "manifest.json", {"stage": "rollout", "finished": True})
    orders = []
    for seed in range(8):
        steps, left_out = steps_of(rows, base, replay=tmp_path, groups=2, seed=seed)
        *first, again = [group for step in steps for group in step]
        assert sorted(first) == [["a-s0", "a-s1"], ["b-s0", "b-s1"], ["c-s0"]]  # each scenario once
        assert (again, left_out) == (["a-s2"], {})  # before one comes again
        assert steps_of(rows, base, replay=tmp_path, groups=2, seed=seed)[0] == steps
        orders.append(steps[0])
    assert any(one != orders[0] for one in orders)  # the seed decides the order


def test_ids_that_the_renderer_would_not_give_are_seen(base: Path) -> None:
    ours = renderer(base)
    (row,) = played("a-s0")
    row = row.model_copy(update={"messages": session_messages(WORLDS[0], [("ls", "b\n"), ("exit", None)])})
    encoded = ours.encode(row.messages)
    tokens: dict[str, Any] = {
        "token_ids": encoded.token_ids,
        "assistant_mask": encoded.mask,
        "log_probs": [-1.0] * len(encoded.mask),
    }
    recorded = row.model_copy(update=tokens)
    assert of_other_render([row, recorded], ours) == set()
    assert of_other_render([row, recorded], renderer(base, "chat")) == {"a-s0"}
    agent = {"segments": [Segment(**tokens)], "operator": OperatorInfo(kind="agent", agent="plain")}
    assert of_other_render([row.model_copy(update=agent)], ours) == {"a-s0"}
    assert of_other_render([row.model_copy(update=agent)], renderer(base, "chat")) == set()


@pytest.mark.parametrize("flags", [{"base_hash": "0" * 64, "base": "b"}, {"base": "0" * 64}])
def test_episodes_of_another_base_are_refused(flags: dict[str, str], base: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "manifest.json", {"finished": True})
    refuse_other_base(tmp_path, str(base))
    write_json(tmp_path / "manifest.json", {"finished": True, "flags": flags})
    with pytest.raises(BadInputError, match="another base played these episodes"):
        refuse_other_base(tmp_path, str(base))
