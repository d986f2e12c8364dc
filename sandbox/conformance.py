"""Define what a conformance case of the sandbox is, and run cases: one line each, with what was seen.

    from sandbox.conformance import CASES, Testbed

    CASES["A01"].check(Testbed())  # raises where the case does not hold; cases.py fills CASES

A case opens its sandboxes through the testbed that it is given, and through nothing else, so that one command can run
all cases under another OCI runtime.
"""

import functools
import json
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sandbox import containers
from sandbox.checker import Check, verify
from sandbox.containers import SandboxError, SandboxOptions
from sandbox.oneshot import RunResult, run
from sandbox.session import LockedOutError, Session, session
from sandbox.tree import TreeEntry
from schema import BadInputError, Fixture, Step


@dataclass(frozen=True)
class Testbed:
    """What the cases run on. `parallel` and `commands` size the one case that takes long, F13."""

    __test__ = False  # keeps pytest from collecting the class, whose name begins with Test

    options: SandboxOptions = field(default_factory=SandboxOptions)
    parallel: int = 64
    commands: int = 20

    def session(
        self, fixtures: Sequence[Fixture] = (), *, lifetime_seconds: float | None = None
    ) -> AbstractContextManager[Session]:
        """A fresh sandbox from `session()`, with another lifetime where one is given."""
        lifetime = self.options.lifetime_seconds if lifetime_seconds is None else lifetime_seconds
        return session(fixtures, options=replace(self.options, lifetime_seconds=lifetime))

    def run(self, script: str, fixtures: Sequence[Fixture] = (), **options: Any) -> RunResult:
        """A script in a container of its own, by `run()`."""
        return run(fixtures, script, options=self.options, **options)

    def verify(self, tree: Sequence[TreeEntry], checker: str) -> Check:
        """A tree in a checker's container, by `verify()`."""
        return verify(tree, checker, options=self.options)

    @contextmanager
    def process(self, lifetimes: Sequence[float], checks: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
        """Another process of this machine with one open session per lifetime, and the label of its run.

        The first `checks` sessions are running a checker, the others a command.
        """
        arguments = [json.dumps(asdict(self)), json.dumps(list(lifetimes)), str(checks)]
        code = "import sys; from sandbox.conformance import keep_sessions_open; keep_sessions_open(*sys.argv[1:])"
        command = [sys.executable, "-c", code, *arguments]
        with subprocess.Popen(command, cwd=Path(__file__).parent.parent, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            label = process.stdout.readline().strip()
            try:
                holds(label != "", "the other process opened no sessions")
                yield process, label
            finally:
                process.kill()


@dataclass(frozen=True)
class Case:
    """One case. `check` raises where the claim does not hold, and may return a measurement.

    `documented` marks a claim that is a rule of this sandbox, where another one could rightly do otherwise.
    """

    name: str
    claim: str
    check: Callable[[Testbed], str | None]
    documented: bool = False


CASES: dict[str, Case] = {}
# Anything else is an error in the case itself.
NOT_HELD = (AssertionError, SandboxError, LockedOutError, OSError, ValueError)


def case(check: Callable[[Testbed], str | None]) -> Callable[[Testbed], str | None]:
    """Add a function to CASES: its name is the case's name, its docstring the claim."""
    assert check.__name__ not in CASES, check.__name__
    claim = " ".join((check.__doc__ or "").split())
    CASES[check.__name__] = Case(check.__name__, claim, check)
    return check


def documented(check: Callable[[Testbed], str | None]) -> Callable[[Testbed], str | None]:
    """Mark the case of this function as documented. Stands above `@case` or `@in_session`."""
    CASES[check.__name__] = replace(CASES[check.__name__], documented=True)
    return check


def in_session(check: Callable[[Session], str | None]) -> Callable[[Testbed], str | None]:
    """Add a function that needs one empty sandbox, and no more, to CASES."""

    @functools.wraps(check)
    def in_own_session(testbed: Testbed) -> str | None:
        with testbed.session() as shell:
            return check(shell)

    return case(in_own_session)


def holds(held: bool, seen: object) -> None:
    """Raise AssertionError with `seen` if `held` is false."""
    if not held:
        raise AssertionError(f"saw {seen!r}")


def same(seen: object, wanted: object) -> None:
    """Raise AssertionError with both values, unless they are equal."""
    if seen != wanted:
        raise AssertionError(f"saw {seen!r}, not {wanted!r}")


def gives(shell: Session, command: str, output: str, exit_code: int = 0, *, timeout_seconds: float = 30.0) -> Step:
    """Run a command that must give exactly this output and exit code, with no flag set (but maybe `state_stale`)."""
    step = shell.step(command, timeout_seconds=timeout_seconds)
    same((step.output, step.exit_code), (output, exit_code))
    same((step.timed_out, step.oom, step.open_heredoc), (False, False, False))
    return step


@contextmanager
def raises(kind: type[Exception] | tuple[type[Exception], ...], says: str = "") -> Iterator[None]:
    """Raise AssertionError unless the block raises this kind of exception, with `says` in its text."""
    try:
        yield
    except kind as error:
        holds(says in str(error), error)
    else:
        raise AssertionError(f"saw no {kind}")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise AssertionError where the block takes longer."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    holds(took < seconds, f"{took:.1f} s")


@contextmanager
def host_memory(limit_bytes: int) -> Iterator[None]:
    """Raise AssertionError where the block makes this process hold more memory at any moment, beyond what it held."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    holds(peak < limit_bytes, f"{peak} bytes held on the host")


def sandboxes_of(label: str) -> list[str]:
    """The containers, networks and volumes of one run that exist; a container's name begins with a slash."""
    filters = {"label": f"sekft.run={label}"}
    with containers.docker_call("list sandboxes"):
        boxes = [found["Names"][0] for found in containers.api().containers(all=True, filters=filters)]
        networks = [found["Name"] for found in containers.api().networks(filters=filters)]
        volumes = [found["Name"] for found in containers.api().volumes(filters=filters)["Volumes"] or []]
        return boxes + networks + volumes


def keep_sessions_open(testbed_json: str, lifetimes_json: str, checks: str) -> None:
    """Open a session per lifetime, each running a command or a checker; print the run's label; wait to be ended.

    The other process of `Testbed.process` calls this; its arguments are `Testbed` and lifetimes as JSON.
    """
    fields = json.loads(testbed_json)
    testbed = Testbed(**{**fields, "options": SandboxOptions(**fields["options"])})
    lifetimes: list[float] = json.loads(lifetimes_json)

    def use(index: int, lifetime: float) -> None:
        with suppress(SandboxError), testbed.session(lifetime_seconds=lifetime) as shell:
            shell.step("true")
            ready.wait()
            (shell.verify if index < int(checks) else shell.step)("sleep 300", timeout_seconds=300)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background SIGINT would be ignored
    ready = threading.Barrier(len(lifetimes) + 1)
    threads = [threading.Thread(target=use, args=each, daemon=True) for each in enumerate(lifetimes)]
    try:
        for thread in threads:
            thread.start()
        ready.wait(timeout=300)
        print(containers.RUN, flush=True)
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        pass
    finally:
        containers.remove_all()


def self_check(testbed: Testbed, names: Sequence[str]) -> dict[str, Any]:
    """Run the named cases (all if none is named) and print a line for each on stderr; returns the counts.

    A line has the case's name; `ok`, `documented` (it holds, and is a rule of this sandbox) or `FAILED`; the seconds it
    took; its claim; a measurement, or what was seen where it failed. Where no sandbox starts at all, one line says why,
    and every case counts as failed. Raises BadInputError for a name that is no case.
    """
    if unknown := sorted(set(names) - set(CASES)):
        raise BadInputError(f"--only: no case is named {', '.join(unknown)}; known: {' '.join(CASES)}")
    chosen = [one for name, one in CASES.items() if name in names or not names]
    began, failed, counts = time.monotonic(), [], {"ok": 0, "documented": 0, "FAILED": 0}
    try:
        testbed.run("true")
    except SandboxError as error:
        print(f"no case holds: no sandbox starts here: {error}", file=sys.stderr)
        failed, chosen = [one.name for one in chosen], []
    for one in chosen:
        started, result, said = time.monotonic(), "documented" if one.documented else "ok", ""
        try:
            said = one.check(testbed) or ""
        except NOT_HELD as error:
            result, said = "FAILED", f"{type(error).__name__}: {error}"[:600]
            failed.append(one.name)
        counts[result] += 1
        took = f"{time.monotonic() - started:.1f}s"
        print(f"{one.name} {result} {took} {one.claim}{f' -- {said}' if said else ''}", file=sys.stderr, flush=True)
    return {
        "cases": len(chosen) or len(failed), "ok": counts["ok"], "documented": counts["documented"], "failed": failed,
        "seconds": round(time.monotonic() - began, 1),
    }  # fmt: skip
