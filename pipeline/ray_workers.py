"""Run the tasks of a worker pool on the nodes of a Ray cluster.

    with Nodes("local", workers=8, begin=GateNodePlan(...), cancelled=cancelled) as nodes:
        with WorkerPool(8, cancelled=cancelled, release=nodes.release) as pool:
            future = pool.submit(nodes.call, GateNode.gate, scenario)

The pool's threads stay in this process, so order, interrupts and failures are those of `WorkerPool`; each thread waits
for one task on a node. A node holds one actor (one per GPU where it `needs_device`), which calls `begin` once: that is
where a model is loaded. A task whose node is lost is begun again on another one, so its result comes exactly once.

Nodes need this project at the same path, the same Python and packages, and an engine with the image. Nodes that join
later are not used. ray is imported inside functions, since it is an optional requirement.
"""

import argparse
import contextlib
import importlib.util
import logging
import math
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar

from pipeline.workers import Raised
from schema import BadInputError, WorldError

P = ParamSpec("P")
T = TypeVar("T")
NODE_TRIES = 3  # nodes that may be lost under one task before the run ends
BEGIN_SECONDS = 600.0  # for a node to start its actor and to load its model
END_SECONDS = 30.0  # for all nodes to remove their sandboxes
REACH_SECONDS = 5.0  # for the port of a cluster to take a connection
LOOK_SECONDS = 0.2  # between two looks whether the run was cancelled
THREADS = "OMP_NUM_THREADS"
LOCAL_STORE_BYTES = 100 << 20  # --ray local: shared memory for results; a record is far smaller


class NodeHold(Protocol):
    """What an actor holds from its first task to its last; `begin` makes it."""

    cancelled: threading.Event

    def release(self) -> None:
        """Remove every sandbox of the actor at once."""

    def close(self) -> None:
        """Free everything; the tasks have ended."""


H = TypeVar("H", bound=NodeHold)


class NodeLostError(WorldError):
    """Too many nodes were lost under one task, or no node is left."""


def add_ray_flag(parser: argparse.ArgumentParser) -> None:
    """Give a parser the flag --ray."""
    told = (
        "run on the nodes of the Ray cluster at ADDRESS, or of one started here (`local`); docs/scale.md "
        "(default: threads of this process)"
    )
    parser.add_argument("--ray", default=None, metavar="ADDRESS", help=told)


def require_ray(address: str | None) -> None:
    """Raise BadInputError where --ray is given and ray is not installed."""
    if address is not None and importlib.util.find_spec("ray") is None:
        raise BadInputError("--ray: the package ray is not installed; run `pip install -r requirements-ray.txt`")


@dataclass(eq=False)
class _Node:
    """One actor on a node: its name for people, and how many more tasks it may be given."""

    name: str
    actor: Any
    free: int

    def ask(self, method: str, *arguments: Any) -> Any:
        """Have the actor do something; `_answer` waits for what it returns."""
        return getattr(self.actor, method).remote(*arguments)

    def end(self) -> None:
        """End the actor's process."""
        import ray

        ray.kill(self.actor)


class _ThisProcess(_Node):
    """The node of this process, whose tasks run here, in the thread that asks."""

    def ask(self, method: str, *arguments: Any) -> Any:
        """Do it; `_answer` has nothing to wait for."""
        return getattr(self.actor, method)(*arguments)

    def end(self) -> None:
        """End nothing: the process goes on."""


class Nodes(Generic[H]):
    """Actors on the nodes of a cluster, while the `with` block lasts.

    Args:
        address: of the cluster, or `local`.
        workers: tasks under way at once on all nodes together.
        begin: called once by each actor, in its process. A BadInputError that it raises ends the run and names the
            node.
        cancelled: once it is set, the holds' own events are set.
        needs_device: start one actor per GPU of a node (one where there is none), instead of one per node.
        own: makes what this process holds for the tasks of its own node, which then gets no actor.
    """

    def __init__(
        self, address: str, *, workers: int, begin: Callable[[], H], cancelled: threading.Event,
        needs_device: bool = False, own: Callable[[], H] | None = None,
    ) -> None:  # fmt: skip
        self.address, self.workers, self.begin = address, workers, begin
        self.cancelled, self.needs_device, self.own = cancelled, needs_device, own
        self._nodes: list[_Node] = []
        self._change, self._closing = threading.Condition(), threading.Event()
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            # Ray prints what it has to say of lost nodes on stdout, where the one JSON line goes.
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            stack.enter_context(connected(self.address))
            stack.callback(self._end)
            self._start()
            self._open = stack.pop_all()
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def call(self, work: Callable[Concatenate[H, P], T], *arguments: P.args, **keywords: P.kwargs) -> T:
        """What `work(hold, ...)` returns or raises on some node. All of it is pickled. Raises NodeLostError."""
        for _ in range(NODE_TRIES):
            node = self._acquire()
            try:
                value, error = _answer(node.ask("call", work, arguments, keywords))
            except _lost():
                self._drop(node)
                continue
            self._give_back(node)
            if error is not None:
                raise error
            result: T = value
            return result
        raise NodeLostError(f"--ray: {NODE_TRIES} nodes were lost under one task")

    def everywhere(self, work: Callable[Concatenate[H, P], Any], *arguments: P.args, **keywords: P.kwargs) -> None:
        """Call `work(hold, ...)` on every actor, for example to load other weights, while no task is under way.

        Raises what an actor raised; a node that is lost is used no more. Raises NodeLostError where none is left.
        """
        with self._change:
            replies = [(node, node.ask("call", work, arguments, keywords)) for node in self._nodes]
        for node, reply in replies:
            try:
                _, error = _answer(reply)
            except _lost():
                self._drop(node)
                continue
            if error is not None:
                raise error
        if not self._nodes:
            raise NodeLostError("--ray: no node of the cluster is left")

    def release(self) -> None:
        """Remove the sandboxes of every actor at once."""
        self._each("release")

    def _start(self) -> None:
        """Start the actors and wait until each has begun. Raises BadInputError naming the node."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = _places()
        if not nodes:
            raise BadInputError(f"--ray {self.address}: no living node has a CPU; start one with `ray start`")
        on_devices = self.needs_device and any(gpus for *_, gpus in nodes)
        nodes = [(name, id_, gpus if on_devices else 1) for name, id_, gpus in nodes if gpus or not on_devices]
        here = ray.get_runtime_context().get_node_id() if self.own is not None else None
        own = [name for name, id_, _ in nodes if id_ == here]
        places = [(name, id_) for name, id_, actors in nodes if id_ != here for _ in range(actors)]
        slots = math.ceil(self.workers / len(own + places))
        kept = {name: value for name, value in os.environ.items() if name.startswith("SEKFT_") or name == THREADS}
        actor_of = ray.remote(_NodeActor)
        for name, id_ in places:
            # It asks for no CPU: a node with fewer CPUs than GPUs, or with another run on it, would make this wait.
            actor = actor_of.options(
                num_cpus=0, num_gpus=int(on_devices), max_concurrency=slots + 4,
                scheduling_strategy=NodeAffinitySchedulingStrategy(id_, soft=False),
            ).remote()  # fmt: skip
            self._nodes.append(_Node(name, actor, slots))
        begun = [(node, node.ask("begin", self.begin, str(Path.cwd()), kept)) for node in self._nodes]
        for node, reply in begun:
            try:
                error = ray.get(reply, timeout=BEGIN_SECONDS)
            except ray.exceptions.GetTimeoutError as late:
                raise WorldError(f"--ray: node {node.name} has not begun after {BEGIN_SECONDS:.0f} seconds") from late
            except ray.exceptions.RayActorError as died:
                raise WorldError(f"--ray: node {node.name} was lost before it began: {_first_line(died)}") from died
            except ray.exceptions.RayError as failed:
                raise WorldError(f"--ray: node {node.name} cannot begin: {_first_line(failed)}") from failed
            if isinstance(error, BadInputError):
                raise BadInputError(f"--ray: node {node.name}: {error}")
            if error is not None:
                raise error
        if self.own is not None and own:
            stand_in = _NodeActor()
            stand_in.hold = self.own()
            self._nodes.append(_ThisProcess(own[0], stand_in, slots))

    def _acquire(self) -> _Node:
        """The living node with the most room, once one has any."""
        with self._change:
            while True:
                if not self._nodes:
                    raise NodeLostError("--ray: no node of the cluster is left")
                node = max(self._nodes, key=lambda one: one.free)
                if node.free > 0:
                    node.free -= 1
                    return node
                self._change.wait()

    def _give_back(self, node: _Node) -> None:
        with self._change:
            node.free += 1
            self._change.notify()

    def _drop(self, node: _Node) -> None:
        """Use a node no more."""
        with self._change:
            if node in self._nodes:
                self._nodes.remove(node)
                left = len(self._nodes)
                if not self._closing.is_set() and not self.cancelled.is_set():
                    print(f"--ray: node {node.name} is lost; its tasks go to the other {left}", file=sys.stderr)
            self._change.notify_all()

    def _watch(self) -> None:
        """Tell the actors once the run is cancelled."""
        while not self._closing.wait(LOOK_SECONDS):
            if self.cancelled.is_set():
                self._each("cancel")
                return

    def _each(self, method: str) -> None:
        """Have every actor do something, and wait for it, but not for a lost one."""
        import ray

        with self._change:
            asked = [(node, node.ask(method)) for node in self._nodes]
        if replies := [reply for node, reply in asked if not isinstance(node, _ThisProcess)]:
            ray.wait(replies, num_returns=len(replies), timeout=END_SECONDS)

    def _end(self) -> None:
        """Have the actors free what they hold, also where some have not begun; then end them."""
        self._closing.set()
        self._each("close")
        for node in self._nodes:
            node.end()


class _NodeActor:
    """The actor: it lives on a node, in a process of its own. In `_ThisProcess` it is a plain object."""

    hold: Any = None

    def begin(self, begin: Callable[[], NodeHold], where: str, environment: dict[str, str]) -> BaseException | None:
        """Make the hold in the directory `where`; returns what that raised."""
        os.environ.pop(THREADS, None)  # ray sets it to 1; torch, which is imported later, would use one CPU of a node
        os.environ.update(environment)
        future: Future[Any] = Future()
        with Raised(future):
            if not Path(where).is_dir():
                raise BadInputError(f"{where}: is no directory there; put the same files at the same paths")
            os.chdir(where)
            self.hold = begin()
            future.set_result(None)
        return future.exception()

    def call(self, work: Callable[..., Any], arguments: Any, keywords: Any) -> tuple[Any, BaseException | None]:
        """The value of a task, or what it raised."""
        future: Future[Any] = Future()
        with Raised(future):
            future.set_result(work(self.hold, *arguments, **keywords))
        error = future.exception()
        return (None, error) if error is not None else (future.result(), None)

    def cancel(self) -> None:
        """Have the tasks under way end soon."""
        if self.hold is not None:
            self.hold.cancelled.set()

    def release(self) -> None:
        """Remove the sandboxes."""
        if self.hold is not None:
            self.hold.release()

    def close(self) -> None:
        """Free what is held."""
        if self.hold is not None:
            self.hold.close()


@contextlib.contextmanager
def connected(address: str) -> Iterator[None]:
    """Connect to a cluster, or start one on this machine that ends with the block. Raises BadInputError."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    require_reachable(address)
    import ray

    with contextlib.ExitStack() as stack:
        more: dict[str, Any] = {}
        if address == "local":
            # Ray's sockets are in this directory, and a socket's path has at most 107 characters.
            directory = tempfile.TemporaryDirectory(prefix="sekft-ray-", dir="/tmp", ignore_cleanup_errors=True)
            more = {
                "include_dashboard": False, "object_store_memory": LOCAL_STORE_BYTES,
                "_temp_dir": stack.enter_context(directory),
            }  # fmt: skip
        stack.callback(ray.shutdown)
        with _own_signals():
            try:
                # Not to the driver: an actor's stdout would stand beside the one JSON line.
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **more)
            except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
                told = f"--ray {address}: cannot connect ({_first_line(error)}); see `ray status`"
                raise BadInputError(told) from error
        yield


def require_reachable(address: str) -> None:
    """Raise BadInputError where nothing listens at host:port; ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon:
        return
    if not port.isdecimal():
        raise BadInputError(f"--ray {address}: {port!r} is no port; name host:port, `auto` or `local`")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_SECONDS).close()
    except (OSError, OverflowError) as error:  # the latter: no port has such a number
        told = f"--ray {address}: nothing answers there ({error}); name the host:port that `ray start --head` printed"
        raise BadInputError(told) from error


def _answer(reply: Any) -> Any:
    """What a call of an actor returned."""
    import ray

    return ray.get(reply) if isinstance(reply, ray.ObjectRef) else reply


def _lost() -> tuple[type[Exception], ...]:
    """What ray raises where a node or its actor was lost."""
    import ray

    return (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError, ray.exceptions.NodeDiedError)


def _places() -> list[tuple[str, str, int]]:
    """(name for people, id, GPUs) of each living node that has a CPU, by id, so that the order is always the same."""
    import ray

    found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return sorted(
        (
            f"{one['NodeName']} ({one['NodeID'][:8]})",
            str(one["NodeID"]),
            int(one["Resources"].get("GPU", 0)),
        )
        for one in found
        if one["Alive"] and one["Resources"].get("CPU", 0) >= 1
    )


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Keep this process's handler of SIGTERM, which ray replaces with one that skips the clean-up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
