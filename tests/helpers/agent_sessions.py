"""Play random agent sessions against a template of one token per character, and check what can be trained.

    log = play(random.Random(7))
    assert violations(log) == []

A client keeps conversations, sends each as a whole, and gets replies. It does what real ones do: it leaves out
reasoning, reorders arguments, writes ids of its own, retries, branches, starts sub-agents, compacts, asks for titles,
edits and drops messages, changes the system turn and the tools, and loses replies. Requests of several conversations
are under way at once.
"""

import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

from agents.canonical import ChatMessage, ToolCall, ToolSpec
from agents.provenance import AgentSession, Finish
from schema import Segment

END, ASSISTANT = 1, 2
ROLES = {"system": 3, "user": 4, "tool": 5, "assistant": ASSISTANT}
REFUSED = "#"  # a new user message with this in it cannot be appended
TOOLS = [ToolSpec("sh", "Run a command.", {}), ToolSpec("edit", "Edit a file.", {})]
TITLE = ChatMessage("system", "You are a title generator.")


class CharacterTemplate:
    """A chat template with one id per character that leaves reasoning out of every earlier turn."""

    end_ids = frozenset({END})

    def opening_ids(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> list[int]:
        """The ids of a whole conversation."""
        ids = [ord(letter) for tool in tools for letter in tool.name]
        for message in messages:
            ids += [ROLES[message.role], *characters(replace(message, reasoning="")), END]
        return [*ids, ASSISTANT]

    def tail_ids(
        self, history: Sequence[ChatMessage], new: Sequence[ChatMessage], tools: Sequence[ToolSpec], *, closed: bool
    ) -> list[int] | None:
        """The ids of the new messages, after an end marker where the turn before has none."""
        if any(REFUSED in message.content for message in new):
            return None
        return [*([] if closed else [END]), *self.opening_ids(new, [])]

    def parse(self, token_ids: Sequence[int]) -> ChatMessage:
        """A message: (reasoning)text!name=argument!name=argument."""
        text = "".join(chr(id_) for id_ in token_ids if id_ != END)
        thought, mark, rest = text.partition(")")
        text, *calls = (rest if mark else text).split("!")
        parsed = tuple(ToolCall("", *_call(call)) for call in calls)
        return ChatMessage("assistant", text, thought.removeprefix("(") if mark else "", parsed)


def _call(text: str) -> tuple[str, dict[str, str]]:
    name, _, argument = text.partition("=")
    return name, {"a": argument, "b": ""}


def characters(message: ChatMessage) -> list[int]:
    """The ids of what a message says."""
    calls = "".join(f"!{call.name}={(call.arguments or {}).get('a', '')}" for call in message.tool_calls)
    thought = f"({message.reasoning})" if message.reasoning else ""
    return [ord(letter) for letter in thought + message.content + calls]


@dataclass(frozen=True)
class Sent:
    """One request of the client: what the model read, sampled, and what became of it."""

    context_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    log_probs: tuple[float, ...]
    recorded: bool
    side: bool

    @property
    def fits(self) -> bool:
        """There is one log-probability for each token."""
        return len(self.log_probs) == len(self.token_ids)


@dataclass
class Log:
    """A session after it was played, and everything that was sent in it."""

    session: AgentSession
    sent: list[Sent] = field(default_factory=list)
    retries: list[tuple[Sent, Sent]] = field(default_factory=list)  # two replies of which the client used one


@dataclass
class Conversation:
    """One conversation of the client, as the client holds it. Its randomness is its own.

    Its methods are generators that pause wherever a request of another conversation may come in between.
    """

    random: random.Random
    messages: list[ChatMessage]
    tools: list[ToolSpec]
    name: str = ""  # in all its texts and replies; without one, two conversations may come to hold the same messages

    def go_on(self, log: Log, steps: int) -> Iterator[None]:
        """Do some things that clients do."""
        for _ in range(steps):
            kind = self.random.choices(
                ["ask", "retry", "lose", "edit", "drop", "compact", "system", "tools", "refused"],
                [60, 8, 5, 4, 4, 4, 2, 2, 2],
            )[0]
            if kind in ("edit", "drop", "compact", "system", "tools", "refused"):
                self._disturb(kind)
            if self.messages[-1].role == "assistant":
                self.messages.append(ChatMessage("user", "on"))
            if kind == "lose":
                yield from self._send(log, lost=True)
                continue
            reply, sent = yield from self._send(log)
            if kind == "retry":
                again, sent_again = yield from self._send(log)
                log.retries.append((sent, sent_again))
                reply = self.random.choice([reply, again])
            self._take(reply)

    def _send(self, log: Log, *, lost: bool = False) -> Generator[None, None, tuple[ChatMessage, Sent]]:
        """One request. Its reply is recorded, or lost on the way."""
        request = log.session.prepare(self.messages, self.tools)
        yield
        ids, finish = sampled(self.random, self.name)
        log_probs = [-self.random.random() for _ in ids]
        side = not self.tools or TITLE.content in self.messages[0].content
        if self.random.random() < 0.03:
            log_probs = log_probs[1:] if ids and self.random.random() < 0.5 else [*log_probs, -1.0]
        sent = Sent(tuple(request.context_ids), tuple(ids), tuple(log_probs), not lost, side)
        log.sent.append(sent)
        reply = log.session.read(request, ids)
        yield
        if lost:
            log.session.discard(request, ids)
        else:
            assert log.session.record(request, ids, log_probs, finish) == reply
        return reply, sent

    def _take(self, reply: ChatMessage) -> None:
        """Hold the reply as clients do, then answer its calls or go on."""
        calls = tuple(
            replace(call, id=f"{call.id}-own", arguments=dict(reversed((call.arguments or {}).items())))
            for call in reply.tool_calls
        )
        kept = self.random.random() < 0.5
        content = reply.content + self.random.choice(["", " ", "\n"])
        held = replace(reply, content=content, reasoning=reply.reasoning if kept else "", tool_calls=calls)
        self.messages = [*self.messages, held]
        self.messages += [ChatMessage("tool", self._text(), tool_call_id=call.id) for call in calls]
        if not calls or self.random.random() < 0.2:
            self.messages.append(ChatMessage("user", self._text()))

    def _disturb(self, kind: str) -> None:
        """Change the held conversation."""
        at = self.random.randrange(len(self.messages))
        if kind == "edit":
            self.messages[at] = replace(self.messages[at], content=self.messages[at].content + self._text())
        elif kind == "drop" and 0 < at < len(self.messages) - 1:
            self.messages = self.messages[:at] + self.messages[at + 1 :]
        elif kind == "compact":
            kept = self.random.randint(1, 2)
            self.messages = [*self.messages[:kept], ChatMessage("user", f"so far {self._text()}")]
        elif kind == "system":
            self.messages[0] = replace(self.messages[0], content=self._text())
        elif kind == "tools" and self.tools:
            self.tools = TOOLS[: 3 - len(self.tools)]
        elif kind == "refused":
            self.messages.append(ChatMessage("user", REFUSED + self._text()))

    def _text(self) -> str:
        return self.name + "".join(self.random.choices("abc", k=self.random.randint(1, 3)))


def sampled(randomness: random.Random, name: str) -> tuple[list[int], Finish]:
    """The ids of a reply: some empty, some cut."""
    if randomness.random() < 0.03:
        return [], "length"
    text = f"({randomness.choice('xyz')})" if randomness.random() < 0.5 else ""
    text += name + "".join(randomness.choices("pqr", k=randomness.randint(0, 3)))
    for _ in range(randomness.choice([0, 0, 1, 1, 2, 3])):
        text += f"!sh={randomness.choice('uvw')}"
    ids = [ord(letter) for letter in text]
    return ([*ids, END], "stop") if randomness.random() < 0.9 else (ids, "length")


def conversations(randomness: random.Random, log: Log, *, named: bool) -> list[Conversation]:
    """An agent, branches of it, sub-agents and side calls; each has an opening of its own."""
    names = iter("ABC" if named else ["", "", ""])
    opening = [ChatMessage("system", "s"), ChatMessage("user", "go")]
    agent = Conversation(random.Random(randomness.random()), opening, TOOLS[:1], name=next(names))
    for _ in agent.go_on(log, randomness.randint(0, 2)):  # 0: all conversations open at once
        pass
    found = [agent]
    for number in range(randomness.randint(0, 2)):
        own, name = random.Random(randomness.random()), next(names)
        kind = randomness.choice(["branch", "sub", "title"])
        if kind == "branch":
            branch = [*agent.messages, ChatMessage("user", f"branch {number}")]
            found.append(Conversation(own, branch, agent.tools, name=name))
        elif kind == "sub":
            opening = [ChatMessage("system", f"sub {number}"), ChatMessage("user", "look")]
            found.append(Conversation(own, opening, TOOLS, name=name))
        else:
            side = randomness.random() < 0.5
            system = TITLE if side else ChatMessage("system", "short")
            opening = [system, ChatMessage("user", f"title {number}")]
            found.append(Conversation(own, opening, TOOLS[:1] if side else [], name=name))
    return found


def play(seed: object, order: int = 0, *, named: bool = False) -> Log:
    """A random session. `order` decides the order in which its conversations' requests and replies arrive.

    Where they are `named`, nothing else depends on it.
    """
    randomness = random.Random(f"{seed}")
    log = Log(AgentSession(CharacterTemplate(), patience_seconds=0))
    arrival = random.Random(f"{seed}/{order}")
    going = [one.go_on(log, randomness.choice([1, 1, 2, 3])) for one in conversations(randomness, log, named=named)]
    while going:
        one = arrival.choice(going)
        if next(one, "ended") == "ended":
            going.remove(one)
    return log


def violations(log: Log, segments: Sequence[Segment] | None = None) -> list[str]:
    """The names of the properties that the segments do not have."""
    segments = log.session.segments() if segments is None else segments
    counts = log.session.counts()
    waiting: dict[tuple[int, ...], list[Sent]] = {}
    for one in log.sent:
        if one.recorded and one.token_ids:
            waiting.setdefault(one.context_ids, []).append(one)
    faults: set[str] = set()
    for segment in segments:
        faults |= _segment_faults(segment, waiting)
    left = [one for group in waiting.values() for one in group]
    expected = {
        "trained_tokens": sum(sum(segment.assistant_mask) for segment in segments),
        "sampled_tokens": sum(len(one.token_ids) for one in log.sent),
        "untrained_side_call": sum(len(one.token_ids) for one in left if one.side),
        "untrained_not_sent": sum(len(one.token_ids) for one in log.sent if not one.recorded),
    }
    faults |= {f"count of {name}" for name, count in expected.items() if count != counts.get(name, 0)}
    if any(not _may_be_left(one, left, log.sent) for one in left):
        faults.add("an output is not trained, without a reason")
    if any(one.token_ids and other.token_ids and one not in left and other not in left for one, other in log.retries):
        faults.add("both replies to a retried request are trained")
    return sorted(faults)


def _may_be_left(one: Sent, left: Sequence[Sent], sent: Sequence[Sent]) -> bool:
    """True for a side call, for log-probs that do not fit, and where another reply to the same request is used.

    That other reply is trained, or it is empty or has log-probs that do not fit.
    """
    if one.side or not one.fits:
        return True
    same = [other for other in sent if other.recorded and other.context_ids == one.context_ids and other is not one]
    return any(not other.token_ids or not other.fits or not any(other is rest for rest in left) for other in same)


def _segment_faults(segment: Segment, waiting: dict[tuple[int, ...], list[Sent]]) -> set[str]:
    """Take the trained outputs of a segment out of `waiting`; what is trained and not there is a fault."""
    ids, mask, log_probs = segment.token_ids, segment.assistant_mask, segment.log_probs
    faults: set[str] = set()
    if not any(mask):
        faults.add("a segment without a trained token")
    if any((value is None) != (not on) for value, on in zip(log_probs, mask, strict=True)):
        faults.add("log-probs beside the mask")
    at = 0
    while at < len(ids):
        if not mask[at]:
            at += 1
            continue
        found = [
            one
            for one in waiting.get(tuple(ids[:at]), [])
            if one.token_ids == tuple(ids[at : at + len(one.token_ids)])
            and one.log_probs == tuple(log_probs[at : at + len(one.token_ids)])
            and all(mask[at : at + len(one.token_ids)])
        ]
        if not found:
            return faults | {"a trained token was not sampled there, or is trained twice"}
        waiting[found[-1].context_ids].remove(found[-1])
        at += len(found[-1].token_ids)
    return faults
