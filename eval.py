"""Drop the tuned model into held-out scenarios with no scaffold and report how it behaves.

    python eval.py --base base --adapter ckpt-run1 --scenarios holdout-scenarios --n 20 --compare-base

Reads   <scenarios>/*.json (schema.Scenario), the base, the adapter directory
Writes  <out>/{adapter,base,clean_up}/*.json (schema.Trajectory), <out>/report.json, <out>/manifest.json
Needs   a Docker engine with the sandbox image, torch

The report's words are those of `report.py --help`. --workers episodes are played at once and decoded together; what
an operator writes does not depend on that, but where two tokens are level to the last digits. --compare-base and
--clean-up play the same scenarios with the bare base, and with the base whose answers are rid of fences and prose
before they reach the shell: what tidying alone would give. Above 2 % voided the exit code is 1; a rerun retries the
voided episodes only. An adapter that was trained on one of the scenarios (or, where they were split by archetype, on
one of their archetypes) is refused. --against counts where greedy transcripts part from those of an earlier run, with
--no-cache or other --workers say: they may only where the two best logits lie within 1e-4.
"""

import argparse
import random
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial as partial_of
from pathlib import Path
from typing import Any

from model.decoder import Decoder, compare
from model.loading import DTYPES, check_machine, fetch, load_model, model_hash
from model.render import Renderer, Wire
from operators.episode import run_episode
from operators.local import LocalOperator
from pipeline import stage
from pipeline.rates import Subject, brief, summarise
from pipeline.verdicts import clean_up as tidy
from report import print_table
from rollout import Job, finished, play_all
from sandbox.containers import preflight, reap
from schema import BadInputError, Scenario, Trajectory, read_json, read_scenarios, read_trajectories, write_json

MARKERS: Wire = "markers"
MAX_VOIDED_SHARE = 0.02


def main(
    *,
    base: str,
    adapter: Path | None,
    scenarios: Path,
    n: int | None,
    seed: int,
    out: Path | None,
    compare_base: bool,
    clean_up: bool,
    max_steps: int,
    max_new_tokens: int,
    timeout_seconds: float,
    temperature: float,
    workers: int,
    dtype: str,
    load_4bit: bool,
    render: Wire | None,
    no_cache: bool,
    against: Path | None,
    partial: bool,
    redo: bool,
) -> int:
    """Check, load the model once, play every episode, report."""
    check_machine(base, dtype)  # before a hub's weights are fetched
    fetch(base, adapter)
    if adapter is not None and render is not None:
        raise BadInputError("--render: the adapter directory says which render it was trained with; drop the flag")
    records = read_scenarios(scenarios, partial=partial)
    refuse_contamination(adapter, scenarios, records)
    chosen = draw(records, n, seed)
    image = preflight()
    reap()
    subjects: list[Subject] = ["adapter"] if adapter is not None else ["base"]
    if clean_up:
        subjects.insert(0 if adapter is not None else 1, "clean_up")
    if compare_base and adapter is not None:
        subjects.insert(0, "base")
    earlier = {subject: read_trajectories(against / subject) for subject in subjects} if against else {}
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
        "clean_up": clean_up or None,
        "no_cache": no_cache or None,
        "n": n,
    }
    manifest = stage.begin(out, stage="eval", flags=settings, inputs=inputs, image_digest=image, redo=redo)
    episodes = {
        subject: {scenario.id: found for scenario in chosen if (found := finished(out / subject, (scenario, 0)))}
        for subject in subjects
    }
    todo = {subject: [(one, 0) for one in chosen if one.id not in episodes[subject]] for subject in subjects}
    transcripts: dict[str, dict[str, int | float]] = {}
    if any(todo.values()) or earlier:
        model, tokenizer = load_model(base, adapter, dtype=dtype, load_4bit=load_4bit)
        wire = Renderer.for_adapter(adapter, tokenizer) if adapter else Renderer.for_base(tokenizer, render or MARKERS)
        for subject in subjects:
            own = adapter if subject == "adapter" else None
            bare: AbstractContextManager[Any] = model.disable_adapter() if adapter and own is None else nullcontext()
            cancelled = threading.Event()
            sampling: dict[str, Any] = {"temperature": temperature, "max_new_tokens": max_new_tokens}
            make = partial_of(
                LocalOperator, Decoder(model, use_cache=not no_cache), wire, name=base, adapter=own,
                cancelled=cancelled, tidy=tidy if subject == "clean_up" else None, **sampling,
            )  # fmt: skip
            limits = {"seed": seed, "max_steps": max_steps, "timeout_seconds": timeout_seconds}
            with bare:
                played = play_all(
                    partial_of(play, make, limits), todo[subject], out / subject, workers, cancelled,
                    doing=f"eval {subject}",
                )  # fmt: skip
                episodes[subject] |= {episode.scenario_id: episode for episode in played.values()}
                if both := pairs(earlier.get(subject, []), episodes[subject]):
                    transcripts[subject] = compare(model, both)
                    print(f"{subject}: transcripts against {against}: {transcripts[subject]}", file=sys.stderr)
    result = {
        "stage": "eval",
        "base": base,
        "adapter": str(adapter) if adapter is not None else None,
        "scenarios": str(scenarios),
        "split_by": stage.split_kind(scenarios),
        "seed": seed,
        **summarise(episodes, chosen, seed=seed),
        **({"transcripts": transcripts} if transcripts else {}),
    }
    write_json(out / "report.json", result)
    ids = [episode.id for subject in subjects for episode in episodes[subject].values()]
    stage.finish(out, manifest, ids=ids, counts={"scenarios": len(chosen), "subjects": len(subjects)})
    print_table(result)
    told: dict[str, Any] = {name: brief(result, name) for name in subjects}
    told |= {"transcripts": transcripts} if transcripts else {}
    stage.report({"out": str(out), "n": len(chosen), **told})
    voided = max(result["subjects"][name]["voided"] for name in subjects) / len(chosen)
    return stage.WORLD_FAILED if voided > MAX_VOIDED_SHARE else stage.DONE


def play(make: Callable[[], LocalOperator], limits: dict[str, Any], job: Job) -> Trajectory:
    """One episode of a fresh local operator."""
    return run_episode(make(), job[0], sample=job[1], **limits)


def pairs(
    before: Sequence[Trajectory], now: dict[str, Trajectory]
) -> list[tuple[tuple[list[int], list[int]], list[int]]]:
    """The transcripts of the scenarios that were played in both runs; none where ids were not recorded."""
    both = [(one, now[one.scenario_id]) for one in before if one.scenario_id in now]
    return [
        ((one.token_ids, one.assistant_mask), other.token_ids)
        for one, other in both
        if one.token_ids is not None and one.assistant_mask is not None and other.token_ids is not None
    ]


def refuse_contamination(adapter: Path | None, directory: Path, records: Sequence[Scenario]) -> None:
    """Raise BadInputError when the adapter was trained on one of these scenarios, or of their held-out archetypes."""
    if adapter is None:
        return
    trained = read_json(adapter / "sekft.json").get("trained_on", [])
    ids, hashes = {row["scenario_id"] for row in trained}, {row["content_hash"] for row in trained}
    archetypes = {row["archetype"] for row in trained}
    by_archetype = stage.split_kind(directory) == "archetype"
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


def draw(records: Sequence[Scenario], n: int | None, seed: int) -> list[Scenario]:
    """The first `n` of the records in a seeded order, so that a larger n adds and never replaces; all for None."""
    if n is not None and n < 1:
        raise BadInputError(f"--n is {n}; evaluate at least 1 scenario")
    if n is not None and n > len(records):
        print(f"--n {n}: only {len(records)} scenarios there, taking all", file=sys.stderr)
    order = sorted(records, key=lambda record: record.id)
    random.Random(f"eval/draw/{seed}").shuffle(order)
    return order[:n]


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
    parser.add_argument(
        "--clean-up", action="store_true", help="also play the base with fences and prose stripped from its answers"
    )
    parser.add_argument("--max-steps", type=int, default=30, help="commands per episode (default 30)")
    parser.add_argument("--max-new-tokens", type=int, default=256, help="tokens per command (default 256)")
    parser.add_argument("--timeout-seconds", type=float, default=30.0, help="seconds per command (default 30)")
    parser.add_argument("--temperature", type=float, default=0.0, help="sampling temperature (default 0: greedy)")
    parser.add_argument("--workers", type=int, default=8, help="episodes at once (default 8)")
    parser.add_argument("--dtype", choices=DTYPES, default="auto", help="dtype of the weights (default auto)")
    parser.add_argument("--load-4bit", action="store_true", help="load the base in 4-bit NF4")
    parser.add_argument("--render", choices=("markers", "chat"), default=None, help="wire for a base without adapter")
    parser.add_argument(
        "--no-cache", action="store_true", help="compute every context anew: slow, a check of the cache"
    )
    parser.add_argument(
        "--against", type=Path, default=None, help="an earlier --out: count where transcripts part (default none)"
    )
    parser.add_argument("--partial", action="store_true", help="take an unfinished scenario directory")
    parser.add_argument("--redo", action="store_true", help="start over instead of resuming")
    return parser


if __name__ == "__main__":
    stage.run(main, parser())
