"""Play scenarios through agent programs with the reference operator behind the endpoint: the road, without a model.

    python -m bench.agents --scenarios scenarios --agent plain mini-swe-agent

Reads   <scenarios>/*.json; base/smollm2 (its tokenizer)
Writes  the figures as JSON to --out (default bench/agents.json) after every program, a line per episode to stderr, one
        JSON line on stdout
Needs   a Docker engine, the images of `sh runs/agent_image.sh NAME…`

n               episodes: the first scenarios by id, each once
voided          episodes that are not scored, because the sandbox, the program or the endpoint failed
verified        episodes whose final state passed the checker in the second container, out of those that were scored
kept            of these, episodes that are kept for training (right terminal, commands only)
one_segment     episodes whose calls of the model make one row to train
tokens_equal    episodes whose trained tokens are those that the endpoint sampled, in order
seconds         median of an episode, sandbox, program and checker included
"""

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from pipeline import stage
from agents.app import EndpointServer
from agents.known import AGENTS, AgentProgram
from agents.program_episode import ProgramLimits, play_program, program_options
from agents.program_rollouts import reference_backends, require_program_image
from agents.templates import ChatTemplate
from bench.figures import add, open_figures
from operators.episode import Episode
from pipeline.files import read_scenarios
from sandbox.containers import IMAGE
from sandbox.pool import Pool
from schema import VOIDED, OperatorInfo, Scenario, Trajectory
from training.run import load_tokenizer


def main(*, scenarios: Path, agent: list[str], base: str, limit: int | None, out: Path) -> int:
    """Play every scenario through every program."""
    records = read_scenarios(scenarios)[:limit]
    template = ChatTemplate.of(load_tokenizer(base))
    for name in agent:
        require_program_image(AGENTS[name], IMAGE)
    figures = open_figures(out, {"base": base})
    for name in agent:
        add(out, figures, name, program_figures(AGENTS[name], template, records), rounds=1)
    stage.print_summary({"stage": "bench.agents", "out": str(out), "agents": {name: figures[name] for name in agent}})
    return stage.DONE


def program_figures(program: AgentProgram, template: ChatTemplate, scenarios: list[Scenario]) -> dict[str, Any]:
    """The figures of one program."""
    played = [play_one(program, template, scenario) for scenario in scenarios]
    scored = [one for one in played if one[0].outcome not in VOIDED]
    return {
        "n": len(played),
        "voided": len(played) - len(scored),
        "verified": sum(trajectory.verified for trajectory, _, _ in scored),
        "kept": sum(trajectory.kept for trajectory, _, _ in scored),
        "one_segment": sum(len(trajectory.segments or []) == 1 for trajectory, _, _ in scored),
        "tokens_equal": sum(trained_ids(trajectory) == sampled for trajectory, sampled, _ in scored),
        "sampled_tokens": sum(len(sampled) for _, sampled, _ in scored),
        "seconds": round(statistics.median(seconds for _, _, seconds in played), 2),
    }


def play_one(program: AgentProgram, template: ChatTemplate, scenario: Scenario) -> tuple[Trajectory, list[int], float]:
    """One episode: its record, what the endpoint sampled, and its seconds."""
    backend = reference_backends(template, program)(Episode(scenario), 1)
    limits = ProgramLimits(max_steps=60)
    info = OperatorInfo(kind="agent", agent=program.name, model=backend.name, seed=1)
    pool = Pool(1, options=program_options(program, limits, IMAGE))
    began = time.monotonic()
    with EndpointServer(template, backend) as server:
        trajectory = play_program(program, server, Episode(scenario), operator=info, limits=limits, pool=pool)
    seconds = time.monotonic() - began
    said = (
        "kept" if trajectory.kept else f"{trajectory.outcome}: {'; '.join(trajectory.reasons)} {trajectory.error or ''}"
    )
    print(f"{program.name} {scenario.id} {seconds:.1f} s {said}", file=sys.stderr)
    return trajectory, [id_ for ids in backend.sampled for id_ in ids], seconds


def trained_ids(trajectory: Trajectory) -> list[int]:
    """The trained tokens of all segments, in order."""
    return [
        id_
        for row in trajectory.segments or []
        for id_, on in zip(row.token_ids, row.assistant_mask, strict=True)
        if on
    ]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--scenarios", type=Path, required=True, help="directory of scenarios")
    parser.add_argument(
        "--agent", nargs="+", choices=sorted(AGENTS), default=["plain"], help="programs (default plain)"
    )
    stage.add_base_flag(parser, "base whose tokenizer writes the answers")
    parser.add_argument("--limit", type=int, default=None, help="only the first scenarios (default all)")
    parser.add_argument("--out", type=Path, default=Path("bench/agents.json"), help="figures (default %(default)s)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
