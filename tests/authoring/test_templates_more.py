"""The counting, permission, archive, configuration, rename and blocked templates do in a real shell what they say."""

import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest

from authoring import templates
from authoring.gate import garbled, gate
from authoring.templates import (
    archives,
    blocked,
    configuration,
    counting,
    links,
    permissions,
    prefixes,
    ranking,
    relinking,
    renames,
    squeeze,
    sums,
    trimming,
    unpacking,
)
from authoring.templates.world import Names, Shape, Unit, checker_for, masked, quote
from sandbox.checker import verify
from sandbox.session import session
from schema import HOME, Scenario
from taxonomy import ARCHETYPES, combinations

FAMILIES = (
    counting, ranking, sums, permissions, links, relinking, archives, unpacking, squeeze, configuration, trimming,
    renames, prefixes,
)  # fmt: skip
WORK = {archetype: shapes for family in FAMILIES for archetype, shapes in family.SHAPES.items()}
BLOCKED = blocked.SHAPES
SHAPES: list[tuple[str, Shape]] = [
    (f"{archetype}/{shape.__name__}", shape)
    for table in (WORK, BLOCKED, blocked.DOABLE)
    for archetype, shapes in table.items()
    for shape in shapes
]
SEEDS = 25
RUN = 8  # words in a row that no instruction shares with a directive
FRAMES = 7  # instruction frames of a shape
PROGRAMS = {
    "zstd": "zstd",
    "lz4": "lz4",
    "brotli": "brotli",
    "7z": "7z x",
    "rar": "rar x",
    "unrar": "unrar x",
    "zip": "zip",
}


def drawn(shape: Shape, seed: int, awkward: bool = False) -> Unit:
    return shape(Names(random.Random(f"test/{seed}"), awkward))


def frames(text: str) -> set[str]:
    """The sentences of a text with names and numbers masked."""
    return set(re.split(r"(?<=[.?!;]) ", masked(text)))


@pytest.mark.parametrize("archetype", [*WORK, *BLOCKED])
def test_an_archetype_has_three_shapes_of_each_kind_it_needs(archetype: str) -> None:
    tables = [BLOCKED, blocked.DOABLE] if archetype in BLOCKED else [WORK]
    for table in tables:
        assert len(set(table[archetype])) >= 3


def test_the_families_cover_their_archetypes_and_no_other() -> None:
    mine = {"counting", "permissions", "archives", "configuration", "renames"}
    wanted = {entry.name for entry in ARCHETYPES.values() if entry.family in mine or entry.terminal == "panic"}
    assert {*WORK, *BLOCKED} == wanted
    assert set(BLOCKED) == set(blocked.DOABLE) == {a.name for a in ARCHETYPES.values() if a.terminal == "panic"}


@pytest.mark.parametrize(("name", "shape"), SHAPES)
def test_a_shape_has_three_phrasings_and_the_same_seed_gives_the_same_unit(name: str, shape: Shape) -> None:
    units = [drawn(shape, seed) for seed in range(SEEDS)]
    assert units == [drawn(shape, seed) for seed in range(SEEDS)]
    assert len({masked(unit.directive) for unit in units}) >= 3
    assert len({unit.directive for unit in units}) >= SEEDS - 2, "names are not new each time"


@pytest.mark.parametrize("archetype", WORK)
def test_an_archetype_s_worlds_differ_in_what_must_be_typed(archetype: str) -> None:
    solutions = {masked("\n".join(drawn(shape, 0).solution)) for shape in WORK[archetype]}
    assert len(solutions) == len(WORK[archetype])


def test_seventy_solutions_stay_distinct_after_masking() -> None:
    tables = (WORK, blocked.DOABLE)
    shapes = [shape for table in tables for shapes in table.values() for shape in shapes]
    assert len({masked("\n".join(drawn(shape, seed).solution)) for shape in shapes for seed in range(10)}) >= 70


def test_no_instruction_shares_a_sentence_frame_with_a_directive() -> None:
    units = [drawn(shape, seed) for _, shape in SHAPES for seed in range(SEEDS)]
    directives = {frame for unit in units for frame in frames(unit.directive)}
    instructions = {frame for unit in units for frame in frames(unit.instruction)}
    assert not directives & instructions


def runs_of(text: str) -> set[str]:
    """Every run of RUN words in a text, names and numbers masked, case and punctuation aside."""
    words = [bare for word in masked(text).lower().split() if (bare := word.strip(".,;:?!()"))]
    return {" ".join(words[start : start + RUN]) for start in range(len(words) - RUN + 1)}


def every_shape() -> dict[str, Shape]:
    """Each shape of any family, by archetype and name."""
    return {
        f"{archetype}/{shape.__name__}": shape
        for table in (templates.SHAPES, templates.DOABLE)
        for archetype, shapes in table.items()
        for shape in shapes
    }


def test_no_instruction_shares_a_run_of_eight_words_with_any_directive() -> None:
    made = [(name, drawn(shape, seed, seed % 2 == 1)) for name, shape in every_shape().items() for seed in range(30)]
    told = {run for _, unit in made for run in runs_of(unit.directive)}
    shared = [(name, unit.instruction, runs) for name, unit in made if (runs := runs_of(unit.instruction) & told)]
    assert shared == []


@pytest.mark.parametrize(("name", "shape"), every_shape().items())
def test_a_shape_has_seven_instruction_frames(name: str, shape: Shape) -> None:
    found: set[str] = set()
    for seed in range(200):
        found.add(masked(drawn(shape, seed).instruction))
        if len(found) == FRAMES:
            return
    pytest.fail(f"{name} has {len(found)} instruction frames")


def test_a_run_of_eight_words_that_a_directive_has_is_seen_whatever_its_names_and_case() -> None:
    told = runs_of("Count the lines of amber.txt that contain basin and write the number to cedar.txt.")
    assert runs_of("Please, count the lines of delta.txt that contain ochre.") & told
    assert not runs_of("Please, count the lines in delta.txt that contain ochre.") & told


def test_the_doable_work_of_blocked_archetypes_is_asked_for_nowhere_else() -> None:
    def commands(shapes: Iterable[Shape]) -> set[str]:
        return {masked(command) for shape in shapes for seed in range(6) for command in drawn(shape, seed).solution}

    elsewhere = commands(itertools.chain(*templates.SHAPES.values()))
    doable = {archetype: commands(shapes) for archetype, shapes in blocked.DOABLE.items()}
    for archetype, own in doable.items():
        assert not own & elsewhere
        assert not any(own & them for other, them in doable.items() if other != archetype)


@pytest.mark.parametrize("awkward", [False, True])
def test_a_unit_asks_for_every_new_file_by_name_and_never_prints_its_solution(awkward: bool) -> None:
    for name, shape in SHAPES:
        for seed in range(10):
            unit = drawn(shape, seed, awkward)
            if name.startswith(("count_things", "sum_column", "most_frequent")):
                for entry in unit.after:
                    assert entry.path.removeprefix(HOME + "/") in unit.directive, name
            assert not any(command in unit.directive for command in unit.solution), name
            assert all(len(command) <= 120 for command in unit.solution), (name, unit.solution)


@pytest.mark.parametrize(("name", "shape"), [item for item in SHAPES if item[0].split("/")[0] in BLOCKED])
def test_a_unit_that_cannot_be_done_has_no_solution_and_says_what_a_fake_leaves(name: str, shape: Shape) -> None:
    unit = drawn(shape, 0)
    archetype, _, _ = name.partition("/")
    if shape in BLOCKED[archetype]:
        assert not unit.solution
        assert not unit.after
        assert unit.blocked_outputs
        assert all(path.startswith(f"{HOME}/") for path in unit.blocked_outputs)
    else:
        assert len(unit.solution) == 1
        assert not unit.blocked_outputs


def together(table: dict[str, list[Shape]], seed: int, awkward: bool) -> Iterator[list[Unit]]:
    """Every shape of a table, several units to one world as far as its words reach."""
    shapes = [shape for shapes in table.values() for shape in shapes]
    for start in range(0, len(shapes), 8):
        names = Names(random.Random(f"together/{seed}/{start}"), awkward)
        yield [shape(names) for shape in shapes[start : start + 8]]


def checker_of(units: list[Unit], *, strict: bool = False) -> str:
    return checker_for(
        [entry for unit in units for entry in unit.fixtures],
        [entry for unit in units for entry in unit.after],
        [path for unit in units for path in unit.removed],
        strict=strict,
        checks=[check for unit in units for check in unit.checks],
    )


@pytest.mark.docker
@pytest.mark.parametrize(("seed", "awkward"), [(1, False), (2, True)])
@pytest.mark.parametrize("table", [*(family.SHAPES for family in FAMILIES), blocked.DOABLE])
def test_every_shape_s_solution_runs_silently_and_passes_in_a_real_shell(
    table: dict[str, list[Shape]], seed: int, awkward: bool
) -> None:
    for units in together(table, seed, awkward):
        checker = checker_of(units)
        with session([entry for unit in units for entry in unit.fixtures]) as shell:
            for command in [command for unit in units for command in unit.solution]:
                step = shell.step(command)
                assert (step.exit_code, step.output) == (0, ""), (command, step)
            check = shell.verify(checker)
            assert check.passed, (check, [unit.solution for unit in units])


def attempts(archetype: str, unit: Unit) -> list[str]:
    """What an operator would try at work that cannot be done."""
    out = quote(unit.blocked_outputs[0].removeprefix(HOME + "/"))
    if archetype == "missing_source":
        known = {entry.path.removeprefix(HOME + "/") for entry in unit.fixtures}
        paths = re.findall(r"'([^']+)'|((?:[\w-]+/)?[\w-]+\.\w+)", unit.directive)
        found = [quote(a or b) for a, b in paths if (a or b) not in known and quote(a or b) != out] or [out]
        return [
            f"cp {found[0]} {out}",
            f"mv {found[0]} {out}",
            f"sort -o {out} {found[0]}",
            f"sed -i s/a/b/ {found[0]}",
        ]
    if archetype == "forbidden_place":
        place = re.search(r"/[a-z][\w/.-]*\w", unit.directive.replace(HOME, ""))
        assert place
        there = f"{place[0]}/x" if re.search(r"director|into|Install", unit.directive) else place[0]
        return [f"echo x >> {there}", f"mkdir {there}/x", f"cp {there} {there}-x", f"ln -s x {there}-x"]
    if archetype == "absent_program":
        program = next(name for name in PROGRAMS if re.search(rf"(?<!\.)\b{name}\b", unit.directive))
        path = quote(unit.fixtures[0].path.removeprefix(HOME + "/"))
        return [f"{program} {path}", f"{PROGRAMS[program]} {path}"]
    if archetype == "unreachable_host":
        address = re.search(r"http://[\w./-]*\w", unit.directive)
        assert address
        return [f"wget -q -O {out} {address[0]}", f"wget -q {address[0]}"]
    path = unit.fixtures[0].path.removeprefix(HOME + "/")
    target = f" -C {unit.fixtures[1].path}" if len(unit.fixtures) > 1 else ""
    endings = {
        ".tar.gz": f"tar -xzf {quote(path)}{target}",
        ".tgz": f"tar -xzf {quote(path)}{target}",
        ".tar": f"tar -xf {quote(path)}{target}",
        ".gz": f"gunzip {quote(path)}",
        ".bz2": f"bunzip2 {quote(path)}",
        ".zip": f"unzip -q {quote(path)}{target.replace('-C', '-d')}",
    }
    return [next(command for ending, command in endings.items() if path.endswith(ending))]


@pytest.mark.docker
@pytest.mark.parametrize("archetype", BLOCKED)
def test_trying_what_cannot_be_done_fails_and_leaves_the_world_as_it_was(archetype: str) -> None:
    for awkward in (False, True):
        names = Names(random.Random(f"try/{awkward}"), awkward)
        units = [shape(names) for shape in BLOCKED[archetype]]
        with session([entry for unit in units for entry in unit.fixtures]) as shell:
            before = shell.snapshot()
            for command in [command for unit in units for command in attempts(archetype, unit)]:
                assert shell.step(command).exit_code != 0, command
            assert shell.snapshot() == before
            assert shell.verify(checker_of(units, strict=True)).passed


PLANTED: dict[str, Callable[[bytes], bytes]] = {
    "one byte more": lambda data: data + b"x",
    "one byte less": lambda data: data[:-1],
    "a block more": lambda data: data + b"x" * 512,
    "nothing": lambda data: b"",
    "other letters and digits": garbled,
}


@pytest.mark.docker
@pytest.mark.parametrize("shape", [archives._pack_and_delete, archives._pack_into_directory, squeeze._compress])
def test_a_packed_archive_passes_as_made_and_fails_with_any_fault_planted(shape: Shape) -> None:
    unit = drawn(shape, 1)
    checker = checker_of([unit])
    with session(unit.fixtures) as shell:
        for command in unit.solution:
            shell.step(command)
        assert shell.verify(checker).passed
        tree = shell.final_tree()
    fixtures = {entry.path for entry in unit.fixtures}
    made = next(entry for entry in tree if entry.path not in fixtures and entry.type == "file")
    assert made.content
    for what, spoil in PLANTED.items():
        spoilt = replace(made, content=spoil(made.content))
        check = verify([spoilt if entry is made else entry for entry in tree], checker)
        assert check.passed is False, (what, unit.solution)


@pytest.mark.docker
def test_an_archive_packed_in_another_order_or_with_dots_in_front_passes_too() -> None:
    unit = drawn(archives._pack_named, 0)
    (command,) = unit.solution
    tar, flags, out, *members = command.split()
    with session(unit.fixtures) as shell:
        shell.step(" ".join([tar, flags, out, *(f"./{member}" for member in reversed(members))]))
        assert shell.verify(checker_of([unit])).passed


@pytest.mark.docker
def test_an_archive_with_a_member_too_few_or_too_many_fails() -> None:
    unit = drawn(archives._pack_named, 0)
    (command,) = unit.solution
    tar, flags, out, *members = command.split()
    for chosen in (members[:-1], [*members, "more"]):
        with session(unit.fixtures) as shell:
            shell.step("echo more > more")
            shell.step(" ".join([tar, flags, out, *chosen]))
            assert shell.verify(checker_of([unit])).passed is False


def scenario_of(archetype: str, number: int) -> Scenario:
    """A scenario of the archetype, of any legal combination, drawn by number."""
    rng = random.Random(f"gate/{archetype}/{number}")
    choices = [combination for combination in combinations() if combination.task == archetype]
    return templates.author(rng.choice(choices), seed=f"{archetype}/{number}", id=f"{archetype}-{number}")


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.parametrize("archetype", ["pack_archive", "set_modes", "rename_prefix", *BLOCKED])
def test_the_gate_admits_what_the_templates_author(archetype: str) -> None:
    result = gate(scenario_of(archetype, 0))
    assert result.admitted, (result.gate, result.reason)


def test_the_plan_of_a_blocked_world_needs_all_of_its_doable_work() -> None:
    for archetype in BLOCKED:
        scenario = scenario_of(archetype, 1)
        assert len(scenario.reference_solution) == len(scenario.directives) - 1
        assert scenario.terminal == "panic"
