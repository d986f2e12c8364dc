"""The settings of rl.py, and the flags that set them."""

import argparse
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.hardware import Workload
from model.loading import adapter_argument
from pipeline.ray_workers import add_ray_flag, require_ray
from sandbox.containers import IMAGE, add_image_flag
from schema import BadInputError
from training.settings import ContinuedSettings, add_common_flags, add_terminal_loss_flag

EPOCHS = 1
NOT_DECIDING = (
    "base", "scenarios", "out", "holdout", "logdir", "inspect_only", "show_rows", "plan_only", "usd_per_hour",
    "assumed_tokens", "episodes_per_hour", "allow_slow", "partial", "redo", "reload_after", "adapter", "replay",
    "sft_data", "image", "save_every", "ray",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RlSettings(ContinuedSettings):
    """All flags of rl.py. Raises BadInputError for a number out of range."""

    scenarios: Path
    replay: Path | None = None
    updates: int = 50
    warmup_steps: int = 1
    groups: int = 8
    episodes: int = 4
    epochs: int = EPOCHS
    temperature: float = 1.0
    clip_low: float = 0.2
    clip_high: float = 0.28
    kl: float = 0.0
    divide_by_std: bool = False
    credit: str = "episode"
    loss_type: str = "grpo"
    terminal_loss: str = "all"
    negative_weight: float = 1.0
    sft_data: Path | None = None
    sft_weight: float = 1.0
    terminate_share: float = 0.0
    discover_share: float = 0.0
    directive_share: float = 0.0
    skip_after: int = 2
    revisit_after: int = 8
    max_steps: int = 24
    max_new_tokens: int = 80
    timeout_seconds: float = 30.0
    workers: int = 8
    save_every: int = 10
    image: str = IMAGE
    ray: str | None = None
    assumed_tokens: int = 1000
    episodes_per_hour: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seed < 0:
            raise BadInputError(f"--seed is {self.seed}; it must be at least 0")
        if self.episodes < 2:
            raise BadInputError(f"--episodes is {self.episodes}; a baseline takes at least 2 episodes of a scenario")
        for name, least, most in (
            ("temperature", 0.0, 10.0), ("clip_low", 0.0, 1.0), ("clip_high", 0.0, 100.0),
            ("timeout_seconds", 0.0, 1e9),
        ):  # fmt: skip
            value = getattr(self, name)
            if not least < value < most:
                flag = name.replace("_", "-")
                raise BadInputError(f"--{flag} is {value}; it must lie between {least:g} and {most:g}")
        for name in ("kl", "terminate_share", "discover_share", "directive_share"):
            value, most = getattr(self, name), 100 if name == "kl" else 1
            if not 0 <= value < most:
                flag = name.replace("_", "-")
                raise BadInputError(f"--{flag} is {value}; it must be at least 0 and below {most}")
        if not 0 <= self.negative_weight <= 1:
            raise BadInputError(f"--negative-weight is {self.negative_weight}; it must lie between 0 and 1")
        if not 0 < self.sft_weight < 100:
            raise BadInputError(f"--sft-weight is {self.sft_weight}; it must lie between 0 and 100")
        if self.sft_data is None and self.sft_weight != RlSettings.sft_weight:
            raise BadInputError("--sft-weight belongs to --sft-data; pass both, or neither")
        if self.credit == "command" and self.divide_by_std:
            raise BadInputError("--divide-by-std belongs to --credit episode; drop one of them")
        require_ray(self.ray)
        if self.ray is not None and self.replay is not None:
            raise BadInputError("--ray: nothing is played with --replay; drop one of them")
        if self.episodes_per_hour is not None and not 0 < self.episodes_per_hour < 1e9:
            raise BadInputError(f"--episodes-per-hour is {self.episodes_per_hour}; it must be above 0, and finite")
        if self.episodes_per_hour is not None and (not self.plan_only or self.replay is not None):
            raise BadInputError("--episodes-per-hour belongs to --plan, without --replay; drop it")
        if self.shares >= 1:
            raise BadInputError(
                "--terminate-share, --discover-share and --directive-share: together they must stay below 1"
            )

    @property
    def shares(self) -> float:
        """The part of the reward that is earned before the goal."""
        return self.terminate_share + self.discover_share + self.directive_share

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 1: linear up to --lr over the first --warmup-steps."""
        return (self.lr or 0.0) * min(1.0, step / self.warmup_steps)

    def deciding_flags(self) -> dict[str, Any]:
        """The flags that decide the trained weights, by name."""
        names = [one.name for one in dataclasses.fields(self) if one.name not in NOT_DECIDING]
        flags = {name: getattr(self, name) for name in names}
        flags["epochs_per_step"] = flags.pop("epochs")  # a resumed run may have more `epochs`, but not of this kind
        return flags

    def rl_work(self, lengths: Sequence[int], trained: Sequence[int], *, rank: int, targets: str) -> Workload:
        """The cost of training on rows of these lengths, on the device here: a row at a time on a GPU."""
        return self.workload_of(
            lengths, trained, rank=rank, targets=targets, micro_batch=1, step_rows=self.groups * self.episodes
        )


def add_rl_flags(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Give a parser the flags of rl.py; returns it."""
    add = parser.add_argument
    add(
        "--adapter",
        type=adapter_argument,
        required=True,
        help="adapter to start from (--out of sft.py, dpo.py or rl.py, or a selected.json)",
    )
    add("--scenarios", type=Path, required=True, help="directory of scenarios to play, or that --replay's are of")
    add("--replay", type=Path, default=None, help="train on these recorded episodes and play none (default: play)")
    add(
        "--updates",
        type=int,
        default=50,
        help="steps: play, then update (default 50; --replay: at most); may grow on a rerun",
    )
    add("--warmup-steps", type=int, default=1, help="the rate grows to --lr over so many first steps (1)")
    add("--groups", type=int, default=8, help="scenarios in a step (default 8)")
    add("--episodes", type=int, default=4, help="episodes of each scenario in a step (default 4)")
    add("--epochs", type=int, help=f"optimizer steps on the episodes of a step (default {EPOCHS})")
    add("--temperature", type=float, default=1.0, help="sampling temperature (default 1)")
    add("--clip-low", type=float, default=0.2, help="the ratio is cut below 1 minus this (default 0.2)")
    add("--clip-high", type=float, default=0.28, help="the ratio is cut above 1 plus this (default 0.28)")
    add("--kl", type=float, default=0.0, help="weight of the KL to the start adapter (default 0)")
    add("--divide-by-std", action="store_true", help="divide advantages by the standard deviation, as GRPO does")
    add(
        "--credit",
        choices=("episode", "command"),
        default="episode",
        help="episode: all commands of an episode have its advantage; command: each has its own, against what other "
        "episodes typed after the same command and output (default episode)",
    )
    add(
        "--loss-type",
        choices=("grpo", "dapo"),
        default="grpo",
        help="grpo: each episode weighs the same; dapo: each sampled token of a step does (default grpo)",
    )
    add(
        "--negative-weight",
        type=float,
        default=1.0,
        help="what the advantage of an episode below its group's mean is multiplied by; with 0 only episodes above it "
        "are trained on (default 1)",
    )
    add(
        "--sft-data",
        type=Path,
        default=None,
        help="kept sessions (trajectories), --groups of which join each update with their SFT loss, so that what the "
        "adapter was taught is not unlearned (default: none)",
    )
    add("--sft-weight", type=float, default=1.0, help="weight of the mean SFT loss of these sessions (default 1)")
    add_terminal_loss_flag(parser, RlSettings.terminal_loss)
    add("--terminate-share", type=float, default=0.0, help="share of the reward for ending the session (default 0)")
    add("--discover-share", type=float, default=0.0, help="share of the reward for seeing every directive (default 0)")
    add("--directive-share", type=float, default=0.0, help="share of the reward for the directives seen (default 0)")
    add("--skip-after", type=int, default=2, help="skip a scenario after so many visits in a row without signal (2)")
    add("--revisit-after", type=int, default=8, help="play a skipped scenario again after so many steps (default 8)")
    add("--max-steps", type=int, default=24, help="commands per episode (default 24)")
    add("--max-new-tokens", type=int, default=80, help="tokens per command (default 80)")
    add("--timeout-seconds", type=float, default=30.0, help="seconds per command and for the checker (default 30)")
    add("--workers", type=int, default=8, help="episodes at once (default 8)")
    add("--save-every", type=int, default=10, help="keep an adapter in <out>/steps every so many steps (default 10)")
    add_image_flag(parser)
    add_ray_flag(parser)
    add("--assumed-tokens", type=int, default=1000, help="tokens of an episode, for --plan without --replay (1000)")
    add(
        "--episodes-per-hour", type=float, help="--plan: how fast episodes are played here (default: leave playing out)"
    )
    add_common_flags(parser, rows="episodes", lr="constant (default 1e-5 * 4096 / width of the base)")
    return parser
