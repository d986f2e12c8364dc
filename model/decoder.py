"""Decode many episodes at once: one KV cache per episode, one forward pass for the new ids of all of them.

    from model.decoder import Context, Decoder, Turn

    decoder = Decoder(model)  # one per model, shared by every operator that uses it
    turn = decoder.decode(Turn(Context(), ended=is_over, max_new_tokens=64, limit=4096))

The new ids of all turns in progress are packed into one row without padding, whether an episode has one new id or a
whole output. Only attention runs per episode, over that episode's own keys and values. So a new turn joins at the next
step, and no cache is copied to make a batch. A context only grows. Its cache stays from turn to turn, and is dropped
when the model's weights have changed since it was computed. Weights must not change while a turn is in progress.
"""

import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from types import TracebackType
from typing import Any, Literal

PACKED = "sekft_packed"  # the name of `attend` among transformers' attention functions
IDLE_SECONDS = 2.0  # the decoding thread ends after so long without a turn; the next turn starts a new one
SPARE_TOKENS = 256  # a cache that grows gets room for at least so many more
SAMPLED = 64  # entries of each parameter that are compared to notice a write
SMALL_PARAMETERS = 8_000_000  # below this, one CPU core decodes as fast as several; sandboxes use the others
TIE = 1e-4  # two greedy transcripts may part where the two best logits differ by no more


class Context:
    """The ids that one episode has read and written so far, with keys and values for the first `cached` of them."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.cached = 0
        self.weights: Hashable = None  # weights_state() of the model that computed the cache
        self._layers: dict[int, tuple[Any, Any]] = {}  # keys and values, each (1, H, capacity, D)

    def forget(self) -> None:
        """Drop the cache; the ids stay."""
        self.cached = 0
        self._layers.clear()

    def extend(self, layer: int, *new: Any) -> tuple[Any, ...]:
        """Store keys and values (1, H, T, D) after the first `cached` ones; returns all up to the last new one."""
        end = self.cached + new[0].shape[2]
        held = self._layers.get(layer)
        if held is None or held[0].shape[2] < end:
            grown = tuple(
                part.new_empty(*part.shape[:2], end + max(SPARE_TOKENS, end // 2), part.shape[3]) for part in new
            )
            for part, old in zip(grown, held or (), strict=False):
                part[:, :, : self.cached] = old[:, :, : self.cached]
            held = self._layers[layer] = grown
        for part, fresh in zip(held, new, strict=True):
            part[:, :, self.cached : end] = fresh
        return tuple(part[:, :, :end] for part in held)


End = Literal["ended", "length", "full", "cancelled"]


@dataclass
class Turn:
    """One operator turn: how to sample it, and the ids sampled so far. Sampling appends to `context.ids`.

    A turn ends when `ended(token_ids)` is true, after `max_new_tokens`, at `limit` ids of context, or when `cancelled`
    is set. Temperature 0 is greedy. Above 0 the sampled ids depend on `generator` (on the CPU) and not on other turns.
    """

    context: Context
    ended: Callable[[list[int]], bool]
    max_new_tokens: int
    limit: int
    temperature: float = 0.0
    generator: Any = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    token_ids: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)  # at the sampling temperature; at 1 where greedy
    end: End | None = None
    error: BaseException | None = None
    over: threading.Event = field(default_factory=threading.Event)

    def add(self, token: int, log_prob: float) -> None:
        """Append one sampled id."""
        self.context.ids.append(token)
        self.token_ids.append(token)
        self.log_probs.append(log_prob)
        if self.ended(self.token_ids):
            self.end = "ended"

    def check(self) -> bool:
        """True while another id is to be sampled; otherwise `end` holds the reason."""
        if self.end is None:
            if self.cancelled.is_set():
                self.end = "cancelled"
            elif len(self.token_ids) >= self.max_new_tokens:
                self.end = "length"
            elif len(self.context.ids) >= self.limit:
                self.end = "full"
        return self.end is None


class Decoder:
    """One model and the thread that decodes with it. Each step samples one id for every turn in progress.

    `use_cache=False` reads every context from its start for every id, in plain forward passes: slow, and the reference
    for the cached and packed way. Models whose attention cannot be replaced are decoded that way too.
    """

    def __init__(self, model: Any, *, use_cache: bool = True) -> None:
        import torch

        self.model = model
        self.use_cache = use_cache and packable(model)
        if use_cache and not self.use_cache:
            print(f"{type(model).__name__}: decodes without a cache, its layers are not all attention", file=sys.stderr)
        self.steps = 0
        self.sampled_tokens = 0
        self._weights: Hashable = None  # weights_state() at the start of the turns in progress
        self._forwards: list[tuple[Any, Any]] = []  # for these weights (model/layers.py)
        self._in_progress = 0
        self._new: list[Turn] = []
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._threads: int = torch.get_num_threads()  # as set by the caller; a decoder of a small model sets one

    def decode(self, turn: Turn) -> Turn:
        """Sample `turn` to its end, together with the turns of other threads. Raises any error of the model."""
        with self._wake:
            if not self._in_progress:
                self._look_at_weights()
            if turn.context.weights != self._weights:
                turn.context.forget()
                turn.context.weights = self._weights
            self._in_progress += 1
            self._new.append(turn)
            if self._thread is None:
                # One thread for all forward passes: torch keeps a pool of workers for each thread that computes.
                self._thread = threading.Thread(target=self._run, daemon=True, name="decoder")
                self._thread.start()
            self._wake.notify()
        try:
            turn.over.wait()
        finally:
            with self._wake:
                self._in_progress -= 1
        if turn.error is not None:
            raise turn.error
        return turn

    def _look_at_weights(self) -> None:
        """Notice weights or adapters that have changed since the last turn."""
        from model.layers import fast_forwards  # needs torch

        if (weights := weights_state(self.model)) != self._weights:
            self._weights, self._forwards = weights, fast_forwards(self.model) if self.use_cache else []

    def _run(self) -> None:
        """Step until no turn is left; a small model uses one core, because sandboxes need the others."""
        import torch

        small = self.model.device.type == "cpu" and self.model.num_parameters() < SMALL_PARAMETERS
        torch.set_num_threads(1 if small else self._threads)  # a small model's thread leaves 1 to threads it starts
        try:
            self._step_while_there_are_turns()
        finally:
            torch.set_num_threads(self._threads)  # new threads start with the number that was set last

    def _step_while_there_are_turns(self) -> None:
        """Step while there are turns; return after IDLE_SECONDS without one."""
        turns: list[Turn] = []
        while True:
            with self._wake:
                if not turns and not self._wake.wait_for(lambda: self._new, IDLE_SECONDS):
                    self._thread = None
                    return
                turns += self._new
                self._new.clear()
            with _ErrorsToTurns(turns):
                self.step([turn for turn in turns if turn.check()])
            for turn in turns:
                if turn.error is not None or not turn.check():
                    turn.over.set()
            turns = [turn for turn in turns if not turn.over.is_set()]

    def step(self, turns: Sequence[Turn]) -> None:
        """Sample one id for each of `turns`."""
        import torch

        if not turns:
            return
        with torch.inference_mode():
            logits = self.logits([turn.context for turn in turns]).float()  # (B, V)
            picked = logits.argmax(-1)
            scale = torch.tensor([turn.temperature or 1.0 for turn in turns], device=logits.device)
            log_probs = torch.log_softmax(logits / scale[:, None], dim=-1)
            for row, turn in enumerate(turns):
                if turn.temperature > 0:
                    picked[row] = torch.multinomial(log_probs[row].exp().cpu(), 1, generator=turn.generator)[0]
            chosen = log_probs.gather(1, picked[:, None])[:, 0].tolist()
        for turn, token, log_prob in zip(turns, picked.tolist(), chosen, strict=True):
            turn.add(token, log_prob)
        self.steps += 1
        self.sampled_tokens += len(turns)

    def logits(self, contexts: Sequence[Context]) -> Any:
        """The logits after each context, (B, V). Caches all ids of each context. Call it in inference mode."""
        import torch

        from model.layers import replaced  # needs torch

        if not self.use_cache:
            return torch.cat([next_logits(self.model, context.ids) for context in contexts])
        new = [context.ids[context.cached :] for context in contexts]
        ends = torch.tensor([len(ids) for ids in new]).cumsum(0)
        places = [range(context.cached, len(context.ids)) for context in contexts]
        device = self.model.device
        with packed(self.model), replaced(self._forwards):
            logits = self.model(
                input_ids=torch.tensor([list(chain(*new))], device=device),  # (1, all new ids)
                position_ids=torch.tensor([list(chain(*places))], device=device),
                use_cache=False,
                logits_to_keep=(ends - 1).to(device),
                packed=[(context, len(ids), {}) for context, ids in zip(contexts, new, strict=True)],
            ).logits[0]
        for context in contexts:
            context.cached = len(context.ids)
        return logits


class _ErrorsToTurns:
    """Give any error of a step to the turns in it, so that it is raised in the threads that wait for them."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        for turn in self.turns if error is not None else ():
            turn.error = error
        return True


@contextmanager
def packed(model: Any) -> Iterator[None]:
    """Inside the block, `model` uses `attend` as its attention function."""
    from transformers import AttentionInterface

    AttentionInterface.register(PACKED, attend)  # without a mask function transformers makes no mask
    before = model.config._attn_implementation
    model.config._attn_implementation = PACKED
    try:
        yield
    finally:
        model.config._attn_implementation = before


def attend(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any) -> tuple[Any, None]:
    """Attention of one layer over several contexts whose new ids are packed into one row, (1, H, T, D).

    `packed` holds for each context: the context, its number of new ids, and the masks of earlier layers by window.
    """
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    outputs, start = [], 0
    heads, groups, width = query.shape[1], key.shape[1], query.shape[3]
    share, window = heads // groups, options.get("sliding_window")
    for context, count, masks in options.pop("packed"):
        span = slice(start, start + count)
        keys, values = context.extend(module.layer_idx, key[:, :, span], value[:, :, span])
        if window not in masks:
            once = visible(count, keys.shape[2], window, query)
            masks[window] = once if once is None else once.repeat(share, 1)
        mask = masks[window]
        if count > 1 and mask is None:
            outputs.append(sdpa_attention_forward(module, query[:, :, span], keys, values, None, **options)[0])
        else:  # the heads of a group become queries of one head, so that its keys are read once
            grouped = query[:, :, span].reshape(1, groups, share * count, width)
            found = torch.nn.functional.scaled_dot_product_attention(
                grouped, keys, values, attn_mask=mask, scale=options.get("scaling")
            )
            outputs.append(found.reshape(1, heads, count, width).transpose(1, 2))
        start += count
    return torch.cat(outputs, dim=1), None  # (1, T, H, D)


def visible(new: int, total: int, window: int | None, like: Any) -> Any:
    """The mask to add to the scores of the last `new` of `total` ids, (new, total), in the dtype of `like`.

    None where no mask is needed: every id sees all of them, or attention is plainly causal.
    """
    import torch

    if new in (1, total) and (window is None or total <= window):
        return None
    rows = torch.arange(total - new, total, device=like.device)[:, None]
    columns = torch.arange(total, device=like.device)
    seen = (columns <= rows) & (columns > rows - (window or total))
    return torch.zeros_like(seen, dtype=like.dtype).masked_fill_(~seen, float("-inf"))


def packable(model: Any) -> bool:
    """True where every layer of the model is attention that `attend` can replace."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    kinds = getattr(inner.config, "layer_types", None) or []
    return bool(inner._supports_attention_backend) and set(kinds) <= {"full_attention", "sliding_attention"}


def weights_state(model: Any) -> Hashable:
    """A value that changes when parameters are replaced or written, or when adapters are switched.

    Some writes do not raise torch's version counter (fused optimizers, `tensor.data`, peft's merging). So up to
    SAMPLED evenly spaced entries of each parameter are part of the value. A write that changes none of them is missed.
    """
    import torch

    state: list[Hashable] = []
    samples: list[Any] = []
    for module in model.modules():
        for parameter in module._parameters.values():
            if parameter is not None:
                state.append((parameter.data_ptr(), parameter._version))
                flat = parameter.detach().flatten()
                samples.append(flat[:: len(flat) // SAMPLED + 1])
        if hasattr(module, "active_adapters") and hasattr(module, "scaling"):
            state.append((tuple(module.active_adapters), module.disable_adapters, tuple(module.scaling.items())))
            state.append(tuple(module.merged_adapters))
    return *state, torch.cat(samples).float().cpu().numpy().tobytes()  # one copy from the device


def next_logits(model: Any, ids: Sequence[int]) -> Any:
    """The logits after `ids`, (1, V), from one plain forward pass."""
    import torch

    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids], device=model.device), use_cache=False, logits_to_keep=1).logits[
            :, -1
        ]


def first_difference(
    model: Any, one: tuple[Sequence[int], Sequence[int]], other: Sequence[int]
) -> tuple[int, float] | None:
    """The first position where two greedy transcripts differ, and the gap of the two best logits there; None if equal.

    `one` is a transcript's ids and its assistant mask, `other` the ids of the other transcript. Where they differ in
    environment text, or one is a prefix of the other, no tie explains it and the gap is infinite.
    """
    ids, mask = one
    if list(ids) == list(other):
        return None
    place = next((at for at, pair in enumerate(zip(ids, other, strict=False)) if pair[0] != pair[1]), None)
    if place is None or not mask[place]:
        return min(len(ids), len(other)) if place is None else place, float("inf")
    best, second = next_logits(model, ids[:place])[0].float().topk(2).values.tolist()
    return place, best - second


def compare_transcripts(
    model: Any, pairs: Sequence[tuple[tuple[Sequence[int], Sequence[int]], Sequence[int]]]
) -> dict[str, int | float]:
    """Count pairs of greedy transcripts (see `first_difference`) that are equal, part at a tie, or differ.

    Pairs that part in a shell's output (racing commands print in varying order) are counted separately, where there
    are any: they show nothing about the operator. `widest_gap` is the largest gap at which an operator parted.
    """
    counts: dict[str, int | float] = {"same": 0, "parted_level": 0, "differ": 0}
    for (ids, mask), other in pairs:
        apart = first_difference(model, (ids, mask), other)
        if apart is None:
            counts["same"] += 1
        elif apart[0] < min(len(ids), len(other)) and not mask[apart[0]]:
            counts["parted_in_output"] = counts.get("parted_in_output", 0) + 1
        else:
            counts["parted_level" if apart[1] <= TIE else "differ"] += 1
            counts["widest_gap"] = max(counts.get("widest_gap", 0.0), apart[1])
    return counts
