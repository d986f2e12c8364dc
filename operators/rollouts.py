"""Run many episodes at once: a record is written when its episode ends; the next run retries voided ones.

An episode whose sandbox broke, or whose endpoint gave an answer that cannot be used, is played again twice at most. It
stays void then, so that no episode is played until it comes out well.
"""

import contextlib
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from operators.episode import Episode, EpisodeLimits, run_episode
from operators.protocol import Operator
from operators.ray_episodes import EpisodeNode, EpisodeNodePlan, MakeOperators, RayRun
from operators.under_way import UnderWay
from pipeline.files import LIVE, read_record, write_record
from pipeline.ray_workers import Nodes
from pipeline.stage import Progress
from pipeline.workers import WorkerPool
from sandbox.containers import IMAGE, SandboxOptions, remove_all
from sandbox.pool import Pool
from sandbox.session import SessionSource
from schema import VOIDED, BadInputError, Scenario, Trajectory

FAILURES_IN_A_ROW = 3
Play = Callable[[Episode, Callable[[str], None]], Trajectory]  # the second takes each command before it runs
# Plays an episode otherwise than run_episode does. The second argument takes each command, the third has sandboxes.
PlayEpisode = Callable[[Episode, Callable[[str], None], SessionSource], Trajectory]
ATTEMPTS = 3


@dataclass(frozen=True)
class RolloutPlan:
    """How episodes are run.

    Attributes:
        operator: makes the operator of one episode. With `ray` it is not used.
        seed: of the sampling.
        limits: of each episode.
        workers: episodes at once.
        cancelled: once set, no episode begins and those under way end. The operators look at it too.
        image: of the sandboxes.
        ray: the cluster whose nodes play the episodes, or its open nodes (`with episode_nodes(...)`), where several
            plans are played on them; None: threads of this process play.
        checked: takes the seconds that each episode's grading took; not with `ray`.
        play: plays an episode instead of run_episode; `operator`, `seed` and `limits` are then not used.
        options: of the sandboxes, where they are not made of `image` and `limits` alone.
    """

    operator: Callable[[], Operator]
    seed: int
    limits: EpisodeLimits
    workers: int
    cancelled: threading.Event
    image: str = IMAGE
    ray: RayRun | Nodes[EpisodeNode] | None = None
    checked: Callable[[float], None] | None = None
    play: PlayEpisode | None = None
    options: SandboxOptions | None = None


def refuse_other_image(scenarios: Sequence[Scenario], image: str) -> None:
    """Raise BadInputError for a scenario that passed the gate on an image of another name: its tools may be missing."""
    for scenario in scenarios:
        gated = scenario.provenance.gates.get("image")  # absent: the shipped one
        if gated not in (None, image):
            raise BadInputError(
                f"scenario {scenario.id}: it passed the gate on image {gated!r}, this run is on {image!r}; "
                f"pass --image {gated}, or give your image that name (docker tag)"
            )


def read_finished(out: Path, episode: Episode) -> Trajectory | None:
    """The trajectory that an earlier run wrote; None where there is none, or where it is to be played again."""
    earlier = _read_earlier(out, episode)
    return earlier if earlier is None or is_final(earlier) else None


def is_final(earlier: Trajectory) -> bool:
    """True where no rerun plays the episode again: it is not void, or was its last attempt."""
    return earlier.outcome not in VOIDED or (_was_attempt(earlier) and earlier.attempt >= ATTEMPTS)


def numbered(out: Path, episode: Episode) -> Episode:
    """The episode with the number of its next attempt. An endpoint that gave no answer has had none."""
    earlier = _read_earlier(out, episode)
    if earlier is None:
        return episode
    return replace(episode, attempt=earlier.attempt + _was_attempt(earlier))


def _was_attempt(earlier: Trajectory) -> bool:
    """True where a void episode counts as one of its ATTEMPTS."""
    return earlier.outcome == "sandbox_failed" or earlier.unusable_answer


def _read_earlier(out: Path, episode: Episode) -> Trajectory | None:
    path = out / f"{episode.id}.json"
    return read_record(path, Trajectory) if path.exists() else None


def run_episodes(plan: RolloutPlan, episodes: Sequence[Episode], out: Path, *, label: str) -> dict[str, Trajectory]:
    """Run the episodes and write their trajectories to `out`; returns them by id. Progress is shown as `label`.

    Stops early, with the rest unplayed, when several episodes in a row failed on the operator's side. On Ctrl-C, and
    when an episode raises, the episodes under way are dropped and every container of this process is removed.
    """
    done: dict[str, Trajectory] = {}
    failures = 0
    recorded = {path.stem for path in out.glob("*.json") if path.name != "manifest.json" and path.name != LIVE}
    total = len(recorded | {episode.id for episode in episodes})
    with (
        player(plan, len(episodes)) as (pool, play),
        Progress(len(episodes), label) as bar,
        UnderWay(out, total=total) as under_way,
    ):

        def one(episode: Episode) -> Trajectory:
            with under_way.episode(episode.id) as told:
                return play(episode, told)

        for future in as_completed([pool.submit(one, numbered(out, episode)) for episode in episodes]):
            if future.cancelled() or (trajectory := future.result()).outcome == "cancelled":
                continue
            write_record(out, trajectory)
            done[trajectory.id] = trajectory
            bar.record(trajectory.id, "kept" if trajectory.kept else "; ".join(trajectory.reasons))
            failures = failures + 1 if trajectory.outcome == "operator_failed" else 0
            if failures >= max(FAILURES_IN_A_ROW, plan.workers):
                plan.cancelled.set()
    return done


@contextlib.contextmanager
def player(plan: RolloutPlan, count: int) -> Iterator[tuple[WorkerPool, Play]]:
    """A pool for `count` episodes and a function that plays one: here, or on some node of the cluster."""
    workers = max(1, min(plan.workers, count))
    if plan.ray is not None:
        with contextlib.ExitStack() as stack:
            nodes = plan.ray
            if isinstance(nodes, RayRun):
                nodes = stack.enter_context(episode_nodes(replace(plan, workers=workers), nodes, most=count))
            pool = stack.enter_context(WorkerPool(workers, cancelled=plan.cancelled, release=nodes.release))
            yield pool, lambda episode, _: nodes.call(EpisodeNode.record, episode)
        return
    options = plan.options or SandboxOptions(image=plan.image, lifetime_seconds=plan.limits.lifetime_seconds())
    ahead = Pool(min(workers, os.cpu_count() or 1), most=count, options=options)
    # The sandboxes that boot ahead are ended first: what removes all others must not find one that is being started.
    with WorkerPool(workers, cancelled=plan.cancelled, release=remove_all) as pool, ahead as sandboxes:

        def play(episode: Episode, told: Callable[[str], None]) -> Trajectory:
            if plan.play is not None:
                return plan.play(episode, told, sandboxes)
            return run_episode(
                plan.operator(), episode, seed=plan.seed, limits=plan.limits, cancelled=plan.cancelled,
                pool=sandboxes, told=told, checked=plan.checked,
            )  # fmt: skip

        yield pool, play


def episode_nodes(
    plan: RolloutPlan, ray: RayRun, *, most: float = math.inf, own: MakeOperators | None = None
) -> Nodes[EpisodeNode]:
    """The nodes of a cluster as a context: each plays episodes under the seed, limits and image of `plan`.

    `most` is the number of episodes in all, where it is known: no node starts more sandboxes ahead. `own` makes the
    operators of this process's node, where this process holds a model already.
    """
    begin = EpisodeNodePlan(ray, plan.seed, plan.limits, plan.workers, plan.image, ray.hashes(), most)
    return Nodes(
        ray.address, workers=plan.workers, begin=begin, cancelled=plan.cancelled, needs_device=ray.base is not None,
        own=None if own is None else replace(begin, run=replace(ray, make=own, base=None, adapter=None)),
    )  # fmt: skip
