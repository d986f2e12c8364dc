"""Give a session's messages and tools the shape that chat templates take.

    filled(with_objects(row.messages)), tools_of(row)

The forms write them (forms.py), and length.py counts them.
"""

import json
from typing import Any

from exports.rows import ChatTurn, Row


def with_objects(messages: list[ChatTurn]) -> list[ChatTurn]:
    """The messages with the arguments of their calls as objects, as chat templates take them."""
    return [
        message
        if "tool_calls" not in message
        else message
        | {
            "tool_calls": [
                call | {"function": call["function"] | {"arguments": json.loads(call["function"]["arguments"])}}
                for call in message["tool_calls"]
            ]
        }
        for message in messages
    ]


def filled(messages: list[ChatTurn]) -> list[ChatTurn]:
    """The messages with an empty text where the content is null, which many chat templates would print as `None`."""
    return [message | {"content": message["content"] or ""} for message in messages]


def tools_of(row: Row) -> list[dict[str, Any]]:
    """The schemas of the session's tools: as recorded; else the names and arguments that its calls have."""
    if row.tools is not None:
        return row.tools
    known: dict[str, dict[str, Any]] = {}
    for message in row.messages:
        for call in message.get("tool_calls", ()):
            properties = known.setdefault(call["function"]["name"], {})
            for key, value in json.loads(call["function"]["arguments"]).items():
                properties.setdefault(key, {"type": _json_type(value)})
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": f"The tool {name}.",
                "parameters": {"type": "object", "properties": properties},
            },
        }
        for name, properties in known.items()
    ]


def _json_type(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "null")
