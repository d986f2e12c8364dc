"""Measure what --ray local costs beside threads: seconds per episode, CPU time of the head, bytes that it handles.

    python -m bench.ray_overhead --episodes 24 --rounds 5

Reads   nothing
Writes  one JSON line on stdout
Needs   a Docker engine, the image sekft-dash, ray; an otherwise idle machine

Each round plays the same episodes of the reference operator with threads and with Ray, in turns. What is timed begins
when the workers stand and sandboxes are ready; the seconds that Ray takes to start are given apart.
"""

import argparse
import pickle
import statistics
import threading
import time
from concurrent.futures import as_completed
from functools import partial

from pipeline import stage
from authoring.templates import author
from generate import sample_combinations
from operators.episode import Episode, EpisodeLimits
from operators.ray_episodes import RayRun
from operators.reference import ReferenceOperator
from operators.rollouts import RolloutPlan, player
from sandbox.containers import IMAGE, require_image

READY_SECONDS = 2.0  # for the sandboxes that boot ahead


def main(*, episodes: int, rounds: int, workers: int) -> int:
    """Play all rounds and print the medians and their ratio."""
    scenarios = [
        author(one, seed=f"ray/{number}", id=f"ray-{number:04d}")
        for number, one in enumerate(sample_combinations(episodes, 1))
    ]
    todo = [Episode(one) for one in scenarios]
    digest, timed = require_image(), dict[str, list[dict[str, float]]]()
    for number in range(rounds):
        ways = [("threads", None), ("ray", RayRun("local", digest, reference_operators))]
        for name, ray in ways if number % 2 == 0 else reversed(ways):
            timed.setdefault(name, []).append(played(todo, ray, workers))
    medians = {
        name: {key: statistics.median(one[key] for one in found) for key in found[0]} for name, found in timed.items()
    }
    ratios = [ray["seconds"] / threads["seconds"] for ray, threads in zip(timed["ray"], timed["threads"], strict=True)]
    stage.print_summary(
        {
            "episodes": episodes, "rounds": rounds, "workers": workers,
            "median": {name: {key: round(value, 4) for key, value in one.items()} for name, one in medians.items()},
            "ray_over_threads": round(medians["ray"]["seconds"] / medians["threads"]["seconds"], 3),
            "ratio_of_each_round": [round(one, 3) for one in ratios],
        }
    )  # fmt: skip
    return stage.DONE


def reference_operators(_: threading.Event) -> type[ReferenceOperator]:
    """What makes a node's operators."""
    return ReferenceOperator


def played(todo: list[Episode], ray: RayRun | None, workers: int) -> dict[str, float]:
    """Play the episodes once; seconds, CPU seconds and bytes per episode."""
    plan = RolloutPlan(
        ReferenceOperator, 0, EpisodeLimits(30, 30.0), workers, threading.Event(), IMAGE, ray
    )  # fmt: skip
    before = time.monotonic()
    with player(plan, len(todo)) as (pool, play):
        started = time.monotonic()
        time.sleep(READY_SECONDS)
        began, cpu = time.monotonic(), time.process_time()
        futures = [pool.submit(partial(play, one, lambda _: None)) for one in todo]
        found = [future.result() for future in as_completed(futures)]
        seconds, spent = time.monotonic() - began, time.process_time() - cpu
    assert all(one.kept for one in found), [one.error for one in found if not one.kept]
    sent = sum(len(pickle.dumps(one)) for one in todo)
    received = sum(len(pickle.dumps(one)) for one in found)
    return {
        "start_seconds": started - before,
        "seconds": seconds,
        "seconds_per_episode": seconds / len(todo),
        "head_cpu_seconds_per_episode": spent / len(todo),
        "bytes_sent_per_episode": sent / len(todo),
        "bytes_received_per_episode": received / len(todo),
        "record_bytes_per_episode": sum(len(one.model_dump_json(indent=2, exclude_none=True)) for one in found)
        / len(todo),
    }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = stage.command_line(__doc__)
    made.add_argument("--episodes", type=int, default=24, help="episodes per round (default 24)")
    made.add_argument("--rounds", type=int, default=5, help="rounds of each way (default 5)")
    made.add_argument("--workers", type=int, default=2, help="episodes at once (default 2)")
    return made


if __name__ == "__main__":
    stage.run_script(main, parser())
