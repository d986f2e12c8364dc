"""A base with a hub name is downloaded completely before a run begins, so that a second run finds the same base."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pipeline.files import write_record
from schema import sha256
from tests.helpers import ROOT
from tests.helpers.tiny import base as make_base, trajectory

NAME, REVISION = "somebody/tiny", "0123456789abcdef0123456789abcdef01234567"


class Hub(BaseHTTPRequestHandler):
    """The calls of a model hub that a download makes: a revision, its list of files, and each file."""

    protocol_version = "HTTP/1.1"
    files: Path
    asked: list[str]

    def answer(self, body: bytes, *, head: bool, **headers: str) -> None:
        self.send_response(200)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if not head:
            self.wfile.write(body)

    def do_GET(self, *, head: bool = False) -> None:
        path = self.path.partition("?")[0]
        found = self.files / path.rpartition("/")[2]
        if path.startswith(f"/api/models/{NAME}/revision/"):
            names = sorted(file.name for file in self.files.iterdir())
            about = {"id": NAME, "sha": REVISION, "siblings": [{"rfilename": name} for name in names]}
            self.answer(json.dumps(about).encode(), head=head, Content_Type="application/json")
        elif path.startswith(f"/api/models/{NAME}/tree/"):
            tree = [
                {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": sha256(file.read_bytes())[:40]}
                for file in self.files.iterdir()
            ]
            self.answer(json.dumps(tree).encode(), head=head, Content_Type="application/json")
        elif path.startswith(f"/{NAME}/resolve/") and found.is_file():
            if not head:
                self.asked.append(found.name)
            body = found.read_bytes()
            self.answer(body, head=head, ETag=f'"{sha256(body)}"', X_Repo_Commit=REVISION)
        else:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def do_HEAD(self) -> None:
        self.do_GET(head=True)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def hub(files: Path) -> Iterator[tuple[str, list[str]]]:
    """A hub on loopback with one model: its address, and the names of the requested files."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Serving", (Hub,), {"files": files, "asked": asked}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def sft(cwd: Path, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return python(cwd, str(ROOT / "sft.py"), "--data", "data", "--base", NAME, "--epochs", "1", *flags, **environment)


def python(cwd: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment = {**kept, "CUDA_VISIBLE_DEVICES": "", "HF_HOME": str(cwd / "cache"), **environment}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_base(tmp_path / "base")
    for at in range(2):
        write_record(tmp_path / "data", trajectory(f"a-s{at}"))
    return tmp_path


def test_hub_base_is_inspected_trained_and_found_again(place: Path) -> None:
    with hub(place / "base") as (address, asked):
        looked = sft(place, "--inspect", HF_ENDPOINT=address)
        assert looked.returncode == 0, looked.stderr
        assert not [name for name in asked if name.endswith(".safetensors")]
        trained = sft(place, "--out", "adapter", HF_ENDPOINT=address)
        assert trained.returncode == 0, trained.stderr
        assert [name for name in asked if name.endswith(".safetensors")] == ["model.safetensors"]
    about = json.loads((place / "adapter" / "sekft.json").read_text())
    assert about["base"] == NAME
    assert len(about["base_hash"]) == 64
    again = sft(place, "--out", "adapter", HF_HUB_OFFLINE="1")
    assert again.returncode == 0, again.stderr
    assert "finished before" in again.stderr
    code = f"import json; from training.run import files_of; print(json.dumps(files_of({NAME!r})))"
    seen = python(place, "-c", code, HF_HUB_OFFLINE="1", PYTHONPATH=str(ROOT))
    size = (place / "base" / "model.safetensors").stat().st_size
    assert json.loads(seen.stdout)["model.safetensors"][0] == size  # so that a change during a run is noticed


def test_unreachable_hub_is_one_line_and_exit_2(place: Path) -> None:
    done = sft(place, "--out", "adapter", HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 2, done.stderr
    assert NAME in done.stderr.strip().splitlines()[-1]
    assert "hub" in done.stderr.strip().splitlines()[-1]
    assert not (place / "adapter").exists()
