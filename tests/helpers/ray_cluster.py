"""Start a Ray cluster of two nodes on this machine, each with a Docker engine of its own."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker

from tests.helpers import ROOT

FIRST_ENGINE = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")


@dataclass
class TwoNodes:
    """The cluster: its head has no CPU and plays nothing; `second` is the engine of the second node alone."""

    cluster: Any
    second: str
    nodes: list[Any] = field(default_factory=list)

    @property
    def address(self) -> str:
        """What --ray is given."""
        return str(self.cluster.address)

    def add(self, engine: str) -> Any:
        """Start a node whose processes use `engine`."""
        name = "first" if not self.nodes else "second"
        node = self.cluster.add_node(
            num_cpus=4, resources={name: 1}, env_vars={"DOCKER_HOST": engine}, include_dashboard=False,
            object_store_memory=100 << 20,
        )  # fmt: skip
        self.nodes.append(node)
        return node

    def add_devices(self, count: int) -> Any:
        """Start a node with devices that ray takes for GPUs."""
        return self.cluster.add_node(num_cpus=1, num_gpus=count, include_dashboard=False, object_store_memory=100 << 20)

    def kill(self, node: Any) -> None:
        """Kill a node's processes, without any clean-up."""
        self.nodes.remove(node)
        self.cluster.remove_node(node, allow_graceful=False)


class LoggedHold:
    """A hold for tests: its making adds a line to a file."""

    def __init__(self, log: Path) -> None:
        self.cancelled, self.loads = threading.Event(), 0
        device, threads = (os.environ.get(name, "") for name in ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"))
        with log.open("a") as stream:
            stream.write(json.dumps([os.getpid(), device, threads]) + "\n")

    def work(self, number: int) -> tuple[int, int, int]:
        """The process, the number, and how often `load` was called."""
        return os.getpid(), number, self.loads

    def load(self) -> None:
        """Count a call."""
        self.loads += 1

    def release(self) -> None: ...

    def close(self) -> None: ...


def client_of(engine: str) -> Any:
    """A Docker client of an engine."""
    return docker.DockerClient(base_url=engine, timeout=60)


@contextlib.contextmanager
def head(cpus: int) -> Iterator[Any]:
    """A cluster of its head alone, which plays nothing where it has no CPU."""
    from ray.cluster_utils import Cluster

    # A directory for ray's files, since it leaves them behind; its sockets need a short path.
    with tempfile.TemporaryDirectory(prefix="sekft-", dir="/tmp") as temporary:
        args = {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": 100 << 20, "temp_dir": temporary}
        Path("/tmp/ray").mkdir(exist_ok=True)  # the head's address is written there, and the directory is not made
        cluster = Cluster(initialize_head=True, head_node_args=args)
        try:
            yield cluster
        finally:
            cluster.shutdown()  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def two_nodes(image: str) -> Iterator[TwoNodes]:
    """A cluster of two nodes with an engine each; the image is copied to the second engine."""
    with contextlib.ExitStack() as stack:
        second = stack.enter_context(own_engine())
        client_of(second).images.load(b"".join(client_of(FIRST_ENGINE).images.get(image).save(named=True)))
        made = TwoNodes(stack.enter_context(head(0)), second)
        made.add(FIRST_ENGINE)
        made.add(second)
        made.cluster.wait_for_nodes()
        yield made


@contextlib.contextmanager
def own_engine() -> Iterator[str]:
    """A dockerd with all its files in a directory of its own; yields its address."""
    with tempfile.TemporaryDirectory(prefix="sekft-", dir="/tmp") as name:
        place = Path(name)
        names = {"SOCKET": "s", "PID_FILE": "pid", "DATA_ROOT": "data", "EXEC_ROOT": "exec", "LOG": "log"}
        environment = {key: value for key, value in os.environ.items() if key != "DOCKER_HOST"}
        environment |= {key: str(place / value) for key, value in names.items()}
        command = [str(ROOT / "runs" / "engine.sh"), "--bridge=none", "--iptables=false"]
        try:
            subprocess.run(command, env=environment, check=True, timeout=120, capture_output=True)
            yield f"unix://{place / 's'}"
        finally:
            with contextlib.suppress(OSError, ValueError):
                pid = int((place / "pid").read_text())
                os.kill(pid, signal.SIGTERM)
                deadline = time.monotonic() + 30
                while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
                    time.sleep(0.1)
