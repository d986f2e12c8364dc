"""SIGINT, SIGTERM and SIGHUP end a script with its clean-up done; ignored ones stay ignored."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.helpers import ROOT
from tests.helpers.processes import heed_signals

SCRIPT = """
import time
from pipeline import stage
def main():
    try:
        print("begun", flush=True)
        time.sleep(60)
    finally:
        time.sleep(1)
        print("cleaned up", flush=True)
stage.run_script(main, stage.command_line("doc"), [])
"""
CODES = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@contextmanager
def begun(before: Callable[[], None] = heed_signals) -> Iterator[subprocess.Popen[str]]:
    """A script that has begun its work; `before` is called in its process first."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, text=True, preexec_fn=before,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
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
        assert (process.returncode, stdout) == (code, "cleaned up\n")
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
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(second)
        stdout, stderr = process.communicate(timeout=30)
        assert (process.returncode, stdout) == (130, "cleaned up\n")
        assert stderr.splitlines()[0] == "still cleaning up; the process ends by itself"


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
        assert process.wait(30) == dict(CODES)[other]


@pytest.mark.parametrize("name", ["rollout.py", "sft.py", "eval.py"])
def test_interrupt_during_imports_is_one_line(name: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", name, "--help"], cwd=ROOT, text=True, preexec_fn=heed_signals,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        assert process.stderr is not None
        while "pydantic_core" not in process.stderr.readline():  # loaded, while schema.py and all behind it is not
            assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        rest = [line for line in process.stderr.read().splitlines() if not line.startswith("import time:")]
    assert (process.returncode, rest) == (130, ["interrupted"])


def test_another_program_keeps_its_own_handler() -> None:
    code = "import signal, pipeline; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, preexec_fn=heed_signals, check=True)
