"""A directory is locked by one living process, which the refusal names."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline import locks, stage
from schema import BadInputError
from tests.helpers import ROOT

HOLD = "import sys, pathlib, time; from pipeline import stage; out = pathlib.Path(sys.argv[1])\n"
HOLD += "stage.begin(out, stage='rollout', flags={}); print('held', flush=True); time.sleep(600)"


@contextmanager
def living_stage(out: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has begun a stage in `out`."""
    command = [sys.executable, "-c", HOLD, str(out)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("redo", [False, True])
def test_nothing_of_a_living_stage_is_touched(redo: bool, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with living_stage(out) as process:
        (out / ".a.json.1.tmp").write_text("{")
        (out / "a.json").write_text("{}")
        with pytest.raises(BadInputError, match=rf"-c \(process {process.pid} on .+, since 20.+ UTC\) writes there"):
            stage.begin(out, stage="rollout", flags={}, redo=redo)
        assert {path.name for path in out.iterdir()} == {locks.LOCK, "manifest.json", "a.json", ".a.json.1.tmp"}


def test_a_stage_in_a_directory_below_is_not_touched(tmp_path: Path) -> None:
    stage.finish(tmp_path, stage.begin(tmp_path, stage="sft", flags={}), ids=[], counts={})
    with living_stage(tmp_path / "eval" / "run") as process:
        with pytest.raises(BadInputError, match=f"eval/run: .*process {process.pid} "):
            stage.begin(tmp_path, stage="sft", flags={}, redo=True)
        assert (tmp_path / "eval" / "run" / "manifest.json").exists()


@pytest.mark.parametrize("redo", [False, True])
def test_a_lock_ends_with_its_holder(redo: bool, tmp_path: Path) -> None:
    with living_stage(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / locks.LOCK).exists()
    stage.begin(tmp_path, stage="rollout", flags={}, redo=redo)
    assert f"process {os.getpid()} " in (tmp_path / locks.LOCK).read_text()
    locks.release()
    assert not (tmp_path / locks.LOCK).exists()


def test_a_directory_with_nothing_but_a_lock_is_empty(tmp_path: Path) -> None:
    (tmp_path / locks.LOCK).write_text("rollout.py (process 1 ...)\n")  # killed before its manifest was written
    stage.begin(tmp_path, stage="rollout", flags={})
    locks.release()


def test_a_process_may_begin_again_and_releases_at_the_end(tmp_path: Path) -> None:
    for _ in range(2):
        manifest = stage.begin(tmp_path, stage="rollout", flags={})
    stage.finish(tmp_path, manifest, ids=[], counts={})
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]
    with pytest.raises(BadInputError, match="stage 'rollout'"):
        stage.begin(tmp_path, stage="sft", flags={})
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]
    with living_stage(tmp_path / "next"):
        pass


def test_a_script_that_fails_releases_its_lock(tmp_path: Path) -> None:
    def main() -> int:
        stage.begin(tmp_path, stage="rollout", flags={})
        raise RuntimeError

    with pytest.raises(RuntimeError):
        stage.run_script(main, stage.command_line("doc"), [])
    with living_stage(tmp_path):
        pass


def test_many_at_once_get_one_lock(tmp_path: Path) -> None:
    code = HOLD.replace("time.sleep(600)", "stage.finish(out, stage.read_manifest(out), ids=[], counts={})")
    code = f"from schema import BadInputError\nfor _ in range(40):\n  try:\n    {code.splitlines()[0]}\n"
    code += "    stage.begin(out, stage='rollout', flags={}); mine = out / 'mine'\n"
    code += "    mine.touch(exist_ok=False); mine.unlink(); stage.locks.release(out)\n  except BadInputError: pass"
    command = [sys.executable, "-c", code, str(tmp_path)]
    others = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate()[1] for process in others] == [""] * 4


def test_a_file_system_without_locks_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe, other = os.pipe()
    os.close(other)
    os.close(pipe)
    locks._lock(pipe, tmp_path / locks.LOCK)  # flock fails with EBADF, as it does on some NFS mounts
    assert re.fullmatch(rf"{tmp_path}: no lock here \(.+\); run no second stage on it\n", capsys.readouterr().err)


def test_a_finished_directory_that_cannot_be_written_is_still_read(tmp_path: Path) -> None:
    stage.finish(tmp_path, stage.begin(tmp_path, stage="rollout", flags={}), ids=[], counts={})
    tmp_path.chmod(0o555)
    try:
        assert stage.begin(tmp_path, stage="rollout", flags={}).finished
    finally:
        tmp_path.chmod(0o755)
        locks.release()
