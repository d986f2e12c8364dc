"""Convert scenarios and trajectories to the formats of other tools, and back.

    python export.py --to harbor --archive scenarios --out tasks
    python export.py --from harbor --archive tasks --out scenarios-again
    python export.py --to inspect --archive trajectories --out logs

Reads   <archive>/*.json (schema.Scenario with harbor, schema.Trajectory with atif and inspect), or what --from names
Writes  <out>/<id>/ (Harbor task directories), <out>/<id>.json (ATIF), <out>/<time>_<name>_<operator>.json (Inspect),
        or with --from <out>/<id>.json (schema.Scenario, schema.Trajectory); <out>/manifest.json
Needs   nothing

docs/formats.md says what each format holds, and by which rules --from refuses what does not fit.
"""

import argparse
from pathlib import Path

from pipeline import stage
from formats.convert import TARGETS, export_to, import_from
from schema import BadInputError


def main(
    *,
    to: str | None,
    from_: str | None,
    archive: Path,
    out: Path,
    archetype: str | None,
    partial: bool,
    redo: bool,
) -> int:
    """Convert in one direction."""
    if (to is None) == (from_ is None):
        raise BadInputError("--to, --from: name exactly one of them")
    if to is not None:
        return export_to(to, archive, out, partial=partial, redo=redo)
    assert from_ is not None
    return import_from(from_, archive, out, archetype=archetype, redo=redo)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("--to", choices=TARGETS, default=None, help="format to write")
    add("--from", dest="from_", choices=TARGETS, default=None, help="format to read")
    add("--archive", type=Path, required=True, help="directory (or, with --from, one file) to read")
    add("--out", type=Path, required=True, help="directory to write")
    add("--archetype", default=None, help="with --from harbor: the archetype of tasks that were not written here")
    add("--partial", action="store_true", help="take an unfinished directory")
    add("--redo", action="store_true", help="start over instead of comparing with the earlier run")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
