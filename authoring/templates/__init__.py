"""Author scenarios from templates, for every archetype, without a model.

    scenario = author(combination, seed="1/0", id="make_links-0000")

A shape is a function that makes one unit of work: fixtures, a directive, its solution and the expected end state
(world.py). Each module holds the shapes of one or a few archetypes. A scenario with n directives has n units of one
archetype in one world. A blocked scenario has one unit that cannot be carried out, and n - 1 others from DOABLE.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from authoring.templates import (
    archives,
    blocked,
    casing,
    comparing,
    configuration,
    counting,
    extraction,
    files,
    filtering,
    joins,
    keeping,
    lines,
    links,
    naming,
    permissions,
    prefixes,
    ranking,
    relinking,
    renames,
    search,
    splitting,
    squeeze,
    sums,
    tables,
    taking,
    text,
    tidying,
    trimming,
    unpacking,
)
from authoring.templates.providers import announcement, provider
from authoring.templates.world import Names, Shape, Unit, checker_for, fixture
from schema import HOME, Fixture, OwnTaxonomy, Provenance, Scenario, canonical, known_values, sha256
from taxonomy import DIFFICULTIES, Combination

_FAMILIES = (
    files, tidying, search, extraction, text, casing, lines, taking, tables, filtering, joins, counting, ranking, sums,
    permissions, links, relinking, archives, unpacking, squeeze, configuration, trimming, renames, prefixes,
    comparing, splitting,
    keeping, naming, blocked,
)  # fmt: skip
SHAPES: dict[str, list[Shape]] = {
    archetype: shapes for family in _FAMILIES for archetype, shapes in family.SHAPES.items()
}
DOABLE: dict[str, list[Shape]] = blocked.DOABLE


@dataclass(frozen=True)
class Shapes:
    """What a template author writes from: shapes by archetype, and the work beside a directive that cannot be done.

    `taxonomy` is that of archetypes of a user's own, `doable` holds shapes for each blocked one.
    """

    by_archetype: Mapping[str, Sequence[Shape]]
    doable: Mapping[str, Sequence[Shape]]
    taxonomy: OwnTaxonomy | None = None


SHIPPED_SHAPES = Shapes(SHAPES, DOABLE)


def author(
    combination: Combination, *, seed: str, id: str, shapes: Shapes = SHIPPED_SHAPES  # noqa: A002
) -> Scenario:  # fmt: skip
    """One scenario of `combination`. The same combination, seed and shapes give the same one, apart from its id.

    The reference solution is the solutions of the units, in the order of the directives. Nothing is executed here: the
    gate finds out whether solution and checker agree.
    """
    asked = {"combination": vars(combination), "seed": seed}
    rng = random.Random(canonical(asked))
    difficulty = DIFFICULTIES[combination.difficulty]
    names = Names(rng, difficulty.awkward_names)
    work = units(combination.task, names, difficulty.directives, shapes)
    fixtures = [entry for unit in work for entry in unit.fixtures]
    fixtures += distractors(fixtures, difficulty.distractors, names)
    program = provider(combination.provider, combination.doc_depth, [unit.directive for unit in work], names, rng)
    pointer = announcement(combination.announcement, program.path.rpartition("/")[2], rng)
    terminal = known_values(shapes.taxonomy).archetypes[combination.task].terminal
    strict = terminal == "panic"
    expected = list(fixtures)
    if strict and pointer.shown_as in ("file", "mail") and pointer.place:
        expected.append(Fixture(path=pointer.place, text=pointer.text + "\n"))
    return Scenario(
        id=id,
        task=combination.task,
        provider_kind=combination.provider,
        announcement_channel=combination.announcement,
        doc_depth=combination.doc_depth,
        difficulty=combination.difficulty,
        provider=program,
        announcement=pointer,
        directives=[unit.directive for unit in work],
        fixtures=fixtures,
        checker=checker_for(
            expected,
            [entry for unit in work for entry in unit.after],
            [path for unit in work for path in unit.removed],
            strict=strict,
            checks=[check for unit in work for check in unit.checks],
        ),
        reference_solution=[command for unit in work for command in unit.solution],
        terminal=terminal,
        taxonomy=shapes.taxonomy.used_by(combination) if shapes.taxonomy else None,
        blocked_outputs=[path for unit in work for path in unit.blocked_outputs],
        blocked_attempt=[command for unit in work for command in unit.attempt] or None,
        provenance=Provenance(author="template", request_hash=sha256(canonical(asked))),
    )


def units(archetype: str, names: Names, count: int = 1, shapes: Shapes = SHIPPED_SHAPES) -> list[Unit]:
    """`count` units of an archetype for one world. A shape repeats only when every shape has been used.

    For a blocked archetype, one of the units cannot be carried out; its place among the others is random.
    """
    own = shapes.by_archetype[archetype]
    if known_values(shapes.taxonomy).archetypes[archetype].terminal == "exit":
        return [shape(names) for shape in _pick_shapes(own, names, count)]
    doable = [shape(names) for shape in _pick_shapes(shapes.doable[archetype], names, count - 1)]
    place = names.number(0, len(doable))
    return [*doable[:place], names.pick(own)(names), *doable[place:]]


def _pick_shapes(shapes: Sequence[Shape], names: Names, count: int) -> list[Shape]:
    picked: list[Shape] = []
    while len(picked) < count:
        picked += names.rng.sample(shapes, min(len(shapes), count - len(picked)))
    return picked


def distractors(fixtures: list[Fixture], count: int, names: Names) -> list[Fixture]:
    """`count` files that no directive mentions, with fresh names or with names similar to a file of the world."""
    tops = [entry.path.removeprefix(f"{HOME}/") for entry in fixtures if entry.type == "file"]
    stems = [path.rpartition(".")[0] for path in tops if "/" not in path and "." in path]
    extra = []
    for _ in range(count):
        ext = names.pick(["txt", "log", "md", "dat", "old", "bak"])
        near = f"{names.pick(stems)}-{names.word()}.{ext}" if stems and names.number(0, 1) else None
        extra.append(fixture(near or names.path(ext, names.number(0, 1)), names.text()))
    return extra
