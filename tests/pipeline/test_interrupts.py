"""SIGINT, SIGTERM and SIGHUP end a script with its clean-up done; ignored ones stay ignored."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.processes import heed_signals

SCRIPT = """
import sys, time
from pipeline import stage
def main():
    try:
        print("begun", flush=True)
        time.sleep(600)
    finally:
        print("cleaning up", flush=True)
        sys.stdin.readline()  # it lasts for as long as the test wants
        print("cleaned up", flush=True)
stage.run_script(main, stage.command_line("doc"), [])
"""
CODES = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@contextmanager
def begun(before: Callable[[], None] = heed_signals) -> Iterator[subprocess.Popen[str]]:
    """A script that has begun its work; `before` is called in its process first."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, text=True, preexec_fn=before,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("number", "code"), CODES)
def test_a_signal_ends_a_script_with_its_code(number: signal.Signals, code: int) -> None:
    with begun() as process:
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
        assert (process.returncode, stdout) == (code, "cleaning up\ncleaned up\n")
        assert stderr.strip() == "-c: interrupted; finished results are on disk, rerun the same command"


DROPPED = """
import io, os, signal, sys, time
from pipeline import stage
class Response(io.IOBase):
    def close(self):
        os.kill(os.getpid(), signal.SIGTERM)
        print("not reached", flush=True)
def main():
    Response()  # freed at once: what its close() raises is dropped
    print("goes on", flush=True)
    time.sleep(float(sys.argv[1]))
    return 0
stage.run_script(main, stage.command_line("doc"), [])
"""


@pytest.mark.parametrize("seconds", ["0", "60"])
def test_a_signal_whose_exception_python_drops_is_not_lost(seconds: str) -> None:
    command = [sys.executable, "-c", DROPPED, seconds]
    done = subprocess.run(
        command, cwd=ROOT, preexec_fn=heed_signals, capture_output=True, text=True, timeout=50, check=False
    )
    assert (done.returncode, done.stdout) == (143, "goes on\n")
    assert done.stderr.strip() == "-c: interrupted; finished results are on disk, rerun the same command"


def test_a_deferred_signal_is_raised_at_the_end_of_its_block() -> None:
    code = "import os, signal, time\nfrom pipeline import interrupts\ntry:\n  with interrupts.raised():\n"
    code += "    with interrupts.deferred():\n      os.kill(os.getpid(), signal.SIGTERM)\n      time.sleep(1)\n"
    code += "      print('held back')\n    print('not reached')\nexcept interrupts.Ended as error:\n"
    code += "  time.sleep(1)\n  print(error.code)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, preexec_fn=heed_signals, stdout=subprocess.PIPE, check=True
    )
    assert done.stdout == b"held back\n143\n"


@pytest.mark.parametrize("second", [number for number, _ in CODES])
def test_a_second_signal_waits_for_the_clean_up(second: signal.Signals) -> None:
    with begun() as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "cleaning up\n"
        process.send_signal(second)
        assert process.stderr.readline() == "still cleaning up; the process ends by itself\n"
        stdout, _ = process.communicate(timeout=30)
        assert (process.returncode, stdout) == (130, "cleaned up\n")


@pytest.mark.parametrize(("number", "other"), [(signal.SIGINT, signal.SIGTERM), (signal.SIGHUP, signal.SIGINT)])
def test_a_signal_that_was_ignored_stays_ignored(number: signal.Signals, other: signal.Signals) -> None:
    def ignore() -> None:
        heed_signals()
        signal.signal(number, signal.SIG_IGN)

    with begun(ignore) as process:
        process.send_signal(number)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.send_signal(other)
        process.communicate(timeout=30)
        assert process.returncode == dict(CODES)[other]


SLOW_IMPORT = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "schema":  # which every script imports, and all that takes long comes behind it
            print("here", flush=True)
            time.sleep(600)
sys.meta_path.insert(0, Slow())
"""


@pytest.mark.parametrize("name", ["rollout.py", "sft.py", "eval.py"])
def test_interrupt_during_imports_is_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW_IMPORT)
    process = subprocess.Popen(
        [sys.executable, name, "--help"], cwd=ROOT, text=True, preexec_fn=heed_signals,
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "interrupted\n")


def test_another_program_keeps_its_own_handler() -> None:
    code = "import signal, pipeline; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, preexec_fn=heed_signals, check=True)
