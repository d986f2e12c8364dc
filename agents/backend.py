"""Sample token ids after token ids: with the decoder in this process, or with a server that returns ids.

    backend = DecoderBackend("smollm2", Decoder(model), end_ids=template.end_ids, decode=template.decode)
    sampled = await backend.sample(context_ids, Sampling(temperature=1.0, max_new_tokens=256), threading.Event())
    sampled.token_ids, sampled.log_probs, sampled.finish

A backend works in ids alone, so nothing that was sampled is ever encoded again. Everything that blocks runs in threads
of the backend's own. A sample stops soon after its `cancelled` is set, and its slot is free for others then.
"""

import asyncio
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from agents.provenance import Request
from model.decoder import Context, Decoder, Turn
from operators.chat import require_address

SLOTS = 32  # samples at once; those that come later wait
REPLY_SECONDS = 600.0  # another server's time for one reply
POLL_SECONDS = 0.05  # how often a request to another server looks whether it was cancelled
# A server may take its defaults from the model's generation_config.json; sampling must be the model's own distribution.
PLAIN_SAMPLING = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
KEPT_CONTEXTS = 4  # keys and values of so many full contexts stay for later requests that go on from them


class BackendError(RuntimeError):
    """The backend could not sample. The message says why."""


@dataclass(frozen=True)
class Sampling:
    """How to sample one reply. Temperature 0 is greedy. A reply whose text holds one of `stop` ends there."""

    temperature: float = 1.0
    max_new_tokens: int = 1024
    seed: int = 0
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sampled:
    """What was sampled: ids, one log-probability for each, and why it ended.

    `stop` is the end marker or, where `stop_text` is set, that text. `length` is the limit of new tokens or a full
    context. `cancelled`: the ids so far.
    """

    token_ids: list[int]
    log_probs: list[float]
    finish: Literal["stop", "length", "cancelled"]
    stop_text: str | None = None


class Backend(Protocol):
    """Whatever samples. Its methods are called on one event loop and must not block it."""

    name: str
    context_tokens: int

    async def sample(
        self, context_ids: list[int], sampling: Sampling, cancelled: threading.Event, *, request: Request
    ) -> Sampled:
        """Sample one reply after `context_ids`. `request` has their messages and tools, for those who need them.

        Raises BackendError where nothing can be sampled.
        """

    def state(self) -> dict[str, int]:
        """How many samples are under way (`sampling`) and how many wait (`waiting`)."""


@dataclass
class KeptContexts:
    """Contexts of earlier requests, with their keys and values. Safe to use from several threads."""

    most_tokens: int  # of all kept contexts together
    kept: list[Context] = field(default_factory=list)  # the one used last is last
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, ids: list[int]) -> Context:
        """A context that holds `ids`, with as many of them cached as an earlier one had; nobody else gets it."""
        with self.lock:
            shared = [common_prefix(one.ids, ids) for one in self.kept]
            best = max(range(len(shared)), key=lambda at: (shared[at], -len(self.kept[at].ids)), default=None)
            if best is None or 2 * shared[best] < len(self.kept[best].ids):  # it would cost another more than it saves
                context, count = Context(), 0
            else:
                context, count = self.kept.pop(best), shared[best]
        # The last id is read again, because its logits are needed. Keys and values behind `cached` are overwritten.
        context.cached = min(context.cached, count, len(ids) - 1)
        context.ids = list(ids)
        return context

    def give(self, context: Context) -> None:
        """Keep a context for a later request; the one that was used least recently is dropped."""
        with self.lock:
            self.kept.append(context)
            while len(self.kept) > 1 and sum(len(one.ids) for one in self.kept) > self.most_tokens:
                del self.kept[0]

    def clear(self) -> None:
        """Keep none: memory has run out."""
        with self.lock:
            self.kept.clear()


def common_prefix(a: list[int], b: list[int]) -> int:
    """How many ids two lists share at their start."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class DecoderBackend:
    """A model in this process. Requests are decoded together: a new one joins at the next token (model/decoder.py).

    Args:
        name: what clients call the model.
        decoder: the model's.
        end_ids: ids that end a reply.
        decode: the text of ids, for stop texts.
        slots: how many requests are decoded at once.
    """

    def __init__(
        self, name: str, decoder: Decoder, *, end_ids: frozenset[int], decode: Callable[[list[int]], str],
        slots: int = SLOTS,
    ) -> None:  # fmt: skip
        self.name, self.decoder, self.end_ids, self.decode = name, decoder, end_ids, decode
        self.context_tokens = int(decoder.model.config.max_position_embeddings)
        self.slots = slots
        self._contexts = KeptContexts(KEPT_CONTEXTS * self.context_tokens)
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="sample")
        self._asked = self._under_way = 0  # read and written on the event loop, but for _under_way
        self._counting = threading.Lock()

    async def sample(
        self, context_ids: list[int], sampling: Sampling, cancelled: threading.Event, *, request: Request | None = None
    ) -> Sampled:
        """Sample one reply; it waits while all slots are taken."""
        self._asked += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._sample, context_ids, sampling, cancelled)
        finally:
            self._asked -= 1

    def state(self) -> dict[str, int]:
        """Samples under way and waiting."""
        return {"sampling": self._under_way, "waiting": max(0, self._asked - self._under_way)}

    def _sample(self, context_ids: list[int], sampling: Sampling, cancelled: threading.Event) -> Sampled:
        import torch

        if cancelled.is_set():
            return Sampled([], [], "cancelled")
        with self._counting:
            self._under_way += 1
        context = self._contexts.take(context_ids)
        try:
            turn = self.decoder.decode(
                Turn(
                    context, ended=lambda ids: self._ended(ids, sampling.stop), max_new_tokens=sampling.max_new_tokens,
                    limit=self.context_tokens, temperature=sampling.temperature,
                    generator=torch.Generator(device="cpu").manual_seed(sampling.seed % 2**63), cancelled=cancelled,
                )
            )  # fmt: skip
        except (RuntimeError, ValueError, IndexError) as error:  # what torch raises, out of memory included
            self._contexts.clear()
            raise BackendError(f"{self.name}: {type(error).__name__}: {error}") from error
        finally:
            with self._counting:
                self._under_way -= 1
        self._contexts.give(context)
        if turn.end == "cancelled":
            return Sampled(turn.token_ids, turn.log_probs, "cancelled")
        if turn.end != "ended":
            return Sampled(turn.token_ids, turn.log_probs, "length")
        return Sampled(turn.token_ids, turn.log_probs, "stop", self._stop_text(turn.token_ids, sampling.stop))

    def _ended(self, token_ids: list[int], stop: tuple[str, ...]) -> bool:
        return token_ids[-1] in self.end_ids or self._stop_text(token_ids, stop) is not None

    def _stop_text(self, token_ids: list[int], stop: tuple[str, ...]) -> str | None:
        """The stop text that occurs first in the reply, or None."""
        if not stop:
            return None
        text = self.decode(token_ids)
        found = [(text.index(one), one) for one in stop if one in text]
        return min(found)[1] if found else None


class CompletionsBackend:
    """A server whose completions take and return token ids: vLLM, and others that know its `return_token_ids`.

    Its log-probabilities must be those of what was sampled. vLLM's are, at temperature 1; at others it must run with
    `--logprobs-mode processed_logprobs`.

    Args:
        url: the server's address, with /v1.
        model: the name under which it serves the model.
        end_ids: ids that end a reply.
        key: its API key.
        retries: further tries after an error of the server.

    Raises BadInputError for a URL that is none, and BackendError where it does not answer, does not have the model, or
    does not say how long a context may be.
    """

    def __init__(self, url: str, model: str, *, end_ids: frozenset[int], key: str = "none", retries: int = 2) -> None:
        from openai import OpenAI, OpenAIError

        require_address(url, key)
        self.name, self.url, self.end_ids = model, url, end_ids
        self._settings: dict[str, Any] = {
            "base_url": url,
            "api_key": key,
            "timeout": REPLY_SECONDS,
            "max_retries": retries,
        }
        try:
            with OpenAI(**self._settings) as client:
                listed = {one.id: one for one in client.models.list()}
        except OpenAIError as error:
            raise BackendError(f"{url}: {error}") from error
        if model not in listed:
            raise BackendError(f"{url}: has no model {model!r}, but {', '.join(sorted(listed)) or 'none'}")
        limit = getattr(listed[model], "max_model_len", None)
        if not isinstance(limit, int):
            raise BackendError(f"{url}: does not say how long a context may be (max_model_len)")
        self.context_tokens = limit
        self._client: Any = None
        self._under_way = 0

    async def sample(
        self, context_ids: list[int], sampling: Sampling, cancelled: threading.Event, *, request: Request | None = None
    ) -> Sampled:
        """Sample one reply. When it is cancelled, the connection is closed, and such a server stops sampling then."""
        from openai import AsyncOpenAI, OpenAIError

        self._client = self._client or AsyncOpenAI(**self._settings)
        asked = asyncio.create_task(self._ask(context_ids, sampling))
        self._under_way += 1
        try:
            while not asked.done():
                await asyncio.wait({asked}, timeout=POLL_SECONDS)
                if cancelled.is_set() and not asked.done():
                    return Sampled([], [], "cancelled")
            return self._read(await asked, context_ids)
        except OpenAIError as error:
            raise BackendError(f"{self.url}: {error}") from error
        finally:
            asked.cancel()
            self._under_way -= 1

    def state(self) -> dict[str, int]:
        """Samples under way; the server's own queue is not known."""
        return {"sampling": self._under_way, "waiting": 0}

    async def _ask(self, context_ids: list[int], sampling: Sampling) -> Any:
        extra: dict[str, Any] = {"return_token_ids": True, "stop_token_ids": sorted(self.end_ids), **PLAIN_SAMPLING}
        return await self._client.completions.create(
            model=self.name, prompt=context_ids, max_tokens=sampling.max_new_tokens, temperature=sampling.temperature,
            top_p=1.0, presence_penalty=0.0, frequency_penalty=0.0, seed=sampling.seed % 2**63, logprobs=1,
            stop=list(sampling.stop) or None, extra_body=extra,
        )  # fmt: skip

    def _read(self, completion: Any, context_ids: list[int]) -> Sampled:
        """The ids and log-probabilities of a completion. Raises BackendError where they are not what was asked for."""
        choice = completion.choices[0] if completion.choices else None
        ids, read = getattr(choice, "token_ids", None), getattr(choice, "prompt_token_ids", None)
        found = getattr(getattr(choice, "logprobs", None), "token_logprobs", None)
        if not isinstance(ids, list) or not isinstance(found, list):
            raise BackendError(f"{self.url}: no token_ids or no logprobs in its answer; it must know return_token_ids")
        if len(ids) != len(found) or not all(isinstance(one, float | int) and math.isfinite(one) for one in found):
            raise BackendError(f"{self.url}: {len(ids)} token_ids and {len(found)} logprobs that do not fit")
        if read is not None and read != context_ids:
            raise BackendError(f"{self.url}: it read other ids than it was sent; does it add a BOS?")
        stop_text = getattr(choice, "stop_reason", None)
        finish: Literal["stop", "length"] = "length" if getattr(choice, "finish_reason", "") == "length" else "stop"
        return Sampled(ids, [float(one) for one in found], finish, stop_text if isinstance(stop_text, str) else None)
