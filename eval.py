"""Drop the tuned model into held-out scenarios with no scaffold and report how it behaves.

    python eval.py --base base --adapter ckpt-run1 --scenarios holdout-scenarios --n 20 --compare-base

Reads   <scenarios>/*.json (schema.Scenario), the base, the adapter directory
Writes  <out>/adapter/*.json and <out>/base/*.json (schema.Trajectory), <out>/report.json, <out>/manifest.json
Needs   a Docker engine with the sandbox image, torch

operate    at least one command before the terminal and no turn that is prose
terminate  ended with `exit` or `panic`
verified   the checker passed on the final state
clean      correct terminal AND verified AND command-only

Rates come with n and a 95 % Wilson interval, over the episodes that were not voided; a second figure counts the
voided ones as failures. Above 2 % voided the exit code is 1; a rerun retries the voided episodes only. An adapter that
was trained on one of the scenarios (or, where they were split by archetype, on one of their archetypes) is refused.
"""

import argparse
import dataclasses
import math
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial as partial_of
from pathlib import Path
from typing import Any, Literal

import dashdocker
import stage
import verdicts
from models import DTYPES, check_model, load_model, model_hash
from operators import LocalOperator
from render import Renderer, Wire
from rollout import Job, finished, play_all, run_episode
from schema import (
    VOIDED,
    BadInputError,
    Scenario,
    Trajectory,
    read_json,
    read_scenarios,
    write_json,
)

MARKERS: Wire = "markers"
RATES = ("operate", "terminate", "verified", "clean")
MAX_VOIDED_SHARE = 0.02
Subject = Literal["base", "adapter"]


def main(
    *,
    base: str,
    adapter: Path | None,
    scenarios: Path,
    n: int | None,
    seed: int,
    out: Path | None,
    compare_base: bool,
    max_steps: int,
    max_new_tokens: int,
    timeout_seconds: float,
    temperature: float,
    workers: int,
    dtype: str,
    load_4bit: bool,
    render: Wire | None,
    partial: bool,
    redo: bool,
) -> int:
    """Check, load the model once, play every episode, report."""
    check_model(base, adapter)
    if adapter is not None and render is not None:
        raise BadInputError("--render: the adapter directory says which render it was trained with; drop the flag")
    records = read_scenarios(scenarios, partial=partial)
    refuse_contamination(adapter, scenarios, records)
    chosen = draw(records, n, seed)
    image = dashdocker.preflight()
    dashdocker.reap()
    subjects: list[Subject] = ["adapter"] if adapter is not None else ["base"]
    if compare_base and adapter is not None:
        subjects.insert(0, "base")
    out = out or Path("eval") / (adapter.resolve().name if adapter is not None else f"base-{Path(base).name}")
    inputs = [scenarios, *([adapter / "adapter_model.safetensors"] if adapter is not None else [])]
    settings = {
        "base": model_hash(base) or base,
        "seed": seed,
        "max_steps": max_steps,
        "max_new_tokens": max_new_tokens,
        "timeout_seconds": timeout_seconds,
        "temperature": temperature,
        "dtype": dtype,
        "load_4bit": load_4bit,
        "render": render,
        "compare_base": compare_base,
        "n": n,
    }
    manifest = stage.begin(out, stage="eval", flags=settings, inputs=inputs, image_digest=image, redo=redo)
    episodes = {
        subject: {scenario.id: found for scenario in chosen if (found := finished(out / subject, (scenario, 0)))}
        for subject in subjects
    }
    todo = {subject: [(one, 0) for one in chosen if one.id not in episodes[subject]] for subject in subjects}
    if any(todo.values()):
        model, tokenizer = load_model(base, adapter, dtype=dtype, load_4bit=load_4bit)
        wire = Renderer.for_adapter(adapter, tokenizer) if adapter else Renderer.for_base(tokenizer, render or MARKERS)
        for subject in subjects:
            own = adapter if subject == "adapter" else None
            bare: AbstractContextManager[Any] = model.disable_adapter() if adapter and own is None else nullcontext()
            cancelled = threading.Event()
            sampling: dict[str, Any] = {"temperature": temperature, "max_new_tokens": max_new_tokens}
            make = partial_of(
                LocalOperator, model, tokenizer, wire, name=base, adapter=own, cancelled=cancelled, **sampling
            )
            limits = {"seed": seed, "max_steps": max_steps, "timeout_seconds": timeout_seconds}
            with bare:
                played = play_all(
                    partial_of(play, make, limits), todo[subject], out / subject, workers, cancelled,
                    doing=f"eval {subject}",
                )  # fmt: skip
            episodes[subject] |= {episode.scenario_id: episode for episode in played.values()}
    result = summarise(episodes, chosen, base=base, adapter=adapter, scenarios=scenarios, seed=seed)
    write_json(out / "report.json", result)
    ids = [episode.id for subject in subjects for episode in episodes[subject].values()]
    stage.finish(out, manifest, ids=ids, counts={"scenarios": len(chosen), "subjects": len(subjects)})
    print_table(result)
    stage.report({"out": str(out), "n": len(chosen), **{name: brief(result, name) for name in subjects}})
    voided = max(result["subjects"][name]["voided"] for name in subjects) / len(chosen)
    return stage.WORLD_FAILED if voided > MAX_VOIDED_SHARE else stage.DONE


def play(make: Callable[[], LocalOperator], limits: dict[str, Any], job: Job) -> Trajectory:
    """One episode of a fresh local operator."""
    return run_episode(make(), job[0], sample=job[1], **limits)


def refuse_contamination(adapter: Path | None, directory: Path, records: Sequence[Scenario]) -> None:
    """Raise BadInputError when the adapter was trained on one of these scenarios, or of their held-out archetypes."""
    if adapter is None:
        return
    trained = read_json(adapter / "sekft.json").get("trained_on", [])
    ids, hashes = {row["scenario_id"] for row in trained}, {row["content_hash"] for row in trained}
    archetypes = {row["archetype"] for row in trained}
    by_archetype = split_kind(directory) == "archetype"
    for record in records:
        if record.id in ids or record.content_hash in hashes:
            raise BadInputError(
                f"{directory / record.id}.json: {adapter} was trained on this scenario; evaluate held-out ones"
            )
        if by_archetype and record.task in archetypes:
            raise BadInputError(
                f"{directory / record.id}.json: split by archetype, but {adapter} was trained on {record.task!r}; "
                f"evaluate held-out archetypes"
            )


def split_kind(directory: Path) -> str | None:
    """How a scenario directory was split (`archetype` or `scenario`), None where it is not a split."""
    path = directory / "manifest.json"
    return read_json(path).get("flags", {}).get("by") if path.exists() else None


def draw(records: Sequence[Scenario], n: int | None, seed: int) -> list[Scenario]:
    """The first `n` of the records in a seeded order, so that a larger n adds and never replaces; all for None."""
    if n is not None and n < 1:
        raise BadInputError(f"--n is {n}; evaluate at least 1 scenario")
    if n is not None and n > len(records):
        print(f"--n {n}: only {len(records)} scenarios there, taking all", file=sys.stderr)
    order = sorted(records, key=lambda record: record.id)
    random.Random(f"eval/draw/{seed}").shuffle(order)
    return order[:n]


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


def summarise(
    episodes: dict[Subject, dict[str, Trajectory]],
    chosen: Sequence[Scenario],
    *,
    base: str,
    adapter: Path | None,
    scenarios: Path,
    seed: int,
) -> dict[str, Any]:
    """The report: per subject the rates, per axis value too, what went wrong; and the paired differences."""
    subjects: dict[str, Any] = {}
    for subject, by_id in episodes.items():
        rows = [by_id[scenario.id] for scenario in chosen]
        axes = rows[0].axes if rows else {}
        subjects[subject] = {
            "rates": rate_table(rows),
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
    return {
        "stage": "eval",
        "base": base,
        "adapter": str(adapter) if adapter is not None else None,
        "scenarios": str(scenarios),
        "split_by": split_kind(scenarios),
        "seed": seed,
        "n": len(chosen),
        "subjects": subjects,
        "paired": paired(episodes["base"], episodes["adapter"], seed) if len(episodes) == 2 else None,
    }


def paired(before: dict[str, Trajectory], after: dict[str, Trajectory], seed: int) -> dict[str, Any]:
    """Adapter minus base on the same scenarios, with a 95 % percentile bootstrap over scenarios (2,000 draws)."""
    ids = sorted(key for key in before if before[key].outcome not in VOIDED and after[key].outcome not in VOIDED)
    result: dict[str, Any] = {"n": len(ids)}
    rng = random.Random(f"eval/bootstrap/{seed}")
    for name in RATES:
        differences = [flags_of(after[key])[name] - flags_of(before[key])[name] for key in ids]
        if not differences:
            result[name] = None
            continue
        means = sorted(sum(rng.choices(differences, k=len(ids))) / len(ids) for _ in range(2000))
        result[name] = {
            "difference": sum(differences) / len(ids),
            "interval": [means[49], means[1949]],
            "only_adapter": differences.count(1),
            "only_base": differences.count(-1),
        }
    return result


def brief(result: dict[str, Any], subject: str) -> dict[str, Any]:
    """One subject for the summary line: rate and n by name, voided and checker_failed counts."""
    entry = result["subjects"][subject]
    return {
        **{name: entry["rates"][name]["rate"] for name in RATES},
        "n": entry["rates"]["clean"]["n"],
        "voided": entry["voided"],
        "checker_failed": entry["checker_failed"],
    }


def print_table(result: dict[str, Any]) -> None:
    """The rates as a table on stderr."""
    print(f"\n{'':10s}" + "".join(f"{name:>24s}" for name in RATES) + "   voided", file=sys.stderr)
    for subject, entry in result["subjects"].items():
        cells = "".join(f"{format_rate(entry['rates'][name]):>24s}" for name in RATES)
        print(f"{subject:10s}{cells}   {entry['voided']}", file=sys.stderr)
    if result["paired"]:
        cells = "".join(f"{format_difference(result['paired'][name]):>24s}" for name in RATES)
        print(f"{'difference':10s}{cells}", file=sys.stderr)
    print(f"(successes/n, rate, 95 % interval; split by {result['split_by']}, seed {result['seed']})", file=sys.stderr)


def format_rate(entry: dict[str, Any]) -> str:
    """`9/16 56% [33-77]`, or `-` where there is no rate."""
    if entry["rate"] is None:
        return "-"
    low, high = entry["interval"]
    return f"{entry['successes']}/{entry['n']} {entry['rate']:.0%} [{100 * low:.0f}-{100 * high:.0f}]"


def format_difference(entry: dict[str, Any] | None) -> str:
    """`+56 [31,75]` in percentage points, or `-`."""
    if entry is None:
        return "-"
    low, high = entry["interval"]
    return f"{100 * entry['difference']:+.0f} [{100 * low:+.0f},{100 * high:+.0f}]"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--base", required=True, help="base model: a directory, or a hub name where a hub is reachable")
    parser.add_argument("--adapter", type=Path, default=None, help="adapter directory of sft.py; none = base alone")
    parser.add_argument("--scenarios", type=Path, required=True, help="directory of held-out scenarios (split.py)")
    parser.add_argument("--n", type=int, default=None, help="number of scenarios, drawn by --seed (default all)")
    parser.add_argument("--seed", type=int, default=0, help="seed of draw, sampling and bootstrap (default 0)")
    parser.add_argument("--out", type=Path, default=None, help="report directory (default ./eval/<adapter name>)")
    parser.add_argument("--compare-base", action="store_true", help="also play the bare base on the same scenarios")
    parser.add_argument("--max-steps", type=int, default=30, help="commands per episode (default 30)")
    parser.add_argument("--max-new-tokens", type=int, default=256, help="tokens per command (default 256)")
    parser.add_argument("--timeout-seconds", type=float, default=30.0, help="seconds per command (default 30)")
    parser.add_argument("--temperature", type=float, default=0.0, help="sampling temperature (default 0: greedy)")
    parser.add_argument("--workers", type=int, default=2, help="episodes at once (default 2)")
    parser.add_argument("--dtype", choices=DTYPES, default="auto", help="dtype of the weights (default auto)")
    parser.add_argument("--load-4bit", action="store_true", help="load the base in 4-bit NF4")
    parser.add_argument("--render", choices=("markers", "chat"), default=None, help="wire for a base without adapter")
    parser.add_argument("--partial", action="store_true", help="take an unfinished scenario directory")
    parser.add_argument("--redo", action="store_true", help="start over instead of resuming")
    return parser


if __name__ == "__main__":
    stage.run(main, parser())
