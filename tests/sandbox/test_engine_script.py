"""runs/engine.sh uses the Docker engine that answers, starts one where none does, and ignores stale files."""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import ROOT

docker_needed = pytest.mark.docker


@pytest.fixture
def own_docker() -> Iterator[dict[str, str]]:
    """A place for a dockerd that belongs to the test, with the files that a killed one leaves; ended afterwards."""
    if os.getuid() != 0:
        pytest.skip("only root can start dockerd")
    with tempfile.TemporaryDirectory(prefix="sekft-", dir="/tmp") as name:
        place = Path(name)
        names = {"SOCKET": "s", "PID_FILE": "pid", "DATA_ROOT": "data", "EXEC_ROOT": "exec", "LOG": "log"}
        environment = {key: str(place / value) for key, value in names.items()}
        (place / "pid").write_text("4194303\n")
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(environment["SOCKET"])
        yield environment
        with contextlib.suppress(OSError, ValueError):
            pid = int((place / "pid").read_text())
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + 20
            while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
                time.sleep(0.1)


@docker_needed
def test_engine_is_started_despite_stale_files_then_reused(own_docker: dict[str, str]) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "DOCKER_HOST"} | own_docker
    command = [str(ROOT / "runs" / "engine.sh"), "--bridge=none", "--iptables=false"]
    first = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert first.returncode == 0, first.stderr
    assert "removing the stale pid file" in first.stderr
    assert "removing the socket" in first.stderr
    second = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (second.returncode, second.stderr) == (0, f"== docker: Docker answers at unix://{own_docker['SOCKET']}\n")


def test_named_docker_host_is_never_replaced() -> None:
    environment = {**os.environ, "DOCKER_HOST": "unix:///nonexistent.sock"}
    done = subprocess.run([ROOT / "runs" / "engine.sh"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("engine.sh: no Docker engine answers at DOCKER_HOST=")
