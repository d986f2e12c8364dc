"""Read and write what a training logged at each step: the lines of log_history.jsonl."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schema import BadInputError

LOG = "log_history.jsonl"


def read_history(adapter: Path, *, partial: bool = False) -> list[dict[str, Any]]:
    """The lines, each with at least `step`. A last line that is being written is left out if `partial`.

    Raises BadInputError where the file is missing or a line is no logged step.
    """
    log = adapter / LOG
    if not log.exists():
        raise BadInputError(f"{log}: not there; run from the directory that the training ran in, or name another run")
    text = log.read_text()
    lines = text.splitlines()
    if partial and not text.endswith("\n"):
        lines = lines[:-1]
    try:
        rows = [json.loads(line) for line in lines]
        for row in rows:
            row["step"] + 0
    except (json.JSONDecodeError, TypeError, KeyError) as error:
        raise BadInputError(
            f"{log}: a line is no logged step ({error}); rerun the training or name another run"
        ) from error
    return rows


def write_history(adapter: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write all lines at once, so that no step is missing or doubled after a kill."""
    staging = adapter / f".{LOG}"
    staging.write_text("".join(json.dumps(line) + "\n" for line in lines))
    staging.replace(adapter / LOG)
