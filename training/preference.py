"""Preference training: pairs of recorded sessions, the reference's log-probs, and the loss.

    data = preference_data(settings, trajectories, renderer, adapter_hash)
    objective = preference_objective(settings)
    rows = pair_rows(data, settings, reference_log_probs(model, data, settings, out / REFERENCE))

The loss of a pair is -log sigmoid(r(chosen) - r(rejected)), where r = beta * sum_t w_t (log pi(t) - log pi_ref(t)) over
the tokens t of a session (Rafailov et al. 2023, arXiv 2305.18290). The weight w_t is 1 for the ids that the operator
sampled and each end marker, and 0 for the environment's. With --loss dmpo it is phi(k, T) for every token of the
operator's turn k of T (see `turn_weight`). With --terminal-loss at-fault it is 0 for the terminal of a rejected session
whose final state is not verified.
"""

import argparse
import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pipeline import stage
from model.loading import adapter_argument
from model.render import Renderer
from schema import BadInputError, Trajectory, canonical, sha256
from training.continued import spares_terminal
from training.dataset import Dataset, Example, build, last_turn
from training.loop import Objective
from training.pairs import PER_SCENARIO, Paired, candidate_of, pair_up
from training.settings import (
    ContinuedSettings,
    LoopSettings,
    RunSettings,
    add_run_flags,
    add_terminal_loss_flag,
)

EPOCHS = 1
COLLAPSE_NATS, COLLAPSE_STEPS = 0.5, 10
LEAST_STEPS = 3  # the first one is of the start adapter itself
ENDING_NATS = 1.0
SUMS = ("weights", "mask", "ending")  # what a session's log-probs are summed over: see `token_rows`
REFERENCE = "reference.jsonl"  # in the adapter's directory: the start adapter's log-probs of each session


@dataclass(frozen=True, kw_only=True)
class PreferenceSettings(LoopSettings):
    """Every flag of dpo.py that decides the trained weights. Manifest and sekft.json record them under these names."""

    epochs: int = EPOCHS
    beta: float = 0.1
    loss: Literal["sigmoid", "dmpo"] = "sigmoid"
    gamma: float = 0.9
    sft_weight: float = 0.0
    loss_on_environment: bool = False
    terminal_loss: str = "at-fault"
    per_scenario: int = PER_SCENARIO

    def deciding_flags(self) -> dict[str, Any]:
        """The flags that decide the trained weights, by name."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(PreferenceSettings)}


@dataclass(frozen=True, kw_only=True)
class DpoSettings(PreferenceSettings, RunSettings, ContinuedSettings):
    """All flags of dpo.py. Raises BadInputError for a number out of range."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.beta < 100:
            raise BadInputError(f"--beta is {self.beta}; it must lie between 0 and 100")
        if not 0 < self.gamma < 1:
            raise BadInputError(f"--gamma is {self.gamma}; it must lie between 0 and 1")
        if self.loss == "sigmoid" and self.gamma != PreferenceSettings.gamma:
            raise BadInputError("--gamma belongs to --loss dmpo; pass both, or neither")
        if not 0 <= self.sft_weight < 100:
            raise BadInputError(f"--sft-weight is {self.sft_weight}; it must lie between 0 and 100")
        if self.loss_on_environment and self.loss != "sigmoid":
            raise BadInputError(
                "--loss-on-environment belongs to --loss sigmoid: the environment has no turns to weigh"
            )


def add_preference_flags(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Give a parser the flags of dpo.py; returns it."""
    add = parser.add_argument
    add(
        "--adapter",
        type=adapter_argument,
        required=True,
        help="adapter to start from, which sampled --data (sft.py --out, or a selected.json)",
    )
    add_run_flags(parser, rows="pairs", lr="1e-5 * 4096 / width of the base", epochs=EPOCHS)
    add("--beta", type=float, default=0.1, help="how hard the policy is held to its start (default 0.1)")
    add(
        "--loss",
        choices=("sigmoid", "dmpo"),
        default="sigmoid",
        help="dmpo weighs turns by --gamma; not measured (default sigmoid)",
    )
    add("--gamma", type=float, default=0.9, help="dmpo: the discount from turn to turn (default 0.9)")
    add("--sft-weight", type=float, default=0.0, help="weight of the chosen side's mean SFT loss (default 0)")
    add(
        "--loss-on-environment",
        action="store_true",
        help="ablation: count the environment's tokens after the first command as the operator's, as TRL does",
    )
    add_terminal_loss_flag(parser, PreferenceSettings.terminal_loss)
    add(
        "--per-scenario",
        type=int,
        default=PER_SCENARIO,
        help=f"pairs of a scenario at most (default {PER_SCENARIO})",
    )
    return parser


@dataclass
class PreferenceData:
    """The pairs of a run. `dataset` holds their sessions once each, and the result for every row of the input."""

    dataset: Dataset
    pairs: list[tuple[Example, Example]] = field(default_factory=list)

    def counts(self) -> dict[str, Any]:
        """Counts of rows, pairs and tokens; read = used + the sum of left_out."""
        return {**self.dataset.counts(), "pairs": len(self.pairs)}

    def hash(self) -> str:
        """SHA-256 over pairs, ids and masks; identifies the rows that a checkpoint was trained on."""
        named = [[chosen.id, rejected.id] for chosen, rejected in self.pairs]
        return sha256(canonical([named, self.dataset.hash()]))

    def keep_first(self, count: int) -> None:
        """Train on the first `count` pairs only; sessions of no other pair are beyond the limit."""
        self.pairs = self.pairs[:count]
        used = {example.id for pair in self.pairs for example in pair}
        self.dataset.left_out["beyond_limit"] += [one.id for one in self.dataset.examples if one.id not in used]
        self.dataset.examples = [one for one in self.dataset.examples if one.id in used]


def preference_data(
    settings: DpoSettings, trajectories: Sequence[Trajectory], renderer: Renderer, digest: str
) -> PreferenceData:
    """The pairs among `trajectories` that the adapter with the hash `digest` sampled, with the ids as sampled.

    Every other row is left out for one reason: those of training/pairs.py and training/dataset.py, `other_operator`
    (somebody else, or another adapter, acted), and `not_recorded` (the sampled ids are missing, or are not those of
    this tokenizer and render format).
    """
    candidates = {row.id: candidate_of(row) for row in trajectories}
    for row in trajectories:
        if candidates[row.id].excluded is None and row.operator.adapter_hash != digest:
            candidates[row.id] = dataclasses.replace(candidates[row.id], excluded="other_operator")
    own = [row for row in trajectories if candidates[row.id].excluded is None]
    dataset = build(own, renderer, max_length_tokens=settings.max_length_tokens, include_not_kept=True)
    found = {example.id: example for example in dataset.examples}
    reasons = {id_: reason for reason, ids in dataset.left_out.items() for id_ in ids}
    reasons |= {example.id: "not_recorded" for example in dataset.examples if not example.recorded}
    paired = pair_up(
        [dataclasses.replace(one, excluded=one.excluded or reasons.get(id_)) for id_, one in candidates.items()],
        per_scenario=settings.per_scenario,
    )
    data = _data_of(paired, found, dataset)
    if settings.overfit:
        data.keep_first(settings.overfit)
    return data


def _data_of(paired: Paired, found: dict[str, Example], dataset: Dataset) -> PreferenceData:
    """The examples of the pairs; every other row is in `left_out`."""
    used = sorted({id_ for pair in paired.pairs for id_ in pair})
    dataset.read = paired.read
    dataset.examples = [found[id_] for id_ in used]
    dataset.retokenised = []  # such rows are left out
    dataset.left_out = {reason: [] for reason in dataset.left_out if reason != "not_kept"} | paired.left_out
    return PreferenceData(dataset, [(found[chosen], found[rejected]) for chosen, rejected in paired.pairs])


def turn_weight(turn: int, turns: int, gamma: float) -> float:
    """phi(t, T) = gamma^t (1 - gamma^(T-t)) / (1 - gamma^T), the weight of turn t of T, from 0.

    That is how often the log-ratio of turn t counts in the discounted mean over the T state-action pairs of a session
    (Shi et al. 2024, DMPO, arXiv 2406.14868): 1 for the first turn, less for each later one, however many there are.
    """
    return float(gamma**turn * (1 - gamma ** (turns - turn)) / (1 - gamma**turns))


def token_weights(example: Example, settings: PreferenceSettings) -> list[float]:
    """The weight of each token's log-ratio in a session's reward; 0 for a terminal that is spared."""
    weights = _weights(example.encoded.mask, settings)
    if not example.trajectory.kept and spares_terminal(example.trajectory, settings.terminal_loss):
        begin, end = last_turn(example.encoded.mask)
        weights[begin:end] = [0.0] * (end - begin)
    return weights


def _weights(mask: Sequence[int], settings: PreferenceSettings) -> list[float]:
    """The weight of each token of a session, whatever became of it."""
    if settings.loss_on_environment:
        first = mask.index(1)
        return [float(at >= first) for at in range(len(mask))]
    if settings.loss == "sigmoid":
        return [float(on) for on in mask]
    turn, numbers = -1, []
    for at, on in enumerate(mask):
        turn += bool(on and not (at and mask[at - 1]))
        numbers.append(turn)
    return [
        turn_weight(number, turn + 1, settings.gamma) if on else 0.0 for number, on in zip(numbers, mask, strict=True)
    ]


def token_rows(example: Example, settings: PreferenceSettings) -> dict[str, list[float]]:
    """For each of SUMS a weight per token: of the loss; 1 for the operator's tokens; 1 for those of its last turn."""
    mask = example.encoded.mask
    begin, end = last_turn(mask)
    ending = [float(begin <= at < end) for at in range(len(mask))]
    return {"weights": token_weights(example, settings), "mask": [float(on) for on in mask], "ending": ending}


def log_prob_sums(model: Any, ids: Any, weights: Any, *, compact: bool = True) -> Any:
    """Weighted sums of a session's log-probs (K,).

    Args:
        model: a transformers or peft model.
        ids: the session (T,). A token's log-prob is read at the position before it.
        weights: of each token in each sum (K, T).
        compact: apply the head to the counted positions only, right where `head_is_plain`.
    """
    import torch.nn.functional as functional

    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    weights = weights[:, 1:]
    counted = (weights != 0).any(0)  # (T - 1,)
    if compact:
        states = inner.get_decoder()(input_ids=ids[None], use_cache=False).last_hidden_state[0, :-1]  # (T - 1, H)
        logits = inner.get_output_embeddings()(states[counted])
    else:
        logits = model(input_ids=ids[None], use_cache=False).logits[0, :-1][counted]
    log_probs = -functional.cross_entropy(logits.float(), ids[1:][counted], reduction="none")  # (counted,)
    return (log_probs * weights[:, counted]).sum(1)


def reference_log_probs(
    model: Any, data: PreferenceData, settings: PreferenceSettings, path: Path, *, compact: bool = True
) -> dict[str, list[float]]:
    """Session id -> the sums of SUMS by the model as it is now, the start of the training.

    They are computed once: `path` has a line for each session that was done. Half a line, left by a kill, is computed
    again.
    """
    import torch

    known: dict[str, list[float]] = {}
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    whole = [line for line in lines if line.endswith("\n")]
    for line in whole:
        entry = json.loads(line)
        known[entry["id"]] = [entry[name] for name in SUMS]
    path.write_text("".join(whole))
    todo = [example for example in data.dataset.examples if example.id not in known]
    half = model.dtype in (torch.float16, torch.bfloat16)
    model.train()  # as in training; never eval(), which on CPU repacks 4-bit weights
    without_dropout(model)
    with path.open("a") as stream, torch.no_grad(), stage.Progress(len(todo), "reference") as progress:
        for example in todo:
            row = _tensors(example, settings, model.device)
            with torch.autocast(model.device.type, dtype=model.dtype) if half else nullcontext():
                known[example.id] = log_prob_sums(model, **row, compact=compact).tolist()
            entry = dict(zip(SUMS, known[example.id], strict=True))
            stream.write(json.dumps({"id": example.id, **entry}) + "\n")
            stream.flush()
            progress.record(example.id, f"log-prob {entry['mask']:.2f}")
    return known


def without_dropout(model: Any) -> None:
    """Switch dropout off, in training too: noise in one of two log-probs would be taken for a preference."""
    import torch

    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):  # Llama's and others' own
            module.attention_dropout = 0.0


def _tensors(example: Example, settings: PreferenceSettings, device: Any) -> dict[str, Any]:
    """The arguments of `log_prob_sums` for a session."""
    import torch

    return {
        "ids": torch.tensor(example.encoded.token_ids, device=device),
        "weights": torch.tensor(list(token_rows(example, settings).values()), device=device),
    }


def pair_rows(
    data: PreferenceData, settings: PreferenceSettings, reference: dict[str, list[float]]
) -> list[list[dict[str, Any]]]:
    """For each pair its two sides, chosen first, as a trainer's rows."""
    return [
        [
            {
                "ids": example.encoded.token_ids,
                **token_rows(example, settings),
                "reference": reference[example.id],
            }
            for example in pair
        ]
        for pair in data.pairs
    ]


def collate_pairs(pairs: Sequence[Sequence[dict[str, Any]]]) -> dict[str, Any]:
    """Right-padded tensors of the sides of all pairs, (2 B, T): chosen and rejected in turn."""
    import torch

    sides = [side for pair in pairs for side in pair]
    longest = max(len(side["ids"]) for side in sides)
    batch: dict[str, Any] = {
        name: torch.tensor([list(side[name]) + [0] * (longest - len(side[name])) for side in sides])
        for name in ("ids", *SUMS)
    }
    batch["input_ids"] = batch.pop("ids")
    batch["lengths"] = torch.tensor([len(side["ids"]) for side in sides])
    batch["reference"] = torch.tensor([side["reference"] for side in sides], dtype=torch.float64)  # (2 B, 3)
    return batch


def single_pairs(batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The pairs of a batch, each as a batch cut to its longer side."""
    for at in range(0, len(batch["lengths"]), 2):
        longest = int(batch["lengths"][at : at + 2].max())
        yield {name: part[at : at + 2, :longest] if part.ndim == 2 and name != "reference" else part[at : at + 2]
               for name, part in batch.items()}  # fmt: skip


def preference_objective(settings: PreferenceSettings, *, compact: bool = True) -> Objective:
    """The loss summed over pairs, its figures, and when a run has failed."""
    import torch
    import torch.nn.functional as functional

    seen: list[dict[str, float]] = []  # one entry for each pair of the step

    def loss_of(model: Any, pair: dict[str, Any]) -> Any:
        sums = [
            log_prob_sums(
                model,
                pair["input_ids"][side, :length],
                torch.stack([pair[name][side, :length] for name in SUMS]),
                compact=compact,
            )
            for side, length in enumerate(pair["lengths"].tolist())
        ]
        reference = pair["reference"].to(torch.float32)
        rewards = [settings.beta * (sums[side][0] - reference[side, 0]) for side in (0, 1)]
        margin = rewards[0] - rewards[1]
        tokens = pair["mask"].sum(1).tolist()
        loss = -functional.logsigmoid(margin)
        if settings.sft_weight:
            loss = loss - settings.sft_weight * sums[0][1] / tokens[0]
        chosen, rejected = (float(sums[side][1].detach()) / tokens[side] for side in (0, 1))
        seen.append(
            {
                "rewards_chosen": float(rewards[0].detach()),
                "rewards_rejected": float(rewards[1].detach()),
                "margin": float(margin.detach()),
                "accuracy": float(margin.detach() > 0),
                "chosen_log_prob": chosen,
                "rejected_log_prob": rejected,
                "chosen_log_ratio": chosen - float(reference[0, 1]) / tokens[0],
                "chosen_ending_log_ratio": float(sums[0][2].detach() - reference[0, 2]),
            }
        )
        return loss

    def loss(model: Any, batch: dict[str, Any]) -> Any:
        return sum(loss_of(model, pair) for pair in single_pairs(batch))

    def figures() -> dict[str, float]:
        pairs = list(seen)
        seen.clear()
        return {name: sum(sorted(pair[name] for pair in pairs)) / len(pairs) for name in (pairs[0] if pairs else {})}

    collapsed: Callable[[Sequence[dict[str, Any]]], str | None] = lambda entries: None  # noqa: E731
    return Objective(
        collate=collate_pairs,
        pieces=single_pairs,
        loss=loss,
        count=lambda batch: len(batch["lengths"]) // 2,
        figures=figures,
        why_failed=collapsed if settings.overfit else why_collapsed,
    )


def why_collapsed(entries: Sequence[dict[str, Any]]) -> str | None:
    """The reason to stop where the policy has lost the chosen sessions; None where it has not.

    The loss looks at the difference of the two sides only, so it can fall while the policy unlearns both. The rule, on
    the means of the last COLLAPSE_STEPS steps, or of all from the LEAST_STEPS-th on: the chosen sessions' log-prob per
    token lies more than COLLAPSE_NATS below the start adapter's, or that of their whole last turn more than
    ENDING_NATS. A policy that no longer ends its sessions loses a few tokens in a hundred, which the first figure
    hardly shows.
    """
    last = entries[-COLLAPSE_STEPS:]
    if len(last) < LEAST_STEPS:
        return None
    per_token, ending = (
        sum(entry[name] for entry in last) / len(last) for name in ("chosen_log_ratio", "chosen_ending_log_ratio")
    )
    if per_token < -COLLAPSE_NATS:
        fell = f"the chosen sessions' log-prob fell by {-per_token:.2f} nats per token"
        limit = COLLAPSE_NATS
    elif ending < -ENDING_NATS:
        fell = f"the policy unlearns to end its sessions: the chosen ones' last turn fell by {-ending:.2f} nats"
        limit = ENDING_NATS
    else:
        return None
    return (
        f"{fell} (mean of the {len(last)} steps up to {last[-1]['step']}, {limit} is the limit); lower --lr, "
        "raise --beta, or add --sft-weight 0.1"
    )
