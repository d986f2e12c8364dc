"""End a script by SIGINT, SIGTERM or SIGHUP with everything cleaned up and the shell's exit code.

    with interrupts.raised():       # the first of the three raises Ended in the main thread
        ...                         # `finally` blocks clean up; further signals wait for them

A signal that was ignored when the process began (`nohup`, a script's `&`) stays ignored.
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
_active = False


class Ended(KeyboardInterrupt):
    """A signal ended the script; `code` is 128 and its number, as in a shell."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


@contextmanager
def raised() -> Iterator[None]:
    """Raise Ended for the first signal. Until CLEAN_UP_SECONDS later further ones only print a line.

    Does nothing in other threads than the main one, and inside another such block.
    """
    global _active
    ended_at: float | None = None

    def on_signal(number: int, _: FrameType | None) -> None:
        nonlocal ended_at
        now = time.monotonic()
        if ended_at is not None and now < ended_at + CLEAN_UP_SECONDS:
            os.write(2, b"still cleaning up; the process ends by itself\n")  # print() may be under way
            return
        ended_at = now
        raise Ended(number)

    if _active or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heeded = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    _active = True
    try:
        for number in heeded:
            signal.signal(number, on_signal)
        yield
    finally:
        _active = False
        for number, handler in heeded.items():
            signal.signal(number, handler if ended_at is None else signal.SIG_IGN)


def nested() -> bool:
    """True inside a `raised` block."""
    return _active


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
