"""Evaluate an adapter behaviourally: play held-out scenarios with base and adapter, and report the rates."""

import argparse
import random
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial as partial_of
from pathlib import Path
from typing import Any

from pipeline import stage
from model.decoder import Decoder, compare_transcripts
from model.loading import DTYPES, HeldBase, adapter_argument, check_machine, fetch, load_model, model_hash
from model.render import Renderer, Wire
from operators.episode import Episode, EpisodeLimits
from operators.local import LocalOperator
from operators.ray_episodes import RayRun
from operators.reference import ReferenceOperator
from operators.rollouts import RolloutPlan, read_finished, refuse_other_image, run_episodes
from pipeline.files import read_scenarios, read_trajectories, write_manifest, write_report
from pipeline.holdout import print_unknown_split, refuse_trained_on
from pipeline.rates import brief, compare_subjects
from pipeline.ray_workers import add_ray_flag, require_ray
from pipeline.tables import print_table
from pipeline.verdicts import clean_up as tidy
from sandbox.containers import add_image_flag, reap, require_image
from schema import BadInputError, EvalReport, Scenario, Subject, Trajectory

MAX_VOIDED_SHARE = 0.02
Episodes = dict[Subject, dict[str, Trajectory]]  # subject -> scenario id -> its episode


@dataclass(frozen=True)
class EvalSettings:
    """The flags of an eval."""

    base: str
    adapter: Path | None
    scenarios: Path
    n: int | None
    base_n: int | None
    seed: int
    out: Path | None
    compare_base: bool
    clean_up: bool
    max_steps: int
    max_new_tokens: int
    timeout_seconds: float
    temperature: float
    workers: int
    dtype: str
    load_4bit: bool
    render: Wire | None
    no_cache: bool
    against: Path | None
    image: str
    ray: str | None
    partial: bool
    redo: bool

    def out_directory(self) -> Path:
        """Where the report goes: `out`, or eval/<adapter name>."""
        named = self.adapter.resolve().name if self.adapter is not None else f"base-{Path(self.base).name}"
        return self.out or Path("eval") / named

    def subjects(self) -> list[Subject]:
        """Who is evaluated, in the order of the table: the last one is compared with the others."""
        if self.adapter is None:
            return ["base", "clean_up"] if self.clean_up else ["base"]
        others: list[tuple[Subject, bool]] = [("base", self.compare_base), ("clean_up", self.clean_up)]
        return [*(name for name, wanted in others if wanted), "adapter"]

    def scenarios_of(self, subject: Subject, chosen: Sequence[Scenario]) -> Sequence[Scenario]:
        """Which of the chosen scenarios a subject plays: beside an adapter, the others play the first `base_n`."""
        return chosen if subject == "adapter" or self.adapter is None else chosen[: self.base_n]

    def deciding_flags(self) -> dict[str, Any]:
        """The flags that decide the episodes, for the manifest."""
        names = (
            "seed", "max_steps", "max_new_tokens", "timeout_seconds", "temperature", "dtype", "load_4bit", "render",
            "compare_base", "n", "base_n",
        )  # fmt: skip
        return {
            **{name: getattr(self, name) for name in names},
            "base": model_hash(self.base) or self.base,
            "clean_up": self.clean_up or None,
            "no_cache": self.no_cache or None,
        }


def evaluate(settings: EvalSettings, held: HeldBase | None = None) -> int:
    """Check, load the model once, play every episode, report; the exit code. The base may be a `held` one."""
    require_ray(settings.ray)
    stage.require_seconds(settings.timeout_seconds)
    stage.require_temperature(settings.temperature)
    stage.require_at_least_one(
        base_n=settings.base_n, max_steps=settings.max_steps, max_new_tokens=settings.max_new_tokens,
        workers=settings.workers,
    )  # fmt: skip
    if settings.base_n is not None and settings.subjects() == ["adapter"]:
        raise BadInputError("--base-n: belongs to --compare-base or --clean-up; add one, or drop it")
    check_machine(settings.base, settings.dtype)  # before a hub's weights are fetched
    fetch(settings.base, settings.adapter)
    if settings.adapter is not None and settings.render is not None:
        raise BadInputError("--render: the adapter directory says which render it was trained with; drop the flag")
    records = read_scenarios(settings.scenarios, partial=settings.partial)
    adapters = [settings.adapter] if settings.adapter is not None else []
    refuse_trained_on(settings.base, adapters, settings.scenarios, records, remedy="evaluate held-out scenarios")
    chosen = choose(records, settings.n, settings.seed)
    refuse_other_image(chosen, settings.image)
    image = require_image(settings.image)
    reap()
    earlier = read_earlier(settings)
    out = settings.out_directory()
    inputs = [settings.scenarios]
    inputs += [settings.adapter / "adapter_model.safetensors"] if settings.adapter is not None else []
    manifest = stage.begin(
        out, stage="eval", flags=settings.deciding_flags(), inputs=inputs, image_digest=image, redo=settings.redo
    )
    counts = {"scenarios": len(records), "n": len(chosen), "not_chosen": len(records) - len(chosen)}
    write_manifest(out, manifest.model_copy(update={"counts": counts}))  # report.py --watch knows the total by them
    if settings.adapter is not None:
        print_unknown_split(settings.scenarios)
    episodes: Episodes = {
        subject: {
            one.id: found
            for one in settings.scenarios_of(subject, chosen)
            if (found := read_finished(out / subject, Episode(one)))
        }
        for subject in settings.subjects()
    }
    transcripts: dict[str, dict[str, int | float]] = {}
    if earlier or any(len(found) < len(settings.scenarios_of(one, chosen)) for one, found in episodes.items()):
        transcripts = run_subjects(settings, chosen, episodes, earlier, image, held)
    report = report_of(settings, chosen, episodes, transcripts)
    write_report(out, report)
    ids = [episode.id for found in episodes.values() for episode in found.values()]
    stage.finish(out, manifest, ids=ids, counts={**counts, "subjects": len(episodes)})
    print_table(report)
    told: dict[str, Any] = {name: brief(entry) for name, entry in report.subjects.items()}
    told |= {"transcripts": transcripts} if transcripts else {}
    stage.print_summary({"out": str(out), **counts, **told})
    shares = [entry.voided / len(episodes[subject]) for subject, entry in report.subjects.items()]
    return stage.WORLD_FAILED if max(shares) > MAX_VOIDED_SHARE else stage.DONE


def choose(records: Sequence[Scenario], n: int | None, seed: int) -> list[Scenario]:
    """The first `n` records in a seeded order, so that a larger n adds and never replaces; all for None."""
    if n is not None and n < 1:
        raise BadInputError(f"--n is {n}; evaluate at least 1 scenario")
    if n is not None and n > len(records):
        print(f"--n {n}: only {len(records)} scenarios there, taking all", file=sys.stderr)
    order = sorted(records, key=lambda record: record.id)
    random.Random(f"eval/draw/{seed}").shuffle(order)
    return order[:n]


def read_earlier(settings: EvalSettings) -> dict[Subject, list[Trajectory]]:
    """The episodes of the run that --against names, by subject."""
    if settings.against is None:
        return {}
    return {subject: read_trajectories(settings.against / subject) for subject in settings.subjects()}


def run_subjects(
    settings: EvalSettings,
    chosen: Sequence[Scenario],
    episodes: Episodes,
    earlier: dict[Subject, list[Trajectory]],
    image_digest: str,
    held: HeldBase | None = None,
) -> dict[str, dict[str, int | float]]:
    """Load the model, and play for each subject what is not in `episodes` yet, which is filled.

    Returns how each subject's transcripts differ from the earlier run's, where there is one.
    """
    transcripts: dict[str, dict[str, int | float]] = {}
    # The nodes of a cluster load their own; here it is then needed only to compare transcripts.
    model, renderer = load_subjects(settings, held) if settings.ray is None or earlier else (None, None)
    for subject, found in episodes.items():
        cancelled = threading.Event()
        make = (
            operators_of(settings, subject, model, renderer, cancelled) if settings.ray is None else ReferenceOperator
        )
        limits = EpisodeLimits(settings.max_steps, settings.timeout_seconds)
        ray = nodes_of(settings, subject, image_digest)
        plan = RolloutPlan(make, settings.seed, limits, settings.workers, cancelled, settings.image, ray)
        todo = [Episode(one) for one in settings.scenarios_of(subject, chosen) if one.id not in found]
        with model.disable_adapter() if model and is_bare(settings, subject) else nullcontext():
            played = run_episodes(plan, todo, settings.out_directory() / subject, label=f"eval {subject}")
            found |= {episode.scenario_id: episode for episode in played.values()}
            if both := pairs(earlier.get(subject, []), found):
                transcripts[subject] = compare_transcripts(model, both)
                print(f"{subject}: transcripts against {settings.against}: {transcripts[subject]}", file=sys.stderr)
    return transcripts


def load_subjects(settings: EvalSettings, held: HeldBase | None = None) -> tuple[Any, Renderer]:
    """The model with its adapter, and the renderer of its sessions."""
    model, tokenizer = load_model(
        settings.base, settings.adapter, dtype=settings.dtype, load_4bit=settings.load_4bit, held=held
    )
    return model, Renderer.of(tokenizer, settings.adapter, settings.render)


def is_bare(settings: EvalSettings, subject: Subject) -> bool:
    """True where the subject plays with the loaded adapter switched off."""
    return settings.adapter is not None and subject != "adapter"


def operators_of(
    settings: EvalSettings, subject: Subject, model: Any, renderer: Any, cancelled: threading.Event
) -> Callable[[], LocalOperator]:
    """What makes the operators of a subject; the caller switches the adapter off where it is bare."""
    return partial_of(
        LocalOperator, Decoder(model, use_cache=not settings.no_cache), renderer, name=settings.base,
        adapter=settings.adapter if subject == "adapter" else None, cancelled=cancelled,
        tidy=tidy if subject == "clean_up" else None,
        temperature=settings.temperature, max_new_tokens=settings.max_new_tokens,
    )  # fmt: skip


def nodes_of(settings: EvalSettings, subject: Subject, image_digest: str) -> RayRun | None:
    """The cluster that --ray names, whose nodes play one subject."""
    if settings.ray is None:
        return None
    make = partial_of(node_subject, settings, subject)
    return RayRun(settings.ray, image_digest, make, settings.base, settings.adapter)


def node_subject(settings: EvalSettings, subject: Subject, cancelled: threading.Event) -> Callable[[], LocalOperator]:
    """The same on a node of a cluster, which loads the model. A node plays one subject, so the adapter stays off."""
    model, renderer = load_subjects(settings)
    if is_bare(settings, subject):
        model.base_model.disable_adapter_layers()  # the context of disable_adapter() would end here
    return operators_of(settings, subject, model, renderer, cancelled)


def pairs(
    before: Sequence[Trajectory], now: dict[str, Trajectory]
) -> list[tuple[tuple[list[int], list[int]], list[int]]]:
    """(token ids, mask) of the run before and the token ids of this run, for each scenario that both recorded."""
    both = [(one, now[one.scenario_id]) for one in before if one.scenario_id in now]
    return [
        ((one.token_ids, one.assistant_mask), other.token_ids)
        for one, other in both
        if one.token_ids is not None and one.assistant_mask is not None and other.token_ids is not None
    ]


def report_of(
    settings: EvalSettings,
    chosen: Sequence[Scenario],
    episodes: Episodes,
    transcripts: dict[str, dict[str, int | float]],
) -> EvalReport:
    """What the episodes show."""
    subjects, differences = compare_subjects(episodes, chosen, seed=settings.seed)
    return EvalReport(
        base=settings.base,
        adapter=str(settings.adapter) if settings.adapter is not None else None,
        scenarios=str(settings.scenarios),
        split_by=stage.split_kind(settings.scenarios),
        seed=settings.seed,
        n=len(chosen),
        subjects=subjects,
        paired=differences,
        transcripts=transcripts or None,
    )


def add_flags(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the flags of an eval; their values are EvalSettings."""
    add = parser.add_argument
    stage.add_base_flag(parser)
    add(
        "--adapter",
        type=adapter_argument,
        default=None,
        help="adapter directory or selected.json (default: the base alone)",
    )
    add("--scenarios", type=Path, required=True, help="directory of held-out scenarios (split.py)")
    add("--n", type=int, default=None, help="number of scenarios, chosen by --seed (default all)")
    add("--base-n", type=int, default=None, help="of these, scenarios that --compare-base and --clean-up play (all)")
    add("--seed", type=int, default=0, help="chooses scenarios, seeds sampling and bootstrap (default 0)")
    add("--out", type=Path, default=None, help="report directory (default ./eval/<adapter name>)")
    add("--compare-base", action="store_true", help="also play the bare base on the same scenarios")
    add("--clean-up", action="store_true", help="also play the base with fences and prose removed from its answers")
    add("--max-steps", type=int, default=30, help="commands per episode (default 30)")
    add("--max-new-tokens", type=int, default=256, help="tokens per command (default 256)")
    add("--timeout-seconds", type=float, default=30.0, help="seconds per command and for the checker (default 30)")
    add("--temperature", type=float, default=0.0, help="sampling temperature (default 0: greedy)")
    add("--workers", type=int, default=8, help="episodes at once (default 8)")
    add("--dtype", choices=DTYPES, default="auto", help="dtype of the weights (default auto)")
    add("--load-4bit", action="store_true", help="load the base in 4-bit NF4")
    stage.add_render_flag(parser, "a base without adapter: ")
    add("--no-cache", action="store_true", help="no KV cache: slow, a check of the cache")
    add("--against", type=Path, default=None, help="an earlier --out: count transcripts that differ (default none)")
    add_image_flag(parser)
    add_ray_flag(parser)
    add("--partial", action="store_true", help="take an unfinished scenario directory")
    add("--redo", action="store_true", help="start over instead of resuming")
    return parser
