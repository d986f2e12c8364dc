"""Write the page of every field of every record from the models themselves.

    python -m pipeline.records_page --out docs/records.md

Reads   nothing
Writes  --out
Needs   nothing

A test compares the page with what this prints. Run it after a change of schema.py.
"""

import argparse
import json
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pipeline import stage
from schema import RECORDS, BadInputError

FILES = {
    "Scenario": "`scenarios/<id>.json`",
    "Trajectory": "`trajectories/<id>.json`, and an eval's `<out>/<subject>/<id>.json`",
    "Manifest": "`manifest.json` in every directory that a script writes",
    "AdapterIdentity": "`sekft.json` in an adapter's directory",
    "EvalReport": "`report.json` in an eval's directory",
    "ExportReport": "`export-report.json` in an export's directory",
    "CascadeReport": "`outcomes.json` in a directory of `cascade.py play`",
    "SelectedAdapter": "`selected.json` in a directory of `select_adapter.py`",
    "SidecarLine": "`sft.sidecar.jsonl` and `pairs.sidecar.jsonl` in an export's directory, one record a line",
    "LiveRun": "`.live.json` beside trajectories, while episodes are under way",
}
HEAD = """\
# Records

The records that sekft writes, as UTF-8 JSON with sorted keys; the last table names the other files. Fields without a
value are left out of scenarios and trajectories. An unknown field is an error in these two; in the others it is
ignored, so that files of other versions can be read. `python schema.py --out schemas` exports the same as JSON Schemas.

This page is generated: `python -m pipeline.records_page --out docs/records.md`.
"""
TAIL = """\
## Files that hold no record

| file | in | what it is |
|---|---|---|
| `render.json` | an adapter's directory | how sessions were rendered: markers or chat, and the texts around a turn |
| `log_history.jsonl` | an adapter's directory | a line a step: loss, learning rate and what else the trainer logs |
| `probe.safetensors` | an adapter's directory | logits of a few positions, to check a later load against |
| `reference.jsonl` | what `dpo.py` writes | log-probabilities of each session under the start adapter |
| `overlap.json` | what `contamination.py` writes | how much of each held-out scenario occurs in training |
| `sft.<form>.jsonl`, `pairs.<form>.jsonl` | an export | the rows, in each form of `--to` |
"""


def main(*, out: Path) -> int:
    """Write the page."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page(), encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"{out}: cannot be written ({error.strerror}); name another --out") from error
    stage.print_summary({"out": str(out), "records": len(RECORDS)})
    return stage.DONE


def page() -> str:
    """The page as markdown: one section per record, each followed by the records that it holds."""
    done: set[type[BaseModel]] = set()
    parts = [HEAD]
    for record in RECORDS:
        parts.append(f"## {record.__name__}\n\n{FILES[record.__name__]}. {_first_line(record)}\n\n{_table(record)}")
        done.add(record)
        for part in _parts(record):
            if part not in done:
                parts.append(f"### {part.__name__}\n\n{_first_line(part)}\n\n{_table(part)}")
                done.add(part)
    return "\n".join([*parts, TAIL])


def _first_line(record: type[BaseModel]) -> str:
    return (record.__doc__ or "").strip().splitlines()[0]


def _table(record: type[BaseModel]) -> str:
    rows = [
        f"| `{name}` | {type_name(field.annotation)} | {_default(field)} | {field.description or ''} |\n"
        for name, field in record.model_fields.items()
    ]
    return "| field | type | default | meaning |\n|---|---|---|---|\n" + "".join(rows)


def _default(field: FieldInfo) -> str:
    return "required" if field.is_required() else f"`{json.dumps(field.default)}`"


def type_name(kind: Any) -> str:
    """A type as a reader of JSON knows it: `list of Step`, `text or null`."""
    plain = {str: "text", int: "integer", float: "number", bool: "true or false", NoneType: "null", Any: "any"}
    if kind in plain:
        return plain[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " ".join(f"`{one}`" for one in arguments)
    if origin in (Union, UnionType):
        return " or ".join(type_name(one) for one in arguments)
    if origin is list:
        return f"list of {type_name(arguments[0])}"
    if origin is dict:
        return f"object: {type_name(arguments[0])} to {type_name(arguments[1])}"
    if origin is tuple:
        return " and ".join(type_name(one) for one in arguments)
    if origin is not None:  # Annotated
        return type_name(arguments[0])
    return f"[{kind.__name__}](#{kind.__name__.lower()})"


def _parts(record: type[BaseModel]) -> list[type[BaseModel]]:
    """The records inside a record, outermost first."""
    found: list[type[BaseModel]] = []

    def visit(kind: Any) -> None:
        for argument in get_args(kind):
            visit(argument)
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in found:
            found.append(kind)
            for field in kind.model_fields.values():
                visit(field.annotation)

    for field in record.model_fields.values():
        visit(field.annotation)
    return found


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
