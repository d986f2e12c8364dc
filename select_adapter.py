"""Choose the adapter that deserves to be used, if any, on scenarios that are neither trained on nor reported on.

    python select_adapter.py --scenarios pick --holdout split/holdout --candidates ckpt-sft ckpt-dpo --out picked
    python eval.py --adapter picked/selected.json --scenarios split/holdout

Reads   <scenarios>/*.json and <holdout>/*.json (schema.Scenario), the base, the candidates' directories
Writes  <out>/{base,candidate-1,…}/*.json (schema.Trajectory), <out>/selected.json (schema.SelectedAdapter),
        <out>/manifest.json
Needs   a Docker engine with the sandbox image, torch

The base and every candidate play the same scenarios. The base wins unless the lower bound of a candidate's paired
difference in clean rate is above zero, and an exact sign test of the scenarios that only one of the two solved gives
p < 0.05, for which 6 against 0 is the least. Of several such candidates the one with the largest difference wins; p is
not corrected for their number. Every --adapter takes selected.json; where it names none, the run is that of the bare
base. A base or a candidate that was trained on a selection scenario is refused, and so is a selection scenario that
--holdout will report on. An adapter that is named by selected.json is never evaluated on its selection scenarios.
Above 2 % voided episodes nothing is selected and the exit code is 1; a rerun plays only those.
"""

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import stage
from model.loading import DTYPES, adapter_hash, check_machine, fetch, model_hash
from operators.episode import Episode, EpisodeLimits
from operators.evaluation import MAX_VOIDED_SHARE, choose
from operators.local import local_operators
from operators.rollouts import RolloutPlan, read_finished, refuse_other_image, run_episodes
from pipeline.files import read_scenarios, write_json
from pipeline.holdout import refuse_overlap, refuse_trained_on, session_in
from pipeline.rates import event_rates, paired, sign_test
from pipeline.tables import format_difference, format_rate
from sandbox.containers import add_image_flag, reap, require_image
from schema import (
    VOIDED,
    AdapterCandidate,
    Scenario,
    SelectedAdapter,
    Trajectory,
)

SIGNIFICANT = 0.05  # p of the sign test


@dataclass(frozen=True)
class SelectionSettings:
    """The flags."""

    base: str
    candidates: list[Path]
    scenarios: Path
    holdout: Path | None
    out: Path
    n: int | None
    seed: int
    max_steps: int
    max_new_tokens: int
    timeout_seconds: float
    image: str
    workers: int
    dtype: str
    load_4bit: bool
    partial: bool
    redo: bool


def main(settings: SelectionSettings) -> int:
    """Check, play what is not there yet, choose."""
    records = check_selection(settings)
    chosen = choose(records, settings.n, settings.seed)
    refuse_other_image(chosen, settings.image)
    image = require_image(settings.image)
    reap()
    inputs = [settings.scenarios]
    manifest = stage.begin(
        settings.out, stage="select_adapter", flags=flags_of_selection(settings), inputs=inputs, image_digest=image,
        redo=settings.redo,
    )  # fmt: skip
    base = episodes_with(None, "base", settings, chosen)
    played = {
        adapter: episodes_with(adapter, f"candidate-{number}", settings, chosen)
        for number, adapter in enumerate(settings.candidates, 1)
    }
    voided = max(voided_of(episodes, len(chosen)) for episodes in (base, *played.values()))
    about = {"out": str(settings.out), "scenarios": len(records), "n": len(chosen)}
    if voided > MAX_VOIDED_SHARE * len(chosen):
        stage.print_summary({**about, "selected": None, "voided": voided})
        return stage.WORLD_FAILED
    found = selection_of(settings, {one.id: one for one in chosen}, base, played)
    write_json(settings.out / "selected.json", found.model_dump(mode="json"))
    stage.finish(settings.out, manifest, ids=base, counts={"n": len(chosen), "voided": voided})
    print_selection(found)
    stage.print_summary({**about, "selected": found.selected, "why": found.why, "voided": voided})
    return stage.DONE


def check_selection(settings: SelectionSettings) -> list[Scenario]:
    """The selection scenarios. Raises BadInputError where a flag, a candidate or a scenario cannot be used."""
    stage.require_seconds(settings.timeout_seconds)
    stage.require_at_least_one(
        max_steps=settings.max_steps, max_new_tokens=settings.max_new_tokens, workers=settings.workers
    )
    records = read_scenarios(settings.scenarios, partial=settings.partial)
    if settings.holdout is None:
        print("no --holdout: nobody checks that these scenarios are not those that report", file=sys.stderr)
    else:
        reported = read_scenarios(settings.holdout, partial=settings.partial)
        refuse_overlap(
            list(map(session_in, records)), settings.holdout, reported,
            trained=f"{settings.scenarios} selects on", remedy="select on other scenarios than those that report",
        )  # fmt: skip
    check_machine(settings.base, settings.dtype)
    for adapter in settings.candidates:
        fetch(settings.base, adapter)
    remedy = "select on scenarios that neither the base nor a candidate was trained on"
    refuse_trained_on(settings.base, settings.candidates, settings.scenarios, records, remedy=remedy)
    return records


def flags_of_selection(settings: SelectionSettings) -> dict[str, Any]:
    """The flags that decide the episodes."""
    names = ("n", "seed", "max_steps", "max_new_tokens", "timeout_seconds", "dtype", "load_4bit")
    return {
        **{name: getattr(settings, name) for name in names},
        "base": model_hash(settings.base) or settings.base,
        "candidates": [adapter_hash(adapter) for adapter in settings.candidates],
    }


def episodes_with(
    adapter: Path | None, name: str, settings: SelectionSettings, chosen: Sequence[Scenario]
) -> dict[str, Trajectory]:
    """The episodes of one subject, greedy, by scenario id: those of an earlier run, and the others played now."""
    out = settings.out / name
    found = {one.id: done for one in chosen if (done := read_finished(out, Episode(one)))}
    todo = [Episode(one) for one in chosen if one.id not in found]
    if todo:
        cancelled = threading.Event()
        make = local_operators(
            settings.base, adapter, render=None, dtype=settings.dtype, load_4bit=settings.load_4bit,
            max_new_tokens=settings.max_new_tokens, cancelled=cancelled,
        )  # fmt: skip
        limits = EpisodeLimits(settings.max_steps, settings.timeout_seconds)
        plan = RolloutPlan(make, settings.seed, limits, settings.workers, cancelled, settings.image)
        found |= {one.scenario_id: one for one in run_episodes(plan, todo, out, label=name).values()}
    return found


def voided_of(episodes: dict[str, Trajectory], planned: int) -> int:
    """How many planned episodes are void or were not played."""
    return planned - sum(one.outcome not in VOIDED for one in episodes.values())


def selection_of(
    settings: SelectionSettings,
    scenarios: dict[str, Scenario],
    base: dict[str, Trajectory],
    played: dict[Path, dict[str, Trajectory]],
) -> SelectedAdapter:
    """The candidate with the largest difference among those that pass both tests; else none."""
    candidates = [
        judged_candidate(adapter, base, episodes, scenarios, settings.seed) for adapter, episodes in played.items()
    ]
    better = [(one.difference.difference, one) for one in candidates if one.difference and is_better(one)]
    best = max(better, key=lambda found: found[0])[1] if better else None
    why = f"no candidate has both a lower bound above zero and p < {SIGNIFICANT} in the sign test"
    if best is not None:
        why = f"the largest difference of {len(better)} candidates with a lower bound above zero and p < {SIGNIFICANT}"
    return SelectedAdapter(
        selected=os.path.relpath(best.adapter, settings.out) if best else "none",
        adapter_hash=best.adapter_hash if best else None,
        base=settings.base,
        base_hash=model_hash(settings.base),
        why=why,
        scenarios=str(settings.scenarios),
        n=len(scenarios),
        selected_on=list(map(session_in, scenarios.values())),
        base_clean_rate=event_rates(list(base.values()), scenarios).clean_rate,
        candidates=candidates,
    )


def judged_candidate(
    adapter: Path, base: dict[str, Trajectory], played: dict[str, Trajectory], scenarios: dict[str, Scenario], seed: int
) -> AdapterCandidate:
    """What a candidate's episodes say against those of the base."""
    found = paired(base, played, scenarios, seed).clean_rate
    return AdapterCandidate(
        adapter=str(adapter),
        adapter_hash=adapter_hash(adapter),
        clean_rate=event_rates(list(played.values()), scenarios).clean_rate,
        difference=found,
        sign_test_p=sign_test(found.only_before, found.only_after) if found else None,
    )


def is_better(one: AdapterCandidate) -> bool:
    """True where both the bootstrap and the sign test say so: the bootstrap alone is too sure of few scenarios."""
    if one.difference is None or one.sign_test_p is None:
        return False
    return one.difference.interval[0] > 0 and one.sign_test_p < SIGNIFICANT


def print_selection(found: SelectedAdapter) -> None:
    """Print the base, each candidate with its difference, and the choice."""
    print(f"base  {format_rate(found.base_clean_rate)}", file=sys.stderr)
    for one in found.candidates:
        told = f"{one.adapter}  {format_rate(one.clean_rate)}  {format_difference(one.difference)}"
        if one.difference is not None:
            alone = f"{one.difference.only_after} solved by it alone, {one.difference.only_before} by the base alone"
            told += f"  {alone}, p = {one.sign_test_p:.3g}"
        print(told, file=sys.stderr)
    print(f"selected: {found.selected}: {found.why}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    stage.add_base_flag(parser)
    add("--candidates", type=Path, nargs="+", required=True, help="adapter directories; the base competes anyway")
    add("--scenarios", type=Path, required=True, help="directory of selection scenarios")
    add("--holdout", type=Path, default=None, help="the scenarios that will report: refuse selection on them")
    add("--out", type=Path, required=True, help="directory for episodes and selected.json")
    add("--n", type=int, default=None, help="number of scenarios, chosen by --seed (default all)")
    add("--seed", type=int, default=0, help="chooses scenarios, seeds the bootstrap (default 0)")
    add("--max-steps", type=int, default=30, help="commands per episode (default 30)")
    add("--max-new-tokens", type=int, default=256, help="tokens per command (default 256)")
    add("--timeout-seconds", type=float, default=30.0, help="seconds per command and for the checker (default 30)")
    add("--workers", type=int, default=8, help="episodes at once (default 8)")
    add("--dtype", choices=DTYPES, default="auto", help="dtype of the weights (default auto)")
    add("--load-4bit", action="store_true", help="load the base in 4-bit NF4")
    add_image_flag(parser)
    add("--partial", action="store_true", help="take an unfinished scenario directory")
    add("--redo", action="store_true", help="start over instead of resuming")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
