"""Write rows in the forms that other trainers read; each form is a class, and `FORMS` names them.

    form = FORMS["trl"](out)
    form.add(row)                       # every row that passed the guards
    form.add_pair(pair)
    form.close()

A form that writes something else than lines has the same three methods (`ExportForm`), and returns None.

Tool calls stay structured. The JSON Lines of all forms hold the same rows in the same order, so that line k of
`sft.<form>.jsonl` belongs to line k of `sft.sidecar.jsonl`, and likewise for `pairs`.

- openai: `messages` (and `tools`) as the OpenAI API and its fine-tuning take them; arguments are JSON text. Pairs have
  the shape of OpenAI's preference fine-tuning: `input`, `preferred_output`, `non_preferred_output`.
- trl: `messages` with arguments as objects, `tools` as JSON text; pairs as `prompt`, `chosen`, `rejected`.
- axolotl: for `type: chat_template`; pairs for `rl: dpo` with `type: passthrough.default`, because axolotl's other
  preference types train the last message of each side alone.
- unsloth: as trl; its own data code reads `messages` and `tools`. A DPO run with it uses TRL's DPOTrainer.

`python -m bench.forms` loads axolotl's and unsloth's in their own code; a test lets TRL's trainers take a step.
"""

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO

from exports.chat import filled, tools_of, with_objects
from exports.rows import Row, opening_length


@dataclass(frozen=True)
class Pair:
    """A preference pair: two sessions with the same opening."""

    chosen: Row
    rejected: Row


class ExportForm(Protocol):
    """Where exported rows go, in a directory that exists."""

    def __init__(self, out: Path) -> None: ...

    def add(self, row: Row) -> str | None:
        """Take a row that passed the guards, resolved or not; the text that was written, if it was one line."""

    def add_pair(self, pair: Pair) -> str | None:
        """Take a pair of rows that passed the guards; the text that was written, if it was one line."""

    def close(self) -> None:
        """End the form's files."""


class JsonLines(ABC):
    """A form of two files: `sft.<name>.jsonl` with the resolved rows, `pairs.<name>.jsonl` with the pairs."""

    name = ""

    def __init__(self, out: Path) -> None:
        self.sft = (out / f"sft.{self.name}.jsonl").open("w", encoding="utf-8")
        self.pairs = (out / f"pairs.{self.name}.jsonl").open("w", encoding="utf-8")

    def add(self, row: Row) -> str | None:
        """Write a resolved row."""
        return _write(self.sft, self.sft_line(row)) if row.resolved else None

    def add_pair(self, pair: Pair) -> str | None:
        """Write a pair."""
        return _write(self.pairs, self.pair_line(pair))

    def close(self) -> None:
        """Close both files."""
        self.sft.close()
        self.pairs.close()

    @abstractmethod
    def sft_line(self, row: Row) -> dict[str, Any]:
        """A row in this form."""

    @abstractmethod
    def pair_line(self, pair: Pair) -> dict[str, Any]:
        """A pair in this form."""


class OpenAI(JsonLines):
    """OpenAI chat JSON Lines."""

    name = "openai"

    def sft_line(self, row: Row) -> dict[str, Any]:
        """`messages`, and `tools` where the session has calls."""
        return {"messages": row.messages, **_tools(row)}

    def pair_line(self, pair: Pair) -> dict[str, Any]:
        """`input` with the opening and the tools, and the outputs with all that follows in each session."""
        at = opening_length(pair.chosen.messages)
        return {
            "input": {"messages": pair.chosen.messages[:at], **_tools(pair.chosen, pair.rejected)},
            "preferred_output": pair.chosen.messages[at:],
            "non_preferred_output": pair.rejected.messages[at:],
        }


class Trl(JsonLines):
    """TRL's conversational form: arguments as objects, since TRL hands them to the chat template as they are."""

    name = "trl"

    def sft_line(self, row: Row) -> dict[str, Any]:
        """`messages`; `tools` as JSON text, so that no two rows' schemas are merged into one."""
        return {"messages": filled(with_objects(row.messages)), **_as_json(_tools(row))}

    def pair_line(self, pair: Pair) -> dict[str, Any]:
        """`prompt`, `chosen` and `rejected`."""
        return {**sides(pair), **_as_json(_tools(pair.chosen, pair.rejected))}


class Axolotl(Trl):
    """Axolotl's: arguments as JSON text, which it parses itself; pairs as TRL's, which it passes on."""

    name = "axolotl"

    def sft_line(self, row: Row) -> dict[str, Any]:
        """`messages` and `tools`."""
        return {"messages": filled(row.messages), **_as_json(_tools(row))}


class Unsloth(Trl):
    """Unsloth's, which prepares data for TRL's trainers: the same lines."""

    name = "unsloth"


FORMS: dict[str, type[ExportForm]] = {"openai": OpenAI, "trl": Trl, "axolotl": Axolotl, "unsloth": Unsloth}


def sides(pair: Pair) -> dict[str, Any]:
    """The opening, and each side's messages after it."""
    at = opening_length(pair.chosen.messages)
    chosen, rejected = (filled(with_objects(side.messages)) for side in (pair.chosen, pair.rejected))
    return {"prompt": chosen[:at], "chosen": chosen[at:], "rejected": rejected[at:]}


def _tools(*rows: Row) -> dict[str, Any]:
    """The `tools` column; none where the sessions have no calls."""
    found = {tool["function"]["name"]: tool for row in rows for tool in tools_of(row)}
    return {"tools": list(found.values())} if found else {}


def _as_json(column: dict[str, Any]) -> dict[str, Any]:
    return {key: json.dumps(value, ensure_ascii=False) for key, value in column.items()}


def _write(stream: TextIO, value: dict[str, Any]) -> str:
    line = json.dumps(value, ensure_ascii=False)
    stream.write(line + "\n")
    return line
