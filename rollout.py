"""Roll an operator through scenarios, verify the final state, record trajectories.

    SEKFT_OP_MODEL=qwen2.5:32b python rollout.py --scenarios scenarios --out trajectories --samples 3
    python rollout.py --scenarios scenarios --out trajectories --operator agent --agent mini-swe-agent

Reads   <scenarios>/*.json (schema.Scenario)
Writes  <out>/<id>.json (schema.Trajectory), <out>/manifest.json
Needs   a Docker engine; SEKFT_OP_MODEL unless --operator says otherwise; agent: an image of runs/agent_image.sh

Every rollout gets its own container. Trajectories that are not kept are written too, with the reasons. A rollout whose
sandbox or endpoint broke is recorded as such and makes the exit code 1; the same command again retries only those. A
rollout whose sandbox breaks three times stays void, and is named; it does not change the exit code any more.
When several rollouts in a row fail on the operator's side, the rest is left for a rerun.
"""

import argparse
import contextlib
import dataclasses
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial as partial_of
from pathlib import Path
from typing import Any

from pipeline import stage
from agents.app import EndpointServer
from agents.backend import Sampling
from agents.known import AGENTS
from agents.program_episode import ProgramLimits
from agents.program_rollouts import (
    ProgramPlayer,
    model_backend,
    no_backend,
    reference_backends,
    require_program_image,
)
from agents.templates import ChatTemplate
from authoring.scaffold import SCAFFOLD
from model.loading import DTYPES, adapter_argument, adapter_hash, check_machine, fetch, model_hash
from model.render import Renderer, Wire
from operators.endpoint import EndpointOperator
from operators.episode import Episode, EpisodeLimits
from operators.local import local_operators
from operators.protocol import Operator
from operators.ray_episodes import RayRun
from operators.reference import ReferenceOperator
from operators.rollouts import ATTEMPTS, RolloutPlan, is_final, read_finished, refuse_other_image, run_episodes
from pipeline.files import read_json, read_scenarios
from pipeline.rates import agent_counts, outcome_counts
from pipeline.ray_workers import add_ray_flag, require_ray
from sandbox.containers import add_image_flag, reap, require_image
from schema import VOIDED, BadInputError, OperatorInfo, Scenario, Trajectory
from training.run import load_tokenizer

OF_MODEL, OF_PROGRAM = {"dtype", "load_4bit"}, {"max_seconds", "max_tokens"}
UNREAD = {  # flags that an operator does not read
    "endpoint": OF_MODEL | OF_PROGRAM,
    "local": OF_PROGRAM | {"retries"},
    "reference": OF_MODEL | OF_PROGRAM | {"temperature", "max_new_tokens", "render", "retries"},
    "agent": {"retries"},
}
AGENT_FLAGS = ("agent", "answers", "max_seconds", "max_tokens")  # that decide the records of agent programs alone


@dataclass(frozen=True)
class RolloutSettings:
    """The flags."""

    scenarios: Path
    out: Path
    operator: str
    agent: str | None
    answers: str
    base: str | None
    adapter: Path | None
    render: Wire | None
    samples: int
    panic_samples: int | None
    max_steps: int
    max_new_tokens: int
    timeout_seconds: float
    max_seconds: float
    max_tokens: int
    temperature: float | None
    retries: int
    no_scaffold: bool
    completions: bool
    workers: int | None
    limit: int | None
    seed: int
    dtype: str
    load_4bit: bool
    image: str
    ray: str | None
    partial: bool
    redo: bool

    def samples_by_terminal(self) -> dict[str, int]:
        """Rollouts per scenario, by the scenario's terminal."""
        return {"exit": self.samples, "panic": self.samples if self.panic_samples is None else self.panic_samples}

    def at_once(self) -> int:
        """Rollouts at once: a local model decodes eight in little more time than two."""
        if self.workers is None:
            return 8 if self.operator == "local" else 2
        return self.workers


def main(settings: RolloutSettings) -> int:
    """Check everything, play what is not there yet, account for every (scenario, sample)."""
    if (settings.operator in ("local", "agent") or settings.completions) and settings.base is None:
        settings = dataclasses.replace(settings, base=stage.DEFAULT_BASE)
    check_rollout_settings(settings)
    endpoint = endpoint_of(settings) if settings.operator == "endpoint" else None
    program = AGENTS[settings.agent] if settings.agent else None
    image = require_program_image(program, settings.image) if program else require_image(settings.image)
    reap()
    every = read_scenarios(settings.scenarios, partial=settings.partial)
    records = every[: settings.limit]
    refuse_other_image(records, settings.image)
    manifest = stage.begin(
        settings.out, stage="rollout", flags=flags_of_records(settings, endpoint), inputs=[settings.scenarios],
        image_digest=image, redo=settings.redo,
    )  # fmt: skip
    planned = plan(records, settings.samples_by_terminal())
    done = {episode.id: found for episode in planned if (found := read_finished(settings.out, episode))}
    todo = [episode for episode in planned if episode.id not in done]
    resumed = len(done)
    if todo:
        cancelled = threading.Event()
        limits = EpisodeLimits(settings.max_steps, settings.timeout_seconds)
        with player_of(settings, cancelled) as play:
            own = settings.ray is None and play is None
            make = operator_maker(settings, endpoint, cancelled) if own else ReferenceOperator
            how = RolloutPlan(
                make, settings.seed, limits, settings.at_once(), cancelled, settings.image, ray_run(settings, image),
                play=play, options=play.options if play else None,
            )  # fmt: skip
            done |= run_episodes(how, todo, settings.out, label="rollout")
    summary = {"scenarios": len(every), "beyond_limit": len(every) - len(records)}
    summary |= count_outcomes(list(done.values()), len(planned))
    if len(done) == len(planned):
        stage.finish(settings.out, manifest, ids=done, counts=summary)
    about = {"out": str(settings.out), "samples": settings.samples, "resumed": resumed}
    stage.print_summary({**about, **summary})
    given_up = sorted(one.id for one in done.values() if one.outcome in VOIDED and is_final(one))
    if given_up:
        print(f"{len(given_up)} rollouts stay void after {ATTEMPTS} attempts, {given_up[0]} first", file=sys.stderr)
    return stage.WORLD_FAILED if summary["voided"] > len(given_up) or summary["unplayed"] else stage.DONE


def check_rollout_settings(settings: RolloutSettings) -> None:
    """Raise BadInputError for invalid flags, and for flags that do not belong together."""
    every = {one.name for one in dataclasses.fields(settings)}
    stage.refuse_unread(settings, parser(), every - UNREAD[settings.operator], f"--operator {settings.operator}")
    if settings.operator == "agent" and settings.answers == "reference":
        stage.refuse_unread(settings, parser(), every - OF_MODEL - {"temperature"}, "--answers reference")
    if settings.operator == "endpoint" and not settings.completions:
        stage.refuse_unread(settings, parser(), every - {"render"}, "--operator endpoint without --completions")
    require_ray(settings.ray)
    stage.require_at_least_one(
        samples=settings.samples, panic_samples=settings.panic_samples, max_steps=settings.max_steps,
        max_new_tokens=settings.max_new_tokens, max_tokens=settings.max_tokens, workers=settings.workers,
        limit=settings.limit,
    )  # fmt: skip
    if settings.retries < 0:
        raise BadInputError(f"--retries {settings.retries}: must be at least 0")
    stage.require_seconds(settings.timeout_seconds)
    stage.require_temperature(settings.temperature)
    if (settings.operator == "agent") != (settings.agent is not None):
        raise BadInputError(
            f"--agent NAME and --operator agent belong together, this is --operator {settings.operator}"
        )
    if settings.answers == "reference" and settings.operator != "agent":
        raise BadInputError(f"--answers belongs to --operator agent, this is --operator {settings.operator}")
    if settings.no_scaffold and settings.operator != "endpoint":
        raise BadInputError(f"--no-scaffold belongs to --operator endpoint, this is --operator {settings.operator}")
    if settings.completions and settings.operator != "endpoint":
        raise BadInputError(f"--completions belongs to --operator endpoint, this is --operator {settings.operator}")
    if settings.operator not in ("local", "agent") and not settings.completions:
        if settings.base is not None or settings.adapter is not None:
            raise BadInputError(
                f"--base and --adapter belong to --operator local or agent and to --completions, "
                f"this is --operator {settings.operator}"
            )
        return
    assert settings.base is not None
    if settings.adapter is not None and settings.render is not None:
        raise BadInputError("--render: the adapter says which render it was trained with; drop the flag")
    if settings.operator == "agent":
        check_agent_settings(settings)
    if not settings.completions:
        check_machine(settings.base, settings.dtype)  # before a hub's weights are fetched
    fetch(settings.base, settings.adapter)
    if settings.operator == "agent":
        ChatTemplate.of(load_tokenizer(settings.base))
        if settings.adapter is not None and read_json(settings.adapter / "render.json").get("wire") != "chat":
            raise BadInputError(
                f"{settings.adapter}/render.json: wire: an agent program's messages are read by the chat template; "
                "train an adapter with --render chat"
            )
    sampled = not settings.completions and settings.answers == "model"
    if sampled and max(settings.samples_by_terminal().values()) > 1 and not settings.temperature:
        print("--samples: without --temperature every sample of a local model is the same", file=sys.stderr)


def check_agent_settings(settings: RolloutSettings) -> None:
    """Raise BadInputError for flags that do not belong to --operator agent."""
    if settings.ray is not None:
        raise BadInputError("--ray does not belong to --operator agent, whose endpoint is local; drop it")
    stage.require_seconds(settings.max_seconds, "--max-seconds")
    if settings.render is not None:
        raise BadInputError("--render: an agent program's messages are read by the base's chat template; drop the flag")
    if settings.answers == "reference" and settings.adapter is not None:
        raise BadInputError("--adapter belongs to --answers model, this is --answers reference; drop one")


def flags_of_records(settings: RolloutSettings, endpoint: EndpointOperator | None) -> dict[str, Any]:
    """The flags that decide the records, for the manifest: base and adapter by their hash, the endpoint's model."""
    not_deciding = {"scenarios", "out", "partial", "redo", "retries", "image", "ray"}
    return {
        **{name: value for name, value in vars(settings).items() if name not in not_deciding},
        "panic_samples": settings.samples_by_terminal()["panic"],
        "model": endpoint.model if endpoint else None,
        "base": model_hash(settings.base) or settings.base if settings.base else None,
        "adapter": adapter_hash(settings.adapter) if settings.adapter else None,
        **{name: getattr(settings, name) if settings.agent else None for name in AGENT_FLAGS},
        "no_scaffold": settings.no_scaffold or None,
        "completions": settings.completions or None,
    }


def endpoint_of(settings: RolloutSettings) -> EndpointOperator:
    """The endpoint that the environment names. Raises BadInputError."""
    return EndpointOperator.from_environment(
        scaffold=None if settings.no_scaffold or settings.completions else SCAFFOLD,
        renderer=prompt_renderer(settings) if settings.completions else None,
        temperature=settings.temperature,
        max_new_tokens=settings.max_new_tokens,
        retries=settings.retries,
    )


def prompt_renderer(settings: RolloutSettings) -> Renderer:
    """The renderer of the prompts that are sent as text: that of the adapter's training, or of the flag."""
    assert settings.base is not None
    return Renderer.of(load_tokenizer(settings.base), settings.adapter, settings.render)


def plan(records: Sequence[Scenario], samples: dict[str, int]) -> list[Episode]:
    """Every (scenario, sample). All scenarios come once before any comes twice, in case the run is stopped."""
    return [
        Episode(record, sample)
        for sample in range(max(samples.values()))
        for record in records
        if sample < samples[record.terminal]
    ]


def operator_maker(
    settings: RolloutSettings, endpoint: EndpointOperator | None, cancelled: threading.Event
) -> Callable[[], Operator]:
    """A function that makes the operator of one rollout. A local model is loaded once, here."""
    if settings.operator == "reference":
        return ReferenceOperator
    if endpoint is not None:
        return lambda: dataclasses.replace(endpoint)
    assert settings.base is not None
    return local_operators(
        settings.base,
        settings.adapter,
        render=settings.render,
        dtype=settings.dtype,
        load_4bit=settings.load_4bit,
        temperature=settings.temperature or 0.0,
        max_new_tokens=settings.max_new_tokens,
        cancelled=cancelled,
    )


def ray_run(settings: RolloutSettings, image_digest: str) -> RayRun | None:
    """The cluster that --ray names; each of its nodes makes its own operators, with the endpoint that is set here."""
    if settings.ray is None:
        return None
    base = settings.base if settings.operator == "local" else None
    return RayRun(settings.ray, image_digest, partial_of(node_operators, settings), base, settings.adapter)


def node_operators(settings: RolloutSettings, cancelled: threading.Event) -> Callable[[], Operator]:
    """What makes the operators of a node."""
    return operator_maker(settings, endpoint_of(settings) if settings.operator == "endpoint" else None, cancelled)


@contextlib.contextmanager
def player_of(settings: RolloutSettings, cancelled: threading.Event) -> Iterator[ProgramPlayer | None]:
    """What plays the episodes of --operator agent, and the endpoint that answers; None for every other operator."""
    if settings.agent is None:
        yield None
        return
    assert settings.base is not None
    program, template = AGENTS[settings.agent], ChatTemplate.of(load_tokenizer(settings.base))
    limits = ProgramLimits(settings.max_steps, settings.max_seconds, settings.max_tokens, settings.timeout_seconds)
    sampling = Sampling(settings.temperature or 0.0, settings.max_new_tokens, settings.seed)
    info = OperatorInfo(kind="agent", agent=program.name, model=settings.answers)
    if settings.answers == "reference":
        backend, backends = no_backend(template), reference_backends(template, program)
    else:
        backend, backends = (
            model_backend(
                settings.base, settings.adapter, template, dtype=settings.dtype, load_4bit=settings.load_4bit
            ),
            None,
        )
        said = {"temperature": sampling.temperature, "max_new_tokens": sampling.max_new_tokens}
        digest = adapter_hash(settings.adapter) if settings.adapter else None
        info = info.model_copy(update={"model": settings.base, "adapter_hash": digest, "sampling": said})
    with EndpointServer(template, backend, sampling=sampling) as server:
        yield ProgramPlayer(program, limits, settings.image, info, server, settings.seed, cancelled, backends)


def count_outcomes(trajectories: Sequence[Trajectory], total: int) -> dict[str, Any]:
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
        "outcomes": outcome_counts(trajectories),
        **({"agent_counts": counts} if (counts := agent_counts(trajectories)) else {}),
    }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("--scenarios", type=Path, required=True, help="directory of scenarios")
    add("--out", type=Path, required=True, help="directory for the trajectories")
    add(
        "--operator",
        choices=("endpoint", "local", "reference", "agent"),
        default="endpoint",
        help="who acts (default endpoint)",
    )
    add("--agent", choices=sorted(AGENTS), default=None, help="agent: the program that acts inside the sandbox")
    add(
        "--answers",
        choices=("model", "reference"),
        default="model",
        help="agent: who answers the program, the base with its adapter or the reference operator (default model)",
    )
    add(
        "--base",
        default=None,
        help=f"local, agent, --completions: base model, a directory or a hub name (default {stage.DEFAULT_BASE})",
    )
    add(
        "--adapter",
        type=adapter_argument,
        default=None,
        help="local, agent, --completions: adapter directory or selected.json (default none)",
    )
    stage.add_render_flag(parser, "without an adapter: ")
    add("--samples", type=int, default=1, help="rollouts per scenario (default 1)")
    add(
        "--panic-samples",
        type=int,
        default=None,
        help="rollouts per blocked scenario; these are rare, so sample them more often (default: --samples)",
    )
    add(
        "--max-steps",
        type=int,
        default=30,
        help="operator turns per rollout, answers of the model for an agent program (default 30)",
    )
    add(
        "--max-new-tokens",
        type=int,
        default=512,
        help="tokens per command, of an agent program per answer (default 512)",
    )
    add("--timeout-seconds", type=float, default=30.0, help="seconds per command and for the checker (default 30)")
    add("--max-seconds", type=float, default=900.0, help="agent: seconds of the program (default 900)")
    add("--max-tokens", type=int, default=32768, help="agent: sampled tokens per rollout (default 32768)")
    add(
        "--temperature",
        type=float,
        default=None,
        help="sampling temperature (default: endpoint's own; local 0, greedy)",
    )
    add("--retries", type=int, default=5, help="endpoint: further tries of a failed request (default 5)")
    add(
        "--no-scaffold",
        action="store_true",
        help="endpoint: send the session's turns alone, to a model that was tuned with --render chat",
    )
    add(
        "--completions",
        action="store_true",
        help="endpoint: send the rendered prompt as text; --base has the tokenizer, --adapter or --render the format",
    )
    add("--workers", type=int, default=None, help="rollouts at once (default 8 with --operator local, else 2)")
    add("--limit", type=int, default=None, help="only the first scenarios (default all)")
    add("--seed", type=int, default=0, help="seed of sampling and of the reference operator's variety (default 0)")
    add("--dtype", choices=DTYPES, default="auto", help="local, agent: dtype of the weights (default auto)")
    add("--load-4bit", action="store_true", help="local, agent: load the base in 4-bit NF4")
    add_image_flag(parser)
    add_ray_flag(parser)
    add("--partial", action="store_true", help="take an unfinished scenario directory")
    add("--redo", action="store_true", help="start over instead of resuming")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
