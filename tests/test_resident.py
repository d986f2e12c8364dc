"""A resident base serves fit, evaluate, status and stop to its owner alone, without loading the base again."""

import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tiny

import templates
from schema import read_json, write_record
from taxonomy import Combination

ROOT = Path(__file__).parent.parent
QUICK = ["--lr", "5e-3", "--epochs", "1", "--limit", "3"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("resident")
    tiny.base(place / "base")
    for index in range(3):
        write_record(place / "data", tiny.trajectory(f"t{index}-s0"))
    for index in range(2):
        combination = Combination("make_links", "flags", "motd", "help", "easy")
        write_record(place / "held", templates.author(combination, seed=f"r{index}", id=f"link-{index}"))
    return place


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Path]:
    """The socket of a running server; it is stopped by its own command."""
    path = Path(tempfile.mkdtemp(prefix="sekft-")) / "s"  # a Unix socket's path holds about 100 bytes
    log = (place / "server.log").open("w")
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "resident.py"), "--base", str(place / "base"), "--socket", str(path), "serve"],
        stdout=log, stderr=subprocess.STDOUT, env=environment(),
    )  # fmt: skip
    try:
        for _ in range(600):
            if "listening" in (place / "server.log").read_text():
                break
            assert process.poll() is None, (place / "server.log").read_text()
            time.sleep(0.2)
        yield path
        assert ask(path, place, "stop").returncode == 0
        assert process.wait(30) == 0
        assert not path.exists()
    finally:
        process.kill()
        process.wait()
        log.close()
        path.parent.rmdir()


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


def ask(path: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "resident.py"), "--socket", str(path), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment(), check=False)


def status(path: Path, place: Path) -> dict[str, Any]:
    done = ask(path, place, "status")
    assert done.returncode == 0, done.stderr
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def test_the_socket_belongs_to_its_owner_alone(server: Path) -> None:
    assert stat.S_IMODE(server.stat().st_mode) == 0o600
    assert stat.S_ISSOCK(server.stat().st_mode)


def test_two_adapters_are_fitted_in_turn_and_equal_those_of_a_fresh_process(server: Path, place: Path) -> None:
    before = status(server, place)
    for name in ("first", "second"):
        done = ask(server, place, "fit", "--data", "data", "--out", name, *QUICK)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["out"].endswith(name)
    after = status(server, place)
    assert after["pid"] == before["pid"]
    assert after["jobs_done"] == before["jobs_done"] + 2
    assert after["resident_bytes"] > 0
    alone = subprocess.run(
        [sys.executable, str(ROOT / "sft.py"), "--base", "base", "--data", "data", "--out", "alone", *QUICK],
        cwd=place, capture_output=True, text=True, env=environment(), check=False,
    )  # fmt: skip
    assert alone.returncode == 0, alone.stderr
    weights = [(place / name / "adapter_model.safetensors").read_bytes() for name in ("first", "second", "alone")]
    assert weights[0] == weights[1] == weights[2]


def test_a_mistake_in_a_job_comes_back_as_exit_2_and_the_server_lives(server: Path, place: Path) -> None:
    for arguments, words in (
        (["fit", "--data", "nowhere", "--out", "x"], "nowhere"),
        (["fit", "--data", "data", "--out", "x", "--colour", "red"], "--colour"),
        (["fit", "--base", "other", "--data", "data", "--out", "x"], "--base belongs to serve"),
        (["status", "--verbose"], "takes nothing"),
    ):
        done = ask(server, place, *arguments)
        assert done.returncode == 2, done
        assert words in done.stderr
    assert status(server, place)["busy"] is None


def test_a_caller_that_leaves_does_not_end_the_job_nor_the_server(server: Path, place: Path) -> None:
    request = {"command": "fit", "arguments": ["--data", "data", "--out", "left", *QUICK], "cwd": str(place)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(server))
        connection.sendall(json.dumps(request).encode() + b"\n")
    for _ in range(300):
        if (place / "left" / "manifest.json").exists() and read_json(place / "left" / "manifest.json")["finished"]:
            break
        time.sleep(0.2)
    assert read_json(place / "left" / "manifest.json")["finished"] is True
    assert status(server, place)["busy"] is None


def test_a_second_server_on_the_same_socket_is_refused(server: Path, place: Path) -> None:
    done = ask(server, place, "--base", "base", "serve")
    assert done.returncode == 2
    assert "a server listens there" in done.stderr


@pytest.mark.docker
def test_an_adapter_is_evaluated_on_the_held_base(server: Path, place: Path) -> None:
    assert ask(server, place, "fit", "--data", "data", "--out", "judged", *QUICK).returncode == 0
    flags = ["--adapter", "judged", "--scenarios", "held", "--max-steps", "2", "--max-new-tokens", "8"]
    done = ask(server, place, "evaluate", *flags, "--compare-base")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["adapter"]["n"] == 2
    assert read_json(place / "eval" / "judged" / "report.json")["n"] == 2


def test_no_server_is_one_line(tmp_path: Path) -> None:
    done = ask(tmp_path / "none", tmp_path, "status")
    assert done.returncode == 2
    assert "no server answers" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
