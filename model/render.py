"""Turn messages into text, token ids and the mask of the operator's turns; no other file knows a render format.

    from model.render import Renderer, opening, start_prompt

    renderer = Renderer.for_base(tokenizer)
    context = renderer.context([*opening(scenario), *start_prompt()])

A render format (a *wire*: `markers` or `chat`) says which text separates the turns. Token ids are the concatenation of
segments that are tokenised separately: environment text up to and including the assistant header, then operator text
with its end marker, and so on. So the operator's context at each turn is a prefix of its training ids, and no token
crosses the edge of a turn. The space that some tokenizers put before a text is switched off. Special tokens that are
spelled out in a command or an output stay plain text, and a marker that is spelled out in an output is tokenised letter
by letter, so that no file can forge the edge of a turn. A lossy tokenizer (WordPiece: case, runs of space) gives back
only what it kept; Metaspace decodes a literal U+2581 as a space. A chat template that changes contents, drops turns or
has an end marker that reads differently before what follows it is refused.
"""

import json
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, Protocol

from pipeline.files import read_json
from sandbox.containers import OPERATOR_UID
from schema import Announcement, BadInputError, Message, canonical, sha256

Wire = Literal["markers", "chat"]  # the render format; render.json names it in its field `wire`
Span = tuple[int, int]

SYSTEM, USER, ASSISTANT, END = "<|system|>\n", "<|user|>\n", "<|assistant|>\n", "<|end|>"
HEADERS = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}
PROMPT = "$ "
PROBES = (" a\n", "")  # contents that a template must leave as they are; a command can be empty, an output is left out
PROBE_ROUNDS = 4
ORIENTATION = (
    "This is dash, a POSIX shell, on a Linux machine with a busybox userland and no network. "
    f"The user is operator, uid {OPERATOR_UID}, and the home directory is /home/operator. "
    "A command runs to its end before the next prompt; both of its streams are shown in the order of arrival, and the "
    "middle of a long output is left out. "
    "From one command to the next the working directory, variables, umask, aliases and the options a, C, f and u are "
    "kept; functions, traps, descriptors and other options are lost."
)


class Announced(Protocol):
    """Anything with an announcement: a scenario, or a stub that belongs to none."""

    @property
    def announcement(self) -> Announcement:
        """The text that points at the provider, and its channel."""


def login(scenario: Announced) -> str:
    """The text of a login: a banner comes before it, a message of the day after it, other channels show nothing."""
    shown = "shell login: operator"
    if scenario.announcement.shown_as == "banner":
        return f"{scenario.announcement.text}\n\n{shown}"
    if scenario.announcement.shown_as == "motd":
        return f"{shown}\n\n{scenario.announcement.text}"
    return shown


def orientation(tools: Sequence[str] = ()) -> str:
    """The system turn of an image: the shell, and the commands that the image has beside the busybox userland."""
    return f"{ORIENTATION} Beside the busybox userland there are: {', '.join(tools)}." if tools else ORIENTATION


def opening(scenario: Announced, tools: Sequence[str] = ()) -> list[Message]:
    """The system turn and the login turn, with which every session starts."""
    return [Message(role="system", content=orientation(tools)), Message(role="user", content=login(scenario))]


def start_prompt() -> list[Message]:
    """The turn before the first command."""
    return [Message(role="user", content=PROMPT)]


def after_step(output: str) -> list[Message]:
    """The turns between two commands: the output, absent when empty, and the prompt."""
    return [*([Message(role="user", content=output)] if output else []), *start_prompt()]


def session_messages(
    scenario: Announced, turns: Sequence[tuple[str, str | None]], tools: Sequence[str] = ()
) -> list[Message]:
    """All messages of a session, from its (command, output) pairs; `tools` are those of the image.

    The output is None after the terminal, and after the last command of a session that was cut off. It ends the
    messages.
    """
    messages = [*opening(scenario, tools), *start_prompt()]
    for command, output in turns:
        messages.append(Message(role="assistant", content=command))
        if output is None:
            break
        messages += after_step(output)
    return messages


@dataclass(frozen=True)
class Encoded:
    """A session as a trainer reads it. `token_ids`, `mask` and `offsets` have one entry per token.

    `spans` are the operator's turns in `text`, with their end markers; `mask` is 1 for tokens whose offsets lie in one.
    A BOS token represents no text and has the offsets (0, 0).
    """

    token_ids: list[int]
    mask: list[int]
    offsets: list[Span]
    text: str
    spans: list[Span]


@dataclass(frozen=True)
class _Segment:
    """Text that is tokenised separately. `contents` are the spans in it that the shell or the operator wrote."""

    text: str
    contents: list[Span]
    operator: bool


class Renderer:
    """One tokenizer with one render format. Deterministic. Raises BadInputError where they do not fit together."""

    def __init__(self, tokenizer: Any, wire: Wire) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise BadInputError(f"{_name(tokenizer)}: not a fast tokenizer; save it with a tokenizer.json and use that")
        if wire == "chat" and not tokenizer.chat_template:
            raise BadInputError(f"{_name(tokenizer)}: the tokenizer has no chat template; pass --render markers")
        self.tokenizer, self.wire = tokenizer, wire
        self._description = exact_tokenizer(tokenizer.backend_tokenizer.to_str())
        self._plain = text_tokenizer(self._description, specials=False)
        self._specials = text_tokenizer(self._description, specials=True)
        self._special_ids = {id_ for id_, token in self._plain.get_added_tokens_decoder().items() if token.special}
        first = tokenizer("a")["input_ids"][:1]
        self.bos_id: int | None = tokenizer.bos_token_id if first == [tokenizer.bos_token_id] else None
        self._template = _Template(tokenizer, bos=tokenizer.bos_token if self.bos_id is not None else "")
        self.end_text: str = END if wire == "markers" else self._template.end_text
        if wire == "chat" and (fault := self._template.fault() or self._token_fault()):
            raise BadInputError(f"{_name(tokenizer)}: its chat template {fault}; use --render markers")

    @classmethod
    def for_base(cls, tokenizer: Any, wire: Wire | None = None) -> "Renderer":
        """The renderer for a base without an adapter, or for training a new adapter.

        None is chat where the tokenizer has a chat template that can carry a session, and markers elsewhere. A line to
        stderr names the fault of a template that cannot.
        """
        if wire is not None or not tokenizer.chat_template:
            return cls(tokenizer, wire or "markers")
        try:
            return cls(tokenizer, "chat")
        except BadInputError as error:
            renderer = cls(tokenizer, "markers")
            print(f"{str(error).rpartition(';')[0]}; sessions are rendered with markers", file=sys.stderr)
            return renderer

    @classmethod
    def of(cls, tokenizer: Any, adapter: Path | None, wire: Wire | None = None) -> "Renderer":
        """The renderer of `adapter`, or of a base without one, to which alone `wire` applies."""
        return cls.for_base(tokenizer, wire) if adapter is None else cls.for_adapter(adapter, tokenizer)

    @classmethod
    def for_adapter(cls, adapter: Path, tokenizer: Any) -> "Renderer":
        """The renderer that `adapter` was trained with. Raises BadInputError where `tokenizer` does not fit."""
        path = adapter / "render.json"
        described = read_json(path)
        if described.get("wire") not in ("markers", "chat"):
            raise BadInputError(f"{path}: wire: {described.get('wire')!r} is neither markers nor chat; retrain")
        renderer = cls(tokenizer, described["wire"])
        for field, value in renderer.describe().items():
            if described.get(field) != value:
                raise BadInputError(
                    f"{path}: {field}: differs from what {_name(tokenizer)} gives; use the adapter's base"
                )
        return renderer

    def describe(self) -> dict[str, Any]:
        """The content of render.json in an adapter directory; renderers with equal descriptions give equal ids."""
        chat = self.wire == "chat"
        return {
            "wire": self.wire,
            "end": self.end_text,
            "headers": None if chat else HEADERS,
            "template_sha256": sha256(str(self.tokenizer.chat_template).encode()) if chat else None,
            "tokenizer_sha256": sha256(self._description.encode()),
            "bos_id": self.bos_id,
        }

    def encode(self, messages: Sequence[Message], recorded: Sequence[Sequence[int] | None] | None = None) -> Encoded:
        """The training form of a session, up to the end marker of the last assistant turn; later turns are left out.

        `recorded` holds the sampled ids of each assistant turn (None: tokenise its text); a missing end marker is
        added to them. Raises ValueError where the turns are in an impossible order.
        """
        groups, _ = _turns(messages)
        if recorded is not None and len(recorded) != len(groups):
            raise ValueError(f"{len(recorded)} recorded turns for {len(groups)} assistant turns")
        ids: list[int] = [] if self.bos_id is None else [self.bos_id]
        offsets: list[Span] = [(0, 0)] * len(ids)
        spans: list[Span] = []
        text = ""
        for index, (environment, command) in enumerate(groups):
            for segment in (self._environment(environment, first=index == 0), self._operator(command.content)):
                segment_ids, segment_offsets = self._tokenise(segment)
                if segment.operator and recorded is not None and (sampled := recorded[index]) is not None:
                    segment, segment_ids, segment_offsets = self._recorded(sampled, segment, segment_offsets)
                if segment.operator:
                    spans.append((len(text), len(text) + len(segment.text)))
                offsets += [(start + len(text), end + len(text)) for start, end in segment_offsets]
                ids += segment_ids
                text += segment.text
        return Encoded(ids, _mask(offsets, spans), offsets, text, spans)

    def context(self, messages: Sequence[Message]) -> list[int]:
        """The ids that the operator reads before a command: `messages` up to a user turn, then the assistant header."""
        groups, rest = _turns(messages)
        if not rest:
            raise ValueError("a context ends in a user turn")
        head = self.encode(messages).token_ids if groups else [] if self.bos_id is None else [self.bos_id]
        return head + self._tokenise(self._environment(rest, first=not groups))[0]

    def prompt_text(self, messages: Sequence[Message]) -> str:
        """The context as text, for a server that tokenises a prompt; without the BOS, which the server adds."""
        groups, rest = _turns(messages)
        head = self.encode(messages).text if groups else ""
        return head + self._environment(rest, first=not groups).text

    def environment_ids(self, messages: Sequence[Message]) -> list[int]:
        """The ids of the turns between the end marker of an operator turn and the next command."""
        return self._tokenise(self._environment(messages, first=False))[0]

    def operator_ids(self, command: str) -> list[int]:
        """The ids of one operator turn: the command and its end marker."""
        return self._tokenise(self._operator(command))[0]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids` with special tokens; no space is added or removed."""
        return str(self._plain.decode(list(ids), skip_special_tokens=False))

    def decode_turn(self, ids: Sequence[int]) -> tuple[str, bool]:
        """The command in sampled ids, and whether the operator ended its turn.

        The turn ends at the first end marker or end-of-text token of the tokenizer; later ids are left out.
        """
        ids, eos = list(ids), self.tokenizer.eos_token_id
        stopped = eos is not None and eos in ids
        if stopped:
            ids = ids[: ids.index(eos) + 1]
        command, marker, _ = self.decode(ids).partition(self.end_text)
        if not marker and ids[-len(self._end_ids) :] == self._end_ids:
            return self.decode(ids[: -len(self._end_ids)]), True
        if not marker and stopped:
            return self.decode(ids[:-1]), True
        return command, bool(marker)

    @cached_property
    def _end_ids(self) -> list[int]:
        """The end marker tokenised alone: shows the end of a turn where decoding does not give the text back."""
        return self._tokenise(self._operator(""))[0]

    @cached_property
    def _marks(self) -> re.Pattern[str]:
        """A pattern for the text between contents: the markers, or the pieces of the chat template."""
        pieces = [END, *HEADERS.values()]
        if self.wire == "chat":
            system, user = Message(role="system", content=""), Message(role="user", content="")
            pieces = [self.end_text]
            for messages, first in (([system, user, user], True), ([user, user], False)):
                pieces += self._template.segment(messages, first=first)[1]
        marks = sorted({piece.strip() for piece in pieces} - {""}, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, marks)))

    def forged(self, content: str) -> str | None:
        """The first marker that `content` spells out, or None."""
        mark = self._marks.search(content)
        return mark[0] if mark else None

    def ends_early(self, command: str) -> bool:
        """True where a generated `command` would be cut, because it spells the end marker."""
        return (command + self.end_text).find(self.end_text) < len(command)

    def _token_fault(self) -> str | None:
        """How the tokens of the template's pieces read otherwise than their text, or None.

        The operator's turn is tokenised up to its end marker, a server tokenises on into the next turn, and both must
        get the same ids. A special token that swallows the space beside it gives back another text.
        """
        user = Message(role="user", content="")
        pieces = [*self._template.segment([user], first=True)[1], *self._template.segment([user], first=False)[1]]
        follows = pieces[2]  # what stands between the end marker and the next user content
        whole = self._specials.encode(self.end_text + follows, add_special_tokens=False)
        alone = self._specials.encode(self.end_text, add_special_tokens=False)
        count = len(alone.ids)
        if (whole.ids[:count], whole.offsets[:count]) != (alone.ids, alone.offsets):
            return f"has an end marker {self.end_text!r} that reads differently before {follows[:8]!r}"
        tokens = self._specials.get_added_tokens_decoder()
        for piece in [self.end_text, *pieces]:
            for id_ in self._specials.encode(piece, add_special_tokens=False).ids:
                if id_ in tokens and (tokens[id_].lstrip or tokens[id_].rstrip):
                    return f"uses the token {tokens[id_].content!r}, which swallows the space beside it"
        return None

    def _operator(self, command: str) -> _Segment:
        return _Segment(command + self.end_text, [(0, len(command))], operator=True)

    def _environment(self, messages: Sequence[Message], *, first: bool) -> _Segment:
        """The text from the last end marker (or the start) up to and including the assistant header."""
        if self.wire == "markers":
            pieces = [HEADERS[message.role] for message in messages]
            pieces[1:] = [f"{END}\n{header}" for header in pieces[1:]]
            contents = [message.content for message in messages]
            pieces = [*pieces, f"{END}\n{ASSISTANT}"] if pieces else [ASSISTANT]
            pieces[0] = pieces[0] if first else "\n" + pieces[0]
        else:
            contents, pieces = self._template.segment(messages, first=first)
        text, spans = pieces[0], []
        for content, piece in zip(contents, pieces[1:], strict=True):
            spans.append((len(text), len(text) + len(content)))
            text += content + piece
        return _Segment(text, spans, operator=False)

    def _tokenise(self, segment: _Segment) -> tuple[list[int], list[Span]]:
        """Ids and offsets of one segment.

        A special token counts as special only where the template wrote it, not a content. A marker in an output is
        tokenised letter by letter, so that its ids differ from those at the edge of a turn.
        """
        text, chat = segment.text, self.wire == "chat"
        whole = (self._specials if chat else self._plain).encode(text, add_special_tokens=False)
        hits: list[tuple[int, int, int | None]] = [
            (*span, id_)
            for id_, span in zip(whole.ids, whole.offsets, strict=True)
            if chat and id_ in self._special_ids
        ]
        alone = [hit for hit in hits if not any(start < hit[1] and hit[0] < end for start, end in segment.contents)]
        marks = (
            []
            if segment.operator
            else [mark for span in segment.contents for mark in self._marks.finditer(text, *span)]
        )
        if len(alone) == len(hits) and not marks:
            return whole.ids, whole.offsets
        alone += [(at, at + 1, None) for mark in marks for at in range(*mark.span())]
        ids: list[int] = []
        offsets: list[Span] = []
        cursor = 0
        for start, end, id_ in [*sorted(alone), (len(text), len(text), None)]:
            for first, last in [(cursor, start), *([(start, end)] if id_ is None else [])]:
                plain = self._plain.encode(text[first:last], add_special_tokens=False)
                ids += plain.ids
                offsets += [(a + first, b + first) for a, b in plain.offsets]
            ids += [] if id_ is None else [id_]
            offsets += [] if id_ is None else [(start, end)]
            cursor = end
        return ids, offsets

    def _recorded(
        self, sampled: Sequence[int], segment: _Segment, offsets: list[Span]
    ) -> tuple[_Segment, list[int], list[Span]]:
        """The segment with the text of `sampled`, its ids, and their offsets into that text."""
        ids = list(sampled)
        if ids == self._tokenise(segment)[0]:
            return segment, ids, offsets
        if not self.decode_turn(ids)[1]:
            ids += self._end_ids
        text = self.decode(ids)
        ends = [min(len(self.decode(ids[: count + 1]).rstrip("\ufffd")), len(text)) for count in range(len(ids))]
        ends[-1:] = [len(text)]
        starts = [0, *ends[:-1]]
        return (
            _Segment(text, [(0, len(text))], operator=True),
            ids,
            [(min(start, end, len(text) - 1), max(start, end)) for start, end in zip(starts, ends, strict=True)],
        )


class _Template:
    """A tokenizer's own chat template, cut into the pieces around the contents.

    The template renders placeholders, never real contents, so a template that trims or inspects contents cannot change
    them. A piece depends only on the roles of the turns between two commands, so later turns never change earlier ones.
    """

    def __init__(self, tokenizer: Any, bos: str) -> None:
        self.tokenizer, self.bos = tokenizer, bos
        self.pieces: dict[tuple[tuple[str, ...], bool], list[str]] = {}

    @cached_property
    def end_text(self) -> str:
        """The text that the template puts after every assistant content, without trailing space."""
        try:
            last = self._render(["user", "assistant"])[-1]
            inner = self._render(["user", "assistant", "user", "assistant"])[2]
        except _TemplateRefusedError as error:
            raise BadInputError(
                f"{_name(self.tokenizer)}: its chat template cannot carry a session ({error}); pass --render markers"
            ) from error
        common = takewhile(lambda pair: pair[0] == pair[1], zip(last, inner, strict=False))
        end = "".join(character for character, _ in common).rstrip()
        if not end:
            raise BadInputError(
                f"{_name(self.tokenizer)}: its chat template puts no end marker after an assistant turn; "
                f"pass --render markers"
            )
        return end

    def fault(self) -> str | None:
        """How the template changes or drops what it is given, or None.

        Its pieces come from placeholders, so it could do so unseen; a server that applies it would then read another
        text than the one that was trained.
        """
        roles = ["user", "assistant"] * PROBE_ROUNDS
        try:
            self._render(roles)
        except _TemplateRefusedError as error:
            return f"drops a turn ({error})"
        with suppress(_TemplateRefusedError):
            self._render(["system", *roles])
            roles = ["system", *roles]
        plain = [f"\ue000{index}\ue001" for index in range(len(roles))]
        whole = self._apply(roles, plain)
        for index, role in enumerate(roles):
            for content in PROBES if role == "assistant" else PROBES[:1]:
                wanted = whole.replace(plain[index], content)
                try:
                    found = self._apply(roles, [*plain[:index], content, *plain[index + 1 :]])
                except _TemplateRefusedError as error:
                    return f"refuses the {role} turn {content!r} ({error})"
                if found != wanted:
                    what = f"strips text: {content!r} in" if content else "drops or changes an empty text in"
                    return f"{what} a turn of the {role}"
        return None

    def segment(self, messages: Sequence[Message], *, first: bool) -> tuple[list[str], list[str]]:
        """The contents and the pieces around them; there is one piece more than contents.

        A leading system turn is folded into the first user turn, and turns of one role in a row are merged, where the
        template demands it.
        """
        folds: list[Callable[[list[Message]], list[Message]]] = [list, _fold_system, _merge, _fold_and_merge]
        for fold in folds:
            turns = fold(list(messages))
            roles = tuple(turn.role for turn in turns)
            try:
                return [turn.content for turn in turns], self._cut(roles, first)
            except _TemplateRefusedError as error:
                reason = error
        roles_given = [message.role for message in messages]
        raise BadInputError(
            f"{_name(self.tokenizer)}: its chat template cannot carry the turns {roles_given} ({reason}); "
            f"pass --render markers"
        )

    def _cut(self, roles: tuple[str, ...], first: bool) -> list[str]:
        key = (roles, first)
        if key not in self.pieces:
            before = [] if first else ["user", "assistant"]
            pieces = self._render([*before, *roles, "assistant"])[len(before) : -1]
            if not first:
                pieces[0] = pieces[0][len(self.end_text) :]
            pieces = [piece.replace(self.bos, "") if self.bos else piece for piece in pieces]
            self.pieces[key] = pieces
        return self.pieces[key]

    def _render(self, roles: Sequence[str]) -> list[str]:
        """The text around the contents of turns with these roles. Raises _TemplateRefusedError."""
        text = self._apply(roles, [f"\ue000{index}\ue001" for index in range(len(roles))])
        parts = re.split("\ue000([0-9]+)\ue001", text)
        if parts[1::2] != [str(index) for index in range(len(roles))]:
            raise _TemplateRefusedError(f"turns {list(roles)} come out as {parts[1::2]}")
        return parts[::2]

    def _apply(self, roles: Sequence[str], contents: Sequence[str]) -> str:
        """What the template makes of these turns. Raises _TemplateRefusedError."""
        from jinja2.exceptions import TemplateError

        conversation = [{"role": role, "content": content} for role, content in zip(roles, contents, strict=True)]
        try:
            # A fixed date: a template that prints today's date would render different texts in training and later.
            return str(self.tokenizer.apply_chat_template(conversation, tokenize=False, date_string="01 Jan 2025"))
        except TemplateError as error:
            raise _TemplateRefusedError(str(error)) from error


class _TemplateRefusedError(Exception):
    """A chat template raised an error, or dropped or reordered turns."""


def _fold_system(messages: list[Message]) -> list[Message]:
    """Put the system turn at the beginning of the user turn after it."""
    if len(messages) > 1 and messages[0].role == "system" and messages[1].role == "user":
        content = f"{messages[0].content}\n\n{messages[1].content}"
        return [Message(role="user", content=content), *messages[2:]]
    return messages


def _merge(messages: list[Message]) -> list[Message]:
    """Join consecutive turns of one role, each starting on a new line."""
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            before = merged.pop().content
            between = "" if before[-1:] in ("", "\n") else "\n"
            message = Message(role=message.role, content=before + between + message.content)
        merged.append(message)
    return merged


def _fold_and_merge(messages: list[Message]) -> list[Message]:
    return _merge(_fold_system(messages))


def _turns(messages: Sequence[Message]) -> tuple[list[tuple[list[Message], Message]], list[Message]]:
    """Each assistant turn with the environment turns before it, and the environment turns after the last of them."""
    groups: list[tuple[list[Message], Message]] = []
    environment: list[Message] = []
    for index, message in enumerate(messages):
        if message.role == "system" and index:
            raise ValueError(f"turn {index} is a system turn; only the first may be")
        if message.role != "assistant":
            environment.append(message)
        elif not environment or environment[-1].role != "user":
            raise ValueError(f"turn {index} is an assistant turn without a user turn before it")
        else:
            groups.append((environment, message))
            environment = []
    return groups, environment


def _mask(offsets: Sequence[Span], spans: Sequence[Span]) -> list[int]:
    """1 for a token whose offsets lie in one of `spans`, else 0. Both ascend."""
    mask, current = [], 0
    for start, end in offsets:
        while current < len(spans) and start >= spans[current][1]:
            current += 1
        mask.append(int(current < len(spans) and spans[current][0] <= start and end <= spans[current][1]))
    return mask


def exact_tokenizer(description: str) -> str:
    """A tokenizer.json that leaves texts unchanged: no leading space, no BOS, no padding, no truncation."""

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(item) for item in value if not _adds_space(item)]
        if not isinstance(value, dict):
            return value
        value = {key: walk(item) for key, item in value.items() if key != "dropout"}
        if value.get("type") == "Metaspace":
            value |= {"prepend_scheme": "never"}
        if value.get("type") == "ByteLevel":
            value |= {"add_prefix_space": False}
        return value

    parts = json.loads(description)
    for name in ("normalizer", "pre_tokenizer", "decoder"):
        parts[name] = None if _adds_space(parts[name]) else walk(parts[name])
    parts |= {"post_processor": None, "truncation": None, "padding": None}
    parts["model"].pop("dropout", None)
    return canonical(parts).decode()


def _adds_space(component: Any) -> bool:
    """True for the parts of a tokenizer that add a space before a text, or remove it again."""
    return isinstance(component, dict) and component.get("type") in ("Prepend", "Strip")


def text_tokenizer(description: str, *, specials: bool) -> Any:
    """A tokenizer from its tokenizer.json. Without `specials`, special tokens that are spelled out are plain text."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(description)
    tokenizer.encode_special_tokens = not specials
    return tokenizer


def _name(tokenizer: Any) -> str:
    return str(getattr(tokenizer, "name_or_path", "") or "tokenizer")
