"""Run a checker on the files that an operator left, in a container of its own, and return what it found.

    from sandbox.checker import verify

    verify(tree, 'test "$(cat answer)" = 42').passed

The programs around a checker are sandbox/sh/checker_pid1.sh and checker.sh: the second one also fails a checker whose
world has links that lead out of it, or whose processes the kernel killed for memory.
"""

import math
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.containers import (
    DEFAULTS,
    DOCKER_SECONDS,
    END_SECONDS,
    Process,
    SandboxError,
    SandboxOptions,
    await_end,
    create,
    docker_call,
    owned,
    start,
    volume_mount,
)
from sandbox.programs import read_program
from sandbox.tree import TreeEntry, archive_of
from sandbox.wrapper import CappedOutput
from schema import HOME

CHECKER_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
CHECKER_PID1 = read_program("checker_pid1.sh")
CHECKER = read_program("checker.sh")
OOM_KILLS = read_program("oom_kills.sh")
KILLED = 137  # exit code of a process that was killed


@dataclass(frozen=True)
class Check:
    """What a checker found. `passed` is None where it crashed or ran out of time; `error` then says how."""

    passed: bool | None
    exit_code: int | None
    output: str
    error: str | None = None


class CheckerContainer:
    """A container whose PID 1 runs one checker after another. The caller removes the container."""

    def __init__(self, name: str, options: SandboxOptions, *, mounts: list[Any]) -> None:
        lifetime = f"{options.lifetime_seconds:.0f}"
        command = ["/usr/bin/dash", "-c", CHECKER_PID1, "init", lifetime, CHECKER_PATH, HOME, CHECKER]
        self.name = name
        create(name, command, options, mounts=mounts, for_checker=True)
        self.stream = start(name)

    def check(self, checker: str, timeout_seconds: float, tree: Sequence[TreeEntry] | None = None) -> Check:
        """Run a checker, with a fixed environment, as a user who may read files of every mode.

        A tree is unpacked first, if one is given. Before that, every process of an earlier checker is killed and every
        file of it removed. Raises SandboxError.
        """
        archive, text = b"" if tree is None else archive_of(tree), checker.encode(errors="surrogateescape")
        limit = math.ceil(timeout_seconds)
        reader = CheckerReader(nonce := secrets.token_hex(8))
        self.stream.send(f"{nonce} {limit} {len(text)} {len(archive)}\n".encode() + text + archive)
        began = time.monotonic()
        ended = self.stream.pump(reader.feed, began + limit + (DOCKER_SECONDS if archive else END_SECONDS))
        if ended is None:
            ended = self._end_checker(reader)
        late = time.monotonic() - began >= timeout_seconds
        if ended is False:
            raise SandboxError(f"{self.name} has ended")
        if reader.code == b"not_unpacked":
            raise SandboxError(f"{self.name} could not unpack a tree")
        code = None if reader.code is None or (int(reader.code) == KILLED and late) else int(reader.code)
        return _check_of(code, reader.output.text(), timeout_seconds)

    def _end_checker(self, reader: "CheckerReader") -> bool | None:
        """Kill a checker whose end is overdue. Raises SandboxError where the container does not report that end.

        The time limit runs in the container. So either the checker has killed its own time limit, or Docker stands
        still. PID 1 reports a killed checker; it need not where the checker kills what kills it, again and again.
        """
        process = Process(self.name, ["/usr/bin/dash", "-c", "kill -9 -1"], user="0:0", workdir="/")
        try:
            process.pump(CappedOutput(64).feed, time.monotonic() + END_SECONDS)
            code = process.exit_code()
        finally:
            process.close()
        ended = self.stream.pump(reader.feed, time.monotonic() + END_SECONDS)
        if ended is None and code != KILLED:
            raise SandboxError(f"{self.name} does not say how the checker ended")
        return ended

    def close(self) -> None:
        """Close the connection, which ends the container."""
        self.stream.close()


class CheckerReader:
    """Splits the stream of a checker's container into what one checker printed and its exit code."""

    def __init__(self, nonce: str) -> None:
        self.begin, self.end = f"\0{nonce}\0".encode(), f"\0{nonce} ".encode()
        self.output = CappedOutput(1 << 16)
        self.code: bytes | None = None
        self.begun, self.pending = False, b""

    def feed(self, stream: int, data: bytes) -> bool:
        """Add a piece of the stream; True when the checker has ended."""
        self.pending += data
        if not self.begun:  # processes of an earlier checker may still have printed something before it
            _, found, rest = self.pending.partition(self.begin)
            self.begun, self.pending = bool(found), rest if found else self.pending[-len(self.begin) :]
        printed, found, rest = self.pending.partition(self.end)
        if found and b"\0" in rest:
            self.output.add(printed)
            self.code = rest.partition(b"\0")[0]
        elif self.begun and not found:
            self.output.add(self.pending[: -len(self.end)])
            self.pending = self.pending[-len(self.end) :]
        return self.code is not None


def _check_of(code: int | None, output: str, timeout_seconds: float) -> Check:
    """The finding that an exit code stands for: 0 passed, 1 to 125 not passed, anything else a failed checker."""
    if code is None:
        return Check(None, None, output, f"the checker ran past {timeout_seconds:g} s")
    if code > 125:
        why = " (something was killed, for memory perhaps)" if code == KILLED else ""
        return Check(None, code, output, f"the checker ended with {code}{why}")
    return Check(code == 0, code, output)


def verify(
    tree: Sequence[TreeEntry], checker: str, *, timeout_seconds: float = 30.0, options: SandboxOptions = DEFAULTS
) -> Check:
    """Unpack a tree in a fresh checker's container and run the checker on it, as `Session.verify` does."""
    return verify_each([tree], checker, timeout_seconds=timeout_seconds, options=options)[0]


def verify_each(
    trees: Sequence[Sequence[TreeEntry]],
    checker: str,
    *,
    timeout_seconds: float = 30.0,
    options: SandboxOptions = DEFAULTS,
) -> list[Check]:
    """Check trees one after the other in one fresh checker's container, which is quicker than one each.

    Before each tree every process in the container is killed and HOME and /tmp are emptied; nothing else in it can be
    written. Modes and contents are the tree's. Every file belongs to root, because the container has no capability to
    change owners: a checker that looks at owners finds another one than in `Session.verify`. The lifetime follows from
    the number of trees, whatever `options` has. Raises SandboxError.
    """
    lifetime = len(trees) * (math.ceil(timeout_seconds) + 5) + DOCKER_SECONDS
    with owned("container", "volume") as (name, volume), docker_call(f"check in {name}"):
        mounts = [
            volume_mount(volume, HOME, read_only=True, lifetime_seconds=lifetime),
            volume_mount(volume, "/run/operator", read_only=False, lifetime_seconds=lifetime),
        ]
        container = CheckerContainer(name, replace(options, lifetime_seconds=lifetime), mounts=mounts)
        checks = [container.check(checker, timeout_seconds, tree) for tree in trees]
        container.close()
        await_end(name)
    return checks


def oom_kills(container: str) -> int:
    """How many processes of a container the kernel has killed for memory, by the cgroup's own count.

    (Docker's OOM flag stays false where only a child of PID 1 is killed.) An answer also proves that the container is
    alive: Docker says of a dying one for a while that it runs. Raises SandboxError when there is no answer.
    """
    out = CappedOutput(2048)
    # As root, so that the operator can neither kill the process nor look into it.
    process = Process(container, ["/usr/bin/dash", "-c", OOM_KILLS], user="0:0", workdir="/")
    try:
        process.pump(out.feed, time.monotonic() + DOCKER_SECONDS)
    finally:
        process.close()
    words = out.kept().split()
    if words[:1] != [b"alive"]:
        raise SandboxError(f"{container} has ended")
    return int(words[2]) if words[1:2] == [b"oom_kill"] else 0
