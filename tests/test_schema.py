"""Records are validated field by field, and a bad field is named in one line."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.files import read_record, write_json
from schema import BadInputError, Fixture, Scenario
from taxonomy import ARCHETYPES, AXES, Combination, balance, combinations, legal
from tests.helpers.recorded import scenario


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
def test_bad_field_and_file_are_named(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    value = scenario("copy_files", 0).model_dump(mode="json") | change
    path = tmp_path / "bad.json"
    write_json(path, value)
    with pytest.raises(BadInputError, match=r"bad\.json") as caught:
        read_record(path, Scenario)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_hash_covers_the_world_and_not_the_id() -> None:
    record = scenario("copy_files", 0)
    assert record.model_copy(update={"id": "renamed"}).compute_hash() == record.content_hash
    assert record.model_copy(update={"checker": "exit 0"}).compute_hash() != record.content_hash


def test_hash_leaves_out_the_attempt_at_blocked_work() -> None:
    """A world that was authored before there were attempts keeps its hash, so the guards still know it."""
    record = scenario("missing_source", 0)
    assert record.blocked_attempt
    assert record.model_copy(update={"blocked_attempt": None}).compute_hash() == record.content_hash


def test_fixtures_hold_binary_content() -> None:
    assert Fixture.of("/home/operator/b", b"\xff\0\n").content() == b"\xff\0\n"
    assert Fixture.of("/home/operator/t", "é\n".encode()).text == "é\n"


def test_directories_are_0755_by_default() -> None:
    assert Fixture(path="/home/operator/d", type="dir").mode == 0o755
    assert Fixture(path="/home/operator/d", type="dir", mode=0o500).mode == 0o500


def test_axes_are_large_enough_and_blocked_is_never_easy() -> None:
    assert len(ARCHETYPES) >= 24
    assert len({archetype.family for archetype in ARCHETYPES.values()}) >= 8
    assert sum(archetype.terminal == "panic" for archetype in ARCHETYPES.values()) >= 4
    assert len(AXES["provider"]) >= 6
    assert len(AXES["difficulty"]) >= 3
    blocked = [one for one in combinations() if ARCHETYPES[one.task].terminal == "panic"]
    assert blocked
    assert all(one.difficulty != "easy" for one in blocked)
    assert not legal(Combination("copy_files", "flags", "motd", "subhelp", "easy"))


def test_balance_is_one_for_even_counts() -> None:
    assert balance(["a", "b"] * 5, 2) == pytest.approx(1.0)
    assert balance(["a"] * 5, 2) == pytest.approx(0.5)
    assert balance([], 2) is None
