"""select_adapter.py prunes an adapter that only knows its training scenarios; `none` is the bare base."""

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from model.loading import adapter_argument, adapter_hash
from model.render import session_messages
from pipeline.files import read_json, read_trajectories, write_json, write_record
from pipeline.holdout import SelectedPath
from schema import Scenario, Trajectory
from select_adapter import SelectionSettings, selection_of
from tests.helpers import program, tiny
from tests.helpers.rollouts import comparable
from training.run import load_tokenizer

WORK = "echo done > copy.txt"


def world(id_: str, checker: str) -> Scenario:
    """A scenario that `checker` decides."""
    given = tiny.scenario(id_).model_dump(mode="json")
    return Scenario(**{**given, "checker": checker, "content_hash": ""})


TRAINED = world("trained-1", "test -f copy.txt")
OTHERS = [world(f"other-{at}", "! test -e copy.txt") for at in range(4)]  # there the work of the other one is wrong


def session(scenario: Scenario, sample: int, *turns: tuple[str, str | None], kept: bool = True) -> Trajectory:
    record = tiny.trajectory(f"{scenario.id}-s{sample}", kept=kept)
    messages = session_messages(scenario, list(turns))
    about = {"scenario_id": scenario.id, "scenario_hash": scenario.content_hash, "messages": messages}
    return record.model_copy(update=about)


def script(cwd: Path, name: str, *flags: str) -> dict[str, Any]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [*program(name), *flags], cwd=cwd, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


LIMITS = ["--base", "base", "--dtype", "fp32", "--max-steps", "3", "--max-new-tokens", "24"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base that types `exit` at once, and an adapter that knows one other session by heart."""
    place = tmp_path_factory.mktemp("select")
    tiny.base(place / "raw")
    by_heart = ["--epochs", "15", "--lr", "1e-2", "--accum", "1"]
    for sample in range(4):
        write_record(place / "exits", session(world("exits-1", "true"), sample, ("exit", None)))
        write_record(place / "data", session(TRAINED, sample, (WORK, ""), ("exit", None)))
    script(place, "sft.py", "--data", "exits", "--base", "raw", "--out", "exiting", *by_heart)
    merged(place / "raw", place / "exiting").save_pretrained(place / "base")
    load_tokenizer(str(place / "raw")).save_pretrained(place / "base")
    write_record(place / "trained", TRAINED)
    write_record(place / "reported", tiny.scenario("reported-1"))
    for scenario in OTHERS:
        write_record(place / "selection", scenario)
    script(place, "sft.py", "--data", "data", "--base", "base", "--out", "overfit", *by_heart)
    return place


def merged(base: Path, adapter: Path) -> Any:
    """The base with the adapter in its weights."""
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    return PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), adapter).merge_and_unload()


@pytest.mark.docker
@pytest.mark.slow
def test_an_adapter_that_only_knows_its_training_scenario_is_pruned(place: Path) -> None:
    local = ["--operator", "local", *LIMITS]
    for subject, kept in ((["--adapter", "overfit"], 1), ([], 0)):
        out = ["--scenarios", "trained", "--out", f"trained-{kept}"]
        assert script(place, "rollout.py", *local, *subject, *out)["kept"] == kept
    flags = ["--candidates", "overfit", "--scenarios", "selection", "--holdout", "reported", "--out", "chosen"]
    summary = script(place, "select_adapter.py", *LIMITS, *flags)
    assert (summary["selected"], summary["n"]) == ("none", 4)
    found = read_json(place / "chosen" / "selected.json")
    (candidate,) = found["candidates"]
    assert (found["base_clean_rate"]["rate"], candidate["clean_rate"]["rate"]) == (1.0, 0.0)
    assert candidate["difference"]["difference"] == -1.0
    again = {path: path.stat().st_mtime_ns for path in place.glob("chosen/*/*.json")}
    assert script(place, "select_adapter.py", *LIMITS, *flags) == summary
    assert again == {path: path.stat().st_mtime_ns for path in place.glob("chosen/*/*.json")}

    # `none` is the bare base, byte for byte: the run without an adapter is the same run, and goes on.
    bare = [*local, "--scenarios", "selection", "--out", "bare"]
    script(place, "rollout.py", *bare)
    before = {path: path.read_bytes() for path in place.glob("bare/*.json")}
    named = script(place, "rollout.py", *bare, "--adapter", "chosen/selected.json")
    assert named["resumed"] == named["rollouts"] == 4
    assert before == {path: path.read_bytes() for path in place.glob("bare/*.json")}
    assert all(one.operator.adapter_hash is None for one in read_trajectories(place / "bare"))
    flags = [*local, "--scenarios", "selection", "--out", "anew", "--adapter", "chosen/selected.json"]
    assert script(place, "rollout.py", *flags)["resumed"] == 0
    found, expected = (comparable(place / name) for name in ("anew", "bare"))
    for id_, record in found.items():
        assert record.pop("log_probs") == pytest.approx(expected[id_].pop("log_probs"), abs=1e-4)  # who shares a batch
    assert found == expected


def selected(place: Path, base: list[bool], candidate: list[bool]) -> Path:
    """The selected.json of these results on as many scenarios."""
    worlds = {f"w{at}": world(f"w{at}", "true") for at in range(len(base))}
    episodes = [
        {
            id_: session(one, 0, (WORK, ""), ("exit", None), kept=kept)
            for (id_, one), kept in zip(worlds.items(), side, strict=True)
        }
        for side in (base, candidate)
    ]
    adapter = place / "adapter"
    adapter.mkdir(exist_ok=True)
    if not (adapter / "adapter_model.safetensors").exists():
        (adapter / "adapter_model.safetensors").write_bytes(b"weights")
    settings = SelectionSettings(
        base="nowhere/base", candidates=[adapter], scenarios=place, holdout=None, out=place / "out", n=None, seed=0,
        max_steps=1, max_new_tokens=1, timeout_seconds=1, image="sekft-dash", workers=1, dtype="auto", load_4bit=False,
        partial=False,
        redo=False,
    )  # fmt: skip
    found = selection_of(settings, worlds, episodes[0], {adapter: episodes[1]})
    write_json(place / "out" / "selected.json", found.model_dump(mode="json"))
    return place / "out" / "selected.json"


def test_the_base_wins_unless_the_lower_bound_is_above_zero(tmp_path: Path) -> None:
    assert adapter_argument(str(selected(tmp_path, [True] * 12 + [False] * 8, [True] * 4 + [False] * 16))) is None
    assert (
        adapter_argument(str(selected(tmp_path, [False] * 20, [True] * 2 + [False] * 18))) is None
    )  # by luck, perhaps
    chosen = adapter_argument(str(selected(tmp_path, [False] * 20, [True] * 12 + [False] * 8)))
    assert chosen is not None
    assert chosen.resolve() == (tmp_path / "adapter").resolve()
    assert isinstance(chosen, SelectedPath)
    decided = {(one.scenario_id, one.content_hash) for one in chosen.selected_on}
    assert decided == {(id_, world(id_, "true").content_hash) for id_ in (f"w{at}" for at in range(20))}
    assert adapter_argument(str(tmp_path / "adapter")) == tmp_path / "adapter"


@pytest.mark.parametrize(
    ("n", "only_candidate", "only_base", "taken"),
    [(1, 1, 0, False), (10, 4, 0, False), (20, 5, 0, False), (6, 6, 0, True), (20, 6, 0, True), (40, 11, 3, False)],
)
def test_a_candidate_needs_more_than_chance(
    tmp_path: Path, n: int, only_candidate: int, only_base: int, taken: bool
) -> None:
    base = [True] * only_base + [False] * (n - only_base)
    candidate = [False] * (n - only_candidate) + [True] * only_candidate
    found = read_json(selected(tmp_path, base, candidate))
    assert (found["selected"] != "none") == taken, found["candidates"]
    (evidence,) = found["candidates"]
    counts = (evidence["difference"]["only_after"], evidence["difference"]["only_before"])
    assert counts == (only_candidate, only_base)
    assert (evidence["sign_test_p"] < 0.05) == taken
    assert evidence["difference"]["interval"][0] > 0  # the bootstrap alone would take every one of them


def test_an_adapter_that_changed_since_is_refused(tmp_path: Path) -> None:
    file = selected(tmp_path, [False] * 20, [True] * 20)
    before = adapter_hash(tmp_path / "adapter")
    (tmp_path / "adapter" / "adapter_model.safetensors").write_bytes(b"others")
    assert adapter_hash(tmp_path / "adapter") != before
    with pytest.raises(argparse.ArgumentTypeError, match="has other weights since"):
        adapter_argument(str(file))
