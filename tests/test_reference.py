"""The reference operator knows which commands belong to which directive, and how to try what cannot be done."""

import random

import pytest
from hand_scenarios import hand

import templates
from reference import harmless_attempts, one_more, parts_of
from schema import HOME, Fixture
from taxonomy import ARCHETYPES
from templates.world import Names


@pytest.mark.parametrize("task", ARCHETYPES)
def test_the_commands_of_each_directive_are_told_apart(task: str) -> None:
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


def test_names_of_the_world_say_more_than_words_of_the_shell() -> None:
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
def test_what_cannot_be_done_is_tried_with_the_names_of_its_directive(task: str) -> None:
    for seed in range(40):
        unit = random.Random(seed).choice(templates.SHAPES[task])(Names(random.Random(seed), awkward=seed % 3 == 0))
        fixtures = [fixture.path for fixture in unit.fixtures]
        attempts = harmless_attempts(task, unit.directive, fixtures, unit.blocked_outputs)
        assert attempts, unit.directive
        for attempt in attempts:
            named = attempt.split()[0] if task == "absent_program" else attempt.split(" ", 1)[1]
            assert named.split()[-1].strip("'").removeprefix("./") in unit.directive, (attempt, unit.directive)


@pytest.mark.parametrize(
    ("calls", "directives", "asked"),
    [
        (["duty list", "duty show 1", "duty show 2"], 2, ["duty show 3"]),
        (["echo 1 | duty-9 get"], 1, ["echo 2 | duty-9 get"]),
        (["duty part=1", "duty part=2", "duty part=3"], 3, ["duty part=4"]),
        (["duty all"], 2, []),
        (["duty names", "duty on moon", "duty on reef"], 2, []),
    ],
)
def test_numbers_are_asked_until_there_are_no_more(calls: list[str], directives: int, asked: list[str]) -> None:
    provider = hand().provider.model_copy(update={"directive_commands": calls})
    assert one_more(hand().model_copy(update={"provider": provider, "directives": ["x"] * directives})) == asked
