"""Decide where a cheap operator's episode goes on to the frontier operator, and what both together came to.

    signal_of(trajectory)       # "panic", or None: the cheap operator is content

Escalation uses only what the operator itself knows. The checker's verdict is not among that; only the oracle, a bound
that is reported beside the cascade, uses it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.costs import Prices, summary_of, total_usage, usd_of
from pipeline.verdicts import terminal_of
from schema import VOIDED, BadInputError, CascadeOutcome, CascadeReport, Trajectory, Usage

SIGNALS = ("panic", "exit_nonzero", "max_steps", "context_full", "locked_out")


def signal_of(trajectory: Trajectory) -> str | None:
    """What the operator knows that speaks against its own work, or None.

    `exit_nonzero` is an `exit N` with N above 0; the other signals are outcomes, of which the last three have no
    terminal.
    """
    if trajectory.outcome in SIGNALS:
        return trajectory.outcome
    ending = terminal_of(trajectory.terminal) if trajectory.terminal else None
    if trajectory.outcome == "checker_failed" and (ending is None or ending.kind == "panic"):
        return "panic" if ending else "max_steps"  # the operator's end stands, whatever became of the checker
    return "exit_nonzero" if ending is not None and ending.kind == "exit" and ending.code != 0 else None


@dataclass(frozen=True)
class Played:
    """The episodes of a cascade, by scenario id."""

    cheap: Mapping[str, Trajectory]
    frontier: Mapping[str, Trajectory]
    escalate_on: Sequence[str]
    prices: Prices

    def by_signal(self, trajectory: Trajectory) -> str | None:
        """The signal on which the cascade escalates, or None."""
        signal = signal_of(trajectory)
        return signal if signal in self.escalate_on else None

    def outcomes(self, escalates: Callable[[Trajectory], str | None]) -> tuple[list[CascadeOutcome], list[str]]:
        """The outcome of each scenario, and the scenarios without one because an attempt that it needs is void."""
        found, voided = [], []
        for id_, cheap in sorted(self.cheap.items()):
            signal = escalates(cheap) if cheap.outcome not in VOIDED else None
            frontier = self.frontier.get(id_) if signal else None
            if cheap.outcome in VOIDED or (signal and (frontier is None or frontier.outcome in VOIDED)):
                voided.append(id_)
                continue
            cost = usd_of(usage_of(cheap), self.prices.cheap)
            cost += usd_of(usage_of(frontier), self.prices.frontier) if frontier else 0.0
            last = frontier or cheap
            told: dict[str, Any] = {
                "id": id_,
                "cheap_resolved": cheap.kept,
                "escalated": signal is not None,
                "resolved": last.kept,
            }
            found.append(CascadeOutcome(**told, cost_usd=cost, signal=signal, content_hash=cheap.scenario_hash))
        return found, voided

    def report(self, scenarios: str, conditions: dict[str, int | float | None], *, oracle: bool) -> CascadeReport:
        """The outcomes, the rates and the cost; beside them those of the oracle, where its episodes were played."""
        outcomes, voided = self.outcomes(self.by_signal)
        bound, missing = self.outcomes(by_checker)
        asked = [self.frontier[one.id] for one in outcomes if one.escalated]
        return CascadeReport(
            cheap=next(iter(self.cheap.values())).operator,
            frontier=next(iter(self.frontier.values())).operator if self.frontier else None,
            escalate_on=list(self.escalate_on),
            prices=self.prices.model_dump(exclude_none=True),
            conditions=conditions,
            scenarios=scenarios,
            voided=voided,
            summary=summary_of(outcomes, len(voided)),
            oracle=summary_of(bound, len(missing)) if oracle else None,
            usage={
                "cheap": total_usage([usage_of(self.cheap[one.id]) for one in outcomes]),
                "frontier": total_usage([usage_of(one) for one in asked]),
            },
            outcomes=outcomes,
        )


def by_checker(trajectory: Trajectory) -> str | None:
    """What an oracle escalates: what the checker refuses. A void attempt says nothing."""
    return None if trajectory.kept or trajectory.outcome in VOIDED else "not resolved"


def usage_of(trajectory: Trajectory) -> Usage:
    """What an episode took. Raises BadInputError where its operator did not tell."""
    if trajectory.usage is None:
        who = trajectory.operator.model or trajectory.operator.kind
        raise BadInputError(f"{trajectory.id}: usage: {who} does not tell its tokens; name an endpoint that does")
    return trajectory.usage
