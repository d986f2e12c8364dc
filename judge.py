"""Run checkers in clean containers, and say what they found.

    from judge import Check, verify, verify_each

Reads   nothing
Writes  nothing
Needs   a Docker engine and the image sekft-dash
"""

import math
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from engine import ENGINE_SECONDS, IMAGE, Process, SandboxError, create, engine_call, owned, volume_mount
from schema import HOME
from tree import TreeEntry, archive_of
from wrapper import Output

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


def check(container: str, checker: str, timeout_seconds: float) -> Check:
    """Run a checker in a clean container, as a user that every mode lets in, under a fixed environment."""
    variables = [f"PATH={CHECKER_PATH}", f"HOME={HOME}"]
    command = ["/usr/bin/env", "-i", *variables, "/usr/bin/dash", "-c", JUDGE, "judge", checker]
    out = Output(1 << 16)
    with engine_call(f"check in {container}"):
        process = Process(container, command, user="0:0", workdir=HOME)
        try:
            ended = process.pump(out.take, time.monotonic() + timeout_seconds)
            code = process.exit_code() if ended is not None else None
        finally:
            process.close()
        if code is None or code > 125:
            oom_kills(container)  # a container that died is no checker that failed
    return _judged(code, out.text(), timeout_seconds)


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
    limit = math.ceil(timeout_seconds)
    lifetime = len(trees) * (limit + 5) + ENGINE_SECONDS
    nonce = secrets.token_hex(8)
    archives = [archive_of(tree) for tree in trees]
    asked = b"".join(f"{nonce} {len(archive)}\n".encode() + archive for archive in archives)
    command = ["/usr/bin/env", "-i", "/usr/bin/dash", "-c", EACH, "each", checker, str(limit), CHECKER_PATH, HOME]
    command.append(JUDGE)
    said = bytearray()

    def take(stream: int, chunk: bytes) -> bool:
        said.extend(chunk)
        return False

    with owned("container", "volume") as (name, volume), engine_call(f"check in {name}"):
        mounts = [
            volume_mount(volume, HOME, read_only=True, lifetime=lifetime),
            volume_mount(volume, "/run/operator", read_only=False, lifetime=lifetime),
        ]
        sleep = ["/bin/busybox", "sleep", f"{lifetime:g}"]
        create(name, sleep, image=image, mounts=mounts, lifetime=lifetime, checks=True)
        process = Process(name, command, user="0:0", workdir=HOME, stdin=asked)
        try:
            process.pump(take, time.monotonic() + lifetime)
        finally:
            process.close()
    answers = re.findall(rb"(.*?)\x00%s (\w+)\x00" % nonce.encode(), said, flags=re.DOTALL)
    if len(answers) != len(trees) or any(code == b"unlaid" for _, code in answers):
        raise SandboxError(f"{name} laid and checked {len(answers)} trees of {len(trees)}: {bytes(said[-500:])!r}")
    return [_judged(int(code), output.decode(errors="replace"), timeout_seconds) for output, code in answers]


def _judged(code: int | None, output: str, timeout_seconds: float) -> Check:
    """What a checker's exit code means: 0 passed, 1 to 125 not passed, anything else that the checker failed."""
    if code is None:
        return Check(None, None, output, f"the checker ran past {timeout_seconds:g} s")
    if code > 125:
        why = (
            f" (something was killed, for memory perhaps, or it ran past {timeout_seconds:g} s)" if code == 137 else ""
        )
        return Check(None, code, output, f"the checker ended with {code}{why}")
    return Check(code == 0, code, output)


# What stands around every checker. A link to where nothing of the world is fails it: through one to /proc/self/cmdline
# `grep -q x answer` reads its own x, and through one to /tmp a checker reads what it wrote there itself. A checker in
# which the kernel kills anything for memory has failed, whatever it says: `! grep -q x huge` would pass; and so
# has one of a world that `find` cannot walk to its end: what lies deeper than it can go is there all the same.
JUDGE = r"""exec 2>/dev/null
/bin/busybox find . >/dev/null || { echo 'the world is too deep to be walked'; exit 126; }
strays=$(: | /bin/busybox find . -type l -exec /bin/busybox stat -c %N {} + -exec /bin/busybox realpath {} + |
    /bin/busybox grep -E "(^|-> ')/+(dev|proc|run|sys|tmp)(/|'?\$)|/pipe:\[" |
    /bin/busybox grep -v -e '^/dev/null$' -e "-> '/dev/null'\$")
[ -z "$strays" ] || { printf 'a link leads out of the world: %.200s\n' "$strays"; exit 1; }
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
# One tree after the other: a line with a nonce and the size of a tar, then the tar. Answers with at most 2048 bytes of
# what the checker said, the nonce and the exit code. `read` takes no byte more than its line.
EACH = r"""exec 2>/dev/null
while read -r nonce size; do
    kill -9 -1
    /bin/busybox find /run/operator /tmp -mindepth 1 -maxdepth 1 -exec /bin/busybox rm -rf {} +
    code=unlaid
    if /bin/busybox dd bs="$size" count=1 iflag=fullblock | /bin/busybox tar -x -o -C /run/operator; then
        /bin/busybox timeout -s KILL "$2" /usr/bin/env -i PATH="$3" HOME="$4" \
            /usr/bin/dash -c "$5" judge "$1" </dev/null >/tmp/said
        code=$?
        /bin/busybox head -c 2048 /tmp/said
    fi
    printf '\000%s %s\000' "$nonce" "$code"
done
"""
