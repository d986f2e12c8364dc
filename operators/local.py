"""Let a model in this process pick each command, with the exact tokens it read and wrote.

    operator = LocalOperator(Decoder(model), Renderer.for_base(tokenizer), temperature=0.0)
    operator.begin(scenario, seed=1)
    operator.command([*opening(scenario), *start_prompt()])

What the model wrote is never tokenised again: the context holds the sampled ids, and the environment's text tokenised
between them (model/render.py). So the context of every turn is a prefix of the ids that training would use.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from model.decoder import Context, Decoder, Turn
from model.loading import adapter_hash, load_model
from model.render import Renderer, Wire
from operators.protocol import CancelledError, ContextFullError, Move, Tokens
from schema import Message, OperatorInfo, Scenario, Usage


def local_operators(
    base: str, adapter: Path | None, *, render: Wire | None, dtype: str, load_4bit: bool, **settings: Any
) -> Callable[[], "LocalOperator"]:
    """Load a base with its adapter once; the function that comes back makes an operator of them.

    `render` is of a base without an adapter (None: chat where its template can carry a session); `settings` are
    arguments of LocalOperator.
    """
    model, tokenizer = load_model(base, adapter, dtype=dtype, load_4bit=load_4bit)
    renderer, decoder = Renderer.of(tokenizer, adapter, render), Decoder(model)
    return lambda: LocalOperator(decoder, renderer, name=base, adapter=adapter, **settings)


class LocalOperator:
    """A local model as an operator.

    Operators of sessions that run at once may share a decoder, which keeps the KV cache of each session from turn to
    turn. Temperature 0 is greedy. A turn ends at the end marker; after `max_new_tokens` the marker is appended. `tidy`
    rewrites the text that is typed into the shell; the context keeps the ids as sampled. `digest` is the hash of an
    adapter whose directory is not named.
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
        digest: str | None = None,
        tidy: Callable[[str], str] | None = None,
        cancelled: threading.Event | None = None,
    ) -> None:
        self.decoder, self.renderer = decoder, renderer
        self.temperature, self.max_new_tokens = temperature, max_new_tokens
        self.name, self.adapter, self.digest, self.tidy = name, adapter, digest, tidy
        self.cancelled = cancelled or threading.Event()
        self.limit = int(decoder.model.config.max_position_embeddings)
        self.seed = 0
        self._clear()

    def _clear(self) -> None:
        self.context = Context()
        self.mask: list[int] = []  # one entry per id of the context, like log_probs
        self.log_probs: list[float | None] = []
        self.messages_read = 0  # how many messages the context holds

    def begin(self, scenario: Scenario, seed: int) -> None:
        """Start a session with an empty context. Nothing of the scenario is used."""
        import torch

        self._clear()
        self.seed = seed
        self.generator = torch.Generator(device="cpu").manual_seed(seed % 2**63)

    def command(self, messages: Sequence[Message]) -> Move:
        """Sample the next command."""
        new, held = messages[self.messages_read :], len(self.context.ids) if self.decoder.use_cache else 0
        ids = self.renderer.environment_ids(new[1:]) if self.messages_read else self.renderer.context(new)
        self._append(ids, mask=0)
        self.messages_read, read = len(messages), len(self.context.ids)
        turn = self.decoder.decode(
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
        sampled = len(turn.token_ids)
        usage = Usage(calls=1, input_tokens=read - held, cached_input_tokens=held, output_tokens=sampled)
        if turn.end == "full":
            raise ContextFullError(f"the context holds {self.limit} tokens", usage)
        self.mask += [1] * len(turn.token_ids)
        self.log_probs += turn.log_probs
        if turn.end != "ended":
            self._append(self.renderer.operator_ids(""), mask=1)
        text = self.renderer.decode_turn(turn.token_ids)[0]
        return Move(self.tidy(text) if self.tidy else text, turn.token_ids, turn.log_probs, usage)

    def info(self) -> OperatorInfo:
        """The model's name, the adapter's hash and the sampling parameters."""
        sampling: dict[str, Any] = {"temperature": self.temperature, "max_new_tokens": self.max_new_tokens}
        sampling |= {"clean_up": True} if self.tidy else {}
        digest = adapter_hash(self.adapter) if self.adapter is not None else self.digest
        return OperatorInfo(kind="local", model=self.name, adapter_hash=digest, sampling=sampling, seed=self.seed)

    def tokens(self) -> Tokens | None:
        """The session's ids, mask and log-probs up to the end of the last operator turn.

        None before the first turn, and with `tidy`: then the shell was given other text than these ids hold.
        """
        if 1 not in self.mask or self.tidy:
            return None
        end = len(self.mask) - self.mask[::-1].index(1)
        return Tokens(self.context.ids[:end], self.mask[:end], self.log_probs[:end])

    def _append(self, ids: Sequence[int], *, mask: int) -> None:
        """Append ids that were not sampled; `mask` is 1 for an end marker, 0 for the environment's text."""
        self.context.ids += ids
        self.mask += [mask] * len(ids)
        self.log_probs += [None] * len(ids)
