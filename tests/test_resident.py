"""A resident base serves fit, evaluate, status and stop to its owner, and loads the base once."""

import json
import os
import shutil
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

from authoring import templates
from model.loading import HeldBase, load_model
from pipeline.files import read_json, read_trajectories, write_record
from resident import REQUEST_SECONDS, Server
from taxonomy import Combination
from tests.helpers import ROOT, tiny
from tests.helpers.training import fit_settings
from training.run import fit

# resident.py, with a line in its log for each base that the process loads.
NOTED = """
import sys
from transformers import AutoModelForCausalLM
load = AutoModelForCausalLM.from_pretrained
def noted(*arguments, **options):
    print("a base is loaded", file=sys.__stderr__, flush=True)
    return load(*arguments, **options)
AutoModelForCausalLM.from_pretrained = noted
import resident
from pipeline import stage
stage.run_script(resident.main, resident.parser())
"""
STATUS = b'{"command": "status", "arguments": [], "cwd": "/"}\n'
QUICK = ["--lr", "5e-3", "--epochs", "1", "--limit", "3"]
SAME = ["--dtype", "fp32", *QUICK]  # in a process of its own


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("resident")
    tiny.base(place / "base")
    for index in range(3):
        session = tiny.trajectory(f"t{index}-s0")
        write_record(place / "data", session)
        messages = [
            one.model_copy(update={"content": one.content.replace("tidebook", "ls")}) for one in session.messages
        ]
        write_record(place / "other", session.model_copy(update={"messages": messages}))
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
        [sys.executable, "-c", NOTED, "--base", "base", "--dtype", "fp32", "--socket", str(path), "serve"], cwd=place,
        stdout=log, stderr=subprocess.STDOUT, env=environment() | {"PYTHONPATH": str(ROOT)},
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
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment(), check=False, timeout=300)


def talk(path: Path, sent: bytes) -> list[dict[str, Any]]:
    """The whole answer of the server to these bytes."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(path))
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile(encoding="utf-8") as stream:
            return [json.loads(line) for line in stream]


def loads(place: Path) -> int:
    """Bases that the server has loaded since it began."""
    return (place / "server.log").read_text().count("a base is loaded")


def status(path: Path, place: Path) -> dict[str, Any]:
    done = ask(path, place, "status")
    assert done.returncode == 0, done.stderr
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def test_socket_belongs_to_its_owner(server: Path) -> None:
    assert stat.S_IMODE(server.stat().st_mode) == 0o600
    assert stat.S_ISSOCK(server.stat().st_mode)


def test_fitted_adapters_equal_those_of_a_fresh_process(server: Path, place: Path) -> None:
    before = status(server, place)
    for name in ("first", "second"):
        done = ask(server, place, "fit", "--data", "data", "--out", name, *QUICK)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["out"].endswith(name)
    after = status(server, place)
    assert after["pid"] == before["pid"]
    assert after["jobs_done"] == before["jobs_done"] + 2
    alone = subprocess.run(
        [sys.executable, str(ROOT / "sft.py"), "--base", "base", "--data", "data", "--out", "alone", *SAME],
        cwd=place, capture_output=True, text=True, env=environment(), check=False,
    )  # fmt: skip
    assert alone.returncode == 0, alone.stderr
    assert loads(place) == 1
    weights = [(place / name / "adapter_model.safetensors").read_bytes() for name in ("first", "second", "alone")]
    assert weights[0] == weights[1] == weights[2]


def test_bad_job_flags_are_exit_2(server: Path, place: Path) -> None:
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


def test_job_continues_when_its_caller_leaves(server: Path, place: Path) -> None:
    request = {"command": "fit", "arguments": ["--data", "data", "--out", "left", *QUICK], "cwd": str(place)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(server))
        connection.sendall(json.dumps(request).encode() + b"\n")
    manifest = place / "left" / "manifest.json"
    for _ in range(300):
        # The job ends a moment after its manifest says finished: the cores are shared.
        if manifest.exists() and read_json(manifest)["finished"] and status(server, place)["busy"] is None:
            break
        time.sleep(0.2)
    assert read_json(manifest)["finished"] is True
    assert status(server, place)["busy"] is None


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b'{"command": "sta',
        b"status\n",
        b'"status"\n',
        b'{"command": "\xff"}\n',
        b'{"command": "dance", "arguments": [], "cwd": "/"}\n',
        b'{"command": ["fit"], "arguments": [], "cwd": "/"}\n',
        b'{"command": "fit", "cwd": "/"}\n',
        b'{"command": "fit", "arguments": [1], "cwd": "/"}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_malformed_requests_are_refused(server: Path, sent: bytes) -> None:
    *said, end = talk(server, sent)
    assert "not a request" in "".join(message["text"] for message in said if message["stream"] == "stderr")
    assert end == {"exit": 2}
    assert talk(server, STATUS)[-1] == {"exit": 0}


def test_server_outlives_a_caller_that_leaves_early(server: Path) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(server))
        connection.shutdown(socket.SHUT_RD)  # so that the answer meets a broken pipe even when it is fast
        connection.sendall(STATUS)
        time.sleep(0.5)
    assert talk(server, STATUS)[-1] == {"exit": 0}


def test_silent_callers_time_out_and_block_nobody(server: Path) -> None:
    with socket.socket(socket.AF_UNIX) as quiet, socket.socket(socket.AF_UNIX) as other:
        for connection in (quiet, other):
            connection.settimeout(3 * REQUEST_SECONDS)
            connection.connect(str(server))
        began = time.monotonic()
        assert talk(server, STATUS)[-1] == {"exit": 0}
        assert time.monotonic() - began < REQUEST_SECONDS
        for connection in (quiet, other):
            with connection.makefile(encoding="utf-8") as stream:
                assert "no request" in stream.readline()
                assert json.loads(stream.readlines()[-1]) == {"exit": 2}


def test_failed_job_returns_its_traceback(server: Path, place: Path) -> None:
    """Each break is a checkpoint file that is cut off."""
    assert ask(server, place, "fit", "--data", "data", "--out", "cut", *QUICK).returncode == 0
    again = ["fit", "--data", "data", "--out", "cut", *QUICK, "--epochs", "2"]
    for name, kept_bytes, error in (
        ("optimizer.pt", 100, "RuntimeError"),
        ("optimizer.pt", 0, "EOFError"),
        ("optimizer.pt", 20_000, "OSError"),
        ("adapter_model.safetensors", 100, "SafetensorError"),
        ("trainer_state.json", 100, "JSONDecodeError"),
    ):
        (path,) = place.glob(f"cut/checkpoints/checkpoint-*/{name}")
        content = path.read_bytes()
        path.write_bytes(content[:kept_bytes])
        done = ask(server, place, *again)
        assert done.returncode == 1, done
        assert "Traceback (most recent call last)" in done.stderr
        assert error in done.stderr.splitlines()[-1]
        assert status(server, place)["busy"] is None
        path.write_bytes(content)
    done = ask(server, place, *again)
    assert done.returncode == 0, done.stderr
    assert loads(place) == 1


def test_relative_base_works_from_any_directory(server: Path, place: Path, tmp_path: Path) -> None:
    done = ask(server, tmp_path, "fit", "--data", str(place / "data"), "--out", "afar", *QUICK)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "afar" / "adapter_model.safetensors").exists()
    assert status(server, tmp_path)["base"] == str(place / "base")
    assert loads(place) == 1


def test_hub_name_is_kept(tmp_path: Path) -> None:
    assert Server("owner/name", "auto", False, tmp_path / "s").base == "owner/name"


def fit_here(place: Path, out: Path, *flags: str, held: HeldBase | None = None) -> None:
    """Train on the sessions of `place` in this process."""
    import torch

    torch.set_num_threads(1)
    data, base = place / "data", place / "base"
    assert fit(fit_settings("--base", base, "--data", data, "--out", out, *QUICK, *flags), held) == 0


def test_fit_leaves_no_hook_on_the_held_base(place: Path, tmp_path: Path) -> None:
    held = HeldBase(str(place / "base"))
    model, _ = load_model(place / "base", held=held)
    assert model is held.model
    left = []
    for name in ("first", "second"):
        fit_here(place, tmp_path / name, "--gradient-checkpointing", held=held)
        held.release()
        left.append(len(model.get_input_embeddings()._forward_hooks))
    assert left == [0, 0]


def test_failed_fit_leaves_the_process_unchanged(place: Path, tmp_path: Path) -> None:
    import torch

    precision = torch.get_float32_matmul_precision()
    out = tmp_path / "out"
    fit_here(place, out)
    shutil.rmtree(out / "checkpoints")
    (out / "checkpoints").touch()  # the trainer cannot be made
    with pytest.raises(FileExistsError):
        fit_here(place, out, "--epochs", "2")
    assert (torch.get_float32_matmul_precision(), os.environ.get("TENSORBOARD_LOGGING_DIR")) == (precision, None)
    small = shutil.copytree(place / "base", tmp_path / "small" / "base")
    tiny.tokenizer("byte_level", vocabulary=1024).save_pretrained(small)  # with ids outside the embedding
    shutil.copytree(place / "data", tmp_path / "small" / "data")
    with pytest.raises(IndexError):
        fit_here(tmp_path / "small", tmp_path / "never")
    assert torch.get_float32_matmul_precision() == precision


def test_second_server_on_a_socket_is_refused(server: Path, place: Path) -> None:
    done = ask(server, place, "--base", "base", "serve")
    assert done.returncode == 2
    assert "a server listens there" in done.stderr


def test_status_shows_the_servers_memory(server: Path, place: Path) -> None:
    told = status(server, place)
    seen = int((Path("/proc") / str(told["pid"]) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    assert abs(told["resident_bytes"] - seen) < 0.05 * seen
    assert told["device_bytes"] is None  # no CUDA device


@pytest.mark.docker
def test_evaluated_adapters_equal_those_of_a_fresh_process(server: Path, place: Path) -> None:
    flags = ["--scenarios", "held", "--max-steps", "4", "--max-new-tokens", "12"]
    jobs: dict[str, subprocess.CompletedProcess[str]] = {}
    for name, data in (("mild", "data"), ("keen", "other")):
        own = ["--epochs", "25", "--accum", "1"]  # until it repeats the commands of the sessions
        jobs[f"fit {name}"] = ask(server, place, "fit", "--data", data, "--out", name, *QUICK, *own)
    for name in ("mild", "keen"):
        more = ["--compare-base"] if name == "mild" else []
        jobs[name] = ask(server, place, "evaluate", "--adapter", name, *flags, *more)
    jobs["again"] = ask(server, place, "evaluate", "--adapter", "mild", *flags, "--out", "again")
    ways = {"one": ["--workers", "1"], "anew": ["--no-cache"]}
    for name, own in ways.items():
        own = [*flags, *own, "--out", name, "--against", "eval/keen"]
        jobs[name] = ask(server, place, "evaluate", "--adapter", "keen", *own)
    before = status(server, place)["resident_bytes"]  # each kind of job has run once
    for name in ("more-1", "more-2", "more-3"):
        jobs[name] = ask(server, place, "evaluate", "--adapter", "keen", *flags, "--out", name)
    assert status(server, place)["resident_bytes"] < before + 20_000_000
    command = [sys.executable, str(ROOT / "eval.py"), "--base", "base", "--adapter", "keen", *flags, "--out", "fresh"]
    command += ["--dtype", "fp32"]
    fresh = subprocess.run(command, cwd=place, capture_output=True, text=True, env=environment(), check=False)
    assert all(done.returncode == 0 for done in [*jobs.values(), fresh]), [done.stderr for done in jobs.values()]
    assert loads(place) == 1  # by serve
    for name in ways:
        counts = json.loads(jobs[name].stdout)["transcripts"]["adapter"]
        assert counts["differ"] == counts["parted_level"] == 0, counts
        assert counts["same"] + counts.get("parted_in_output", 0) == 2, counts  # the output of ls contains the time
        assert counts["same"] >= 1, counts
        assert "transcripts against eval/keen: {'same': " in jobs[name].stderr
    assert read_json(place / "eval" / "mild" / "report.json")["n"] == 2
    assert_same_operator(place / "again" / "adapter", place / "eval" / "mild" / "adapter")
    assert_same_operator(place / "fresh" / "adapter", place / "eval" / "keen" / "adapter")
    different = [transcripts(place / "eval" / name) for name in ("mild/adapter", "keen/adapter", "mild/base")]
    assert len({str(one) for one in different}) == 3  # each has weights of its own


def assert_same_operator(one: Path, other: Path) -> None:
    """The transcripts are equal, or differ first in an output (ls prints the time)."""
    for first, second in zip(read_trajectories(one), read_trajectories(other), strict=True):
        ids, mask, others = first.token_ids or [], first.assistant_mask or [], second.token_ids or []
        apart = next((at for at, pair in enumerate(zip(ids, others, strict=False)) if pair[0] != pair[1]), None)
        assert ids == others if apart is None else not mask[apart]


def transcripts(directory: Path) -> list[list[int] | None]:
    return [episode.token_ids for episode in read_trajectories(directory)]


@pytest.mark.parametrize("kind", ["file", "directory"])
def test_only_a_socket_is_replaced(place: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "notes.txt"
    path.mkdir() if kind == "directory" else path.write_text("mine")
    done = ask(path, place, "--base", "base", "serve")
    assert (done.returncode, "exists and is no socket" in done.stderr) == (2, True), done.stderr
    assert path.exists()


def test_missing_server_is_one_line(tmp_path: Path) -> None:
    done = ask(tmp_path / "none", tmp_path, "status")
    assert done.returncode == 2
    assert "no server answers" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
