"""Sample combinations of the axes, have them authored, gate them, and write the scenarios that pass.

    python generate.py --n 150 --out scenarios
    SEKFT_MODEL=qwen2.5:32b SEKFT_URL=http://localhost:11434/v1 python generate.py --n 150 --out scenarios
    python generate.py --check scenarios       # run every gate on scenarios that you wrote by hand

Reads   --taxonomy; with --check <check>/*.json (schema.Scenario), and then writes nothing
Writes  <out>/<id>.json (schema.Scenario), <out>/rejected/<id>.json, <out>/raw/<id>-<round>.json, <out>/manifest.json
Needs   a Docker engine; with --author teacher an OpenAI-compatible endpoint: SEKFT_MODEL, SEKFT_URL, SEKFT_KEY

Attempts are numbered, and admitted and compared for near-duplicates in that order whatever --workers is, so the same
flags give the same records in one go or in three. An attempt whose sandbox or endpoint broke is no rejection: the run
ends there with exit code 1 and everything before it on disk, and a rerun goes on from that attempt. Nothing that a
teacher answered is paid for twice: its raw replies are kept and used again.

--check prints a line for everything that is to be mended and exits 2 if any scenario fails. docs/bring_your_own.md has
taxonomies, images and scenarios of your own.
"""

import argparse
import contextlib
import random
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import combinations as pairs_of, count, islice
from pathlib import Path
from typing import Any

import taxonomy
from pipeline import stage
from authoring.duplicates import NearDuplicates
from authoring.gate import GateResult, gate
from authoring.linter import check_directory
from authoring.ray_gate import GateNode, GateNodePlan
from authoring.teacher import (
    BudgetSpentError,
    BundleError,
    Teacher,
    complaint,
    model_name,
    parse_bundle,
    question,
    scenario_of,
)
from authoring.templates import author as author_from_template
from authoring.text_gate import GATES
from operators.chat import EndpointError, RequestRefusedError
from pipeline.files import read_json, read_record, read_taxonomy, write_json, write_record
from pipeline.hidden import as_text
from pipeline.ray_workers import Nodes, add_ray_flag, require_ray
from pipeline.workers import WorkerPool
from sandbox.containers import SandboxError, add_image_flag, image_tools, reap, remove_all, require_image
from schema import BadInputError, OwnTaxonomy, Scenario, axis_balance, known_values
from taxonomy import ARCHETYPES, DIFFICULTIES, SHIPPED, Combination, Taxonomy

ATTEMPTS_PER_SCENARIO = 5  # give up when the yield is below one in five
NOT_ENOUGH = (
    "{} attempts were not enough, and a rerun would make the same ones; take what is there with --partial, or name "
    "another --out with other --tasks, more --repairs or a stronger teacher"
)
SANDBOX_TRIES = 3  # of one attempt within a run, before the run ends
ALL_GATES = ("reply", "schema", *GATES, "duplicate")


@dataclass(frozen=True)
class Attempt:
    """One numbered try at a scenario."""

    number: int
    combination: Combination

    @property
    def id(self) -> str:
        """The scenario's id, should it be admitted."""
        return f"{self.combination.task}-{self.number:04d}"


@dataclass(frozen=True)
class AttemptResult:
    """What became of an attempt: a scenario that passed the gate, or the gate and reason it was refused for."""

    scenario: Scenario | None = None
    gate: str | None = None
    reason: str | None = None
    rounds: int = 1
    bundle: Any = None


@dataclass(frozen=True)
class GenerateSettings:
    """The flags."""

    n: int
    out: Path | None
    check: Path | None
    taxonomy: Path | None
    image: str
    author: str | None
    seed: int
    workers: int
    tasks: str | None
    difficulties: str | None
    repairs: int
    max_total_tokens: int | None
    timeout_seconds: float
    ray: str | None
    redo: bool


def main(settings: GenerateSettings) -> int:
    """Admit `n` scenarios; returns 0, or 1 if Docker, the endpoint or the budget stopped the run."""
    start, n, out = time.monotonic(), settings.n, settings.out
    if settings.check is not None or out is None:
        return check_scenarios(settings)
    require_ray(settings.ray)
    own = read_taxonomy(settings.taxonomy) if settings.taxonomy else None
    names, difficulties = check_generate_settings(settings, known_values(own))
    author = choose_author(settings.author)
    if own is not None and author == "template":
        raise BadInputError("--taxonomy: the templates write the shipped taxonomy alone; pass --author teacher")
    model = model_name() if author == "teacher" else None
    image_digest = require_image(settings.image)
    flags = {
        "n": n, "author": author, "model": model, "seed": settings.seed, "workers": settings.workers, "tasks": names,
        "repairs": settings.repairs if author == "teacher" else 0, "timeout_seconds": settings.timeout_seconds,
        **({"taxonomy": f"{own.name} {own.sha256}"} if own else {}),
        **({"difficulties": difficulties} if settings.difficulties else {}),
    }  # fmt: skip
    manifest = stage.begin(out, stage="generate", flags=flags, image_digest=image_digest, redo=settings.redo)
    reap()  # what a killed run left behind
    budget = settings.max_total_tokens
    teacher = Teacher(out / "raw", model=model, max_total_tokens=budget) if author == "teacher" else None
    generation = _Generation(settings, out, teacher, own)
    with contextlib.ExitStack() as stack:
        if settings.ray is not None:
            begin = GateNodePlan(settings.image, image_digest, settings.timeout_seconds)
            ray = Nodes(settings.ray, workers=settings.workers, begin=begin, cancelled=generation.cancelled)
            generation.nodes = stack.enter_context(ray)
        bar = stack.enter_context(stage.Progress(n, "generate"))
        ended = generation.admit(attempts(settings.seed, names, known_values(own), difficulties), bar)
    counts = generation.counts()
    if not ended:
        stage.finish(out, manifest, ids=[scenario.id for scenario in generation.admitted], counts=counts)
    else:
        there = len(generation.admitted)
        print(f"generate: {there} of {n} scenarios are in {out}; {ended}", file=sys.stderr)
    rounded = {axis: one and round(one, 3) for axis, one in counts["balance"].items()}
    stage.print_summary({
        "stage": "generate", "n": n, **counts, "balance": rounded, "voided": generation.voided, "ended": ended or None,
        "teacher_tokens": teacher.spent_tokens if teacher else None, "seconds": round(time.monotonic() - start, 1),
    })  # fmt: skip
    return stage.WORLD_FAILED if ended else stage.DONE


def check_scenarios(settings: GenerateSettings) -> int:
    """Run every gate on the directory that --check names. Raises BadInputError for flags that do not belong to it."""
    if settings.check is None:
        raise BadInputError("--out: missing; name the directory to write, or one to check with --check")
    stage.refuse_unread(settings, parser(), {"check", "image", "workers", "timeout_seconds"}, "--check")
    if settings.workers < 1:
        raise BadInputError(f"--workers {settings.workers}: must be at least 1")
    stage.require_seconds(settings.timeout_seconds)
    return check_directory(
        settings.check, image=settings.image, workers=settings.workers, timeout_seconds=settings.timeout_seconds
    )


def choose_author(author: str | None) -> str:
    """The chosen author; by default the teacher if an endpoint is set, else the templates (printed)."""
    if author is None:
        author = "teacher" if stage.env("SEKFT_MODEL", "SEKFT_URL") else "template"
        why = "SEKFT_MODEL or SEKFT_URL is set" if author == "teacher" else "neither SEKFT_MODEL nor SEKFT_URL is set"
        print(f"generate: --author {author} ({why})", file=sys.stderr)
    return author


def check_generate_settings(settings: GenerateSettings, known: Taxonomy) -> tuple[list[str], list[str]]:
    """The archetypes and the difficulties to sample from. Raises BadInputError for an invalid flag."""
    for name, least in (("n", 1), ("workers", 1), ("repairs", 0)):
        if (value := getattr(settings, name)) < least:
            raise BadInputError(f"--{name} {value}: must be at least {least}")
    stage.require_seconds(settings.timeout_seconds)
    names = chosen("--tasks", settings.tasks, known.archetypes)
    difficulties = chosen("--difficulties", settings.difficulties, DIFFICULTIES)
    if max(DIFFICULTIES[name].directives for name in difficulties) < 2 and (
        blocked := [name for name in names if known.archetypes[name].terminal == "panic"]
    ):
        raise BadInputError(
            f"--difficulties {','.join(difficulties)}: the blocked task {blocked[0]!r} needs two directives; "
            f"add medium or hard, or leave it out of --tasks"
        )
    return names, difficulties


def chosen(flag: str, given: str | None, known: Iterable[str]) -> list[str]:
    """The values of an axis that a flag names, all without one, in the order of the axis. Raises BadInputError."""
    order = list(known)
    names = given.split(",") if given else order
    if unknown := [name for name in names if name not in order]:
        raise BadInputError(f"{flag}: unknown value {unknown[0]!r}; known: {', '.join(order)}")
    return sorted(set(names), key=order.index)


def sample_combinations(n: int, seed: int) -> list[Combination]:
    """The first `n` combinations for `seed`."""
    return [attempt.combination for attempt in islice(attempts(seed, tuple(ARCHETYPES)), n)]


def attempts(
    seed: int,
    tasks: Sequence[str] = tuple(ARCHETYPES),
    known: Taxonomy = SHIPPED,
    difficulties: Sequence[str] = tuple(DIFFICULTIES),
) -> Iterator[Attempt]:
    """Endless attempts, balanced first over each axis and then over pairs of axes.

    Tasks come in shuffled rounds; the rest is the legal combination whose values occurred least so far, ties broken
    by `seed`. The stream depends on nothing but the arguments.
    """
    rng = random.Random(f"{seed}/attempts")
    legal: dict[str, list[Combination]] = {task: [] for task in tasks}
    for one in taxonomy.combinations(known):
        if one.task in legal and one.difficulty in difficulties:
            legal[one.task].append(one)
    sizes = {axis: len(values) for axis, values in known.axes().items()} | {"difficulty": len(difficulties)}
    single: Counter[tuple[str, str]] = Counter()
    paired: Counter[tuple[tuple[str, str], ...]] = Counter()
    numbers = count()
    while True:
        for task in rng.sample(list(tasks), len(tasks)):

            def cost(combination: Combination) -> float:
                values = list(vars(combination).items())
                alone = sum(single[value] * sizes[value[0]] for value in values)
                together = sum(paired[two] for two in pairs_of(values, 2))
                return alone + together

            least = min(cost(combination) for combination in legal[task])
            choice = rng.choice([c for c in legal[task] if cost(c) == least])
            values = list(vars(choice).items())
            single.update(values)
            paired.update(pairs_of(values, 2))
            yield Attempt(next(numbers), choice)


@dataclass
class _Job:
    """An attempt under way.

    Attributes:
        overruled: rounds of the teacher whose bundle turned out to be a near-duplicate -> the reason.
        from_disk: an earlier run settled it.
    """

    attempt: Attempt
    overruled: Mapping[int, str]
    future: "Future[AttemptResult]"
    from_disk: bool = False


@dataclass
class _Generation:
    """One run's state: what is admitted and refused so far, and how an attempt is made."""

    settings: GenerateSettings
    out: Path
    teacher: Teacher | None
    own: OwnTaxonomy | None
    admitted: list[Scenario] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    voided: int = 0
    known: NearDuplicates = field(default_factory=NearDuplicates)
    cancelled: threading.Event = field(default_factory=threading.Event)
    nodes: Nodes[GateNode] | None = None  # whose engines gate; None: this machine's

    def admit(self, stream: Iterator[Attempt], bar: stage.Progress) -> str:
        """Settle the attempts in order until `n` are admitted; returns why it ended before that, or an empty string."""
        n, workers = self.settings.n, self.settings.workers
        under_way: deque[_Job] = deque()
        tried = islice(stream, ATTEMPTS_PER_SCENARIO * n)
        try:
            release = self.nodes.release if self.nodes else remove_all
            with WorkerPool(workers, cancelled=self.cancelled, release=release) as pool:
                while len(self.admitted) < n:
                    # Never more than are missing: what comes after the last one admitted would be thrown away.
                    missing = min(2 * workers, n - len(self.admitted)) - len(under_way)
                    under_way.extend(self._start(pool, attempt, {}) for attempt in islice(tried, missing))
                    if not under_way:
                        return NOT_ENOUGH.format(ATTEMPTS_PER_SCENARIO * n)
                    job = under_way.popleft()
                    if again := self._settle(job, job.future.result(), bar):
                        under_way.appendleft(self._start(pool, job.attempt, again))
        except (SandboxError, EndpointError) as error:
            self.voided = 1
            return f"attempt {job.attempt.id} is void: {error}; rerun to go on"
        except BudgetSpentError as error:
            return f"{error}; rerun to go on"
        return ""

    def _start(self, pool: WorkerPool, attempt: Attempt, overruled: Mapping[int, str]) -> _Job:
        """Start a job; it is already done if an earlier run finished the attempt."""
        out = self.out
        admitted, refused = out / f"{attempt.id}.json", out / "rejected" / f"{attempt.id}.json"
        known: Future[AttemptResult] = Future()
        if admitted.exists():
            known.set_result(AttemptResult(read_record(admitted, Scenario)))
        elif refused.exists():
            kept = read_json(refused)
            known.set_result(AttemptResult(gate=kept["gate"], reason=kept["reason"], rounds=kept["rounds"]))
        else:
            return _Job(attempt, overruled, pool.submit(self.make, attempt, overruled))
        return _Job(attempt, overruled, known, from_disk=True)

    def make(self, attempt: Attempt, overruled: Mapping[int, str]) -> AttemptResult:
        """Author and gate one attempt."""
        if self.teacher is not None:
            return self._make_with(self.teacher, attempt, overruled)
        scenario = author_from_template(
            attempt.combination, seed=f"{self.settings.seed}/{attempt.number}", id=attempt.id
        )
        return self._gate(scenario, 1)

    def _make_with(self, teacher: Teacher, attempt: Attempt, overruled: Mapping[int, str]) -> AttemptResult:
        """Ask the teacher; after a refusal send the gate's reason back, up to `repairs` times."""
        messages = question(
            attempt.combination, seed=f"{self.settings.seed}/{attempt.number}", own=self.own,
            tools=image_tools(self.settings.image),
        )  # fmt: skip
        request_hash = teacher.request_hash(messages)
        result = AttemptResult()
        for number in range(1, self.settings.repairs + 2):
            self._stop_if_cancelled()
            try:
                reply = teacher.reply(f"{attempt.id}-{number}", messages)
            except RequestRefusedError as error:
                if number == 1:
                    raise
                return AttemptResult(gate="reply", reason=str(error), rounds=number, bundle=result.bundle)
            try:
                bundle = parse_bundle(reply)
                scenario = scenario_of(
                    bundle, attempt.combination, id=attempt.id, model=teacher.model, seed=self.settings.seed,
                    request_hash=request_hash, own=self.own,
                )  # fmt: skip
            except BundleError as error:
                result = AttemptResult(gate=error.gate, reason=str(error), rounds=number, bundle=reply)
            else:
                result = self._gate(scenario, number)
            if result.scenario is not None and number in overruled:
                result = AttemptResult(gate="duplicate", reason=overruled[number], rounds=number, bundle=reply)
            if result.scenario is not None:
                break
            assert result.gate is not None
            assert result.reason is not None
            messages = [*messages, {"role": "assistant", "content": reply}, complaint(result.gate, result.reason)]
        return result

    def _gate(self, scenario: Scenario, rounds: int) -> AttemptResult:
        """The gate's verdict, tried again when the sandbox broke; its findings go into the provenance."""
        for tried in range(1, SANDBOX_TRIES + 1):
            self._stop_if_cancelled()
            try:
                found = self._verdict(scenario)
                break
            except SandboxError:
                if tried == SANDBOX_TRIES:
                    raise
                time.sleep(tried)
        bundle = scenario.model_dump(mode="json", exclude_none=True)
        if not found.admitted:
            return AttemptResult(gate=found.gate, reason=found.reason, rounds=rounds, bundle=bundle)
        bundle["provenance"]["gates"] = {**found.findings, "rounds": rounds}
        return AttemptResult(Scenario.model_validate(bundle), rounds=rounds)

    def _verdict(self, scenario: Scenario) -> GateResult:
        """The gate's verdict, from some node where there is a cluster. Raises SandboxError."""
        if self.nodes is not None:
            return self.nodes.call(GateNode.gate, scenario)
        return gate(
            scenario, timeout_seconds=self.settings.timeout_seconds, cancelled=self.cancelled.is_set,
            image=self.settings.image,
        )  # fmt: skip

    def _stop_if_cancelled(self) -> None:
        if self.cancelled.is_set():
            raise KeyboardInterrupt

    def _settle(self, job: _Job, result: AttemptResult, bar: stage.Progress) -> dict[int, str]:
        """Write the attempt as admitted or refused, after all earlier ones; returns rounds to redo as duplicates."""
        scenario, refused_by, reason = result.scenario, result.gate, result.reason
        if scenario is not None and (repeats := self.known.reason(scenario)):
            reason = repeats
            if self.teacher is not None and result.rounds <= self.settings.repairs and not job.from_disk:
                return {**job.overruled, result.rounds: reason}
            scenario, refused_by = None, "duplicate"
        if scenario is not None:
            self.known.add(scenario)
            self.admitted.append(scenario)
            self.repaired += scenario.provenance.gates["rounds"] > 1
            if not job.from_disk:
                write_record(self.out, scenario)
            bar.record(job.attempt.id, "admitted")
            return {}
        assert refused_by is not None
        self.refused[refused_by] += 1
        if not job.from_disk:
            self._write_refusal(job.attempt, result, refused_by, reason)
        print(as_text(f"generate: {job.attempt.id} refused by {refused_by}: {reason}"), file=sys.stderr)
        return {}

    def _write_refusal(self, attempt: Attempt, result: AttemptResult, refused_by: str, reason: str | None) -> None:
        scenario = result.scenario
        bundle = scenario.model_dump(mode="json", exclude_none=True) if scenario is not None else result.bundle
        refusal = {
            "id": attempt.id, "axes": vars(attempt.combination), "gate": refused_by, "reason": reason,
            "rounds": result.rounds, "bundle": bundle,
        }  # fmt: skip
        write_json(self.out / "rejected" / f"{attempt.id}.json", refusal)

    def counts(self) -> dict[str, Any]:
        """Every settled attempt exactly once, and per gate how many reached it and how many it let through."""
        settled = len(self.admitted) + sum(self.refused.values())
        return {
            "attempts": settled, "admitted": len(self.admitted), "repaired": self.repaired,
            "refused": dict(sorted(self.refused.items())), "yield": gate_yields(settled, self.refused),
            "balance": axis_balance(self.admitted),
        }  # fmt: skip


def gate_yields(
    attempted: int, refused: Mapping[str, int], gates: Sequence[str] = ALL_GATES
) -> dict[str, dict[str, int]]:
    """How many attempts reached each gate, in the order of the gates, and how many passed it."""
    yields, reached = {}, attempted
    for name in gates:
        passed = reached - refused.get(name, 0)
        yields[name] = {"reached": reached, "passed": passed}
        reached = passed
    return yields


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = stage.command_line(__doc__)
    made.add_argument("--n", type=int, default=150, help="scenarios to admit (default 150); may grow on a rerun")
    made.add_argument("--out", type=Path, help="directory to write (needed, but for --check)")
    made.add_argument("--check", type=Path, metavar="DIR", help="run every gate on the scenarios in DIR, write nothing")
    made.add_argument(
        "--taxonomy", type=Path, metavar="FILE",
        help="archetypes, providers and channels of your own beside the shipped ones (default none); needs the teacher",
    )  # fmt: skip
    add_image_flag(made)
    add_ray_flag(made)
    made.add_argument(
        "--author", choices=("teacher", "template"),
        help="who writes (default: teacher as soon as SEKFT_MODEL or SEKFT_URL is set, else template)",
    )  # fmt: skip
    made.add_argument("--seed", type=int, default=1, help="decides combinations, names and contents (default 1)")
    made.add_argument("--workers", type=int, default=4, help="attempts under way at once (default 4)")
    made.add_argument("--tasks", help="archetypes to sample from, separated by commas (default all)")
    made.add_argument(
        "--difficulties", help="easy, medium, hard: those to sample from, separated by commas (default all)"
    )
    made.add_argument("--repairs", type=int, default=2, help="corrections allowed per refused scenario (default 2)")
    made.add_argument("--max-total-tokens", type=int, help="token budget of the teacher (default: none)")
    made.add_argument(
        "--timeout-seconds", type=float, default=30.0, help="limit of each command and checker, seconds (default 30)"
    )
    made.add_argument("--redo", action="store_true", help="empty --out and start over (default: go on)")
    return made


if __name__ == "__main__":
    stage.run_script(main, parser())
