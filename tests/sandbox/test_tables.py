"""docs/sandbox.md has the limits and the conformance cases as the code has them."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox import containers
from sandbox.conformance import CASES
from sandbox.tables import PAGE, updated
from schema import BadInputError
from tests.helpers import ROOT

TEXT = (ROOT / PAGE).read_text()


def test_page_is_current() -> None:
    assert updated(TEXT) == TEXT, "run `python -m sandbox.tables`"


def test_changed_limit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "PROCESSES", 255)
    assert "| processes | 255 |" in updated(TEXT)
    assert updated(TEXT) != TEXT


def test_changed_claim_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CASES, "A01", replace(CASES["A01"], claim="a | b holds."))
    assert "| A01 | a \\| b holds. |" in updated(TEXT)


def test_every_case_has_a_row() -> None:
    assert [name for name in CASES if TEXT.count(f"\n| {name} | ") != 1] == []


def test_page_without_markers_is_refused() -> None:
    with pytest.raises(BadInputError, match="marker comments"):
        updated(TEXT.replace("<!-- end of cases -->", ""))


@pytest.mark.docker
def test_python_example_of_the_page_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    found: dict[str, Any] = {}
    exec(example, found)
    assert (found["step"].exit_code, found["check"].passed, found["again"].passed) == (0, True, True)


def test_command_brings_a_page_up_to_date(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(TEXT.replace("| processes | 256 |", "| processes | 1 |"))
    command = [sys.executable, "-m", "sandbox.tables", "--page", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert page.read_text() == TEXT
