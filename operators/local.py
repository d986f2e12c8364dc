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
from typing import Any

from model.decoder import Context, Decoder, Turn
from model.loading import adapter_hash
from operators.protocol import CancelledError, ContextFullError, Move, Tokens
from schema import Message, OperatorInfo, Scenario


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
