"""The live view follows a run to its end from its files alone, and writes nothing."""

import json
import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import locks
from operators.under_way import UnderWay
from pages.watch import BEGIN_SECONDS, Watcher, duration, line_of, wait_for_manifest, watch
from pipeline.files import write_json, write_record
from schema import BadInputError
from tests.helpers import ROOT, policy, run_directories as made, tiny
from tests.helpers.rollouts import clean_environment, command_line, made as templates, write_scenarios

DEADLINE_SECONDS = 300.0


def begun(out: Path, stage: str = "rollout", **fields: object) -> Path:
    write_json(out / "manifest.json", {"stage": stage, "finished": False, **fields})
    return out


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def watching(out: Path, **streams: object) -> "subprocess.Popen[str]":
    command = [sys.executable, str(ROOT / "report.py"), "--watch", str(out)]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, env=clean_environment(TERM="xterm"), **streams)  # type: ignore[call-overload,no-any-return]


def state_of(directory: Path) -> dict[str, int]:
    """Every path with the time of its last change, the directory's own included."""
    return {str(path): path.stat().st_mtime_ns for path in [directory, *directory.glob("**/*")]}


def followed(out: Path, *command: str | Path) -> tuple[dict[str, object], list[str]]:
    """What `--watch out` prints while this script runs as a process of its own: the summary and the lines."""
    run = subprocess.Popen(
        [sys.executable, *map(str, command)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=clean_environment(OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES=""),
    )  # fmt: skip
    until(lambda: (out / "manifest.json").exists() or run.poll() is not None, "the run has not begun")
    watcher = watching(out, stderr=subprocess.PIPE)
    told, lines = watcher.communicate(timeout=DEADLINE_SECONDS)
    _, errors = run.communicate(timeout=DEADLINE_SECONDS)
    assert run.returncode == 0, errors
    assert watcher.returncode == 0, lines
    return json.loads(told), lines.splitlines()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("watch") / "base")


def test_a_running_sft_is_followed_to_its_end(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "adapter"
    for index in range(4):
        write_record(tmp_path / "data", tiny.trajectory(f"t{index}-s0"))
    told, lines = followed(
        out, "sft.py", "--data", tmp_path / "data", "--base", base, "--out", out, "--epochs", "100", "--accum", "1",
        "--dtype", "fp32", "--no-reload",  # 400 steps: seconds, of which the view has to see two different steps
    )  # fmt: skip
    assert told == {"out": str(out), "records": 0, "state": "finished"}
    assert lines[0].startswith("sft running | step ")
    steps = [int(line.split("step ")[1].split("/")[0]) for line in lines]
    assert steps == sorted(steps)
    assert len(set(steps)) > 2, lines
    assert any(re.search(r"running \| step \d+/400, loss \d.* \| \d+:\d\d left", line) for line in lines), lines
    assert re.match(r"sft finished \| step 400/400, loss \d\.\d{4} over 10 steps, epoch 100, lr ", lines[-1]), lines


@pytest.mark.docker
def test_a_running_eval_is_followed_to_its_end(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    held = write_scenarios(tmp_path / "held", templates(6))
    told, lines = followed(
        out, "eval.py", "--base", base, "--scenarios", held, "--n", "6", "--max-steps", "8", "--max-new-tokens", "24",
        "--workers", "2", "--out", out,
    )  # fmt: skip
    assert told == {"out": str(out), "records": 6, "state": "finished"}
    assert lines[0].startswith("eval running | 0/")
    assert any(re.search(r"running \| \d/6 \|.*-s0 step \d: ", line) for line in lines), lines
    assert lines[-1].startswith("eval finished | 6/6 | base: kept 0/6 0% ")


@pytest.mark.docker
def test_a_running_rl_is_followed_from_its_episodes(base: Path, tmp_path: Path) -> None:
    worlds = policy.write_worlds(tmp_path / "scenarios")
    start = policy.undecided_adapter(base, tmp_path / "sft", worlds)
    out = tmp_path / "rl"
    command = [
        "rl.py", "--base", base, "--adapter", start, "--scenarios", tmp_path / "scenarios", "--out", out,
        *policy.FLAGS, "--updates", "4", "--no-reload",  # four: the view may begin late
    ]  # fmt: skip
    run = subprocess.Popen(
        [sys.executable, *map(str, command)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=clean_environment(OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES=""),
    )  # fmt: skip
    episodes = out / "episodes"
    until(lambda: (episodes / ".live.json").exists() or run.poll() is not None, "no episode is under way")
    watcher = watching(episodes, stderr=subprocess.PIPE)
    told, errors = watcher.communicate(timeout=DEADLINE_SECONDS)
    _, told_by_run = run.communicate(timeout=DEADLINE_SECONDS)
    assert run.returncode == 0, told_by_run
    assert json.loads(told) == {"out": str(episodes), "records": len([*episodes.glob("w*.json")]), "state": "finished"}
    lines = errors.splitlines()
    assert re.match(r"rl running \| step \d/4[ ,]", lines[0]), lines
    assert re.search(r"w\d-s\d step \d: ", errors), lines
    second = next(line for line in lines if re.search(r"step [1-3]/4", line))
    assert re.search(r"reward \d\.\d{4} over \d+ steps, .*\| episodes: kept \d+/\d+ .*\| \d+:\d\d left", second)
    assert lines[-1].startswith("rl finished | step 4/4, "), lines


@pytest.mark.parametrize(("stage", "inside"), [("cascade", "frontier"), ("select_adapter", "candidate-2")])
def test_episodes_are_found_where_the_stage_writes_them(stage: str, inside: str, tmp_path: Path) -> None:
    out = begun(tmp_path / "out", stage)
    for number in range(2):
        write_record(out / inside, tiny.trajectory(f"a-{number}-s0"))
    write_json(out / "outcomes.json", {"outcomes": []})  # no record of an episode
    write_json(out / "selected.json", {"selected": "none"})
    (tally,) = Watcher(out).look().tallies
    assert (tally.label, tally.done) == (inside, 2)


def test_rl_shows_steps_reward_episodes_and_the_time_left(tmp_path: Path) -> None:
    flags = {"updates": 50, "epochs": 1, "replay": False}
    out = begun(tmp_path / "out", "rl", flags=flags)
    begun(out / "episodes", "rl", flags=flags)
    locks.hold(out)
    try:
        record = made.scenarios(1)[0]
        with UnderWay(out / "episodes", total=4) as under_way, under_way.episode("copy_files-0-s1") as told:
            told("ls -la")
            first = line_of(Watcher(out).look())
            assert first.startswith("rl running | step 0/50 | - left | copy_files-0-s1 step 1: ls -la")
            write_record(out / "episodes", made.session(record, "words\n"))
            rows = [
                {"step": step, "loss": 0.5, "reward": step / 40, "sample_seconds": 6.0, "update_seconds": 2.0}
                for step in range(1, 41)
            ]
            (out / "log_history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
            for named in (out, out / "episodes"):
                found = Watcher(named).look()
                assert found.state() == "running"
                assert found.seconds_left() == pytest.approx(80)
                assert line_of(found) == (
                    "rl running | step 40/50, loss 0.5000 over 10 steps, reward 0.8875 over 10 steps, "
                    "sample_seconds 6, update_seconds 2 | episodes: kept 1/1 100% [21-100] | 1:20 left"
                    " | copy_files-0-s1 step 1: ls -la"
                )
            begun(out, "rl", flags={**flags, "replay": True})
            assert "step 40/?" in line_of(Watcher(out).look())
    finally:
        locks.release(out)


def test_generate_shows_scenarios_and_the_time_left(tmp_path: Path) -> None:
    out = begun(tmp_path / "out", "generate", flags={"n": 4})
    locks.hold(out)
    try:
        watcher, records = Watcher(out), made.scenarios(4)
        assert line_of(watcher.look()) == "generate running | 0/4 | - left"
        write_record(out, records[0])
        watcher.look()
        time.sleep(0.2)
        for record in records[1:3]:
            write_record(out, record)
        found = watcher.look()
        assert found.per_second is not None
        assert found.seconds_left() == pytest.approx(1 / found.per_second)
        assert line_of(found) == f"generate running | 3/4 | {duration(found.seconds_left())} left"
    finally:
        locks.release(out)


def test_an_eval_whose_base_plays_fewer_knows_its_total_from_the_start(tmp_path: Path) -> None:
    flags = {"compare_base": True, "n": 100, "base_n": 2}  # n: more than there are
    out = begun(tmp_path / "out", "eval", flags=flags, inputs={"adapter_model.safetensors": "x"}, counts={"n": 8})
    with UnderWay(out / "base", total=2):
        assert Watcher(out).look().total == 10
    with UnderWay(out / "adapter", total=8):
        assert Watcher(out).look().total == 10


@pytest.mark.parametrize(
    ("stage", "flags", "log", "words"),
    [
        ("sft", {"epochs": "two"}, b'{"step": 1, "epoch": 1}\n', "manifest.json: flags.epochs: 'two' is no whole"),
        ("sft", {"epochs": float("nan")}, b'{"step": 1, "epoch": 1}\n', "manifest.json: flags.epochs: 'nan' is no"),
        ("rl", {"updates": -3}, None, "manifest.json: flags.updates: '-3' is no whole number"),
        ("generate", {"n": [1]}, None, "manifest.json: flags.n: '[1]' is no whole number"),
        ("eval", {"base_n": 0}, None, "manifest.json: flags.base_n: '0' is no whole number"),
        ("sft", {}, b'{"step": 1}\n\xff\n', "log_history.jsonl: a line is no logged step (line 2: 'utf-8' codec"),
        ("sft", {}, b'{"step": Infinity}\n', "log_history.jsonl: a line is no logged step (line 1: step is 'inf'"),
        ("sft", {}, b"[1]\n", "log_history.jsonl: a line is no logged step (line 1: step is 'None'"),
        ("sft", {}, b"[" * 100_000 + b"\n", "log_history.jsonl: a line is no logged step (line 1: "),
    ],
)
def test_a_malformed_run_is_one_line_and_exit_2(
    stage: str, flags: dict[str, object], log: bytes | None, words: str, tmp_path: Path
) -> None:
    out = begun(tmp_path / "out", stage, flags=flags)
    if log is not None:
        (out / "log_history.jsonl").write_bytes(log)
    watcher = watching(out, stderr=subprocess.PIPE)
    told, errors = watcher.communicate(timeout=DEADLINE_SECONDS)
    assert (watcher.returncode, told) == (2, "")
    (line,) = errors.splitlines()
    assert words in line


@pytest.mark.parametrize(
    ("text", "words"), [("{}", "stage: missing"), ("{", "not JSON"), ("[]", "content: "), ("", "not JSON")]
)
def test_half_a_manifest_is_one_line_that_names_it(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(BadInputError) as refused:
        Watcher(tmp_path).look()
    assert str(refused.value).startswith(f"{tmp_path}/manifest.json: {words}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("held", [True, False])
def test_a_stage_that_has_just_begun_gets_time_to_write_its_manifest(held: bool, tmp_path: Path) -> None:
    if held:
        locks.hold(tmp_path)
    else:
        (tmp_path / ".manifest.json.1.tmp").write_text("{")  # half written: it has its name once it is whole
    try:
        threading.Timer(1.0, begun, [tmp_path, "generate"], {"flags": {"n": 4}}).start()
        wait_for_manifest(tmp_path)
        assert Watcher(tmp_path).look().total == 4
    finally:
        locks.release(tmp_path)


def test_where_no_stage_begins_nobody_waits(tmp_path: Path) -> None:
    write_record(tmp_path / "rollouts", made.session(made.scenarios(1)[0], "words\n"))
    before = time.monotonic()
    for directory in (tmp_path / "nowhere", tmp_path / "rollouts"):
        with pytest.raises(BadInputError, match=r"no manifest\.json; name the --out of a stage that has begun"):
            watch(directory)
    assert time.monotonic() < before + BEGIN_SECONDS / 2


@pytest.mark.parametrize(
    "text", ['{"kept": "yes", "outcome": "exit"}', '{"outcome": ["exit"]}', '{"verified": 7}', "[]", "3", "{", "\udcff"]
)
def test_a_file_that_is_no_record_is_named_and_the_rest_is_counted(text: str, tmp_path: Path) -> None:
    out = begun(tmp_path / "out")
    write_record(out, made.session(made.scenarios(1)[0], "words\n"))
    (out / "b\x1b.json").write_text(text, errors="surrogateescape")
    (out / ".live.json").write_bytes(b'{"total": "\xff"}')
    assert line_of(Watcher(out).look()) == (
        "rollout stopped: the same command again goes on | 1/? | out: kept 1/1 100% [21-100] | - left"
        " | out: 1 not counted, no records: such as b«ESC».json"
    )


@pytest.mark.docker
def test_a_running_rollout_is_followed_to_its_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    few = write_scenarios(tmp_path / "scenarios", templates(3))
    rollout = subprocess.Popen(
        command_line(few, out, "--operator", "reference", "--samples", "2"), cwd=ROOT, env=clean_environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: (out / ".live.json").exists() or rollout.poll() is not None, "no episode is under way")
    watcher = watching(out, stderr=subprocess.PIPE)
    told, lines = watcher.communicate(timeout=DEADLINE_SECONDS)
    assert rollout.wait(DEADLINE_SECONDS) == 0
    assert watcher.returncode == 0, lines
    assert json.loads(told) == {"out": str(out), "records": 6, "state": "finished"}
    counts = [int(line.split("| ")[1].split("/")[0]) for line in lines.splitlines()]
    assert counts == sorted(counts)
    first, *_, last = lines.splitlines()
    assert re.match(r"rollout running \| \d/6 \|.* left", first), first
    assert last.startswith("rollout finished | 6/6 | out: kept 6/6 100%")
    assert re.search(r"-s\d step \d+: ", lines), lines


HOSTILE = "\x1b]0;title\x07\x9b31m \u202e[bold]\n"
NAMED = "«ESC»]0;title«BEL»«U+009B»31m «U+202E»[bold]"


def test_hostile_texts_make_one_line_of_plain_text(tmp_path: Path) -> None:
    """A stage, a metric, an outcome, an id and a command that would set the terminal's title."""
    for log in (None, json.dumps({"step": 3, "loss": 1.0, f"m{HOSTILE}": 2.5}) + "\n"):
        out = begun(tmp_path / f"{log is None}", f"s{HOSTILE}")
        write_json(out / "a.json", {"outcome": f"o{HOSTILE}", "kept": False, "verified": False})
        if log:
            (out / "log_history.jsonl").write_text(log)
        with UnderWay(out, total=2) as under_way, under_way.episode(f"i{HOSTILE}" + "w" * 5000) as told:
            told(f"c{HOSTILE}")
            line = line_of(Watcher(out).look())
        assert line.isprintable()
        assert line.startswith(f"s{NAMED}⏎ stopped")
        assert f"i{NAMED}⏎" in line
        assert f": c{NAMED}⏎" in line
        assert (f"m{NAMED}⏎ 2.5" in line) == bool(log)
        assert len(line) < 1000


def test_a_terminal_shows_rates_episodes_and_the_end(tmp_path: Path) -> None:
    """The terminal is a real one, a pty; hostile texts reach it as text."""
    out = begun(tmp_path / "out", f"s{HOSTILE}")
    locks.hold(out)
    records = made.scenarios(4)
    terminal, end = pty.openpty()
    watcher = watching(out, stderr=end)
    os.close(end)
    shown = bytearray()

    def sees(text: str) -> bool:
        os.set_blocking(terminal, False)
        try:
            while chunk := os.read(terminal, 65536):
                shown.extend(chunk)
        except OSError:
            pass
        return text in shown.decode(errors="replace")

    try:
        with UnderWay(out, total=4) as under_way, under_way.episode(f"copy{HOSTILE}") as told:
            told(f"printf {HOSTILE}ls")
            until(lambda: sees(f"s{NAMED}"), "no stage")
            until(lambda: sees("copy«ESC»"), "no episode")
            until(lambda: sees("printf «ESC»]0;title«BEL»"), "no command")
            write_json(out / "b.json", {"outcome": f"o{HOSTILE}", "kept": False, "verified": False})
            until(lambda: sees("o«ESC»]0"), "no outcome")
            (out / "b.json").unlink()
            write_record(out, made.session(records[0], "words\n"))
            until(lambda: sees("1/1 100%") and sees("verified"), "no rate")
            until(lambda: sees("records/min"), "no speed")
            (out / "log_history.jsonl").write_text(json.dumps({"step": 3, "loss": 1.0, f"m{HOSTILE}": 2.5}) + "\n")
            until(lambda: sees("m«ESC»]0"), "no metric")
        write_json(out / "manifest.json", {"stage": f"s{HOSTILE}", "finished": True})
        assert watcher.wait(DEADLINE_SECONDS) == 0
        sees("")
    finally:
        locks.release(out)
        watcher.kill()
        assert watcher.stdout is not None
        watcher.stdout.close()
        os.close(terminal)
    raw = bytes(shown)
    assert b"\x1b]0" not in raw
    assert b"\x07" not in raw
    assert "\u202e".encode() not in raw
    assert "\x9b".encode() not in raw
    assert b"finished" in raw


def test_a_killed_stage_ends_the_view(tmp_path: Path) -> None:
    out = begun(tmp_path / "out")
    dead = subprocess.Popen(["true"])
    dead.wait()
    (out / locks.LOCK).write_text(f"rollout.py (process {dead.pid} on {os.uname().nodename}, since now)\n")
    UnderWay(out, total=4).__enter__()
    watcher = watching(out, stderr=subprocess.PIPE)
    told, lines = watcher.communicate(timeout=DEADLINE_SECONDS)
    assert (watcher.returncode, json.loads(told)["state"]) == (0, "stopped")
    assert "stopped" in lines


def test_nothing_is_written_into_the_directory(tmp_path: Path) -> None:
    directory = made.write_rollout(tmp_path / "out", [made.session(one, "words\n") for one in made.scenarios(3)])
    before = state_of(directory)
    watcher = watching(directory, stderr=subprocess.PIPE)
    watcher.communicate(timeout=DEADLINE_SECONDS)
    assert watcher.returncode == 0
    assert state_of(directory) == before


def test_a_training_shows_steps_and_the_time_left(tmp_path: Path) -> None:
    out = begun(tmp_path / "out", "sft", flags={"epochs": 2})
    log = out / "log_history.jsonl"
    row = {"step": 5, "epoch": 0.5, "loss": 2.0, "reward": 0.25}
    log.write_text(json.dumps(row) + "\n" + '{"step": 6, "lo')
    locks.hold(out)
    try:
        watcher = Watcher(out)
        first = watcher.look()
        assert "step 5/20, loss 2.0000 over 1 steps, reward 0.2500 over 1 steps, epoch 0.5 |" in line_of(first)
        assert first.seconds_left() is None
        log.write_text("".join(json.dumps({**row, "step": step, "epoch": step / 10}) + "\n" for step in (5, 6, 10)))
        second = watcher.look()
        speed = second.per_second
        assert speed is not None
        assert second.seconds_left() == pytest.approx(10 / speed)
    finally:
        locks.release(out)


def test_an_eval_counts_every_subject(tmp_path: Path) -> None:
    out = begun(
        tmp_path / "out", "eval", flags={"compare_base": True}, counts={"n": 4},
        inputs={"adapter_model.safetensors": "x"},
    )  # fmt: skip
    for one in made.scenarios(4):
        write_record(out / "base", made.session(one, "words\n", outcome="max_steps"))
    locks.hold(out)
    try:
        with UnderWay(out / "adapter", total=4):
            write_record(out / "adapter", made.session(made.scenarios(1)[0], "words\n"))
            found = Watcher(out).look()
        assert (found.done(), found.total) == (5, 8)
        assert "base: kept 0/4 0% [0-49] | adapter: kept 1/1 100%" in line_of(found)
        assert found.seconds_left() is not None
    finally:
        locks.release(out)


def test_durations_read_as_clocks() -> None:
    assert [duration(one) for one in (None, 0, 61.4, 3723)] == ["-", "0:00", "1:01", "1:02:03"]
    assert [duration(float(one)) for one in ("nan", "inf")] == ["-", "-"]
