"""Run commands in disposable dash containers: run(), session() and verify().

    python dashdocker.py reap            # remove what dead runs left behind

Reads   nothing
Writes  nothing
Needs   a Docker engine and the image sekft-dash (make image)

Every sandbox has no network, no capabilities, a read-only root, sized memory, processes and file systems, and a
PID 1 that ends it after a bounded time. `reap` removes containers and volumes past their deadline and those whose
owner, a process of this machine, is dead; never anyone else's.
"""

import argparse
import contextlib
import io
import os
import secrets
import select
import shlex
import socket
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import stage
from schema import HOME, BadInputError, Fixture, Step, sha256

IMAGE = "sekft-dash"
TRANSPORT = "exec"
OPERATOR = "1000:1000"
LIFETIME_SECONDS = 3600.0
MEMORY_BYTES = 256 << 20
HOME_BYTES, TMP_BYTES, FILE_BYTES = 64 << 20, 64 << 20, 64 << 20
HOME_FILES = 16_384  # inodes
TREE_BYTES = 160 << 20  # a tree read back may be no larger; only sparse files can make it so
RAW_BYTES = 1 << 20  # of a step's output that are kept: first and last half
SEEN_BYTES = 4096  # of a step's output that the operator sees: first and last half
ENGINE_SECONDS = 120.0  # an engine that takes longer to answer is dead
CHECKER_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
LOGIN = {"HOME": HOME, "USER": "operator", "LOGNAME": "operator", "SHELL": "/bin/sh", "TERM": "dumb",
         "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}  # fmt: skip

# PID 1 of an operator's container, root without capabilities: what it writes and what it is the operator can neither
# change nor signal. Its arguments are the files to write; they are gone from its command line before a step starts.
LAY = r"""umask 022; cd /run/op || exit 1
printf %s "$2" >step; printf %s "$3" >sh; printf %s "$4" >save; printf %s "$5" >kill; printf %s "$6" >login
[ -z "$7" ] || { printf %s "$8" >"$7"; chmod 755 "$7"; }
life=$1; shift 8; printf %s "$@" >script
printf 'sleep "$1" & wait' >init; : >ready
exec /usr/bin/dash init "$life"
"""
# The outer shell of a step. It reads a nonce, says which session it leads, has the inner shell run the operator's text
# and reports: exit code, whether state was saved, open heredoc, the cgroup's count of OOM kills, cwd. A heredoc is
# open when dash's own parser accepts the text and still accepts it with a stray `)` on a line of its own behind it.
STEP = r"""exec 2>/dev/null
read -r nonce heredoc
printf '\000%s %s\000' "$nonce" "$$"
echo 0 >|/run/operator/saved
open=0
if [ "$heredoc" = 1 ]; then
    text=$(/bin/busybox cat; echo .)
    text=${text%.}
    printf '%s' "$text" | /usr/bin/dash -n && printf '%s\n)' "$text" | /usr/bin/dash -n && open=1
    printf '%s' "$text" | /usr/bin/dash sh 2>&1
else
    /usr/bin/dash sh 2>&1
fi
code=$? saved=0 oom=0 cwd=
read -r saved </run/operator/saved
for counter in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ ! -r "$counter" ] || while read -r key value; do [ "$key" != oom_kill ] || oom=$value; done <"$counter"
done
IFS= read -r cwd </run/operator/cwd
printf '\000%s %s %s %s %s %s\000%s\000' "$nonce" "$code" "${saved:-0}" "$open" "$oom" "$cwd" "$nonce"
"""
# The inner shell: the state of the step before, then the operator's text, verbatim. `shift` drops the text from "$@"
# before its first command runs. A backslash keeps the operator's aliases off; only special builtins and absolute paths
# are used once the operator's functions can exist.
INNER = r"""set -- "$PPID"
unset IFS PATH PWD OLDPWD PS1 PS2 PS4
if [ -f /run/operator/state ]; then command . /run/operator/state; else . /run/op/login; fi
\set -- "$(/bin/busybox cat; \echo .)"
\exec </dev/null
\trap '{ \. /run/op/save; } 2>/dev/null' EXIT
\eval "\shift; ${1%.}"
"""
# Runs in the inner shell when it ends, however it ends but for exec, a signal and the operator's own EXIT trap.
SAVE = r"""\set -- "$-"
\set +aCefuvx
\unset -f alias printf umask
\set -- "$1" "$(\umask)"
\umask 077
case ${PWD-} in
/*) if \[ "$PWD" -ef . ]; then \printf '%s\n' "$PWD"; else /bin/busybox readlink "/proc/$$/cwd"; fi ;;
*) /bin/busybox readlink "/proc/$$/cwd" ;;
esac >|/run/operator/cwd
{
    /bin/busybox sed "s/'/'\\\\''/g; 1s/^/cd '/; \$s/\$/' || cd \/home\/operator/" /run/operator/cwd
    \printf 'umask %s\n' "$2"
    \set
    \printf '%s\n' 'PPID=$1' 'set --'
    \export -p
    \readonly -p
    case $1 in *a*) \printf 'set -a\n' ;; esac
    case $1 in *C*) \printf 'set -C\n' ;; esac
    case $1 in *f*) \printf 'set -f\n' ;; esac
    case $1 in *u*) \printf 'set -u\n' ;; esac
    \alias | /bin/busybox sed 's/^/alias /'
    \printf '# end\n'
} >|/run/operator/state.new &&
    /bin/busybox mv -f /run/operator/state.new /run/operator/state &&
    \printf '1\n' >|/run/operator/saved
"""
# Kills every process in the step's session and in every session begun since; jobs of earlier steps live on. After 40
# passes (something forks faster than this kills) it kills all that the operator has.
KILL = r"""read -r _ _ _ _ _ own _ </proc/self/stat
pass=0
while [ $pass -lt 40 ]; do
    pass=$((pass + 1)) found=0
    for directory in /proc/[0-9]*; do
        line=
        { read -r line <"$directory/stat"; } 2>/dev/null
        [ -n "$line" ] || continue
        set -- ${line##*) }
        [ "$1" != Z ] && [ "$4" -ge "$session" ] && [ "$4" -ne "$own" ] || continue
        kill -9 "${directory#/proc/}" && found=1
    done 2>/dev/null
    [ $found = 1 ] || exit 0
done
kill -9 -1
"""
WRAPPER = "\n".join([LAY, STEP, INNER, SAVE, KILL])
WRAPPER_HASH = sha256(WRAPPER.encode())
READY = "until [ -e /run/op/ready ]; do :; done; "


class SandboxError(RuntimeError):
    """The world's fault: engine or container dead. Voids the attempt; never shown to a model."""


@dataclass(frozen=True, order=True)
class TreeEntry:
    """One entry below HOME. `content` for files, `target` for symlinks; times are left out on purpose."""

    path: str
    type: Literal["file", "dir", "symlink", "other"]
    mode: int
    content: bytes | None = None
    target: str | None = None


@dataclass(frozen=True)
class RunResult:
    """What a one-shot script left: both streams apart, at most RAW_BYTES each, and how it ended."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    timed_out: bool
    oom: bool
    duration_seconds: float


@dataclass(frozen=True)
class Check:
    """The checker's finding. `passed` is None where it crashed or ran out of time; `error` then says how."""

    passed: bool | None
    exit_code: int | None
    output: str
    error: str | None = None


class _Output:
    """Counts bytes and keeps the first and the last `limit // 2` of them, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self.half, self.total = limit // 2, 0
        self.head, self.tail = bytearray(), bytearray()

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self.half - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        if len(self.tail) > 2 * self.half:
            del self.tail[: -self.half]

    def kept(self) -> bytes:
        return bytes(self.head) + bytes(self.tail[-self.half :])

    def text(self) -> str:
        """What is seen: head and tail, with the exact number of bytes left out; undecodable bytes replaced."""
        half = SEEN_BYTES // 2
        kept = self.kept()
        if self.total <= SEEN_BYTES:
            return kept.decode(errors="replace")
        head, tail = kept[:half], kept[-half:]
        while head and head[-1] & 0x80 and len(head) > half - 4 and not _whole(head):
            head = head[:-1]
        while tail and tail[0] & 0xC0 == 0x80 and len(tail) > half - 4:
            tail = tail[1:]
        out = self.total - len(head) - len(tail)
        return f"{head.decode(errors='replace')}\n[... {out} bytes left out ...]\n{tail.decode(errors='replace')}"


def _whole(data: bytes) -> bool:
    """True when `data` does not end inside a UTF-8 character."""
    try:
        data[-4:].lstrip(bytes(range(0x80, 0xC0))).decode()
    except UnicodeDecodeError:
        return False
    return True


_local = threading.local()
_live: set[str] = set()  # containers and volumes of this process, by name
_live_lock = threading.Lock()
_RUN = secrets.token_hex(6)


@cache
def _version() -> str:
    """The API version the engine speaks, asked once."""
    import docker

    client = docker.APIClient(version="auto", timeout=ENGINE_SECONDS, **docker.utils.kwargs_from_env())
    return str(client.api_version)


def _api() -> Any:
    """This thread's engine client."""
    import docker

    if not hasattr(_local, "api"):
        _local.api = docker.APIClient(version=_version(), timeout=ENGINE_SECONDS, **docker.utils.kwargs_from_env())
    return _local.api


@contextmanager
def _engine(doing: str) -> Iterator[None]:
    """Turn every way in which an engine can fail into SandboxError."""
    import docker
    import requests
    import urllib3

    try:
        yield
    except (
        docker.errors.DockerException,
        requests.exceptions.RequestException,
        urllib3.exceptions.HTTPError,
        OSError,
    ) as error:
        raise SandboxError(f"{doing}: {error}") from error


def preflight(image: str = IMAGE) -> str:
    """The image's id, after removing what dead runs left. Raises BadInputError when engine or image is missing."""
    import docker

    where = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    try:
        digest = str(_api().inspect_image(image)["Id"])
    except docker.errors.ImageNotFound as error:
        raise BadInputError(f"image {image!r} is not in the engine at {where}; run `make image`") from error
    except docker.errors.DockerException as error:
        if "PermissionError" in str(error) or "Permission denied" in str(error):
            raise BadInputError(
                f"no permission on the Docker socket {where}; run as root or join the group docker"
            ) from error
        raise BadInputError(f"no Docker engine answers at {where}; start one, or run `sh runs/engine.sh`") from error
    reap()
    return digest


@cache
def _identity() -> dict[str, str]:
    """Labels that say who owns a container: host with its PID namespace, boot, process and its start time."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    namespace = Path("/proc/self/ns/pid")
    return {
        "sekft.run": _RUN,
        "sekft.host": f"{socket.gethostname()} {namespace.readlink() if namespace.is_symlink() else ''}".strip(),
        "sekft.boot": boot.read_text().strip() if boot.exists() else "",
        "sekft.pid": f"{os.getpid()} {_started(os.getpid())}",
    }


def _started(pid: int) -> str | None:
    """When a process started, in clock ticks since boot; None when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def _abandoned(labels: Mapping[str, str]) -> bool:
    """True past the deadline, or when the owner is a dead process of this host and boot."""
    if float(labels.get("sekft.deadline", "inf")) < time.time():
        return True
    mine = _identity()
    if not mine["sekft.boot"] or any(labels.get(key) != mine[key] for key in ("sekft.host", "sekft.boot")):
        return False
    pid, _, started = labels["sekft.pid"].partition(" ")
    return _started(int(pid)) != started


def reap() -> int:
    """Remove containers and volumes of dead runs; how many. Raises SandboxError when the engine does not answer."""
    filters = {"label": "sekft.run"}
    with _engine("reap"):
        names = [
            (found["Names"][0].lstrip("/"), "container")
            for found in _api().containers(all=True, filters=filters)
            if _abandoned(found["Labels"])
        ] + [
            (found["Name"], "volume")
            for found in _api().volumes(filters=filters)["Volumes"] or []
            if _abandoned(found["Labels"])
        ]
    for name, kind in names:
        _remove(name, kind)
    return len(names)


def remove_all() -> None:
    """Remove every sandbox of this process at once; whoever still uses one gets SandboxError."""
    with _live_lock:
        names = sorted(_live)
    for kind in ("container", "volume"):
        for name in names:
            _remove(name, kind)


def _remove(name: str, kind: str) -> None:
    """Remove a container or volume and wait until it is gone; one that is not there is fine."""
    import docker

    with _engine(f"remove {kind} {name}"):
        for _ in range(200):
            try:
                if kind == "container":
                    _api().remove_container(name, force=True, v=True)
                else:
                    _api().remove_volume(name)
            except docker.errors.NotFound:
                return
            except docker.errors.APIError as error:
                if error.status_code != 409:  # 409: its removal is under way, or something still mounts it
                    raise
                time.sleep(0.05)
            else:
                return
    raise SandboxError(f"remove {kind} {name}: still there")


def _create(name: str, command: list[str], *, image: str, mounts: list[Any], lifetime: float, checks: bool) -> None:
    """Create and start a container under full containment; with `checks`, one that can read every mode."""
    import docker

    tmpfs = {"/tmp": f"rw,nosuid,nodev,exec,size={TMP_BYTES},nr_inodes=8192,mode=1777"}
    if not checks:
        tmpfs["/usr/local/bin"] = "rw,nosuid,nodev,exec,size=1m,nr_inodes=64,mode=755"
        tmpfs["/run/op"] = "rw,nosuid,nodev,noexec,size=8m,nr_inodes=64,mode=755"
        tmpfs["/run/operator"] = "rw,nosuid,nodev,noexec,size=4m,nr_inodes=64,mode=700,uid=1000,gid=1000"
    ulimits = {"nofile": 1024, "fsize": FILE_BYTES, "core": 0}
    host = _api().create_host_config(
        network_mode="none",
        ipc_mode="none",
        cap_drop=["ALL"],
        cap_add=["DAC_OVERRIDE"] if checks else [],
        security_opt=["no-new-privileges"],
        read_only=True,
        tmpfs=tmpfs,
        mounts=mounts,
        mem_limit=MEMORY_BYTES,
        memswap_limit=MEMORY_BYTES,
        nano_cpus=10**9,
        pids_limit=256,
        ulimits=[docker.types.Ulimit(name=key, soft=value, hard=value) for key, value in ulimits.items()],
        log_config=docker.types.LogConfig(type="none"),
        auto_remove=True,
    )
    _api().create_container(
        image, command, name=name, hostname="sandbox", user="0:0", working_dir="/", labels=_labels(lifetime),
        network_disabled=True, host_config=host,
    )  # fmt: skip
    _api().start(name)


def _labels(lifetime: float) -> dict[str, str]:
    """The owner's labels with the deadline: a minute after PID 1 ends."""
    return {**_identity(), "sekft.deadline": f"{time.time() + lifetime + 60:.0f}"}


def _volume(name: str, target: str, *, read_only: bool, lifetime: float) -> Any:
    """A mount of the tmpfs volume that holds HOME; the first one to mount it creates it."""
    import docker

    options = f"size={HOME_BYTES},nr_inodes={HOME_FILES},uid=1000,gid=1000,mode=0755,nosuid,nodev"
    driver = docker.types.DriverConfig("local", {"type": "tmpfs", "device": "tmpfs", "o": options})
    return docker.types.Mount(
        target, name, type="volume", read_only=read_only, no_copy=True, labels=_labels(lifetime), driver_config=driver
    )


@contextmanager
def _names(*kinds: str) -> Iterator[list[str]]:
    """Fresh names, one per kind given; whatever was made under them is gone afterwards, volumes last."""
    stem = f"sekft-{_RUN}-{secrets.token_hex(6)}"
    named = {f"{stem}-{index}": kind for index, kind in enumerate(kinds)}
    with _live_lock:
        _live.update(named)
    try:
        yield list(named)
    finally:
        failed = None
        for name, kind in sorted(named.items(), key=lambda item: item[1]):
            try:
                _remove(name, kind)
            except SandboxError as error:
                failed = error
        with _live_lock:
            _live.difference_update(named)
        if failed:
            print(f"{failed}; `python dashdocker.py reap` will remove it", file=sys.stderr)


class _Exec:
    """One process in a container, its input fed and its output read over the engine's connection."""

    def __init__(self, container: str, command: list[str], *, user: str, workdir: str, stdin: bytes = b"") -> None:
        self.id = _api().exec_create(container, command, stdin=True, user=user, workdir=workdir)["Id"]
        self.stream = _api().exec_start(self.id, socket=True)
        self.socket: socket.socket = getattr(self.stream, "_sock", self.stream)
        self.socket.setblocking(False)
        self.pending, self.fed = memoryview(stdin), False
        self.buffer = bytearray()

    def pump(self, take: Callable[[int, bytes], bool], deadline: float) -> bool | None:
        """Write what is left of stdin and hand each piece of output (stream 1 or 2) to `take`.

        True once `take` returned True, False at the end of output, None at the deadline (monotonic clock).
        """
        while (left := deadline - time.monotonic()) > 0:
            if not self.fed and not self.pending:
                self.socket.shutdown(socket.SHUT_WR)
                self.fed = True
            readable, writable, _ = select.select([self.socket], [] if self.fed else [self.socket], [], left)
            if writable:
                try:
                    self.pending = self.pending[self.socket.send(self.pending[:65536]) :]
                except BrokenPipeError:  # the process ended without reading all of it
                    self.pending, self.fed = memoryview(b""), True
            if readable:
                chunk = self.socket.recv(1 << 18)
                if not chunk:
                    return False
                self.buffer += chunk
                if self._frames(take):
                    return True
        return None

    def _frames(self, take: Callable[[int, bytes], bool]) -> bool:
        """Hand out the whole frames in the buffer: stream number, three zeros, length, bytes."""
        start, done = 0, False
        while len(self.buffer) - start >= 8:
            size = int.from_bytes(self.buffer[start + 4 : start + 8], "big")
            if len(self.buffer) - start - 8 < size:
                break
            done = take(self.buffer[start], bytes(self.buffer[start + 8 : start + 8 + size])) or done
            start += 8 + size
        del self.buffer[:start]
        return done

    def exit_code(self) -> int | None:
        """The exit code, waited for up to five seconds; None where the process still runs."""
        for _ in range(100):
            state = _api().exec_inspect(self.id)
            if not state["Running"] and state["ExitCode"] is not None:
                return int(state["ExitCode"])
            time.sleep(0.05)
        return None

    def close(self) -> None:
        """Hang up; the process goes on."""
        with contextlib.suppress(ValueError):  # the response complains that its socket is closed, which was the aim
            self.stream.close()
            self.stream._response.close()


class _Report:
    """Takes a step's stream apart: the wrapper's first words, the operator's output, the wrapper's last words."""

    def __init__(self, nonce: str) -> None:
        self.nonce = b"\0" + nonce.encode()
        self.output = _Output(RAW_BYTES)
        self.session: int | None = None  # the step's session id inside the container
        self.closing: list[bytes] | None = None  # exit code, saved, open heredoc, OOM kills, cwd
        self.pending = b""

    def take(self, stream: int, data: bytes) -> bool:
        """Add a piece of the stream; True when the step is over. What comes after that belongs to nobody."""
        if self.closing is not None:
            return True
        self.pending += data
        if self.session is None:
            first, found, rest = self.pending[1:].partition(b"\0")
            if not (found and self.pending.startswith(self.nonce + b" ")):
                return False
            self.session, self.pending = int(first.split()[1]), rest
        at = self.pending.find(self.nonce + b" ")
        safe = at if at >= 0 else max(0, len(self.pending) - len(self.nonce))
        self.output.add(self.pending[:safe])
        self.pending = self.pending[safe:]
        end = self.pending.find(self.nonce + b"\0", 1) if at >= 0 else -1
        if end >= 0:
            self.closing = self.pending[:end].split(b" ", 5)[1:]
        return end >= 0

    def give_up(self) -> None:
        """The last words will not come: all that arrived is output."""
        if self.session is not None and self.closing is None:
            self.output.add(self.pending)
        self.pending = b""


class Session:
    """A world with an operator in it. Made by `session()`; used by one thread at a time."""

    def __init__(self, names: list[str], image: str, lifetime: float) -> None:
        self.container, self.clean, self.volume = names
        self.image_digest, self.lifetime = image, lifetime
        self.raw = b""  # the last step's output as it came, RAW_BYTES of it at most
        self._cwd, self._oom_kills = HOME, 0
        self._over = self._has_clean = False

    def step(self, command: str, *, timeout_seconds: float = 30.0) -> Step:
        """Run a command as the operator's next and say what came back.

        At the time limit everything that the command started is killed and exit_code is 124. Returns as soon as the
        command's own shell ends; what it left in the background lives on, its later output is dropped. Raises
        SandboxError when the sandbox is dead or the session was verified.
        """
        if self._over:
            raise SandboxError("the session is over: it was verified")
        nonce = secrets.token_hex(8)
        text = f"{nonce} {int('<<' in command)}\n".encode() + command.encode(errors="surrogateescape")
        report = _Report(nonce)
        with _engine(f"step in {self.container}"):
            outer = ["/usr/bin/env", "-i", "/usr/bin/dash", "-c", READY + "exec /usr/bin/dash step"]
            process = _Exec(self.container, outer, user=OPERATOR, workdir="/run/op", stdin=text)
            try:
                started = self._first_words(process, report)
                ended = process.pump(report.take, started + timeout_seconds) if report.closing is None else True
                duration = time.monotonic() - started
                if ended is None:
                    self._kill(report)
                    process.pump(report.take, time.monotonic() + 3)
                report.give_up()
                return self._result(command, process, report, timed_out=ended is None, duration=duration)
            finally:
                process.close()

    def _first_words(self, process: _Exec, report: _Report) -> float:
        """Wait until the wrapper has spoken; the time from which the command's limit counts."""

        def take(stream: int, data: bytes) -> bool:
            seen.add(data)
            report.take(stream, data)
            return report.session is not None

        seen = _Output(2048)
        if process.pump(take, time.monotonic() + ENGINE_SECONDS) is not True:
            raise SandboxError(f"{self.container} runs no commands: {seen.text().strip() or 'no answer'}")
        return time.monotonic()

    def _kill(self, report: _Report) -> None:
        """Kill what the running step started. Raises SandboxError when that cannot be done."""
        command = ["/usr/bin/env", "-i", f"session={report.session}", "/usr/bin/dash", "kill"]
        killer = _Exec(self.container, command, user=OPERATOR, workdir="/run/op")
        try:
            if killer.pump(lambda stream, data: False, time.monotonic() + 20) is None or killer.exit_code() is None:
                raise SandboxError(f"{self.container}: what ran past its limit cannot be killed")
        finally:
            killer.close()

    def _result(self, command: str, process: _Exec, report: _Report, *, timed_out: bool, duration: float) -> Step:
        """The step as it is recorded."""
        saved = heredoc = oom = False
        if report.closing is not None:
            code, saved_word, heredoc_word, kills, cwd = report.closing
            exit_code, saved, heredoc = int(code), saved_word == b"1", heredoc_word == b"1"
            oom = int(kills) > self._oom_kills
            self._oom_kills = int(kills)
            self._cwd = cwd.decode(errors="replace") or self._cwd
        else:  # the wrapper itself was killed
            found = 124 if timed_out else process.exit_code()
            self._require_alive()
            if found is None:
                raise SandboxError(f"{self.container}: the engine lost a command")
            exit_code, before = found, self._oom_kills
            self._oom_kills = _oom_kills(self.container)
            oom = self._oom_kills > before
        self.raw = report.output.kept()
        return Step(
            command=command, output=report.output.text(), output_bytes=report.output.total,
            exit_code=124 if timed_out else exit_code, cwd=self._cwd, duration_seconds=round(duration, 4),
            timed_out=timed_out, oom=oom, open_heredoc=heredoc, state_stale=timed_out or not saved,
        )  # fmt: skip

    def _require_alive(self) -> None:
        """Raise SandboxError unless the operator's container runs."""
        with _engine(f"inspect {self.container}"):
            if not _api().inspect_container(self.container)["State"]["Running"]:
                raise SandboxError(f"{self.container} has ended")

    def read_file(self, path: str, limit_bytes: int = FILE_BYTES) -> bytes:
        """A regular file of the world, whatever its mode, read without running anything in the sandbox.

        Raises FileNotFoundError, IsADirectoryError, or ValueError for anything else and for what is over the limit.
        """
        import docker

        where = self.clean if self._over else self.container
        with _engine(f"read {path}"):
            try:
                stream, _ = _api().get_archive(where, str(PurePosixPath(HOME, path)))
                members = list(_members(b"".join(_bounded(stream, limit_bytes + (1 << 16)))))
            except docker.errors.NotFound as error:
                self._require_alive()
                raise FileNotFoundError(path) from error
        member, content = members[0]
        if member.isdir():
            raise IsADirectoryError(path)
        if not member.isreg() or len(content) > limit_bytes:
            raise ValueError(f"{path}: not a regular file of at most {limit_bytes} bytes")
        return content

    def write_file(self, path: str, content: bytes) -> None:
        """Write a file as the operator would, parents made. Raises OSError where the operator could not."""
        script = 'mkdir -p -- "$(dirname -- "$1")" && cat >"$1"'
        command = ["/usr/bin/env", "-i", f"PATH={CHECKER_PATH}", "/usr/bin/dash", "-c", script, "sh", path]
        errors = _Output(2048)
        with _engine(f"write {path}"):
            process = _Exec(self.container, command, user=OPERATOR, workdir=HOME, stdin=content)
            try:
                process.pump(lambda stream, data: bool(errors.add(data)), time.monotonic() + ENGINE_SECONDS)
                code = process.exit_code()
            finally:
                process.close()
            self._require_alive()
        if code != 0:
            raise OSError(f"{path}: {errors.text().strip()}")

    def snapshot(self) -> list[TreeEntry]:
        """The world as it is now, with every mode and content, read without running anything in the sandbox."""
        if self._over:
            raise SandboxError("the session is over: use final_tree()")
        return _read_tree(self.container)

    def verify(self, checker: str, *, timeout_seconds: float = 30.0) -> Check:
        """End the operator's processes, then run the checker on what they left, in a clean container.

        The clean one mounts the world, read-only, before the operator's container is removed: the world never goes
        away in between, and no process that could change it is left when the checker starts. May be called again:
        the same state is checked anew. Raises SandboxError when the world died before it could be judged.
        """
        if not self._over:
            with _engine(f"boot {self.clean}"):
                mounts = [_volume(self.volume, HOME, read_only=True, lifetime=self.lifetime)]
                command = ["/bin/busybox", "sleep", f"{self.lifetime:g}"]
                _create(
                    self.clean, command, image=self.image_digest, mounts=mounts, lifetime=self.lifetime, checks=True
                )
            self._require_alive()  # so the volume that the clean one mounted is the operator's
            self._over = True
            _remove(self.container, "container")
        return _check(self.clean, checker, timeout_seconds)

    def final_tree(self) -> list[TreeEntry]:
        """The world that was verified, read through the clean container."""
        if not self._over:
            raise SandboxError("the session is not over: use snapshot()")
        return _read_tree(self.clean)


def _oom_kills(container: str) -> int:
    """The cgroup's own count of OOM kills (v2 or v1); the engine's flag is silent when only a child dies."""
    files = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"]
    process = _Exec(container, ["/bin/busybox", "grep", "-sh", "^oom_kill ", *files], user=OPERATOR, workdir="/")
    out = _Output(2048)
    try:
        process.pump(lambda stream, data: bool(out.add(data)), time.monotonic() + 20)
    finally:
        process.close()
    words = out.kept().split()
    return int(words[1]) if len(words) > 1 else 0


def _check(container: str, checker: str, timeout_seconds: float) -> Check:
    """Run a checker in a clean container, as a user that every mode lets in, under a fixed environment."""
    command = ["/usr/bin/env", "-i", f"PATH={CHECKER_PATH}", f"HOME={HOME}", "/usr/bin/dash", "-c", checker, "checker"]
    out = _Output(1 << 16)
    with _engine(f"check in {container}"):
        process = _Exec(container, command, user="0:0", workdir=HOME)
        try:
            ended = process.pump(lambda stream, data: bool(out.add(data)), time.monotonic() + timeout_seconds)
            code = process.exit_code() if ended is not None else None
        finally:
            process.close()
        if not _api().inspect_container(container)["State"]["Running"]:
            raise SandboxError(f"{container} has ended")
    if code is None:
        return Check(None, None, out.text(), f"the checker ran past {timeout_seconds:g} s")
    if code > 125:
        return Check(None, code, out.text(), f"the checker ended with {code}")
    return Check(code == 0, code, out.text())


def _bounded(chunks: Iterator[bytes], limit: int) -> Iterator[bytes]:
    """The chunks, as long as they are `limit` bytes together; ValueError beyond."""
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > limit:
            raise ValueError(f"over {limit} bytes")
        yield chunk


def _members(archive: bytes) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """The entries of a tar with their contents; nothing is ever unpacked on the host."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:", errors="surrogateescape") as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isreg() or member.islnk() else None
            yield member, file.read() if file else b""


def _read_tree(container: str) -> list[TreeEntry]:
    """Every entry below HOME, sorted by path. Raises SandboxError when the tree is over TREE_BYTES."""
    entries = []
    with _engine(f"read the tree of {container}"):
        stream, _ = _api().get_archive(container, HOME)
        try:
            members = list(_members(b"".join(_bounded(stream, TREE_BYTES))))
        except (ValueError, tarfile.TarError) as error:
            raise SandboxError(f"the tree of {container}: {error}") from error
    for member, content in members:
        relative = PurePosixPath(member.name).parts[1:]
        if not relative:
            continue
        path, mode = str(PurePosixPath(HOME, *relative)), member.mode & 0o7777
        if member.isdir():
            entries.append(TreeEntry(path, "dir", mode))
        elif member.issym():
            entries.append(TreeEntry(path, "symlink", mode, target=member.linkname))
        elif member.isreg() or member.islnk():
            entries.append(TreeEntry(path, "file", mode, content=content))
        else:
            entries.append(TreeEntry(path, "other", mode))
    return sorted(entries, key=lambda entry: entry.path)


def tree_of(fixtures: Sequence[Fixture]) -> list[TreeEntry]:
    """What a fresh world with these fixtures looks like: parents that no fixture names are made with mode 755."""
    entries = {}
    for fixture in fixtures:
        for parent in PurePosixPath(fixture.path).relative_to(HOME).parents:
            if parent.parts:
                entries.setdefault(f"{HOME}/{parent}", TreeEntry(f"{HOME}/{parent}", "dir", 0o755))
    for fixture in fixtures:
        content = fixture.content() if fixture.type == "file" else None
        mode = 0o777 if fixture.type == "symlink" else fixture.mode
        entries[fixture.path] = TreeEntry(fixture.path, fixture.type, mode, content, fixture.target)
    return sorted(entries.values(), key=lambda entry: entry.path)


def _archive(tree: Sequence[TreeEntry]) -> bytes:
    """The tree as a tar for HOME, owned by the operator, every time at the epoch."""
    types = {"file": tarfile.REGTYPE, "dir": tarfile.DIRTYPE, "symlink": tarfile.SYMTYPE, "other": tarfile.FIFOTYPE}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        for entry in sorted(tree, key=lambda entry: entry.path):
            member = tarfile.TarInfo(str(PurePosixPath(entry.path).relative_to(HOME)))
            member.type, member.mode, member.linkname = types[entry.type], entry.mode, entry.target or ""
            member.uid = member.gid = 1000
            member.size = len(entry.content or b"")
            tar.addfile(member, io.BytesIO(entry.content or b""))
    return buffer.getvalue()


def _boot(
    name: str, volume: str, image: str, lifetime: float, *,
    fixtures: Sequence[Fixture], provider: tuple[str, str] | None, environment: Mapping[str, str], script: str = "",
) -> None:  # fmt: skip
    """Start an operator's container with everything laid: wrapper and provider by PID 1, fixtures by the engine."""
    login = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in {**LOGIN, **environment}.items())
    login = f"cd {HOME}\n{login}PPID=$1\nset --\n"
    pieces = [script[at : at + 30_000] for at in range(0, len(script), 30_000)]  # an argument holds 128 KiB at most
    laid = [f"{lifetime:g}", STEP, INNER, SAVE, KILL, login, *(provider or ("", "")), *pieces]
    with _engine(f"boot {name}"):
        mounts = [_volume(volume, HOME, read_only=False, lifetime=lifetime)]
        command = ["/usr/bin/dash", "-c", LAY, "init", *laid]
        _create(name, command, image=image, mounts=mounts, lifetime=lifetime, checks=False)
        if fixtures and not _api().put_archive(name, HOME, _archive(tree_of(fixtures))):
            raise SandboxError(f"{name}: the engine did not take the fixtures")


@contextmanager
def session(
    fixtures: Sequence[Fixture],
    *,
    provider: tuple[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    image: str = IMAGE,
    lifetime_seconds: float = LIFETIME_SECONDS,
) -> Iterator[Session]:
    """A fresh world that an operator drives one command at a time; nothing of it is left afterwards.

    `provider` is path and source of an executable that root owns; `environment` adds to the login environment.
    PID 1 ends the sandbox after `lifetime_seconds` even when this process is gone. Raises SandboxError.
    """
    with _engine("find the image"):
        digest = str(_api().inspect_image(image)["Id"])
    with _names("container", "container", "volume") as names:
        _boot(
            names[0], names[2], digest, lifetime_seconds,
            fixtures=fixtures, provider=provider, environment=environment or {},
        )  # fmt: skip
        yield Session(names, digest, lifetime_seconds)


def run(
    fixtures: Sequence[Fixture],
    script: str,
    *,
    stdin: bytes = b"",
    timeout_seconds: float = 30.0,
    environment: Mapping[str, str] | None = None,
    image: str = IMAGE,
) -> RunResult:
    """Run one script as the operator in a container of its own, its streams apart. Raises SandboxError."""
    streams = {1: _Output(RAW_BYTES), 2: _Output(RAW_BYTES)}
    variables = [f"{key}={value}" for key, value in {**LOGIN, **(environment or {})}.items()]
    command = ["/usr/bin/env", "-i", *variables, "/usr/bin/dash", "-c", READY + ". /run/op/script", "sh"]

    def take(stream: int, data: bytes) -> bool:
        streams[stream].add(data)
        return False

    with _names("container", "volume") as (name, volume):
        lifetime = timeout_seconds + ENGINE_SECONDS
        _boot(name, volume, image, lifetime, fixtures=fixtures, provider=None, environment={}, script=script)
        with _engine(f"run in {name}"):
            started = time.monotonic()
            process = _Exec(name, command, user=OPERATOR, workdir=HOME, stdin=stdin)
            try:
                ended = process.pump(take, started + timeout_seconds)
                duration = time.monotonic() - started
                code = 124 if ended is None else process.exit_code()
            finally:
                process.close()
            oom = code != 0 and _oom_kills(name) > 0
        if code is None:
            raise SandboxError(f"{name}: the engine lost the script")
        return RunResult(streams[1].kept(), streams[2].kept(), code, ended is None, oom, duration)


def verify(
    tree: Sequence[TreeEntry], checker: str, *, timeout_seconds: float = 30.0, image: str = IMAGE
) -> Check:
    """Lay a tree in a fresh clean container and run the checker on it, as `Session.verify` would."""
    lifetime = timeout_seconds + ENGINE_SECONDS
    with _names("container", "volume") as (name, volume):
        with _engine(f"boot {name}"):
            mounts = [
                _volume(volume, HOME, read_only=True, lifetime=lifetime),
                _volume(volume, "/run/operator", read_only=False, lifetime=lifetime),
            ]
            command = ["/bin/busybox", "sleep", f"{lifetime:g}"]
            _create(name, command, image=image, mounts=mounts, lifetime=lifetime, checks=True)
            if tree and not _api().put_archive(name, "/run/operator", _archive(tree)):
                raise SandboxError(f"{name}: the engine did not take the tree")
        return _check(name, checker, timeout_seconds)


def main(*, action: Literal["reap"]) -> int:
    """Reap, and say how many things were removed."""
    import docker

    try:
        removed = reap()
    except (SandboxError, docker.errors.DockerException) as error:
        raise BadInputError(f"no Docker engine answers ({error}); start one, or run `sh runs/engine.sh`") from error
    stage.report({"action": action, "removed": removed})
    return stage.DONE


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("action", choices=["reap"], help="reap: remove what dead runs left behind")
    return parser


if __name__ == "__main__":
    stage.run(main, parser())
