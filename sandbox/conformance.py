"""Hold what a conformance case of the sandbox is, and run cases for a user: a line each and what was seen.

    from sandbox.conformance import Bench, case, gives, in_session, self_check

Reads   nothing
Writes  nothing
Needs   a Docker engine and the image sekft-dash (make image)

The cases themselves are the table in cases.py. A case opens its sandboxes through the bench it is given, and
through nothing else.
"""

import functools
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandbox import containers
from sandbox.checker import Check, verify
from sandbox.containers import SandboxError
from sandbox.session import RunResult, Session, run, session
from sandbox.tree import TreeEntry
from schema import BadInputError, Fixture, Step


@dataclass(frozen=True)
class Bench:
    """What the cases run on; `parallel` and `commands` size the one case that is heavy, F13."""

    parallel: int = 64
    commands: int = 20

    def session(self, fixtures: Sequence[Fixture] = (), **options: Any) -> AbstractContextManager[Session]:
        """A fresh world, as `session` makes it."""
        return session(fixtures, **options)

    def run(self, script: str, fixtures: Sequence[Fixture] = (), **options: Any) -> RunResult:
        """A script in a container of its own, as `run` has it."""
        return run(fixtures, script, **options)

    def verify(self, tree: Sequence[TreeEntry], checker: str, **options: Any) -> Check:
        """A tree in a clean container, as `verify` judges it."""
        return verify(tree, checker, **options)

    @contextmanager
    def process(self, lifetimes: Sequence[float], checks: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
        """Another process of the host with one running session per lifetime, and the label of its run.

        The first `checks` of them are at their check, the others at a command.
        """
        arguments = f"Bench(**{asdict(self)!r}), {list(lifetimes)!r}, {containers.runtime()!r}, {checks}"
        command = [sys.executable, "-c", f"from sandbox.conformance import Bench, hold_open; hold_open({arguments})"]
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
    """One row of the table. `check` raises where the claim does not hold, and may return a measurement."""

    name: str
    claim: str
    check: Callable[[Bench], str | None]


CASES: dict[str, Case] = {}
NOT_HELD = (AssertionError, SandboxError, OSError, ValueError)  # anything else is a fault of the case's own


def case(check: Callable[[Bench], str | None]) -> Callable[[Bench], str | None]:
    """Put a function into the table: its name is the case's, its docstring the claim."""
    assert check.__name__ not in CASES, check.__name__
    claim = " ".join((check.__doc__ or "").split())
    CASES[check.__name__] = Case(check.__name__, claim, check)
    return check


def in_session(check: Callable[[Session], str | None]) -> Callable[[Bench], str | None]:
    """Put a function that needs one empty world, and no more, into the table."""

    @functools.wraps(check)
    def in_its_own(bench: Bench) -> str | None:
        with bench.session() as shell:
            return check(shell)

    return case(in_its_own)


def holds(held: bool, seen: object) -> None:
    """Raise AssertionError with what was seen unless `held`."""
    if not held:
        raise AssertionError(f"saw {seen!r}")


def same(seen: object, wanted: object) -> None:
    """Raise AssertionError with both unless they are equal."""
    if seen != wanted:
        raise AssertionError(f"saw {seen!r}, not {wanted!r}")


def gives(shell: Session, command: str, output: str, exit_code: int = 0, *, timeout_seconds: float = 30.0) -> Step:
    """The step, which must have exactly this output and exit code, and no flag set but `state_stale`."""
    step = shell.step(command, timeout_seconds=timeout_seconds)
    same((step.output, step.exit_code), (output, exit_code))
    same((step.timed_out, step.oom, step.open_heredoc), (False, False, False))
    return step


@contextmanager
def raises(kind: type[Exception] | tuple[type[Exception], ...], says: str = "") -> Iterator[None]:
    """Expect an exception of this kind, or one of these, whose text holds `says`."""
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
    """Raise AssertionError where the block has this process hold more than that at any moment, beyond what it held."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    holds(peak < limit_bytes, f"{peak} bytes held on the host")


def left(label: str) -> list[str]:
    """The containers, networks and volumes of one run that are there; a container's name begins with a slash."""
    filters = {"label": f"sekft.run={label}"}
    with containers.engine_call("list sandboxes"):
        boxes = [found["Names"][0] for found in containers.api().containers(all=True, filters=filters)]
        networks = [found["Name"] for found in containers.api().networks(filters=filters)]
        volumes = [found["Name"] for found in containers.api().volumes(filters=filters)["Volumes"] or []]
        return boxes + networks + volumes


def hold_open(bench: Bench, lifetimes: Sequence[float], runtime: str | None, checks: int) -> None:
    """Open a session per lifetime, each with a command or a check running; print the run's label; wait to be ended."""

    def hold(index: int, lifetime: float) -> None:
        with suppress(SandboxError), bench.session(lifetime_seconds=lifetime) as shell:
            shell.step("true")
            ready.wait()
            (shell.verify if index < checks else shell.step)("sleep 300", timeout_seconds=300)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where self-check itself runs in the background
    containers.use_runtime(runtime)
    ready = threading.Barrier(len(lifetimes) + 1)
    threads = [threading.Thread(target=hold, args=each, daemon=True) for each in enumerate(lifetimes)]
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


def self_check(bench: Bench, names: Sequence[str], rules: dict[str, str]) -> dict[str, Any]:
    """Run the cases named (all where none is) and print a line each on stderr; returns the counts.

    A line has the case's name, ok, documented (held, and a matter of rule: `rules`) or FAILED, the seconds it took, its
    claim, what it measured, and what was seen where it failed. Where no sandbox starts at all, one line says why, and
    none holds. Raises BadInputError for a name that is no case.
    """
    if unknown := sorted(set(names) - set(CASES)):
        raise BadInputError(f"--only: no case is named {', '.join(unknown)}; known: {' '.join(CASES)}")
    chosen = [one for name, one in CASES.items() if name in names or not names]
    began, failed, counts = time.monotonic(), [], {"ok": 0, "documented": 0, "FAILED": 0}
    try:
        bench.run("true")
    except SandboxError as error:
        print(f"no case holds: no sandbox starts on this engine: {error}", file=sys.stderr)
        failed, chosen = [one.name for one in chosen], []
    for one in chosen:
        started, result, said = time.monotonic(), "documented" if one.name in rules else "ok", ""
        try:
            said = one.check(bench) or ""
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
