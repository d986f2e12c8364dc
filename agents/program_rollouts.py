"""Play many episodes whose operator is an agent program: which model answers, and which sandboxes they run in.

with program_player(settings, limits, cancelled) as play:
    run_episodes(RolloutPlan(…, play=play, options=play.options), episodes, out, label="rollout")
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from agents.known import AgentProgram
from agents.program_episode import Endpoint, ProgramLimits, play_program, program_options
from operators.episode import Episode
from sandbox.containers import SandboxOptions, api, require_image
from sandbox.session import SessionSource
from schema import BadInputError, OperatorInfo, Scenario, Trajectory

EndpointOf = Callable[[Scenario, int], AbstractContextManager[Endpoint]]


@dataclass(frozen=True)
class ProgramPlayer:
    """Plays episodes with one program.

    Attributes:
        program: the agent program.
        limits: of each episode.
        world: the image that the scenarios know.
        operator: recorded with the seed of each episode.
        endpoint: what answers an episode of a scenario with a seed.
        seed: of the run.
        cancelled: once set, the episodes under way end.
    """

    program: AgentProgram
    limits: ProgramLimits
    world: str
    operator: OperatorInfo
    endpoint: EndpointOf
    seed: int
    cancelled: threading.Event

    @property
    def options(self) -> SandboxOptions:
        """Of the sandboxes."""
        return program_options(self.program, self.limits, self.world)

    def __call__(self, episode: Episode, told: Callable[[str], None], pool: SessionSource) -> Trajectory:
        """Play one episode."""
        seed = episode.seed_in(self.seed)
        with self.endpoint(episode.scenario, seed) as endpoint:
            return play_program(
                self.program, endpoint, episode, operator=self.operator.model_copy(update={"seed": seed}),
                limits=self.limits, pool=pool, cancelled=self.cancelled, told=told,
            )  # fmt: skip


def require_program_image(program: AgentProgram, world: str) -> str:
    """The id of the program's image. Raises BadInputError where it is missing or was built on another `world`."""
    name, base = program.image(world), require_image(world)
    remedy = f"run `WORLD={world} sh runs/agent_image.sh {program.name}`"
    try:
        digest = require_image(name)
    except BadInputError as error:
        raise BadInputError(f"--agent {program.name}: image {name!r} is missing or unfit; {remedy}") from error
    built_on = (api().inspect_image(name)["Config"]["Labels"] or {}).get("sekft.world")
    if built_on != base:
        raise BadInputError(f"--agent {program.name}: image {name!r} was built on another {world!r}; {remedy}")
    return digest
