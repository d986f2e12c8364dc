"""Write scenarios of small git repositories, and keep those that pass the gate.

    python -m examples.git_repositories.author --n 16 --out git-scenarios

Reads   taxonomy.json beside this file
Writes  <out>/<id>.json (schema.Scenario), <out>/manifest.json
Needs   a Docker engine, the image that image.sh builds

The same flags give the same scenarios. A scenario that the gate refuses is a fault of shapes.py: its line on stderr
says which. A rerun goes on.
"""

import argparse
import threading
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pipeline import stage
from authoring.gate import GateResult, gate
from authoring.templates import Shapes, author
from authoring.text_gate import GATES
from examples.git_repositories.shapes import DOABLE, SHAPES
from generate import attempts, gate_yields
from pipeline.files import read_record, read_taxonomy, write_record
from pipeline.workers import WorkerPool
from sandbox.containers import reap, remove_all, require_image
from schema import BadInputError, Scenario

TAXONOMY = read_taxonomy(Path(__file__).parent / "taxonomy.json")


@dataclass(frozen=True)
class AuthorSettings:
    """The flags."""

    n: int
    out: Path
    image: str
    seed: int
    workers: int
    redo: bool


def main(settings: AuthorSettings) -> int:
    """Write and gate `n` scenarios; 1 if one is refused."""
    for name in ("n", "workers"):
        if getattr(settings, name) < 1:
            raise BadInputError(f"--{name}: must be at least 1")
    drafts = write_drafts(settings.n, settings.seed)
    digest = require_image(settings.image)
    flags = {"n": settings.n, "seed": settings.seed, "workers": settings.workers, "taxonomy": TAXONOMY.sha256}
    manifest = stage.begin(settings.out, stage="git", flags=flags, image_digest=digest, redo=settings.redo)
    reap()
    cancelled = threading.Event()

    def trial(draft: Scenario) -> GateResult:
        if (settings.out / f"{draft.id}.json").exists():
            return GateResult(True, findings=read_record(settings.out / f"{draft.id}.json", Scenario).provenance.gates)
        return gate(draft, image=settings.image, cancelled=cancelled.is_set)

    refused: Counter[str] = Counter()
    admitted = []
    pool = WorkerPool(settings.workers, cancelled=cancelled, release=remove_all)
    with pool, stage.Progress(len(drafts), "git") as bar:
        for draft, future in [(draft, pool.submit(trial, draft)) for draft in drafts]:
            found = future.result()
            bar.record(draft.id, "admitted" if found.admitted else f"refused by {found.gate}: {found.reason}")
            if not found.admitted:
                refused[str(found.gate)] += 1
                continue
            provenance = draft.provenance.model_copy(update={"gates": found.findings})
            write_record(settings.out, draft.model_copy(update={"provenance": provenance}))
            admitted.append(draft.id)
    counts: dict[str, Any] = {"attempts": len(drafts), "admitted": len(admitted), "refused": dict(refused)}
    counts["yield"] = gate_yields(len(drafts), refused, GATES)
    stage.finish(settings.out, manifest, ids=admitted, counts=counts)
    stage.print_summary({"stage": "git", "out": str(settings.out), **counts})
    return stage.WORLD_FAILED if refused else stage.DONE


def write_drafts(n: int, seed: int) -> list[Scenario]:
    """The first `n` scenarios for `seed`, balanced over the archetypes and the other axes; nothing is gated."""
    shapes = Shapes(SHAPES, DOABLE, TAXONOMY)
    stream = attempts(seed, tuple(SHAPES), TAXONOMY.joined())
    return [author(one.combination, seed=f"{seed}/{one.number}", id=one.id, shapes=shapes) for one in islice(stream, n)]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = stage.command_line(__doc__)
    made.add_argument("--n", type=int, default=16, help="scenarios to write (default 16); may grow on a rerun")
    made.add_argument("--out", type=Path, required=True, help="directory to write")
    made.add_argument(
        "--image", default="sekft-git", metavar="NAME", help="sandbox image with git (default %(default)s)"
    )
    made.add_argument("--seed", type=int, default=1, help="decides combinations, names and contents (default 1)")
    made.add_argument("--workers", type=int, default=2, help="scenarios in the gate at once (default 2)")
    made.add_argument("--redo", action="store_true", help="empty --out and start over (default: go on)")
    return made


if __name__ == "__main__":
    stage.run_script(main, parser())
