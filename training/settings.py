"""The settings of a training run, and the flags that set them.

    from training.settings import FitSettings, add_training_flags

    settings = FitSettings(**vars(add_training_flags(stage.command_line(__doc__)).parse_args()))

sft.py and `resident.py fit` have these flags. dpo.py has those of every run over recorded rows, and its own. rl.py has
those that all trainers share, and its own (training/rl_settings.py).
"""

import argparse
import dataclasses
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from model import hardware
from model.hardware import Workload
from model.loading import DTYPES, pick_dtype
from model.render import Wire
from pipeline.files import read_json
from pipeline.stage import add_base_flag, add_render_flag, require_at_least_one
from schema import BadInputError

EPOCHS, OVERFIT_EPOCHS = 3, 100
TERMINAL_LOSS = ("at-fault", "all")
AT_LEAST_ONE = (
    "lora_r", "lora_alpha", "epochs", "batch", "accum", "max_length_tokens", "limit", "overfit", "per_scenario",
    "updates", "groups", "episodes", "max_steps", "max_new_tokens", "workers", "skip_after", "revisit_after",
    "save_every", "assumed_tokens", "warmup_steps",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class WeightSettings:
    """The flags of every trainer that decide the trained weights, whatever its loop is."""

    lr: float | None = None  # None: by the width of the base
    epochs: int = EPOCHS  # None, as from a flag that was left out, becomes the class's default
    load_4bit: bool = False
    dtype: str = "auto"
    gradient_checkpointing: bool | None = None  # None: on for CUDA
    seed: int = 0
    max_length_tokens: int = 4096

    def __post_init__(self) -> None:
        if self.epochs is None:
            object.__setattr__(self, "epochs", type(self).epochs)

    def workload_of(
        self, lengths: Sequence[int], trained: Sequence[int], *, rank: int, targets: str, micro_batch: int,
        step_rows: int, rows: int = 1,
    ) -> Workload:  # fmt: skip
        """The cost on the device here of training on rows of these lengths, with so many trained positions each.

        Args:
            lengths: the tokens of each row.
            trained: its trained positions.
            rank: of the adapter.
            targets: as in --lora-targets.
            micro_batch: rows that are worked on at once on a GPU.
            step_rows: rows of an optimizer step; a CPU works on as many at once as it has threads.
            rows: rows that are held at once for each of those.
        """
        import torch

        on_gpu = torch.cuda.is_available()
        checkpointing = self.gradient_checkpointing
        return Workload(
            lengths=lengths,
            trained=trained,
            lora_r=rank,
            lora_targets=targets,
            epochs=self.epochs,
            batch=rows * (micro_batch if on_gpu else min(torch.get_num_threads(), step_rows)),
            load_4bit=self.load_4bit,
            checkpointing=on_gpu if checkpointing is None else checkpointing,
            half=pick_dtype(self.dtype, "cuda" if on_gpu else "cpu") != torch.float32,
        )


@dataclass(frozen=True, kw_only=True)
class LoopSettings(WeightSettings):
    """The flags of the trainers on recorded rows that decide the trained weights."""

    batch: int = 1
    accum: int = 8  # 1 for an overfit
    overfit: int | None = None

    def __post_init__(self) -> None:
        if self.overfit:
            object.__setattr__(self, "accum", 1)
            if self.epochs is None:
                object.__setattr__(self, "epochs", OVERFIT_EPOCHS)
        super().__post_init__()

    def work(
        self, lengths: Sequence[int], trained: Sequence[int], *, rank: int, targets: str, rows: int = 1
    ) -> Workload:
        """The run's costs on the device here; `rows` are held at once for each of --batch."""
        return self.workload_of(
            lengths, trained, rank=rank, targets=targets, micro_batch=self.batch, step_rows=self.batch * self.accum,
            rows=rows,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(LoopSettings):
    """Every flag of sft.py that decides the trained weights. Manifest and sekft.json record them under these names."""

    render: Wire | None = None  # None: chat where the base's template can carry a session
    lora_r: int = 16
    lora_alpha: int = 32
    lora_targets: str = "all-linear"
    limit: int | None = None
    include_not_kept: bool = False

    def workload(self, lengths: Sequence[int], trained: Sequence[int]) -> Workload:
        """The run's costs on the device here, for rows with so many tokens and trained positions."""
        return self.work(lengths, trained, rank=self.lora_r, targets=self.lora_targets)

    def deciding_flags(self) -> dict[str, Any]:
        """The flags that decide the trained weights, by name."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(TrainingSettings)}


@dataclass(frozen=True, kw_only=True)
class CommonSettings(WeightSettings):
    """The flags of every trainer: which base and directories to use, and what to print.

    Raises BadInputError for a number out of range.
    """

    base: str
    scenarios: Path | None = None
    out: Path | None = None
    holdout: Path | None = None
    logdir: Path | None = None
    inspect_only: bool = False
    show_rows: int = 0
    plan_only: bool = False
    usd_per_hour: float | None = None
    allow_slow: bool = False
    partial: bool = False
    redo: bool = False
    reload_after: bool | None = None  # None: yes, except where the base is held in memory

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least_one(**{name: getattr(self, name, None) for name in AT_LEAST_ONE})
        if self.show_rows < 0:
            raise BadInputError(f"--show is {self.show_rows}; it must be at least 0")
        if self.lr is not None and not 0 < self.lr < 1:
            raise BadInputError(f"--lr is {self.lr}; it must lie between 0 and 1, or be left out")
        if self.usd_per_hour is not None and not 0 <= self.usd_per_hour < math.inf:
            raise BadInputError(f"--usd-per-hour is {self.usd_per_hour}; it must be at least 0, and finite")
        if self.plan_only and self.inspect_only:
            raise BadInputError("--plan, --inspect: pass one of them")
        if self.usd_per_hour is not None and not self.plan_only:
            raise BadInputError("--usd-per-hour belongs to --plan; pass both, or neither")
        if self.show_rows and not self.inspect_only:
            raise BadInputError("--show belongs to --inspect; pass both, or neither")

    def within_context(self) -> Self:
        """These settings with the context of the base as the longest row, where that is shorter."""
        config = Path(self.base) / "config.json"
        context = read_json(config).get("max_position_embeddings") if config.exists() else None
        if not isinstance(context, int) or context >= self.max_length_tokens:
            return self
        return dataclasses.replace(self, max_length_tokens=context)

    def with_learning_rate(self, share: float = 1.0) -> Self:
        """These settings with a share of the base's usual learning rate where none was given."""
        if self.lr is not None:
            return self
        return dataclasses.replace(self, lr=float(f"{share * hardware.usual_learning_rate(self.base):.2g}"))

    def print_changes(self, given: "CommonSettings") -> None:
        """Say what the base has changed in the `given` settings, once nothing in them can be wrong any more."""
        if self.max_length_tokens != given.max_length_tokens:
            context = self.max_length_tokens
            print(f"{self.base}: its context is {context} tokens; longer rows are left out", file=sys.stderr)
        if self.lr != given.lr:
            print(f"learning rate {self.lr:g}, by the width of {self.base}; --lr sets another", file=sys.stderr)


@dataclass(frozen=True, kw_only=True)
class ContinuedSettings(CommonSettings):
    """The flags of the trainers that go on from an adapter. Raises BadInputError where there is none."""

    adapter: Path

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.adapter is None:  # what a selected.json may come to
            raise BadInputError("--adapter: no adapter is selected, the base won; name an adapter to start from")


@dataclass(frozen=True, kw_only=True)
class RunSettings(LoopSettings, CommonSettings):
    """The flags of sft.py and dpo.py together. Raises BadInputError for a number out of range."""

    data: Path


@dataclass(frozen=True, kw_only=True)
class FitSettings(TrainingSettings, RunSettings):
    """All flags of sft.py. Raises BadInputError for a number out of range."""


def add_training_flags(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Give a parser the flags of sft.py; returns it."""
    add = parser.add_argument
    add_run_flags(parser, rows="rows", lr="2e-4 * 4096 / width of the base", epochs=EPOCHS)
    add_render_flag(parser)
    add("--lora-r", type=int, default=16, help="rank of the adapter (default 16)")
    add("--lora-alpha", type=int, default=32, help="scale of the adapter times its rank (default 32)")
    add("--lora-targets", default="all-linear", help="comma-separated linear layers (default all-linear)")
    add("--include-not-kept", action="store_true", help="train on trajectories that are not kept, too")
    add("--limit", type=int, default=None, help="use only the first rows of --data")
    return parser


def add_run_flags(parser: argparse.ArgumentParser, *, rows: str, lr: str, epochs: int) -> None:
    """Give a parser the flags of the trainers on recorded rows.

    Args:
        parser: the parser.
        rows: what a batch consists of.
        lr: the default learning rate.
        epochs: the default number of epochs.
    """
    add = parser.add_argument
    add("--data", type=Path, required=True, help="directory of trajectories (rollout.py --out)")
    add("--scenarios", type=Path, default=None, help="train only on the sessions of these scenarios (default all)")
    add("--epochs", type=int, help=f"passes over the data (default {epochs}; --overfit: at most {OVERFIT_EPOCHS})")
    add("--batch", type=int, default=1, help=f"{rows} per micro-batch (default 1, which needs no padding)")
    add("--accum", type=int, default=8, help="micro-batches per optimizer step (default 8; --overfit: 1)")
    add("--overfit", type=int, metavar="N", help=f"sanity check: train on N {rows} until their loss is about 0")
    add_common_flags(parser, rows=rows, lr=f"decays linearly (default {lr})")


def add_terminal_loss_flag(parser: argparse.ArgumentParser, default: str) -> None:
    """Give a parser --terminal-loss."""
    parser.add_argument(
        "--terminal-loss",
        choices=TERMINAL_LOSS,
        default=default,
        help="at-fault: a session that failed is blamed for its terminal only where its final state is verified, so "
        f"that giving up is not unlearned; all: always (default {default})",
    )


def add_common_flags(parser: argparse.ArgumentParser, *, rows: str, lr: str) -> None:
    """Give a parser the flags of every trainer.

    Args:
        parser: the parser.
        rows: what is trained on.
        lr: how the learning rate changes, and its default.
    """
    add = parser.add_argument
    add_base_flag(parser)
    add("--out", type=Path, default=None, help="adapter directory to write; one directory per run")
    add("--holdout", type=Path, default=None, help="held-out scenarios (split.py): refuse data that overlaps")
    add("--lr", type=float, help=f"peak learning rate, {lr}")
    add("--max-length-tokens", type=int, default=4096, help="longer rows are left out and named (default 4096)")
    add("--load-4bit", action="store_true", help="load the base in 4-bit NF4")
    add("--dtype", choices=DTYPES, default="auto", help="dtype of the weights (default auto)")
    add(
        "--gradient-checkpointing",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="recompute activations to save memory (default: on for CUDA)",
    )
    add("--logdir", type=Path, default=None, help="TensorBoard directory (default <out>/runs)")
    add("--seed", type=int, default=0, help="seed of initialisation and order (default 0)")
    add("--inspect", dest="inspect_only", action="store_true", help="check mask and data; train nothing")
    add("--show", dest="show_rows", type=int, default=0, metavar="N", help="print N rows with their mask (--inspect)")
    add(
        "--plan", dest="plan_only", action="store_true", help="print command, steps, hours, memory, cost; train nothing"
    )
    add("--usd-per-hour", type=float, default=None, help="price of the machine, for --plan (default: no price)")
    add("--allow-slow", action="store_true", help="on a CPU: run what it is refused for, too large or days long")
    add("--partial", action="store_true", help="accept an unfinished data directory")
    add("--redo", action="store_true", help="start over instead of resuming")
    add(
        "--reload",
        dest="reload_after",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="compare the saved adapter's logits in a fresh process (default: on, except in a resident process)",
    )
