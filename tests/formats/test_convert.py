"""export.py converts whole directories, there and back, and loses nothing; a rerun does nothing twice."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from formats.convert import TARGETS
from pipeline.files import read_json, read_manifest, write_json, write_record
from tests.helpers import program
from tests.helpers.foreign_tasks import foreign_task
from tests.helpers.hand_scenarios import hand
from tests.helpers.rollouts import made, write_scenarios
from tests.helpers.sessions import SESSIONS


def export(*flags: object, **environment: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, summary and stderr of export.py."""
    done = subprocess.run(
        [*program("export.py"), *map(str, flags)], capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, **environment},
    )  # fmt: skip
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
    assert "bash: verifier: tests/test.sh uses" in said
    assert set(read_json(tmp_path / "back" / "manifest.json")["counts"]["why"]) == {"bash", "fits"}
    # Another task directory is another input.
    (tasks / "fits" / "instruction.md").write_text("Something else.\n")
    code, _, said = export("--from", "harbor", "--archive", tasks, "--out", tmp_path / "back")
    assert (code, len(said.splitlines())) == (2, 1)
    assert "--tasks was" in said


def test_of_many_that_are_refused_the_first_are_named_and_the_others_counted(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    export("--to", "atif", "--archive", archive("atif", tmp_path / "first"), "--out", theirs)
    for number in range(8):
        write_json(theirs / f"foreign-{number}.json", {"x": 1})
    code, summary, said = export("--from", "atif", "--archive", theirs, "--out", tmp_path / "back")
    assert (code, summary["refused"]) == (0, {"foreign": 8})
    lines = [line for line in said.splitlines() if not line.startswith("import ")]
    assert [line.split(": ")[:2] for line in lines[:5]] == [[f"foreign-{at}.json", "foreign"] for at in range(5)]
    assert lines[5] == "and 3 more"
    assert len(lines) == 7  # the last one has the counts
    assert len(read_json(tmp_path / "back" / "manifest.json")["counts"]["why"]) == 8


@pytest.mark.docker
def test_a_scenario_on_an_own_image_becomes_a_task_on_it_where_docker_has_the_image(tmp_path: Path) -> None:
    name = "sekft-test-harbor-image"
    gated = {"author": "hand", "request_hash": "0" * 64}
    for id_, image in (("there-1", name), ("absent-1", "no-such-image"), ("shipped-1", None)):
        gates = {"image": image} if image else {}
        write_record(tmp_path / "first", hand(id=id_, provenance={**gated, "gates": gates}))
    build = ["docker", "build", "--quiet", "--label", "sekft.tools=git jq", "--tag", name, "-"]
    subprocess.run(build, input="FROM sekft-dash\n", text=True, capture_output=True, check=True, timeout=120)
    try:
        flags = ["--to", "harbor", "--archive", tmp_path / "first", "--out"]
        code, summary, said = export(*flags, tmp_path / "tasks")
        nowhere = export(*flags, tmp_path / "no-engine", DOCKER_HOST="unix:///nowhere.sock")
    finally:
        subprocess.run(["docker", "rmi", name], capture_output=True, check=True)
    assert (code, summary["written"], summary["refused"]) == (0, 2, {"image": 1})
    assert "absent-1: image: image 'no-such-image' is not in the Docker engine" in said
    assert "Beside the busybox userland there are: git, jq." in (tmp_path / "tasks/there-1/instruction.md").read_text()
    assert f"FROM {name}\n" in (tmp_path / "tasks/there-1/environment/Dockerfile").read_text()
    assert "Beside" not in (tmp_path / "tasks/shipped-1/instruction.md").read_text()
    assert (nowhere[0], nowhere[1]["refused"]) == (0, {"image": 2})
    assert "no Docker engine answers" in nowhere[2]
    assert export("--from", "harbor", "--archive", tmp_path / "tasks", "--out", tmp_path / "back")[0] == 0
    first = records(tmp_path / "first")
    assert records(tmp_path / "back") == {path: first[path] for path in ("shipped-1.json", "there-1.json")}


@pytest.mark.parametrize("form", TARGETS)
def test_a_record_with_the_id_of_the_manifest_is_refused(form: str, tmp_path: Path) -> None:
    """Its file would be overwritten by the manifest of the directory."""
    place = archive(form, tmp_path / "first")
    theirs = tmp_path / "theirs"
    assert export("--to", form, "--archive", place, "--out", theirs)[0] == 0
    n = len(records(place))
    id_ = made()[0].id if form == "harbor" else SESSIONS["plain"].id
    paths = [path for path in theirs.rglob("*.json") if path.name != "manifest.json"]
    (source,) = [path for path in paths if f'"{id_}"' in path.read_text()]
    source.write_text(source.read_text().replace(f'"{id_}"', '"manifest"'))
    code, summary, said = export("--from", form, "--archive", theirs, "--out", tmp_path / "back")
    assert (code, summary["read"], summary["written"], summary["refused"]) == (0, n, n - 1, {"id": 1})
    assert read_json(tmp_path / "back" / "manifest.json")["stage"] == "export"
    assert "id: 'manifest' is the name of the manifest" in said


def test_an_atif_document_never_takes_the_name_of_the_manifest(tmp_path: Path) -> None:
    for id_ in ("manifest", "plain-1-s0"):
        record = SESSIONS["plain"].model_copy(update={"id": id_})
        write_json(tmp_path / "first" / f"a-{id_}.json", record.model_dump(mode="json"))
    code, summary, _ = export("--to", "atif", "--archive", tmp_path / "first", "--out", tmp_path / "atif")
    assert (code, summary["written"], summary["refused"]) == (0, 1, {"id": 1})
    assert read_json(tmp_path / "atif" / "manifest.json")["stage"] == "export"


def test_each_operator_gets_a_log_of_its_own(tmp_path: Path) -> None:
    first = archive("inspect", tmp_path / "first")
    other = SESSIONS["plain"].operator.model_copy(update={"kind": "local", "model": "base/x"})
    write_record(first, SESSIONS["plain"].model_copy(update={"id": "other-s0", "operator": other}))
    export("--to", "inspect", "--archive", first, "--out", tmp_path / "logs")
    heads = [path.read_text()[:20] for path in (tmp_path / "logs").glob("2*.json")]
    assert heads == ['{\n  "version": 2,\n  '] * 3  # Inspect's list of logs reads no further than the head
    logs = [read_json(path) for path in (tmp_path / "logs").glob("2*.json")]
    assert {log["eval"]["model"]: len(log["samples"]) for log in logs} == {
        "reference/reference": len(SESSIONS) - 1,
        "agent/own": 1,
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
