"""Talk to a process in a container, over a connection that Docker has handed over.

    from sandbox.streams import Stream

The Docker SDK's own reader blocks; this one writes and reads at the same time, up to a deadline. A connection may be a
TLS one, whose socket has bytes of its own that are decrypted and not read yet.
"""

import contextlib
import select
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

# Output costs Docker and this process CPU time outside the container's limit, so endless output is read slowly: then
# its writer waits. More than the largest file is beyond FREE_BYTES.
FREE_BYTES = 64 << 20  # of one command's output, read as fast as it comes
FLOOD_BYTES_PER_SECOND = 8 << 20  # what comes after them
NOT_READY = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

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
        self.all_read = False  # the end of the output has been read
        # Output that arrived together with the head of Docker's HTTP answer lies in the reader of that head.
        self.buffer = bytearray()
        with contextlib.suppress(*NOT_READY):
            self.buffer += stream._response.raw._fp.fp.read1() or b""

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
        if self.all_read:  # a TLS connection says so once, and poll sees nothing after it
            return False
        taken = 0
        while (left := deadline - time.monotonic()) > 0:
            if not self.written and not self.pending:
                if not self.keep_open:
                    self._end_input()
                self.written = True
            ready = self._wait(left)
            if ready & select.POLLOUT and not self.written:
                try:
                    self.pending = self.pending[self.socket.send(self.pending[:65536]) :]
                except BrokenPipeError:  # the process ended without reading all of it
                    self.pending, self.written = memoryview(b""), True
                except NOT_READY:
                    pass
            if ready & ~select.POLLOUT:
                try:
                    chunk = self.socket.recv(1 << 18)
                except NOT_READY:
                    continue
                except ssl.SSLZeroReturnError:  # both sides have said that they send no more
                    chunk = b""
                if not chunk:
                    self.all_read = True
                    return False
                self.buffer += chunk
                if self._frames(feed):
                    return True
                if (taken := taken + len(chunk)) > FREE_BYTES:
                    time.sleep(min(len(chunk) / FLOOD_BYTES_PER_SECOND, max(0.0, deadline - time.monotonic())))
        return None

    def _wait(self, seconds: float) -> int:
        """Wait until the connection can be read, or written where input is left; returns poll's events, 0 for none."""
        wanted = select.POLLIN | (0 if self.written else select.POLLOUT)
        if isinstance(self.socket, ssl.SSLSocket) and self.socket.pending():
            return wanted  # poll does not know of decrypted bytes
        poll = select.poll()  # select() takes no descriptor above 1,023
        poll.register(self.socket, wanted)
        return sum(events for _, events in poll.poll(1000 * seconds))

    def _end_input(self) -> None:
        """Say that no more input comes, and go on reading."""
        if isinstance(self.socket, ssl.SSLSocket):  # its shutdown() would end the reading too
            with contextlib.suppress(ssl.SSLError):  # the other side has not said the same yet
                self.socket.unwrap()
        else:
            self.socket.shutdown(socket.SHUT_WR)

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
