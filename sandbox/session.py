"""Run commands as an operator in a disposable container: session(), its pool, and the one-shot run().

An operator acts in one container, through the wrapper of sandbox/wrapper.py; what it leaves is judged in a second,
clean one that no process of the first can reach. How a container is closed off is in sandbox/containers.py.
"""

import contextlib
import errno
import math
import os
import queue
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath

from sandbox.checker import CHECKER_PATH, Check, Judge, oom_kills
from sandbox.containers import (
    ENGINE_SECONDS,
    FILE_BYTES,
    IMAGE,
    Process,
    SandboxError,
    Stream,
    api,
    await_end,
    create,
    engine_call,
    image_id,
    owned,
    start,
    volume_mount,
)
from sandbox.tree import TreeEntry, archive_of, layers_of, members_of, read_tree, roots_archive, tar_of, tree_of
from sandbox.wrapper import (
    LOGIN,
    OPEN,
    RAW_BYTES,
    READY,
    Output,
    Report,
    lay_request,
    login,
    pid_1,
    request,
    require_text,
)
from schema import HOME, Fixture, Step

TRANSPORT = "channel"
OPERATOR = "1000:1000"
LIFETIME_SECONDS = 3600.0
POOL_SECONDS = 300.0  # that a booted sandbox may wait for its session
DRAIN_SECONDS = 5.0  # for the end of a step's output to follow the last words, or these to follow it
PATH_BYTES = 4096  # of a working directory's name that are kept: the operator can write there what it likes
KILL_SECONDS = 20.0  # for killing what ran past its limit; a sandbox where that takes longer is given up
NO_FILE = 99  # the exit code of WRITE for a fifo, socket or device: those could take for ever
WRITE = f"""\
case $1 in /*) path=$1 ;; *) path=./$1 ;; esac
[ ! -e "$path" ] || [ -f "$path" ] || [ -d "$path" ] || exit {NO_FILE}
mkdir -p "${{path%/*}}/" && cat >"$path"
"""


@dataclass(frozen=True)
class RunResult:
    """What a one-shot script left: both streams apart, at most RAW_BYTES each, and how it ended."""

    stdout: bytes
    stdout_bytes: int  # that it printed: more than `stdout` has where the middle was left out
    stderr: bytes
    stderr_bytes: int
    exit_code: int
    timed_out: bool
    oom: bool
    duration_seconds: float


class Session:
    """A world with an operator in it. Made by `session()`; used by one thread at a time."""

    def __init__(self, image: str, lifetime: float) -> None:
        self.lifetime = lifetime
        self.raw = b""  # the last step's output as it came, RAW_BYTES of it at most
        self._cwd, self._oom_kills = HOME, 0
        self._over = self._aliases = False
        self._channel: Process | None = None
        self._pid_1: Stream | None = None
        self._judge: Judge | None = None
        self._mark = ""
        self._things = contextlib.ExitStack()
        self.image_digest = image_id(image)
        self.container, self.clean, self.volume = self._things.enter_context(owned("container", "container", "volume"))
        with contextlib.ExitStack() as undo:
            undo.callback(self.end)
            self._pid_1 = _boot(self.container, self.volume, self.image_digest, lifetime)
            with engine_call(f"open a channel to {self.container}"):
                self._open()
            undo.pop_all()

    def furnish(
        self, fixtures: Sequence[Fixture], provider: tuple[str, str] | None, environment: Mapping[str, str]
    ) -> None:
        """Lay the world's own files; `session()` has done it.

        PID 1 lays what is root's, the channel what is the operator's, before any process of the operator runs.
        """
        assert self._pid_1 is not None
        assert self._channel is not None
        with engine_call(f"lay the world of {self.container}"):
            self._pid_1.send(_roots_files(provider, environment))
            self._pid_1.flush(ENGINE_SECONDS)
            if fixtures:
                self._lay(self._channel, tree_of(fixtures))

    def _lay(self, channel: Process, tree: list[TreeEntry]) -> None:
        """Have the channel lay a tree in HOME."""
        answer = Output(64)
        nonce = secrets.token_hex(8)

        def take(stream: int, data: bytes) -> bool:
            answer.add(data)
            return answer.total > len(nonce) and answer.kept().endswith(b"\0")

        channel.send(lay_request(nonce, *layers_of(tree)))
        channel.pump(take, time.monotonic() + ENGINE_SECONDS)
        if answer.kept() != f"\0{nonce} 0\0".encode():
            raise SandboxError(f"{self.container}: the fixtures could not be laid ({answer.text().strip()!r})")

    def end(self) -> None:
        """Remove everything; `session()` does it."""
        self._hang_up()
        with contextlib.suppress(SandboxError), engine_call("end the session"):  # what stays is removed next
            if self._pid_1 is not None:
                self._pid_1.close()
            if self._judge is not None:
                self._judge.close()
                await_end(self.clean)
            if self._pid_1 is not None and not self._over:
                await_end(self.container)
        self._pid_1 = None
        self._things.close()

    def step(self, command: str, *, timeout_seconds: float = 30.0) -> Step:
        """Run a command as the operator's next and say what came back.

        At the time limit everything that the command started is killed and exit_code is 124. Returns as soon as the
        command's own shell ends; what it left in the background lives on, its later output is dropped. Raises
        ValueError for a lone surrogate, and SandboxError when the sandbox is dead or the session was verified.
        """
        require_text(command)
        if self._over:
            raise SandboxError("the session is over: it was verified")
        asked = time.monotonic()
        with engine_call(f"step in {self.container}"):
            channel, report = self._asked(command)
            timed_out = self._ended(channel, report, time.monotonic() + timeout_seconds)
            duration = time.monotonic() - asked
            if timed_out:
                self._kill(channel, report)
            report.give_up()
            step = self._result(command, channel, report, timed_out=timed_out, duration=duration)
            if timed_out or report.closing is None:
                self._hang_up()  # what it had started ahead was killed too
            return step

    def _asked(self, command: str) -> tuple[Process, Report]:
        """The channel, once it took the command up; one that the operator killed is replaced."""
        seen = Output(2048)
        for fresh in (self._channel is None, True):
            if fresh:
                self._open()
            assert self._channel is not None
            report, self._mark = Report(nonce := secrets.token_hex(8), self._mark), secrets.token_hex(8)

            def take(stream: int, data: bytes, report: Report = report) -> bool:
                seen.add(data)
                report.take(stream, data)
                return report.session is not None

            self._channel.send(request(nonce, self._mark, command, aliases=self._aliases))
            try:
                answer = self._channel.pump(take, time.monotonic() + ENGINE_SECONDS)
            except ConnectionError:
                answer = False
            if answer:
                return self._channel, report
            if answer is None:
                break
        raise SandboxError(f"{self.container} runs no commands: {seen.text().strip() or 'no answer'}")

    def _open(self) -> None:
        """Start the channel's process, hanging up the one before."""
        self._hang_up()
        self._mark = secrets.token_hex(8)
        first = f"{self._mark}\n".encode()
        self._channel = Process(self.container, OPEN, user=OPERATOR, workdir="/run/op", stdin=first, hold=True)

    def _ended(self, channel: Process, report: Report, deadline: float) -> bool:
        """Read until the step is over; True when it is not at the deadline.

        Either of a step's two ends, its last words and its output's end mark, may be missing, since the operator can
        kill any process of its own; then the other one counts.
        """

        def take(stream: int, data: bytes) -> bool:
            report.take(stream, data)
            return report.closing is not None or report.drained

        if report.closing is None and not report.drained and channel.pump(take, deadline) is None:
            return True
        while report.closing is None or not report.drained:
            late = channel.pump(report.take, time.monotonic() + DRAIN_SECONDS)
            if late is not None or report.closing is not None or channel.ended():
                break
            if time.monotonic() > deadline:
                return True
        return False

    def _hang_up(self) -> None:
        """Hang up the channel."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _kill(self, process: Process, report: Report) -> None:
        """Kill what the running step started, and the channel with it. Raises SandboxError when that cannot be done.

        The step's output is read on meanwhile: an engine that cannot get rid of it reports no other process's end.
        """
        session, channel = (word.decode() for word in report.session or [])
        command = ["/usr/bin/env", "-i", f"session={session}", f"channel={channel}", "/usr/bin/dash", "kill"]
        deadline, code = time.monotonic() + KILL_SECONDS, None

        def take(stream: int, data: bytes) -> bool:
            report.take(stream, data)
            return False

        while code != 0:  # it may itself be killed, by what it is after
            if time.monotonic() > deadline:
                raise SandboxError(f"{self.container}: what ran past its limit cannot be killed")
            killer = Process(self.container, command, user=OPERATOR, workdir="/run/op")
            try:
                while process.pump(take, min(deadline, time.monotonic() + 0.5)) is None and not killer.ended():
                    if time.monotonic() > deadline:
                        break
                code = killer.exit_code()
            finally:
                killer.close()
        process.pump(take, time.monotonic() + DRAIN_SECONDS)

    def _result(self, command: str, process: Process, report: Report, *, timed_out: bool, duration: float) -> Step:
        """The step as it is recorded."""
        saved = heredoc = oom = False
        if report.closing is not None:
            code, saved_word, heredoc_word, kills, cwd = report.closing
            exit_code, saved, heredoc = int(code), saved_word != b"0", heredoc_word == b"1"
            self._aliases = {b"2": False, b"3": True}.get(saved_word, self._aliases)
            oom = int(kills) > self._oom_kills
            self._oom_kills = int(kills)
            self._cwd = cwd[:PATH_BYTES].decode(errors="replace") or self._cwd
        else:  # the wrapper itself was killed
            found = 124 if timed_out else process.exit_code()
            before, self._oom_kills = self._oom_kills, oom_kills(self.container)
            if found is None:
                raise SandboxError(f"{self.container}: the engine lost a command")
            exit_code, oom = found, self._oom_kills > before
        self.raw = report.output.kept()
        return Step(
            command=command, output=report.output.text(), output_bytes=report.output.total,
            exit_code=124 if timed_out else exit_code, cwd=self._cwd, duration_seconds=round(duration, 4),
            timed_out=timed_out, oom=oom, open_heredoc=heredoc, state_stale=timed_out or not saved,
        )  # fmt: skip

    def _require_alive(self) -> None:
        """Raise SandboxError unless the operator's container runs."""
        with engine_call(f"inspect {self.container}"):
            if not api().inspect_container(self.container)["State"]["Running"]:
                raise SandboxError(f"{self.container} has ended")

    def read_file(self, path: str, limit_bytes: int = FILE_BYTES) -> bytes:
        """A regular file of the world, whatever its mode, read without running anything in the sandbox.

        A relative path starts at HOME. Symlinks on the way are followed inside the sandbox, one at the end is refused.
        Raises FileNotFoundError, IsADirectoryError, or ValueError for anything else that is no regular file and for
        one over the limit; nothing is ever cut short.
        """
        import docker

        where = self.clean if self._over else self.container
        members = []
        with engine_call(f"read {path}"), contextlib.suppress(docker.errors.NotFound):
            members = list(members_of(tar_of(where, str(PurePosixPath(HOME, path)), limit_bytes + (1 << 16))))
        if not members:
            self._require_alive()
            raise FileNotFoundError(path)
        member, content = members[0]
        if member.isdir():
            raise IsADirectoryError(path)
        if not member.isreg() or len(content) > limit_bytes:
            raise ValueError(f"{path}: not a regular file of at most {limit_bytes} bytes")
        return content

    def write_file(self, path: str, content: bytes) -> None:
        """Write a file as the operator would, parents made; one that is there keeps its mode, a new one gets 644.

        Raises ValueError for content over FILE_BYTES and for a path that is there and no file; where the operator could
        not write, the OSError that the system has for it: PermissionError, IsADirectoryError, NotADirectoryError and so
        on. A file that did not fit may be left in part.
        """
        if len(content) > FILE_BYTES:
            raise ValueError(f"{path}: {len(content)} bytes, and a file holds at most {FILE_BYTES}")
        command = ["/usr/bin/env", "-i", f"PATH={CHECKER_PATH}", "/usr/bin/dash", "-c", WRITE, "sh", path]
        errors = Output(2048)
        with engine_call(f"write {path}"):
            process = Process(self.container, command, user=OPERATOR, workdir=HOME, stdin=content)
            try:
                process.pump(errors.take, time.monotonic() + ENGINE_SECONDS)
                code = process.exit_code()
            finally:
                process.close()
            self._require_alive()
        if code == NO_FILE:
            raise ValueError(f"{path}: is there and no regular file")
        if code != 0:
            said = errors.text().strip()
            number = next((number for number in errno.errorcode if said.endswith(os.strerror(number))), errno.EIO)
            raise OSError(number, said, path)

    def snapshot(self) -> list[TreeEntry]:
        """The world as it is now, with every mode and content, read without running anything in the sandbox."""
        if self._over:
            raise SandboxError("the session is over: use final_tree()")
        return read_tree(self.container)

    def verify(self, checker: str, *, timeout_seconds: float = 30.0) -> Check:
        """End the operator's processes, then run the checker on what they left, in a clean container.

        The clean one mounts the world, read-only, before the operator's container is removed: the world never goes
        away in between, and no process that could change it is left when the checker starts. May be called again:
        the same state is checked anew. Raises SandboxError when the world died before it could be judged.
        """
        if self._pid_1 is None:
            raise SandboxError(f"{self.container}: its session has ended")
        with engine_call(f"check in {self.clean}"):
            if self._judge is None:
                mounts = [volume_mount(self.volume, HOME, read_only=True, lifetime=self.lifetime)]
                self._judge = Judge(self.clean, image=self.image_digest, mounts=mounts, lifetime=self.lifetime)
            if not self._over:
                self._end_operator()
                self._over = True
            return self._judge.check(checker, timeout_seconds)

    def _end_operator(self) -> None:
        """End the operator's container, once it was alive: so the volume that another one mounted is the operator's."""
        assert self._pid_1 is not None
        said, last = Output(64), secrets.token_hex(8)
        self._pid_1.send(f"{last}\n".encode())
        with contextlib.suppress(ConnectionError):
            self._pid_1.pump(said.take, time.monotonic() + ENGINE_SECONDS)
        if said.kept() != f"{last}\n".encode():
            raise SandboxError(f"{self.container} has ended")
        self._hang_up()
        await_end(self.container)

    def final_tree(self) -> list[TreeEntry]:
        """The world that was verified, read through the clean container."""
        if not self._over:
            raise SandboxError("the session is not over: use snapshot()")
        return read_tree(self.clean)


def _boot(name: str, volume: str, image: str, lifetime: float) -> Stream:
    """Start an operator's container; its PID 1 waits for `_roots_files`."""
    with engine_call(f"boot {name}"):
        mounts = [volume_mount(volume, HOME, read_only=False, lifetime=lifetime)]
        create(name, pid_1(lifetime), image=image, mounts=mounts, lifetime=lifetime, checks=False)
        return start(name)


def _roots_files(provider: tuple[str, str] | None, environment: Mapping[str, str], script: str = "") -> bytes:
    """What PID 1 reads to lay the files of a world that are root's. Commands wait for it."""
    files = {"/run/op/login": (login(environment), 0o644), "/run/op/script": (script.encode(), 0o644)}
    if provider:
        files[provider[0]] = (provider[1].encode(), 0o755)
    archive = roots_archive(files)
    return f"{len(archive)}\n".encode() + archive + b"0\n"


class Pool:
    """Sandboxes booted ahead, each handed out once; `session()` takes from it while it is open.

    One thread keeps `size` of them, channel and all, for as long as `most` sessions are not served. One that waited for
    more than POOL_SECONDS is not handed out.
    """

    def __init__(
        self, size: int, *, most: float = math.inf, image: str = IMAGE, lifetime_seconds: float = LIFETIME_SECONDS
    ) -> None:
        self.image, self.lifetime, self.left = image, lifetime_seconds, most
        self._ready: queue.Queue[tuple[float, Session]] = queue.Queue(size)
        self._closing = threading.Event()
        self._filler = threading.Thread(target=self._fill, name="sekft-pool", daemon=True)

    def __enter__(self) -> "Pool":
        global _pool
        if _pool is not None:
            raise RuntimeError("there is a pool already")
        _pool = self
        self._filler.start()
        return self

    def __exit__(self, *_: object) -> None:
        global _pool
        _pool = None
        self._closing.set()
        deadline = time.monotonic() + KILL_SECONDS
        while (self._filler.is_alive() and time.monotonic() < deadline) or not self._ready.empty():
            with contextlib.suppress(queue.Empty):
                self._ready.get(timeout=0.1)[1].end()

    def _fill(self) -> None:
        """Boot until closed. An engine that fails is left to whoever asks for a session next."""
        while self.left > 0 and not self._closing.is_set():
            try:
                fresh = Session(self.image, self.lifetime + POOL_SECONDS)
            except SandboxError:
                self._closing.wait(1.0)
                continue
            self.left -= 1
            self._ready.put((time.monotonic(), fresh))

    def take(self) -> "Session | None":
        """A booted sandbox, or None where there is none just now."""
        while True:
            try:
                born, fresh = self._ready.get_nowait()
            except queue.Empty:
                self.left -= 1  # whoever asked boots its own
                return None
            if time.monotonic() - born < POOL_SECONDS:
                return fresh
            fresh.end()

    def full(self) -> bool:
        """True when as many wait as there may be."""
        return self._ready.full()


_pool: Pool | None = None


@contextmanager
def session(
    fixtures: Sequence[Fixture],
    *,
    provider: tuple[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    image: str = IMAGE,
    lifetime_seconds: float = LIFETIME_SECONDS,
    pool: "Pool | None" = None,
) -> Iterator[Session]:
    """A fresh world that an operator drives one command at a time; nothing of it is left afterwards.

    `provider` is path and source of an executable that root owns; `environment` adds to the login environment.
    PID 1 ends the sandbox after `lifetime_seconds` even when this process is gone. Raises SandboxError.
    """
    pool = pool or _pool
    pool = pool if pool and (pool.image, pool.lifetime) == (image, lifetime_seconds) else None
    world = (pool.take() if pool else None) or Session(image, lifetime_seconds)
    try:
        world.furnish(fixtures, provider, environment or {})
        yield world
    finally:
        world.end()


def run(
    fixtures: Sequence[Fixture],
    script: str,
    *,
    stdin: bytes = b"",
    timeout_seconds: float = 30.0,
    environment: Mapping[str, str] | None = None,
    user: str = "operator",
    cwd: str = HOME,
    image: str = IMAGE,
) -> RunResult:
    """Run one script as a user of the image in a container of its own, its streams apart.

    `cwd` is absolute or starts at HOME. Raises SandboxError, LookupError for a user that the image does not have, and
    FileNotFoundError where `cwd` is no directory that the user can enter.
    """
    streams = {1: (out := Output(RAW_BYTES)), 2: (err := Output(RAW_BYTES))}
    login = {**LOGIN, "USER": user, "LOGNAME": user, **(environment or {})}
    variables = [f"{key}={value}" for key, value in login.items()]
    lost, where = secrets.token_hex(8), str(PurePosixPath(HOME, cwd))
    enter = READY + 'cd -- "$1" 2>/dev/null || { echo "$2"; exit 1; }; shift 2; . /run/op/script'
    command = ["/usr/bin/env", "-i", *variables, "/usr/bin/dash", "-c", enter, "sh", where, lost]
    with owned("container", "volume") as (name, volume):
        lifetime = timeout_seconds + ENGINE_SECONDS
        pid_1 = _boot(name, volume, image, lifetime)
        with engine_call(f"run in {name}"):
            pid_1.send(_roots_files(None, {}, script))
            pid_1.flush(ENGINE_SECONDS)
            if fixtures and not api().put_archive(name, HOME, archive_of(tree_of(fixtures))):
                raise SandboxError(f"{name}: the engine did not take the fixtures")
            if user != "operator":  # read here: what the engine says to a user that it cannot find gets lost at times
                users = b"".join(content for _, content in members_of(tar_of(name, "/etc/passwd", RAW_BYTES)))
                if not any(line.startswith(f"{user}:".encode()) for line in users.splitlines()):
                    raise LookupError(f"no user {user!r} in image {image!r}")
            started = time.monotonic()
            process = Process(name, command, user=user, workdir="/", stdin=stdin)
            try:
                ended = process.pump(lambda stream, data: streams[stream].take(stream, data), started + timeout_seconds)
                duration = time.monotonic() - started
                code = 124 if ended is None else process.exit_code()
            finally:
                process.close()
            oom = code != 0 and oom_kills(name) > 0
            pid_1.close()
            await_end(name)
        if code is None:
            raise SandboxError(f"{name}: the engine lost the script")
        if code == 1 and out.kept() == f"{lost}\n".encode():
            raise FileNotFoundError(f"{where}: no directory that {user} can enter")
        return RunResult(out.kept(), out.total, err.kept(), err.total, code, ended is None, oom, duration)
