"""Let an OpenAI-compatible endpoint pick each command.

    operator = EndpointOperator("qwen2.5:32b", scaffold=SCAFFOLD)    # authoring/scaffold.py
    operator.begin(scenario, seed=1)
    operator.command([*opening(scenario), *start_prompt()]).text     # model/render.py

The endpoint is told the scaffold and the session's messages, nothing else of the scenario. The scaffold goes into each
request and never into a record. The operator's text is passed on exactly as the endpoint wrote it.

Without a scaffold the messages are sent one by one as they are recorded. The chat template that the server applies then
gives the ids that a model reads in training with `--render chat`, where the template takes several user turns in a row
(bench/served.py checks that). With a scaffold they are merged, because many servers refuse such turns.

With a renderer the endpoint gets no messages but the rendered prompt as text, and the end marker as a stop string. That
suits a server of text completions and both render formats.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from model.render import Renderer
from operators.chat import (
    OLLAMA_URL,
    ChatClient,
    ContextLengthError,
    EndpointError,
    RequestRefusedError,
    UnintelligibleError,
)
from operators.protocol import ContextFullError, Move, OperatorError, Tokens, UnusableAnswerError
from pipeline.stage import env
from schema import BadInputError, Message, OperatorInfo, Scenario


@dataclass
class EndpointOperator:
    """A chat endpoint as an operator.

    `retries` counts the further tries of a failed request; chat.py says what is tried again. `temperature` None leaves
    the choice to the server.
    """

    model: str
    url: str = OLLAMA_URL
    key: str = "none"
    scaffold: str | None = field(kw_only=True, repr=False)
    temperature: float | None = None
    max_new_tokens: int = 1024
    timeout_seconds: float = 120.0
    retries: int = 5
    usage_required: bool = False  # where the answers are paid by the token
    renderer: Renderer | None = field(default=None, repr=False)
    client: ChatClient | None = field(default=None, repr=False)  # copies made with dataclasses.replace share one
    _seed: int = 0

    def __post_init__(self) -> None:
        """Make the client; it opens no connection before the first request."""
        self.client = self._client = self.client or ChatClient(
            self.url, key=self.key, timeout_seconds=self.timeout_seconds, retries=self.retries
        )

    @classmethod
    def from_environment(cls, *, instead: str = "--operator reference", **settings: Any) -> "EndpointOperator":
        """The endpoint that SEKFT_OP_MODEL, SEKFT_OP_URL and SEKFT_OP_KEY name.

        URL and key fall back to SEKFT_URL and SEKFT_KEY, then to a local Ollama. `settings` are fields of the class;
        `instead` is the flag that needs no endpoint.
        Raises BadInputError without SEKFT_OP_MODEL.
        """
        model = env("SEKFT_OP_MODEL")
        if model is None:
            raise BadInputError(f"SEKFT_OP_MODEL is not set; name the endpoint's model, or pass {instead}")
        url = env("SEKFT_OP_URL", "SEKFT_URL") or OLLAMA_URL
        return cls(model=model, url=url, key=env("SEKFT_OP_KEY", "SEKFT_KEY") or "none", **settings)

    def begin(self, scenario: Scenario, seed: int) -> None:
        """Start a session. The endpoint learns nothing of the scenario."""
        self._seed = seed % 2**31

    def command(self, messages: Sequence[Message]) -> Move:
        """Ask for the next command. Raises ContextFullError, UnusableAnswerError, OperatorError and BadInputError."""
        sampling: dict[str, Any] = {"max_tokens": self.max_new_tokens, "seed": self._seed}
        if self.temperature is not None:
            sampling["temperature"] = self.temperature
        try:
            if self.renderer is not None:
                return self._told(self._completion(self.renderer, messages, sampling))
            reply = self._client.ask(
                wire_messages(messages, self.scaffold), model=self.model, text_required=True, **sampling
            )
        except ContextLengthError as error:
            raise ContextFullError(str(error)) from error
        except (RequestRefusedError, UnintelligibleError) as error:
            raise UnusableAnswerError(str(error)) from error
        except EndpointError as error:
            raise OperatorError(str(error)) from error
        assert reply.text is not None
        return self._told(Move(reply.text, usage=reply.usage))

    def _told(self, move: Move) -> Move:
        """The move. Raises BadInputError at the first answer without the usage that is required."""
        if self.usage_required and move.usage is None:
            raise BadInputError(
                f"{self.url}: {self.model} does not tell its tokens (usage); name an endpoint that does"
            )
        return move

    def _completion(self, renderer: Renderer, messages: Sequence[Message], sampling: dict[str, Any]) -> Move:
        """The command after the rendered prompt, without its end marker."""
        prompt, stop = renderer.prompt_text(messages), [renderer.end_text]
        reply = self._client.complete(prompt, model=self.model, stop=stop, **sampling)
        assert reply.text is not None
        return Move(reply.text.partition(renderer.end_text)[0], usage=reply.usage)

    def info(self) -> OperatorInfo:
        """The model's name and the sampling parameters of each request."""
        sampling = {"temperature": self.temperature, "max_new_tokens": self.max_new_tokens}
        return OperatorInfo(kind="endpoint", model=self.model, sampling=sampling, seed=self._seed)

    def tokens(self) -> Tokens | None:
        """None: an endpoint returns text without token ids."""
        return None


def wire_messages(messages: Sequence[Message], scaffold: str | None) -> list[dict[str, str]]:
    """`messages` as they are sent: the scaffold before the system turn's text, consecutive user turns merged.

    Without a scaffold nothing is added and nothing is merged.
    """
    if scaffold is None:
        return [{"role": message.role, "content": message.content} for message in messages]
    wire: list[dict[str, str]] = []
    for message in messages:
        content = f"{scaffold}\n\n{message.content}" if message.role == "system" else message.content
        if wire and wire[-1]["role"] == message.role:
            between = "" if wire[-1]["content"].endswith("\n") else "\n"
            wire[-1]["content"] += between + content
        else:
            wire.append({"role": message.role, "content": content})
    return wire
