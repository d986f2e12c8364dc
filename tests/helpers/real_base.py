"""Have the real base at hand, made once per test run where the checkout has none.

directory = real_base(tmp_path_factory)
"""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.files import read_manifest
from pipeline.stage import DEFAULT_BASE
from tests.helpers import ROOT


def real_base(factory: pytest.TempPathFactory) -> Path:
    """The directory of SmolLM2-135M-Instruct: the checkout's, or one that this test run downloads (93 MB)."""
    there = ROOT / DEFAULT_BASE
    return there if finished(there) else downloaded(factory)[0]


def downloaded(factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """What get_base.py writes, and its run; the workers of a test run share both."""
    root = factory.getbasetemp()
    shared = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    out, words = shared / "smollm2", shared / "smollm2.printed"
    with (shared / "smollm2.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not words.exists():
            done = run_get_base(out)
            words.write_text(f"{done.returncode}\0{done.stdout}\0{done.stderr}")
    code, stdout, stderr = words.read_text().split("\0")
    return out, subprocess.CompletedProcess("get_base.py", int(code), stdout, stderr)


def finished(directory: Path) -> bool:
    """True where get_base.py came to its end there."""
    manifest = read_manifest(directory)
    return manifest is not None and manifest.finished


def run_get_base(out: Path, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script with `out`."""
    command = [sys.executable, str(ROOT / "get_base.py"), "--out", str(out), *flags]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=900)
