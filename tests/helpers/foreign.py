"""Make rows of a foreign agent's archive."""

import json
from pathlib import Path
from typing import Any


def call(tool: str, id_: str = "c1", **arguments: Any) -> dict[str, Any]:
    """A tool call."""
    return {"id": id_, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


def trip(number: int, calls: list[dict[str, Any]], output: str = "ok") -> list[dict[str, Any]]:
    """A round trip: an assistant turn with calls, and the result of each."""
    told = [call | {"id": f"c{number}-{at}"} for at, call in enumerate(calls)]
    results = [{"role": "tool", "tool_call_id": one["id"], "content": output} for one in told]
    return [{"role": "assistant", "content": None, "tool_calls": told}, *results]


def foreign(instance: str, *, resolved: bool = True, trips: Any = None, sample: int = 0, **more: Any) -> dict[str, Any]:
    """A row: system, task, the round trips (one `ls` by default), and a last word that depends on the sample."""
    shown = trips if trips is not None else [trip(0, [call("bash", command="ls")])]
    messages = [
        {"role": "system", "content": "You fix bugs."},
        {"role": "user", "content": f"Fix {instance}."},
        *(message for one in shown for message in one),
        {"role": "assistant", "content": f"Done, sample {sample}{'' if resolved else ', I think'}."},
    ]
    row = {"instance_id": instance, "model": "glm", "tier": "cheap", "resolved": resolved, "sample": sample}
    return {**row, "messages": messages, **more}


def write_array(path: Path, rows: Any) -> Path:
    """Write a JSON array and return its path."""
    path.write_text(json.dumps(rows))
    return path


def write_lines(path: Path, rows: list[Any]) -> Path:
    """Write JSON Lines and return their path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The values of JSON Lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]
