r"""Let an operator run commands in a disposable container, one step after another, and check what it leaves.

    from sandbox.session import session

    with session([Fixture(path=f"{HOME}/in", text="b\na\n")]) as shell:
        shell.step("sort in >out").exit_code  # 0
        shell.verify('test "$(head -n 1 out)" = a').passed  # True

The operator acts in one container, through the wrapper of sandbox/wrapper.py. Its files are checked in a second one,
the checker's container, after every process of the first is gone. The limits of both are in sandbox/containers.py;
docs/sandbox.md says what carries over, what it costs and what it does not protect against.
"""

import contextlib
import errno
import os
import secrets
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Protocol

from sandbox.checker import CHECKER_PATH, KILLED, Check, CheckerContainer
from sandbox.containers import (
    DEFAULTS,
    DOCKER_SECONDS,
    END_SECONDS,
    FILE_BYTES,
    OPERATOR_UID,
    Process,
    SandboxError,
    SandboxOptions,
    api,
    await_end,
    create,
    docker_call,
    image_id,
    owned,
    start,
    volume_mount,
)
from sandbox.programs import read_program
from sandbox.streams import Feed, Stream
from sandbox.tree import TreeEntry, entries_of, members_of, read_tree, root_archive, tar_of, tree_of, unpacking_of
from sandbox.wrapper import (
    OWN_TRAP,
    RAW_BYTES,
    START_CHANNEL,
    CappedOutput,
    StepReader,
    login_script,
    pid1_command,
    request,
    require_text,
    unpack_request,
)
from schema import HOME, Fixture, Step

TRANSPORT = "channel"
OPERATOR = f"{OPERATOR_UID}:{OPERATOR_UID}"
STEP_SECONDS = 30.0  # default limit of a command
DRAIN_SECONDS = 5.0  # from a step's closing message to the end of its output, or the other way round
PATH_BYTES = 4096  # of a working directory's name that are kept; the operator can write any text there
KILL_SECONDS = 20.0  # for killing a step that ran past its limit; where that takes longer the sandbox is given up
SIGN_SECONDS = 5.0  # that a channel may be silent before PID 1 is asked for a sign of life
OOM_SECONDS = 10.0  # between an OOM in a container and its end, where the one is the reason for the other
# Only the wrapper's own processes come from there.
KILL_CHANNEL = ["/usr/bin/env", "-i", "/usr/bin/pkill", "-KILL", "-f", "^/usr/libexec/"]
WRITE_FILE = read_program("write_file.sh")
# Backslash and path keep the operator's aliases and functions off it.
TAR_HOME = f"\\/usr/libexec/busybox tar -c -C {PurePosixPath(HOME).parent} {PurePosixPath(HOME).name} 2>/dev/null"
NO_FILE = 99  # exit code of WRITE_FILE for a fifo, socket or device


class LockedOutError(RuntimeError):
    """The operator has made its own sandbox unusable, and Docker is not at fault: the attempt counts."""


class Session:
    """A container with an operator in it. Made by `session()` or a pool; used by one thread at a time."""

    def __init__(self, options: SandboxOptions) -> None:
        self.options = replace(options, image=image_id(options.image))
        self.raw = b""  # the last step's output as it came, RAW_BYTES of it at most
        self._cwd, self._oom_kills = HOME, 0
        self._verified = self._aliases = False
        self._channel: Process | None = None
        self._pid1: Stream | None = None
        self._checker: CheckerContainer | None = None
        self._mark = ""  # the end mark of the next step's output
        self._names = contextlib.ExitStack()
        names = self._names.enter_context(owned("container", "container", "volume"))
        self.container, self.checker_container, self.volume = names
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self.end)
            self._pid1 = start_operator(self.container, self.volume, self.options)
            with docker_call(f"open a channel to {self.container}"):
                self._open_channel()
            on_failure.pop_all()

    @property
    def image_digest(self) -> str:
        """The id of the image that the sandbox runs on."""
        return self.options.image

    def prepare(
        self, fixtures: Sequence[Fixture], provider: tuple[str, str] | None, environment: Mapping[str, str]
    ) -> None:
        """Write the files of the world, before any process of the operator runs. `session()` calls it.

        PID 1 writes the files that root owns, the channel writes the fixtures, which are the operator's.
        """
        assert self._pid1 is not None
        assert self._channel is not None
        with docker_call(f"write the files of {self.container}"):
            self._pid1.send(root_files(provider, environment))
            self._pid1.flush(DOCKER_SECONDS)
            if fixtures:
                self._unpack(self._channel, tree_of(fixtures))

    def _unpack(self, channel: Process, tree: list[TreeEntry]) -> None:
        """Let the channel unpack a tree in HOME."""
        answer = CappedOutput(64)
        nonce = secrets.token_hex(8)

        def feed(stream: int, data: bytes) -> bool:
            answer.add(data)
            return answer.total > len(nonce) and answer.kept().endswith(b"\0")

        channel.send(unpack_request(nonce, *unpacking_of(tree)))
        channel.pump(feed, time.monotonic() + DOCKER_SECONDS)
        if answer.kept() != f"\0{nonce} 0\0".encode():
            raise SandboxError(f"{self.container}: the fixtures could not be unpacked ({answer.text().strip()!r})")

    def end(self) -> None:
        """Remove everything. `session()` calls it; a second call does nothing."""
        self._close_channel()
        with contextlib.suppress(SandboxError), docker_call("end the session"):  # what stays is removed below
            if self._pid1 is not None:
                self._pid1.close()
            if self._checker is not None:
                self._checker.close()
                await_end(self.checker_container)
            if self._pid1 is not None and not self._verified:
                await_end(self.container)
        self._pid1 = None
        self._names.close()

    def step(self, command: str, *, timeout_seconds: float = STEP_SECONDS) -> Step:
        """Run a command as the operator and return what it did.

        At the time limit everything that the command started is killed and exit_code is 124. Returns as soon as the
        command's own shell ends; its background jobs live on, and what they print later is dropped. Raises ValueError
        for a lone surrogate, LockedOutError when the operator's own doing keeps commands from running, and SandboxError
        when the sandbox is dead or the session was verified.
        """
        require_text(command)
        if self._verified:
            raise SandboxError("the session is over: it was verified")
        began = time.monotonic()
        with docker_call(f"step in {self.container}"):
            channel, reader = self._send_step(command)
            timed_out = self._read_step(channel, reader, time.monotonic() + timeout_seconds)
            if timed_out:
                self._catch_up(channel, reader)
                timed_out = (seconds := reader.seconds()) is None or seconds >= timeout_seconds
            duration = time.monotonic() - began
            if timed_out:
                self._kill_step(channel, reader)
                if (seconds := reader.seconds()) is not None and seconds < timeout_seconds:
                    raise SandboxError(f"{self.container}: Docker was late with the end of a command")
            reader.end()
            step = self._step_record(command, channel, reader, timed_out=timed_out, duration=duration)
            if timed_out or reader.closing is None:
                self._close_channel()  # what the channel had started for the next step was killed too
            return step

    def _send_step(self, command: str) -> tuple[Process, StepReader]:
        """Send a command; returns the channel once the step has begun. A channel that was killed is replaced."""
        seen = CappedOutput(2048)
        for fresh in (False, True):
            channel = self._open_channel() if fresh or self._channel is None else self._channel
            reader, self._mark = StepReader(nonce := secrets.token_hex(8), self._mark), secrets.token_hex(8)

            def feed(stream: int, data: bytes, reader: StepReader = reader) -> bool:
                seen.add(data)
                reader.feed(stream, data)
                return reader.opening is not None

            channel.send(request(nonce, self._mark, command, aliases=self._aliases))
            if self._await_opening(channel, feed):
                return channel, reader
        self._require_unlocked(channel)
        raise SandboxError(f"{self.container} runs no commands: {seen.text().strip() or 'no answer'}")

    def _await_opening(self, channel: Process, feed: Feed) -> bool:
        """True once the step has begun. False where the channel has ended, or was stopped and has been killed."""
        for _ in range(2):  # the second time Docker and PID 1 have just answered
            try:
                if (found := channel.pump(feed, time.monotonic() + SIGN_SECONDS)) is not None:
                    return found
            except ConnectionError:
                return False
            self._ask_pid1()
        killer = Process(self.container, KILL_CHANNEL, user=OPERATOR, workdir="/")
        try:
            killer.pump(CappedOutput(64).feed, time.monotonic() + KILL_SECONDS)
            if killer.exit_code() not in (0, 1):
                self._require_unlocked(killer)
                raise SandboxError(f"{self.container}: a stopped channel cannot be killed")
        finally:
            killer.close()
        # It must not run the command after all, while another channel runs it.
        if channel.pump(feed, time.monotonic() + KILL_SECONDS) is not False:
            raise SandboxError(f"{self.container}: Docker was late with the beginning of a command")
        return False

    def _ask_pid1(self) -> tuple[int, int]:
        """How many OOM kills and refused forks the container has had. Raises SandboxError where PID 1 does not answer.

        The answer is a sign of life of Docker and of PID 1. Raises LockedOutError where the container's processes used
        up its memory and the kernel chose PID 1 to be killed.
        """
        assert self._pid1 is not None
        word, answer = secrets.token_hex(8), CappedOutput(256)

        def feed(stream: int, data: bytes) -> bool:
            answer.add(data)
            return word.encode() in answer.kept() and answer.kept().endswith(b"\n")

        self._pid1.send(f"ping {word}\n".encode())
        try:
            alive = self._pid1.pump(feed, time.monotonic() + DOCKER_SECONDS)
        except ConnectionError:
            alive = False
        if alive is None:
            raise SandboxError(f"{self.container} gives no sign of life")
        if not alive:
            raise end_of(self.container)
        kills, forks = answer.kept().split()[-2:]
        return int(kills), int(forks)

    def _require_unlocked(self, process: Process) -> None:
        """Raise LockedOutError where it is the operator's doing that a process of the wrapper does not do its work.

        It is where Docker has started the process and it was stopped or killed, or where forks were refused or
        processes killed because the container was at its limits. Raises SandboxError where PID 1 does not answer.
        """
        kills, forks = self._ask_pid1()
        why = [f"{forks} forks were refused"] if forks else []
        why += [f"{kills} processes were killed for memory"] if kills else []
        why += ["the wrapper's processes were stopped or killed"] if process.exit_code() in (None, KILLED) else []
        if why:
            raise LockedOutError(f"the operator has locked itself out: {', '.join(why)}")

    def _open_channel(self) -> Process:
        """Start the channel's process, in place of an earlier one."""
        self._close_channel()
        self._mark = secrets.token_hex(8)
        first = f"{self._mark}\n".encode()
        self._channel = Process(
            self.container, START_CHANNEL, user=OPERATOR, workdir="/run/op", stdin=first, keep_open=True
        )
        return self._channel

    def _read_step(self, channel: Process, reader: StepReader, deadline: float) -> bool:
        """Read until the step has ended; True when it has not at the deadline.

        A step ends with a closing message and with its output's end mark. One of the two may be missing, because the
        operator can kill the process that should have written it; then the other one counts.
        """

        def feed(stream: int, data: bytes) -> bool:
            reader.feed(stream, data)
            return reader.closing is not None or reader.drained

        if reader.closing is None and not reader.drained and channel.pump(feed, deadline) is None:
            return True
        while reader.closing is None or not reader.drained:
            late = channel.pump(reader.feed, time.monotonic() + DRAIN_SECONDS)
            if late is None:
                self._catch_up(channel, reader)
            if late is not None or reader.closing is not None or channel.ended():
                break
            if time.monotonic() > deadline:
                return True
        return False

    def _catch_up(self, channel: Process, reader: StepReader) -> None:
        """Read what was written before PID 1 gives a sign of life. Raises SandboxError without one."""
        asked = time.monotonic()
        self._ask_pid1()
        now = time.monotonic()
        channel.pump(reader.feed, now + min(now - asked, DRAIN_SECONDS))  # Docker is as late with one as with the other

    def _close_channel(self) -> None:
        """Close the connection to the channel, which ends it."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _kill_step(self, process: Process, reader: StepReader) -> None:
        """Kill what the running step started, and the channel with it. Raises SandboxError when that cannot be done.

        The step's output is still read meanwhile: Docker reports no other process's end while its output is blocked.
        """
        session, channel, _ = (word.decode() for word in reader.opening or [])
        command = ["/usr/bin/env", "-i", f"session={session}", f"channel={channel}", "/usr/bin/dash", "kill"]
        deadline, code = time.monotonic() + KILL_SECONDS, None
        killer: Process | None = None

        def feed(stream: int, data: bytes) -> bool:
            reader.feed(stream, data)
            return False

        while code != 0:  # the processes that it is after may kill it first
            if killer and time.monotonic() > deadline:
                self._require_unlocked(killer)
                raise SandboxError(f"{self.container}: a command that ran past its limit cannot be killed")
            killer = Process(self.container, command, user=OPERATOR, workdir="/run/op")
            try:
                while process.pump(feed, min(deadline, time.monotonic() + 0.5)) is None and not killer.ended():
                    if time.monotonic() > deadline:
                        break
                code = killer.exit_code()
            finally:
                killer.close()
        if process.pump(feed, time.monotonic() + KILL_SECONDS) is None and reader.closing is None:
            raise SandboxError(f"{self.container}: Docker was late with the end of a command")

    def _step_record(
        self, command: str, process: Process, reader: StepReader, *, timed_out: bool, duration: float
    ) -> Step:
        """The record of a step."""
        saved = heredoc = oom = False
        if reader.closing is not None:
            code, saved_field, heredoc_field, kills, _, cwd = reader.closing
            exit_code, saved, heredoc = int(code), saved_field != b"0", heredoc_field == b"1"
            self._aliases = {b"2": False, b"3": True}.get(saved_field, self._aliases)
            oom = int(kills) > self._oom_kills
            self._oom_kills = int(kills)
            self._cwd = cwd[:PATH_BYTES].decode(errors="replace") or self._cwd
        else:  # the channel's own shell was killed
            found = 124 if timed_out else process.exit_code()
            before, (self._oom_kills, _) = self._oom_kills, self._ask_pid1()
            if found is None:
                raise SandboxError(f"{self.container}: Docker lost a command")
            exit_code, oom = found, self._oom_kills > before
        self.raw = reader.output.kept()
        seen = reader.output.without(OWN_TRAP) if OWN_TRAP in self.raw else reader.output
        return Step(
            command=command, output=seen.text(), output_bytes=seen.total,
            exit_code=124 if timed_out else exit_code, cwd=self._cwd, duration_seconds=round(duration, 4),
            timed_out=timed_out, oom=oom, open_heredoc=heredoc, state_stale=timed_out or not saved,
        )  # fmt: skip

    def _require_alive(self) -> None:
        """Raise SandboxError unless the operator's container runs."""
        with docker_call(f"inspect {self.container}"):
            if not api().inspect_container(self.container)["State"]["Running"]:
                raise SandboxError(f"{self.container} has ended")

    def read_file(self, path: str, limit_bytes: int = FILE_BYTES) -> bytes:
        """The content of a regular file, whatever its mode, read without running anything in the sandbox.

        A relative path starts at HOME. A symlink on the way is followed inside the sandbox; one at the end is refused.
        Raises FileNotFoundError, IsADirectoryError, or ValueError for anything else that is not a regular file and for
        a file over the limit; no content is ever cut short.
        """
        import docker

        where = self.checker_container if self._verified else self.container
        members = []
        with docker_call(f"read {path}"), contextlib.suppress(docker.errors.NotFound):
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
        """Write a file as the operator would. Parents are created; an existing file keeps its mode, a new one gets 644.

        Raises ValueError for content over FILE_BYTES and for a fifo, socket or device; where the operator may not
        write, the OSError that the system has for it: PermissionError, IsADirectoryError, NotADirectoryError and so on.
        A file that did not fit may be left in part.
        """
        if len(content) > FILE_BYTES:
            raise ValueError(f"{path}: {len(content)} bytes, and a file holds at most {FILE_BYTES}")
        command = ["/usr/bin/env", "-i", f"PATH={CHECKER_PATH}", "/usr/bin/dash", "-c", WRITE_FILE, "sh", path]
        errors = CappedOutput(2048)
        with docker_call(f"write {path}"):
            process = Process(self.container, command, user=OPERATOR, workdir=HOME, stdin=content)
            try:
                process.pump(errors.feed, time.monotonic() + DOCKER_SECONDS)
                code = process.exit_code()
            finally:
                process.close()
            self._require_alive()
        if code == NO_FILE:
            raise ValueError(f"{path}: exists and is no regular file")
        if code != 0:
            said = errors.text().strip()
            number = next((number for number in errno.errorcode if said.endswith(os.strerror(number))), errno.EIO)
            raise OSError(number, said, path)

    def snapshot(self) -> list[TreeEntry]:
        """Every file as it is now, with mode and content, read without running anything in the sandbox."""
        if self._verified:
            raise SandboxError("the session is over: use final_tree()")
        return read_tree(self.container)

    def snapshot_by_step(self) -> list[TreeEntry]:
        """As `snapshot`, but several times as fast: a step of its own runs `tar` as the operator.

        Docker reads the files instead where that fails: they are over RAW_BYTES, or the operator may not read them all.
        """
        step = self.step(TAR_HOME)
        if step.exit_code == 0 and step.output_bytes <= RAW_BYTES:
            with contextlib.suppress(tarfile.TarError):
                return entries_of(list(members_of(self.raw)))
        return self.snapshot()

    def verify(self, checker: str, *, timeout_seconds: float = STEP_SECONDS) -> Check:
        """End the operator's processes, then run the checker on the files, in the checker's container.

        The checker's container mounts the volume, read-only, before the operator's container is removed: so the files
        never go away in between, and no process that could change them is left when the checker starts. A second call
        checks the same files again. Raises SandboxError when the operator's container died before, or LockedOutError
        when that was for memory.
        """
        if self._pid1 is None:
            raise SandboxError(f"{self.container}: its session has ended")
        with docker_call(f"check in {self.checker_container}"):
            if self._checker is None:
                lifetime = self.options.lifetime_seconds
                mounts = [volume_mount(self.volume, HOME, read_only=True, lifetime_seconds=lifetime)]
                self._checker = CheckerContainer(self.checker_container, self.options, mounts=mounts)
            if not self._verified:
                self._end_operator_container()
                self._verified = True
            return self._checker.check(checker, timeout_seconds)

    def _end_operator_container(self) -> None:
        """End the operator's container. It must answer first: so the volume that was mounted is the operator's own."""
        assert self._pid1 is not None
        answer, last = CappedOutput(64), secrets.token_hex(8)
        ended: bool | None = False
        self._pid1.send(f"{last}\n".encode())
        with contextlib.suppress(ConnectionError):
            ended = self._pid1.pump(answer.feed, time.monotonic() + DOCKER_SECONDS)
        if answer.kept() != f"{last}\n".encode():
            if ended is None:
                raise SandboxError(f"{self.container} gives no sign of life")
            raise end_of(self.container)
        self._close_channel()
        await_end(self.container)

    def final_tree(self) -> list[TreeEntry]:
        """The files that were verified, read through the checker's container."""
        if not self._verified:
            raise SandboxError("the session is not over: use snapshot()")
        return read_tree(self.checker_container)


class SessionSource(Protocol):
    """Where `session()` can get a sandbox that was started earlier: `sandbox.pool.Pool`."""

    options: SandboxOptions

    def get(self) -> Session | None:
        """A sandbox that nobody has used, or None where there is none just now."""


@contextmanager
def session(
    fixtures: Sequence[Fixture],
    *,
    provider: tuple[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    options: SandboxOptions | None = None,
    pool: SessionSource | None = None,
) -> Iterator[Session]:
    """A fresh sandbox that an operator drives one command at a time; nothing of it is left afterwards.

    `provider` is path and source of an executable that root owns; `environment` adds to the login environment. A
    `pool` hands out a sandbox that was started earlier, with the pool's options; without one the sandbox starts now,
    with `options`. PID 1 ends it after its lifetime even when this process is gone. Raises SandboxError, and ValueError
    for options that are not the pool's.
    """
    if pool is not None and options not in (None, pool.options):
        raise ValueError(f"{options} are not the pool's options, {pool.options}")
    shell = (pool.get() if pool else None) or Session(options or (pool.options if pool else DEFAULTS))
    try:
        shell.prepare(fixtures, provider, environment or {})
        yield shell
    finally:
        shell.end()


def start_operator(name: str, volume: str, options: SandboxOptions) -> Stream:
    """Start an operator's container; its PID 1 then waits for `root_files`."""
    with docker_call(f"start {name}"):
        lifetime = options.lifetime_seconds
        mounts = [volume_mount(volume, HOME, read_only=False, lifetime_seconds=lifetime)]
        create(name, pid1_command(lifetime), options, mounts=mounts, for_checker=False)
        return start(name)


def is_running(container: str) -> bool:
    """True while a container runs, as far as Docker knows. Its event `die` is reported before this is False."""
    import docker

    try:
        return bool(api().inspect_container(container)["State"]["Running"])
    except docker.errors.NotFound:
        return False


def end_of(container: str) -> Exception:
    """The error for an operator's container that has ended early: LockedOutError where its own memory limit ended it.

    Docker removes the container at once, so only its events tell. A container that something else killed is not the
    operator's doing.
    """
    asked, deadline = time.time(), time.monotonic() + END_SECONDS
    # A busy Docker notices the end seconds after its connection has shown it, and reports nothing before.
    while is_running(container) and time.monotonic() < deadline:
        time.sleep(0.05)
    # Of the two events, `oom` may be the later one.
    events = api().events(
        since=asked - OOM_SECONDS,
        until=time.time() + 1,
        filters={"container": container, "event": ["oom", "die"]},
        decode=True,
    )
    found = [(event["Action"], event["Actor"]["Attributes"].get("exitCode")) for event in events]
    if ("oom", None) in found and ("die", str(KILLED)) in found:
        return LockedOutError("the container has ended: it used up its memory, and the kernel killed its PID 1")
    return SandboxError(f"{container} has ended")


def root_files(provider: tuple[str, str] | None, environment: Mapping[str, str], script: str = "") -> bytes:
    """What PID 1 of an operator's container reads to write the files that root owns. Commands wait for it."""
    files = {"/run/op/login": (login_script(environment), 0o644), "/run/op/script": (script.encode(), 0o644)}
    if provider:
        files[provider[0]] = (provider[1].encode(), 0o755)
    archive = root_archive(files)
    return f"{len(archive)}\n".encode() + archive + b"0\n"
