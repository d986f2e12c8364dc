"""Text of held-out scenarios is found in the data, whatever names it holds."""

import functools
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from pipeline import stage
from authoring import templates
from authoring.templates.providers import provider
from authoring.templates.world import Names
from contamination import found_in, grams_in, grams_of, runs_of, was_read, whole, whole_commands
from pipeline.files import read_scenarios, write_json, write_record
from records.overlap import CountedSessions
from schema import BadInputError, Message, Scenario
from taxonomy import ANNOUNCEMENTS, PROVIDERS, Combination
from tests.helpers import tiny


def scenario(seed: str, task: str = "filter_rows") -> Scenario:
    return templates.author(Combination(task, "subcommand", "motd", "subhelp", "easy"), seed=seed, id=f"s-{seed}")


def test_sentences_are_found_under_other_names() -> None:
    asked = "Save the rows of cake/pasta.csv whose column 3 is less than 73 as badger.csv, sorted by the first column."
    again = "Save the rows of fox.csv whose column 2 is less than 5 as maple/lime.csv, sorted by the first column."
    runs = {"directives": grams_in(asked)}
    assert len(grams_in(asked)) > 1
    assert found_in(runs, [f"#1 {again}"]) == grams_in(asked)
    assert len(found_in(runs, [again.replace("sorted", "ordered")])) == 2
    assert found_in(runs, ["Sort the rows of fox.csv."]) == set()


def test_short_texts_count_and_bare_names_do_not() -> None:
    assert grams_in("Delete the empty files below acorn.") == {("delete", "the", "empty", "files", "below", "n")}
    assert grams_in("acorn agate alder almond amber anchor angle anvil apple apron arbor arctic armor arrow") == set()


def test_short_commands_are_counted_as_wholes() -> None:
    """A command of fewer than four words has no 13-gram, and a session may hold it under other names."""
    assert grams_in("rm acorn.txt") == set()
    assert whole("rm acorn.txt") in runs_of("rm maple/lime.txt || failed=1")
    assert whole("rm acorn.txt") in runs_of("cd maple && rm lime.txt; ls")
    assert whole("cd acorn && rm amber") in runs_of("cd maple  &&  rm lime || failed=1")
    assert whole("rm acorn.txt") not in runs_of("rm -r acorn.txt")
    held = scenario("a").model_copy(update={"reference_solution": ["rm acorn.txt", "mkdir -p amber"]})
    counts = whole_commands([held], ["rm lime.txt || failed=1", "exit"])
    assert (counts["distinct"], counts["distinct_read"]) == (2, 1)
    assert (counts["distinct_short"], counts["distinct_short_read"]) == (2, 1)
    assert (counts["solutions_none_read"], counts["solutions_all_read"]) == (0, 0)
    assert counts["mean_share_of_a_solution"] == 0.5


def test_provider_names_are_masked() -> None:
    read = "Every shift starts with a look at what desk-amber or amber_docket has."
    assert grams_in(read) == grams_in(read.replace("desk-amber", "amber").replace("amber_docket", "pear"))
    held = scenario("b")
    called = {
        "path": "/usr/local/bin/unheardof",
        "source": held.provider.source.replace(held.provider.path.rpartition("/")[2], "unheardof"),
    }
    again = held.model_copy(update={"provider": held.provider.model_copy(update=called)})
    assert grams_of(again)["providers"] == grams_of(held)["providers"] != set()


def test_quoted_directives_are_not_provider_text() -> None:
    asked = "Delete the rows of 'amber agate.csv' that it's said to have."
    names = Names(random.Random(1))
    made = provider("bulletin", "usage", [asked], names, names.rng)
    held = scenario("a").model_copy(update={"provider": made, "directives": [asked]})
    assert "'\"'\"'" in made.source
    assert grams_of(held)["providers"] & grams_in(asked) == set()
    assert all("rows" not in run for run in grams_of(held)["providers"])


@pytest.mark.parametrize("part", ["directives", "announcements", "providers", "commands"])
def test_one_part_makes_a_scenario_read(part: str) -> None:
    held, other = grams_of(scenario("a")), grams_of(scenario("b", task="make_links"))
    assert all(held.values())
    assert was_read(held, set(held[part]))
    assert not was_read(other, set(held[part]))


def test_wordings_rarely_repeat() -> None:
    """Of 400 scenarios of every kind, depth and channel most share nothing but directives with any other."""
    ways = [
        Combination("filter_rows", kind, channel, depth, "hard")
        for kind, depths in PROVIDERS.items()
        for depth in depths
        for channel in ANNOUNCEMENTS
    ]
    combinations = (ways * 5)[:400]
    made = [grams_of(templates.author(one, seed=str(at), id=f"s-{at}")) for at, one in enumerate(combinations)]
    said = [runs["announcements"] | runs["providers"] for runs in made]
    times = Counter(run for runs in said for run in runs)
    alone = [runs for runs in said if all(times[run] == 1 for run in runs)]
    assert len(alone) > 0.85 * len(said)


def test_directives_in_trajectories_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from contamination import main

    held = scenario("a")
    row = tiny.trajectory()
    row.messages.insert(2, Message(role="user", content=held.directives[0]))
    write_record(tmp_path / "holdout", held)
    write_record(tmp_path / "data", row)
    out = tmp_path / "run" / "overlap.json"
    holdout = tmp_path / "holdout"
    count = functools.partial(main, holdout=holdout, scenarios=None, out=out, partial=False, redo=False)
    count(data=tmp_path / "data", unread=None)
    figures = json.loads(capsys.readouterr().out)
    assert json.loads(out.read_text()) == figures
    found = figures["shared"]["data"]["directives"]
    assert found["shared"] == found["runs"] == len(grams_of(held)["directives"])
    assert figures["sessions"] == CountedSessions.of([(row.id, row.scenario_hash)]).model_dump()
    write_record(tmp_path / "others", scenario("b", task="sum_column"))
    with pytest.raises(BadInputError, match="no trajectory of 1 scenarios"):
        count(data=tmp_path / "data", scenarios=tmp_path / "others", unread=None)
    unread = tmp_path / "unread"
    with pytest.raises(BadInputError, match="something of every scenario was read before"):
        count(data=tmp_path / "data", unread=unread)
    assert not unread.exists()
    other = scenario("b", task="sum_column")
    write_record(holdout, other)
    write_json(holdout / "manifest.json", {"finished": True, "flags": {"by": "archetype"}})
    capsys.readouterr()
    for _ in range(2):  # a rerun finds what it wrote
        count(data=tmp_path / "data", unread=unread)
        assert json.loads(capsys.readouterr().out)["left_out"] == [held.id]
        assert [record.id for record in read_scenarios(unread)] == [other.id]
        assert stage.split_kind(unread) == "archetype"
    write_record(holdout, scenario("c", task="sum_column"))
    with pytest.raises(BadInputError, match="differs from the one begun there"):
        count(data=tmp_path / "data", unread=unread)


def test_solutions_stand_for_the_sessions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from contamination import main

    holdout = tmp_path / "holdout"
    write_record(holdout, scenario("a"))
    write_record(holdout, scenario("b", task="sum_column"))
    count = functools.partial(main, holdout=holdout, data=None, out=None, partial=False, redo=False)
    count(scenarios=holdout, unread=None)  # its own solutions: all of them are found
    figures = json.loads(capsys.readouterr().out)
    counts = figures["whole_commands"]
    assert figures["shared"] == {}
    assert counts["distinct"] == counts["distinct_read"] > 0
    assert counts["solutions_all_read"] == counts["solutions"] == 2
    with pytest.raises(BadInputError, match="--unread: needs the trajectories of --data"):
        count(scenarios=holdout, unread=tmp_path / "unread")
    with pytest.raises(BadInputError, match="--data: missing"):
        count(scenarios=None, unread=None)
