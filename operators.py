"""Drive the shell: an endpoint or a local model picks each command.

    operator = EndpointOperator.from_environment()
    operator.begin(scenario, seed=1)
    move = operator.command(render.opening(scenario) + render.start_prompt())

Reads   SEKFT_OP_MODEL, SEKFT_OP_URL, SEKFT_OP_KEY (the last two fall back to SEKFT_URL, SEKFT_KEY, a local Ollama)
Writes  nothing
Needs   an OpenAI-compatible endpoint, or torch and a base directory, or nothing (reference)

An operator sees the session's messages and answers with the text of its next command, verbatim. The scaffold is said to
endpoints only and never becomes a message. The reference operator lives in reference.py.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from decoder import Context, Decoder, Turn
from models import adapter_hash
from schema import BadInputError, Message, OperatorInfo, Scenario
from stage import env

OLLAMA_URL = "http://localhost:11434/v1"
SCAFFOLD = """\
You sit at a real terminal that is logged in to a shell. Everything you write is typed into it character by character \
and executed, so answer with nothing but the shell command you want to run next: no explanations, no comments, no \
markdown fences, no quotes around it. You then see what it printed and answer with the next command.

Nobody tells you what your job is. Somewhere on this machine there is a hint (a greeting, a variable, a file, a mail) \
that names a program. Find the hint, learn from that program how it is called, have it print every directive it holds, \
and carry all of them out exactly as worded with ordinary shell commands. Look at results where in doubt.

When everything is done, answer with the single word exit. When a directive cannot be carried out at all, first do \
the others, then answer with the word panic followed by a few words that say what is missing. Never fake a result."""


class OperatorError(Exception):
    """The operator's world failed (endpoint dead, refused, unintelligible): voids the attempt."""


class ContextFullError(Exception):
    """The next command does not fit into the model's context."""


class CancelledError(Exception):
    """The run was interrupted while the operator was thinking."""


@dataclass(frozen=True)
class Move:
    """One operator turn: its text, and the sampled ids with their log-probs where the operator is local."""

    text: str
    token_ids: list[int] | None = None
    log_probs: list[float] | None = None


@dataclass(frozen=True)
class Tokens:
    """A session as the model really read and wrote it; one entry per token up to the last operator turn's end."""

    token_ids: list[int]
    assistant_mask: list[int]
    log_probs: list[float | None]


class Operator(Protocol):
    """Whatever picks the next command. One instance plays one session at a time."""

    def begin(self, scenario: Scenario, seed: int) -> None:
        """Start a session. Only the reference operator may look into the scenario."""

    def command(self, messages: Sequence[Message]) -> Move:
        """The next command after `messages`, which end in a prompt. Raises OperatorError, ContextFullError."""

    def info(self) -> OperatorInfo:
        """Who this is, exactly enough to do it again."""

    def tokens(self) -> Tokens | None:
        """The session's tokens where the operator is local, else None."""


@dataclass
class EndpointOperator:
    """An OpenAI-compatible chat endpoint, told the scaffold and no task.

    Rate limits, server errors, time-outs, broken connections and unintelligible answers are tried again `retries` times
    with growing pauses; then OperatorError. `temperature` None leaves the choice to the server.
    """

    model: str
    url: str = OLLAMA_URL
    key: str = "none"
    temperature: float | None = None
    max_new_tokens: int = 1024
    timeout_seconds: float = 120.0
    retries: int = 5
    _client: Any = field(default=None, repr=False)
    _seed: int = 0

    @classmethod
    def from_environment(cls, **settings: Any) -> "EndpointOperator":
        """The endpoint that SEKFT_OP_* name. Raises BadInputError without SEKFT_OP_MODEL."""
        model = env("SEKFT_OP_MODEL")
        if model is None:
            raise BadInputError("SEKFT_OP_MODEL is not set; name the endpoint's model, or pass --operator reference")
        url = env("SEKFT_OP_URL", "SEKFT_URL") or OLLAMA_URL
        return cls(model=model, url=url, key=env("SEKFT_OP_KEY", "SEKFT_KEY") or "none", **settings)

    def begin(self, scenario: Scenario, seed: int) -> None:
        """Start a session; the scenario itself is not looked at."""
        self._seed = seed % 2**31

    def command(self, messages: Sequence[Message]) -> Move:
        """Ask for the next command."""
        for attempt in range(self.retries + 1):
            try:
                return Move(self._ask(wire_messages(messages)))
            except (ValueError, AttributeError, TypeError, IndexError) as error:  # an answer of no known shape
                if attempt == self.retries:
                    raise OperatorError(f"{self.url}: unintelligible answer ({error})") from error
        raise AssertionError("range(retries + 1) is never empty")

    def info(self) -> OperatorInfo:
        """The model's name and what was sent with each request."""
        sampling = {"temperature": self.temperature, "max_new_tokens": self.max_new_tokens}
        return OperatorInfo(kind="endpoint", model=self.model, sampling=sampling, seed=self._seed)

    def tokens(self) -> Tokens | None:
        """None: an endpoint gives text."""
        return None

    def _ask(self, messages: list[dict[str, str]]) -> str:
        import openai

        if self._client is None:
            self._client = openai.OpenAI(
                base_url=self.url, api_key=self.key, timeout=self.timeout_seconds, max_retries=self.retries
            )
        optional = {} if self.temperature is None else {"temperature": self.temperature}
        try:
            answer = self._client.chat.completions.create(
                model=self.model, messages=messages, max_tokens=self.max_new_tokens, seed=self._seed, **optional
            )
        except openai.BadRequestError as error:
            if "context" in str(error).lower() and "length" in str(error).lower():
                raise ContextFullError(str(error)) from error
            raise OperatorError(f"{self.url}: {error}") from error
        except openai.OpenAIError as error:
            raise OperatorError(f"{self.url}: {type(error).__name__}: {error}") from error
        content = answer.choices[0].message.content
        if not isinstance(content, str):
            raise ValueError(f"message content is {type(content).__name__}")
        content.encode()  # a lone surrogate is no text that a shell could be given
        return content


def wire_messages(messages: Sequence[Message]) -> list[dict[str, str]]:
    """`messages` as an endpoint gets them: the scaffold before the system turn, user turns in a row merged."""
    wire: list[dict[str, str]] = []
    for message in messages:
        content = f"{SCAFFOLD}\n\n{message.content}" if message.role == "system" else message.content
        if wire and wire[-1]["role"] == message.role:
            between = "" if wire[-1]["content"].endswith("\n") else "\n"
            wire[-1]["content"] += between + content
        else:
            wire.append({"role": message.role, "content": content})
    return wire


class LocalOperator:
    """A model in this process, which reads and writes tokens, never re-tokenising what it wrote.

    A context is the ids that were sampled and the environment's text tokenised in between (render.Renderer), so that it
    is a prefix of the ids it would be trained on. Operators of sessions that are played at once share a decoder; its
    cache of a session is kept across turns. Temperature 0 is greedy. A turn ends at the end marker, or after
    `max_new_tokens`, where the marker is put in for it. `clean` rewrites what is typed; the context stays as sampled.
    """

    def __init__(
        self,
        decoder: Decoder,
        renderer: Any,
        *,
        temperature: float = 0.0,
        max_new_tokens: int = 256,
        name: str | None = None,
        adapter: Any = None,
        clean: Callable[[str], str] | None = None,
        cancelled: threading.Event | None = None,
    ) -> None:
        self.decoder, self.renderer = decoder, renderer
        self.temperature, self.max_new_tokens = temperature, max_new_tokens
        self.name, self.adapter, self.clean = name, adapter, clean
        self.cancelled = cancelled or threading.Event()
        self.limit = int(decoder.model.config.max_position_embeddings)
        self.seed = 0
        self._start()

    def _start(self) -> None:
        self.context = Context()
        self.mask: list[int] = []  # one entry per id of the context, as have the log-probs
        self.log_probs: list[float | None] = []
        self.read = 0  # messages that are in the context

    def begin(self, scenario: Scenario, seed: int) -> None:
        """Forget the last session; the scenario itself is not looked at."""
        import torch

        self._start()
        self.seed = seed
        self.generator = torch.Generator(device="cpu").manual_seed(seed % 2**63)

    def command(self, messages: Sequence[Message]) -> Move:
        """Sample the next command."""
        new = messages[self.read :]
        self._append(self.renderer.environment_ids(new[1:]) if self.read else self.renderer.context(new), mask=0)
        self.read = len(messages)
        turn = self.decoder.play(
            Turn(
                self.context,
                ended=lambda ids: bool(self.renderer.decode_turn(ids)[1]),
                max_new_tokens=self.max_new_tokens,
                limit=self.limit,
                temperature=self.temperature,
                generator=self.generator,
                cancelled=self.cancelled,
            )
        )
        if turn.end == "cancelled":
            raise CancelledError
        if turn.end == "full":
            raise ContextFullError(f"the context holds {self.limit} tokens")
        self.mask += [1] * len(turn.token_ids)
        self.log_probs += turn.log_probs
        if turn.end != "ended":
            self._append(self.renderer.operator_ids(""), mask=1)
        text = self.renderer.decode_turn(turn.token_ids)[0]
        return Move(self.clean(text) if self.clean else text, turn.token_ids, turn.log_probs)

    def info(self) -> OperatorInfo:
        """Model, adapter hash and sampling parameters."""
        sampling: dict[str, Any] = {"temperature": self.temperature, "max_new_tokens": self.max_new_tokens}
        sampling |= {"clean_up": True} if self.clean else {}
        digest = adapter_hash(self.adapter) if self.adapter is not None else None
        return OperatorInfo(kind="local", model=self.name, adapter_hash=digest, sampling=sampling, seed=self.seed)

    def tokens(self) -> Tokens | None:
        """What was read and written, up to the last operator turn's end.

        None before the first turn, and where turns were cleaned: what was typed is not what these ids say.
        """
        if 1 not in self.mask or self.clean:
            return None
        end = len(self.mask) - self.mask[::-1].index(1)
        return Tokens(self.context.ids[:end], self.mask[:end], self.log_probs[:end])

    def _append(self, ids: Sequence[int], *, mask: int) -> None:
        """Put ids that were not sampled into the context."""
        self.context.ids += ids
        self.mask += [mask] * len(ids)
        self.log_probs += [None] * len(ids)
