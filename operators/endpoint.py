"""Have an OpenAI-compatible endpoint pick each command."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from operators.protocol import ContextFullError, Move, OperatorError, Tokens
from pipeline.stage import env
from schema import BadInputError, Message, OperatorInfo, Scenario

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
