"""export.py converts whole directories, there and back, and loses nothing; a rerun does nothing twice."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from formats.convert import TARGETS
from pipeline.files import read_json, read_manifest, write_json, write_record
from tests.helpers import program
from tests.helpers.foreign_tasks import foreign_task
from tests.helpers.rollouts import made, write_scenarios
from tests.helpers.sessions import SESSIONS


def export(*flags: object) -> tuple[int, dict[str, Any], str]:
    """Exit code, summary and stderr of export.py."""
    done = subprocess.run(
        [*program("export.py"), *map(str, flags)], capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def records(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.glob("*.json") if path.name != "manifest.json"}


def archive(form: str, place: Path) -> Path:
    """A directory of what `form` holds, held out by archetype."""
    if form == "harbor":
        write_scenarios(place, made())
    else:
        for record in SESSIONS.values():
            write_record(place, record)
    write_json(place / "manifest.json", {"stage": "split", "finished": True, "flags": {"by": "archetype"}})
    return place


@pytest.mark.parametrize("form", TARGETS)
def test_there_and_back_is_the_same_directory(form: str, tmp_path: Path) -> None:
    first = archive(form, tmp_path / "first")
    n = len(records(first))
    code, summary, _ = export("--to", form, "--archive", first, "--out", tmp_path / "theirs")
    assert (code, summary["read"], summary["written"], summary["refused"]) == (0, n, n, {})
    theirs = {path: path.stat().st_mtime_ns for path in (tmp_path / "theirs").rglob("*") if path.is_file()}
    assert export("--to", form, "--archive", first, "--out", tmp_path / "theirs")[:2] == (0, summary)
    assert theirs == {path: path.stat().st_mtime_ns for path in theirs}  # the second run wrote nothing
    code, summary, _ = export("--from", form, "--archive", tmp_path / "theirs", "--out", tmp_path / "back")
    assert (code, summary["written"], summary["refused"]) == (0, n, {})
    assert records(tmp_path / "back") == records(first)
    manifest = read_manifest(tmp_path / "back")
    assert manifest is not None
    assert (manifest.finished, len(manifest.ids), manifest.flags["by"]) == (True, n, "archetype")


def test_what_does_not_fit_is_named_and_stops_nothing(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    export("--to", "harbor", "--archive", archive("harbor", tmp_path / "first"), "--out", tasks)
    foreign_task(tasks / "fits")
    foreign_task(tasks / "FITS")  # the same id
    foreign_task(tasks / "bash", tests__test_sh="#!/bin/bash\n")
    code, summary, said = export("--from", "harbor", "--archive", tasks, "--out", tmp_path / "back")
    assert (code, summary["read"], summary["written"]) == (0, 14, 12)
    assert summary["refused"] == {"id": 1, "verifier": 1}
    assert "bash verifier: tests/test.sh uses" in said
    assert set(read_json(tmp_path / "back" / "manifest.json")["counts"]["why"]) == {"bash", "fits"}
    # Another task directory is another input.
    (tasks / "fits" / "instruction.md").write_text("Something else.\n")
    code, _, said = export("--from", "harbor", "--archive", tasks, "--out", tmp_path / "back")
    assert (code, len(said.splitlines())) == (2, 1)
    assert "--tasks was" in said


def test_each_operator_gets_a_log_of_its_own(tmp_path: Path) -> None:
    first = archive("inspect", tmp_path / "first")
    other = SESSIONS["plain"].operator.model_copy(update={"kind": "local", "model": "base/x"})
    write_record(first, SESSIONS["plain"].model_copy(update={"id": "other-s0", "operator": other}))
    export("--to", "inspect", "--archive", first, "--out", tmp_path / "logs")
    heads = [path.read_text()[:20] for path in (tmp_path / "logs").glob("2*.json")]
    assert heads == ['{\n  "version": 2,\n  '] * 2  # Inspect's list of logs reads no further than the head
    logs = [read_json(path) for path in (tmp_path / "logs").glob("2*.json")]
    assert {log["eval"]["model"]: len(log["samples"]) for log in logs} == {
        "reference/reference": len(SESSIONS),
        "local/base/x": 1,
    }


def test_a_killed_export_is_made_whole(tmp_path: Path) -> None:
    first = archive("harbor", tmp_path / "first")
    export("--to", "harbor", "--archive", first, "--out", tmp_path / "tasks")
    manifest = read_json(tmp_path / "tasks" / "manifest.json")
    write_json(tmp_path / "tasks" / "manifest.json", {**manifest, "finished": False, "counts": {}, "ids": []})
    task = next(path.parent for path in (tmp_path / "tasks").glob("*/task.toml"))
    (task / "tests" / "checker.sh").unlink()
    (task / "stray").write_text("")
    assert export("--to", "harbor", "--archive", first, "--out", tmp_path / "tasks")[0] == 0
    assert not (task / "stray").exists()
    assert export("--from", "harbor", "--archive", tmp_path / "tasks", "--out", tmp_path / "back")[0] == 0
    assert records(tmp_path / "back") == records(first)
