"""The reference operator finishes scenarios of every kind, and uses only text that it was shown."""

import random

import pytest

from authoring import templates
from authoring.templates.world import Names
from operators.reference import ReferenceOperator, harmless_attempts, made_things, parts_of
from pipeline.verdicts import events_of
from schema import HOME, Fixture, Scenario, Trajectory
from taxonomy import ARCHETYPES
from tests.helpers.hand_scenarios import hand
from tests.helpers.rollouts import COMBINATIONS, made, play


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
    ("directive", "typed", "products"),
    [
        ("Sort a.txt into b.txt.", ["sort a.txt > b.txt"], ["b.txt"]),
        ("Rename a.txt to 'b c.txt'.", ["mv a.txt 'b c.txt'"], ["b c.txt"]),
        ("Write 'all is well' to moon/b.", ["echo 'all is well' > moon/b"], ["moon/b"]),
        ("Copy the files b.txt and a.txt of moon to reef/c.", ["cp moon/*.txt reef/c"], ["reef/c"]),
        ("Get b.txt out of x.tar and into c.txt.", ["tar -xOf x.tar b.txt > c.txt"], ["c.txt"]),
        ("Save http://a.example/b.txt as page.html.", [], ["page.html"]),
        ("Write hello to /etc/motd.new.", [], ["/etc/motd.new"]),
        ("Delete a.txt.", ["rm a.txt"], []),
    ],
)
def test_what_the_directives_ask_for_is_listed(directive: str, typed: list[str], products: list[str]) -> None:
    changed = {
        "directives": [directive],
        "fixtures": [Fixture(path=f"{HOME}/{name}", text="a\n") for name in ("a.txt", "moon/a.txt", "x.tar")],
    }
    assert made_things(hand().model_copy(update=changed), {0: typed}) == products


@pytest.fixture(scope="module")
def rollouts() -> list[tuple[Scenario, Trajectory]]:
    return [(one, play(ReferenceOperator(), one, seed=4, max_steps=40, timeout_seconds=20)) for one in made()]


@pytest.mark.docker
def test_reference_rollouts_are_kept(rollouts: list[tuple[Scenario, Trajectory]]) -> None:
    assert [(one.id, trajectory.reasons) for one, trajectory in rollouts if not trajectory.kept] == []
    assert {trajectory.outcome for _, trajectory in rollouts} == {"exit", "panic"}
    for one, trajectory in rollouts:
        assert all(vars(events_of(trajectory, one.directives)).values())


@pytest.mark.docker
def test_reference_uses_only_shown_text(rollouts: list[tuple[Scenario, Trajectory]]) -> None:
    in_time: list[bool] = []
    for scenario, trajectory in rollouts:
        name = scenario.provider.path.rpartition("/")[2]
        line = next(line for line in scenario.announcement.text.splitlines() if name in line)
        screen = ""
        for message in trajectory.messages:
            if message.role == "assistant":
                if name in message.content:
                    assert line in screen, scenario.id
                parts = zip(scenario.directives, parts_of(scenario), strict=True)
                in_time += [text in screen for text, part in parts if any(one in message.content for one in part)]
            else:
                screen += message.content
    assert all(in_time)
    assert len(in_time) > len(rollouts)


@pytest.mark.docker
def test_the_last_look_tells_exit_from_panic(rollouts: list[tuple[Scenario, Trajectory]]) -> None:
    missing = []
    for scenario, trajectory in rollouts:
        look = next(step for step in reversed(trajectory.steps) if step.command.split()[0] == "ls")
        if scenario.terminal == "exit":
            assert "No such file" not in look.output, scenario.id
        else:
            missing.append("No such file" in look.output)
    assert sum(missing) > 0.7 * len(missing)  # the others asked for no file by a name


@pytest.mark.docker
def test_panic_reasons_are_shown_text(rollouts: list[tuple[Scenario, Trajectory]]) -> None:
    for scenario, trajectory in rollouts:
        if scenario.terminal == "panic":
            reason = str(trajectory.terminal).rpartition(": ")[2]
            assert reason
            assert reason in "".join(turn.content for turn in trajectory.messages if turn.role == "user"), scenario.id


@pytest.mark.docker
def test_samples_vary_with_the_seed() -> None:
    scenario = made(4)[3]

    def commands_of(sample: int) -> list[str]:
        trajectory = play(ReferenceOperator(), scenario, sample=sample, seed=0, max_steps=40, timeout_seconds=20)
        assert trajectory.kept
        return trajectory.commands

    ways = [commands_of(sample) for sample in range(4)]
    assert len({tuple(way) for way in ways}) > 1
    assert commands_of(2) == ways[2]


def test_every_blocked_archetype_is_covered() -> None:
    blocked = {name for name, archetype in ARCHETYPES.items() if archetype.terminal == "panic"}
    assert blocked <= {one.task for one in COMBINATIONS}
