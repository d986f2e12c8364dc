"""Keep every token that a model samples for an agent, and give the segments that can be trained.

    session = AgentSession(ChatTemplate.of(tokenizer))
    request = session.prepare(messages, tools)             # request.context_ids: what the model reads
    reply = session.read(request, sampled_ids)             # what the client gets
    session.record(request, sampled_ids, log_probs, "stop")     # after the client got it
    rows = session.segments()

The session is a tree of messages; one list of tools has one root. A *call* is one reply that the model sampled. The ids
that were read and sampled are kept and never replaced. A request whose messages continue a call is appended to it: only
the new messages are encoded. Every other request *opens*: it is encoded whole. All but the first opening are *forks*,
counted by cause. Nothing is ever realigned.

Segments: a call and all calls that it was appended to are one run of tokens, so what is trained was sampled after
exactly the tokens before it. A call is trained whole and in one segment; in other segments it is context. Not trained,
and counted by reason:
    side_call    no tools were offered although other calls of the session had some; or the system turn asks for titles
                 or summaries (SIDE_CALL_WORDS), or the last message for a summary (SUMMARY_WORDS); or the session's
                 own rule says so
    retry        another reply to the same request is used: one that was continued, else the one recorded last
    log_probs    the log-probabilities do not fit the tokens
    not_sent     the client never got the reply (`discard`)
"""

import itertools
import math
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from agents.canonical import (
    ChatMessage,
    ToolSpec,
    call_id,
    ids_by_place,
    key,
    same_reasoning,
    tools_key,
    well_formed_message,
    well_formed_tool,
)
from schema import Segment, sha256

Finish = Literal["stop", "length", "tool"]
How = Literal["append", "retry", "open", "template"]
SideCallRule = Callable[[Sequence[ChatMessage], Sequence[ToolSpec]], bool]
SIDE_CALL_WORDS = ("title generator", "concise title", "conversation title", "summarizing conversations")
SUMMARY_WORDS = ("create a detailed summary of the conversation", "comprehensive detailed summary of the conversation")


class TurnEncoder(Protocol):
    """What a session needs of a chat template; agents/templates.py has the real one."""

    end_ids: frozenset[int]

    def opening_ids(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> list[int]:
        """The ids of a whole conversation and the assistant header."""

    def tail_ids(
        self, history: Sequence[ChatMessage], new: Sequence[ChatMessage], tools: Sequence[ToolSpec], *, closed: bool
    ) -> list[int] | None:
        """The ids to append after the last sampled turn; None where that cannot be."""

    def parse(self, token_ids: Sequence[int]) -> ChatMessage:
        """The message in sampled ids."""


@dataclass(eq=False)
class _Place:
    """A place in the tree of messages: a conversation up to and including one message."""

    roles_after: set[str] = field(default_factory=set)
    replies: list["_Call"] = field(default_factory=list)  # whose reply is the last message here
    answers: list["_Call"] = field(default_factory=list)  # to a request that ends here


@dataclass(eq=False)
class _Call:
    """One sampled reply. The model read all ids of `before`, its reply included, and then `bridge`."""

    before: "_Call | None"
    bridge: list[int]
    token_ids: list[int]
    log_probs: list[float]
    message: ChatMessage
    index: int  # of the reply in its conversation
    offered_tools: bool
    side: bool  # by its words or by the session's own rule
    place: _Place = field(default_factory=_Place)  # of the reply
    after: list["_Call"] = field(default_factory=list)  # the calls that were appended to this one

    def chain(self) -> list["_Call"]:
        """The calls that this one was appended to, the first first, then itself."""
        calls: list[_Call] = []
        call: _Call | None = self
        while call:
            calls.append(call)
            call = call.before
        return calls[::-1]

    def ids(self) -> list[int]:
        """Everything that was read and sampled, up to and including the reply."""
        return [id_ for call in self.chain() for id_ in (*call.bridge, *call.token_ids)]


@dataclass(eq=False)
class Request:
    """One request of an agent: the ids that the model reads, and where it stands in the session."""

    context_ids: list[int]
    how: How  # "template": it cannot be appended, so it opens
    messages: list[ChatMessage]
    tools: list[ToolSpec]
    keys: list[str]  # of the messages
    digests: list[str]  # of the list of tools, and of each message's place in the tree
    bridge: list[int]
    before: _Call | None
    side_call: bool  # by its words, or by the session's own rule
    one_call: bool  # the client wants the first call of a reply alone
    ended: bool = False  # recorded or discarded


class AgentSession:
    """All calls of one agent program in one episode. Its methods may be called from several threads.

    Each request ends with `record` or `discard`. A request that continues a reply which was read and is not recorded
    yet waits for that, up to `patience_seconds`: a client may be faster than the server's own bookkeeping.
    """

    def __init__(
        self, template: TurnEncoder, side_call: SideCallRule | None = None, patience_seconds: float = 30.0
    ) -> None:
        self.template, self._side_call, self._patience_seconds = template, side_call, patience_seconds
        self._places: dict[str, _Place] = {}
        self._beginnings: set[tuple[str, ...]] = set()
        self._calls: list[_Call] = []
        self._unrecorded: dict[str, Request] = {}
        self._counts: Counter[str] = Counter()
        self._changed = threading.Condition()

    def prepare(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec], one_call: bool = False) -> Request:
        """The request with its context ids. Raises BadInputError where the template refuses its messages.

        With `one_call` the reply has the first of its calls alone; the ids of the others stay where they were sampled.
        """
        turns = ids_by_place([well_formed_message(message) for message in messages])
        offered = [well_formed_tool(tool) for tool in tools]
        keys = [key(turn) for turn in turns]
        digests = _digests(tools_key(offered), keys)
        with self._changed:
            self._changed.wait_for(lambda: self._unrecorded.keys().isdisjoint(digests), self._patience_seconds)
            earlier, before = self._same_request(turns, digests), self._last_call(turns, digests)
        how: How = "open"
        bridge: list[int] | None = None
        if earlier:
            how, before, bridge, encoded = "retry", earlier.before, earlier.bridge, 0
        else:
            if before and not any(turn.role == "assistant" for turn in turns[before.index + 1 :]):
                bridge = self._tail(before, turns, offered)
                how = "template" if bridge is None else "append"
            if bridge is None:
                before, bridge = None, self.template.opening_ids(turns, offered)
            encoded = len(bridge)
        with self._changed:
            self._counts.update(requests=1, encoded_tokens=encoded)
        context = [*(before.ids() if before else []), *bridge]
        side = self.is_side_call(turns, offered)
        return Request(context, how, turns, offered, keys, digests, bridge, before, side, one_call)

    def answers_to(self, request: Request) -> int:
        """How many replies there are to the messages and tools of a request: recorded, or read and not recorded yet."""
        digest = request.digests[-1]
        with self._changed:
            recorded = self._places[digest].answers if digest in self._places else []
            return len(recorded) + sum(one.digests[-1] == digest for one in self._unrecorded.values())

    def is_side_call(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> bool:
        """True where the words of a request, or the session's own rule, make it a side call."""
        own = self._side_call
        return _asks_for_title_or_summary(messages) or (own is not None and own(messages, tools))

    def read(self, request: Request, token_ids: Sequence[int]) -> ChatMessage:
        """The reply in sampled ids, for the client. Call ids depend only on the conversation and on the ids."""
        message = self._parse(request, token_ids)
        with self._changed:
            if not request.ended:
                self._unrecorded[_digest(request.digests[-1], key(message))] = request
        return message

    def record(
        self, request: Request, token_ids: Sequence[int], log_probs: Sequence[float], finish: Finish
    ) -> ChatMessage:
        """Keep a reply that the client got, and return it. A second record of one request raises ValueError."""
        message = self._parse(request, token_ids)
        call = _Call(
            request.before, request.bridge, list(token_ids), list(log_probs), message, len(request.messages),
            bool(request.tools), request.side_call,
        )  # fmt: skip
        with self._changed:
            self._end(request)
            self._count(request, call, finish)
            self._grow(request, call)
        return message

    def discard(self, request: Request, token_ids: Sequence[int] = ()) -> None:
        """End a request whose reply never reached the client; `token_ids` are those that were sampled for it."""
        with self._changed:
            self._end(request)
            self._counts.update(discarded=1, sampled_tokens=len(token_ids), untrained_not_sent=len(token_ids))

    def segments(self) -> list[Segment]:
        """The rows to train. Each trained token is 1 in exactly one of them."""
        with self._changed:
            reasons = self._reasons()
            return _rows(self._calls, {call for call in self._calls if call not in reasons and call.token_ids})

    def counts(self) -> dict[str, int]:
        """Calls, forks by cause, encoded, sampled and trained tokens, and untrained sampled tokens by reason."""
        with self._changed:
            counts, reasons = self._counts.copy(), self._reasons()
            counts["unfinished_requests"] = counts["requests"] - counts["calls"] - counts["discarded"]
        for call, reason in reasons.items():
            counts[f"untrained_{reason}"] += len(call.token_ids)
            counts[f"{reason}_calls"] += 1
        untrained = sum(value for name, value in counts.items() if name.startswith("untrained_"))
        counts["trained_tokens"] = counts["sampled_tokens"] - untrained
        return dict(sorted(counts.items()))

    def _parse(self, request: Request, token_ids: Sequence[int]) -> ChatMessage:
        message = self.template.parse(token_ids)
        sampled = sha256(",".join(map(str, token_ids)).encode())
        calls = tuple(
            replace(call, id=call_id(request.digests[-1], sampled, position))
            for position, call in enumerate(message.tool_calls[: 1 if request.one_call else None])
        )
        return replace(message, tool_calls=calls)

    def _same_request(self, turns: Sequence[ChatMessage], digests: Sequence[str]) -> _Call | None:
        """A call that answers this very request."""
        place = self._places.get(digests[-1])
        return next((call for call in place.answers if _replays(call.before, turns)), None) if place else None

    def _last_call(self, turns: Sequence[ChatMessage], digests: Sequence[str]) -> _Call | None:
        """The last reply of this session that the request replays unchanged, with all before it."""
        for digest in reversed(digests):
            for call in reversed(self._places[digest].replies if digest in self._places else []):
                if _replays(call, turns):
                    return call
        return None

    def _fork_cause(self, request: Request) -> str | None:
        """Why a request is a fork, by the first message that differs from all that is recorded; None where it is none.

        Asked when the request is recorded: of two conversations that begin at once, the second is a fork all the same.
        """
        turns, keys, digests = request.messages, request.keys, request.digests
        if request.how in ("append", "retry") or not self._places or self._same_request(turns, digests):
            return None
        if request.how == "template":
            return "template"
        systems, first = _beginning(turns, keys)
        known = next((at for at, digest in enumerate(digests) if digest not in self._places), len(digests)) - 1
        if known > len(systems):  # its first message is known: it departs later
            after = self._places[digests[known]].roles_after
            if known == len(turns):
                return "history_dropped"
            if turns[known].role == "assistant":
                return "assistant_edited" if "assistant" in after else "assistant_unknown"
            return "history_dropped" if after == {"assistant"} else "history_edited"
        root = digests[0]
        if ("whole", *systems, first) in self._beginnings:
            return "tools_changed"
        if ("tools and first", root, first) in self._beginnings:
            return "system_changed"
        if systems and ("tools and system", root, *systems) in self._beginnings:
            return "history_replaced"
        return "new_conversation"

    def _tail(self, before: _Call, turns: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> list[int] | None:
        """The ids of the messages after `before`; results have the ids that the calls got there."""
        held = {call_id(before.index, at): call.id for at, call in enumerate(before.message.tool_calls)}
        new = [
            replace(turn, tool_call_id=held.get(turn.tool_call_id or "", turn.tool_call_id))
            for turn in turns[before.index + 1 :]
        ]
        closed = bool(before.token_ids) and before.token_ids[-1] in self.template.end_ids
        return self.template.tail_ids([*turns[: before.index], before.message], new, tools, closed=closed)

    def _end(self, request: Request) -> None:
        if request.ended:
            raise ValueError("this request was recorded or discarded before")
        request.ended = True
        self._unrecorded = {digest: one for digest, one in self._unrecorded.items() if one is not request}
        self._changed.notify_all()

    def _grow(self, request: Request, call: _Call) -> None:
        """Put the request and its reply into the tree."""
        for digest, turn in zip(request.digests, [*request.messages, call.message], strict=True):
            self._places.setdefault(digest, _Place()).roles_after.add(turn.role)
        self._places[request.digests[-1]].answers.append(call)
        call.place = self._places.setdefault(_digest(request.digests[-1], key(call.message)), call.place)
        call.place.replies.append(call)
        systems, first = _beginning(request.messages, request.keys)
        root = request.digests[0]
        self._beginnings |= {
            ("whole", *systems, first), ("tools and first", root, first), ("tools and system", root, *systems)
        }  # fmt: skip
        if call.before:
            call.before.after.append(call)
        self._calls.append(call)

    def _count(self, request: Request, call: _Call, finish: Finish) -> None:
        cause = self._fork_cause(request)
        self._counts.update(
            {"calls": 1, "sampled_tokens": len(call.token_ids), "cut_by_length": int(finish == "length"),
             "empty_replies": int(not call.token_ids), "openings": int(call.before is None),
             "forks": int(cause is not None), **({f"fork_{cause}": 1} if cause else {})}
        )  # fmt: skip

    def _reasons(self) -> dict[_Call, str]:
        """Why a call is not trained; calls without a reason are not in it."""
        any_tools = any(call.offered_tools for call in self._calls)
        reasons: dict[_Call, str] = {}
        for place in self._places.values():
            used = [call for call in place.answers if _is_continued(call)] or place.answers[-1:]
            for call in place.answers:
                sound = len(call.log_probs) == len(call.token_ids) and all(map(math.isfinite, call.log_probs))
                if call.side or (any_tools and not call.offered_tools):
                    reasons[call] = "side_call"
                elif call not in used:
                    reasons[call] = "retry"
                elif not sound:
                    reasons[call] = "log_probs"
        return reasons


def _replays(call: _Call | None, turns: Sequence[ChatMessage]) -> bool:
    """True where the reasoning of each call up to this one is missing from the replayed turns or is the same."""
    return call is None or all(same_reasoning(one.message, turns[one.index]) for one in call.chain())


def _is_continued(call: _Call) -> bool:
    """True where a later request goes on from this reply; of replies with equal text, only from the one it used."""
    if call.after or not call.place.roles_after:
        return bool(call.after)
    return call is call.place.replies[-1] and not any(one.after for one in call.place.replies)


def _asks_for_title_or_summary(messages: Sequence[ChatMessage]) -> bool:
    systems = " ".join(message.content for message in messages if message.role == "system").lower()
    last = messages[-1].content.lower() if messages and messages[-1].role == "user" else ""
    return any(words in systems for words in SIDE_CALL_WORDS) or any(words in last for words in SUMMARY_WORDS)


def _digest(before: str, message_key: str) -> str:
    return sha256(f"{before}{message_key}".encode())


def _digests(root: str, keys: Sequence[str]) -> list[str]:
    """The root of the tree, then one digest for each conversation that ends with a message."""
    return list(itertools.accumulate(keys, _digest, initial=root))


def _beginning(turns: Sequence[ChatMessage], keys: Sequence[str]) -> tuple[Sequence[str], str]:
    """The keys of the leading system messages, and that of the first message after them."""
    count = next((at for at, turn in enumerate(turns) if turn.role != "system"), len(turns))
    return keys[:count], keys[count] if count < len(turns) else ""


def _rows(calls: Sequence[_Call], trained: set[_Call]) -> list[Segment]:
    """One segment for each trained call after which nothing trained was appended.

    A call that several of them share is trained in the one whose tokens come first in order, whichever was first.
    """
    needed: set[_Call] = set()
    for call in reversed(calls):  # what was appended to a call was recorded after it
        if call in trained or any(one in needed for one in call.after):
            needed.add(call)
    last = [call for call in calls if call in trained and not any(one in needed for one in call.after)]
    owner: dict[_Call, _Call] = {}
    for end in sorted(last, key=_Call.ids):
        for call in end.chain():
            owner.setdefault(call, end)
    return [_row(end, {call for call in end.chain() if call in trained and owner[call] is end}) for end in last]


def _row(end: _Call, trained: set[_Call]) -> Segment:
    ids: list[int] = []
    mask: list[int] = []
    log_probs: list[float | None] = []
    for call in end.chain():
        on = call in trained
        ids += [*call.bridge, *call.token_ids]
        mask += [0] * len(call.bridge) + [int(on)] * len(call.token_ids)
        log_probs += [None] * len(call.bridge)
        log_probs += call.log_probs if on else [None] * len(call.token_ids)
    return Segment(token_ids=ids, assistant_mask=mask, log_probs=log_probs)
