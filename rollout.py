"""Roll an operator through scenarios, verify the final state, record trajectories.

    SEKFT_OP_MODEL=qwen2.5:32b python rollout.py --scenarios scenarios --out trajectories --samples 3

Reads   <scenarios>/*.json (schema.Scenario)
Writes  <out>/<id>.json (schema.Trajectory), <out>/manifest.json
Needs   a Docker engine; SEKFT_OP_MODEL unless --operator says otherwise

One fresh container per rollout. Trajectories that are not kept are written too, with the reasons. A rollout whose
sandbox or endpoint broke is recorded as such and makes the exit code 1; the same command again tries only those.
When rollouts fail on the operator's side one after the other, the rest is left for a rerun.
"""

import argparse
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self

from authoring.scaffold import SCAFFOLD
from model.decoder import Decoder
from model.loading import DTYPES, adapter_hash, check_machine, fetch, load_model, model_hash
from model.render import Renderer, Wire
from operators.endpoint import EndpointOperator
from operators.episode import run_episode, trajectory_id
from operators.local import LocalOperator
from operators.protocol import Operator
from operators.reference import ReferenceOperator
from pipeline import stage
from sandbox.containers import preflight, reap, remove_all
from sandbox.session import Pool
from schema import VOIDED, BadInputError, Scenario, Trajectory, read_record, read_scenarios, write_record

FAILURES_IN_A_ROW = 3
STOP_SECONDS = 3.0  # what a rollout under way gets to leave its sandbox after an interrupt
Job = tuple[Scenario, int]


def main(
    *,
    scenarios: Path,
    out: Path,
    operator: str,
    base: str | None,
    adapter: Path | None,
    render: str | None,
    samples: int,
    panic_samples: int | None,
    max_steps: int,
    max_new_tokens: int,
    timeout_seconds: float,
    temperature: float | None,
    retries: int,
    workers: int,
    limit: int | None,
    seed: int,
    dtype: str,
    load_4bit: bool,
    partial: bool,
    redo: bool,
) -> int:
    """Check everything, play what is not there yet, account for every (scenario, sample)."""
    panic_samples = samples if panic_samples is None else panic_samples
    counted = (samples, panic_samples, max_steps, max_new_tokens, workers, 1 if limit is None else limit)
    if min(counted) < 1 or timeout_seconds <= 0:
        names = "--samples, --panic-samples, --max-steps, --max-new-tokens, --timeout-seconds, --workers, --limit"
        raise BadInputError(f"{names}: at least 1")
    if operator == "local":
        if base is None:
            raise BadInputError("--operator local needs --base, the model that operates")
        if adapter is not None and render is not None:
            raise BadInputError("--render: the adapter says which render it was trained with; drop the flag")
        check_machine(base, dtype)  # before a hub's weights are fetched
        fetch(base, adapter)
        if max(samples, panic_samples) > 1 and not temperature:
            print("--samples: without --temperature every sample of a local model is the same", file=sys.stderr)
    elif base is not None or adapter is not None:
        raise BadInputError(f"--base and --adapter belong to --operator local, this is --operator {operator}")
    settings = {"temperature": temperature, "max_new_tokens": max_new_tokens, "retries": retries}
    endpoint = EndpointOperator.from_environment(scaffold=SCAFFOLD, **settings) if operator == "endpoint" else None
    image = preflight()
    reap()
    records = read_scenarios(scenarios, partial=partial)[:limit]
    flags = {
        "operator": operator,
        "model": endpoint.model if endpoint else None,
        "base": model_hash(base) or base if base else None,
        "adapter": adapter_hash(adapter) if adapter else None,
        "render": render,
        "samples": samples,
        "panic_samples": panic_samples,
        "max_steps": max_steps,
        "max_new_tokens": max_new_tokens,
        "timeout_seconds": timeout_seconds,
        "temperature": temperature,
        "limit": limit,
        "seed": seed,
        "dtype": dtype,
        "load_4bit": load_4bit,
        "workers": workers,
    }
    manifest = stage.begin(out, stage="rollout", flags=flags, inputs=[scenarios], image_digest=image, redo=redo)
    planned = jobs(records, samples, panic_samples)
    done = {job_id(job): found for job in planned if (found := finished(out, job))}
    todo = [job for job in planned if job_id(job) not in done]
    resumed = len(done)
    if todo:
        cancelled = threading.Event()
        make = factory(operator, endpoint, base, adapter, render, settings, dtype, load_4bit, cancelled)

        def play(job: Job) -> Trajectory:
            return run_episode(
                make(),
                job[0],
                sample=job[1],
                seed=seed,
                max_steps=max_steps,
                timeout_seconds=timeout_seconds,
                cancelled=cancelled,
            )

        done |= play_all(play, todo, out, workers, cancelled)
    summary = summarise(list(done.values()), len(planned)) | {"resumed": resumed}
    if len(done) == len(planned):
        stage.finish(out, manifest, ids=done, counts=summary)
    stage.report({"out": str(out), "scenarios": len(records), "samples": samples, **summary})
    return stage.WORLD_FAILED if summary["voided"] or summary["unplayed"] else stage.DONE


def jobs(records: Sequence[Scenario], samples: int, panic_samples: int) -> list[Job]:
    """Every (scenario, sample), samples outermost: a run that is stopped has seen as many scenarios as it could."""
    wanted = {"exit": samples, "panic": panic_samples}
    return [
        (record, sample)
        for sample in range(max(wanted.values()))
        for record in records
        if sample < wanted[record.terminal]
    ]


def job_id(job: Job) -> str:
    """The id of the trajectory that `job` makes."""
    return trajectory_id(*job)


def finished(out: Path, job: Job) -> Trajectory | None:
    """The trajectory of an earlier run, None where there is none or it was voided."""
    path = out / f"{job_id(job)}.json"
    if not path.exists():
        return None
    trajectory = read_record(path, Trajectory)
    return trajectory if trajectory.outcome not in VOIDED else None


def factory(
    operator: str,
    endpoint: EndpointOperator | None,
    base: str | None,
    adapter: Path | None,
    render: str | None,
    settings: dict[str, Any],
    dtype: str,
    load_4bit: bool,
    cancelled: threading.Event,
) -> Callable[[], Operator]:
    """A maker of operators, one per rollout; a local model is loaded once, here."""
    if operator == "reference":
        return ReferenceOperator
    if endpoint is not None:
        return lambda: EndpointOperator(
            endpoint.model, endpoint.url, endpoint.key, scaffold=endpoint.scaffold, **settings
        )
    assert base is not None
    model, tokenizer = load_model(base, adapter, dtype=dtype, load_4bit=load_4bit)
    wire: Wire = "chat" if render == "chat" else "markers"
    renderer = Renderer.for_adapter(adapter, tokenizer) if adapter else Renderer.for_base(tokenizer, wire)
    decoder = Decoder(model)
    return lambda: LocalOperator(
        decoder,
        renderer,
        temperature=settings["temperature"] or 0.0,
        max_new_tokens=settings["max_new_tokens"],
        name=base,
        adapter=adapter,
        cancelled=cancelled,
    )


def play_all(
    play: Callable[[Job], Trajectory],
    todo: Sequence[Job],
    out: Path,
    workers: int,
    cancelled: threading.Event,
    *,
    doing: str = "rollout",
) -> dict[str, Trajectory]:
    """Play the jobs, at most `workers` at once, writing each record as it ends; progress is labelled `doing`.

    Stops early, leaving the rest unplayed, when several rollouts in a row failed on the operator's side. On Ctrl-C (and
    when `play` raises) the rollouts under way are dropped and every container of this process is removed.
    """
    done: dict[str, Trajectory] = {}
    failures = 0
    waiting: SimpleQueue[Job] = SimpleQueue()
    ended: SimpleQueue[_Ended] = SimpleQueue()
    for job in todo:
        waiting.put(job)

    def work() -> None:
        while not cancelled.is_set() and not waiting.empty():
            with _Ended(ended) as end:
                end.trajectory = play(waiting.get_nowait())

    # Daemons: an interrupt does not wait for an endpoint's answer.
    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(todo)))]
    ahead = Pool(max(1, min(len(threads), os.cpu_count() or 1)), most=len(todo))
    try:
        with ahead, stage.progress(len(todo), doing) as bar:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads) or not ended.empty():
                if (trajectory := _next(ended)) is None or trajectory.outcome == "cancelled":
                    continue
                write_record(out, trajectory)
                done[trajectory.id] = trajectory
                bar.record(trajectory.id, "kept" if trajectory.kept else "; ".join(trajectory.reasons))
                failures = failures + 1 if trajectory.outcome == "operator_failed" else 0
                if failures >= max(FAILURES_IN_A_ROW, workers):
                    cancelled.set()
    finally:
        if any(thread.is_alive() for thread in threads):
            cancelled.set()
            remove_all()
            for thread in threads:
                thread.join(STOP_SECONDS)
            remove_all()  # of one that was being started the first time
    return done


@dataclass
class _Ended:
    """A rollout's end, put on `queue` when the `with` block is left: its trajectory, or what it raised."""

    queue: "SimpleQueue[_Ended]"
    trajectory: Trajectory | None = None
    error: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if not isinstance(error, Empty):  # another thread took the last job
            self.error = error
            self.queue.put(self)
        return True


def _next(ended: "SimpleQueue[_Ended]") -> Trajectory | None:
    """The next trajectory; None when none came for a while. Raises what the rollout raised."""
    try:
        end = ended.get(timeout=0.2)
    except Empty:
        return None
    if end.error is not None:
        raise end.error
    return end.trajectory


def summarise(trajectories: Sequence[Trajectory], total: int) -> dict[str, Any]:
    """Counts over every (scenario, sample): kept, not kept, voided and unplayed add up to `total`."""
    voided = sum(trajectory.outcome in VOIDED for trajectory in trajectories)
    kept = sum(trajectory.kept for trajectory in trajectories)
    counted = len(trajectories) - voided
    return {
        "rollouts": total,
        "kept": kept,
        "not_kept": counted - kept,
        "voided": voided,
        "unplayed": total - len(trajectories),
        "kept_rate": kept / counted if counted else None,
        "outcomes": dict(sorted(Counter(trajectory.outcome for trajectory in trajectories).items())),
    }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("--scenarios", type=Path, required=True, help="directory of scenarios")
    add("--out", type=Path, required=True, help="directory for the trajectories")
    add(
        "--operator", choices=("endpoint", "local", "reference"), default="endpoint", help="who acts (default endpoint)"
    )
    add("--base", default=None, help="local: base model, a directory or a hub name")
    add("--adapter", type=Path, default=None, help="local: adapter directory of sft.py (default none)")
    add("--render", choices=("markers", "chat"), default=None, help="local without adapter: wire (default markers)")
    add("--samples", type=int, default=1, help="rollouts per scenario (default 1)")
    add(
        "--panic-samples",
        type=int,
        default=None,
        help="rollouts per scenario that panic ends rightly: they are few, and what is seldom is not learned (default "
        "--samples)",
    )
    add("--max-steps", type=int, default=30, help="operator turns per rollout (default 30)")
    add("--max-new-tokens", type=int, default=512, help="tokens per command (default 512)")
    add("--timeout-seconds", type=float, default=30.0, help="seconds per command and for the checker (default 30)")
    add(
        "--temperature",
        type=float,
        default=None,
        help="sampling temperature (default: endpoint's own; local 0, greedy)",
    )
    add("--retries", type=int, default=5, help="endpoint: further tries of a failed request (default 5)")
    add("--workers", type=int, default=2, help="rollouts at once (default 2)")
    add("--limit", type=int, default=None, help="only the first scenarios (default all)")
    add("--seed", type=int, default=0, help="seed of sampling and of the reference operator's variety (default 0)")
    add("--dtype", choices=DTYPES, default="auto", help="local: dtype of the weights (default auto)")
    add("--load-4bit", action="store_true", help="local: load the base in 4-bit NF4")
    add("--partial", action="store_true", help="take an unfinished scenario directory")
    add("--redo", action="store_true", help="start over instead of resuming")
    return parser


if __name__ == "__main__":
    stage.run(main, parser())
