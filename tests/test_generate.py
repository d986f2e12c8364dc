"""generate.py writes the same gated scenarios for the same flags, however often it is stopped."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from authoring.duplicates import NearDuplicates
from generate import attempts, gate_yields, sample_combinations
from pipeline.files import read_scenarios
from schema import HOME, Scenario, axis_balance, sha256
from taxonomy import ARCHETYPES, AXES, balance, legal
from tests.helpers import ROOT
from tests.helpers.chat_server import Behaviour, ChatServer, Request, fail, refuse_format, say, slow
from tests.helpers.hand_scenarios import FRUIT, hand
from tests.helpers.processes import heed_signals, sandboxes_of

TASKS = "sort_unique,make_links,missing_source"
WORDS = ["amber", "birch", "cedar", "delta", "ember", "flint", "grove", "heron", "inlet", "jewel", "kelp", "lotus"]


def start(out: Path, *flags: str, author: str = "template", **environment: str) -> subprocess.Popen[str]:
    """generate.py under way, in an environment without endpoints but those given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SEKFT_")}
    command = [sys.executable, "generate.py", "--out", str(out), *flags]
    if author:
        command += ["--author", author]
    return subprocess.Popen(
        command, cwd=ROOT, env={**kept, **environment}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    )  # fmt: skip


def run(out: Path, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    process = start(out, *flags, **environment)
    stdout, stderr = process.communicate(timeout=900)
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def summary(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert len(done.stdout.splitlines()) == 1, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def records(out: Path) -> dict[str, bytes]:
    """Every record by its name, rejected ones too."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted([*out.glob("*.json"), *out.glob("rejected/*.json")])
        if path.name != "manifest.json"
    }


def wait_for(path: Path, pattern: str, process: subprocess.Popen[str]) -> None:
    for _ in range(1200):
        if list(path.glob(pattern)):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError(f"{pattern} never came")


# The sampler


@pytest.mark.parametrize("seed", range(5))
def test_combinations_are_legal_and_balanced(seed: int) -> None:
    sampled = sample_combinations(150, seed)
    assert all(legal(combination) for combination in sampled)
    for axis, values in AXES.items():
        found = balance((getattr(combination, axis) for combination in sampled), len(values))
        assert found is not None
        assert found >= 0.98, axis
    blocked = [combination for combination in sampled if ARCHETYPES[combination.task].terminal == "panic"]
    assert 15 <= len(blocked) <= 30
    assert all(combination.difficulty != "easy" for combination in blocked)


def test_chosen_difficulties_alone_are_sampled_and_balanced() -> None:
    sampled = [attempt.combination for attempt in islice(attempts(1, difficulties=["easy", "hard"]), 90)]
    found = Counter(combination.difficulty for combination in sampled)
    assert set(found) == {"easy", "hard"}
    assert min(found.values()) >= 40


def test_larger_n_only_adds_combinations() -> None:
    assert sample_combinations(40, 3) == sample_combinations(90, 3)[:40]
    assert sample_combinations(40, 3) != sample_combinations(40, 4)
    numbers = [(attempt.number, attempt.id) for attempt in islice(attempts(3, ["make_tree"]), 2)]
    assert numbers == [(0, "make_tree-0000"), (1, "make_tree-0001")]


# Near-duplicates


def test_what_a_gate_refuses_reaches_no_later_gate() -> None:
    assert gate_yields(9, {"paths": 2, "untouched": 4}, ("shape", "paths", "untouched")) == {
        "shape": {"reached": 9, "passed": 9},
        "paths": {"reached": 9, "passed": 7},
        "untouched": {"reached": 7, "passed": 3},
    }


def test_near_duplicates_share_most_text() -> None:
    known = NearDuplicates()
    known.add(hand())
    assert known.nearest(hand(id="hand-0009")) == ("hand-0001", 1.0)
    changed = hand(id="hand-0009", fixtures=[{**FRUIT, "text": "plum\napple\nlemon\n"}])
    assert known.nearest(changed)[1] > 0.5
    other = Scenario.model_validate_json(
        re.sub("fruit|sorted|colours|red|blue|plum|apple|melon", lambda found: found[0][::-1], hand().model_dump_json())
        .replace(hand().content_hash, "")
    )  # fmt: skip
    assert known.nearest(other)[1] < 0.5


# The template author


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three scenarios made in one go by one worker."""
    out = tmp_path_factory.mktemp("three") / "scenarios"
    done = run(out, "--n", "3", "--tasks", TASKS, "--workers", "1")
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.docker
def test_every_attempt_is_counted(three: Path) -> None:
    manifest = json.loads((three / "manifest.json").read_text())
    counts = manifest["counts"]
    assert manifest["finished"]
    assert counts["attempts"] == counts["admitted"] + sum(counts["refused"].values())
    assert counts["yield"]["shape"]["reached"] == counts["attempts"]
    assert counts["yield"]["duplicate"]["passed"] == 3
    assert set(counts["balance"]) == set(AXES)
    scenarios = read_scenarios(three)
    assert manifest["ids"] == [scenario.id for scenario in scenarios]
    assert all(scenario.provenance.gates["runs"] == 3 for scenario in scenarios)
    assert {scenario.task for scenario in scenarios} == set(TASKS.split(","))


@pytest.mark.docker
def test_balance_is_over_every_value_as_on_the_page_and_rounded_in_the_summary(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run(out, "--n", "1", "--tasks", "make_tree", "--difficulties", "easy")
    found = json.loads((out / "manifest.json").read_text())["counts"]["balance"]
    assert found == axis_balance(read_scenarios(out))
    assert found["difficulty"] == pytest.approx(1 / 3)
    assert json.loads(done.stdout)["balance"] == {axis: round(one, 3) for axis, one in found.items()}


@pytest.mark.docker
def test_records_do_not_depend_on_workers_or_restarts(three: Path, tmp_path: Path) -> None:
    out = tmp_path / "scenarios"
    for n, workers in ((1, "3"), (2, "2"), (3, "4")):
        done = run(out, "--n", str(n), "--tasks", TASKS, "--workers", workers)
        assert done.returncode == 0, done.stderr
        assert summary(done)["admitted"] == n
    assert records(out) == records(three)
    written = {path: path.stat().st_mtime_ns for path in out.glob("**/*-*.json")}
    again = run(out, "--n", "3", "--tasks", TASKS)
    assert (again.returncode, summary(again)["admitted"]) == (0, 3)
    assert {path: path.stat().st_mtime_ns for path in out.glob("**/*-*.json")} == written  # nothing is gated again
    assert records(out) == records(three)


@pytest.mark.docker
def test_killed_run_resumes(three: Path, tmp_path: Path) -> None:
    out = tmp_path / "scenarios"
    process = start(out, "--n", "3", "--tasks", TASKS, "--workers", "1")  # two more to write when the first one is
    wait_for(out, "*-*.json", process)
    process.kill()
    process.communicate()
    assert 1 <= len(list(out.glob("*-*.json"))) < 3
    assert not json.loads((out / "manifest.json").read_text())["finished"]
    done = run(out, "--n", "3", "--tasks", TASKS, "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert records(out) == records(three)
    assert sandboxes_of(process.pid) == []


@pytest.mark.docker
def test_interrupt_exits_130_and_leaves_no_container(tmp_path: Path) -> None:
    out = tmp_path / "scenarios"
    process = start(out, "--n", "3", "--tasks", TASKS, "--workers", "1")
    wait_for(out, "*-*.json", process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    assert sandboxes_of(process.pid) == []


@contextlib.contextmanager
def relay(path: Path) -> Iterator[None]:
    """Forward to Docker's socket from another path; close every connection and remove the path at the end."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(64)
    ends: list[socket.socket] = [listener]

    def copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect("/var/run/docker.sock")
                ends.extend((near, far))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=copy, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        path.unlink()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.mark.docker
def test_dead_docker_voids_the_attempt(three: Path, tmp_path: Path) -> None:
    out, path = tmp_path / "scenarios", tmp_path / "s"
    with relay(path):
        process = start(out, "--n", "3", "--tasks", TASKS, "--workers", "1", DOCKER_HOST=f"unix://{path}")
        wait_for(out, "*-*.json", process)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 1, stderr
    assert json.loads(stdout)["voided"] == 1
    assert not (out / "rejected").exists()
    done = run(out, "--n", "3", "--tasks", TASKS)
    assert done.returncode == 0, done.stderr
    assert records(out) == records(three)


# The teacher


KINDS = {
    "subcommand": "with subcommands", "flags": "with options", "numbered": "takes a number", "bulletin": "at once",
    "topics": "named topics", "keyvalue": "key=value", "piped": "standard input",
}  # fmt: skip
CALLS = {
    "subcommand": "duty show 1", "flags": "duty --show 1", "numbered": "duty 1", "bulletin": "duty all",
    "topics": "duty read one", "keyvalue": "duty item=1", "piped": "echo 1 | duty fetch",
}  # fmt: skip


def bundle_for(request: Request, word: str, **changes: Any) -> str:
    """A sound bundle for what the request asks: as many one-line files as it wants directives."""
    asked = request.body["messages"][1]["content"]
    count = int(re.search(r"exactly (\d)", asked)[1])  # type: ignore[index]
    place = None
    if "variable" in asked:
        place = "WORD_OF_THE_DAY"
    elif "home directory" in asked or "mailbox" in asked:
        place = f"{HOME}/notice"
    words = [f"{word}{letter}" for letter in "xyz"[:count]]
    directives = [f"Put the line {one} into {one}.txt." for one in words]
    printed = "\n".join(f"  echo '{directive}'" for directive in directives)
    kind = next(kind for kind, words in KINDS.items() if words in asked)
    checks = "\n".join(
        f'[ "$(sha256sum < {HOME}/{one}.txt)" = "{sha256(f"{one}{chr(10)}".encode())}  -" ] || exit 1' for one in words
    )
    value = {
        "directives": directives,
        "announcement": {"text": "The program duty knows more.", "place": place},
        "provider": {
            "name": "duty",
            "source": f"#!/bin/sh\ncase $1$2 in\n''|*help) echo 'see duty --help' ;;\n*)\n{printed} ;;\nesac\n",
            "help_commands": ["duty", "duty --help", "duty show --help"],
            "directive_commands": [CALLS[kind]],
        },
        "fixtures": [{"path": f"{HOME}/{word}.md", "text": f"{word}\n"}],
        "reference_solution": [f"echo {one} > {one}.txt" for one in words],
        "checker": checks,
        **changes,
    }
    return json.dumps(value)


def asked_first(request: Request) -> str:
    """What tells one attempt from another: its first question."""
    return str(request.body["messages"][1]["content"])


class Author:
    """A scripted teacher: a word per attempt, and sometimes a fault in the first round."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}

    def word(self, request: Request) -> str:
        return self.words.setdefault(asked_first(request), WORDS[int(sha256(asked_first(request).encode()), 16) % 12])

    def rounds(self, request: Request) -> int:
        return len(request.body["messages"]) // 2

    def __call__(self, request: Request) -> Behaviour:
        return say(bundle_for(request, self.word(request) + sha256(asked_first(request).encode())[:4]))


def teach(out: Path, server: ChatServer, *flags: str) -> subprocess.CompletedProcess[str]:
    return run(out, "--tasks", "sort_unique", *flags, author="", SEKFT_URL=server.url, SEKFT_MODEL="m", SEKFT_KEY="k")


@pytest.mark.docker
def test_teacher_bundles_are_gated_and_replies_kept(tmp_path: Path) -> None:
    with ChatServer(Author()) as server:
        done = teach(tmp_path / "one", server, "--n", "2", "--workers", "2")
        assert done.returncode == 0, done.stderr
        assert "--author teacher (SEKFT_MODEL or SEKFT_URL is set)" in done.stderr
        assert len(server.requests) == 2
        one = teach(tmp_path / "two", server, "--n", "2", "--workers", "1")
    assert records(tmp_path / "one") == records(tmp_path / "two")
    assert summary(one)["teacher_tokens"] == 300
    scenario = read_scenarios(tmp_path / "one")[0]
    assert (scenario.provenance.author, scenario.provenance.model, scenario.provenance.seed) == ("teacher", "m", 1)
    kept = json.loads((tmp_path / "one" / "raw" / f"{scenario.id}-1.json").read_text())
    assert kept["request_hash"] == scenario.provenance.request_hash
    assert json.loads(kept["reply"])["directives"] == scenario.directives


class Learner(Author):
    """Sends prose, then a bundle whose checker passes untouched, then a sound one."""

    def __call__(self, request: Request) -> Behaviour:
        faults = [say("Certainly! I would be glad to."), say(bundle_for(request, "amber", checker="exit 0"))]
        return [*faults, super().__call__(request)][self.rounds(request) - 1]


@pytest.mark.docker
def test_teacher_repairs_refused_bundles(tmp_path: Path) -> None:
    with ChatServer(Learner()) as server:
        done = teach(tmp_path / "s", server, "--n", "1", "--repairs", "2")
        complaints = [request.last_user_text for request in server.requests[1:]]
    assert done.returncode == 0, done.stderr
    assert "'reply': the reply holds no complete JSON object" in complaints[0]
    assert "'untouched': the untouched world passes the checker" in complaints[1]
    assert summary(done)["repaired"] == 1
    assert read_scenarios(tmp_path / "s")[0].provenance.gates["rounds"] == 3


@pytest.mark.docker
def test_five_refusals_in_a_row_end_the_run(tmp_path: Path) -> None:
    with ChatServer(lambda request: say(bundle_for(request, "amber", checker="exit 0"))) as server:
        done = teach(tmp_path / "s", server, "--n", "1", "--repairs", "1")
        assert len(server.requests) == 10
        again = teach(tmp_path / "s", server, "--n", "1", "--repairs", "1")
        assert len(server.requests) == 10
    assert (done.returncode, again.returncode) == (1, 1)
    assert summary(done)["refused"] == summary(again)["refused"] == {"untouched": 5}
    assert summary(done)["yield"]["untouched"] == {"reached": 5, "passed": 0}
    refusals = [json.loads(path.read_text()) for path in (tmp_path / "s" / "rejected").glob("*.json")]
    assert {refusal["reason"] for refusal in refusals} == {"the untouched world passes the checker"}
    assert all(refusal["bundle"]["checker"] == "exit 0" for refusal in refusals)


def parroted(request: Request, word: str) -> str:
    """A bundle most of whose text is that of any other with the same word."""
    text = "".join(f"{word} {number}\n" for number in range(40))
    return bundle_for(request, word, fixtures=[{"path": f"{HOME}/{word}.md", "text": text}])


class Parrot(Author):
    """Says the same work each time; says something else once it is told."""

    def __call__(self, request: Request) -> Behaviour:
        return say(parroted(request, "amber" if self.rounds(request) == 1 else "birch"))


@pytest.mark.docker
def test_near_duplicates_are_repaired_or_refused(tmp_path: Path) -> None:
    with ChatServer(Parrot()) as server:
        done = teach(tmp_path / "s", server, "--n", "2", "--repairs", "1")
        assert done.returncode == 0, done.stderr
        assert "'duplicate'" in server.requests[-1].last_user_text
    with ChatServer(lambda request: say(parroted(request, "birch" if request.index > 1 else "amber"))) as server:
        done = teach(tmp_path / "t", server, "--n", "2", "--repairs", "0", "--workers", "1")
    assert (done.returncode, summary(done)["refused"]) == (0, {"duplicate": 1})


@pytest.mark.docker
def test_dead_endpoint_ends_the_run_and_a_rerun_resumes(tmp_path: Path) -> None:
    out = tmp_path / "s"

    def dies(request: Request) -> Behaviour:
        return Author()(request) if request.index == 0 else fail(503, retry_after=0.05)

    with ChatServer(dies) as server:
        done = teach(out, server, "--n", "2", "--workers", "1")
        assert done.returncode == 1, done.stderr
        assert server.url in done.stderr
    assert "Traceback" not in done.stderr
    assert len(list(out.glob("*-*.json"))) == summary(done)["admitted"] == 1
    with ChatServer(Author()) as server:
        done = teach(out, server, "--n", "2", "--workers", "1")
        assert (done.returncode, len(server.requests)) == (0, 1)
    assert len(read_scenarios(out)) == 2


@pytest.mark.docker
def test_failures_do_not_change_records(tmp_path: Path) -> None:
    class Troubled(Author):
        def __call__(self, request: Request) -> Behaviour:
            sound = super().__call__(request)
            return [fail(429, retry_after=0.1), fail(500), refuse_format(slow(0.3, sound))][min(request.index, 2)]

    with ChatServer(Troubled()) as server:
        first = teach(tmp_path / "a", server, "--n", "1")
    with ChatServer(Author()) as server:
        second = teach(tmp_path / "b", server, "--n", "1")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert records(tmp_path / "a") == records(tmp_path / "b")


@pytest.mark.docker
def test_token_budget_ends_the_run(tmp_path: Path) -> None:
    with ChatServer(Author()) as server:
        done = teach(tmp_path / "s", server, "--n", "9", "--workers", "1", "--max-total-tokens", "300")
        assert len(server.requests) == 2
    assert done.returncode == 1
    assert "300 of 300 tokens are spent" in done.stderr
    assert summary(done)["admitted"] == 2


# Bad input


@pytest.mark.docker
@pytest.mark.parametrize(
    ("flags", "environment", "line"),
    [
        (["--n", "0"], {}, "--n 0: must be at least 1"),
        (["--workers", "0"], {}, "--workers 0: must be at least 1"),
        (["--repairs", "-1"], {}, "--repairs -1: must be at least 0"),
        (["--timeout-seconds", "0"], {}, "--timeout-seconds 0.0: must be more than 0"),
        (["--tasks", "juggle"], {}, "--tasks: unknown value 'juggle'; known: make_tree"),
        (["--difficulties", "easy,vast"], {}, "--difficulties: unknown value 'vast'; known: easy, medium, hard"),
        (["--difficulties", "easy", "--tasks", "broken_archive"], {}, "blocked task 'broken_archive' needs two"),
        (["--author", "me"], {}, "invalid choice: 'me'"),
        (["--n", "few"], {}, "invalid int value: 'few'"),
        ([], {"DOCKER_HOST": "unix:///nowhere/docker.sock"}, "no Docker engine answers"),
    ],
)
def test_bad_flags_and_no_docker_are_one_line(
    flags: list[str], environment: dict[str, str], line: str, tmp_path: Path
) -> None:
    done = run(tmp_path / "s", *flags, **environment)
    assert done.returncode == 2
    assert line in done.stderr.splitlines()[-1]
    assert done.stdout == ""
    assert not (tmp_path / "s").exists()


@pytest.mark.docker
def test_unusable_out_is_one_line(three: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("x")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("{")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text('{"stage": "rollout"}')
    shutil.copytree(three, tmp_path / "begun")
    flags = ["--n", "3", "--tasks", TASKS]
    for name, more, line in [
        ("file", [], "cannot be written"),
        ("full", [], "holds no manifest"),
        ("broken", [], "not JSON"),
        ("other", [], "holds the output of stage 'rollout'"),
        ("begun", ["--seed", "2"], "--seed was 1, is 2"),
        ("begun", ["--n", "2"], "--n was 3, is 2"),
        ("begun", ["--tasks", "make_tree"], "--tasks was"),
    ]:
        done = run(tmp_path / name, *flags, *more)
        assert done.returncode == 2, (name, done.stderr)
        assert line in done.stderr.splitlines()[-1]
    assert records(tmp_path / "begun") == records(three)


@pytest.mark.docker
def test_damaged_record_is_named(three: Path, tmp_path: Path) -> None:
    out = tmp_path / "begun"
    shutil.copytree(three, out)
    broken = sorted(out.glob("make_links-*.json"))[0]
    broken.write_text(broken.read_text().replace('"schema_version": 1', '"schema_version": 9'))
    done = run(out, "--n", "3", "--tasks", TASKS)
    assert done.returncode == 2
    assert f"{broken}: schema_version 9 is unknown" in done.stderr.splitlines()[-1]


@pytest.mark.docker
def test_redo_starts_over(three: Path, tmp_path: Path) -> None:
    out = tmp_path / "begun"
    shutil.copytree(three, out)
    done = run(out, "--n", "1", "--tasks", "make_tree", "--redo")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in out.glob("*-*.json")] == ["make_tree-0000.json"]


# A taxonomy of a user's own

OWN = {
    "name": "own",
    "archetypes": [{"name": "mine", "family": "text", "summary": "write single words into files"}],
    "providers": [{"name": "till", "summary": "a till P that takes a number: `P 2`.", "doc_depths": ["usage", "help"]}],
    "announcements": [{"name": "ticket", "summary": "a ticket that lies open.", "like": "file"}],
}


@pytest.mark.docker
def test_a_teacher_is_told_of_an_own_taxonomy_and_later_stages_need_no_flag(tmp_path: Path) -> None:
    """With this seed the first two scenarios have the own provider and the own channel."""
    file, out = tmp_path / "own.json", tmp_path / "out"
    file.write_text(json.dumps(OWN))
    flags = ["--taxonomy", str(file), "--tasks", "mine", "--n", "2", "--seed", "47", "--workers", "2"]
    with ChatServer(Author()) as server:
        environment = {"SEKFT_URL": server.url, "SEKFT_MODEL": "m", "SEKFT_KEY": "k"}
        done = run(out, *flags, author="", **environment)
        assert done.returncode == 0, done.stderr
        asked = "\n".join(asked_first(request) for request in server.requests)
        file.write_text(json.dumps({**OWN, "name": "other"}))
        other = run(out, *flags, author="", **environment)
    for part in (
        "write single words into files (mine)",
        "a till P that takes",
        "lies open. It is a small file",
    ):
        assert part in asked
    assert other.returncode == 2
    assert "--taxonomy was" in other.stderr
    file.unlink()
    records = read_scenarios(out)
    assert {record.task for record in records} == {"mine"}
    assert "till" in {record.provider_kind for record in records}
    assert "ticket" in {record.announcement.channel for record in records}
    balance = json.loads((out / "manifest.json").read_text())["counts"]["balance"]
    assert balance["task"] == pytest.approx(1 / (len(ARCHETYPES) + 1))
