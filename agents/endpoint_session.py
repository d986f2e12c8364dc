"""Hold an agent's session at the endpoint: its limits, its watch, and the calls that are under way.

A call is prepared, sampled and read in one task. The HTTP requests that wait for it come and go: a retried request
waits for the call that is under way already, or gets the answer again. When the answer was handed out, the call is
recorded. When all who waited have left before that, sampling stops and the call is discarded.
"""

import asyncio
import secrets
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from agents.backend import Backend, BackendError, Sampled, Sampling
from agents.canonical import ChatMessage
from agents.exchange import AgentCall, Answer, CallRefusedError, ContextOverflowError, Why, unforeseen
from agents.provenance import AgentSession, Request, TurnEncoder
from schema import BadInputError, Outcome, sha256

PREPARING_THREADS = 64  # `prepare` may wait for a reply that is being recorded, so it has threads of its own
KEPT_ANSWERS = 64  # answers of a session that a retried request can still get
SETTLING_SECONDS = 10.0  # a closing session waits so long for its last replies to be recorded
LimitHit = Literal["turns", "tokens", "watch"]
T = TypeVar("T")


@dataclass(frozen=True)
class SessionLimits:
    """The most replies, and sampled tokens, of one session; None for no limit.

    A call under way has its reply and its most new tokens set aside; what it does not use it gives back when it ends.
    With `side_calls_are_turns=False` replies to side calls, and to calls without tools, do not count as turns.
    """

    max_turns: int | None = None
    max_sampled_tokens: int | None = None
    side_calls_are_turns: bool = True


class SessionWatch(Protocol):
    """Whoever follows a session. Called from any thread."""

    def __call__(self, request: Request, message: ChatMessage, token_ids: Sequence[int]) -> bool:
        """Take a reply that was handed out, before it is recorded; True: no further call is answered."""

    def failed(self, outcome: Outcome, error: str) -> None:
        """Take the reason why a call had no answer: the model failed, or its context is full and it is no side call."""


@dataclass
class Threads:
    """The threads in which everything runs that would block the event loop."""

    preparing: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(PREPARING_THREADS, thread_name_prefix="prepare")
    )
    working: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(8, thread_name_prefix="work"))

    async def prepare(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run what may wait for other calls."""
        return await asyncio.get_running_loop().run_in_executor(self.preparing, function, *arguments)

    async def work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run what computes or encodes."""
        return await asyncio.get_running_loop().run_in_executor(self.working, function, *arguments)

    def close(self) -> None:
        """End all of them."""
        self.preparing.shutdown(wait=False, cancel_futures=True)
        self.working.shutdown(wait=False, cancel_futures=True)


class EndpointSession(AgentSession):
    """The session behind one secret.

    Args:
        template: of the model's tokenizer.
        backend: samples for this session.
        sampling: the server's. Where it is `pinned`, a client can only lower the number of new tokens.
        limits: the session's caps.
        watch: is told of each reply and each failure.
    """

    def __init__(
        self, template: TurnEncoder, backend: Backend, sampling: Sampling, *, pinned: bool = True,
        limits: SessionLimits | None = None, watch: SessionWatch | None = None,
    ) -> None:  # fmt: skip
        super().__init__(template)
        self.backend, self.sampling, self.pinned = backend, sampling, pinned
        self.limits, self.watch = limits or SessionLimits(), watch
        self.limit_hit: LimitHit | None = None
        self.closed = False
        self.under_way: dict[str, CallUnderWay] = {}  # by digest of the request; read and written on the event loop
        self._turns = self._sampled = self._set_aside = 0
        self._counting = threading.Condition()
        self._unsettled: set[CallUnderWay] = set()

    def close(self) -> None:
        """Stop what is being sampled; wait until each reply that was handed out is recorded, at most SETTLING_SECONDS.

        Not to be called from the watch, whose reply is not recorded yet.
        """
        with self._counting:
            self.closed = True
            for one in self._unsettled:
                one.cancelled.set()
            self._counting.wait_for(lambda: not self._unsettled, SETTLING_SECONDS)

    def begin(self, call: "CallUnderWay") -> None:
        """Note a call that will be recorded or discarded."""
        with self._counting:
            self._unsettled.add(call)
            if self.closed:
                call.cancelled.set()

    def settle(self, call: "CallUnderWay") -> None:
        """Note that a call was recorded, was discarded, or never was one."""
        with self._counting:
            self._unsettled.discard(call)
            self._counting.notify_all()

    def check_over(self) -> None:
        """Raise CallRefusedError where the session is closed, or over for another reason than its number of turns."""
        if self.closed:
            raise CallRefusedError("secret", "this session is closed")
        tokens = self.limits.max_sampled_tokens
        with self._counting:
            if tokens is not None and self._sampled >= tokens:
                self.limit_hit = "tokens"
                raise CallRefusedError("limit", f"this session had its {tokens} sampled tokens")
        if self.limit_hit == "watch":
            raise CallRefusedError("limit", "this session is over")

    def tokens_used_up(self) -> bool:
        """True where a call was refused because all tokens are used, and no other call is under way."""
        with self._counting:
            return self.limit_hit == "tokens" and not self._unsettled

    def is_turn(self, call: AgentCall) -> bool:
        """False for a side call, and for a call without tools."""
        return bool(call.tools) and not self.is_side_call(call.messages, call.tools)

    def begin_turn(self, call: AgentCall) -> int:
        """Count a reply that is going to be sampled; the turns it takes: 1 or 0. Raises CallRefusedError at a cap."""
        self.check_over()
        if not self.limits.side_calls_are_turns and not self.is_turn(call):
            return 0
        with self._counting:
            if self.limits.max_turns is not None and self._turns >= self.limits.max_turns:
                self.limit_hit = self.limit_hit or "turns"
                raise CallRefusedError("limit", f"this session had its {self.limits.max_turns} replies")
            self._turns += 1
        return 1

    def give_turns_back(self, turns: int) -> None:
        """A reply that nobody got is no turn."""
        with self._counting:
            self._turns -= turns

    def count_tokens_sampled(self, tokens: int) -> None:
        """Count what was sampled, whether somebody gets it or not."""
        with self._counting:
            self._sampled += tokens

    def give_tokens_back(self, sampling: Sampling) -> None:
        """The call for which `sampling_of` set tokens aside has ended; what it sampled is counted by itself."""
        with self._counting:
            self._set_aside -= sampling.max_new_tokens

    def sampling_of(self, call: AgentCall, request: Request) -> Sampling:
        """How to sample the reply to a call; its most new tokens are set aside.

        The seed depends on the session's seed, the messages and tools, and the number of earlier answers to them.
        Raises ContextOverflowError, CallRefusedError.
        """
        context_tokens = len(request.context_ids)
        room = self.backend.context_tokens - context_tokens
        if room < 1:
            raise ContextOverflowError(context_tokens, self.backend.context_tokens)
        most = [self.sampling.max_new_tokens, room, *([call.max_tokens] if call.max_tokens is not None else [])]
        if call.own_sampling and not self.pinned:
            name = call.own_sampling[0]
            raise CallRefusedError("invalid", f"{name}: this server cannot follow it; leave it out", name)
        with self._counting:
            if (tokens := self.limits.max_sampled_tokens) is not None:
                left = tokens - self._sampled - self._set_aside
                if left < 1:
                    told = f"what is left of the {tokens} tokens of this session is set aside for calls under way"
                    raise CallRefusedError("busy", told)
                most.append(left)
            self._set_aside += min(most)
        parts = f"{self.sampling.seed}/{request.digests[-1]}/{self.answers_to(request)}"
        seed = int(sha256(parts.encode())[:15], 16)
        if self.pinned:
            return Sampling(self.sampling.temperature, min(most), seed)
        temperature = self.sampling.temperature if call.temperature is None else call.temperature
        return Sampling(temperature, min(most), seed if call.seed is None else call.seed, call.stop)


@dataclass(frozen=True)
class Prepared:
    """A call that was encoded, and how it will be sampled."""

    request: Request
    sampling: Sampling


class CallUnderWay:
    """One call of a session, from its request to the end of its record. Lives on the event loop."""

    def __init__(self, session: EndpointSession, call: AgentCall, threads: Threads) -> None:
        self.session, self.threads = session, threads
        self.call: AgentCall | None = call  # None once it has ended: ended calls are kept for a while, bodies are not
        self.id, self.created = secrets.token_hex(12), int(time.time())  # each protocol puts its prefix before the id
        self.cancelled = threading.Event()
        self.waiting = 0  # HTTP requests that wait for the answer
        self.ended = False  # recorded or discarded, or about to be
        self.discarded = False
        self.turns = 0  # that it counts as
        self.sampled: Sampled | None = None
        session.begin(self)
        self.prepared = asyncio.create_task(self._ended_by_a_fault(self._prepare()))
        self.answered = asyncio.create_task(self._ended_by_a_fault(self._answer()))
        self.answered.add_done_callback(lambda task: task.cancelled() or task.exception())  # it may have no reader

    async def _ended_by_a_fault(self, work: Awaitable[T]) -> T:
        """The result of `work`. An error that nobody foresaw ends the call too; raises CallRefusedError."""
        (found,) = await asyncio.gather(work, return_exceptions=True)  # a cancelled gather cancels `work`
        if not isinstance(found, BaseException):
            return found
        if isinstance(found, CallRefusedError) or not isinstance(found, Exception):
            raise found
        known = self.prepared.done() and not self.prepared.cancelled() and not self.prepared.exception()
        sampled = self.sampled.token_ids if self.sampled else ()
        self._end(self.prepared.result().request if known else None, sampled)
        traceback.print_exception(found)
        fault = unforeseen(found)
        if self.session.watch:
            await self.threads.work(self.session.watch.failed, "operator_failed", fault.message)
        raise fault from found

    async def _prepare(self) -> Prepared:
        """Encode the call. Raises CallRefusedError."""
        session, call = self.session, self.call
        assert call
        try:
            self.turns = session.begin_turn(call)
        except CallRefusedError:
            self.ended = True
            session.settle(self)
            raise
        try:
            request = await self.threads.prepare(session.prepare, call.messages, call.tools, call.one_call)
        except BadInputError as error:
            self._end(None)
            raise CallRefusedError("invalid", str(error), "messages") from error
        try:
            session.check_over()  # it may have waited for the reply before
            return Prepared(request, session.sampling_of(call, request))
        except CallRefusedError as refused:
            self._end(request)
            if isinstance(refused, ContextOverflowError) and session.watch and session.is_turn(call):
                await self.threads.work(session.watch.failed, "context_full", refused.message)
            raise

    async def _answer(self) -> Answer:
        """Sample and read the reply. Raises CallRefusedError."""
        prepared = await self.prepared
        session, ids = self.session, prepared.request.context_ids
        try:
            sampled = await session.backend.sample(ids, prepared.sampling, self.cancelled, request=prepared.request)
        except asyncio.CancelledError:  # the server ends, and `leave` may not come to its first line
            self.cancelled.set()
            raise
        except BackendError as error:
            self._end(prepared.request)
            if session.watch:
                await self.threads.work(session.watch.failed, "operator_failed", str(error))
            raise CallRefusedError("failed", f"the model failed: {error}") from error
        else:
            session.count_tokens_sampled(len(sampled.token_ids))
        finally:
            session.give_tokens_back(prepared.sampling)
        if sampled.finish == "cancelled":
            self._end(prepared.request, sampled.token_ids)
            raise CallRefusedError("secret", "this session is closed")
        self.sampled = sampled
        message = await self.threads.work(session.read, prepared.request, sampled.token_ids)
        if sampled.stop_text:
            message = ChatMessage("assistant", message.content.partition(sampled.stop_text)[0], message.reasoning)
        full = len(ids) + len(sampled.token_ids) >= session.backend.context_tokens
        return Answer(
            self.id, self.created, session.backend.name, message, why_of(sampled, message, full),
            len(ids), len(sampled.token_ids), sampled.stop_text,
        )  # fmt: skip

    async def leave(self, *, delivered: bool) -> None:
        """End one HTTP request's wait; record the call once it was delivered, or discard it when nobody is left."""
        self.waiting -= 1
        if self.ended:
            return
        if delivered:
            self.ended = True
            await self.threads.work(self._record)
        elif self.waiting == 0:
            self.cancelled.set()
            await asyncio.wait({self.answered})
            if self.sampled and not self.waiting:  # it was sampled to its end, and nobody got it
                self._end(self.prepared.result().request, self.sampled.token_ids)

    def _end(self, request: Request | None, token_ids: Sequence[int] = ()) -> None:
        """Discard the call: nobody gets a reply to it, so it is no turn."""
        if self.ended:
            return
        self.ended = self.discarded = True
        self.call = None
        self.session.give_turns_back(self.turns)
        if request:
            self.session.discard(request, token_ids)
        self.session.settle(self)

    def _record(self) -> None:
        """Tell the watch, then keep the reply."""
        assert self.sampled
        session, sampled, answer = self.session, self.sampled, self.answered.result()
        request = self.prepared.result().request
        if session.watch and session.watch(request, answer.message, sampled.token_ids):
            session.limit_hit = "watch"
        finish: Literal["stop", "length", "tool"] = "length" if sampled.finish == "length" else "stop"
        session.record(request, sampled.token_ids, sampled.log_probs, "tool" if answer.message.tool_calls else finish)
        self.call = None
        session.settle(self)


def why_of(sampled: Sampled, message: ChatMessage, full: bool) -> Why:
    """Why a reply ended; `full`: nothing more fits into the context."""
    if sampled.finish == "length":
        return "context" if full else "length"
    if sampled.stop_text:
        return "stop_text"
    return "tool" if message.tool_calls else "stop"
