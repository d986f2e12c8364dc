"""Play many episodes whose operator is an agent program: which model answers, and which sandboxes they run in.

with EndpointServer(template, backend) as server:
play = ProgramPlayer(program, limits, "sekft-dash", info, server, seed=1, cancelled=cancelled)
run_episodes(RolloutPlan(…, play=play, options=play.options), episodes, out, label="rollout")
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agents.app import EndpointServer
from agents.backend import Backend, BackendError, DecoderBackend
from agents.canonical import ChatMessage
from agents.known import MODEL, AgentProgram
from agents.policy import PolicyBackend, ReferencePolicy
from agents.program_episode import ProgramLimits, play_program, program_options
from agents.provenance import Request
from agents.templates import ChatTemplate
from model.decoder import Decoder
from model.loading import load_model
from operators.episode import Episode
from operators.reference import ReferenceOperator
from sandbox.containers import SandboxOptions, api, require_image
from sandbox.session import SessionSource
from schema import BadInputError, OperatorInfo, Trajectory


@dataclass(frozen=True)
class ProgramPlayer:
    """Plays episodes with one program.

    Attributes:
        program: the agent program.
        limits: of each episode.
        world: the image that the scenarios know.
        operator: recorded, with the seed of each episode.
        endpoint: what the program calls.
        seed: of the run.
        cancelled: once set, the episodes under way end.
        backend: answers an episode with a seed instead of the endpoint's own backend.
    """

    program: AgentProgram
    limits: ProgramLimits
    world: str
    operator: OperatorInfo
    endpoint: EndpointServer
    seed: int
    cancelled: threading.Event
    backend: Callable[[Episode, int], Backend] | None = None

    @property
    def options(self) -> SandboxOptions:
        """Of the sandboxes."""
        return program_options(self.program, self.limits, self.world)

    def __call__(self, episode: Episode, told: Callable[[str], None], pool: SessionSource) -> Trajectory:
        """Play one episode."""
        seed = episode.seed_in(self.seed)
        return play_program(
            self.program, self.endpoint, episode, operator=self.operator.model_copy(update={"seed": seed}),
            limits=self.limits, pool=pool, cancelled=self.cancelled, told=told,
            backend=self.backend(episode, seed) if self.backend else None,
        )  # fmt: skip


def model_backend(base: str, adapter: Path | None, template: ChatTemplate, *, dtype: str, load_4bit: bool) -> Backend:
    """A base with its adapter, loaded into this process."""
    model, _ = load_model(base, adapter, dtype=dtype, load_4bit=load_4bit)
    return DecoderBackend(MODEL, Decoder(model), end_ids=template.end_ids, decode=template.decode)


def no_backend(template: ChatTemplate) -> Backend:
    """For an endpoint each of whose sessions has a backend of its own."""

    def refuse(request: Request) -> ChatMessage:
        raise BackendError("this session has no model")

    return PolicyBackend("none", template, refuse)


def reference_backends(template: ChatTemplate, program: AgentProgram) -> Callable[[Episode, int], PolicyBackend]:
    """What makes the reference operator's backend of one episode."""
    return lambda episode, seed: PolicyBackend(
        "reference", template, ReferencePolicy(ReferenceOperator(), episode.scenario, program, seed=seed)
    )


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
