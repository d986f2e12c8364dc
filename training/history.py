"""Read and write what a training logged at each step: the lines of log_history.jsonl."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeGuard

from schema import BadInputError

LOG = "log_history.jsonl"
LARGEST = 2**53  # up to here a float, and JavaScript, count in ones
REMEDY = "rerun the training or name another run"


def read_history(adapter: Path, *, partial: bool = False) -> list[dict[str, Any]]:
    """The lines, each with at least `step`. A last line that is being written is left out if `partial`.

    Raises BadInputError where the file is missing or cannot be read, or a line is no logged step.
    """
    log = adapter / LOG
    if not log.exists():
        raise BadInputError(f"{log}: not there; run from the directory that the training ran in, or name another run")
    try:
        lines = log.read_bytes().split(b"\n")
    except OSError as error:
        raise BadInputError(f"{log}: cannot be read ({error.strerror}); {REMEDY}") from error
    last = lines.pop()  # empty where the file ends with a newline
    if last and not partial:
        lines.append(last)
    return [logged_step(log, number, line) for number, line in enumerate(lines, 1)]


def logged_step(log: Path, number: int, line: bytes) -> dict[str, Any]:
    """The value of one line of `log`. Raises BadInputError."""
    try:
        row: Any = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # not UTF-8, no JSON, too deeply nested
        raise BadInputError(f"{log}: a line is no logged step (line {number}: {error}); {REMEDY}") from error
    step = row.get("step") if isinstance(row, dict) else None
    if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step <= LARGEST:
        raise BadInputError(
            f"{log}: a line is no logged step (line {number}: step is {str(step)[:40]!r}, not a whole number); {REMEDY}"
        )
    logged: dict[str, Any] = row
    return logged


def is_figure(value: Any) -> TypeGuard[float]:
    """True for a number that can be drawn and averaged: not NaN, not infinite, and no larger than a float holds."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def write_history(adapter: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write all lines at once, so that no step is missing or doubled after a kill."""
    staging = adapter / f".{LOG}"
    staging.write_text("".join(json.dumps(line) + "\n" for line in lines))
    staging.replace(adapter / LOG)
