"""Every shape makes varied units whose directives and solutions differ."""

import itertools
from collections.abc import Iterable
from functools import cache

import pytest

from authoring.templates import DOABLE, SHAPES, blocked
from authoring.templates.world import Shape, masked
from dev import commands
from schema import HOME
from taxonomy import ARCHETYPES
from tests.helpers.templates import BLOCKED, NAMED_SHAPES, WORK, every_shape, names_of, unit_of

SEEDS = 25


@cache
def frames_of(shape: Shape) -> tuple[set[str], set[str]]:
    """The masked directives and whole solutions that a shape makes in 30 draws."""
    made = [shape(names_of(seed, awkward=seed % 2 == 1)) for seed in range(30)]
    return {masked(unit.directive) for unit in made}, {masked(" ; ".join(unit.solution)) for unit in made}


def test_three_shapes_and_three_phrasings() -> None:
    assert set(SHAPES) == set(ARCHETYPES)
    assert all(len(shapes) >= 3 for shapes in [*SHAPES.values(), *DOABLE.values()])
    for shape in every_shape().values():
        assert len(frames_of(shape)[0]) >= 3, shape


def test_150_masked_solutions_differ() -> None:
    """Configuration keys and extensions in sed scripts are no names to the mask: those families do not count here."""
    left_out = ("configuration", "renames")
    kept = [arch for arch in SHAPES if ARCHETYPES[arch].family not in left_out]
    masks = {mask for arch in kept for shape in SHAPES[arch] for mask in frames_of(shape)[1]}
    assert len(masks) >= 150


def test_1400_masked_directives_differ() -> None:
    """Of all shapes in 30 draws; 600 draws of each give 3,572."""
    assert len(set().union(*(frames_of(shape)[0] for shape in every_shape().values()))) >= 1400


def test_doable_shapes_are_not_borrowed() -> None:
    borrowed = {shape for shapes in SHAPES.values() for shape in shapes}
    assert set(DOABLE) == {name for name, archetype in ARCHETYPES.items() if archetype.terminal == "panic"}
    assert all(borrowed.isdisjoint(shapes) for shapes in DOABLE.values())
    own = [shape for shapes in DOABLE.values() for shape in shapes]
    assert len(own) == len(set(own))


@pytest.mark.parametrize("archetype", [*WORK, *BLOCKED])
def test_an_archetype_has_three_shapes(archetype: str) -> None:
    tables = [BLOCKED, blocked.DOABLE] if archetype in BLOCKED else [WORK]
    for table in tables:
        assert len(set(table[archetype])) >= 3


def test_modules_cover_their_archetypes() -> None:
    mine = {"counting", "permissions", "archives", "configuration", "renames"}
    mine |= {"comparison", "splitting", "upkeep", "naming"}
    wanted = {entry.name for entry in ARCHETYPES.values() if entry.family in mine or entry.terminal == "panic"}
    assert {*WORK, *BLOCKED} == wanted
    assert set(BLOCKED) == set(blocked.DOABLE) == {a.name for a in ARCHETYPES.values() if a.terminal == "panic"}


@pytest.mark.parametrize(("name", "shape"), NAMED_SHAPES)
def test_a_shape_is_deterministic_and_varied(name: str, shape: Shape) -> None:
    units = [unit_of(shape, seed) for seed in range(SEEDS)]
    assert units == [unit_of(shape, seed) for seed in range(SEEDS)]
    assert len({masked(unit.directive) for unit in units}) >= 3
    assert len({unit.directive for unit in units}) >= SEEDS - 2, "names are not new each time"


@pytest.mark.parametrize("archetype", WORK)
def test_solutions_of_an_archetype_differ(archetype: str) -> None:
    solutions = {masked("\n".join(unit_of(shape, 0).solution)) for shape in WORK[archetype]}
    assert len(solutions) == len(WORK[archetype])


def test_70_masked_solutions_differ() -> None:
    tables = (WORK, blocked.DOABLE)
    shapes = [shape for table in tables for shapes in table.values() for shape in shapes]
    assert len({masked("\n".join(unit_of(shape, seed).solution)) for shape in shapes for seed in range(10)}) >= 70


def test_doable_commands_are_used_nowhere_else() -> None:
    def commands(shapes: Iterable[Shape]) -> set[str]:
        return {masked(command) for shape in shapes for seed in range(6) for command in unit_of(shape, seed).solution}

    elsewhere = commands(itertools.chain(*SHAPES.values()))
    doable = {archetype: commands(shapes) for archetype, shapes in blocked.DOABLE.items()}
    for archetype, own in doable.items():
        assert not own & elsewhere
        assert not any(own & them for other, them in doable.items() if other != archetype)


@pytest.mark.parametrize("awkward", [False, True])
def test_directives_name_new_files_and_no_commands(awkward: bool) -> None:
    for name, shape in NAMED_SHAPES:
        for seed in range(10):
            unit = unit_of(shape, seed, awkward)
            if name.startswith(("count_things", "sum_column", "most_frequent")):
                for entry in unit.after:
                    assert entry.path.removeprefix(HOME + "/") in unit.directive, name
            assert not any(command in unit.directive for command in unit.solution), name
            assert all(len(command) <= 120 for command in unit.solution), (name, unit.solution)


@pytest.mark.parametrize(("name", "shape"), [item for item in NAMED_SHAPES if item[0].split("/")[0] in BLOCKED])
def test_blocked_units_have_no_solution(name: str, shape: Shape) -> None:
    unit = unit_of(shape, 0)
    archetype, _, _ = name.partition("/")
    if shape in BLOCKED[archetype]:
        assert not unit.solution
        assert not unit.after
        assert unit.blocked_outputs
        assert all(path.startswith(f"{HOME}/") for path in unit.blocked_outputs)
    else:
        assert len(unit.solution) == 1
        assert not unit.blocked_outputs


def test_each_core_command_stands_in_three_archetypes() -> None:
    used = commands.mix(12)
    assert {name: sorted(used[name]) for name in commands.CORE if len(used[name]) < 3} == {}
