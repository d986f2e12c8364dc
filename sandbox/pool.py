"""Start sandboxes ahead of time, so that a session need not wait for its container.

    from sandbox.pool import Pool

    with Pool(2, most=100) as pool, session([], pool=pool) as shell:
        shell.step("pwd")

A sandbox is handed out once and never used again. It waits with nothing written into it: fixtures and provider come
when `session()` takes it.
"""

import contextlib
import math
import queue
import threading
import time
from dataclasses import replace

from sandbox.containers import DEFAULTS, SandboxError, SandboxOptions
from sandbox.session import KILL_SECONDS, Session

POOL_SECONDS = 300.0  # that a started sandbox may wait for its session


class Pool:
    """Keeps `size` sandboxes started, until `most` sessions have been served.

    One thread starts them. A sandbox that has waited for more than POOL_SECONDS is not handed out; its lifetime is
    longer by as much, so that a session always has its full lifetime. Any thread may call `session(pool=...)`.
    """

    def __init__(self, size: int, *, most: float = math.inf, options: SandboxOptions = DEFAULTS) -> None:
        self.options, self.left = options, most
        self._ready: queue.Queue[tuple[float, Session]] = queue.Queue(size)
        self._closing = threading.Event()
        self._filler = threading.Thread(target=self._fill, name="sekft-pool", daemon=True)

    def __enter__(self) -> "Pool":
        self._filler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        deadline = time.monotonic() + KILL_SECONDS
        while (self._filler.is_alive() and time.monotonic() < deadline) or not self._ready.empty():
            with contextlib.suppress(queue.Empty):
                self._ready.get(timeout=0.1)[1].end()

    def _fill(self) -> None:
        """Start sandboxes until the pool is closed. Where Docker fails, the next `session()` raises the error."""
        options = replace(self.options, lifetime_seconds=self.options.lifetime_seconds + POOL_SECONDS)
        while self.left > 0 and not self._closing.is_set():
            try:
                fresh = Session(options)
            except SandboxError:
                self._closing.wait(1.0)
                continue
            self.left -= 1
            self._ready.put((time.monotonic(), fresh))

    def get(self) -> Session | None:
        """A started sandbox, or None where there is none just now or the pool is closed."""
        while not self._closing.is_set():
            try:
                started, fresh = self._ready.get_nowait()
            except queue.Empty:
                self.left -= 1  # the caller starts one itself
                return None
            if time.monotonic() - started < POOL_SECONDS:
                return fresh
            fresh.end()
        return None

    def full(self) -> bool:
        """True when as many sandboxes wait as may."""
        return self._ready.full()
