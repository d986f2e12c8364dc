"""Create and remove contained Docker containers and volumes, and start processes in them.

    from sandbox.containers import Process, SandboxOptions, create, owned, reap, require_image

Every container made here has no network, no capabilities, a read-only root, and limits on memory, processes and every
file system that can be written. It ends when the process that started it closes its connection or dies.

Containers and volumes carry labels: which process owns them, and until when. `reap` removes those whose owner, a
process of this machine, is dead. Where it cannot see the owner, it removes those a day past their deadline. It never
removes anything else.

Two things here belong to the whole process and not to one session: the list of what it has created (`remove_all` must
find every sandbox after Ctrl-C, whichever thread made it) with the label RUN, and one Docker client per thread.
"""

import argparse
import atexit
import contextlib
import os
import re
import secrets
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipeline import interrupts
from sandbox.streams import Stream
from schema import BadInputError, WorldError

IMAGE = "sekft-dash"
TOOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")  # the name of a command in an image's label sekft.tools
MAX_TOOLS = 30
# The system calls that a shell and its tools need; every other one is refused. Docker takes the text, not the path.
SECCOMP = (Path(__file__).parent / "seccomp.json").read_text()
# User and group of the operator. The kernel counts pipes, queued signals and watches per user of the host, so this one
# is nobody else's there: 1000 is the first person on most hosts; Debian and systemd assign none from 65520 to 65533;
# above 65535 an engine that maps the users of containers (rootless, userns-remap) has none. The Dockerfile has it too.
OPERATOR_UID = 65531
LIFETIME_SECONDS = 3600.0
DOCKER_SECONDS = 120.0  # Docker counts as dead when it takes longer to answer
UNSEEN_SECONDS = 86_400.0  # past its deadline, before a sandbox is removed whose owner cannot be seen
END_SECONDS = 20.0  # for a container to go away once its PID 1 was told to end
ASK_SECONDS = 1.0  # for Docker to say that a container is gone, before it is asked again

# The limits of one container. `python -m sandbox.tables` writes them into docs/sandbox.md.
MEMORY_BYTES = 256 << 20
CPUS = 1
PROCESSES = 256
OPEN_FILES = 256
FILE_BYTES = 64 << 20
QUEUED_SIGNALS = 256  # of all sandboxes together: the kernel counts them per user
HOME_BYTES, HOME_INODES = 64 << 20, 16_384
TMP_BYTES, TMP_INODES = 64 << 20, 8192
STATE_BYTES, STATE_INODES = 4 << 20, 64  # /run/operator
WRAPPER_BYTES, WRAPPER_INODES = 8 << 20, 64  # /run/op
TOOLS_BYTES, TOOLS_INODES = 1 << 20, 64  # /usr/local/bin, where the provider lies


class SandboxError(WorldError):
    """Docker or a container failed. It voids the attempt and is never shown to a model."""


@dataclass(frozen=True)
class SandboxOptions:
    """What a container is made from: the image, the OCI runtime (None: Docker's default), and how long it may live.

    Memory and the filter of system calls are those of the operator's container; the checker's has the defaults.
    """

    image: str = IMAGE
    runtime: str | None = None
    lifetime_seconds: float = LIFETIME_SECONDS
    memory_bytes: int = MEMORY_BYTES
    seccomp: str = SECCOMP


DEFAULTS = SandboxOptions()
_local = threading.local()  # the Docker client of each thread
_live: set[str] = set()  # names of the containers and volumes of this process that may still exist
_making: set[str] = set()  # containers that Docker is being asked to create
_closed = False  # nothing may be created any more
_live_lock = threading.Lock()
LABEL = "sekft.run"  # on everything that is created here; by it `reap` finds what there is
RUN = secrets.token_hex(6)  # the value of that label on everything that this process creates


@cache
def _version() -> str:
    """The version of its API that Docker speaks, asked once."""
    import docker

    client = docker.APIClient(version="auto", timeout=DOCKER_SECONDS, **docker.utils.kwargs_from_env())
    return str(client.api_version)


def api() -> Any:
    """The Docker client of this thread."""
    import docker

    if not hasattr(_local, "api"):
        _local.api = docker.APIClient(version=_version(), timeout=DOCKER_SECONDS, **docker.utils.kwargs_from_env())
    return _local.api


@contextmanager
def docker_call(doing: str) -> Iterator[None]:
    """Turn every way in which Docker can fail into SandboxError; `doing` begins the message."""
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


def require_image(image: str = IMAGE) -> str:
    """The image's id.

    Raises BadInputError where Docker does not answer, forbids its socket, or lacks the image, has an old one, or one
    whose label sekft.tools is no list of commands.
    """
    import docker

    where = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    try:
        found = api().inspect_image(image)
    except docker.errors.ImageNotFound as error:
        remedy = "run `make image`" if image == IMAGE else "build it on that of `make image`, docs/bring_your_own.md"
        raise BadInputError(f"image {image!r} is not in the Docker engine at {where}; {remedy}") from error
    except (docker.errors.APIError, docker.errors.NullResource) as error:
        if not isinstance(error, docker.errors.APIError) or error.is_client_error():
            raise BadInputError(f"--image: {image!r} is no name of an image; `docker images` lists them") from error
        raise BadInputError(
            f"the Docker engine at {where} cannot look for image {image!r} ({error}); mend it"
        ) from error
    except docker.errors.DockerException as error:
        if "PermissionError" in str(error) or "Permission denied" in str(error):
            raise BadInputError(
                f"no permission on the Docker socket {where}; run as root or join the group docker"
            ) from error
        raise BadInputError(f"no Docker engine answers at {where}; start one, or run `sh runs/engine.sh`") from error
    labels = found["Config"]["Labels"] or {}
    if labels.get("sekft.uid") != str(OPERATOR_UID):
        remedy = "remove it and run `make image`" if image == IMAGE else f"build it FROM {IMAGE}"
        raise BadInputError(f"image {image!r} has another user id than {OPERATOR_UID}; {remedy}")
    labelled_tools(image, labels)
    return str(found["Id"])


def add_image_flag(parser: argparse.ArgumentParser) -> None:
    """Give a parser the flag --image, whose default is the shipped image."""
    told = "sandbox image; docs/bring_your_own.md says how to build one of your own (default %(default)s)"
    parser.add_argument("--image", default=IMAGE, metavar="NAME", help=told)


def labelled_tools(image: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    """The commands that the label sekft.tools names, separated by blanks. Raises BadInputError."""
    tools = tuple((labels.get("sekft.tools") or "").split())
    if wrong := [tool for tool in tools if not TOOL.fullmatch(tool)]:
        raise BadInputError(
            f"image {image!r}: label sekft.tools: {wrong[0][:40]!r} is no name of a command; separate them with blanks"
        )
    if len(tools) > MAX_TOOLS:
        raise BadInputError(f"image {image!r}: label sekft.tools: names over {MAX_TOOLS} commands; name the main ones")
    return tools


@cache
def image_tools(image: str) -> tuple[str, ...]:
    """The commands that an image has beside its base's, as its label says, looked up once. Raises SandboxError."""
    with docker_call(f"find image {image}"):
        return labelled_tools(image, api().inspect_image(image)["Config"]["Labels"] or {})


@cache
def image_id(image: str) -> str:
    """The image's id, looked up once, so that all sandboxes of a process come from one image. Raises SandboxError."""
    with docker_call(f"find image {image}"):
        return str(api().inspect_image(image)["Id"])


def require_runtime(name: str) -> None:
    """Raise BadInputError for an OCI runtime that Docker does not know."""
    with docker_call("list the runtimes"):
        known = sorted(api().info().get("Runtimes") or {})
    if name not in known:
        raise BadInputError(f"--runtime: Docker knows no runtime {name!r}; known: {', '.join(known)}")


@cache
def identity() -> dict[str, str]:
    """The labels of an owner: host with its PID and time namespaces, boot, process id with its start time."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    namespaces = [one for one in (Path("/proc/self/ns/pid"), Path("/proc/self/ns/time")) if one.is_symlink()]
    return {
        LABEL: RUN,
        "sekft.host": " ".join(
            [socket.gethostname(), *(str(one.readlink()) for one in namespaces if one.is_symlink())]
        ),
        "sekft.boot": boot.read_text().strip() if boot.exists() else "",
        "sekft.pid": f"{os.getpid()} {_start_time(os.getpid()) or ''}".strip(),
    }


def _start_time(pid: int) -> str | None:
    """When a process started, in clock ticks since boot; None when there is none, or /proc hides it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def _lives(pid: int, started: str) -> bool:
    """False where the process is known to have ended: no process has its id, or a later one has."""
    if pid <= 0:
        raise ValueError(f"sekft.pid is {pid}")
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        pass
    now = _start_time(pid)
    return not started or now is None or now == started


def abandoned(labels: Mapping[str, str]) -> bool:
    """True where the owner is dead; where it cannot be seen, a day past the deadline.

    An owner is seen by processes of its own host, boot, PID namespace and time namespace; no clock matters to them.
    Another process of the same boot goes by the wall clock and the uptime, since either may have been set ahead: the
    one by an administrator, the other by a time namespace. Raises KeyError, ValueError or OverflowError for labels that
    are missing or malformed.
    """
    mine = identity()
    pid, _, started = labels["sekft.pid"].partition(" ")
    here = bool(mine["sekft.boot"]) and labels.get("sekft.boot") == mine["sekft.boot"]
    if here and labels.get("sekft.host") == mine["sekft.host"]:
        return not _lives(int(pid), started)
    deadlines = [(float(labels["sekft.deadline"]), time.time())]
    if here and "sekft.uptime" in labels:
        deadlines.append((float(labels["sekft.uptime"]), time.clock_gettime(time.CLOCK_BOOTTIME)))
    return all(deadline + UNSEEN_SECONDS < now for deadline, now in deadlines)


def reap() -> int:
    """Remove the containers and volumes of dead runs; returns how many were removed.

    One line on stderr names each that cannot be removed, and each whose labels are malformed; those are left alone.
    Raises SandboxError without Docker.
    """
    filters = {"label": LABEL}
    with docker_call("reap"):
        found = [(one["Id"], "container", one["Labels"]) for one in api().containers(all=True, filters=filters)]
        found += [(one["Name"], "volume", one["Labels"]) for one in api().volumes(filters=filters)["Volumes"] or []]
    removed = 0
    for name, kind, labels in found:
        try:
            if abandoned(labels):
                remove(name, kind)
                removed += 1
        except (KeyError, ValueError, OverflowError) as error:
            by_hand = f"remove it by hand: docker {kind} rm {name}"
            print(f"reap: {kind} {name}: missing or malformed label ({error}); {by_hand}", file=sys.stderr)
        except SandboxError as error:
            print(f"reap: {error}; the next reap tries again", file=sys.stderr)
    return removed


def remove_all() -> None:
    """Remove every sandbox of this process at once; a thread that still uses one gets SandboxError.

    A container that a thread is having created is waited for.
    Prints a line for what cannot be removed, and raises nothing: this runs while something else is being raised.
    """
    with _live_lock:
        names = sorted(_live)
    for kind in ("container", "volume"):
        for name in names:
            try:
                remove(name, kind)
            except SandboxError as error:
                print(f"{error}; `python dashdocker.py reap` will remove it", file=sys.stderr)


@atexit.register
def _remove_the_rest() -> None:
    """Remove what an interrupt left, and what threads still make. A fork of this process owns nothing."""
    global _closed
    if identity()["sekft.pid"].split()[0] == str(os.getpid()):
        with _live_lock:
            _closed = True
        remove_all()


def remove(name: str, kind: str) -> None:
    """Remove a container or volume and wait until it is gone. Does nothing where there is none.

    Docker knows nothing of a container that it is still creating, so the answer to that request is waited for.
    """
    import docker

    while name in _making:
        time.sleep(0.01)
    with docker_call(f"remove {kind} {name}"):
        for _ in range(200):
            try:
                if kind == "container":
                    api().remove_container(name, force=True, v=True)
                else:
                    api().remove_volume(name)
            except docker.errors.NotFound:
                return
            except docker.errors.APIError as error:
                if error.status_code != 409:  # 409: it is being removed already, or still mounted somewhere
                    raise
                time.sleep(0.05)
            else:
                return
    raise SandboxError(f"remove {kind} {name}: still there")


def await_end(name: str) -> None:
    """Wait until a container whose PID 1 was told to end is gone; remove it by force if it stays."""
    if not _is_removed(name):
        remove(name, "container")
    with _live_lock:
        _live.discard(name)


def _is_removed(name: str) -> bool:
    """Wait for a container's removal: True once it is removed, False where Docker fails or after END_SECONDS.

    Docker is asked again every ASK_SECONDS: version 20.10 never answers a request that comes in at the very moment when
    the removal ends.
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
            if time.monotonic() - asked < ASK_SECONDS / 2:  # not this request's time-out: Docker has failed
                return False
    return False


def create(name: str, command: list[str], options: SandboxOptions, *, mounts: list[Any], for_checker: bool) -> None:
    """Create a container with every limit. One for the checker may read files of every mode and has fewer tmpfs."""
    import docker

    tmpfs = {"/tmp": f"rw,nosuid,nodev,exec,size={TMP_BYTES},nr_inodes={TMP_INODES},mode=1777"}
    if not for_checker:
        owner = f"mode=700,uid={OPERATOR_UID},gid={OPERATOR_UID}"
        tmpfs["/usr/local/bin"] = f"rw,nosuid,nodev,exec,size={TOOLS_BYTES},nr_inodes={TOOLS_INODES},mode=755"
        tmpfs["/run/op"] = f"rw,nosuid,nodev,noexec,size={WRAPPER_BYTES},nr_inodes={WRAPPER_INODES},mode=755"
        tmpfs["/run/operator"] = f"rw,nosuid,nodev,noexec,size={STATE_BYTES},nr_inodes={STATE_INODES},{owner}"
    memory_bytes, seccomp = (MEMORY_BYTES, SECCOMP) if for_checker else (options.memory_bytes, options.seccomp)
    ulimits = {"nofile": OPEN_FILES, "fsize": FILE_BYTES, "core": 0, "sigpending": QUEUED_SIGNALS, "msgqueue": 0}
    host = api().create_host_config(
        network_mode="none",
        ipc_mode="none",
        cap_drop=["ALL"],
        cap_add=["DAC_OVERRIDE"] if for_checker else [],
        security_opt=["no-new-privileges", f"seccomp={seccomp}"],
        read_only=True,
        tmpfs=tmpfs,
        mounts=mounts,
        mem_limit=memory_bytes,
        memswap_limit=memory_bytes,
        nano_cpus=CPUS * 10**9,
        pids_limit=PROCESSES,
        ulimits=[docker.types.Ulimit(name=key, soft=value, hard=value) for key, value in ulimits.items()],
        log_config=docker.types.LogConfig(type="none"),
        auto_remove=True,
        runtime=options.runtime,
    )
    with _being_made(name):
        api().create_container(
            options.image, command, name=name, hostname="sandbox", user="0:0", working_dir="/",
            labels=_labels(options.lifetime_seconds), network_disabled=True, host_config=host, stdin_open=True,
        )  # fmt: skip


@contextmanager
def _being_made(name: str) -> Iterator[None]:
    """Hold signals back while Docker creates a container, and have `remove` wait; it takes DOCKER_SECONDS at most."""
    with interrupts.deferred():
        with _live_lock:
            if _closed:
                raise SandboxError(f"create {name}: this process is ending")
            _making.add(name)
        try:
            yield
        finally:
            with _live_lock:
                _making.discard(name)


def start(name: str) -> Stream:
    """Start a container; returns the connection to PID 1, whose input ends when it is closed or this process dies."""
    stream = Stream(api().attach_socket(name, params={"stdin": 1, "stdout": 1, "stream": 1}), keep_open=True)
    with contextlib.ExitStack() as failed:
        failed.callback(stream.close)
        api().start(name)
        failed.pop_all()
    return stream


def _labels(lifetime_seconds: float) -> dict[str, str]:
    """The owner's labels and the deadline, which is a minute after PID 1 ends, in seconds since the epoch and boot."""
    clocks = {"sekft.deadline": time.time(), "sekft.uptime": time.clock_gettime(time.CLOCK_BOOTTIME)}
    return {**identity(), **{name: f"{now + lifetime_seconds + 60:.0f}" for name, now in clocks.items()}}


def volume_mount(name: str, target: str, *, read_only: bool, lifetime_seconds: float) -> Any:
    """A mount of the tmpfs volume that holds HOME; the first container to mount it creates the volume."""
    import docker

    owner = f"uid={OPERATOR_UID},gid={OPERATOR_UID},mode=0755"
    options = f"size={HOME_BYTES},nr_inodes={HOME_INODES},{owner},nosuid,nodev"
    driver = docker.types.DriverConfig("local", {"type": "tmpfs", "device": "tmpfs", "o": options})
    labels = _labels(lifetime_seconds)
    return docker.types.Mount(
        target, name, type="volume", read_only=read_only, no_copy=True, labels=labels, driver_config=driver
    )


@contextmanager
def owned(*kinds: str) -> Iterator[list[str]]:
    """Fresh names, one per kind given; what was created under them is removed afterwards, volumes last."""
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
        if failed:  # tried again at the process's end: Docker may still have been creating what an interrupt cut short
            print(f"{failed}; it is removed at the end of this process, or by the next reap", file=sys.stderr)
        else:
            with _live_lock:
                _live.difference_update(named)


class Process(Stream):
    """A process in a container beside its PID 1 (`docker exec`)."""

    def __init__(
        self,
        container: str,
        command: list[str],
        *,
        user: str,
        workdir: str,
        stdin: bytes = b"",
        keep_open: bool = False,
    ) -> None:
        self.id = api().exec_create(container, command, stdin=True, user=user, workdir=workdir)["Id"]
        super().__init__(api().exec_start(self.id, socket=True), stdin=stdin, keep_open=keep_open)

    def ended(self) -> bool:
        """True when Docker says that the process has ended."""
        return not api().exec_inspect(self.id)["Running"]

    def exit_code(self) -> int | None:
        """The exit code, waited for up to five seconds; None where the process still runs then."""
        wait, deadline = 0.002, time.monotonic() + 5
        while time.monotonic() < deadline:
            state = api().exec_inspect(self.id)
            if not state["Running"] and state["ExitCode"] is not None:
                return int(state["ExitCode"])
            time.sleep(wait)
            wait = min(2 * wait, 0.05)
        return None
