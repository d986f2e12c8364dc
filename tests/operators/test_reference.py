"""The reference operator assigns commands to directives and tries blocked ones without harm."""

import random

import pytest

from authoring import templates
from authoring.templates.world import Names
from operators.reference import harmless_attempts, noted, one_at_a_time, parts_of
from schema import HOME, Fixture
from taxonomy import ARCHETYPES
from tests.helpers.hand_scenarios import hand


@pytest.mark.parametrize("task", ARCHETYPES)
def test_commands_are_assigned_to_directives(task: str) -> None:
    for seed in range(12):
        units = templates.units(task, Names(random.Random(f"{task}/{seed}"), awkward=seed % 3 == 0), 2 + seed % 2)
        scenario = hand().model_copy(
            update={
                "directives": [unit.directive for unit in units],
                "reference_solution": [command for unit in units for command in unit.solution],
                "fixtures": [fixture for unit in units for fixture in unit.fixtures],
                "terminal": ARCHETYPES[task].terminal,
            }
        )
        assert parts_of(scenario) == [unit.solution for unit in units]


def test_names_of_fixtures_count_more() -> None:
    work = [
        ["cat moon/*.list | sort -u > olive.txt"],
        ["sort -u apron.list > apron.list.new", "mv apron.list.new apron.list"],
    ]
    scenario = hand().model_copy(
        update={
            "directives": [
                "Collect every different line of the .list files in moon, sort them, and write them to olive.txt.",
                "The file apron.list must end up ordered, every line once, under the same name.",
            ],
            "reference_solution": [command for part in work for command in part],
            "fixtures": [Fixture(path=f"{HOME}/{name}", text="a\n") for name in ("moon/x.list", "apron.list")],
        }
    )
    assert parts_of(scenario) == work


@pytest.mark.parametrize("task", [name for name, archetype in ARCHETYPES.items() if archetype.terminal == "panic"])
def test_attempts_use_names_of_the_directive(task: str) -> None:
    for seed in range(40):
        unit = random.Random(seed).choice(templates.SHAPES[task])(Names(random.Random(seed), awkward=seed % 3 == 0))
        fixtures = [fixture.path for fixture in unit.fixtures]
        attempts = harmless_attempts(task, unit.directive, fixtures, unit.blocked_outputs)
        assert attempts, unit.directive
        for attempt in attempts:
            named = attempt.split()[0] if task == "absent_program" else attempt.split(" ", 1)[1]
            assert named.split()[-1].strip("'").removeprefix("./") in unit.directive, (attempt, unit.directive)


@pytest.mark.parametrize(
    ("kind", "calls", "asked"),
    [
        ("subcommand", ["duty list", "duty 1", "duty 2"], ["duty list", "duty 1", "duty 2", "duty 3"]),
        ("piped", ["echo 1 | duty-2 get", "echo 2 | duty-2 get"], [f"echo {n} | duty-2 get" for n in (1, 2, 3)]),
        ("keyvalue", ["duty part=1", "duty part=2"], ["duty part=1", "duty part=2", "duty part=3"]),
        ("flags", ["duty --first", "duty --last"], ["duty --first", "duty --last"]),
        ("bulletin", ["duty all"], [f"duty all | sed -n {n}p" for n in (1, 2, 3)]),
        (
            "topics",
            ["duty names", "duty on moon", "duty on reef"],
            ["duty names", *(f"duty names | xargs -n 1 duty on | sed -n {n}p" for n in (1, 2, 3))],
        ),
    ],
)  # fmt: skip
def test_directives_are_asked_one_at_a_time(kind: str, calls: list[str], asked: list[str]) -> None:
    provider = hand().provider.model_copy(update={"directive_commands": calls})
    changed = {"provider_kind": kind, "provider": provider, "directives": ["x", "y"]}
    assert one_at_a_time(hand().model_copy(update=changed)) == asked


@pytest.mark.parametrize(
    ("command", "typed"),
    [
        ("sort a | head -n 3 > b", "sort a | head -n 3 > b || failed=1"),
        ("cd moon && rm a", "cd moon && rm a || failed=1"),
        ("cat > a <<EOF\nx\nEOF", "cat > a <<EOF\nx\nEOF"),
        ("echo '# x' >> a", "echo '# x' >> a"),
        ("sleep 1 &", "sleep 1 &"),
    ],
)
def test_commands_note_their_failure(command: str, typed: str) -> None:
    assert noted(command) == typed
