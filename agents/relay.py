"""Forward what a program in a sandbox sends to its 127.0.0.1 to one address of the host, and nothing else.

    with Relay(container, address=("127.0.0.1", 8000)) as relay: ...

The sandbox has no network. Inside, agents/programs/relay.py listens as a user of its own; its bytes come over the
connection of a `docker exec`, so no directory of the host is mounted. This side opens `address` for each connection,
whatever the frames say: there is no field for another place.
"""

import contextlib
import select
import socket
import struct
import threading
import time
from pathlib import Path

from sandbox.containers import Process, SandboxError

SOURCE = (Path(__file__).parent / "programs" / "relay.py").read_text()
PYTHON = "/opt/agents/python/bin/python3"
USER = "65534:65534"  # nobody: the operator can neither signal it nor look into it, and it owns no file
PORT = 8642  # where the programs find the model
HEAD = struct.Struct(">IBI")
OPENED, DATA, CLOSED = 0, 1, 2
MOST_CONNECTIONS = 16
MOST_PENDING_BYTES = 1 << 20  # on their way into the sandbox; no more is read from the endpoint meanwhile
MOST_BYTES = 1 << 24  # of one frame; the relay inside sends 64 KiB at most
START_SECONDS = 30.0
Address = str | tuple[str, int]  # a Unix socket's path, or host and port


class Relay:
    """The host's side. One thread moves all bytes; `shut` keeps further requests from the model.

    Attributes:
        shut: once set, nothing more is forwarded to the host; answers still arrive.
        asked_again: the program has sent something since.
        error: why the relay has ended early.
        lost: it ended because the connection to Docker failed, which is not the program's doing.
    """

    def __init__(self, container: str, address: Address) -> None:
        self.container, self.address = container, address
        self.shut, self.asked_again, self._ready = threading.Event(), threading.Event(), threading.Event()
        self._ending = threading.Event()
        self.error: str | None = None
        self.lost = False
        self._buffer = bytearray()
        self._connections: dict[int, socket.socket] = {}
        command = ["/usr/bin/env", "-i", PYTHON, "-I", "-c", SOURCE, str(PORT)]
        self._process = Process(container, command, user=USER, workdir="/", keep_open=True)
        self._thread = threading.Thread(target=self._run, name="sekft-relay", daemon=True)

    def __enter__(self) -> "Relay":
        self._thread.start()
        if not self._ready.wait(START_SECONDS):
            self.__exit__()
            raise SandboxError(f"{self.container}: the relay does not start: {self.error or 'no answer'}")
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join(START_SECONDS)
        self._process.close()
        for connection in self._connections.values():
            connection.close()

    def _run(self) -> None:
        try:
            while not self._ending.is_set():
                self._answers()
                if self._process.pump(self._from_inside, time.monotonic() + 0.005) is False:
                    self.error = "the relay in the sandbox has ended"
                    return
        except (OSError, ValueError) as error:
            self.error, self.lost = f"{type(error).__name__}: {error}", True

    def _answers(self) -> None:
        """Wait for bytes on either side and send the endpoint's to the sandbox."""
        full = len(self._process.pending) > MOST_PENDING_BYTES
        poll = select.poll()  # select() knows no descriptor above 1023
        for one in [self._process.socket, *([] if full else self._connections.values())]:
            poll.register(one, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(50)}
        for number, connection in list(self._connections.items()):
            if connection.fileno() not in ready:
                continue
            with contextlib.suppress(OSError):
                if data := connection.recv(1 << 16):
                    self._send(number, DATA, data)
                    continue
            self._close(number)

    def _from_inside(self, stream: int, data: bytes) -> bool:
        """Take a piece of the relay's output; what it says on stderr is kept as the error."""
        if stream != 1:
            if not self._ready.is_set():  # what it says later are warnings; its end is seen by itself
                self.error = data.decode(errors="replace").strip()[-300:]
            return False
        self._buffer += data
        while len(self._buffer) >= HEAD.size:
            number, kind, length = HEAD.unpack_from(self._buffer)
            if length > MOST_BYTES:
                raise ValueError(f"a frame of {length} bytes")
            if len(self._buffer) < HEAD.size + length:
                break
            body = bytes(self._buffer[HEAD.size : HEAD.size + length])
            del self._buffer[: HEAD.size + length]
            self._frame(number, kind, body)
        return False

    def _frame(self, number: int, kind: int, body: bytes) -> None:
        if number == 0:
            self._ready.set()
        elif kind == CLOSED:
            self._close(number)
        elif self.shut.is_set():
            self.asked_again.set()
        elif kind == OPENED:
            self._open(number)
        elif connection := self._connections.get(number):
            try:
                connection.sendall(body)
            except OSError:
                self._close(number)

    def _open(self, number: int) -> None:
        try:
            if len(self._connections) >= MOST_CONNECTIONS:
                raise OSError("too many connections")
            family = socket.AF_UNIX if isinstance(self.address, str) else socket.AF_INET
            connection = socket.socket(family, socket.SOCK_STREAM)
            self._connections[number] = connection
            connection.settimeout(START_SECONDS)
            connection.connect(self.address)
        except OSError:
            self._close(number)

    def _close(self, number: int) -> None:
        if connection := self._connections.pop(number, None):
            connection.close()
        self._send(number, CLOSED)

    def _send(self, number: int, kind: int, body: bytes = b"") -> None:
        self._process.send(HEAD.pack(number, kind, len(body)) + body)
