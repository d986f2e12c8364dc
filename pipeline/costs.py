"""Count what calls cost, and compare two cascades: paired by task, with bootstrap intervals and a verdict.

    prices = read_prices(Path("prices.json"))
    usd_of(usage, prices.cheap)
    compare_outcomes(before, after, seed=0).verdict

Cost per resolved task is undefined where nothing was resolved, and never 0.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from pipeline.files import checked, read_json
from pipeline.rates import RESAMPLES, percentile_interval, rate_of
from schema import BadInputError, CascadeOutcome, CascadeReport, CascadeSummary, Usage

MILLION = 1_000_000
LEAST_TASKS = 20  # for a verdict: of few tasks that agree, each resample is the same, and the interval is a point
CostVerdict = Literal["win", "no win", "undecided"]
METRICS = ("escalation_rate", "cheap_resolve_rate", "resolve_rate", "cost_per_resolved_usd")


class Price(BaseModel):
    """What an operator costs: USD per million tokens, or per hour of a machine that runs a local model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float | None = Field(default=None, ge=0, allow_inf_nan=False, strict=True)
    cached_input: float | None = Field(default=None, ge=0, allow_inf_nan=False, strict=True)
    output: float | None = Field(default=None, ge=0, allow_inf_nan=False, strict=True)
    per_hour: float | None = Field(default=None, ge=0, allow_inf_nan=False, strict=True)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        by_token = self.input is not None and self.output is not None
        tokens = (self.input, self.cached_input, self.output)
        if by_token == (self.per_hour is not None) or (not by_token and any(one is not None for one in tokens)):
            raise ValueError("give input and output (USD per million tokens; cached_input too), or per_hour")
        return self


class Prices(BaseModel):
    """The prices of both operators."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cheap: Price
    frontier: Price


def read_prices(path: Path) -> Prices:
    """The prices in a file. Raises BadInputError."""
    return checked(path, read_json(path), Prices, "correct the prices")


def usd_of(usage: Usage, price: Price) -> float:
    """What calls cost. Cached input costs as much as other input where no price of it is given."""
    if price.per_hour is not None:
        return usage.seconds / 3600 * price.per_hour
    assert price.input is not None
    assert price.output is not None
    cached = price.input if price.cached_input is None else price.cached_input
    tokens = usage.input_tokens * price.input + usage.cached_input_tokens * cached + usage.output_tokens * price.output
    return tokens / MILLION


def total_usage(usages: Sequence[Usage]) -> Usage:
    """The sum of usages; estimated where one of them is."""
    names = ("calls", "input_tokens", "cached_input_tokens", "output_tokens", "seconds")
    sums: dict[str, Any] = {name: sum(getattr(one, name) for one in usages) for name in names}
    return Usage(**sums, estimated=any(one.estimated for one in usages))


def summary_of(outcomes: Sequence[CascadeOutcome], voided: int = 0) -> CascadeSummary:
    """The rates and the cost of outcomes."""
    return CascadeSummary(
        n=len(outcomes),
        cheap_resolve_rate=rate_of([one.cheap_resolved for one in outcomes], voided),
        escalation_rate=rate_of([one.escalated for one in outcomes], voided),
        resolve_rate=rate_of([one.resolved for one in outcomes], voided),
        total_cost_usd=sum(one.cost_usd for one in outcomes),
        cost_per_resolved_usd=cost_per_resolved(outcomes),
    )


def cost_per_resolved(outcomes: Sequence[CascadeOutcome]) -> float | None:
    """USD per resolved task; None where nothing was resolved."""
    resolved = sum(one.resolved for one in outcomes)
    return sum(one.cost_usd for one in outcomes) / resolved if resolved else None


@dataclass(frozen=True)
class RunOutcomes:
    """What --before or --after names; `report` is None for a foreign file."""

    path: Path
    outcomes: list[CascadeOutcome]
    report: CascadeReport | None


def read_outcomes(named: Path) -> RunOutcomes:
    """The outcomes in a directory of `cascade.py play`, in its outcomes.json, or in a foreign JSON array or JSON Lines.

    Raises BadInputError where an outcome lacks a field (its cost, say) or contradicts itself, or an id comes twice.
    """
    path = named / "outcomes.json" if named.is_dir() else named
    value, report = read_array_or_lines(path), None
    if isinstance(value, dict):
        report = checked(path, value, CascadeReport, "name what `cascade.py play` wrote")
        outcomes = report.outcomes
    else:
        try:
            outcomes = TypeAdapter(list[CascadeOutcome]).validate_python(value)
        except ValidationError as error:
            first = error.errors()[0]
            at, *names = [*first["loc"]] or ["content"]
            where = f"row {at + 1}: {'.'.join(map(str, names)) or 'outcome'}" if isinstance(at, int) else at
            raise BadInputError(f"{path}: {where}: {first['msg']}; correct the outcome") from error
    for number, outcome in enumerate(outcomes, 1):
        if not outcome.escalated and outcome.resolved != outcome.cheap_resolved:
            told = f"is {outcome.resolved}, but nothing was escalated and cheap_resolved is {outcome.cheap_resolved}"
            raise BadInputError(f"{path}: row {number}: resolved: {told}; correct the outcome")
    ids = [one.id for one in outcomes]
    if repeated := next((one for one in ids if ids.count(one) > 1), None):
        raise BadInputError(f"{path}: id: {repeated!r} comes twice; delete one of the two")
    if not ids:
        raise BadInputError(f"{path}: holds no outcomes; name a run that has some")
    return RunOutcomes(named, outcomes, report)


def read_array_or_lines(path: Path) -> Any:
    """The JSON value in a file; of JSON Lines of outcomes, the list of them."""
    try:
        value = read_json(path)
    except BadInputError:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            values = [json.loads(line) for line in lines if line.strip()]
        except (OSError, ValueError, RecursionError):
            values = []
        if len(values) > 1:
            return values
        raise
    one_line = isinstance(value, dict) and "outcomes" not in value and value.keys() & {"id", "instance_id"}
    return [value] if one_line else value


def differing_conditions(before: RunOutcomes, after: RunOutcomes) -> list[str]:
    """What a reader must know of two runs of `cascade.py play`; nothing of foreign files.

    Raises BadInputError where their frontier or its price differs, or a scenario: then the costs are no comparison.
    """
    one, other = before.report, after.report
    if one is None or other is None:
        return []
    frontiers = {(side.frontier.kind, side.frontier.model) for side in (one, other) if side.frontier}
    if len(frontiers) > 1 or one.prices.get("frontier") != other.prices.get("frontier"):
        told = f"frontier: another one, or at another price, than in {before.path}; play both alike"
        raise BadInputError(f"{after.path}: {told}")
    hashes = {outcome.id: outcome.content_hash for outcome in one.outcomes}
    for outcome in other.outcomes:
        if None not in (known := {hashes.get(outcome.id), outcome.content_hash}) and len(known) > 1:
            told = f"{outcome.id!r} is another scenario than in {before.path}; play both on the same"
            raise BadInputError(f"{after.path}: content_hash: {told}")
    notes = [
        f"{path}: the tokens of {name} are estimated (characters / 4)"
        for path, report in ((before.path, one), (after.path, other))
        for name, usage in report.usage.items()
        if usage.estimated
    ]
    if one.escalate_on != other.escalate_on:
        notes.append(f"escalated on {', '.join(one.escalate_on)} before, on {', '.join(other.escalate_on)} after")
    notes += [
        f"{name} was {one.conditions[name]} before, {other.conditions[name]} after"
        for name in sorted(one.conditions.keys() & other.conditions.keys())
        if one.conditions[name] != other.conditions[name]
    ]
    return notes


@dataclass(frozen=True)
class MetricChange:
    """A metric before and after, and its paired difference with a 95 % interval; None where it is undefined."""

    before: float | None
    after: float | None
    difference: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class CascadeComparison:
    """Two cascades on the same tasks."""

    n: int
    metrics: dict[str, MetricChange]
    verdict: CostVerdict
    why: str


def compare_outcomes(
    before: Sequence[CascadeOutcome], after: Sequence[CascadeOutcome], *, seed: int
) -> CascadeComparison:
    """After against before, on the same tasks in id order, with a percentile bootstrap over tasks.

    The interval of the cost per resolved task is undefined where one resample resolves nothing.
    """
    one, other = (sorted(side, key=lambda outcome: outcome.id) for side in (before, after))
    assert [outcome.id for outcome in one] == [outcome.id for outcome in other]
    rng = random.Random(f"cascade/bootstrap/{seed}")
    draws = [rng.choices(range(len(one)), k=len(one)) for _ in range(RESAMPLES)]
    metrics = {}
    for name in METRICS:
        metric = METRIC_OF[name]
        start, end = metric(one), metric(other)
        found = [(metric([one[at] for at in draw]), metric([other[at] for at in draw])) for draw in draws]
        known = sorted(then - now for now, then in found if now is not None and then is not None)
        metrics[name] = MetricChange(
            start,
            end,
            None if start is None or end is None else end - start,
            percentile_interval(known) if len(known) == RESAMPLES else None,
        )
    verdict, why = verdict_on(metrics, len(one))
    return CascadeComparison(len(one), metrics, verdict, why)


def _share(name: str) -> Callable[[Sequence[CascadeOutcome]], float | None]:
    return lambda outcomes: sum(getattr(one, name) for one in outcomes) / len(outcomes)


METRIC_OF: dict[str, Callable[[Sequence[CascadeOutcome]], float | None]] = {
    "escalation_rate": _share("escalated"),
    "cheap_resolve_rate": _share("cheap_resolved"),
    "resolve_rate": _share("resolved"),
    "cost_per_resolved_usd": cost_per_resolved,
}


def verdict_on(metrics: dict[str, MetricChange], n: int) -> tuple[CostVerdict, str]:
    """A win where, by the intervals, cost per resolved falls and resolve rate does not; and why it is one or not.

    Undecided below LEAST_TASKS, whatever the intervals say.
    """
    cost, resolve = metrics["cost_per_resolved_usd"], metrics["resolve_rate"]
    assert resolve.interval is not None
    if n < LEAST_TASKS:
        return "undecided", f"{n} tasks are too few for a verdict, which takes {LEAST_TASKS}"
    if cost.after is None:
        return "no win", "nothing is resolved, so a resolved task has no cost"
    if resolve.interval[1] < 0:
        return "no win", "the resolve rate falls"
    if cost.interval is None:
        return "undecided", f"cost per resolved has no interval at n = {n}: too few tasks are resolved"
    if cost.interval[0] >= 0:
        return "no win", "the cost per resolved task does not fall"
    if cost.interval[1] < 0 <= resolve.interval[0]:
        return "win", "the cost per resolved task falls, and the resolve rate does not; the frontier is not lifted"
    open_ = "cost per resolved" if cost.interval[1] >= 0 else "resolve rate"
    return "undecided", f"undecided at this n ({n}): the interval of the {open_} allows both"
