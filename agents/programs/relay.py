"""Forward connections to 127.0.0.1 in a sandbox over this process's standard input and output.

Each frame is a head (connection number, kind, length) and its bytes. Kinds: 0 opened, 1 data, 2 closed. The host's side
is agents/relay.py, which opens the one place that frames can go to. The port is the first argument.
"""

import asyncio
import struct
import sys

HEAD = struct.Struct(">IBI")
OPENED, DATA, CLOSED = 0, 1, 2
MOST_CLIENTS, MOST_UNREAD_BYTES = 64, 8 << 20
writers: dict[int, asyncio.StreamWriter] = {}
opened = 0


def send(number: int, kind: int, data: bytes = b"") -> None:
    """Write one frame to the host."""
    sys.stdout.buffer.write(HEAD.pack(number, kind, len(data)) + data)
    sys.stdout.buffer.flush()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forward what one client sends until it closes."""
    global opened
    if len(writers) >= MOST_CLIENTS:
        writer.close()
        return
    opened += 1
    number = opened
    writers[number] = writer
    send(number, OPENED)
    try:
        while data := await reader.read(65536):
            send(number, DATA, data)
    except OSError:
        pass
    send(number, CLOSED)
    writers.pop(number, None)
    writer.close()


async def main() -> None:
    """Listen, say so with a frame of connection 0, and hand the host's frames to their clients."""
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    host = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(host), sys.stdin)
    send(0, OPENED)
    try:
        while True:
            number, kind, length = HEAD.unpack(await host.readexactly(HEAD.size))
            data = await host.readexactly(length)
            writer = writers.get(number)
            if writer and kind == DATA:
                writer.write(data)
                if writer.transport.get_write_buffer_size() > MOST_UNREAD_BYTES:  # its client does not read
                    writer.transport.abort()
            elif writer and kind == CLOSED:
                writer.close()
    except asyncio.IncompleteReadError:  # the host has closed the connection
        server.close()


asyncio.run(main())
