"""Records are validated field by field, and a bad field is named in one line."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pipeline.files import read_record, read_taxonomy, write_json
from schema import HOME, BadInputError, Fixture, Scenario, Trajectory
from taxonomy import ARCHETYPES, AXES, Combination, balance, combinations, legal
from tests.helpers import ROOT, tiny
from tests.helpers.hand_scenarios import hand
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


OWN = {
    "name": "own",
    "archetypes": [{"name": "mine", "family": "text", "summary": "sort it", "terminal": "panic"}],
    "providers": [{"name": "asked", "summary": "`P what` prints all", "doc_depths": ["usage"], "like": "bulletin"}],
    "announcements": [{"name": "ticket", "summary": "a ticket", "like": "file"}],
}


def test_a_scenario_of_an_own_taxonomy_reads_alone_and_keeps_its_hash() -> None:
    shipped = hand(blocked=True)
    value = json.loads(shipped.model_dump_json(exclude_none=True, exclude={"content_hash"}))
    assert "taxonomy" not in value
    own = Scenario.model_validate({**value, "task": "mine", "taxonomy": OWN})
    again = Scenario.model_validate_json(own.model_dump_json(exclude_none=True))
    assert again == own
    renamed = {**OWN, "name": "other", "sha256": "0" * 64}
    assert Scenario.model_validate({**value, "task": "mine", "taxonomy": renamed}).content_hash == own.content_hash
    assert Scenario.model_validate({**value, "taxonomy": OWN}).content_hash == shipped.content_hash


@pytest.mark.parametrize(
    "change",
    [{"taxonomy": None}, {"difficulty": "easy"}, {"provider_kind": "asked", "doc_depth": "help"}, {"task": "mime"}],
)
def test_values_of_an_own_taxonomy_are_refused_where_they_are_not_legal(change: dict[str, Any]) -> None:
    value = json.loads(hand(blocked=True).model_dump_json(exclude_none=True, exclude={"content_hash"}))
    with pytest.raises(ValidationError, match="is not legal"):
        Scenario.model_validate({**value, "task": "mine", "taxonomy": OWN, **change})


def test_an_own_channel_is_shown_as_the_one_it_is_like() -> None:
    value = json.loads(hand().model_dump_json(exclude_none=True, exclude={"content_hash"}))
    ticket = {"channel": "ticket", "like": "file", "text": "duty", "place": f"{HOME}/ticket"}
    made = Scenario.model_validate({**value, "announcement_channel": "ticket", "announcement": ticket, "taxonomy": OWN})
    assert made.world_fixtures()[-1].path == f"{HOME}/ticket"
    wrong = {**ticket, "like": "motd", "place": None}
    with pytest.raises(ValidationError, match="must be 'file'"):
        Scenario.model_validate({**value, "announcement_channel": "ticket", "announcement": wrong, "taxonomy": OWN})
    with pytest.raises(ValidationError, match="takes no like"):
        Scenario.model_validate({**value, "announcement": {**value["announcement"], "like": "motd"}})


def test_a_trajectory_holds_the_values_of_its_taxonomy() -> None:
    value = json.loads(tiny.trajectory().model_dump_json(exclude_none=True))
    own = {**value, "axes": {**value["axes"], "task": "mine"}, "taxonomy": OWN}
    assert Trajectory.model_validate(own).axes["task"] == "mine"
    with pytest.raises(ValidationError, match="one known value per axis"):
        Trajectory.model_validate({**own, "taxonomy": {**OWN, "archetypes": []}})


def test_the_taxonomy_on_its_page_is_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "bring_your_own.md").read_text()
    (tmp_path / "kitchen.json").write_text(page.partition("```json\n")[2].partition("```")[0])
    own = read_taxonomy(tmp_path / "kitchen.json")
    assert [one.name for one in own.archetypes] == ["scale_recipe", "missing_recipe"]
    assert own.sha256
