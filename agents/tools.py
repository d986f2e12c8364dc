"""Read the tool calls that a model writes, and write them as it would; one form per family of chat templates.

    form = tool_form(chat_template)          # by what the template contains
    form.read('<tool_call>{"name": "sh", "arguments": {"command": "ls"}}</tool_call>')
    form.write(text, calls)

A template that shows no known form is refused: a guessed parser would leave calls in the text, and the agent would
wait.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.canonical import ToolCall, ToolSpec, call_id, well_formed

Read = tuple[str, list[ToolCall]]
HERMES_OPEN, HERMES_CLOSE = "<tool_call>", "</tool_call>"
MISTRAL_MARK = "[TOOL_CALLS]"
LLAMA_MARK = "<|python_tag|>"
HERMES_TOOLS = (  # as in the templates of Qwen 2.5 and Qwen 3
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n{signatures}\n</tools>\n\n"
    "For each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n<tool_call>\n"
    '{{"name": <function-name>, "arguments": <args-json-object>}}\n</tool_call>'
)


@dataclass(frozen=True)
class ToolForm:
    """How one family writes calls. `read` gives the text around the calls, and every call."""

    name: str
    read: Callable[[str], Read]
    write: Callable[[str, Sequence[ToolCall]], str]


def tool_form(template: str) -> ToolForm | None:
    """The form that a chat template shows, or None where it shows none that is known."""
    if "<function=" in template or "<arg_key>" in template:  # calls in XML: Qwen 3 Coder, GLM 4.5
        return None
    if "<tool_call>" in template:
        return HERMES
    if MISTRAL_MARK in template:
        return None if "[ARGS]" in template or "[CALL_ID]" in template else MISTRAL
    if "ipython" in template and '"parameters": ' in template:
        return LLAMA
    return None


def signature(tool: ToolSpec) -> dict[str, Any]:
    """A tool as chat templates take it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def hermes_tools(tools: Sequence[ToolSpec]) -> str:
    """The list of tools as text for the system turn, for templates that ignore tools."""
    return HERMES_TOOLS.format(signatures="\n".join(as_json(signature(tool)) for tool in tools))


def as_json(value: Any) -> str:
    """JSON on one line as chat templates print it."""
    return json.dumps(value, ensure_ascii=False)


def call_of(value: Any, position: int, field: str) -> ToolCall | None:
    """The call in a decoded JSON object, or None where it names no tool.

    Without `field` it is a call without arguments. Where other fields stand instead, they are its raw arguments; their
    braces are left out, so that no client reads them as arguments that are sound.
    """
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not value["name"]:
        return None
    given = value.get("id")
    id_ = given if isinstance(given, str) and given else call_id("position", position)
    others = {name: one for name, one in value.items() if name not in ("name", "id")}
    if others and field not in others:
        return ToolCall(id_, value["name"], None, as_json(others)[1:-1])
    arguments = value.get(field, {})
    if isinstance(arguments, str):
        arguments = decoded(arguments, arguments)
    if isinstance(arguments, dict):
        return ToolCall(id_, value["name"], arguments)
    return ToolCall(id_, value["name"], None, arguments if isinstance(arguments, str) else as_json(arguments))


def decoded(text: str, otherwise: Any = None) -> Any:
    """The value of a JSON text, or `otherwise` where it is none."""
    value, rest = _first_value(text)
    return otherwise if value is None or rest.strip() else value


def _first_value(text: str) -> tuple[Any, str]:
    """The JSON value at the start of a text, and the text after it; None and the text where there is none.

    Numbers that are not finite and values nested too deep are none: they could not be sent to a client.
    """
    try:
        value, end = DECODER.raw_decode(text.lstrip())
        return well_formed(value), text.lstrip()[end:]
    except (ValueError, RecursionError):
        return None, text


def _finite(text: str) -> float:
    """A JSON number or constant. Raises ValueError where it is not finite."""
    if not math.isfinite(float(text)):
        raise ValueError(f"{text} is not finite")
    return float(text)


def _read_hermes(text: str) -> Read:
    """Calls in `<tool_call>` tags; a tag without a readable call stays in the text.

    The closing tag may be missing at the end of the text, where the call has arguments.
    """
    calls: list[ToolCall] = []
    kept, mark, rest = text.partition(HERMES_OPEN)
    while mark:
        value, after = _first_value(rest)
        after = after.lstrip()
        whole = after.startswith(HERMES_CLOSE) or (not after and isinstance(value, dict) and "arguments" in value)
        call = call_of(value, len(calls), "arguments") if whole else None
        if call:
            calls.append(call)
            rest = after.removeprefix(HERMES_CLOSE)
        else:
            kept += mark
        more, mark, rest = rest.partition(HERMES_OPEN)
        kept += more
    return (kept.strip() if calls else text), calls


def _write_hermes(text: str, calls: Sequence[ToolCall]) -> str:
    blocks = [f"<tool_call>\n{_object(call, 'arguments')}\n</tool_call>" for call in calls]
    return "\n".join([*([text] if text else []), *blocks])


def _read_mistral(text: str) -> Read:
    """One JSON list of calls after `[TOOL_CALLS]`."""
    before, mark, after = text.partition(MISTRAL_MARK)
    listed = decoded(after.strip()) if mark else None
    found = [call_of(one, at, "arguments") for at, one in enumerate(listed)] if isinstance(listed, list) else []
    calls = [call for call in found if call is not None]
    return (before.strip(), calls) if calls and len(calls) == len(found) else (text, [])


def _write_mistral(text: str, calls: Sequence[ToolCall]) -> str:
    if not calls:
        return text
    listed = [{"name": call.name, "arguments": _arguments(call), "id": call.id} for call in calls]
    return f"{text}{MISTRAL_MARK} {as_json(listed)}"


def _read_llama(text: str) -> Read:
    """One or more JSON objects with `name` and `parameters`, and nothing else; `;` may stand between them."""
    rest = text.strip().removeprefix(LLAMA_MARK).strip()
    calls: list[ToolCall] = []
    while rest:
        value, after = _first_value(rest)
        call = call_of(value, len(calls), "parameters") if isinstance(value, dict) and "parameters" in value else None
        if call is None:
            return text, []
        calls.append(call)
        rest = after.lstrip().removeprefix(";").lstrip()
    return ("", calls) if calls else (text, [])


def _write_llama(text: str, calls: Sequence[ToolCall]) -> str:
    """Llama has no form for text beside calls: where there are calls, the text is left out."""
    return "; ".join(_object(call, "parameters") for call in calls) if calls else text


def _object(call: ToolCall, field: str) -> str:
    return as_json({"name": call.name, field: _arguments(call)})


def _arguments(call: ToolCall) -> Any:
    return call.raw if call.arguments is None else call.arguments


DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
HERMES = ToolForm("hermes", _read_hermes, _write_hermes)
MISTRAL = ToolForm("mistral", _read_mistral, _write_mistral)
LLAMA = ToolForm("llama", _read_llama, _write_llama)
