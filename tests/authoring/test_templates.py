"""The author is deterministic and varied, and its scenarios pass the text checks and their own checkers."""

import random
from itertools import pairwise

import pytest

from authoring import templates
from authoring.gate import gate
from authoring.templates import author
from authoring.templates.world import masked
from authoring.text_gate import CHECKS
from sandbox.session import session
from schema import Scenario
from taxonomy import ANNOUNCEMENTS, ARCHETYPES, DIFFICULTIES, Combination, combinations
from tests.helpers.templates import BLOCKED, WORK, names_of

OWN = [name for name in ARCHETYPES if name not in {*WORK, *BLOCKED}]  # the others: test_shapes_in_the_sandbox.py
LEGAL = list(combinations())


def some(seed: object, **axes: str) -> Scenario:
    """A scenario with these axis values, the others drawn by the seed."""
    fitting = [c for c in LEGAL if all(getattr(c, axis) == value for axis, value in axes.items())]
    return author(random.Random(f"{seed}").choice(fitting), seed=f"{seed}", id="tried")


def test_author_is_deterministic() -> None:
    combination = next(combinations())
    one, again = (author(combination, seed="7", id="tried") for _ in range(2))
    assert one == again
    assert author(combination, seed="7", id="other").content_hash == one.content_hash
    assert author(combination, seed="8", id="tried").content_hash != one.content_hash


@pytest.mark.parametrize("archetype", sorted(ARCHETYPES))
def test_scenarios_pass_the_text_checks(archetype: str) -> None:
    for difficulty in DIFFICULTIES:
        if difficulty == "easy" and ARCHETYPES[archetype].terminal == "panic":
            continue
        for seed in range(8):
            scenario = some(f"{archetype}-{difficulty}-{seed}", task=archetype, difficulty=difficulty)
            for check in CHECKS:
                check(scenario)
            assert len(scenario.directives) == DIFFICULTIES[difficulty].directives
            assert all(len(directive) <= 250 for directive in scenario.directives)
            assert all(len(command) <= 140 for command in scenario.reference_solution)
            assert len(scenario.announcement.text) <= 200


def test_every_combination_is_authored() -> None:
    for combination in combinations():
        if combination.task == "copy_files" and combination.difficulty == "medium":
            scenario = author(combination, seed="axes", id="tried")
            assert scenario.combination() == combination
            assert scenario.announcement.channel in ANNOUNCEMENTS


def test_hard_scenarios_repeat_no_shape() -> None:
    for archetype in OWN:
        scenario = some(archetype, task=archetype, difficulty="hard")
        assert len({masked(directive) for directive in scenario.directives}) == 3


def test_names_are_fresh() -> None:
    words = names_of("w").words(300)
    assert len(set(words)) == 300
    worlds = [{entry.path for entry in some(seed, task="copy_files", difficulty="hard").fixtures} for seed in range(5)]
    assert all(one.isdisjoint(other) for one, other in pairwise(worlds))
    programs = {some(seed, task="copy_files").provider.path for seed in range(40)}
    assert len(programs) == 40


def test_awkward_names_in_hard_scenarios_only() -> None:
    def awkward(scenario: Scenario) -> bool:
        return any(" " in entry.path or "/-" in entry.path for entry in scenario.fixtures)

    assert any(awkward(some(seed, task="copy_files", difficulty="hard")) for seed in range(5))
    for difficulty in ("easy", "medium"):
        assert not any(awkward(some(seed, difficulty=difficulty)) for seed in range(40))


def test_distractors_grow_with_difficulty() -> None:
    for difficulty, wanted in DIFFICULTIES.items():
        scenario = some("d", task="make_tree", difficulty=difficulty)
        asked = " ".join([*scenario.directives, *scenario.reference_solution])
        others = [entry for entry in scenario.fixtures if entry.path.rpartition("/")[2] not in asked]
        assert len(others) == wanted.distractors


@pytest.mark.docker
@pytest.mark.parametrize("archetype", OWN)
def test_the_solution_passes_in_the_sandbox(archetype: str) -> None:
    combination = Combination(archetype, "subcommand", "file", "subhelp", "hard")
    scenario = author(combination, seed=f"sandbox-{archetype}", id="tried")
    program = (scenario.provider.path, scenario.provider.source)
    with session(scenario.world_fixtures(), provider=program) as shell:
        printed = [shell.step(command).output for command in scenario.provider.directive_commands]
        assert all(any(directive in output for output in printed) for directive in scenario.directives)
        for command in scenario.reference_solution:
            step = shell.step(command)
            assert step.exit_code == 0, step
        check = shell.verify(scenario.checker)
    assert check.passed, (check, scenario.reference_solution)


def scenario_of(archetype: str, number: int) -> Scenario:
    """A scenario of the archetype, of any legal combination, drawn by number."""
    rng = random.Random(f"gate/{archetype}/{number}")
    choices = [combination for combination in combinations() if combination.task == archetype]
    return templates.author(rng.choice(choices), seed=f"{archetype}/{number}", id=f"{archetype}-{number}")


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.parametrize("archetype", ["pack_archive", "set_modes", "rename_prefix", *BLOCKED])
def test_the_gate_admits_templates(archetype: str) -> None:
    for number in range(3 if archetype in BLOCKED else 1):
        result = gate(scenario_of(archetype, number))
        assert result.admitted, (number, result.gate, result.reason)


def test_blocked_scenarios_need_all_doable_work() -> None:
    for archetype in BLOCKED:
        scenario = scenario_of(archetype, 1)
        assert len(scenario.reference_solution) == len(scenario.directives) - 1
        assert scenario.terminal == "panic"
