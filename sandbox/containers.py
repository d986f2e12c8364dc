"""Speak to the Docker engine: contained containers, their labels, their end, and processes in them.

    from sandbox.containers import Process, create, owned, reap

Reads   nothing
Writes  nothing
Needs   a Docker engine (DOCKER_HOST where it is not the default socket)

Every container made here has no network, no capabilities, a read-only root, sized memory, processes and file systems.
It ends when whoever booted it hangs up.
Containers and volumes say by label who owns them and when they are overdue; `reap` removes those past their deadline
and those whose owner, a process of this machine, is dead; never anyone else's.
"""

import contextlib
import os
import secrets
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from schema import BadInputError

IMAGE = "sekft-dash"
MEMORY_BYTES = 256 << 20
HOME_BYTES, TMP_BYTES, FILE_BYTES = 64 << 20, 64 << 20, 64 << 20
HOME_FILES = 16_384  # inodes
ENGINE_SECONDS = 120.0  # an engine that takes longer to answer is dead
END_SECONDS = 20.0  # for a container whose PID 1 was told to end
ASK_SECONDS = 1.0  # for the engine to say that it is gone, before it is asked again


class SandboxError(RuntimeError):
    """The world's fault: engine or container dead. Voids the attempt; never shown to a model."""


_local = threading.local()
_live: set[str] = set()  # containers and volumes of this process, by name
_live_lock = threading.Lock()
RUN = secrets.token_hex(6)
_runtime: str | None = None


@cache
def _version() -> str:
    """The API version the engine speaks, asked once."""
    import docker

    client = docker.APIClient(version="auto", timeout=ENGINE_SECONDS, **docker.utils.kwargs_from_env())
    return str(client.api_version)


def api() -> Any:
    """The engine client of this thread."""
    import docker

    if not hasattr(_local, "api"):
        _local.api = docker.APIClient(version=_version(), timeout=ENGINE_SECONDS, **docker.utils.kwargs_from_env())
    return _local.api


@contextmanager
def engine_call(doing: str) -> Iterator[None]:
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
    """The image's id. Raises BadInputError when there is no engine, no permission on its socket, or no image."""
    import docker

    where = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    try:
        digest = str(api().inspect_image(image)["Id"])
    except docker.errors.ImageNotFound as error:
        raise BadInputError(f"image {image!r} is not in the engine at {where}; run `make image`") from error
    except docker.errors.DockerException as error:
        if "PermissionError" in str(error) or "Permission denied" in str(error):
            raise BadInputError(
                f"no permission on the Docker socket {where}; run as root or join the group docker"
            ) from error
        raise BadInputError(f"no Docker engine answers at {where}; start one, or run `sh runs/engine.sh`") from error
    return digest


@cache
def image_id(image: str) -> str:
    """The image's id, looked up once: all sandboxes of a process come from the same one. Raises SandboxError."""
    with engine_call(f"find image {image}"):
        return str(api().inspect_image(image)["Id"])


def use_runtime(name: str | None) -> None:
    """Start every container that this process makes from now on under an OCI runtime (None: the engine's default).

    Raises BadInputError for one that the engine does not know.
    """
    global _runtime
    with engine_call("list the runtimes"):
        known = sorted(api().info().get("Runtimes") or {}) if name else []
    if name and name not in known:
        raise BadInputError(f"--runtime: the engine knows no runtime {name!r}; known: {', '.join(known)}")
    _runtime = name


def runtime() -> str | None:
    """The runtime that was chosen."""
    return _runtime


@cache
def identity() -> dict[str, str]:
    """Labels that say who owns a container: host with its PID namespace, boot, process and its start time."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    namespace = Path("/proc/self/ns/pid")
    return {
        "sekft.run": RUN,
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


def abandoned(labels: Mapping[str, str]) -> bool:
    """True past the deadline, or when the owner is a dead process of this host and boot."""
    if float(labels.get("sekft.deadline", "inf")) < time.time():
        return True
    mine = identity()
    if not mine["sekft.boot"] or any(labels.get(key) != mine[key] for key in ("sekft.host", "sekft.boot")):
        return False
    pid, _, started = labels["sekft.pid"].partition(" ")
    return _started(int(pid)) != started


def reap() -> int:
    """Remove containers and volumes of dead runs; how many. Raises SandboxError when the engine does not answer."""
    filters = {"label": "sekft.run"}
    with engine_call("reap"):
        names = [
            (found["Names"][0].lstrip("/"), "container")
            for found in api().containers(all=True, filters=filters)
            if abandoned(found["Labels"])
        ] + [
            (found["Name"], "volume")
            for found in api().volumes(filters=filters)["Volumes"] or []
            if abandoned(found["Labels"])
        ]
    for name, kind in names:
        remove(name, kind)
    return len(names)


def remove_all() -> None:
    """Remove every sandbox of this process at once; whoever still uses one gets SandboxError."""
    with _live_lock:
        names = sorted(_live)
    for kind in ("container", "volume"):
        for name in names:
            remove(name, kind)


def remove(name: str, kind: str) -> None:
    """Remove a container or volume and wait until it is gone; one that is not there is fine."""
    import docker

    with engine_call(f"remove {kind} {name}"):
        for _ in range(200):
            try:
                if kind == "container":
                    api().remove_container(name, force=True, v=True)
                else:
                    api().remove_volume(name)
            except docker.errors.NotFound:
                return
            except docker.errors.APIError as error:
                if error.status_code != 409:  # 409: its removal is under way, or something still mounts it
                    raise
                time.sleep(0.05)
            else:
                return
    raise SandboxError(f"remove {kind} {name}: still there")


def await_end(name: str) -> None:
    """Wait until a container whose PID 1 ends by itself is gone; one that stays is removed by force."""
    if not _gone(name):
        remove(name, "container")
    with _live_lock:
        _live.discard(name)


def _gone(name: str) -> bool:
    """True once a container is removed; False where the engine fails, or END_SECONDS are over.

    Asked anew every ASK_SECONDS: Docker 20.10 never answers who asks in the moment in which the removal ends.
    """
    import docker
    import requests

    deadline = time.monotonic() + END_SECONDS
    while (asked := time.monotonic()) < deadline:
        try:
            return not api().wait(name, timeout=ASK_SECONDS, condition="removed").get("Error")
        except docker.errors.NotFound:
            return True
        except (docker.errors.APIError, requests.exceptions.RequestException):
            if time.monotonic() - asked < ASK_SECONDS / 2:  # no time-out: the engine itself has failed
                return False
    return False


def create(name: str, command: list[str], *, image: str, mounts: list[Any], lifetime: float, checks: bool) -> None:
    """Create a container under full containment; with `checks`, one that can read every mode."""
    import docker

    tmpfs = {"/tmp": f"rw,nosuid,nodev,exec,size={TMP_BYTES},nr_inodes=8192,mode=1777"}
    if not checks:
        tmpfs["/usr/local/bin"] = "rw,nosuid,nodev,exec,size=1m,nr_inodes=64,mode=755"
        tmpfs["/run/op"] = "rw,nosuid,nodev,noexec,size=8m,nr_inodes=64,mode=755"
        tmpfs["/run/operator"] = "rw,nosuid,nodev,noexec,size=4m,nr_inodes=64,mode=700,uid=1000,gid=1000"
    ulimits = {"nofile": 1024, "fsize": FILE_BYTES, "core": 0}
    host = api().create_host_config(
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
        runtime=_runtime,
    )
    api().create_container(
        image, command, name=name, hostname="sandbox", user="0:0", working_dir="/", labels=_labels(lifetime),
        network_disabled=True, host_config=host, stdin_open=True,
    )  # fmt: skip


def start(name: str) -> "Stream":
    """Start a container; its PID 1's input ends when what comes back is hung up or this process is gone."""
    stream = Stream(api().attach_socket(name, params={"stdin": 1, "stdout": 1, "stream": 1}), hold=True)
    with contextlib.ExitStack() as failed:
        failed.callback(stream.close)
        api().start(name)
        failed.pop_all()
    return stream


def _labels(lifetime: float) -> dict[str, str]:
    """The owner's labels with the deadline: a minute after PID 1 ends."""
    return {**identity(), "sekft.deadline": f"{time.time() + lifetime + 60:.0f}"}


def volume_mount(name: str, target: str, *, read_only: bool, lifetime: float) -> Any:
    """A mount of the tmpfs volume that holds HOME; the first one to mount it creates it."""
    import docker

    options = f"size={HOME_BYTES},nr_inodes={HOME_FILES},uid=1000,gid=1000,mode=0755,nosuid,nodev"
    driver = docker.types.DriverConfig("local", {"type": "tmpfs", "device": "tmpfs", "o": options})
    return docker.types.Mount(
        target, name, type="volume", read_only=read_only, no_copy=True, labels=_labels(lifetime), driver_config=driver
    )


@contextmanager
def owned(*kinds: str) -> Iterator[list[str]]:
    """Fresh names, one per kind given; whatever was made under them is gone afterwards, volumes last."""
    stem = f"sekft-{RUN}-{secrets.token_hex(6)}"
    named = {f"{stem}-{index}": kind for index, kind in enumerate(kinds)}
    with _live_lock:
        _live.update(named)
    try:
        yield list(named)
    finally:
        failed = None
        with _live_lock:
            left = [(kind, name) for name, kind in named.items() if name in _live]
        for kind, name in sorted(left):
            try:
                remove(name, kind)
            except SandboxError as error:
                failed = error
        with _live_lock:
            _live.difference_update(named)
        if failed:
            print(f"{failed}; `python dashdocker.py reap` will remove it", file=sys.stderr)


class Stream:
    """A connection that the engine has handed over to a process: input is fed, output comes in frames.

    The input ends after `stdin`, unless it is held open for `send`.
    """

    def __init__(self, stream: Any, *, stdin: bytes = b"", hold: bool = False) -> None:
        self.stream = stream
        self.socket: socket.socket = getattr(stream, "_sock", stream)
        self.socket.setblocking(False)
        self.pending, self.hold, self.fed = memoryview(stdin), hold, hold and not stdin
        # What came together with the answer's head lies in the reader that read the head, and not in the socket.
        self.buffer = bytearray(stream._response.raw._fp.fp.read1() or b"")

    def send(self, data: bytes) -> None:
        """Add to the input of a process whose input is held open; `pump` writes it."""
        self.pending, self.fed = memoryview(bytes(self.pending) + data), False

    def flush(self, seconds: float) -> None:
        """Write what was added, all of it."""
        self.socket.settimeout(seconds)
        try:
            self.socket.sendall(self.pending)
        finally:
            self.socket.setblocking(False)
        self.pending, self.fed = memoryview(b""), True

    def pump(self, take: Callable[[int, bytes], bool], deadline: float) -> bool | None:
        """Write what is left of stdin and hand each piece of output (stream 1 or 2) to `take`.

        True once `take` returned True, False at the end of output, None at the deadline (monotonic clock).
        """
        if self._frames(take):
            return True
        while (left := deadline - time.monotonic()) > 0:
            if not self.fed and not self.pending:
                if not self.hold:
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

    def close(self) -> None:
        """Hang up: the process's input ends; an exec goes on."""
        with contextlib.suppress(OSError):  # the other side was first
            self.socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(ValueError):  # the response complains that its socket is closed, which was the aim
            self.stream.close()
            self.stream._response.close()


class Process(Stream):
    """One process in a container beside its PID 1."""

    def __init__(
        self, container: str, command: list[str], *, user: str, workdir: str, stdin: bytes = b"", hold: bool = False
    ) -> None:
        self.id = api().exec_create(container, command, stdin=True, user=user, workdir=workdir)["Id"]
        super().__init__(api().exec_start(self.id, socket=True), stdin=stdin, hold=hold)

    def ended(self) -> bool:
        """True when the engine says that it does not run."""
        return not api().exec_inspect(self.id)["Running"]

    def exit_code(self) -> int | None:
        """The exit code, waited for up to five seconds; None where the process still runs."""
        wait, deadline = 0.002, time.monotonic() + 5
        while time.monotonic() < deadline:
            state = api().exec_inspect(self.id)
            if not state["Running"] and state["ExitCode"] is not None:
                return int(state["ExitCode"])
            time.sleep(wait)
            wait = min(2 * wait, 0.05)
        return None
