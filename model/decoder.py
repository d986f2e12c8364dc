"""Decode for many episodes at once: a KV cache per episode, one forward pass over what they all have not read yet.

    decoder = Decoder(model)                          # one per model, shared by every operator that drives it
    turn = decoder.play(Turn(context, ended=is_over, max_new_tokens=64, limit=4096))

Reads   nothing
Writes  nothing
Needs   torch, transformers

The new ids of all turns under way lie side by side in one row without padding, whether an episode has one new id or a
whole output; attention alone goes episode by episode, over that episode's own keys and values. So a turn that begins
joins the next step, and no cache is ever copied to make a batch. A context is only ever appended to: its cache stays
from turn to turn and is dropped when the model's weights are not those it was computed with.
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
IDLE_SECONDS = 2.0  # without a turn for so long, the decoding thread ends; the next turn starts another
SPARE_TOKENS = 256  # room for new keys and values, at least
SAMPLED = 64  # entries of a parameter by which a write to it is told
SMALL_PARAMETERS = 8_000_000  # a model on the CPU that one core decodes as fast as several, beside sandboxes
LEVEL = 1e-4  # two greedy transcripts may part where the two best logits are no further apart


class Context:
    """What one episode has read and written so far, and the keys and values of the first `cached` of its ids."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.cached = 0
        self.weights: Hashable = None  # weights_state() of what computed the cache
        self._layers: dict[int, tuple[Any, Any]] = {}  # keys and values, each (1, H, capacity, D)

    def forget(self) -> None:
        """Drop the cache; the ids stay."""
        self.cached = 0
        self._layers.clear()

    def extend(self, layer: int, *new: Any) -> tuple[Any, ...]:
        """Put keys and values (1, H, T, D) behind the first `cached` ones; returns all up to the last new one."""
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
    """One operator turn: how to sample it, and what has been sampled. `context.ids` grows as it goes.

    It ends where `ended` says so of the sampled ids, after `max_new_tokens`, at `limit` ids of context, or when
    `cancelled` is set. Temperature 0 is greedy; above, `generator` (on the CPU) decides alone, whoever else is decoded.
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

    def take(self, token: int, log_prob: float) -> None:
        """Append one sampled id."""
        self.context.ids.append(token)
        self.token_ids.append(token)
        self.log_probs.append(log_prob)
        if self.ended(self.token_ids):
            self.end = "ended"

    def check(self) -> bool:
        """True while another id is to be sampled; otherwise `end` says why not."""
        if self.end is None:
            if self.cancelled.is_set():
                self.end = "cancelled"
            elif len(self.token_ids) >= self.max_new_tokens:
                self.end = "length"
            elif len(self.context.ids) >= self.limit:
                self.end = "full"
        return self.end is None


class Decoder:
    """One model and the thread that decodes with it; every turn under way gets one id per step.

    `use_cache=False` computes every context anew for every id, in plain forward passes of the model: slow, and what the
    cached and packed way is compared with. Models whose attention cannot be taken over go that way too.
    """

    def __init__(self, model: Any, *, use_cache: bool = True) -> None:
        import torch

        self.model = model
        self.use_cache = use_cache and packable(model)
        if use_cache and not self.use_cache:
            print(f"{type(model).__name__}: decodes without a cache, its layers are not all attention", file=sys.stderr)
        self.steps = 0
        self.sampled_tokens = 0
        self._begun: list[Turn] = []
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._threads: int = torch.get_num_threads()  # of whoever makes this: another decoder's may be set to one

    def play(self, turn: Turn) -> Turn:
        """Sample `turn` to its end, together with the turns of other threads. Raises what the model raised."""
        weights = weights_state(self.model)
        if turn.context.weights != weights:
            turn.context.forget()
            turn.context.weights = weights
        with self._wake:
            self._begun.append(turn)
            if self._thread is None:
                # One thread for every forward pass: torch keeps a pool of workers for each thread that computes.
                self._thread = threading.Thread(target=self._decode, daemon=True, name="decoder")
                self._thread.start()
            self._wake.notify()
        turn.over.wait()
        if turn.error is not None:
            raise turn.error
        return turn

    def _decode(self) -> None:
        """Step until there is nothing left to do, a small model on one core: the sandboxes need the others."""
        import torch

        small = self.model.device.type == "cpu" and self.model.num_parameters() < SMALL_PARAMETERS
        torch.set_num_threads(1 if small else self._threads)  # beside a small model's, one begins with that one's
        try:
            self._run()
        finally:
            torch.set_num_threads(self._threads)  # for threads to come: they begin with what was set last

    def _run(self) -> None:
        """Step while there are turns; end after a while without one."""
        playing: list[Turn] = []
        while True:
            with self._wake:
                if not playing and not self._wake.wait_for(lambda: self._begun, IDLE_SECONDS):
                    self._thread = None
                    return
                playing += self._begun
                self._begun.clear()
            with _Deliver(playing):
                self.step([turn for turn in playing if turn.check()])
            for turn in playing:
                if turn.error is not None or not turn.check():
                    turn.over.set()
            playing = [turn for turn in playing if not turn.over.is_set()]

    def step(self, turns: Sequence[Turn]) -> None:
        """One id for each of `turns`."""
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
            turn.take(token, log_prob)
        self.steps += 1
        self.sampled_tokens += len(turns)

    def logits(self, contexts: Sequence[Context]) -> Any:
        """The logits after each context, (B, V); afterwards each is cached whole. Called in inference mode."""
        import torch

        if not self.use_cache:
            return torch.cat([next_logits(self.model, context.ids) for context in contexts])
        new = [context.ids[context.cached :] for context in contexts]
        ends = torch.tensor([len(ids) for ids in new]).cumsum(0)
        places = [range(context.cached, len(context.ids)) for context in contexts]
        device = self.model.device
        with packed(self.model):
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


class _Deliver:
    """Whatever a step raises goes to those who wait for its turns, never to a dead thread's stderr."""

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
    """Inside, `model` attends by `attend`."""
    from transformers import AttentionInterface

    AttentionInterface.register(PACKED, attend)  # it has no mask function: transformers then makes no mask
    before = model.config._attn_implementation
    model.config._attn_implementation = PACKED
    try:
        yield
    finally:
        model.config._attn_implementation = before


def attend(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any) -> tuple[Any, None]:
    """Attention of one layer over several contexts whose new ids lie side by side, (1, H, T, D).

    `packed` has a context, how many of the ids are its own, and the masks that earlier layers made, by window.
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
        else:  # the heads of a group as that many queries: its keys are read once
            grouped = query[:, :, span].reshape(1, groups, share * count, width)
            found = torch.nn.functional.scaled_dot_product_attention(
                grouped, keys, values, attn_mask=mask, scale=options.get("scaling")
            )
            outputs.append(found.reshape(1, heads, count, width).transpose(1, 2))
        start += count
    return torch.cat(outputs, dim=1), None  # (1, T, H, D)


def visible(new: int, total: int, window: int | None, like: Any) -> Any:
    """What the last `new` of `total` ids may not see, to be added to their scores, (new, total) as `like` is.

    None where no mask is needed: all is seen, or it is plainly causal.
    """
    import torch

    if new in (1, total) and (window is None or total <= window):
        return None
    rows = torch.arange(total - new, total, device=like.device)[:, None]
    columns = torch.arange(total, device=like.device)
    seen = (columns <= rows) & (columns > rows - (window or total))
    return torch.zeros_like(seen, dtype=like.dtype).masked_fill_(~seen, float("-inf"))


def packable(model: Any) -> bool:
    """Whether every layer of the model is attention that `attend` can stand in for."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    kinds = getattr(inner.config, "layer_types", None) or []
    return bool(inner._supports_attention_backend) and set(kinds) <= {"full_attention", "sliding_attention"}


def weights_state(model: Any) -> Hashable:
    """Equal as long as the model computes the same: parameters neither replaced nor written to, adapters not switched.

    Not every write raises torch's own counter (fused optimizers, `tensor.data` and peft's merging do not), so up to
    SAMPLED evenly spaced entries of each parameter count too. A write that spares all of those goes unseen.
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
    """Where two greedy transcripts part, and the gap between the model's two best logits there; None where they do not.

    `one` is a transcript's ids and its assistant mask, `other` the other's ids. Where they part in what the environment
    said, or one stops short, no tie explains it and the gap is infinite.
    """
    ids, mask = one
    if list(ids) == list(other):
        return None
    place = next((at for at, pair in enumerate(zip(ids, other, strict=False)) if pair[0] != pair[1]), None)
    if place is None or not mask[place]:
        return min(len(ids), len(other)) if place is None else place, float("inf")
    best, second = next_logits(model, ids[:place])[0].float().topk(2).values.tolist()
    return place, best - second


def compare(
    model: Any, pairs: Sequence[tuple[tuple[Sequence[int], Sequence[int]], Sequence[int]]]
) -> dict[str, int | float]:
    """How many pairs of greedy transcripts (see `first_difference`) are the same, part at level logits, or differ.

    Those that part in what a shell said (commands that race print in another order) say nothing of the operator and
    are counted apart, where there are any; so is the widest gap at which an operator parted.
    """
    counts: dict[str, int | float] = {"same": 0, "parted_level": 0, "differ": 0}
    for (ids, mask), other in pairs:
        apart = first_difference(model, (ids, mask), other)
        if apart is None:
            counts["same"] += 1
        elif apart[0] < min(len(ids), len(other)) and not mask[apart[0]]:
            counts["parted_in_output"] = counts.get("parted_in_output", 0) + 1
        else:
            counts["parted_level" if apart[1] <= LEVEL else "differ"] += 1
            counts["widest_gap"] = max(counts.get("widest_gap", 0.0), apart[1])
    return counts
