"""Run checkers in clean containers, and say what they found.

    from sandbox.checker import Check, verify, verify_each

Reads   nothing
Writes  nothing
Needs   a Docker engine and the image sekft-dash
"""

import math
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.containers import (
    END_SECONDS,
    ENGINE_SECONDS,
    IMAGE,
    Process,
    SandboxError,
    await_end,
    create,
    engine_call,
    owned,
    start,
    volume_mount,
)
from sandbox.tree import TreeEntry, archive_of
from sandbox.wrapper import Output
from schema import HOME

CHECKER_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Check:
    """The checker's finding. `passed` is None where it crashed or ran out of time; `error` then says how."""

    passed: bool | None
    exit_code: int | None
    output: str
    error: str | None = None


def oom_kills(container: str) -> int:
    """The cgroup's own count of OOM kills (v2 or v1); the engine's flag is silent when only a child dies.

    That it answers also proves that the container lives: the engine calls a dying one running for a while. Raises
    SandboxError when it does not answer.
    """
    counters = "/sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control"
    command = ["/usr/bin/dash", "-c", f"echo alive; exec /bin/busybox grep -sh '^oom_kill ' {counters}"]
    out = Output(2048)
    process = Process(container, command, user="0:0", workdir="/")  # which the operator can neither kill nor look into
    try:
        process.pump(out.take, time.monotonic() + ENGINE_SECONDS)
    finally:
        process.close()
    words = out.kept().split()
    if words[:1] != [b"alive"]:
        raise SandboxError(f"{container} has ended")
    return int(words[2]) if words[1:2] == [b"oom_kill"] else 0


class Judge:
    """A clean container, whose PID 1 runs one checker after another. The container is the caller's to remove."""

    def __init__(self, name: str, *, image: str, mounts: list[Any], lifetime: float) -> None:
        command = ["/usr/bin/dash", "-c", COURT, "court", f"{lifetime:g}", CHECKER_PATH, HOME, JUDGE]
        self.name = name
        create(name, command, image=image, mounts=mounts, lifetime=lifetime, checks=True)
        self.stream = start(name)

    def check(self, checker: str, timeout_seconds: float, tree: Sequence[TreeEntry] | None = None) -> Check:
        """Run a checker as a user that every mode lets in, under a fixed environment; on a tree laid before, if given.

        Whatever an earlier one has left, running or in files, is gone before. Raises SandboxError.
        """
        archive, text = b"" if tree is None else archive_of(tree), checker.encode(errors="surrogateescape")
        limit = math.ceil(timeout_seconds)
        answer = Answer(nonce := secrets.token_hex(8))
        self.stream.send(f"{nonce} {limit} {len(text)} {len(archive)}\n".encode() + text + archive)
        began = time.monotonic()
        ended = self.stream.pump(answer.take, began + limit + (ENGINE_SECONDS if archive else END_SECONDS))
        late = time.monotonic() - began >= timeout_seconds
        if ended is False:
            raise SandboxError(f"{self.name} has ended")
        if answer.code == b"unlaid":
            raise SandboxError(f"{self.name} could not lay a tree")
        code = None if answer.code is None or (answer.code == b"137" and late) else int(answer.code)
        return _judged(code, answer.output.text(), timeout_seconds)

    def close(self) -> None:
        """Hang up: the container ends."""
        self.stream.close()


def verify(tree: Sequence[TreeEntry], checker: str, *, timeout_seconds: float = 30.0, image: str = IMAGE) -> Check:
    """Lay a tree in a fresh clean container and run the checker on it, as `Session.verify` would."""
    return verify_each([tree], checker, timeout_seconds=timeout_seconds, image=image)[0]


def verify_each(
    trees: Sequence[Sequence[TreeEntry]], checker: str, *, timeout_seconds: float = 30.0, image: str = IMAGE
) -> list[Check]:
    """Check trees one after the other in one fresh clean container: for many that differ little.

    Before each, every process in it is killed and HOME and /tmp are emptied; nothing else in it can be written. Modes
    and contents are the tree's; all is root's, as there is no capability to give it away: a checker that looks at
    owners finds another one than in `Session.verify`. Raises SandboxError.
    """
    lifetime = len(trees) * (math.ceil(timeout_seconds) + 5) + ENGINE_SECONDS
    with owned("container", "volume") as (name, volume), engine_call(f"check in {name}"):
        mounts = [
            volume_mount(volume, HOME, read_only=True, lifetime=lifetime),
            volume_mount(volume, "/run/operator", read_only=False, lifetime=lifetime),
        ]
        judge = Judge(name, image=image, mounts=mounts, lifetime=lifetime)
        checks = [judge.check(checker, timeout_seconds, tree) for tree in trees]
        judge.close()
        await_end(name)
    return checks


def _judged(code: int | None, output: str, timeout_seconds: float) -> Check:
    """What a checker's exit code means: 0 passed, 1 to 125 not passed, anything else that the checker failed."""
    if code is None:
        return Check(None, None, output, f"the checker ran past {timeout_seconds:g} s")
    if code > 125:
        why = " (something was killed, for memory perhaps)" if code == 137 else ""
        return Check(None, code, output, f"the checker ended with {code}{why}")
    return Check(code == 0, code, output)


# What stands around every checker. A link to where anything may change while it runs fails it: through one to
# /proc/self/cmdline `grep -q x answer` reads its own x, and through one to /tmp a checker reads what it wrote there
# itself. So each link of the world is followed as the kernel would, but by its text, whether or not anything is there
# yet, through all other links, the image's included. A checker in which the kernel kills anything for memory has
# failed, whatever it says: `! grep -q x huge` would pass; and so has one of a world that `find` cannot walk to its end:
# what lies deeper than it can go is there all the same.
JUDGE = r"""exec 2>/dev/null
mark=$(/bin/busybox od -A n -t x8 -N 8 /dev/urandom)
stray=$({
    /bin/busybox find . / -xdev -type l -exec /bin/busybox stat -c "$mark%s %N" {} + && printf '%s' "${mark}end"
} | /bin/busybox awk -v RS="$mark" -v home="$PWD" '
    BEGIN { split("/proc /run /sys /tmp", names, " "); for (at in names) changing[names[at]] }
    function leads_out(path, rest,    at, name, links) {
        while (rest != "") {
            at = index(rest "/", "/"); name = substr(rest, 1, at - 1); rest = substr(rest, at + 1)
            if (name == "..") sub(/\/[^\/]*$/, "", path)
            else if (name != "" && name != ".") path = path "/" name
            if (path in target) {
                if (++links > 41) return 0  # a loop: the kernel gives up too
                rest = target[path] "/" rest
                if (rest ~ /^\//) path = ""
                else sub(/\/[^\/]*$/, "", path)
            }
            if (path in changing || (substr(path, 1, 5) == "/dev/" && path != "/dev/null")) return 1
        }
        return path == "" || path == "/dev"
    }
    $0 == "end" { whole = 1; next }
    NR > 1 {  # the length of the target, and what stat says: a path, an arrow and the target, each path quoted
        at = index($0, " "); size = substr($0, 1, at - 1); from = length($0) - size - 1
        path = substr($0, at + 2, from - at - 8)
        target[substr(path, 1, 1) == "/" ? path : home substr(path, 2)] = substr($0, from, size)
    }
    END {
        for (link in target)
            if (index(link, home "/") == 1 && leads_out("", link)) { print link " -> " target[link]; break }
        exit !whole
    }') || { echo 'the world is too deep to be walked'; exit 126; }
[ -z "$stray" ] || { printf 'a link leads out of the world: %.200s\n' "$stray"; exit 1; }
kills() {
    for counter in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
        [ ! -r "$counter" ] || while read -r key value; do [ "$key" != oom_kill ] || echo "$value"; done <"$counter"
    done
}
before=$(kills)
/usr/bin/dash -c "$1" checker 2>&1
code=$?
[ "$(kills)" = "$before" ] || code=137
exit "$code"
"""
# PID 1 of a clean container. A line says nonce, time limit, and the sizes of the checker and of a tar to lay before (or
# 0); then these. Said with the nonce, before and after what the checker prints: that it begins, and its exit code.
# While it waits for a line, its lifetime runs; a checker can neither end it nor leave anything to the next one.
COURT = r"""exec 2>/dev/null
while
    trap exit TERM
    { /bin/busybox sleep "$1"; kill 1; } >/dev/null &
    read -r nonce limit size tar
do
    trap - TERM
    kill -9 -1
    checker=$(/bin/busybox dd bs="$size" count=1 iflag=fullblock; echo .)
    [ -z "$used" ] || /bin/busybox find /run/operator /tmp -mindepth 1 -maxdepth 1 -exec /bin/busybox rm -rf {} +
    used=1 code=
    [ "$tar" = 0 ] || /bin/busybox dd bs="$tar" count=1 iflag=fullblock | /bin/busybox tar -x -o -C /run/operator ||
        code=unlaid
    printf '\000%s\000' "$nonce"
    [ -n "$code" ] || {
        (cd "$3" && exec /bin/busybox timeout -s KILL "$limit" /usr/bin/env -i PATH="$2" HOME="$3" \
            /usr/bin/dash -c "$4" judge "${checker%.}" </dev/null)
        code=$?
    }
    printf '\000%s %s\000' "$nonce" "$code"
done
"""


class Answer:
    """Takes a judge's stream apart: what one checker printed, and its exit code once it has ended."""

    def __init__(self, nonce: str) -> None:
        self.begin, self.end = f"\0{nonce}\0".encode(), f"\0{nonce} ".encode()
        self.output = Output(1 << 16)
        self.code: bytes | None = None
        self.begun, self.pending = False, b""

    def take(self, stream: int, data: bytes) -> bool:
        """Add a piece of the stream; True when the checker has ended."""
        self.pending += data
        if not self.begun:  # what an earlier checker left running may still have printed before
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
