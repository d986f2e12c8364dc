"""Measure an RL step: seconds per phase, with episodes sampled together and one at a time; how far its update goes.

    python -m bench.rl --adapter ckpt-sft --scenarios split/train --rounds 5
    python -m bench.rl --adapter ckpt-sft --scenarios split/train --only rates --replay first

Reads   --base, --adapter and --scenarios; --replay: episodes that the adapter played (rates)
Writes  the figures as JSON to --out (default bench/rl.json) after every part, a table to stderr
Needs   torch, a Docker engine with the image; an otherwise idle machine

steps   one step of rl.py, from the start adapter, with --workers 8 and with --workers 1. The episodes are the same: an
        episode's samples depend on its seed and not on the others. Seconds of the phases are those of the log.
decode  the same sessions without sandboxes, so that only the decoder counts: each reads an opening of 400 tokens, then
        outputs of 120, and samples 4 turns of 20 tokens, one session after the other or all at once.
rates   how far one optimizer step on the episodes of --replay moves the policy, by learning rate: Adam's first step,
        and a step along the gradient, as long as Adam's at the highest rate. KL in nats per token, for the episodes
        that have an advantage (taught) and for the others, estimated at the sampled tokens (exp(-d) + d - 1, with d the
        log-probability before minus that after). Gain is the sum over taught tokens of the advantage times -d.

The ways run in turn in each round; a figure is the median over the rounds. Each step loads its base anew, which counts
for none of the phases.
"""

import argparse
import dataclasses
import json
import math
import random
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import rl
from pipeline import stage
from bench.figures import Table, add, device_name, open_figures
from model.decoder import Context, Decoder, Turn
from model.loading import adapter_argument, load_model
from pipeline.files import read_scenarios
from pipeline.stage import add_base_flag
from schema import BadInputError
from training.policy_gradient import PolicyData
from training.policy_update import Policy
from training.rl_settings import RlSettings

PHASES = ("sample", "check", "update")
RATES = (3e-4, 1e-4, 7e-5, 3e-5)
ADAM_EPS = 1e-8
MANY = 1_000_000
TURNS, OUTPUT_TOKENS, TURN_TOKENS, OPENING_TOKENS = 4, 120, 20, 400


def main(
    *, base: str, adapter: Path, scenarios: Path, replay: Path | None, groups: int, episodes: int, rounds: int,
    only: str | None, out: Path,
) -> int:  # fmt: skip
    """Measure the parts and print the figures."""
    import torch

    about = {"device": device_name(), "base": base, "torch": torch.__version__, "sessions": groups * episodes}
    figures = open_figures(out, about)
    settings = RlSettings(
        base=base, adapter=adapter, scenarios=scenarios, updates=1, groups=groups, episodes=episodes,
        reload_after=False,
    )  # fmt: skip
    if only in (None, "decode"):
        add(out, figures, "decode", decode(settings, groups * episodes, rounds), rounds)
    if only in (None, "steps"):
        add(out, figures, "steps", steps(settings, rounds), rounds)
    if only == "rates" or (only is None and replay is not None):
        if replay is None:
            raise BadInputError("--replay: missing; name episodes that the adapter played (rollout.py --samples 4)")
        add(out, figures, "rates", rates(dataclasses.replace(settings, replay=replay, partial=True)), 1)
    stage.print_summary(figures)
    return stage.DONE


def faster_way(together: list[float], singly: list[float]) -> Table:
    """The medians of both ways, and the factor between them."""
    one, other = statistics.median(together), statistics.median(singly)
    return {"together_seconds": round(one, 2), "singly_seconds": round(other, 2), "faster": round(other / one, 2)}


def decode(settings: RlSettings, sessions: int, rounds: int) -> Table:
    """Seconds of all sessions, at once and one after the other."""
    model, _ = load_model(settings.base, settings.adapter, dtype=settings.dtype)
    decoder, found = Decoder(model), dict[int, list[float]]()
    for number in range(rounds + 1):  # the first one warms up
        for workers in (sessions, 1):
            began = time.monotonic()
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(lambda seed: one_session(decoder, seed), range(sessions)))
            if number:
                found.setdefault(workers, []).append(time.monotonic() - began)
    table = faster_way(found[sessions], found[1])
    table["tokens_per_second"] = round(sessions * TURNS * TURN_TOKENS / table["together_seconds"], 1)
    print(f"decode: {table}", file=sys.stderr)
    return table


def one_session(decoder: Decoder, seed: int) -> None:
    """Decode a session whose environment is random ids."""
    import torch

    draw, context = random.Random(seed), Context()
    generator = torch.Generator().manual_seed(seed)
    vocabulary = int(decoder.model.config.vocab_size)
    for number in range(TURNS):
        context.ids += [draw.randrange(vocabulary) for _ in range(OUTPUT_TOKENS if number else OPENING_TOKENS)]
        decoder.decode(
            Turn(context, ended=lambda _: False, max_new_tokens=TURN_TOKENS, limit=8192, temperature=1.0,
                 generator=generator)
        )  # fmt: skip


def steps(settings: RlSettings, rounds: int) -> Table:
    """Seconds of each phase of a step, with 8 workers and with one."""
    found: dict[int, list[Table]] = {8: [], 1: []}
    for number in range(rounds):
        for workers, lines in found.items():
            lines.append(one_step(settings, workers))
            print(f"round {number + 1}, {workers} workers: {lines[-1]}", file=sys.stderr)
    together, singly = ([line["sample_seconds"] for line in lines] for lines in found.values())
    return {
        "sample": faster_way(together, singly),
        "episodes_per_hour": round(3600 * settings.groups * settings.episodes / statistics.median(together)),
        **{
            f"{phase}_seconds": round(statistics.median(line[f"{phase}_seconds"] for line in found[8]), 2)
            for phase in PHASES
        },
    }


def one_step(settings: RlSettings, workers: int) -> Table:
    """The log of one step of rl.py."""
    with tempfile.TemporaryDirectory() as scratch:
        words = [
            "--base", settings.base, "--adapter", str(settings.adapter), "--scenarios", str(settings.scenarios),
            "--out", scratch, "--updates", "1", "--groups", str(settings.groups), "--episodes", str(settings.episodes),
            "--workers", str(workers), "--no-reload",
        ]  # fmt: skip
        code = rl.main(RlSettings(**vars(rl.parser().parse_args(words))))
        assert code == stage.DONE, code
        (line,) = (Path(scratch) / "log_history.jsonl").read_text().splitlines()
    table: Table = json.loads(line)
    return {name: table[name] for name in (*(f"{phase}_seconds" for phase in PHASES), "episodes", "episode_tokens")}


def rates(settings: RlSettings) -> Table:
    """What one optimizer step does to the policy at each rate."""
    settings = dataclasses.replace(settings, updates=MANY)
    played = rl.replay_of(settings, read_scenarios(settings.scenarios)) or []
    data = rl.policy_data_of([group for groups in played for group in groups], settings)
    policy = Policy(settings)
    for group in policy.optimizer.param_groups:
        group["lr"] = 0.0  # the gradient is computed, and nothing moves
    policy.update(data)
    gradient = {name: weight.grad.clone() for name, weight in policy.named.items() if weight.grad is not None}
    adam = {name: part / (part.abs() + ADAM_EPS) for name, part in gradient.items()}
    table: Table = {"episodes": data.episodes, "taught": sum(row.teaches for row in data.rows)}
    before = sampled_log_probs(policy, data)
    for rate in RATES:
        table[f"adam {rate:g}"] = moved(policy, data, before, {name: rate * part for name, part in adam.items()})
    factor = RATES[0] * length_of(adam) / length_of(gradient)
    along = {name: factor * part for name, part in gradient.items()}
    table[f"gradient, as long as adam {RATES[0]:g}"] = moved(policy, data, before, along)
    return table


def length_of(parts: dict[str, Any]) -> float:
    """The Euclidean norm of all tensors together."""
    return math.sqrt(sum(float(part.square().sum()) for part in parts.values()))


def sampled_log_probs(policy: Policy, data: PolicyData) -> list[Any]:
    """The log-probs of the sampled tokens, row by row, as the trainer computes them."""
    from model.layers import fast_layers  # needs torch

    policy.model.train()
    with fast_layers(policy.model):
        return policy.log_probs(data.rows)


def moved(policy: Policy, data: PolicyData, before: list[Any], step: dict[str, Any]) -> Table:
    """The figures of the policy whose adapter is the start adapter's minus `step`."""
    import torch

    with torch.no_grad():
        for name, weight in policy.named.items():
            weight.copy_(policy.start[name] - step[name])
    sums = {True: [0.0, 0.0, 0.0], False: [0.0, 0.0, 0.0]}  # taught or not: tokens, KL, gain
    for row, old, new in zip(data.rows, before, sampled_log_probs(policy, data), strict=True):
        part, apart = sums[row.teaches], old - new
        part[0] += len(apart)
        part[1] += float(((-apart).exp() + apart - 1).sum())
        part[2] -= float((torch.tensor(row.advantages) * apart).sum())
    found = {
        "length": length_of(step), "gain": sums[True][2],
        "kl_taught": sums[True][1] / max(1, sums[True][0]), "kl_others": sums[False][1] / max(1, sums[False][0]),
    }  # fmt: skip
    print(f"rates: {found}", file=sys.stderr)
    return {name: float(f"{value:.3g}") for name, value in found.items()}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = stage.command_line(__doc__)
    add_base_flag(made)
    made.add_argument("--adapter", type=adapter_argument, required=True, help="adapter to start each step from")
    made.add_argument("--scenarios", type=Path, required=True, help="directory of scenarios to play")
    made.add_argument("--replay", type=Path, default=None, help="episodes that the adapter played (rates)")
    made.add_argument("--groups", type=int, default=4, help="scenarios in a step (default 4)")
    made.add_argument("--episodes", type=int, default=4, help="episodes of each scenario (default 4)")
    made.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    made.add_argument("--only", choices=("decode", "steps", "rates"), default=None, help="one part (default all)")
    made.add_argument("--out", type=Path, default=Path("bench/rl.json"), help="figures (default bench/rl.json)")
    return made


if __name__ == "__main__":
    stage.run_script(main, parser())
