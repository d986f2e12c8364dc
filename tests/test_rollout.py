"""rollout.py records every episode once, resumes after any end, and names bad input in one line."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from authoring.scaffold import SCAFFOLD
from authoring.templates import author
from pipeline.files import read_json, read_record, read_trajectories, write_json
from schema import Scenario, Trajectory
from taxonomy import Combination
from tests.helpers import ROOT, tiny
from tests.helpers.chat_server import Behaviour, ChatServer, Request, fail, say, slow
from tests.helpers.hand_scenarios import hand
from tests.helpers.processes import heed_signals, sandboxes_of
from tests.helpers.rollouts import clean_environment, command_line, made, script, write_scenarios

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scenarios(tmp_path_factory.mktemp("rollout") / "scenarios", made(3))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("rollout") / "base")


def test_script_resumes_and_grows(few: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, summary, _ = script(few, out, "--operator", "reference")
    assert code == 0
    assert (summary["rollouts"], summary["kept"], summary["resumed"]) == (3, 3, 0)
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*-s0.json")}
    code, summary, _ = script(few, out, "--operator", "reference", "--workers", "3")
    assert (code, summary["kept"], summary["resumed"]) == (0, 3, 3)
    code, summary, _ = script(few, out, "--operator", "reference", "--samples", "2")
    assert (code, summary["kept"], summary["resumed"], summary["rollouts"]) == (0, 6, 3, 6)
    assert {path.name: path.stat().st_mtime_ns for path in out.glob("*-s0.json")} == before
    assert len(read_trajectories(out)) == 6
    manifest = read_json(out / "manifest.json")
    assert manifest["finished"]
    assert len(manifest["ids"]) == 6
    code, _, message = script(few, out, "--operator", "reference", "--seed", "1", "--samples", "2")
    assert code == 2
    assert "--seed was 0, is 1" in message


def test_every_scenario_is_counted_once(few: Path, tmp_path: Path) -> None:
    flags = ["--operator", "reference", "--samples", "2"]
    code, summary, _ = script(few, tmp_path / "out", *flags, "--limit", "2")
    assert (code, summary["scenarios"], summary["beyond_limit"], summary["rollouts"]) == (0, 3, 1, 4)
    assert read_json(tmp_path / "out" / "manifest.json")["counts"]["beyond_limit"] == 1
    code, summary, _ = script(few, tmp_path / "out", *flags)
    assert (code, summary["scenarios"], summary["beyond_limit"], summary["rollouts"]) == (0, 3, 0, 6)


def test_panic_samples(tmp_path: Path) -> None:
    scenarios = [record for record in made() if record.task in ("sort_unique", "absent_program")]
    flags = ["--operator", "reference", "--panic-samples", "3"]
    code, summary, _ = script(write_scenarios(tmp_path / "in", scenarios), tmp_path / "out", *flags)
    assert code == 0
    assert summary["outcomes"] == {"exit": 1, "panic": 3}


def endpoint_environment(server: ChatServer) -> dict[str, str]:
    return {"SEKFT_OP_MODEL": "test", "SEKFT_OP_URL": server.url, "SEKFT_OP_KEY": "k"}


def teacher(scenarios: Sequence[Scenario], broken: Sequence[str] = (), how: Behaviour | None = None) -> Any:
    """Answers each request with the next command of the scenario whose announcement the login shows."""

    def answer(request: Request) -> Behaviour:
        turns = request.body["messages"]
        scenario = next(one for one in scenarios if one.announcement.text in turns[1]["content"])
        if scenario.id in broken:
            return how or fail(500, retry_after=0)
        said = sum(turn["role"] == "assistant" for turn in turns)
        return say([*scenario.provider.directive_commands, *scenario.reference_solution, "exit"][said])

    return answer


@pytest.fixture(scope="module")
def announced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Scenario]]:
    """Scenarios that a login announces."""
    combinations = [Combination("copy_files", "bulletin", channel, "help", "easy") for channel in ("motd", "banner")]
    scenarios = [
        author(one, seed=f"announced/{number}", id=f"announced-{number:04d}")
        for number, one in enumerate([*combinations, combinations[0]])
    ]
    return write_scenarios(tmp_path_factory.mktemp("announced") / "scenarios", scenarios), scenarios


def test_scaffold_is_sent_and_not_recorded(announced: tuple[Path, list[Scenario]], tmp_path: Path) -> None:
    directory, scenarios = announced
    with ChatServer(teacher(scenarios)) as server:
        code, summary, message = script(directory, tmp_path / "out", **endpoint_environment(server))
        sent = [json.dumps(request.body) for request in server.requests]
    assert code == 0, message
    assert summary["kept"] == 3
    assert all(json.dumps(SCAFFOLD)[1:-1] in body for body in sent)
    for path in (tmp_path / "out").glob("*.json"):
        text = path.read_text()
        assert not any(" ".join(gram) in text for gram in grams(SCAFFOLD, 5)), path


def grams(text: str, size: int) -> Iterator[list[str]]:
    words = text.split()
    return (words[start : start + size] for start in range(len(words) - size + 1))


def test_rerun_repeats_voided_rollouts_only(announced: tuple[Path, list[Scenario]], tmp_path: Path) -> None:
    directory, scenarios = announced
    out = tmp_path / "out"
    with ChatServer(teacher(scenarios, broken=[scenarios[1].id])) as server:
        code, summary, _ = script(directory, out, "--retries", "1", **endpoint_environment(server))
    assert code == 1
    assert (summary["kept"], summary["voided"], summary["unplayed"]) == (2, 1, 0)
    broken = read_json(out / f"{scenarios[1].id}-s0.json")
    assert broken["outcome"] == "operator_failed"
    assert "500" in broken["error"]
    with ChatServer(teacher(scenarios)) as server:
        code, summary, _ = script(directory, out, "--retries", "1", **endpoint_environment(server))
        texts = {request.body["messages"][1]["content"] for request in server.requests}
    assert (code, summary["kept"], summary["voided"], summary["resumed"]) == (0, 3, 0, 2)
    assert len(texts) == 1


def test_what_stays_void_is_named_and_no_rerun_is_asked_for(few: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert script(few, out, "--operator", "reference")[0] == 0
    path = sorted(out.glob("*-s0.json"))[0]
    void = {"outcome": "sandbox_failed", "verified": False, "kept": False, "reasons": ["voided"], "attempt": 3}
    write_json(path, read_json(path) | void)
    code, summary, message = script(few, out, "--operator", "reference", "--samples", "2")
    assert (code, summary["voided"], summary["unplayed"]) == (0, 1, 0), message
    assert f"1 rollouts stay void after 3 attempts, {path.stem} first" in message
    write_json(path, read_json(path) | {"attempt": 2})
    assert script(few, out, "--operator", "reference", "--samples", "2")[0] == 0
    assert read_json(path)["kept"]


def test_rate_limits_and_slow_answers_are_waited_for(announced: tuple[Path, list[Scenario]], tmp_path: Path) -> None:
    directory, scenarios = announced
    answer = teacher(scenarios)

    def moody(request: Request) -> Behaviour:
        if request.index % 3 == 1:
            return fail(429, retry_after=0)
        return slow(0.2, answer(request)) if request.index % 3 == 2 else answer(request)

    with ChatServer(moody) as server:
        code, summary, message = script(directory, tmp_path / "out", **endpoint_environment(server))
    assert (code, summary.get("kept")) == (0, 3), message


def test_dead_endpoint_ends_the_run(announced: tuple[Path, list[Scenario]], tmp_path: Path) -> None:
    with ChatServer([say("ls")]) as server:
        environment = endpoint_environment(server)
    flags = ["--retries", "0", "--samples", "3", "--workers", "1"]
    code, summary, _ = script(announced[0], tmp_path / "out", *flags, **environment)
    assert code == 1
    assert summary["rollouts"] == 9
    assert summary["voided"] + summary["unplayed"] == 9
    assert summary["unplayed"] >= 4
    assert summary["kept_rate"] is None
    assert not read_json(tmp_path / "out" / "manifest.json")["finished"]


def test_random_base_is_recorded_and_not_kept(few: Path, base: Path, tmp_path: Path) -> None:
    flags = ["--operator", "local", "--base", str(base), "--max-steps", "2", "--max-new-tokens", "8", "--limit", "2"]
    code, summary, message = script(few, tmp_path / "out", *flags)
    assert code == 0, message
    assert (summary["kept"], summary["not_kept"], summary["voided"]) == (0, 2, 0)
    assert all(trajectory.token_ids for trajectory in read_trajectories(tmp_path / "out"))


@contextlib.contextmanager
def transformers_serve(base: Path, log: Path) -> Iterator[str]:
    """The chat server of transformers, which was not written here, on a free loopback port."""
    program = Path(sys.executable).with_name("transformers")
    for _ in range(3):  # another process may take the port before the server listens, which then ends
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with log.open("w") as stream:
            process = subprocess.Popen(
                [program, "serve", base, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
                env=clean_environment(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1"), stdout=stream, stderr=stream,
            )  # fmt: skip
        if ready(process, port, log):
            break
    try:
        assert process.poll() is None, log.read_text()
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(30)


def ready(process: subprocess.Popen[bytes], port: int, log: Path) -> bool:
    """Wait until a server accepts connections; false where it ended instead."""
    deadline = time.monotonic() + 300
    while process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return process.poll() is None
        if time.monotonic() > deadline:
            process.kill()
            raise AssertionError(log.read_text())
        time.sleep(0.2)
    return False


@pytest.mark.slow
def test_transformers_serve_operates(few: Path, base: Path, tmp_path: Path) -> None:
    with transformers_serve(base, tmp_path / "serve.log") as url:
        flags = ["--limit", "1", "--max-steps", "2", "--max-new-tokens", "8", "--retries", "1"]
        code, summary, message = script(few, tmp_path / "out", *flags, SEKFT_OP_MODEL=str(base), SEKFT_OP_URL=url)
    assert code == 0, message + (tmp_path / "serve.log").read_text()
    assert (summary["not_kept"], summary["voided"]) == (1, 0)
    (trajectory,) = read_trajectories(tmp_path / "out")
    assert trajectory.outcome == "max_steps"
    assert len(trajectory.commands) == 2


KILLED = ("--operator", "reference", "--samples", "3", "--limit", "2")


def started(few: Path, out: Path, records: int, *more: str) -> subprocess.Popen[bytes]:
    """A run under way that has written some records and has a container."""
    process = subprocess.Popen(
        command_line(few, out, *KILLED, *more), cwd=ROOT, env=clean_environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=heed_signals,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while len(list(out.glob("*-s?.json"))) < records or not sandboxes_of(process.pid):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


def test_killed_run_resumes(few: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = started(few, out, 2)
    process.kill()
    process.wait()
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*-s?.json")}
    assert before
    code, summary, _ = script(few, out, *KILLED)
    assert (code, summary["kept"], summary["resumed"]) == (0, 6, len(before))
    assert all((out / name).stat().st_mtime_ns == mtime for name, mtime in before.items())
    assert not sandboxes_of(process.pid)
    assert not list(out.glob(".*.tmp"))
    whole, _, _ = script(few, tmp_path / "whole", *KILLED)
    assert whole == 0
    for path in sorted(out.glob("*-s?.json")):
        assert without_times(path) == without_times(tmp_path / "whole" / path.name)


def without_times(path: Path) -> dict[str, Any]:
    """A record without durations; `ls -l` of the home shows the day and minute it was made."""
    trajectory = read_record(path, Trajectory)
    record = trajectory.model_dump(mode="json")
    for step in record["steps"]:
        step.pop("duration_seconds")
        if step["command"].startswith("ls -la"):
            step["output"] = ""
    return {**record, "messages": trajectory.commands, "usage": {**record["usage"], "seconds": 0}}


@pytest.mark.parametrize("more", [(), ("--redo",)])
def test_a_second_rollout_on_one_out_is_refused_and_the_first_finishes_whole(
    more: tuple[str, ...], few: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = started(few, out, 1)
    process.send_signal(signal.SIGSTOP)  # it lives, however long the second one takes to start
    code, summary, message = script(few, out, *KILLED, *more)
    process.send_signal(signal.SIGCONT)
    assert process.wait(300) == 0
    assert (code, summary) == (2, {})
    (line,) = message.strip().splitlines()
    assert f"{out}: rollout.py (process {process.pid} on {socket.gethostname()}, since 2" in line
    assert len(list(out.glob("*-s?.json"))) == 6
    assert read_json(out / "manifest.json")["counts"]["kept"] == 6
    assert not list(out.glob(".*"))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_interrupt_leaves_no_sandbox_and_keeps_finished_records(
    number: signal.Signals, code: int, few: Path, tmp_path: Path
) -> None:
    process = started(few, tmp_path / "out", 1, "--samples", "40")
    process.send_signal(number)
    assert process.wait(120) == code
    assert not sandboxes_of(process.pid)
    done = [path for path in (tmp_path / "out").glob("*-s?.json") if read_json(path)["outcome"] in ("exit", "panic")]
    assert len(done) == len(list((tmp_path / "out").glob("*-s?.json")))
    assert not read_json(tmp_path / "out" / "manifest.json")["finished"]


@pytest.mark.parametrize("pause_seconds", [0.02, 0.3])
def test_interrupts_during_the_clean_up_leave_no_sandbox(pause_seconds: float, few: Path, tmp_path: Path) -> None:
    process = started(few, tmp_path / "out", 1, "--samples", "40", "--workers", "6")
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(pause_seconds)
    assert process.returncode == 130
    assert not sandboxes_of(process.pid)


def broken_directory(what: str, tmp_path: Path) -> Path:
    directory = tmp_path / "scenarios"
    directory.mkdir()
    scenario = json.loads(hand().model_dump_json(exclude_none=True))
    if what == "not_json":
        (directory / "a.json").write_text("{")
    elif what == "version":
        write_json(directory / "a.json", scenario | {"schema_version": 99})
    elif what == "axis":
        write_json(directory / "a.json", scenario | {"task": "juggling", "content_hash": ""})
    elif what == "unfinished":
        write_json(directory / "manifest.json", {"finished": False})
    elif what == "missing":
        directory = directory / "nowhere"
    return directory


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("missing", ["nowhere", "no such directory"]),
        ("empty", ["holds no records"]),
        ("not_json", ["a.json", "not JSON"]),
        ("version", ["a.json", "schema_version 99"]),
        ("axis", ["a.json", "juggling"]),
        ("unfinished", ["finished: false", "--partial"]),
    ],
)
def test_bad_scenarios_are_one_line_and_exit_2(what: str, words: list[str], tmp_path: Path) -> None:
    code, _, message = script(broken_directory(what, tmp_path), tmp_path / "out", "--operator", "reference")
    assert code == 2
    assert all(word in message.splitlines()[-1] for word in words), message


def test_bad_flags_are_one_line_and_exit_2(few: Path, base: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note").write_text("")
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "config.json").write_text("{}")
    other = tmp_path / "adapter"
    other.mkdir()
    (other / "adapter_model.safetensors").write_bytes(b"")
    write_json(other / "sekft.json", {"base": "another", "base_hash": "0" * 64})
    answered = ["--operator", "agent", "--agent", "plain", "--answers", "reference"]
    table: list[tuple[list[str], dict[str, str], str]] = [
        ([], {}, "SEKFT_OP_MODEL"),
        (["--operator", "somebody"], {}, "invalid choice"),
        (["--operator", "reference", "--samples", "0"], {}, "--samples"),
        (["--operator", "reference", "--sample", "1"], {}, "unrecognized arguments"),
        (["--retries", "-1"], {}, "--retries -1: must be at least 0"),
        (["--operator", "reference", "--base", str(base)], {}, "--operator local"),
        (["--operator", "reference", "--no-scaffold"], {}, "--no-scaffold belongs to --operator endpoint"),
        (["--operator", "reference", "--dtype", "fp32"], {}, "--dtype: --operator reference does not read it"),
        (["--operator", "reference", "--temperature", "1"], {}, "--temperature: --operator reference does not read it"),
        (["--load-4bit"], {}, "--load-4bit: --operator endpoint does not read it"),
        (["--render", "chat"], {}, "--render: --operator endpoint without --completions does not read it"),
        (["--operator", "local", "--max-tokens", "9"], {}, "--max-tokens: --operator local does not read it"),
        (["--max-seconds", "9"], {}, "--max-seconds: --operator endpoint does not read it"),
        ([*answered, "--temperature", "1"], {}, "--temperature: --answers reference does not read it"),
        ([*answered, "--dtype", "fp32"], {}, "--dtype: --answers reference does not read it"),
        (["--operator", "local", "--base", "./nowhere"], {}, "no such base"),
        (["--operator", "local", "--base", str(bare)], {}, "tokenizer"),
        (["--operator", "local", "--base", str(base), "--adapter", str(other)], {}, "trained on base 'another'"),
        (["--operator", "reference"], {"DOCKER_HOST": "unix:///nowhere.sock"}, "no Docker engine answers"),
        (["--operator", "reference", "--out", str(tmp_path / "file" / "out")], {}, "cannot be written"),
        (["--operator", "reference", "--out", str(tmp_path / "full")], {}, "no manifest"),
    ]
    for flags, environment, words in table:
        code, summary, message = script(few, tmp_path / "out", *flags, **environment)
        assert (code, summary) == (2, {}), (flags, message)
        assert words in message.splitlines()[-1], (flags, message)
        assert "Traceback" not in message
