"""rl.py on a real tiny base and real sandboxes: it learns, logs, resumes, replays, and refuses what it must."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

import rl
from model.loading import adapter_hash
from pipeline.files import read_identity, read_record, read_trajectories, write_json, write_record
from schema import Trajectory
from tests.helpers import ROOT, tiny
from tests.helpers.policy import FLAGS, NEVER, undecided_adapter, write_worlds
from tests.helpers.processes import heed_signals, sandboxes_of
from tests.helpers.ray_cluster import head
from tests.helpers.rollouts import write_scenarios
from tests.helpers.training import exit_code
from training.rl_run import last_state

pytestmark = pytest.mark.docker
SIGNAL = ("w0", "w1")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with `base`, `scenarios` and the adapter `sft`."""
    directory = tmp_path_factory.mktemp("rl")
    worlds = write_worlds(directory / "scenarios")
    undecided_adapter(tiny.base(directory / "base"), directory / "sft", worlds)
    return directory


def flags_of(made: Path, out: Path, *more: object) -> list[str]:
    return [
        "--base", str(made / "base"), "--adapter", str(made / "sft"), "--scenarios", str(made / "scenarios"),
        "--out", str(out), *FLAGS, *map(str, more),
    ]  # fmt: skip


def replay_of(made: Path, out: Path, replay: Path, *more: object) -> list[str]:
    return without_playing(flags_of(made, out, "--replay", replay, *more))


def without_playing(flags: list[str]) -> list[str]:
    """The flags without those of FLAGS that --replay does not read."""
    for name in ("--max-steps", "--max-new-tokens", "--skip-after", "--workers"):
        at = flags.index(name)
        flags = flags[:at] + flags[at + 2 :]
    return flags


def started(flags: list[str]) -> "subprocess.Popen[str]":
    """rl.py under way in a process of its own."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "rl.py"), *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"}, preexec_fn=heed_signals,
    )  # fmt: skip


def in_process(capsys: pytest.CaptureFixture[str], *flags: object) -> tuple[int, str, str]:
    """The command line in this process: exit code, stdout, stderr."""
    capsys.readouterr()
    code = exit_code(rl, *flags)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def summary(capsys: pytest.CaptureFixture[str], *flags: object) -> dict[str, Any]:
    code, out, err = in_process(capsys, *flags)
    assert code == 0, err
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def history(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "log_history.jsonl").read_text().splitlines()]


def without_times(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if not name.endswith("_seconds")} for line in lines]


def hashes(directory: Path) -> dict[str, str]:
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def same_weights(one: Path, other: Path) -> bool:
    from safetensors.torch import load_file

    ours, theirs = (load_file(path / "adapter_model.safetensors") for path in (one, other))
    return all(ours[name].allclose(theirs[name], atol=1e-4) for name in ours | theirs)


@pytest.fixture(scope="module")
def trained(made: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Two steps on the command line, the reload check included."""
    out = tmp_path_factory.mktemp("rl") / "trained"
    before = hashes(made)
    process = started(flags_of(made, out, "--updates", 2))
    printed, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert hashes(made) == before  # base and start adapter stay as they were
    (line,) = printed.splitlines()
    return out, json.loads(line)


def test_every_figure_of_a_step_is_logged(trained: tuple[Path, dict[str, Any]]) -> None:
    out, result = trained
    first, second = history(out)
    assert (first["step"], second["step"]) == (1, 2)
    assert (first["groups"], first["episodes"], first["scored"], first["segments"]) == (3, 12, 12, 12)
    assert 0 < first["reward"] < 1
    assert first["reward"] == pytest.approx(first["solved"])
    assert first["reward_std"] == pytest.approx((first["reward"] * (1 - first["reward"])) ** 0.5)
    assert 1 / 3 <= first["signal_share"] <= 2 / 3  # nothing solves the third scenario
    assert first["updated"]
    assert first["log_prob_difference_mean"] <= first["log_prob_difference_max"]
    assert max(line["log_prob_difference_mean"] for line in (first, second)) <= 1e-4
    assert (first["clip_share"], first["void_share"], first["loops"]) == (0, 0, 0)
    assert first["entropy"] > 0.1
    assert first["episode_tokens"] * 12 == pytest.approx(first["trained_tokens"])
    assert first["commands"] >= 1
    assert all(first[f"{phase}_seconds"] > 0 for phase in ("sample", "check", "update"))
    assert result["steps"] == 2
    assert result["log_prob_difference_over"] == 0
    assert result["logits_differ_by"] == 0  # of the saved adapter in a fresh process
    assert list((out / "runs").glob("events*"))


def test_scenarios_without_signal_are_skipped_and_counted(trained: tuple[Path, dict[str, Any]]) -> None:
    out, _ = trained
    first, second = history(out)
    assert (first["skipped_failed"], first["skipped_solved"]) == (0, 0)
    assert second["skipped_failed"] >= 1
    assert second["groups"] == 3 - second["skipped_failed"] - second["skipped_solved"]
    assert not (out / "episodes" / f"{NEVER}-s4.json").exists()


def test_every_episode_is_a_trajectory_on_disk(trained: tuple[Path, dict[str, Any]], made: Path) -> None:
    out, result = trained
    rows = read_trajectories(out / "episodes")
    assert len(rows) == result["episodes"] == sum(line["episodes"] for line in history(out))
    digests = {adapter_hash(made / "sft"), adapter_hash(out / "steps" / "step-00001")}
    assert {row.operator.adapter_hash for row in rows} == digests
    for row in rows:
        assert row.token_ids
        assert [one is not None for one in row.log_probs or []].count(True) > 0
        assert len(row.token_ids) == len(row.assistant_mask or []) == len(row.log_probs or [])


def test_the_identity_carries_the_whole_chain(
    trained: tuple[Path, dict[str, Any]], made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = trained
    about, behind = read_identity(out), read_identity(made / "sft")
    (run,) = about.earlier
    assert run.adapter_hash == adapter_hash(made / "sft") == about.flags["adapter"]
    assert (run.flags, run.data_hash, run.git_commit) == (behind.flags, behind.data_hash, behind.git_commit)
    assert about.base_hash == behind.base_hash
    taught = {f"w{at}-s{sample}" for at in range(3) for sample in range(3)}
    played = {row.id for row in read_trajectories(out / "episodes")}
    assert {row.trajectory_id for row in about.trained_on} == taught | played
    assert {row.trajectory_id for row in read_identity(out / "steps" / "step-00001").trained_on} < taught | played
    flags = replay_of(made, tmp_path / "second", out / "episodes", "--updates", 1, "--no-reload")
    flags[flags.index("--adapter") + 1] = str(out)
    summary(capsys, *flags)
    chain = read_identity(tmp_path / "second").earlier
    assert [one.adapter_hash for one in chain] == [adapter_hash(made / "sft"), adapter_hash(out)]


def test_a_finished_run_returns_at_once_and_other_flags_are_refused(
    trained: tuple[Path, dict[str, Any]], made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, result = trained
    before = hashes(out)
    assert summary(capsys, *flags_of(made, out, "--updates", 2))["reward_last"] == result["reward_last"]
    assert hashes(out) == before
    code, _, err = in_process(capsys, *flags_of(made, out, "--updates", 2, "--kl", 0.1))
    assert (code, "--kl was 0.0, is 0.1" in err) == (2, True), err


def test_a_finished_run_goes_on_with_more_updates(
    trained: tuple[Path, dict[str, Any]], made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, _ = trained
    summary(capsys, *flags_of(made, tmp_path, "--updates", 1, "--no-reload"))
    code, _, err = in_process(capsys, *flags_of(made, tmp_path, "--updates", 2, "--holdout", made / "scenarios"))
    assert (code, "held out" in err) == (2, True), err
    result = summary(capsys, *flags_of(made, tmp_path, "--updates", 2, "--no-reload"))
    assert (result["resumed_from"], result["steps"]) == (1, 2)
    assert same_weights(tmp_path, whole)
    code, _, err = in_process(capsys, *flags_of(made, tmp_path, "--updates", 1))
    assert (code, "--updates was 2, is 1" in err) == (2, True), err


def step_2_is_sampling(out: Path) -> bool:
    return any((out / "episodes" / f"{id_}-s4.json").exists() for id_ in SIGNAL)


def step_2_is_updating(out: Path) -> bool:
    """Whether its last episode is on disk; the update begins then."""
    visited = [id_ for id_ in SIGNAL if (out / "episodes" / f"{id_}-s4.json").exists()]
    return bool(visited) and all((out / "episodes" / f"{id_}-s7.json").exists() for id_ in visited)


def step_2_is_written(out: Path) -> bool:
    """Whether its checkpoint is being written, which lasts for so short a time that it may be seen only afterwards."""
    checkpoints = out / "checkpoints"
    writing = (checkpoints / "step-00001").exists() and (checkpoints / ".saving").exists()
    return writing or (checkpoints / "step-00002").exists()


@pytest.mark.parametrize("moment", [step_2_is_sampling, step_2_is_updating, step_2_is_written])
def test_a_killed_run_plays_nothing_twice_and_ends_as_a_whole_one(
    moment: Callable[[Path], bool],
    trained: tuple[Path, dict[str, Any]],
    made: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole, _ = trained
    process = started(flags_of(made, tmp_path, "--updates", 2, "--no-reload"))
    reach(moment, tmp_path, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    steps = len(history(tmp_path))
    assert steps == 1 or (steps == 2 and moment is not step_2_is_sampling)  # the kill may come a moment late
    played = {path: path.stat().st_mtime_ns for path in (tmp_path / "episodes").glob("w*.json")}
    result = summary(capsys, *flags_of(made, tmp_path, "--updates", 2, "--no-reload"))
    assert result["resumed_from"] in (steps, 2)  # 2: killed between the step's new name and its line of the log
    assert {path: path.stat().st_mtime_ns for path in played} == played
    assert sandboxes_of(process.pid) == []
    ours, theirs = (read_trajectories(out / "episodes") for out in (tmp_path, whole))
    assert [(row.id, row.token_ids) for row in ours] == [(row.id, row.token_ids) for row in theirs]
    for one, other in zip(history(tmp_path), history(whole), strict=True):
        assert (one["step"], one["reward"], one["episodes"]) == (other["step"], other["reward"], other["episodes"])
        assert one["grad_norm"] == pytest.approx(other["grad_norm"], rel=1e-3)
    assert same_weights(tmp_path, whole)


def reach(moment: Callable[[Path], bool], out: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until a run is at `moment`, or a little past it."""
    deadline = time.monotonic() + 600
    while not moment(out):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_no_sandbox_and_is_one_line(made: Path, tmp_path: Path, number: int, code: int) -> None:
    process = started(flags_of(made, tmp_path, "--updates", 2, "--no-reload"))
    reach(step_2_is_sampling, tmp_path, process)
    process.send_signal(number)
    _, message = process.communicate(timeout=60)
    assert process.returncode == code, message
    assert message.splitlines()[-1] == "rl.py: interrupted; finished results are on disk, rerun the same command"
    assert "Traceback" not in message
    assert sandboxes_of(process.pid) == []


def test_nodes_of_a_cluster_play_the_same_episodes(
    made: Path, trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    with head(2) as cluster:
        cluster.add_node(num_cpus=2, include_dashboard=False, object_store_memory=100 << 20)
        cluster.wait_for_nodes()
        process = started([*flags_of(made, tmp_path / "ray", "--updates", 2), "--ray", cluster.address])
        printed, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert len(printed.splitlines()) == 1
    ours, theirs = (
        {one.id: one for one in read_trajectories(out / "episodes", partial=True)}
        for out in (tmp_path / "ray", trained[0])
    )
    assert {id_: (one.commands, one.token_ids) for id_, one in ours.items()} == {
        id_: (one.commands, one.token_ids) for id_, one in theirs.items()
    }
    assert len({one.operator.adapter_hash for one in ours.values()}) == 2  # each step is played with its own weights
    assert all(line["log_prob_difference_mean"] < 1e-4 for line in history(tmp_path / "ray"))
    assert [line["check_seconds"] for line in history(tmp_path / "ray")] == [None, None]  # the nodes do not tell
    assert json.loads(printed)["check_seconds"] is None
    assert same_weights(tmp_path / "ray", trained[0])
    assert not sandboxes_of(process.pid)


def test_a_cluster_of_this_machine_alone_holds_the_base_once(made: Path, tmp_path: Path) -> None:
    process = started([*flags_of(made, tmp_path, "--updates", 1, "--no-reload"), "--ray", "local"])
    seen: set[str] = set()
    while process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children(recursive=True):
                seen.add(" ".join(child.cmdline())[:200])
        time.sleep(0.1)
    assert process.returncode == 0, process.communicate()[1]
    assert any("raylet" in one for one in seen)
    assert [one for one in seen if "_NodeActor" in one] == []


def test_the_last_complete_step_is_found_whatever_a_kill_left(tmp_path: Path) -> None:
    for name in ("step-00001", "step-00002", ".saving"):
        write_json(tmp_path / "checkpoints" / name / "state.json", {"step": int(name[-1]) if name[-1].isdigit() else 9})
    found, state = last_state(tmp_path, Path("start"))
    assert (found.name, state.step) == ("step-00002", 2)
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["step-00002"]
    assert last_state(tmp_path / "new", Path("start"))[0] == Path("start")


def test_a_replay_makes_the_adapter_of_the_run_without_playing(
    trained: tuple[Path, dict[str, Any]],
    made: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, _ = trained
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    assert summary(capsys, *replay_of(made, tmp_path / "out", whole / "episodes", "--no-reload"))["steps"] == 2
    assert_replayed(tmp_path / "out", whole)
    assert not (tmp_path / "out" / "episodes").exists()


def assert_replayed(out: Path, run: Path) -> None:
    """The replay has the steps of the run, and its weights."""
    for one, other in zip(history(out), history(run), strict=True):
        assert (one["scenarios"], one["reward"]) == (other["scenarios"], other["reward"])
        assert one["grad_norm"] == pytest.approx(other["grad_norm"], rel=1e-3)
        assert one["log_prob_difference_mean"] <= 1e-4
    assert same_weights(out, run)


def test_a_replay_repeats_the_steps_of_a_run_with_more_scenarios_than_groups(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One scenario a step: the seed decides which, and none that had no signal is played again."""
    run, replay = tmp_path / "run", tmp_path / "replay"
    summary(capsys, *flags_of(made, run, "--updates", 4, "--groups", 1, "--seed", 1, "--no-reload"))
    played = [line["scenarios"] for line in history(run)]
    assert played[:3] != sorted(played[:3])
    flags = replay_of(made, replay, run / "episodes", "--seed", 1, "--no-reload")
    code, _, err = in_process(capsys, *flags)
    assert (code, "--groups is 3, the run of" in err, "pass --groups 1" in err) == (2, True, True), err
    summary(capsys, *flags, "--groups", 1)
    assert_replayed(replay, run)


def test_episodes_of_another_base_or_render_are_refused(
    trained: tuple[Path, dict[str, Any]], made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    episodes = trained[0] / "episodes"
    flags = replay_of(made, tmp_path / "out", tmp_path / "other")
    shutil.copytree(episodes, tmp_path / "other")
    manifest = json.loads((episodes / "manifest.json").read_text())
    write_json(tmp_path / "other" / "manifest.json", manifest | {"flags": manifest["flags"] | {"base_hash": "0" * 64}})
    code, _, err = in_process(capsys, *flags)
    assert (code, "another base played these episodes" in err.splitlines()[-1]) == (2, True), err
    write_json(tmp_path / "other" / "manifest.json", {"finished": True})
    rows = read_trajectories(episodes)
    for row in rows:  # read with other text between the turns, as another render format or tokenizer has
        ids = [row.token_ids[0] + 1, *row.token_ids[1:]] if row.token_ids else None
        write_record(tmp_path / "other", row.model_copy(update={"token_ids": ids}))
    code, _, err = in_process(capsys, *flags)
    assert (code, f"{{'other_render': {len(rows)}}}" in err.splitlines()[-1]) == (2, True), err
    assert not (tmp_path / "out").exists()
    write_record(tmp_path / "other", rows[0])
    assert summary(capsys, *flags, "--inspect")["episodes"] == 1


def test_segments_of_an_agent_are_replayed_like_a_session(
    trained: tuple[Path, dict[str, Any]], made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, _ = trained
    for row in read_trajectories(whole / "episodes"):
        tokens = {name: getattr(row, name) for name in ("token_ids", "assistant_mask", "log_probs")}
        empty = dict.fromkeys(tokens)
        value = {**row.model_dump(exclude_none=True, exclude=set(tokens)), **empty, "segments": [tokens]}
        write_record(tmp_path / "agent", Trajectory.model_validate(value))
    write_json(tmp_path / "agent" / "manifest.json", {"finished": True})
    flags = replay_of(made, tmp_path / "out", tmp_path / "agent", "--updates", 1, "--no-reload")
    summary(capsys, *flags)
    assert history(tmp_path / "out")[0]["grad_norm"] == pytest.approx(history(whole)[0]["grad_norm"], rel=1e-3)


def test_a_void_episode_has_no_reward(
    trained: tuple[Path, dict[str, Any]], made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, _ = trained
    shutil.copytree(whole / "episodes", tmp_path / "voided")
    for outcome, id_ in (("sandbox_failed", "w0-s0"), ("checker_failed", "w0-s1"), ("operator_failed", "w1-s0")):
        row = read_record(tmp_path / "voided" / f"{id_}.json", Trajectory)
        write_record(tmp_path / "voided", row.model_copy(update={"outcome": outcome, "verified": False}))
    flags = replay_of(made, tmp_path / "out", tmp_path / "voided", "--updates", 1)
    found = summary(capsys, *flags, "--inspect")["left_out"]
    assert found["unscorable"] == 3
    summary(capsys, *flags, "--no-reload")
    (line,) = history(tmp_path / "out")
    scored = [row for row in read_trajectories(tmp_path / "voided") if row.id.split("-s")[1] in "0123"]
    scored = [row for row in scored if row.outcome not in ("sandbox_failed", "checker_failed", "operator_failed")]
    assert (line["episodes"], line["scored"], line["segments"], line["left_out"]["unscorable"]) == (12, 9, 9, 3)
    assert line["reward"] == pytest.approx(sum(row.kept for row in scored) / 9)
    assert sum(line["outcomes"].values()) == 12
    assert {"sandbox_failed", "checker_failed", "operator_failed"} <= line["outcomes"].keys()
    assert line["void_share"] == pytest.approx(2 / 12)  # a checker that failed voids no episode


def test_inspect_and_plan_read_no_weights(
    trained: tuple[Path, dict[str, Any]], made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, _ = trained
    shutil.copytree(made / "base", tmp_path / "bare", ignore=shutil.ignore_patterns("*.safetensors"))
    flags = flags_of(made, tmp_path / "none")
    flags[flags.index("--base") + 1] = str(tmp_path / "bare")
    looked = summary(capsys, *flags, "--inspect")
    assert (looked["scenarios"], looked["groups"], looked["terminals"]) == (3, 0, {"exit": 3, "panic": 0})
    replay = replay_of(made, tmp_path / "none", whole / "episodes", "--inspect", "--show", 1)
    replay[replay.index("--base") + 1] = str(tmp_path / "bare")
    code, out, err = in_process(capsys, *replay)
    looked = json.loads(out)
    assert code == 0, err
    assert looked["episodes"] == looked["rows"] == len(read_trajectories(whole / "episodes"))
    assert "⟦" in err
    assert "other_weights" in {one["check"] for one in looked["findings"]}  # those of the second step
    plan = summary(capsys, *flags, "--plan", "--updates", 5, "--usd-per-hour", 2)
    assert (plan["stage"], plan["steps"], plan["episodes"], plan["runs_here"]) == ("rl", 5, 60, True)
    playing = summary(capsys, *flags, "--plan", "--updates", 5, "--usd-per-hour", 2, "--episodes-per-hour", 10)
    assert playing["play_hours"] == 6
    assert playing["usd"] == pytest.approx(plan["usd"] + 2 * 6, abs=0.01)  # the machine's speed is probed anew
    code, _, err = in_process(capsys, *flags, "--episodes-per-hour", 10)
    assert (code, "belongs to --plan, without --replay" in err) == (2, True)
    assert not (tmp_path / "none").exists()


def test_held_out_scenarios_are_refused(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = write_scenarios(tmp_path / "others", [tiny.scenario("other")])
    flags = flags_of(made, tmp_path / "o", "--holdout", write_scenarios(tmp_path / "held", [tiny.scenario("w1")]))
    code, _, err = in_process(capsys, *flags)
    assert (code, "--scenarios holds 1 sessions whose scenario is held out" in err) == (2, True), err
    code, _, err = in_process(capsys, *flags, "--inspect")
    assert (code, "ERROR holdout_scenario" in err) == (2, True), err
    flags[flags.index("--scenarios") + 1] = str(other)
    code, _, err = in_process(capsys, *flags)
    assert (code, f"the adapter {made / 'sft'} was trained on 3 sessions" in err) == (2, True), err
    assert not (tmp_path / "o").exists()


def test_sessions_of_sft_join_the_updates(
    made: Path, trained: tuple[Path, dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for index in range(4):
        write_record(tmp_path / "sessions", tiny.trajectory(f"u{index}-s0", kept=index < 3, steps=2 + index))
    write_json(tmp_path / "sessions" / "manifest.json", {"finished": True})
    sessions = ["--sft-data", tmp_path / "sessions", "--sft-weight", 0.5]
    played = trained[0] / "episodes"
    summary(capsys, *replay_of(made, tmp_path / "with", played, "--updates", 1, *sessions))
    summary(capsys, *replay_of(made, tmp_path / "without", played, "--updates", 1))
    assert history(tmp_path / "with")[0]["sft_loss"] > 0
    assert "sft_loss" not in history(tmp_path / "without")[0]
    assert not same_weights(tmp_path / "with", tmp_path / "without")
    remembered = {row.trajectory_id for row in read_identity(tmp_path / "with").trained_on}
    assert {f"u{index}-s0" for index in range(4)} & remembered == {"u0-s0", "u1-s0", "u2-s0"}  # the kept ones
    plan = [*flags_of(made, tmp_path / "o"), "--plan", "--updates", 5]
    rows = [summary(capsys, *plan, *more)["rows"] for more in ([], sessions)]
    assert rows == [60, 60 + 5 * 3]  # all three kept sessions in each step, since --groups is not less
    held = write_scenarios(tmp_path / "held", [tiny.scenario("u1")])
    code, _, err = in_process(
        capsys, *replay_of(made, tmp_path / "o", played, "--updates", 1, *sessions, "--holdout", held)
    )
    assert (code, "--sft-data holds 1 sessions" in err) == (2, True), err
    code, _, err = in_process(capsys, *flags_of(made, tmp_path / "o", *sessions, "--holdout", held, "--inspect"))
    assert (code, "ERROR holdout_scenario" in err) == (2, True), err


BAD_INPUT: dict[str, tuple[list[str], str]] = {
    "no adapter": (["--adapter", "nowhere"], "no adapter_model.safetensors"),
    "no scenarios": (["--scenarios", "nowhere"], "no such directory"),
    "no episodes": (["--replay", "nowhere"], "no such directory"),
    "episodes of other scenarios": (["--replay", "{tmp}/foreign"], "no episode of a scenario in"),
    "no tokens": (["--replay", "{tmp}/bare"], "no episode to train on ({{'not_recorded': 1}})"),
    "a flag of playing": (
        ["--replay", "{tmp}/bare", "--temperature", "0.5"],
        "--temperature: --replay does not read it",
    ),
    "one episode": (["--episodes", "1"], "--episodes is 1"),
    "greedy": (["--temperature", "0"], "--temperature is 0.0"),
    "kl": (["--kl", "-1"], "--kl is -1.0"),
    "sft weight": (["--sft-weight", "2"], "--sft-weight belongs to --sft-data"),
    "no sft session": (["--sft-data", "{tmp}/unkept"], "no kept session to train on"),
    "credit": (["--credit", "command", "--divide-by-std"], "--divide-by-std belongs to --credit episode"),
    "clip": (["--clip-low", "1"], "--clip-low is 1.0"),
    "shares": (["--discover-share", "0.6", "--directive-share", "0.5"], "together they must stay below 1"),
    "no updates": (["--updates", "0"], "--updates 0: must"),
    "image": (["--image", "sekft-nowhere"], "sekft-nowhere"),
    "the start adapter": (["--out", "{sft}", "--redo"], "is the start adapter"),
    "out of another stage": (["--out", "{tmp}/foreign"], "holds the output of stage 'rollout'; name another --out"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_one_line_and_exit_2(
    name: str, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_record(tmp_path / "foreign", tiny.trajectory("foreign-s0"))
    write_record(tmp_path / "bare", tiny.trajectory("w0-s0"))
    write_record(tmp_path / "unkept", tiny.trajectory("w0-s0", kept=False))
    for directory in ("foreign", "bare", "unkept"):
        write_json(
            tmp_path / directory / "manifest.json", {"stage": "rollout", "finished": True, "flags": {"limit": 1}}
        )
    given, message = BAD_INPUT[name]
    words = [word.format(tmp=tmp_path, sft=made / "sft") for word in given]
    flags = flags_of(made, tmp_path / "o", *words)
    code, out, err = in_process(capsys, *(without_playing(flags) if "--replay" in words else flags))
    assert (code, out) == (2, "")
    assert message.format() in err.splitlines()[-1]
    assert not (tmp_path / "o").exists()
