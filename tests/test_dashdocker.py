"""dashdocker.py reaps sandboxes, and names what is missing in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT

docker_needed = pytest.mark.docker


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "dashdocker.py", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip


@docker_needed
def test_reap_runs_twice() -> None:
    for _ in range(2):
        done = command("reap")
        assert done.returncode == 0, done.stderr
        assert '"action": "reap"' in done.stdout


def test_no_docker_is_one_line_and_exit_2() -> None:
    done = command("reap", DOCKER_HOST="unix:///nonexistent/docker.sock")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no Docker engine answers" in done.stderr


def test_no_permission_on_the_socket_is_named(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    tmp_path.chmod(0o700)
    script = (
        "import os, docker, requests, schema, dashdocker\n"
        "os.setuid(65534)\n"
        "try:\n    dashdocker.require_image()\nexcept schema.BadInputError as error:\n    print(error)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DOCKER_HOST": f"unix://{tmp_path}/docker.sock"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert "no permission on the Docker socket" in done.stdout, done.stderr


def test_help_loads_no_docker() -> None:
    assert command("--help").returncode == 0
    code = "import sys, dashdocker; print([m for m in ('docker', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"
