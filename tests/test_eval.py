"""eval.py pairs a base and an adapter, resumes, and gives the same transcripts with any cache and batch."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docker
import pytest

import eval as evaluation
from model.decoder import Decoder, Turn
from model.loading import load_model
from model.render import Renderer
from operators.evaluation import EvalSettings, choose
from pipeline.files import read_json, read_scenarios, read_trajectories, write_json, write_record
from sandbox import containers
from sandbox.checker import CHECKER, CHECKER_PATH, CHECKER_PID1
from sandbox.wrapper import WRAPPER_HASH, pid1_command
from schema import HOME, BadInputError, Trajectory
from tests.helpers import ROOT, tiny
from tests.helpers.hand_scenarios import FRUIT, hand
from tests.helpers.processes import containers_of
from tests.helpers.recorded import scenario


def test_larger_n_only_adds_scenarios() -> None:
    records = [scenario("copy_files", index) for index in range(10)]
    small, large = choose(records, 3, 7), choose(records, 8, 7)
    assert small == large[:3]
    assert choose(records, 3, 8) != small
    with pytest.raises(BadInputError, match="--n"):
        choose(records, 0, 0)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base, an adapter on it, and three held-out scenarios."""
    place = tmp_path_factory.mktemp("eval")
    tiny.base(place / "base")
    for index in range(4):
        write_record(place / "data", tiny.trajectory(f"t{index}-s0", task="sum_column"))
    for index in range(3):
        write_record(place / "held", scenario("copy_files", index))
    flags = ["--data", "data", "--base", "base", "--out", "adapter", "--epochs", "20", "--lr", "5e-3", "--accum", "1"]
    flags += ["--dtype", "fp32"]
    done = script(place, "sft.py", *flags)
    assert done.returncode == 0, done.stderr
    return place


def script(cwd: Path, name: str, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / name), *flags]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment, check=False)


FLAGS = [
    "--base", "base", "--adapter", "adapter", "--scenarios", "held", "--max-steps", "2", "--max-new-tokens", "8",
    "--dtype", "fp32",  # in bf16, which some CPUs choose, the batch would change the tokens
]  # fmt: skip


@pytest.mark.docker
def test_eval_pairs_subjects_and_resumes(place: Path) -> None:
    first = script(place, "eval.py", *FLAGS, "--n", "2", "--compare-base")
    assert first.returncode == 0, first.stderr
    summary = json.loads(first.stdout)
    assert summary["base"]["n"] == summary["adapter"]["n"] == 2
    rows = {"scenarios": 3, "n": 2, "not_chosen": 1}
    assert {name: summary.get(name) for name in rows} == rows
    counts = read_json(place / "eval" / "adapter" / "manifest.json")["counts"]
    assert counts == {**rows, "subjects": 2}
    report = read_json(place / "eval" / "adapter" / "report.json")
    assert report["paired"]["adapter - base"]["n"] == 2
    assert set(report["subjects"]["adapter"]["per_axis"]) == set(scenario("copy_files", 0).axes())
    episodes = read_trajectories(place / "eval" / "adapter" / "adapter")
    assert len(episodes) == 2
    assert all(one.operator.adapter_hash and one.token_ids and one.assistant_mask for one in episodes)
    before = {path: path.stat().st_mtime_ns for path in (place / "eval" / "adapter").glob("*/*.json")}
    again = script(place, "eval.py", *FLAGS, "--n", "2", "--compare-base")
    assert again.stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in before} == before
    grown = script(place, "eval.py", *FLAGS, "--n", "3", "--compare-base")
    told = json.loads(grown.stdout)
    assert (told["adapter"]["n"], told["not_chosen"]) == (3, 0)
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.docker
def test_base_plays_the_first_of_the_scenarios_and_is_compared_on_them(place: Path) -> None:
    done = script(place, "eval.py", *FLAGS, "--n", "2", "--compare-base", "--base-n", "1", "--out", "part")
    assert done.returncode == 0, done.stderr
    subjects = ("base", "adapter")
    played = {name: {one.scenario_id for one in read_trajectories(place / "part" / name)} for name in subjects}
    first, second = choose(read_scenarios(place / "held"), 2, 0)
    assert played == {"base": {first.id}, "adapter": {first.id, second.id}}
    report = read_json(place / "part" / "report.json")
    assert report["paired"]["adapter - base"]["n"] == report["subjects"]["base"]["rates"]["clean_rate"]["n"] == 1


@pytest.mark.docker
def test_transcripts_do_not_depend_on_cache_or_batch(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    decoders: list[Decoder] = []
    workers = 1

    class Kept(Decoder):
        def __init__(self, *arguments: Any, **settings: Any) -> None:
            super().__init__(*arguments, **settings)
            decoders.append(self)

        def step(self, turns: Sequence[Turn]) -> None:
            """The first waits until every worker has a turn: on no machine do they miss each other."""
            end = time.monotonic() + 60
            while self.steps == 0 and self._in_progress < workers and time.monotonic() < end:
                time.sleep(0.001)
            super().step(turns)

    monkeypatch.setattr("operators.evaluation.Decoder", Kept)
    flags = [*FLAGS, "--max-steps", "5", "--max-new-tokens", "16", "--clean-up"]
    ways = {
        "alone": ["--workers", "1"],
        "at_once": ["--workers", "3", "--against", "alone"],
        "anew": ["--workers", "3", "--no-cache", "--against", "alone"],
    }
    told: dict[str, dict[str, Any]] = {}
    for name, own in ways.items():
        workers = int(own[1])
        assert evaluation.main(EvalSettings(**vars(evaluation.parser().parse_args([*flags, *own, "--out", name])))) == 0
        told[name] = json.loads(capsys.readouterr().out)
    # The ways are what they are called: two subjects each, clean_up and adapter.
    alone, at_once, anew = (decoders[at : at + 2] for at in (0, 2, 4))
    assert all(one.use_cache and one.steps == one.sampled_tokens for one in alone)
    assert all(one.use_cache and one.steps < one.sampled_tokens for one in at_once)
    assert not any(one.use_cache for one in anew)
    settings = {name: read_json(place / name / "manifest.json")["flags"] for name in ways}
    assert settings["alone"] == settings["at_once"] == {**settings["anew"], "no_cache": None}
    assert settings["anew"]["no_cache"] is True
    played = {name: read_trajectories(place / name / "adapter") for name in ways}
    for name in ("at_once", "anew"):  # what the shell said is not the operator's
        counts = told[name]["transcripts"]["adapter"]
        assert counts["differ"] == 0, counts
        assert counts["same"] + counts["parted_level"] + counts.get("parted_in_output", 0) == 3, counts
        assert counts["same"] >= 1, counts  # in the others ls printed another time
        assert counts == read_json(place / name / "report.json")["transcripts"]["adapter"]
        ids = [[one.token_ids for one in rows] for rows in (played["alone"], played[name])]
        assert sum(one == other for one, other in zip(*ids, strict=True)) == counts["same"]
    assert any(len(one.steps) > 1 for one in played["alone"])
    for one in played["alone"]:
        assert_read_as_sampled(one, Renderer.for_adapter(Path("adapter"), load_model("base")[1]))
    report = read_json(place / "alone" / "report.json")
    assert list(report["subjects"]) == ["adapter", "clean_up"]
    assert set(report["paired"]) == {"adapter - clean_up"}
    cleaned = read_trajectories(place / "alone" / "clean_up")
    assert all(one.operator.sampling["clean_up"] and one.token_ids is None for one in cleaned)


def assert_read_as_sampled(episode: Trajectory, renderer: Renderer) -> None:
    """The ids are the sampled turns and, between them, the environment's text tokenised: nothing was rendered again."""
    ids, mask = episode.token_ids or [], episode.assistant_mask or []
    place = 0
    turns = [index for index, message in enumerate(episode.messages) if message.role == "assistant"]
    for before, turn in zip([-1, *turns], turns, strict=False):
        between = episode.messages[before + 1 : turn]
        expected = renderer.context(between) if before < 0 else renderer.environment_ids(between)
        assert ids[place : place + len(expected)] == expected
        place += len(expected)
        end = next((at for at in range(place, len(ids)) if not mask[at]), len(ids))
        assert renderer.decode_turn(ids[place:end]) == (episode.messages[turn].content, True)
        place = end
    assert place == len(ids)


@pytest.mark.docker
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--scenarios", "nowhere"], "nowhere"),
        (["--base", "nowhere/at/all"], "no such base"),
        (["--adapter", "data"], "adapter_model.safetensors"),
        (["--render", "chat"], "--render"),
        (["--n", "0"], "--n is 0"),
        (["--base-n", "0"], "--base-n 0: must be at least 1"),
        (["--max-steps", "0"], "--max-steps 0: must be at least 1"),
        (["--workers", "0"], "--workers 0: must be at least 1"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(place: Path, flags: list[str], words: str) -> None:
    done = script(place, "eval.py", *FLAGS, "--out", "elsewhere", *flags)
    assert done.returncode == 2, done
    assert words in done.stderr.strip().splitlines()[-1]
    assert not (place / "elsewhere").exists()


@pytest.mark.parametrize(
    ("by", "task", "kind"), [("scenario", None, "scenario"), ("archetype", "sum_column", "archetype")]
)
def test_scenarios_that_the_adapter_was_trained_on_are_refused(
    place: Path, tmp_path: Path, by: str, task: str | None, kind: str
) -> None:
    seen = tiny.scenario("t0", task="sum_column")  # the scenario of the session t0-s0
    write_record(tmp_path / "held", scenario(task, 0) if task else seen)
    write_record(tmp_path / "held", scenario("copy_files", 7))
    write_json(tmp_path / "held" / "manifest.json", {"finished": True, "flags": {"by": by}})
    done = script(place, "eval.py", *FLAGS, "--out", "elsewhere", "--scenarios", str(tmp_path / "held"))
    assert done.returncode == 2, done
    assert f"sessions whose {kind} is held out here" in done.stderr
    assert not (place / "elsewhere").exists()


@pytest.mark.docker
def test_voids_above_the_limit_are_counted_and_exit_1(place: Path, tmp_path: Path) -> None:
    # No sandbox can hold a file below a file; the gate would refuse the scenario.
    fixtures = [FRUIT, {"path": f"{FRUIT['path']}/below", "text": ""}]
    for record in (hand(id="void-0001", fixtures=fixtures), hand(id="sound-0001")):
        write_record(tmp_path / "held", record)
    flags = ["--base", "base", "--scenarios", str(tmp_path / "held"), "--max-steps", "1", "--max-new-tokens", "4"]
    done = script(place, "eval.py", *flags, "--out", str(tmp_path / "out"))
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)["base"]
    assert (told["n"], told["voided"]) == (1, 1)
    report = read_json(tmp_path / "out" / "report.json")["subjects"]["base"]
    assert report["outcomes"] == {"sandbox_failed": 1, "max_steps": 1}


def wrappers_of(place: Path, *command: str) -> set[tuple[str, ...]]:
    """The step programs in the operators' containers of a script, as Docker started them, while it runs."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, *command], cwd=place, env=environment, stdout=subprocess.DEVNULL) as process:
        found = set[tuple[str, ...]]()
        while process.poll() is None:
            time.sleep(0.1)
            for one in containers_of(process.pid):
                with contextlib.suppress(docker.errors.NotFound):  # it has ended meanwhile
                    started = containers.api().inspect_container(one)["Config"]["Cmd"]
                    found |= {(started[2], *started[5:])} - {(CHECKER_PID1, CHECKER_PATH, HOME, CHECKER)}
    assert process.returncode == 0
    return found


@pytest.mark.docker
def test_gate_rollout_and_eval_run_the_same_wrapper(place: Path, tmp_path: Path) -> None:
    path = write_record(tmp_path / "held", hand())
    programs = pid1_command(0)
    wanted = {(programs[2], *programs[5:])}
    assert wrappers_of(place, "-m", "authoring.gate", str(path)) == wanted
    given = ["--scenarios", str(tmp_path / "held"), "--max-steps", "5"]
    rolled, evaluated = tmp_path / "rolled", tmp_path / "evaluated"
    assert wrappers_of(place, f"{ROOT}/rollout.py", *given, "--operator", "reference", "--out", str(rolled)) == wanted
    assert wrappers_of(place, f"{ROOT}/eval.py", *given, "--base", "base", "--out", str(evaluated)) == wanted
    for episode in [*read_trajectories(rolled, partial=True), *read_trajectories(evaluated / "base")]:
        assert episode.wrapper_hash == WRAPPER_HASH


def test_adapter_of_another_base_is_refused(place: Path, tmp_path: Path) -> None:
    tiny.base(tmp_path / "other", seed=1)
    done = script(place, "eval.py", *FLAGS, "--base", str(tmp_path / "other"))
    assert done.returncode == 2
    assert "another" in done.stderr
