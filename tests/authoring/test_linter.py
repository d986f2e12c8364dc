"""The linter names everything that is to be mended in scenarios written by hand, and accounts for every file."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from authoring.linter import Fault, advice, plain, read_drafts, text_faults
from pipeline.files import write_json
from schema import HOME
from tests.helpers import ROOT
from tests.helpers.hand_scenarios import BASE, BLOCKED, hand


def place(directory: Path, **scenarios: dict[str, Any]) -> list[Path]:
    for name, value in scenarios.items():
        write_json(directory / f"{name}.json", value)
    return sorted(directory.glob("*.json"))


def test_every_fault_of_a_record_is_named(tmp_path: Path) -> None:
    (draft,) = read_drafts(place(tmp_path, a={**BASE, "id": "a", "terminal": "stop", "extra": 1, "checker": ""}))
    found = [fault.reason for fault in draft.faults]
    assert draft.scenario is None
    assert any(reason.startswith("terminal: ") for reason in found)
    assert "extra: unknown field; drop it" in found
    assert any(reason.startswith("checker: ") for reason in found)


def test_every_fault_of_a_text_is_named() -> None:
    one = hand(announcement={"channel": "motd", "text": "Look at fruit.txt."}, reference_solution=["exit"])
    assert [fault.gate for fault in text_faults(one)] == ["announcement", "solution"]
    assert text_faults(hand()) == text_faults(hand(blocked=True)) == []


def test_names_and_ids_are_compared(tmp_path: Path) -> None:
    own = {"name": "own", "archetypes": [{"name": "mine", "family": "text", "summary": "sort it"}]}
    other = {"name": "own", "archetypes": [{"name": "mine", "family": "text", "summary": "count it"}]}
    drafts = read_drafts(
        place(
            tmp_path,
            a={**BASE, "id": "a", "task": "mine", "taxonomy": own},
            b={**BASE, "id": "a", "task": "mine", "taxonomy": other},
        )
    )
    assert drafts[0].faults == []
    assert [fault.reason.split(":")[0] for fault in drafts[1].faults] == ["id", "id", "taxonomy.archetypes"]


def test_a_fault_is_one_line_and_says_what_to_do() -> None:
    told = advice(Fault("prefixes", "two\nlines \x1b[31m\u202e" + "x" * 9999))
    assert told.isprintable()
    assert len(told) < 1000
    assert told.endswith("that nothing needs")
    assert plain({"loc": ("provider", "path"), "type": "missing", "msg": "x"}) == "provider.path: missing; add it"
    assert plain({"loc": ("id",), "type": "string_too_long", "msg": "too long"}) == "id: too long; correct it"
    assert (
        plain({"loc": ("id",), "type": "value_error", "msg": "Value error, is odd; mend it"}) == "id: is odd; mend it"
    )


@pytest.mark.docker
def test_a_directory_is_checked_and_every_file_counted_once(tmp_path: Path) -> None:
    spared = {"checker": f"[ -e {HOME}/sorted.txt ] && [ -e {HOME}/colours.txt ]"}
    place(
        tmp_path,
        **{"hand-0001": BASE, "hand-0002": BLOCKED},
        same={**BASE, "id": "same"},
        loose={**BASE, **spared, "id": "loose"},
        undone={**BASE, "id": "undone", "reference_solution": ["sort fruit.txt > sorted.txt", "true"]},
        prose={**BASE, "id": "prose", "directives": BASE["directives"][:1]},
    )
    (tmp_path / "torn.json").write_text("{")
    command = [sys.executable, "generate.py", "--check", str(tmp_path), "--workers", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 2, done.stderr
    (line,) = done.stdout.splitlines()
    found = json.loads(line)
    assert (found["scenarios"], found["passed"], found["failed"], found["voided"]) == (7, 2, 5, 0)
    gates = {name: [reason.split(":")[0] for reason in reasons] for name, reasons in found["mend"].items()}
    assert gates == {
        "loose.json": ["mutations"], "prose.json": ["shape"], "same.json": ["duplicate"], "torn.json": ["schema"],
        "undone.json": ["reference"],
    }  # fmt: skip
    assert found["by_gate"] == {"duplicate": 1, "mutations": 1, "reference": 1, "schema": 1, "shape": 1}
    lines = done.stderr.splitlines()
    assert sum(line.startswith("check ") for line in lines) == 7
    assert any("loose.json: mutations: " in line and "make the checker compare" in line for line in lines)
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".json") == []


@pytest.mark.docker
def test_scenarios_that_pass_exit_with_0(tmp_path: Path) -> None:
    place(tmp_path, **{"hand-0002": BLOCKED})
    command = [sys.executable, "generate.py", "--check", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["mend"] == {}


def test_scenarios_of_another_image_are_refused(tmp_path: Path) -> None:
    gated = hand(provenance={"author": "hand", "request_hash": "0" * 64, "gates": {"image": "sekft-git"}})
    place(tmp_path, **{gated.id: gated.model_dump(mode="json", exclude_none=True)})
    command = [sys.executable, "generate.py", "--check", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "it passed the gate on image 'sekft-git', this run is on 'sekft-dash'; pass --image sekft-git" in done.stderr
