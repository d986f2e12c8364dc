"""Talk to a process in a container, over a connection that Docker has handed over.

    from sandbox.streams import Stream

The Docker SDK's own reader blocks; this one writes and reads at the same time, up to a deadline.
"""

import contextlib
import select
import socket
import time
from collections.abc import Callable
from typing import Any

Feed = Callable[[int, bytes], bool]  # is given stream number and bytes; True: that was all


class Stream:
    """The connection to one process: its input is written, its output comes in frames.

    The input ends after `stdin`, unless `keep_open` leaves it open for `send`.
    """

    def __init__(self, stream: Any, *, stdin: bytes = b"", keep_open: bool = False) -> None:
        self.stream = stream
        self.socket: socket.socket = getattr(stream, "_sock", stream)
        self.socket.setblocking(False)
        self.pending, self.keep_open, self.written = memoryview(stdin), keep_open, keep_open and not stdin
        # Output that arrived together with the head of Docker's HTTP answer lies in the reader of that head.
        self.buffer = bytearray(stream._response.raw._fp.fp.read1() or b"")

    def send(self, data: bytes) -> None:
        """Add to the input, where it is kept open; `pump` writes it."""
        self.pending, self.written = memoryview(bytes(self.pending) + data), False

    def flush(self, seconds: float) -> None:
        """Write all that was added, without reading."""
        self.socket.settimeout(seconds)
        try:
            self.socket.sendall(self.pending)
        finally:
            self.socket.setblocking(False)
        self.pending, self.written = memoryview(b""), True

    def pump(self, feed: Feed, deadline: float) -> bool | None:
        """Write what is left of the input and hand each piece of output (stream 1 or 2) to `feed`.

        Returns True once `feed` returned True, False at the end of output, None at the deadline (monotonic clock).
        """
        if self._frames(feed):
            return True
        while (left := deadline - time.monotonic()) > 0:
            if not self.written and not self.pending:
                if not self.keep_open:
                    self.socket.shutdown(socket.SHUT_WR)
                self.written = True
            readable, writable, _ = select.select([self.socket], [] if self.written else [self.socket], [], left)
            if writable:
                try:
                    self.pending = self.pending[self.socket.send(self.pending[:65536]) :]
                except BrokenPipeError:  # the process ended without reading all of it
                    self.pending, self.written = memoryview(b""), True
            if readable:
                chunk = self.socket.recv(1 << 18)
                if not chunk:
                    return False
                self.buffer += chunk
                if self._frames(feed):
                    return True
        return None

    def _frames(self, feed: Feed) -> bool:
        """Hand over the complete frames in the buffer: stream number, three zeros, length, bytes."""
        start, done = 0, False
        while len(self.buffer) - start >= 8:
            size = int.from_bytes(self.buffer[start + 4 : start + 8], "big")
            if len(self.buffer) - start - 8 < size:
                break
            done = feed(self.buffer[start], bytes(self.buffer[start + 8 : start + 8 + size])) or done
            start += 8 + size
        del self.buffer[:start]
        return done

    def close(self) -> None:
        """Close the connection: the input of the process ends; a process beside PID 1 goes on running."""
        with contextlib.suppress(OSError):  # the other side closed it first
            self.socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(ValueError):  # the response object complains that its socket is closed
            self.stream.close()
            self.stream._response.close()
