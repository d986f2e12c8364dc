"""Play the episodes of rl.py on the nodes of a Ray cluster, with the weights of the step.

    with policy_nodes(settings, image_digest, own, dtype="float32", cancelled=cancelled) as nodes:
        hand_out(nodes, adapter)
        run_episodes(RolloutPlan(..., ray=nodes), episodes, out, label="step 1")

A node loads the base with the start adapter once. Before a step it is sent the two files of the step's adapter. The
node of this process plays with the model that is trained here.
"""

import dataclasses
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from model.decoder import Decoder
from model.loading import adapter_hash, load_model
from model.render import Renderer
from operators.episode import EpisodeLimits
from operators.local import LocalOperator
from operators.protocol import Operator
from operators.ray_episodes import EpisodeNode, RayRun
from operators.reference import ReferenceOperator
from operators.rollouts import RolloutPlan, episode_nodes
from pipeline.ray_workers import Nodes
from training.rl_settings import RlSettings

FILES = ("adapter_config.json", "adapter_model.safetensors")
DTYPE_FLAGS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def policy_operator(
    settings: RlSettings, decoder: Decoder, renderer: Renderer, digest: str, cancelled: threading.Event
) -> LocalOperator:
    """What plays one episode with the weights that `decoder` has; `digest` is the hash of their adapter."""
    made = LocalOperator(
        decoder, renderer, temperature=settings.temperature, max_new_tokens=settings.max_new_tokens,
        name=settings.base, digest=digest, cancelled=cancelled,
    )  # fmt: skip
    made.limit = min(made.limit, settings.max_length_tokens)  # what is played can be trained
    return made


class NodePolicy:
    """The policy on a node. A call makes the operator of one episode."""

    def __init__(self, settings: RlSettings, cancelled: threading.Event) -> None:
        self.settings, self.cancelled = settings, cancelled
        self.model, tokenizer = load_model(
            settings.base, settings.adapter, dtype=settings.dtype, load_4bit=settings.load_4bit
        )
        self.renderer, self.decoder = Renderer.for_adapter(settings.adapter, tokenizer), Decoder(self.model)
        self.digest = adapter_hash(settings.adapter)

    def __call__(self) -> Operator:
        """An operator with the weights taken last."""
        return policy_operator(self.settings, self.decoder, self.renderer, self.digest, self.cancelled)


def policy_nodes(
    settings: RlSettings, image_digest: str, own: Callable[[], Operator], *, dtype: str, cancelled: threading.Event
) -> Nodes[EpisodeNode]:
    """The nodes of the cluster that --ray names, as a context; each holds the base in `dtype`, as in `float32`.

    `own` makes the operator of an episode that this process plays.
    """
    assert settings.ray is not None
    make = partial(NodePolicy, dataclasses.replace(settings, dtype=DTYPE_FLAGS[dtype]))
    limits = EpisodeLimits(settings.max_steps, settings.timeout_seconds)
    plan = RolloutPlan(ReferenceOperator, settings.seed, limits, settings.workers, cancelled, settings.image)
    run = RayRun(settings.ray, image_digest, make, settings.base, settings.adapter)
    return episode_nodes(plan, run, own=lambda _: own)


def hand_out(nodes: Nodes[EpisodeNode], adapter: Path) -> None:
    """Have every node play with the weights of the adapter in this directory, while no episode is under way."""
    nodes.everywhere(receive_weights, {name: (adapter / name).read_bytes() for name in FILES}, adapter_hash(adapter))


def receive_weights(node: EpisodeNode, files: dict[str, bytes], digest: str) -> None:
    """Put the adapter of these files into the node's model."""
    from peft import load_peft_weights, set_peft_model_state_dict

    policy = node.operators
    if not isinstance(policy, NodePolicy):  # this process, whose model has them
        return
    with tempfile.TemporaryDirectory(prefix="sekft-") as place:
        for name, content in files.items():
            (Path(place) / name).write_bytes(content)
        set_peft_model_state_dict(policy.model, load_peft_weights(place, device="cpu"))
    policy.digest = digest
