"""Play episodes on the nodes of a Ray cluster: what a node holds, and what it is made from."""

import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from model.loading import model_hash
from operators.episode import Episode, EpisodeLimits, run_episode
from operators.protocol import Operator
from sandbox.containers import SandboxOptions
from sandbox.nodes import SandboxNode
from sandbox.pool import Pool
from schema import BadInputError, Trajectory, canonical, sha256

ADAPTER_FILES = ("adapter_model.safetensors", "adapter_config.json", "render.json")
MakeOperators = Callable[[threading.Event], Callable[[], Operator]]


@dataclass(frozen=True)
class RayRun:
    """How episodes are spread over a cluster.

    Attributes:
        address: of the cluster, or `local`.
        image_digest: which every node's image must have.
        make: called once per actor with its event `cancelled`; it loads the model and returns what makes an operator.
            It is pickled.
        base: a local model's base, whose hash must be the same on every node; None where there is none.
        adapter: whose weights, config and render must be the same on every node; None where there is none.
    """

    address: str
    image_digest: str
    make: MakeOperators
    base: str | None = None
    adapter: Path | None = None

    def hashes(self) -> dict[str, str | None]:
        """The hash of the base and of the adapter's files as they are on this machine, by flag; None for no base."""
        found = {} if self.base is None else {f"--base {self.base}": model_hash(self.base)}
        if self.adapter is not None:
            paths = [self.adapter / name for name in ADAPTER_FILES]
            files = {path.name: sha256(path.read_bytes()) for path in paths if path.exists()}
            found[f"--adapter {self.adapter}"] = sha256(canonical(files))
        return found


@dataclass(frozen=True)
class EpisodeNodePlan:
    """What an EpisodeNode is made from; it is pickled, and called on the node."""

    run: RayRun
    seed: int
    limits: EpisodeLimits
    workers: int
    image: str
    hashes: dict[str, str | None]  # of the run, where it was started
    most: float = math.inf  # episodes of the run; no node starts more sandboxes ahead

    def __call__(self) -> "EpisodeNode":
        """The node's hold. Raises BadInputError where the node's image, base or adapter differs."""
        return EpisodeNode(self)


class EpisodeNode(SandboxNode):
    """A node that plays episodes: its engine, sandboxes that are started ahead, and the operators' shared model."""

    def __init__(self, plan: EpisodeNodePlan) -> None:
        super().__init__(plan.image, plan.run.image_digest)
        for flag, digest in plan.run.hashes().items():
            if digest != plan.hashes[flag]:
                raise BadInputError(f"{flag}: missing or other content than where the run was started")
        self.plan, self.operators = plan, plan.run.make(self.cancelled)
        options = SandboxOptions(image=plan.image, lifetime_seconds=plan.limits.lifetime_seconds())
        self.ahead = Pool(max(1, min(plan.workers, os.cpu_count() or 1)), most=plan.most, options=options)
        self.ahead.__enter__()

    def record(self, episode: Episode) -> Trajectory:
        """Play one episode here."""
        return run_episode(
            self.operators(), episode, seed=self.plan.seed, limits=self.plan.limits, cancelled=self.cancelled,
            pool=self.ahead,
        )  # fmt: skip

    def release(self) -> None:
        """End the sandboxes that boot ahead, then remove all others."""
        self.cancelled.set()
        self.ahead.__exit__()
        super().release()
