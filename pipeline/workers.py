"""Run tasks on several workers at once: results in order or as they complete, interrupts, failures.

    with WorkerPool(4, cancelled=cancelled, release=remove_all) as pool:
        futures = [pool.submit(play, scenario) for scenario in scenarios]
        for future in as_completed(futures):        # or: for future in futures, which is in order
            ...

What a worker raises is raised by its future's `result()`. A pool on several machines has to offer the same three:
`with`, `submit`, and futures of `concurrent.futures`.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
STOP_SECONDS = 3.0  # that the threads get to end, with the tasks under way if those were cancelled


class WorkerPool:
    """Threads that run tasks.

    The threads are daemons, because an interrupt must not wait for an endpoint's answer.

    Args:
        workers: tasks under way at once.
        cancelled: set by anybody to stop early. Tasks that have not begun are then cancelled; tasks under way are
            expected to look at it and to end soon.
        release: called when the `with` block is left while tasks are under way, after `cancelled` is set and again
            STOP_SECONDS later. It frees what they hold (containers), and so ends what they wait for.
    """

    def __init__(self, workers: int, *, cancelled: threading.Event, release: Callable[[], None]) -> None:
        self.cancelled, self.release = cancelled, release
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._futures: list[Future[Any]] = []
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(workers)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def submit(self, work: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> Future[T]:
        """Have a worker call `work`. The tasks begin in the order in which they are submitted."""
        future: Future[T] = Future()
        self._futures = [one for one in self._futures if not one.done()] + [future]
        self._tasks.put((future, lambda: work(*arguments, **keywords)))
        return future

    def __exit__(self, *_: object) -> None:
        for _thread in self._threads:
            self._tasks.put(None)
        if all(future.done() for future in self._futures):
            self._join()
            return
        self.cancelled.set()
        self.release()
        self._join()
        self.release()  # what a task was acquiring the first time

    def _join(self) -> None:
        """Wait until the threads have ended, for at most STOP_SECONDS.

        A thread that ends frees its Docker client, whose `weakref.finalize` must not meet the interpreter's own exit.
        """
        deadline = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, work = task
            if self.cancelled.is_set():
                future.cancel()
            if future.set_running_or_notify_cancel():
                with Raised(future):
                    future.set_result(work())


class Raised:
    """A context that sets whatever is raised in it as the exception of `future`, so that a worker survives its task."""

    def __init__(self, future: Future[Any]) -> None:
        self.future = future

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if error is not None:
            self.future.set_exception(error)
        return True
