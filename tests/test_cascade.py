"""cascade.py escalates on what an operator knows, counts real tokens, resumes after kill -9, and compares by task."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from operators.cascade import signal_of
from pipeline.files import read_json, read_trajectories, write_json
from tests.helpers import ROOT, policy, program, tiny
from tests.helpers.chat_server import Behaviour, ChatServer, Request, fail, say, slow
from tests.helpers.rollouts import clean_environment, made, write_scenarios

PRICES = {"cheap": {"input": 1, "output": 2}, "frontier": {"input": 10, "cached_input": 1, "output": 20}}


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three scenarios, all to be done; the text of each announcement tells them apart."""
    return write_scenarios(tmp_path_factory.mktemp("cascade") / "scenarios", made(3))


def answers(request: Request) -> Behaviour:
    """Give up in the first scenario, claim to be done in the second, answer the third with commands without an end."""
    seen = "\n".join(turn["content"] for turn in request.body["messages"])
    first, second, _ = (one.announcement.text for one in made(3))
    return say("panic no idea" if first in seen else "exit" if second in seen else "ls", tokens=(100, 50))


def command(few: Path, out: Path, *flags: str) -> list[str]:
    prices = out.parent / "prices.json"
    write_json(prices, PRICES)
    return [
        *program("cascade.py"), "play", "--scenarios", str(few), "--out", str(out), "--prices", str(prices),
        "--cheap", "endpoint", "--frontier", "reference", "--max-steps", "14", "--workers", "2", *flags,
    ]  # fmt: skip


def cascade(few: Path, out: Path, server: ChatServer, *flags: str, code: int = 0) -> tuple[dict[str, Any], str]:
    environment = clean_environment(SEKFT_OP_MODEL="cheap", SEKFT_OP_URL=server.url)
    done = subprocess.run(
        command(few, out, *flags), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done
    return json.loads(done.stdout or "{}"), done.stderr


@pytest.mark.docker
def test_escalation_follows_what_the_operator_knows(few: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ChatServer(answers) as server:
        summary, _ = cascade(few, out, server)
        calls = len(server.requests)
        report = read_json(out / "outcomes.json")
        outcomes = {one["id"]: one for one in report["outcomes"]}
        first, second, third = (one.id for one in made(3))
        assert [outcomes[id_]["signal"] for id_ in (first, second, third)] == ["panic", None, "max_steps"]
        assert [outcomes[id_]["resolved"] for id_ in (first, second, third)] == [True, False, True]
        assert summary["escalation_rate"] == pytest.approx(2 / 3)
        assert [outcomes[one.id]["content_hash"] for one in made(3)] == [one.content_hash for one in made(3)]
        limits = {"max_steps": 14, "max_new_tokens": 256, "timeout_seconds": 30.0, "temperature": None}
        assert report["conditions"] == limits
        assert report["oracle"]["resolve_rate"]["rate"] == 1.0  # it sees that the second is not done
        assert report["usage"]["cheap"] == {
            **report["usage"]["cheap"], "calls": 16, "input_tokens": 1600, "output_tokens": 800, "estimated": False,
        }  # fmt: skip
        assert outcomes[second]["cost_usd"] == pytest.approx((100 * 1 + 50 * 2) / 1e6)
        assert outcomes[first]["cost_usd"] > outcomes[second]["cost_usd"]
        again, _ = cascade(few, out, server)
        assert (again, len(server.requests)) == (summary, calls)
        only, _ = cascade(few, out, server, "--escalate-on", "max_steps", "--no-oracle")
        assert only["escalation_rate"] == pytest.approx(1 / 3)
        assert len(server.requests) == calls


@pytest.mark.docker
@pytest.mark.parametrize("tuned", [False, True])
def test_a_local_operator_escalates_to_an_endpoint(tuned: bool, few: Path, tmp_path: Path) -> None:
    base, subject = tiny.base(tmp_path / "base"), []
    if tuned:
        worlds = policy.write_worlds(tmp_path / "worlds")
        subject = ["--adapter", str(policy.undecided_adapter(base, tmp_path / "sft", worlds))]
    prices = {"cheap": {"per_hour": 3600}, "frontier": PRICES["frontier"]}
    write_json(tmp_path / "usual.json", prices)
    flags = ["--cheap", "local", "--base", str(base), *subject, "--frontier", "endpoint", "--max-steps", "2"]
    flags += ["--max-new-tokens", "8", "--no-oracle", "--prices", str(tmp_path / "usual.json")]
    with ChatServer([say("exit", tokens=(100, 50))]) as server:
        environment = clean_environment(SEKFT_FRONTIER_MODEL="big", SEKFT_FRONTIER_URL=server.url)
        done = subprocess.run(
            command(few, tmp_path / "out", *flags),
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert {request.body["model"] for request in server.requests} <= {"big"}
        calls = len(server.requests)
    report = read_json(tmp_path / "out" / "outcomes.json")
    assert calls == sum(one["signal"] is not None for one in report["outcomes"])
    assert calls or tuned  # the adapter may leave at once
    assert report["usage"]["frontier"]["calls"] == calls
    per_call = (100 * 10 + 50 * 20) / 1e6
    seconds = report["usage"]["cheap"]["seconds"]
    assert sum(one["cost_usd"] for one in report["outcomes"]) == pytest.approx(seconds + calls * per_call, rel=1e-3)
    hashes = {one.operator.adapter_hash is not None for one in read_trajectories(tmp_path / "out" / "cheap")}
    assert hashes == {tuned}


@pytest.mark.docker
@pytest.mark.parametrize("moment", ["cheap", "frontier"])
def test_a_killed_run_loses_and_doubles_nothing(moment: str, few: Path, tmp_path: Path) -> None:
    with ChatServer(answers) as server:
        whole, _ = cascade(few, tmp_path / "whole", server)
    with ChatServer(lambda request: slow(0.3, answers(request))) as server:
        out = tmp_path / "killed"
        environment = clean_environment(SEKFT_OP_MODEL="cheap", SEKFT_OP_URL=server.url)
        process = subprocess.Popen(command(few, out), cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while not list(out.glob(f"{moment}/*-s0.json")) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        process.kill()
        process.wait()
        before = {path: path.stat().st_mtime_ns for path in out.glob("*/*-s0.json")}
        assert before
        after, _ = cascade(few, out, server)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert {**after, "out": ""} == {**whole, "out": ""}
    assert len(read_trajectories(out / "cheap")) == 3
    for side in ("whole", "killed"):
        ids = [one["id"] for one in read_json(tmp_path / side / "outcomes.json")["outcomes"]]
        assert ids == sorted(one.id for one in made(3))


@pytest.mark.docker
def test_a_voided_attempt_is_not_counted_and_tried_again(few: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = made(1)[0].announcement.text

    def broken(request: Request) -> Behaviour:
        return fail(401) if first in str(request.body["messages"]) else answers(request)

    with ChatServer(broken) as server:
        summary, _ = cascade(few, out, server, code=1)
    assert (summary["n"], summary["without_outcome"]) == (2, 1)
    assert not list(out.glob(f"frontier/{made(1)[0].id}-*"))  # nobody pays for what no outcome counts
    with ChatServer(answers) as server:
        summary, _ = cascade(few, out, server)
    assert (summary["n"], summary["without_outcome"]) == (3, 0)


@pytest.mark.docker
def test_an_endpoint_that_tells_no_tokens_ends_the_run_at_its_first_answer(few: Path, tmp_path: Path) -> None:
    with ChatServer(lambda request: say("ls", tokens=None)) as server:
        _, errors = cascade(few, tmp_path / "out", server, "--workers", "1", code=2)
        assert len(server.requests) <= 2  # of 42: another episode may have begun
    assert errors.splitlines()[-1].endswith("does not tell its tokens (usage); name an endpoint that does")


def test_an_endpoint_without_a_model_is_told_the_flag_that_needs_none(few: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        command(few, tmp_path / "out"), cwd=ROOT, env=clean_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    told = "SEKFT_OP_MODEL is not set; name the endpoint's model, or pass --cheap reference"
    assert done.stderr.splitlines() == [f"cascade.py: error: {told}"]


def test_signals_are_what_an_operator_knows() -> None:
    played = tiny.trajectory(kept=False)
    assert signal_of(played) is None  # not verified: the operator does not know
    assert signal_of(played.model_copy(update={"terminal": "exit 3"})) == "exit_nonzero"
    for outcome in ("panic", "max_steps", "context_full", "locked_out"):
        assert signal_of(played.model_copy(update={"terminal": None, "outcome": outcome})) == outcome
    for terminal, signal in (("exit", None), ("exit 3", "exit_nonzero"), ("panic no", "panic"), (None, "max_steps")):
        assert signal_of(played.model_copy(update={"outcome": "checker_failed", "terminal": terminal})) == signal


def compare(*flags: Any, code: int = 0) -> tuple[dict[str, Any], str]:
    done = subprocess.run(
        [*program("cascade.py"), "compare", *map(str, flags)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done
    return json.loads(done.stdout or "{}"), done.stderr


def test_the_page_shows_what_its_example_prints(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "preference_and_cost.md").read_text()
    (block,) = [part for part in page.split("```") if "cascade.py compare --before base.json" in part]
    makes, _, shown = block.strip().partition("\n$ python cascade.py compare --before base.json --after adapter.json\n")
    script = makes.removeprefix("$ ").replace("python", sys.executable, 1)
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True)
    _, printed = compare("--before", tmp_path / "base.json", "--after", tmp_path / "adapter.json")
    assert printed.strip() == shown


def test_two_foreign_files_are_compared_by_task(tmp_path: Path) -> None:
    def rows(cheap: int, n: int = 40) -> list[dict[str, Any]]:
        return [
            {"instance_id": f"i{at}", "cheapResolved": at < cheap, "escalated": at >= cheap, "resolved": True,
             "costUsd": 0.01 if at < cheap else 0.51}
            for at in range(n)
        ]  # fmt: skip

    write_json(tmp_path / "base.json", rows(10))
    write_json(tmp_path / "adapter.json", rows(30)[::-1])
    write_json(tmp_path / "other.json", rows(10, 39))
    found, table = compare("--before", tmp_path / "base.json", "--after", tmp_path / "adapter.json")
    assert found["verdict"] == "win"
    assert found["metrics"]["escalation_rate"]["difference"] == pytest.approx(-0.5)
    assert "cost per resolved task falls" in table
    found, _ = compare("--before", tmp_path / "base.json", "--after", tmp_path / "base.json")
    assert found["verdict"] == "no win"
    _, errors = compare("--before", tmp_path / "base.json", "--after", tmp_path / "other.json", code=2)
    assert "run that play again" in errors
    assert "'i39' and 0 more are in one run alone" in errors
