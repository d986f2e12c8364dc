"""End a script by SIGINT, SIGTERM or SIGHUP with everything cleaned up and the shell's exit code.

    with interrupts.raised():       # the first of the three raises Ended in the main thread
        with interrupts.deferred():
            ...                     # not here: a signal that comes now raises Ended at the end of this block
        ...                         # `finally` blocks clean up; further signals wait for them

A signal that was ignored when the process began (`nohup`, a script's `&`) stays ignored.

Python drops what is raised while it frees an object: silently where that object is a file or an HTTP response. So a
timer looks again: Ended is raised once more as long as nothing shows that it is on its way.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CLEAN_UP_SECONDS = 60.0  # for which further signals are not heeded
AGAIN_SECONDS = 0.2  # between two looks whether Ended was dropped
_active: "_Ending | None" = None


class Ended(KeyboardInterrupt):
    """A signal ended the script; `code` is 128 and its number, as in a shell."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


class _Ending:
    """What a `raised` block knows of signals: the last one that was heeded, and when it came."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.came_at = 0.0
        self.deferred = 0  # how many `deferred` blocks are open

    def on_signal(self, number: int, _: FrameType | None) -> None:
        """Raise Ended, unless a signal is being heeded already."""
        now = time.monotonic()
        if self.number is not None and now < self.came_at + CLEAN_UP_SECONDS:
            os.write(2, b"still cleaning up; the process ends by itself\n")  # print() may be under way
            return
        self.number, self.came_at = number, now
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS, AGAIN_SECONDS)
        if not self.deferred:
            raise Ended(number)

    def look_again(self, *_: object) -> None:
        """Raise Ended where a signal came and nothing is on its way because of it."""
        if self.number is not None and not self.deferred and not _on_its_way():
            raise Ended(self.number)


def _on_its_way() -> bool:
    """True in a `finally` or `except` block that runs because of Ended, or of what followed from it."""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, Ended):
        error = error.__context__
    return error is not None


@contextmanager
def raised() -> Iterator[None]:
    """Raise Ended for the first signal. Until CLEAN_UP_SECONDS later further ones only print a line.

    Does nothing in other threads than the main one, and inside another such block.
    """
    global _active
    if _active or threading.current_thread() is not threading.main_thread():
        yield
        return
    ending = _Ending()
    before = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)}
    handlers = dict.fromkeys(SIGNALS, ending.on_signal) | {signal.SIGALRM: ending.look_again}
    heeded = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    _active = ending
    try:
        for number in heeded:
            signal.signal(number, handlers[number])
        yield
    finally:
        ending.deferred += 1  # until the handlers before are back
        for number, handler in heeded.items():
            signal.signal(number, handler if ending.number is None else signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _active = None
    ending.deferred -= 1
    ending.look_again()


@contextmanager
def deferred() -> Iterator[None]:
    """Inside a `raised` block: raise nothing before the end of this block. Does nothing in other threads."""
    ending = _active
    if ending is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    ending.deferred += 1
    try:
        yield
    finally:
        ending.deferred -= 1
        ending.look_again()


def nested() -> bool:
    """True inside a `raised` block."""
    return _active is not None


def quiet_while_importing() -> None:
    """Let SIGINT end one of this project's programs in one line until `raised` takes over; do nothing in any other."""
    main = getattr(sys.modules["__main__"], "__file__", None)
    root = Path(__file__).parents[1]
    if main is None or root not in Path(main).resolve().parents[:2]:
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit_at_once)


def _exit_at_once(number: int, _: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(128 + number)
