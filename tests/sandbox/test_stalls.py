"""When Docker stands still, what had ended in the container counts as it ended, or the attempt is void."""

import contextlib
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from sandbox import checker as checker_module, containers, session as session_module
from sandbox.checker import Check
from sandbox.containers import SandboxError
from sandbox.session import Session, session
from schema import HOME, Step

pytestmark = pytest.mark.docker
T = TypeVar("T")


class StalledDocker:
    """A socket in front of Docker that passes everything on, except while it stands still."""

    def __init__(self, place: Path) -> None:
        self.url = f"unix://{place / 'stalled'}"
        self.moves = threading.Event()
        self.moves.set()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(place / "stalled"))
        self.listener.listen()
        self.real = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                ends = self.listener.accept()[0], socket.socket(socket.AF_UNIX)
                ends[1].connect(self.real)
                for source, sink in (ends, ends[::-1]):
                    threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self.moves.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def stall(self, *, after: float, seconds: float) -> None:
        """Stand still for so many seconds, some seconds from now."""
        threading.Timer(after, self.moves.clear).start()
        threading.Timer(after + seconds, self.moves.set).start()


@pytest.fixture
def stalled(monkeypatch: pytest.MonkeyPatch) -> Iterator[StalledDocker]:
    with tempfile.TemporaryDirectory(prefix="sekft-", dir="/tmp") as place:
        docker = StalledDocker(Path(place))
        monkeypatch.setenv("DOCKER_HOST", docker.url)
        yield docker
        docker.moves.set()
        docker.listener.close()


def in_session(use: Callable[[Session], T], stalled: StalledDocker) -> T:
    """Use a session in a thread of its own: a thread's first client is the one that the environment names."""

    def whole() -> T:
        with session([]) as shell:
            shell.step("true")
            try:
                return use(shell)
            finally:
                stalled.moves.set()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(whole).result()


def test_command_that_ended_during_a_stall_did_not_time_out(stalled: StalledDocker) -> None:
    def use(shell: Session) -> tuple[Step, Step]:
        stalled.stall(after=0.5, seconds=5)
        step = shell.step("X=kept; (sleep 60; echo job >job) & sleep 1; echo done; exit 7", timeout_seconds=2)
        return step, shell.step("echo $X; pgrep -fc 'sleep 6[0]'")

    step, after = in_session(use, stalled)
    assert (step.output, step.exit_code, step.timed_out, step.state_stale) == ("done\n", 7, False, False)
    assert after.output == "kept\n1\n"


def test_command_that_runs_through_a_stall_times_out(stalled: StalledDocker) -> None:
    def use(shell: Session) -> Step:
        stalled.stall(after=0.5, seconds=3)
        return shell.step("echo on; sleep 60", timeout_seconds=2)

    step = in_session(use, stalled)
    assert (step.output, step.exit_code, step.timed_out, step.state_stale) == ("on\n", 124, True, True)


def test_stall_without_an_end_voids_a_command(stalled: StalledDocker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "DOCKER_SECONDS", 2.0)

    def use(shell: Session) -> Step:
        stalled.stall(after=0.5, seconds=60)
        return shell.step("sleep 1", timeout_seconds=2)

    with pytest.raises(SandboxError, match="no sign of life"):
        in_session(use, stalled)


def test_checker_that_ended_during_a_stall_counts(stalled: StalledDocker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker_module, "END_SECONDS", 1.0)

    def use(shell: Session) -> Check:
        stalled.stall(after=2, seconds=5)
        return shell.verify(f"sleep 3; [ -d {HOME} ]", timeout_seconds=4)

    assert in_session(use, stalled).passed


def test_stall_without_an_end_voids_a_check(stalled: StalledDocker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker_module, "END_SECONDS", 1.0)
    monkeypatch.setattr(containers, "DOCKER_SECONDS", 5.0)

    def use(shell: Session) -> Check:
        stalled.stall(after=2, seconds=60)
        return shell.verify("sleep 3", timeout_seconds=4)

    with pytest.raises(SandboxError):
        in_session(use, stalled)


def test_checker_that_killed_its_time_limit_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker_module, "END_SECONDS", 2.0)
    with session([]) as shell:
        check = shell.verify("pkill -KILL -f '[t]imeout -s KILL'; sleep 60", timeout_seconds=1)
        assert (check.passed, check.error) == (None, "the checker ran past 1 s")
        assert shell.verify("exit 3").exit_code == 3
