"""A record that breaks the contract is refused in one line that names the file, the field and the remedy."""

import json
from pathlib import Path
from typing import Any

import pytest

from authoring import templates
from pipeline.files import read_record, read_records, read_scenarios, write_json, write_record
from schema import BadInputError, Fixture, Scenario, Trajectory
from taxonomy import AXES, Combination, balance, combinations, legal


def scenario(index: int = 0) -> Scenario:
    return templates.author(
        Combination("copy_files", "flags", "mail", "help", "medium"), seed=f"schema/{index}", id=f"copy-{index}"
    )


def test_a_record_comes_back_from_disk_as_it_was(tmp_path: Path) -> None:
    record = scenario()
    assert read_record(write_record(tmp_path, record), Scenario) == record
    assert json.loads((tmp_path / "copy-0.json").read_text())["schema_version"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema_version": 9}, "schema_version 9"),
        ({"task": "knitting"}, "not legal"),
        ({"difficulty": "extreme"}, "not legal"),
        ({"colour": "red"}, "colour"),
        ({"directives": []}, "directives"),
        ({"content_hash": "0" * 64}, "content_hash"),
        ({"checker": "exit 1"}, "content_hash"),
        ({"terminal": "quit"}, "terminal"),
        ({"fixtures": [{"path": "/etc/passwd", "text": ""}]}, "fixtures.0.path"),
        ({"fixtures": [{"path": "/home/operator/../x", "text": ""}]}, "fixtures.0.path"),
        ({"fixtures": [{"path": "/home/operator/a", "type": "dir", "text": ""}]}, "fixtures.0"),
        ({"provider": {"path": "/bin/sh", "source": "", "help_commands": ["x"], "directive_commands": ["x"]}}, "path"),
    ],
)
def test_a_bad_field_is_named_with_its_file(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    value = scenario().model_dump(mode="json") | change
    path = tmp_path / "bad.json"
    write_json(path, value)
    with pytest.raises(BadInputError, match=r"bad\.json") as caught:
        read_record(path, Scenario)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "half.json").write_text('{"schema_version": 1, ')
    with pytest.raises(BadInputError, match=r"half\.json: not JSON"):
        read_record(tmp_path / "half.json", Trajectory)


def test_an_unfinished_directory_is_refused_unless_partial_and_a_curated_one_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_record(tmp_path, scenario())
    assert len(read_scenarios(tmp_path)) == 1
    assert "no manifest" in capsys.readouterr().err
    write_json(tmp_path / "manifest.json", {"finished": False})
    with pytest.raises(BadInputError, match="--partial"):
        read_scenarios(tmp_path)
    assert len(read_scenarios(tmp_path, partial=True)) == 1


def test_a_duplicate_id_names_both_files(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no records"):
        read_scenarios(tmp_path)
    path = write_record(tmp_path, scenario())
    (tmp_path / "other.json").write_text(path.read_text())
    with pytest.raises(BadInputError, match=r"other\.json: id: 'copy-0' is also the id in .*/copy-0\.json"):
        read_records(tmp_path, Scenario)


def test_the_hash_covers_the_world_and_not_the_name() -> None:
    record = scenario()
    assert record.model_copy(update={"id": "renamed"}).compute_hash() == record.content_hash
    assert record.model_copy(update={"checker": "exit 0"}).compute_hash() != record.content_hash


def test_binary_content_survives_a_fixture() -> None:
    assert Fixture.of("/home/operator/b", b"\xff\0\n").content() == b"\xff\0\n"
    assert Fixture.of("/home/operator/t", "é\n".encode()).text == "é\n"


def test_a_directory_without_a_mode_can_be_entered() -> None:
    assert Fixture(path="/home/operator/d", type="dir").mode == 0o755
    assert Fixture(path="/home/operator/d", type="dir", mode=0o500).mode == 0o500


def test_axes_are_as_large_as_promised_and_blocked_is_never_easy() -> None:
    from taxonomy import ARCHETYPES

    assert len(ARCHETYPES) >= 24
    assert len({archetype.family for archetype in ARCHETYPES.values()}) >= 8
    assert sum(archetype.terminal == "panic" for archetype in ARCHETYPES.values()) >= 4
    assert len(AXES["provider"]) >= 6
    assert len(AXES["difficulty"]) >= 3
    blocked = [one for one in combinations() if ARCHETYPES[one.task].terminal == "panic"]
    assert blocked
    assert all(one.difficulty != "easy" for one in blocked)
    assert not legal(Combination("copy_files", "flags", "motd", "subhelp", "easy"))


def test_balance_is_one_for_even_and_undefined_for_none() -> None:
    assert balance(["a", "b"] * 5, 2) == pytest.approx(1.0)
    assert balance(["a"] * 5, 2) == pytest.approx(0.5)
    assert balance([], 2) is None
