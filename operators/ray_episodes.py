"""Play episodes on the nodes of a Ray cluster: what a node holds, and what it is made from."""

import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

from model.loading import model_hash
from operators.episode import Episode, EpisodeLimits, run_episode
from operators.protocol import Operator
from sandbox.containers import SandboxOptions
from sandbox.nodes import SandboxNode
from sandbox.pool import Pool
from schema import BadInputError, Trajectory

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
    """

    address: str
    image_digest: str
    make: MakeOperators
    base: str | None = None


@dataclass(frozen=True)
class EpisodeNodePlan:
    """What an EpisodeNode is made from; it is pickled, and called on the node."""

    run: RayRun
    seed: int
    limits: EpisodeLimits
    workers: int
    image: str
    base_hash: str | None
    most: float = math.inf  # episodes of the run; no node starts more sandboxes ahead

    def __call__(self) -> "EpisodeNode":
        """The node's hold. Raises BadInputError where the node's image or base differs."""
        return EpisodeNode(self)


class EpisodeNode(SandboxNode):
    """A node that plays episodes: its engine, sandboxes that are started ahead, and the operators' shared model."""

    def __init__(self, plan: EpisodeNodePlan) -> None:
        super().__init__(plan.image, plan.run.image_digest)
        if plan.run.base is not None and model_hash(plan.run.base) != plan.base_hash:
            raise BadInputError(f"--base {plan.run.base}: missing or other content than where the run was started")
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
