"""Play scenarios with a cheap operator that escalates to a frontier one, and compare what solved tasks cost.

    python cascade.py play --scenarios split/holdout --adapter ckpt-run1 --prices prices.json --out cascade/run1
    python cascade.py compare --before cascade/base --after cascade/run1

Reads   play: <scenarios>/*.json (schema.Scenario), --prices, the base, the adapter directory; compare: outcomes.json of
        two runs, or JSON arrays or JSON Lines of instance_id, cheapResolved, escalated, resolved, costUsd
Writes  play: <out>/{cheap,frontier}/*.json (schema.Trajectory), <out>/outcomes.json (schema.CascadeReport),
        <out>/manifest.json; compare: nothing
Needs   play: a Docker engine with the sandbox image; torch for --cheap local; SEKFT_OP_MODEL for --cheap endpoint,
        SEKFT_FRONTIER_MODEL, _URL and _KEY for --frontier endpoint (the last two fall back to SEKFT_OP_*, SEKFT_*)

Each scenario goes to the cheap operator first. Where it gives one of the signals --escalate-on, a fresh episode goes to
the frontier operator. The checker decides nothing but what was resolved. Tokens are those of the real calls. --prices
has USD per million tokens, or per hour, for both: {"cheap": {"per_hour": 0.5}, "frontier": {"input": 3, "cached_input":
0.3, "output": 15}}. Voided attempts are not counted and make the exit code 1; a rerun tries them again.
A base or an adapter that was trained on one of the scenarios is refused, and an adapter that was selected on one.
A win needs, by the 95 % intervals, a lower cost per resolved task and a resolve rate that does not fall. Below 20 tasks
the verdict is undecided.
"""

import argparse
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from pipeline import stage
from authoring.scaffold import SCAFFOLD
from model.loading import DTYPES, adapter_argument, adapter_hash, check_machine, fetch, model_hash
from model.render import Wire
from operators.cascade import SIGNALS, Played, by_checker
from operators.chat import OLLAMA_URL
from operators.endpoint import EndpointOperator
from operators.episode import Episode, EpisodeLimits
from operators.evaluation import choose
from operators.local import local_operators
from operators.protocol import Operator
from operators.reference import ReferenceOperator
from operators.rollouts import RolloutPlan, read_finished, refuse_other_image, run_episodes
from pipeline.costs import MetricChange, Prices, compare_outcomes, differing_conditions, read_outcomes, read_prices
from pipeline.files import read_scenarios, write_json
from pipeline.hidden import as_text
from pipeline.holdout import refuse_trained_on
from sandbox.containers import add_image_flag, reap, require_image
from schema import BadInputError, CascadeReport, CascadeSummary, Scenario, Trajectory

Side = Literal["cheap", "frontier"]
CONDITIONS = ("max_steps", "max_new_tokens", "timeout_seconds", "temperature")
SHOWN = ("escalation_rate", "cheap_resolve_rate", "resolve_rate")


@dataclass(frozen=True)
class CascadeSettings:
    """The flags."""

    action: Literal["play", "compare"]
    before: Path | None
    after: Path | None
    scenarios: Path | None
    prices: Path | None
    out: Path | None
    cheap: str
    frontier: str
    escalate_on: list[str]
    oracle: bool
    base: str
    adapter: Path | None
    render: Wire | None
    n: int | None
    max_steps: int
    max_new_tokens: int
    timeout_seconds: float
    image: str
    temperature: float | None
    workers: int
    seed: int
    dtype: str
    load_4bit: bool
    partial: bool
    redo: bool


def main(settings: CascadeSettings) -> int:
    """Play or compare."""
    every = {one.name for one in fields(settings)}
    read = {"action", "before", "after", "seed"} if settings.action == "compare" else every - {"before", "after"}
    stage.refuse_unread(settings, parser(), read, settings.action)
    if settings.cheap != "local":
        of_model = {"base", "adapter", "render", "dtype", "load_4bit"}
        stage.refuse_unread(settings, parser(), every - of_model, f"--cheap {settings.cheap}")
    return compare_runs(settings) if settings.action == "compare" else play_cascade(settings)


def play_cascade(settings: CascadeSettings) -> int:
    """Play what is not there yet with the cheap operator, then what it escalates, and count."""
    scenarios, out, prices = check_cascade_settings(settings)
    records = choose(scenarios, settings.n, settings.seed)
    refuse_other_image(records, settings.image)
    image = require_image(settings.image)
    reap()
    assert settings.scenarios is not None
    manifest = stage.begin(
        out, stage="cascade", flags=flags_of_cascade(settings), inputs=[settings.scenarios], image_digest=image,
        redo=settings.redo,
    )  # fmt: skip
    cheap = episodes_of("cheap", records, settings, out)
    played = Played(cheap, {}, settings.escalate_on, prices)
    wanted = [one for one in records if one.id in cheap and played.by_signal(cheap[one.id])]
    if settings.oracle:
        wanted += [one for one in records if one.id in cheap and one not in wanted and by_checker(cheap[one.id])]
    played = Played(cheap, episodes_of("frontier", wanted, settings, out), settings.escalate_on, prices)
    conditions = {name: getattr(settings, name) for name in CONDITIONS}
    report = played.report(str(settings.scenarios), conditions, oracle=settings.oracle)
    write_json(out / "outcomes.json", report.model_dump(mode="json"))
    missing = len(records) - len(report.outcomes)
    if len(cheap) == len(records) and len(played.frontier) == len(wanted):
        counts = {"scenarios": len(scenarios), "n": len(report.outcomes), "voided": len(report.voided)}
        stage.finish(out, manifest, ids=[one.id for one in report.outcomes], counts=counts)
    print_report(report)
    stage.print_summary({"out": str(out), "scenarios": len(scenarios), "not_chosen": len(scenarios) - len(records),
                         "without_outcome": missing, **brief_of(report.summary)})  # fmt: skip
    return stage.WORLD_FAILED if missing else stage.DONE


def check_cascade_settings(settings: CascadeSettings) -> tuple[list[Scenario], Path, Prices]:
    """The scenarios, --out and the prices. Raises BadInputError for flags that are missing or cannot work."""
    for name in ("scenarios", "out", "prices"):
        if getattr(settings, name) is None:
            raise BadInputError(f"--{name}: missing; play needs it")
    assert settings.scenarios is not None
    assert settings.out is not None
    assert settings.prices is not None
    stage.require_seconds(settings.timeout_seconds)
    stage.require_temperature(settings.temperature)
    stage.require_at_least_one(
        max_steps=settings.max_steps, max_new_tokens=settings.max_new_tokens, workers=settings.workers
    )
    scenarios = read_scenarios(settings.scenarios, partial=settings.partial)
    prices = read_prices(settings.prices)
    for side in ("cheap", "frontier"):
        if getattr(settings, side) == "endpoint":
            endpoint_on(side, settings)
    if settings.cheap != "local":
        return scenarios, settings.out, prices
    if settings.adapter is not None and settings.render is not None:
        raise BadInputError("--render: the adapter says which render it was trained with; drop the flag")
    check_machine(settings.base, settings.dtype)
    fetch(settings.base, settings.adapter)
    adapters = [settings.adapter] if settings.adapter is not None else []
    refuse_trained_on(settings.base, adapters, settings.scenarios, scenarios, remedy="play held-out scenarios")
    return scenarios, settings.out, prices


def flags_of_cascade(settings: CascadeSettings) -> dict[str, Any]:
    """The flags that decide the episodes. Prices and signals only decide what is made of them."""
    names = ("cheap", "frontier", "n", *CONDITIONS, "seed")
    local = settings.cheap == "local"
    endpoints = {
        f"{side}_model": endpoint_on(side, settings).model
        for side in ("cheap", "frontier")
        if getattr(settings, side) == "endpoint"
    }
    return {
        **{name: getattr(settings, name) for name in names},
        **endpoints,
        "base": (model_hash(settings.base) or settings.base) if local else None,
        "adapter": adapter_hash(settings.adapter) if settings.adapter else None,
        "render": settings.render if local else None,
        "dtype": settings.dtype if local else None,
        "load_4bit": settings.load_4bit if local else None,
    }


def episodes_of(side: Side, records: Sequence[Scenario], settings: CascadeSettings, out: Path) -> dict[str, Trajectory]:
    """The episodes of one side, by scenario id: those of an earlier run, and the others played now."""
    found = {one.id: done for one in records if (done := read_finished(out / side, Episode(one)))}
    todo = [Episode(one) for one in records if one.id not in found]
    if todo:
        cancelled = threading.Event()
        limits = EpisodeLimits(settings.max_steps, settings.timeout_seconds)
        make = maker_of(side, settings, cancelled)
        plan = RolloutPlan(make, settings.seed, limits, settings.workers, cancelled, settings.image)
        found |= {one.scenario_id: one for one in run_episodes(plan, todo, out / side, label=side).values()}
    return found


def maker_of(side: Side, settings: CascadeSettings, cancelled: threading.Event) -> Callable[[], Operator]:
    """A function that makes the operator of one episode."""
    kind = getattr(settings, side)
    if kind == "reference":
        return ReferenceOperator
    if kind == "endpoint":
        return lambda: endpoint_on(side, settings)
    return local_operators(
        settings.base, settings.adapter, render=settings.render, dtype=settings.dtype, load_4bit=settings.load_4bit,
        temperature=settings.temperature or 0.0, max_new_tokens=settings.max_new_tokens, cancelled=cancelled,
    )  # fmt: skip


def endpoint_on(side: str, settings: CascadeSettings) -> EndpointOperator:
    """The endpoint of a side. Raises BadInputError where the environment names no model for it."""
    limits: dict[str, Any] = {
        "temperature": settings.temperature, "max_new_tokens": settings.max_new_tokens, "usage_required": True
    }  # fmt: skip
    if side == "cheap":
        return EndpointOperator.from_environment(scaffold=SCAFFOLD, instead="--cheap reference", **limits)
    model = stage.env("SEKFT_FRONTIER_MODEL")
    if model is None:
        raise BadInputError("SEKFT_FRONTIER_MODEL is not set; name the frontier's model, or pass --frontier reference")
    url = stage.env("SEKFT_FRONTIER_URL", "SEKFT_OP_URL", "SEKFT_URL") or OLLAMA_URL
    key = stage.env("SEKFT_FRONTIER_KEY", "SEKFT_OP_KEY", "SEKFT_KEY") or "none"
    return EndpointOperator(model=model, url=url, key=key, scaffold=SCAFFOLD, **limits)


def brief_of(summary: CascadeSummary) -> dict[str, Any]:
    """A summary for the summary line."""
    rates = {name: getattr(summary, name).rate for name in SHOWN}
    return {"n": summary.n, **rates, "cost_usd": summary.total_cost_usd, "per_resolved": summary.cost_per_resolved_usd}


def print_report(report: CascadeReport) -> None:
    """Print a line for the cascade and one for the oracle."""
    for name, summary in (("cascade", report.summary), ("oracle", report.oracle)):
        if summary is not None:
            print(
                f"{name}: " + ", ".join(f"{key} {value}" for key, value in brief_of(summary).items()), file=sys.stderr
            )


def compare_runs(settings: CascadeSettings) -> int:
    """Compare two runs on the same tasks. Raises BadInputError for different sets of tasks."""
    if settings.before is None or settings.after is None:
        raise BadInputError("--before, --after: missing; compare needs both")
    before, after = read_outcomes(settings.before), read_outcomes(settings.after)
    known = {one.id for one in before.outcomes}
    if apart := known ^ {one.id for one in after.outcomes}:
        first = min(apart)
        where = settings.before if first in known else settings.after
        raise BadInputError(
            f"{where}: id: {first!r} and {len(apart) - 1} more are in one run alone; compare equal sets (an attempt "
            "that was void has no outcome: run that play again)"
        )
    for note in differing_conditions(before, after):
        print(as_text(note), file=sys.stderr)
    found = compare_outcomes(before.outcomes, after.outcomes, seed=settings.seed)
    for name, change in found.metrics.items():
        print(f"{name:22s} {change_text(change)}", file=sys.stderr)
    print(f"{found.verdict}: {found.why} (n = {found.n})", file=sys.stderr)
    stage.print_summary(asdict(found))
    return stage.DONE


def change_text(change: MetricChange) -> str:
    """`0.5000 -> 0.2500, -0.2500 [-0.4000, -0.1000]`, with `undefined` where there is no value."""
    before, after, difference = (
        "undefined" if one is None else f"{one:.4f}" for one in (change.before, change.after, change.difference)
    )
    interval = "no interval" if change.interval is None else "[{:+.4f}, {:+.4f}]".format(*change.interval)
    return f"{before} -> {after}, {difference} {interval}"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("action", choices=("play", "compare"), help="play scenarios, or compare two runs")
    add("--before", type=Path, default=None, help="compare: --out of a play, or outcomes as a JSON array or JSON Lines")
    add("--after", type=Path, default=None, help="compare: the same, of the run that should be cheaper")
    add("--scenarios", type=Path, default=None, help="play: directory of scenarios")
    add("--prices", type=Path, default=None, help="play: JSON file with the prices of both operators")
    add("--out", type=Path, default=None, help="play: directory for episodes and outcomes")
    add("--cheap", choices=("local", "endpoint", "reference"), default="local", help="who acts first (default local)")
    add("--frontier", choices=("endpoint", "reference"), default="endpoint", help="who acts then (default endpoint)")
    add("--escalate-on", nargs="+", choices=SIGNALS, default=list(SIGNALS), help="signals (default all)")
    add(
        "--oracle", action=argparse.BooleanOptionalAction, default=True,
        help="also play the frontier where the checker alone refuses, for the bound (default: yes)",
    )  # fmt: skip
    stage.add_base_flag(parser, "cheap local: base model")
    add(
        "--adapter",
        type=adapter_argument,
        default=None,
        help="cheap local: adapter directory or selected.json (default none)",
    )
    stage.add_render_flag(parser, "cheap local, no adapter: ")
    add("--n", type=int, default=None, help="number of scenarios, chosen by --seed (default all)")
    add("--max-steps", type=int, default=30, help="operator turns per episode (default 30)")
    add("--max-new-tokens", type=int, default=256, help="tokens per command (default 256)")
    add("--timeout-seconds", type=float, default=30.0, help="seconds per command and for the checker (default 30)")
    add("--temperature", type=float, default=None, help="sampling (default: endpoint's own; local 0, greedy)")
    add("--workers", type=int, default=8, help="episodes at once (default 8)")
    add("--seed", type=int, default=0, help="chooses scenarios, seeds sampling and bootstrap (default 0)")
    add("--dtype", choices=DTYPES, default="auto", help="cheap local: dtype of the weights (default auto)")
    add("--load-4bit", action="store_true", help="cheap local: load the base in 4-bit NF4")
    add_image_flag(parser)
    add("--partial", action="store_true", help="take an unfinished scenario directory")
    add("--redo", action="store_true", help="start over instead of resuming")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
