"""bench/base.py gives the base a high share of right units, and random weights none."""

import json
import subprocess
import sys
from pathlib import Path

from tests.helpers import ROOT


def shares_of(base: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.base", "--base", str(base), "--n", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) >= 32
    return dict(json.loads(done.stdout))


def test_shares_of_the_base_and_of_random_weights(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    from tiny_base.make import new_model

    tokenizer = AutoTokenizer.from_pretrained(ROOT / "base")
    tokenizer.save_pretrained(tmp_path)
    new_model(tokenizer, 64, 2, 0).save_pretrained(tmp_path)
    assert shares_of(tmp_path)["instruction"] == shares_of(tmp_path)["directive"] == 0
    known = shares_of(ROOT / "base")
    assert known["instruction"] > 0.4
    assert known["directive"] > 0.1
