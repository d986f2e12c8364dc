"""Count what episodes were: rates with intervals, and paired differences."""

import dataclasses
import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from pipeline import verdicts
from schema import VOIDED, Scenario, Trajectory

Subject = Literal["base", "clean_up", "adapter"]
RATES = ("operate", "terminate", "verified", "clean")
BEHAVIOUR = ("loop", "open_heredoc", "panic_precision", "panic_recall")
LOOP_COMMANDS, LOOP_TEXTS = 5, 2
DRAWS = 2000  # of the bootstrap


def wilson(successes: int, n: int, z: float = 1.959964) -> tuple[float, float] | None:
    """The Wilson score interval of a proportion (Wilson 1927); None for n = 0, where there is no rate."""
    if n == 0:
        return None
    p, zz = successes / n, z * z
    centre, half = p + zz / (2 * n), z * math.sqrt(p * (1 - p) / n + zz / (4 * n * n))
    return max(0.0, (centre - half) / (1 + zz / n)), min(1.0, (centre + half) / (1 + zz / n))


def flags_of(episode: Trajectory) -> dict[str, bool]:
    """The four booleans of an episode that the rates are means of."""
    return dataclasses.asdict(verdicts.rates(episode))


def behaviour_of(episode: Trajectory, blocked: bool) -> dict[str, bool | None]:
    """What else an episode shows; None where it does not count towards a rate. `blocked`: its right end is panic."""
    commands = [message.content for message in episode.messages if message.role == "assistant"]
    panicked = episode.outcome == "panic"
    return {
        "loop": episode.outcome in ("max_steps", "context_full")
        and len(commands) >= LOOP_COMMANDS
        and len(set(commands[-LOOP_COMMANDS:])) <= LOOP_TEXTS,
        "open_heredoc": any(step.open_heredoc for step in episode.steps),
        "panic_precision": blocked if panicked else None,
        "panic_recall": panicked if blocked else None,
    }


def rate(values: Sequence[bool], voided: int) -> dict[str, Any]:
    """A rate with its count, n, interval, and the figure with voided episodes counted as failures."""
    successes, n = sum(values), len(values)
    return {
        "successes": successes,
        "n": n,
        "rate": successes / n if n else None,
        "interval": wilson(successes, n),
        "rate_voided_as_failures": successes / (n + voided) if n + voided else None,
    }


def rate_table(episodes: Sequence[Trajectory]) -> dict[str, Any]:
    """The four rates of a set of episodes, voided ones apart."""
    counted = [flags_of(episode) for episode in episodes if episode.outcome not in VOIDED]
    voided = len(episodes) - len(counted)
    return {name: rate([flags[name] for flags in counted], voided) for name in RATES}


def behaviour_table(episodes: Sequence[Trajectory], blocked: set[str]) -> dict[str, Any]:
    """The rates of BEHAVIOUR over the episodes that were not voided; `blocked` holds ids of scenarios."""
    counted = [
        behaviour_of(episode, episode.scenario_id in blocked) for episode in episodes if episode.outcome not in VOIDED
    ]
    found = {name: [value for flags in counted if (value := flags[name]) is not None] for name in BEHAVIOUR}
    return {name: rate(values, voided=0) for name, values in found.items()}


def summarise(
    episodes: dict[Subject, dict[str, Trajectory]], chosen: Sequence[Scenario], *, seed: int
) -> dict[str, Any]:
    """Per subject the rates, per axis value too, and what went wrong; the last subject's differences from the others.

    `episodes` holds each subject's by scenario id.
    """
    subjects: dict[str, Any] = {}
    blocked = {scenario.id for scenario in chosen if scenario.terminal == "panic"}
    for subject, by_id in episodes.items():
        rows = [by_id[scenario.id] for scenario in chosen]
        axes = rows[0].axes if rows else {}
        subjects[subject] = {
            "rates": rate_table(rows),
            "behaviour": behaviour_table(rows, blocked),
            "per_axis": {
                axis: {
                    value: rate_table([row for row in rows if row.axes[axis] == value])
                    for value in sorted({row.axes[axis] for row in rows})
                }
                for axis in axes
            },
            "outcomes": dict(Counter(row.outcome for row in rows)),
            "voided": sum(row.outcome in VOIDED for row in rows),
            "checker_failed": sum(row.outcome == "checker_failed" for row in rows),
            "reasons": dict(Counter(reason for row in rows for reason in row.reasons)),
        }
    *others, last = episodes
    differences = {f"{last} - {other}": paired(episodes[other], episodes[last], seed) for other in others}
    return {"n": len(chosen), "subjects": subjects, "paired": differences}


def paired(before: dict[str, Trajectory], after: dict[str, Trajectory], seed: int) -> dict[str, Any]:
    """After minus before on the same scenarios, with a 95 % percentile bootstrap over scenarios."""
    ids = sorted(key for key in before if before[key].outcome not in VOIDED and after[key].outcome not in VOIDED)
    result: dict[str, Any] = {"n": len(ids)}
    rng = random.Random(f"eval/bootstrap/{seed}")
    for name in RATES:
        differences = [flags_of(after[key])[name] - flags_of(before[key])[name] for key in ids]
        if not differences:
            result[name] = None
            continue
        means = sorted(sum(rng.choices(differences, k=len(ids))) / len(ids) for _ in range(DRAWS))
        result[name] = {
            "difference": sum(differences) / len(ids),
            "interval": [means[round(0.025 * DRAWS) - 1], means[round(0.975 * DRAWS) - 1]],
            "only_after": differences.count(1),
            "only_before": differences.count(-1),
        }
    return result


def brief(result: dict[str, Any], subject: str) -> dict[str, Any]:
    """One subject for the summary line: rates by name, n, voided and checker_failed counts."""
    entry = result["subjects"][subject]
    return {
        **{name: entry["rates"][name]["rate"] for name in RATES},
        **{name: entry["behaviour"][name]["rate"] for name in BEHAVIOUR},
        "n": entry["rates"]["clean"]["n"],
        "voided": entry["voided"],
        "checker_failed": entry["checker_failed"],
    }
