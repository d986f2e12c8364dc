"""Tasks run at once; results come in order or as completed; failures and interrupts reach the caller."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import as_completed

import pytest

from pipeline import workers
from pipeline.workers import WorkerPool


def pool_of(
    count: int, cancelled: threading.Event | None = None, release: Callable[[], None] | None = None
) -> WorkerPool:
    return WorkerPool(count, cancelled=cancelled or threading.Event(), release=release or (lambda: None))


class Held:
    """A task that is under way until it is let go."""

    def __init__(self) -> None:
        self.begun, self.let_go = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        return "held" if self.let_go.wait(30) else "forgotten"


def test_results_in_order_of_the_futures() -> None:
    def slow_first(number: int) -> int:
        time.sleep(0.1 if number == 0 else 0)
        return number * number

    with pool_of(3) as pool:
        futures = [pool.submit(slow_first, number) for number in range(6)]
        assert [future.result() for future in futures] == [0, 1, 4, 9, 16, 25]


def test_results_come_as_completed() -> None:
    held = Held()
    with pool_of(2) as pool:
        slow, quick = pool.submit(held), pool.submit(lambda: "quick")
        ended = as_completed([slow, quick], timeout=10)
        assert next(ended) is quick
        held.let_go.set()
        assert next(ended).result() == "held"


def test_all_workers_run_at_once() -> None:
    barrier = threading.Barrier(3, timeout=10)
    with pool_of(3) as pool:
        assert sorted(future.result() for future in [pool.submit(barrier.wait) for _ in range(3)]) == [0, 1, 2]


def test_failure_reaches_the_caller() -> None:
    def fail() -> None:
        raise LookupError("no such thing")

    with pool_of(1) as pool:
        failed, after = pool.submit(fail), pool.submit(lambda: "after")
        with pytest.raises(LookupError, match="no such thing"):
            failed.result()
        assert after.result() == "after"


def test_system_exit_reaches_the_caller() -> None:
    def leave() -> None:
        raise SystemExit(3)

    with pool_of(1) as pool, pytest.raises(SystemExit):
        pool.submit(leave).result()


def test_waiting_tasks_are_cancelled() -> None:
    cancelled, held = threading.Event(), Held()
    with pool_of(1, cancelled) as pool:
        under_way, waiting = pool.submit(held), [pool.submit(lambda: "begun") for _ in range(3)]
        held.begun.wait(10)
        cancelled.set()
        held.let_go.set()
        assert len(list(as_completed([under_way, *waiting], timeout=10))) == 4
    assert under_way.result() == "held"
    assert all(future.cancelled() for future in waiting)


def interrupt(pool: WorkerPool, *tasks: Held) -> None:
    """Leave the pool by Ctrl-C while the tasks are under way."""
    with pool:
        for task in tasks:
            pool.submit(task)
            task.begun.wait(10)
        raise KeyboardInterrupt


def test_interrupt_releases_what_tasks_hold() -> None:
    cancelled, held, released = threading.Event(), Held(), list[bool]()

    def release() -> None:
        released.append(cancelled.is_set())
        held.let_go.set()  # ends what the task waits for, as the removal of its container does

    with pytest.raises(KeyboardInterrupt):
        interrupt(pool_of(2, cancelled, release), held)
    assert released == [True, True]  # once at once, and once when the task had had time to end


def test_normal_end_releases_nothing() -> None:
    released: list[int] = []
    with pool_of(2, release=lambda: released.append(1)) as pool:
        pool.submit(lambda: None).result()
    assert released == []


def test_threads_have_ended_when_the_block_is_left() -> None:
    """A thread's Docker client is freed as it ends: after the block, that would meet the interpreter's own exit."""
    local, freed = threading.local(), list[int]()

    class Client:
        def __del__(self) -> None:
            time.sleep(0.3)
            freed.append(1)

    with pool_of(2) as pool:
        barrier = threading.Barrier(2, timeout=10)

        def task() -> None:
            local.client = Client()
            barrier.wait()

        for future in [pool.submit(task) for _ in range(2)]:
            future.result()
        assert not freed
    assert freed == [1, 1]


def test_endless_tasks_do_not_block_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "STOP_SECONDS", 0.5)
    tasks, began = [Held() for _ in range(8)], time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupt(pool_of(8), *tasks)
    assert time.monotonic() - began < 3.5  # one wait for all of them, not one for each
    for task in tasks:
        task.let_go.set()
