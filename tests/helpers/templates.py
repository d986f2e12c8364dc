"""Make names, units and shells for the tests of the templates."""

import random
import shutil
import subprocess
from pathlib import Path

from authoring import templates
from authoring.templates import (
    archives,
    blocked,
    comparing,
    configuration,
    counting,
    keeping,
    links,
    naming,
    permissions,
    prefixes,
    ranking,
    relinking,
    renames,
    splitting,
    squeeze,
    sums,
    trimming,
    unpacking,
)
from authoring.templates.world import Names, Shape, Unit
from schema import HOME

MODULES = (
    counting, ranking, sums, permissions, links, relinking, archives, unpacking, squeeze, configuration, trimming,
    renames, prefixes, comparing, splitting, keeping, naming,
)  # fmt: skip
WORK = {archetype: shapes for module in MODULES for archetype, shapes in module.SHAPES.items()}
BLOCKED = blocked.SHAPES
NAMED_SHAPES: list[tuple[str, Shape]] = [
    (f"{archetype}/{shape.__name__}", shape)
    for table in (WORK, BLOCKED, blocked.DOABLE)
    for archetype, shapes in table.items()
    for shape in shapes
]


def every_shape() -> dict[str, Shape]:
    """Each shape of any module, by archetype and name."""
    return {
        f"{archetype}/{shape.__name__}": shape
        for table in (templates.SHAPES, templates.DOABLE)
        for archetype, shapes in table.items()
        for shape in shapes
    }


def names_of(seed: object, awkward: bool = False) -> Names:
    """The names of one world."""
    return Names(random.Random(f"{seed}"), awkward)


def unit_of(shape: Shape, seed: int, awkward: bool = False) -> Unit:
    """A unit of the shape in a world of its own."""
    return shape(names_of(f"test/{seed}", awkward))


def run_script(root: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script with sh in `root`, which takes the place of the home."""
    return subprocess.run(
        [shutil.which("sh") or "sh", "-c", script.replace(HOME, str(root))],
        cwd=root, capture_output=True, text=True, check=False, env={"PATH": f"{root}/bin:/usr/bin:/bin", **environment},
    )  # fmt: skip
