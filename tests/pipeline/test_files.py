"""Records come back from disk unchanged, and directories that cannot be used are refused by name."""

import json
from pathlib import Path

import pytest

from pipeline.files import read_record, read_records, read_scenarios, write_json, write_record
from schema import BadInputError, Scenario, Trajectory
from tests.helpers.recorded import scenario


def test_records_come_back_unchanged(tmp_path: Path) -> None:
    record = scenario("copy_files", 0)
    assert read_record(write_record(tmp_path, record), Scenario) == record
    assert json.loads((tmp_path / "copy_files-0.json").read_text())["schema_version"] == 1


def test_files_that_are_not_json_are_named(tmp_path: Path) -> None:
    (tmp_path / "half.json").write_text('{"schema_version": 1, ')
    with pytest.raises(BadInputError, match=r"half\.json: not JSON"):
        read_record(tmp_path / "half.json", Trajectory)


def test_unfinished_directory_needs_partial(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_record(tmp_path, scenario("copy_files", 0))
    assert len(read_scenarios(tmp_path)) == 1
    assert "no manifest" in capsys.readouterr().err
    write_json(tmp_path / "manifest.json", {"finished": False})
    with pytest.raises(BadInputError, match="--partial"):
        read_scenarios(tmp_path)
    assert len(read_scenarios(tmp_path, partial=True)) == 1


def test_duplicate_id_names_both_files(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no records"):
        read_scenarios(tmp_path)
    path = write_record(tmp_path, scenario("copy_files", 0))
    (tmp_path / "other.json").write_text(path.read_text())
    with pytest.raises(BadInputError, match=r"other\.json: id: 'copy_files-0' is also the id in .*/copy_files-0\.json"):
        read_records(tmp_path, Scenario)
