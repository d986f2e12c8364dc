"""The solutions of the shapes pass in a real shell, and blocked work fails there and changes nothing."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from authoring.spoilt import garbled
from authoring.templates import archives, blocked, squeeze
from authoring.templates.world import Names, Shape, Unit, checker_for, quote
from sandbox.checker import verify
from sandbox.session import session
from schema import HOME
from tests.helpers.templates import BLOCKED, MODULES, unit_of

PROGRAMS = {
    "zstd": "zstd",
    "lz4": "lz4",
    "brotli": "brotli",
    "7z": "7z x",
    "rar": "rar x",
    "unrar": "unrar x",
    "zip": "zip",
}


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
@pytest.mark.parametrize("table", [*(module.SHAPES for module in MODULES), blocked.DOABLE])
def test_solutions_run_silently_and_pass(table: dict[str, list[Shape]], seed: int, awkward: bool) -> None:
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
def test_blocked_work_fails_and_changes_nothing(archetype: str) -> None:
    for awkward in (False, True):
        names = Names(random.Random(f"try/{awkward}"), awkward)
        units = [shape(names) for shape in BLOCKED[archetype]]
        with session([entry for unit in units for entry in unit.fixtures]) as shell:
            before = shell.snapshot()
            assert all(unit.attempt for unit in units)
            for command in [command for unit in units for command in [*attempts(archetype, unit), *unit.attempt]]:
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
def test_spoilt_archives_fail(shape: Shape) -> None:
    unit = unit_of(shape, 1)
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
def test_the_order_of_members_is_free() -> None:
    unit = unit_of(archives._pack_named, 0)
    (command,) = unit.solution
    tar, flags, out, *members = command.split()
    with session(unit.fixtures) as shell:
        shell.step(" ".join([tar, flags, out, *(f"./{member}" for member in reversed(members))]))
        assert shell.verify(checker_of([unit])).passed


@pytest.mark.docker
def test_missing_and_extra_members_fail() -> None:
    unit = unit_of(archives._pack_named, 0)
    (command,) = unit.solution
    tar, flags, out, *members = command.split()
    for chosen in (members[:-1], [*members, "more"]):
        with session(unit.fixtures) as shell:
            shell.step("echo more > more")
            shell.step(" ".join([tar, flags, out, *chosen]))
            assert shell.verify(checker_of([unit])).passed is False
