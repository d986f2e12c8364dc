"""Compare logits on sessions that an adapter has not read.

    sessions = held_out_sessions(base, adapter, None)
    expected = probes(renderer, sessions, torch_logits(model))
    difference = compare_probes(expected, torch_logits(other))

A conversion is checked at the positions where the operator's tokens are picked. The sessions are made from scenarios
without a container: the provider's text and the directives stand as outputs, the reference solution as commands.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import stage
from authoring.templates import author
from model.render import Renderer, session_messages
from pipeline.files import read_identity, read_scenarios, sessions_in_base
from pipeline.holdout import refuse_trained_on
from schema import Message, Scenario
from taxonomy import combinations

SESSIONS, POSITIONS, HELP_LINES = 16, 24, 8
Logits = Callable[[Sequence[int], Sequence[int]], Any]  # of ids and positions: fp32, (P, V)


@dataclass(frozen=True)
class Probe:
    """The ids of a session, the positions where the operator's tokens are picked, and fp32 logits there."""

    token_ids: list[int]
    positions: list[int]
    logits: Any  # (P, V)


@dataclass(frozen=True)
class LogitDifference:
    """How far other logits are from the expected ones, over every probe.

    `bare_mean` is how far those of the bare base are, `mean` how far these are.
    """

    contexts: int
    largest: float
    mean: float
    same_best_token: float
    largest_logit: float
    bare_mean: float = 0.0
    other_ids: int = 0  # contexts that are read as other ids than ours


def held_out_sessions(
    base: str, adapter: Path | None, scenarios: Path | None, count: int = SESSIONS
) -> list[list[Message]]:
    """`count` sessions that neither `base` nor `adapter` was trained on, the same for the same arguments.

    They play scenarios of the directory `scenarios`, or new ones of the offline author. Raises BadInputError where one
    of the two was trained on a scenario of the directory.
    """
    adapters = [] if adapter is None else [adapter]
    if scenarios is not None:
        records = read_scenarios(scenarios)
        refuse_trained_on(base, adapters, scenarios, records, remedy="name held-out scenarios")
        return [session_without_sandbox(one) for one in records[:: max(1, len(records) // count)][:count]]
    seen = [*sessions_in_base(base), *(row for one in adapters for row in read_identity(one).trained_on)]
    hashes = {row.content_hash for row in seen}
    unread = [one for one in new_scenarios(2 * count) if one.content_hash not in hashes]
    return [session_without_sandbox(one) for one in unread[:count]]


def new_scenarios(count: int) -> list[Scenario]:
    """Scenarios of the offline author, the same each time."""
    every = list(combinations())
    drawn = random.Random("serving/new").sample(every, min(count, len(every)))
    return [author(one, seed=f"serving/{index}", id=f"probe-{index:02}") for index, one in enumerate(drawn)]


def session_without_sandbox(scenario: Scenario) -> list[Message]:
    """A session of `scenario` that nobody played: its outputs are the provider's text and the directives."""
    provider = scenario.provider
    shown = "\n".join(provider.source.splitlines()[:HELP_LINES]) + "\n"
    turns: list[tuple[str, str | None]] = [(command, shown) for command in provider.help_commands[:1]]
    said = zip(provider.directive_commands, scenario.directives, strict=False)
    turns += [(command, f"{directive}\n") for command, directive in said]
    turns += [(command, "") for command in scenario.reference_solution]
    return session_messages(scenario, [*turns, (scenario.terminal, None)])


def last_context(messages: Sequence[Message]) -> list[Message]:
    """A session up to the prompt before its last command; the operator is to pick a command there."""
    return list(messages[:-1])


def probes(renderer: Renderer, sessions: Sequence[Sequence[Message]], logits_of: Logits) -> list[Probe]:
    """One probe per session: at most POSITIONS of those where the operator's tokens are picked.

    A session that ends in a prompt has one position, its end.
    """
    found = []
    with stage.Progress(len(sessions), "adapter") as bar:
        for messages in sessions:
            if messages[-1].role == "assistant":
                encoded = renderer.encode(messages)
                token_ids = encoded.token_ids
                picked = [index - 1 for index, trained in enumerate(encoded.mask) if trained and index]
                positions = picked[:: -(-len(picked) // POSITIONS)]
            else:
                token_ids = renderer.context(messages)
                positions = [len(token_ids) - 1]
            found.append(Probe(token_ids, positions, logits_of(token_ids, positions)))
            bar.record(f"{len(token_ids)} tokens", f"read at {len(positions)} positions")
    return found


def torch_logits(model: Any, *, log_probs: bool = False) -> Logits:
    """The fp32 logits (P, V) of a transformers or peft model for ids and positions, or their log-probabilities."""
    import torch

    def logits_of(token_ids: Sequence[int], positions: Sequence[int]) -> Any:
        with torch.inference_mode():
            row = torch.tensor([list(token_ids)], device=model.device)
            logits = model(row, use_cache=False).logits[0, list(positions)].float().cpu()
            return logits.log_softmax(-1) if log_probs else logits

    return logits_of


def compare_probes(expected: Sequence[Probe], logits_of: Logits, label: str = "converted") -> LogitDifference:
    """How far the logits of `logits_of` are from the expected ones; `largest` is NaN where one of them is."""
    import torch

    differences, means, same, total, largest_logit = [], [], 0, 0, 1.0
    with stage.Progress(len(expected), label) as bar:
        for probe in expected:
            other = logits_of(probe.token_ids, probe.positions)[:, : probe.logits.shape[1]]
            apart = (other - probe.logits).abs()
            differences.append(apart.max())
            means.append(apart.mean())
            same += int((other.argmax(-1) == probe.logits.argmax(-1)).sum())
            total += len(probe.positions)
            bar.record(f"{len(probe.token_ids)} tokens", f"differs by {float(differences[-1]):.2g}")
            largest_logit = max(largest_logit, float(probe.logits.abs().max()))
    largest, mean = float(torch.stack(differences).max()), float(torch.stack(means).mean())
    return LogitDifference(len(expected), largest, mean, same / total, largest_logit)


def bare_mean(expected: Sequence[Probe], model: Any, *, log_probs: bool = False) -> float:
    """How far the logits of a peft model are from the expected ones while its adapter is off, in the mean."""
    with model.disable_adapter():
        return compare_probes(expected, torch_logits(model, log_probs=log_probs), "bare base").mean
