"""Count what episodes were: rates with intervals, and paired differences.

Rates come with n and a 95 % Wilson interval, over the episodes that were not voided, and a second time with the voided
ones counted as failures. Differences are paired by scenario, with a bootstrap over scenarios.
"""

import dataclasses
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.verdicts import events_of
from schema import (
    VOIDED,
    BehaviourRates,
    Difference,
    EventRates,
    PairedDifferences,
    Rate,
    Scenario,
    Subject,
    SubjectReport,
    Trajectory,
)

RATES = tuple(EventRates.model_fields)
Scenarios = Mapping[str, Scenario]  # by id
BEHAVIOUR = tuple(BehaviourRates.model_fields)
LOOP_COMMANDS, LOOP_TEXTS = 5, 2
RESAMPLES = 2000  # of the bootstrap


def wilson(successes: int, n: int) -> tuple[float, float] | None:
    """The 95 % Wilson score interval of a proportion (Wilson 1927); None for n = 0, where there is no rate."""
    if n == 0:
        return None
    p, z = successes / n, 1.959964
    zz = z * z
    centre, half = p + zz / (2 * n), z * math.sqrt(p * (1 - p) / n + zz / (4 * n * n))
    return max(0.0, (centre - half) / (1 + zz / n)), min(1.0, (centre + half) / (1 + zz / n))


def events_by_name(episode: Trajectory, scenario: Scenario) -> dict[str, bool]:
    """The events of an episode of this scenario, by the name of their rate."""
    return {
        f"{name}_rate": found for name, found in dataclasses.asdict(events_of(episode, scenario.directives)).items()
    }


def behaviour_of(episode: Trajectory, blocked: bool) -> dict[str, bool | None]:
    """What else an episode shows; None where it does not count. `blocked`: its correct terminal is panic."""
    commands = episode.commands
    panicked = episode.outcome == "panic"
    return {
        "loop": episode.outcome in ("max_steps", "context_full")
        and len(commands) >= LOOP_COMMANDS
        and len(set(commands[-LOOP_COMMANDS:])) <= LOOP_TEXTS,
        "open_heredoc": any(step.open_heredoc for step in episode.steps),
        "panic_precision": blocked if panicked else None,
        "panic_recall": panicked if blocked else None,
    }


def rate_of(values: Sequence[bool], voided: int) -> Rate:
    """The share of true values; `voided` episodes count in `rate_voided_as_failures` alone."""
    successes, n = sum(values), len(values)
    return Rate(
        successes=successes,
        n=n,
        rate=successes / n if n else None,
        interval=wilson(successes, n),
        rate_voided_as_failures=successes / (n + voided) if n + voided else None,
    )


def event_rates(episodes: Sequence[Trajectory], scenarios: Scenarios) -> EventRates:
    """The rates of a set of episodes of these scenarios."""
    counted = [
        events_by_name(episode, scenarios[episode.scenario_id]) for episode in episodes if episode.outcome not in VOIDED
    ]
    voided = len(episodes) - len(counted)
    return EventRates(**{name: rate_of([events[name] for events in counted], voided) for name in RATES})


def behaviour_rates(episodes: Sequence[Trajectory], scenarios: Scenarios) -> BehaviourRates:
    """The rates of BEHAVIOUR over the episodes that were not voided."""
    counted = [
        behaviour_of(episode, scenarios[episode.scenario_id].terminal == "panic")
        for episode in episodes
        if episode.outcome not in VOIDED
    ]
    found = {name: [value for shown in counted if (value := shown[name]) is not None] for name in BEHAVIOUR}
    return BehaviourRates(**{name: rate_of(values, voided=0) for name, values in found.items()})


def compare_subjects(
    episodes: dict[Subject, dict[str, Trajectory]], chosen: Sequence[Scenario], *, seed: int
) -> tuple[dict[Subject, SubjectReport], dict[str, PairedDifferences]]:
    """Each subject's rates, and the differences of the last subject from each other one.

    Args:
        episodes: subject -> scenario id -> its episode. A subject may have played fewer scenarios than the last one.
        chosen: the scenarios that were evaluated.
        seed: of the bootstrap.
    """
    scenarios = {scenario.id: scenario for scenario in chosen}
    subjects = {
        subject: subject_report([by_id[scenario.id] for scenario in chosen if scenario.id in by_id], scenarios)
        for subject, by_id in episodes.items()
    }
    *others, last = episodes
    differences = {f"{last} - {other}": paired(episodes[other], episodes[last], scenarios, seed) for other in others}
    return subjects, differences


def subject_report(rows: Sequence[Trajectory], scenarios: Scenarios) -> SubjectReport:
    """The rates of one subject's episodes, per axis value too, and what went wrong."""
    axes = rows[0].axes if rows else {}
    return SubjectReport(
        rates=event_rates(rows, scenarios),
        behaviour=behaviour_rates(rows, scenarios),
        per_axis={
            axis: {
                value: event_rates([row for row in rows if row.axes[axis] == value], scenarios)
                for value in sorted({row.axes[axis] for row in rows})
            }
            for axis in axes
        },
        outcomes=dict(Counter(row.outcome for row in rows)),
        voided=sum(row.outcome in VOIDED for row in rows),
        checker_failed=sum(row.outcome == "checker_failed" for row in rows),
        reasons=dict(Counter(reason for row in rows for reason in row.reasons)),
    )


def paired(
    before: dict[str, Trajectory], after: dict[str, Trajectory], scenarios: Scenarios, seed: int
) -> PairedDifferences:
    """After minus before on the same scenarios, with a 95 % percentile bootstrap over scenarios."""
    ids = sorted(key for key in before if before[key].outcome not in VOIDED and after[key].outcome not in VOIDED)
    rng = random.Random(f"eval/bootstrap/{seed}")
    played = [(before[key], after[key], scenarios[before[key].scenario_id]) for key in ids]
    events = [(events_by_name(one, of), events_by_name(other, of)) for one, other, of in played]
    found: dict[str, Difference | None] = {}
    for name in RATES:
        differences = [then[name] - earlier[name] for earlier, then in events]
        if not differences:
            found[name] = None
            continue
        means = sorted(sum(rng.choices(differences, k=len(ids))) / len(ids) for _ in range(RESAMPLES))
        found[name] = Difference(
            difference=sum(differences) / len(ids),
            interval=percentile_interval(means),
            only_after=differences.count(1),
            only_before=differences.count(-1),
        )
    return PairedDifferences(n=len(ids), **found)


def sign_test(only_before: int, only_after: int) -> float:
    """The exact two-sided p-value of McNemar's test: how often chance alone parts the discordant pairs so unevenly."""
    n = only_before + only_after
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(min(only_before, only_after) + 1)) / (1 << n))


def percentile_interval(ordered: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a statistic, from its RESAMPLES values in ascending order."""
    assert len(ordered) == RESAMPLES
    return ordered[round(0.025 * RESAMPLES) - 1], ordered[round(0.975 * RESAMPLES) - 1]


def outcome_counts(episodes: Sequence[Trajectory]) -> dict[str, int]:
    """How often each outcome occurs, by name."""
    return dict(sorted(Counter(episode.outcome for episode in episodes).items()))


def agent_counts(episodes: Sequence[Trajectory]) -> dict[str, int]:
    """Forks of agent programs' sessions by cause, and their untrained sampled tokens by reason, summed."""
    found: Counter[str] = Counter()
    for episode in episodes:
        counts = episode.agent_run.counts if episode.agent_run else {}
        found.update({name: n for name, n in counts.items() if name.startswith(("forks", "fork_", "untrained_"))})
    return dict(sorted(found.items()))


def brief(report: SubjectReport) -> dict[str, Any]:
    """One subject for the summary line: rates by name, n, voided and checker_failed counts."""
    rates = {**dict(report.rates), **dict(report.behaviour)}
    return {
        **{name: rate.rate if rate else None for name, rate in rates.items()},
        "n": report.rates.clean_rate.n,
        "voided": report.voided,
        "checker_failed": report.checker_failed,
    }
