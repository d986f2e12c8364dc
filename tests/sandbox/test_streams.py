"""A session works with many open files, over TLS, and takes endless output slowly."""

import os
import resource
import select
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from sandbox.oneshot import run
from sandbox.session import session
from sandbox.streams import FLOOD_BYTES_PER_SECOND, FREE_BYTES
from tests.helpers import ROOT

pytestmark = pytest.mark.docker
ENGINE = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")


@contextmanager
def open_files(count: int) -> Iterator[None]:
    """Hold so many files open, under a limit that allows for them."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[0] < count + 200:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + 200, max(before[1], count + 200)))
    with ExitStack() as held:
        held.callback(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        for _ in range(count):
            held.callback(os.close, os.open("/dev/null", os.O_RDONLY))
        yield


def test_session_works_with_1100_open_files() -> None:
    with open_files(1100):
        with session([]) as shell:
            assert shell.step("echo hi").output == "hi\n"
        assert run([], "cat", stdin=b"in").stdout == b"in"


def test_endless_output_is_taken_slowly() -> None:
    with session([]) as shell:
        began = time.process_time()
        step = shell.step("yes", timeout_seconds=12)
        spent = time.process_time() - began
        assert step.timed_out
        # FREE_BYTES count per reading, and what comes after the time limit is read anew: until PID 1 answers, and while
        # the step is being killed, which takes a busy machine a while. Unthrottled output would be over 1 GB.
        assert step.output_bytes < 3 * FREE_BYTES + 13 * FLOOD_BYTES_PER_SECOND
        assert shell.step("echo on").output == "on\n"
    assert spent < 8


def connect(where: str) -> socket.socket:
    """A connection to the engine's socket."""
    other = socket.socket(socket.AF_UNIX)
    other.connect(where.removeprefix("unix://"))
    return other


def forward(client: ssl.SSLSocket, engine: socket.socket) -> None:
    """Carry bytes both ways until the engine has no more; the end of the client's input is handed on.

    As dockerd's own listener does, this one says that no more comes, and leaves the connection open.
    """
    reading: list[socket.socket] = [client, engine]
    with suppress(OSError), client, engine:
        while True:
            ready = [client] if client in reading and client.pending() else select.select(reading, [], [])[0]
            if engine in ready:
                if not (data := engine.recv(1 << 16)):
                    client.unwrap()
                    return
                client.sendall(data)
            if client in ready:
                if data := client.recv(1 << 16):
                    engine.sendall(data)
                else:
                    reading.remove(client)
                    engine.shutdown(socket.SHUT_WR)


@contextmanager
def tls_engine(place: Path) -> Iterator[dict[str, str]]:
    """The Docker engine behind TLS on loopback; yields the environment that names it."""
    key, certificate = place / "key.pem", place / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    (place / "ca.pem").write_bytes(certificate.read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with suppress(OSError):  # the server was closed
                while True:
                    client = context.wrap_socket(server.accept()[0], server_side=True)
                    threading.Thread(target=forward, args=(client, connect(ENGINE)), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        port = server.getsockname()[1]
        yield {
            "DOCKER_HOST": f"tcp://127.0.0.1:{port}",
            "DOCKER_TLS_VERIFY": "1",
            "DOCKER_CERT_PATH": str(place),
            "REQUESTS_CA_BUNDLE": str(certificate),  # where it is set, requests reads it and not ca.pem
        }
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)


@pytest.mark.skipif(not ENGINE.startswith("unix://"), reason="the engine is not on this machine")
def test_session_works_over_tls(tmp_path: Path) -> None:
    code = """from dashdocker import run, session
big = b"x" * 5_000_000
with session([]) as shell:
    shell.write_file("big", big)
    assert [shell.step("echo hi").output for _ in range(20)] == 20 * ["hi\\n"]
    assert shell.step("cat big").output_bytes == len(big)
    assert shell.step("tee other <big | cmp - big").exit_code == 0
    assert shell.step("sleep 9", timeout_seconds=1).timed_out
    assert shell.verify("cmp big other").passed
assert run([], "wc -c", stdin=big).stdout.strip() == b"5000000"
"""
    with tls_engine(tmp_path) as environment:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True,
            timeout=120,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
