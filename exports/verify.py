"""Compare an exported file with a holdout, by the sidecar beside it."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from pydantic import ValidationError

from exports.holdout import Holdout
from pipeline.results import SidecarLine
from schema import BadInputError, sha256


def verify_file(path: Path, holdout: Holdout) -> int:
    """The number of lines, where every line is the one that its sidecar describes and none of them is held out.

    Raises BadInputError otherwise, with the first line that is not.
    """
    kind, _, form = path.name.removesuffix(".jsonl").partition(".")
    sidecar = path.with_name(f"{kind}.sidecar.jsonl")
    if not sidecar.exists():
        raise BadInputError(f"{path}: no {sidecar.name} beside it says what its rows are; restore it or export again")
    number = 0
    for number, (line, about) in enumerate(zip_longest(_lines(path), _lines(sidecar)), 1):
        if line is None or about is None:
            raise BadInputError(f"{path}: line {number}: the file and {sidecar.name} differ in length; export again")
        try:
            known = SidecarLine.model_validate_json(about)
        except ValidationError as error:
            raise BadInputError(f"{sidecar}: line {number}: {error.errors()[0]['msg']}; export again") from error
        if known.lines.get(form) != sha256(line.encode()):
            raise BadInputError(f"{path}: line {number}: is not the line that {sidecar.name} describes; export again")
        for row in known.rows:
            if reason := holdout.reason(row):
                raise BadInputError(f"{path}: line {number}: {row.name}: {reason}; export again with --holdout")
    return number


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", newline="\n") as stream:
            for line in stream:
                yield line.removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path}: cannot be read ({error}); check the path") from error
