"""Turn conversations into the token ids that a model reads, and the ids that it samples back into messages.

    template = ChatTemplate.of(tokenizer)
    context = template.opening_ids(messages, tools)
    context += sampled + template.tail_ids([*messages, template.parse(sampled)], results, tools)

The text comes from the tokenizer's own chat template. A tail is what this template writes after the last assistant
turn: it is rendered after a stand-in for the conversation, so it costs the same at any length, and what was sampled is
never encoded again. A template that changes earlier turns (Qwen 3 strips old reasoning) does not touch what was
sampled.

Some templates ignore tools, SmolLM2's among them. Then the list of tools goes into the system turn in the Hermes form
of Qwen 2.5 (without a system turn, it makes one, and the template's default system text is not there), calls are
written as `<tool_call>` blocks, and the results in a row make one user turn of `<tool_response>` blocks. This is done
for ChatML alone. A template without a known form of calls is refused.

Special tokens that a message spells out are plain text, so no file can forge the edge of a turn. The same holds for
added tokens in brackets that are not special (`<tool_response>` in Qwen's tokenizers). The date that some templates
print is fixed. An end marker that is not a single special token is refused.
"""

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agents.canonical import ChatMessage, ToolCall, ToolSpec, call_id, well_formed_message, well_formed_tool
from agents.tools import HERMES, ToolForm, hermes_tools, signature, tool_form
from model.render import exact_tokenizer, text_tokenizer
from schema import BadInputError, canonical, sha256

DATE = "01 Jan 2025"  # model/render.py prints the same
OTHER_ENDS = ("<|endoftext|>", "<|end_of_text|>", "<|eom_id|>", "<|eot_id|>", "<|im_end|>", "</s>")
TOOL_PROBE = ToolSpec("probe", "A probe.", {"type": "object", "properties": {}})
TAG = re.compile(r"[<\[].*[>\]]", re.DOTALL)
THINK, THOUGHT = "<think>", "</think>"


class ChatTemplate:
    """The chat side of one tokenizer. Deterministic, and safe to use from several threads."""

    def __init__(self, tokenizer: Any, form: ToolForm, *, renders_tools: bool) -> None:
        self.tokenizer, self.form, self.renders_tools = tokenizer, form, renders_tools
        self.name = str(getattr(tokenizer, "name_or_path", "") or "tokenizer")
        description = _tags_as_specials(exact_tokenizer(tokenizer.backend_tokenizer.to_str()))
        self._plain = text_tokenizer(description, specials=False)
        self._specials = text_tokenizer(description, specials=True)
        added = self._plain.get_added_tokens_decoder()
        specials = {token.content: id_ for id_, token in added.items() if token.special}
        self._special_texts = sorted(specials, key=len, reverse=True)
        self._spelled = re.compile("|".join(map(re.escape, self._special_texts)) or r"(?!)")
        self.end_text = self._end_text()
        self.opens_thought = self._apply([ChatMessage("user", "-")], []).rstrip().endswith(THINK)
        ends = [self.end_text, *OTHER_ENDS, str(tokenizer.eos_token)]
        self.end_ids = frozenset(specials[one] for one in ends if one in specials)

    @classmethod
    def of(cls, tokenizer: Any) -> "ChatTemplate":
        """The template of a tokenizer. Raises BadInputError where its form of tool calls is not known."""
        name = str(getattr(tokenizer, "name_or_path", "") or "tokenizer")
        template = tokenizer.chat_template
        if not getattr(tokenizer, "is_fast", False):
            raise BadInputError(f"{name}: not a fast tokenizer; save it with a tokenizer.json and use that")
        if not isinstance(template, str) or not template:
            raise BadInputError(f"{name}: chat_template: there is none; take a base that was trained to chat")
        form, renders_tools = tool_form(template), _reads_tools(tokenizer)
        if form is None and not renders_tools and "<|im_start|>" in template:
            form = HERMES
        if form is None:
            raise BadInputError(
                f"{name}: chat_template (SHA-256 {sha256(template.encode())[:12]}): no known form of tool calls in it; "
                "known: <tool_call> JSON (Hermes, Qwen), [TOOL_CALLS] JSON (Mistral), name and parameters (Llama 3.1); "
                "take another base"
            )
        return cls(tokenizer, form, renders_tools=renders_tools)

    def opening_ids(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> list[int]:
        """The ids of a whole conversation, up to and including the assistant header.

        Raises BadInputError where the template refuses the conversation.
        """
        if not messages or messages[-1].role == "assistant":
            raise BadInputError(f"{self.name}: messages: the last must be a user or tool turn; add one")
        messages = [well_formed_message(message) for message in messages]
        tools = [well_formed_tool(tool) for tool in tools]
        mark = _unused("spelled", messages, tools)
        try:
            return self._encode(self._render(messages, tools, mark), mark)
        except _TurnsRefusedError as error:
            raise BadInputError(f"{self.name}: chat_template: refuses these messages ({error}); send others") from error

    def tail_ids(
        self, history: Sequence[ChatMessage], new: Sequence[ChatMessage], tools: Sequence[ToolSpec], *,
        closed: bool = True,
    ) -> list[int] | None:  # fmt: skip
        """The ids between the last sampled turn and the next: the new messages and the assistant header.

        The last message of `history` is that turn; where it is not `closed`, its end marker comes first. None where
        this template cannot append: the new messages hold an assistant turn, are none, or are refused.
        """
        if not new or any(message.role == "assistant" for message in new):
            return None
        anchor, mark = _unused("anchor", new, tools), _unused("spelled", new, tools)
        calls = history[-1].tool_calls if history else ()
        for stand_in in _stand_ins(anchor, calls if new[0].role == "tool" else ()):
            try:
                text = self._render([ChatMessage("user", "-"), stand_in, *new], tools, mark)
            except _TurnsRefusedError:
                continue
            end = text.find(self.end_text, text.find(anchor)) if anchor in text else -1
            if end >= 0:
                return self._encode(text[end + len(self.end_text) if closed else end :], mark)
        return None

    def parse(self, token_ids: Sequence[int]) -> ChatMessage:
        """The message in sampled ids, with every call. What follows the first end marker is left out."""
        ids = list(token_ids)
        ends = [at for at, id_ in enumerate(ids) if id_ in self.end_ids]
        reasoning, text = self._thought(self.decode(ids[: ends[0]] if ends else ids))
        content, calls = self.form.read(text)
        return ChatMessage("assistant", content, reasoning, tuple(calls))

    def _thought(self, text: str) -> tuple[str, str]:
        """The reasoning at the start of a sampled text, and the text after it. Tags further on are text."""
        opened = self.opens_thought or text.lstrip().startswith(THINK)
        before, mark, rest = text.partition(THOUGHT)
        if not opened or not mark:
            return "", text
        return before.strip().removeprefix(THINK).strip(), rest.lstrip("\n")

    def write(self, message: ChatMessage) -> list[int]:
        """The ids of an assistant turn as a model would sample it, with its end marker."""
        mark = _unused("spelled", [message], [])
        plain = self._escape(message, mark)
        thought = f"{plain.reasoning}\n{THOUGHT}\n\n" if plain.reasoning or self.opens_thought else ""
        if thought and not self.opens_thought:
            thought = f"{THINK}\n{thought}"
        return self._encode(thought + self.form.write(plain.content, plain.tool_calls) + self.end_text, mark)

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of ids with special tokens; no space is added or removed."""
        return str(self._plain.decode(list(token_ids), skip_special_tokens=False))

    def _end_text(self) -> str:
        """The special token that the template puts right after an assistant content."""
        try:
            text = self._apply([ChatMessage("user", "-"), ChatMessage("assistant", "anchor")], [], header=False)
        except _TurnsRefusedError as error:
            raise BadInputError(f"{self.name}: chat_template: refuses a turn ({error}); take another base") from error
        found = self._spelled.match(text, text.find("anchor") + len("anchor")) if "anchor" in text else None
        if found is None:
            raise BadInputError(
                f"{self.name}: chat_template: puts no special token right after an assistant turn; take another base"
            )
        return found[0]

    def _render(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec], mark: str) -> str:
        """The text of the messages, then the assistant header; spelled special tokens are escaped with `mark`."""
        escaped = [self._escape(message, mark) for message in messages]
        offered = [self._escape_tool(tool, mark) for tool in tools]
        if not self.renders_tools:
            escaped, offered = _in_hermes_form(escaped, offered), []
        texts = [self._calls_as_text(message) for message in escaped]
        reason = _TurnsRefusedError("no way to write them")
        for turns in (escaped, texts, _merged(escaped), _merged(texts), _folded(escaped), _folded(texts)):
            try:
                return self._apply(turns, offered)
            except _TurnsRefusedError as error:
                reason = error
        raise reason

    def _apply(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec], *, header: bool = True) -> str:
        """What the chat template makes of the messages. Raises _TurnsRefusedError."""
        return apply_template(self.tokenizer, messages, tools, header=header)

    def _calls_as_text(self, message: ChatMessage) -> ChatMessage:
        """The turn with its calls in its content, for templates that refuse several calls in one turn."""
        if not message.tool_calls:
            return message
        return replace(message, content=self.form.write(message.content, message.tool_calls), tool_calls=())

    def _encode(self, text: str, mark: str) -> list[int]:
        """The ids of a rendered text. Special tokens that a message spelled out are tokenised as plain text."""
        ids: list[int] = []
        for at, piece in enumerate(re.split(f"{mark}([0-9]+){mark}", text)):
            if at % 2:
                ids += self._plain.encode(self._special_texts[int(piece)], add_special_tokens=False).ids
            elif piece:
                ids += self._specials.encode(piece, add_special_tokens=False).ids
        return ids

    def _escape(self, message: ChatMessage, mark: str) -> ChatMessage:
        calls = tuple(
            replace(call, name=self._escape_value(call.name, mark), raw=self._escape_value(call.raw, mark),
                    arguments=self._escape_value(call.arguments, mark))
            for call in message.tool_calls
        )  # fmt: skip
        content, reasoning = self._escape_value(message.content, mark), self._escape_value(message.reasoning, mark)
        return replace(message, content=content, reasoning=reasoning, tool_calls=calls)

    def _escape_tool(self, tool: ToolSpec, mark: str) -> ToolSpec:
        return ToolSpec(*(self._escape_value(one, mark) for one in (tool.name, tool.description, tool.parameters)))

    def _escape_value(self, value: Any, mark: str) -> Any:
        """The value with every special token that its texts spell out replaced by its number between two marks."""
        if isinstance(value, str):
            return self._spelled.sub(lambda found: f"{mark}{self._special_texts.index(found[0])}{mark}", value)
        if isinstance(value, dict):
            return {self._escape_value(name, mark): self._escape_value(one, mark) for name, one in value.items()}
        if isinstance(value, list):
            return [self._escape_value(one, mark) for one in value]
        return value


class _TurnsRefusedError(Exception):
    """A chat template raised an error for these turns."""


def apply_template(
    tokenizer: Any, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec], *, header: bool = True
) -> str:
    """What the chat template of a tokenizer makes of messages, as text. Raises _TurnsRefusedError."""
    from jinja2.exceptions import TemplateError

    turns, offered = [_as_template_reads(message) for message in messages], [signature(tool) for tool in tools]
    try:
        text = tokenizer.apply_chat_template(
            turns, tools=offered or None, tokenize=False, add_generation_prompt=header, date_string=DATE,
        )  # fmt: skip
    except (TemplateError, TypeError, ValueError) as error:  # what templates raise, and what the filters in them do
        raise _TurnsRefusedError(str(error)) from error
    return str(text)


def _as_template_reads(message: ChatMessage) -> dict[str, Any]:
    """The dict that chat templates take for a message."""
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.reasoning:
        turn["reasoning_content"] = message.reasoning
    if message.tool_calls:
        turn["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {
                "name": call.name, "arguments": call.raw if call.arguments is None else call.arguments}}
            for call in message.tool_calls
        ]  # fmt: skip
    if message.role == "tool":
        turn["tool_call_id"] = message.tool_call_id or call_id("none")
    return turn


def _reads_tools(tokenizer: Any) -> bool:
    """True where the chat template writes something else when tools are offered."""
    turns = [ChatMessage("user", "-")]
    try:
        return apply_template(tokenizer, turns, [TOOL_PROBE]) != apply_template(tokenizer, turns, [])
    except _TurnsRefusedError:
        return False


def _stand_ins(anchor: str, calls: Sequence[ToolCall]) -> list[ChatMessage]:
    """Assistant turns that may stand before new messages: with the calls that these answer, with one, with none."""
    named = [replace(call, arguments={"a": anchor if call is calls[-1] else ""}, raw="") for call in calls]
    turns = [ChatMessage("assistant", tool_calls=tuple(named)), ChatMessage("assistant", tool_calls=tuple(named[-1:]))]
    return [*(turns if named else []), ChatMessage("assistant", anchor)]


def _in_hermes_form(messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> list[ChatMessage]:
    """The messages for a template that ignores tools: see the top of this file."""
    turns: list[ChatMessage] = []
    before = ""
    for message in messages:
        if message.role == "assistant" and message.tool_calls:
            turns.append(ChatMessage("assistant", HERMES.write(message.content, message.tool_calls)))
        elif message.role == "tool":
            block = f"<tool_response>\n{message.content}\n</tool_response>"
            if before == "tool":
                block = f"{turns.pop().content}\n{block}"
            turns.append(ChatMessage("user", block))
        else:
            turns.append(message)
        before = message.role
    if not tools:
        return turns
    lead = turns.pop(0).content if turns and turns[0].role == "system" else ""
    return [ChatMessage("system", f"{lead}\n\n{hermes_tools(tools)}".lstrip("\n")), *turns]


def _merged(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """System turns behind the first become user turns, and user turns in a row become one."""
    turns: list[ChatMessage] = []
    for message in messages:
        if message.role == "system" and turns:
            message = replace(message, role="user")
        if message.role == "user" and turns and turns[-1].role == "user":
            message = replace(message, content=f"{turns.pop().content}\n\n{message.content}")
        turns.append(message)
    return turns


def _folded(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The leading system turn becomes part of the user turn after it."""
    if messages and messages[0].role == "system":
        messages = [replace(messages[0], role="user"), *messages[1:]]
    return _merged(messages)


def _unused(word: str, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> str:
    """A word that is in none of the messages and tools: it ends in their hash, which they cannot contain."""
    there = repr((list(messages), list(tools)))
    for number in itertools.count():
        found = f"{word}{sha256(f'{number}/{there}'.encode(errors='replace'))[:16]}x"
        if found not in there:
            return found
    raise AssertionError


def _tags_as_specials(description: str) -> str:
    """The tokenizer.json with its added tokens in brackets as special tokens, all matched in the text as it is.

    A special token that is matched after the text was normalised could be forged with other letters.
    """
    parts = json.loads(description)
    for token in parts["added_tokens"]:
        if token["special"] or TAG.fullmatch(token["content"]):
            token |= {"special": True, "normalized": False}
    return canonical(parts).decode()
