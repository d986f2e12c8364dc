"""The settings of a training run, and the flags that set them.

    from training.settings import FitSettings, add_training_flags

    settings = FitSettings(**vars(add_training_flags(stage.command_line(__doc__)).parse_args()))

sft.py and `resident.py fit` have these flags.
"""

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model import hardware
from model.hardware import Workload
from model.loading import DTYPES, pick_dtype
from model.render import Wire
from pipeline.files import read_json
from pipeline.stage import add_base_flag
from schema import BadInputError

EPOCHS, OVERFIT_EPOCHS = 3, 100
AT_LEAST_ONE = ("lora_r", "lora_alpha", "epochs", "batch", "accum", "max_length_tokens", "limit", "overfit")


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Every flag that decides the trained weights. The manifest and sekft.json record them under these names."""

    render: Wire = "markers"
    lora_r: int = 16
    lora_alpha: int = 32
    lora_targets: str = "all-linear"
    lr: float | None = None  # None: by the width of the base
    epochs: int = EPOCHS  # None, as from a flag that was left out, becomes EPOCHS or OVERFIT_EPOCHS
    batch: int = 1
    accum: int = 8  # 1 for an overfit
    load_4bit: bool = False
    dtype: str = "auto"
    gradient_checkpointing: bool | None = None  # None: on for CUDA
    seed: int = 0
    overfit: int | None = None
    max_length_tokens: int = 4096
    limit: int | None = None
    include_not_kept: bool = False

    def __post_init__(self) -> None:
        if self.epochs is None:
            object.__setattr__(self, "epochs", OVERFIT_EPOCHS if self.overfit else EPOCHS)
        if self.overfit:
            object.__setattr__(self, "accum", 1)

    def workload(self, lengths: Sequence[int], trained: Sequence[int]) -> Workload:
        """The run's costs on the device here, for rows with so many tokens and trained positions."""
        import torch

        on_gpu = torch.cuda.is_available()
        checkpointing = self.gradient_checkpointing
        return Workload(
            lengths=lengths,
            trained=trained,
            lora_r=self.lora_r,
            lora_targets=self.lora_targets,
            epochs=self.epochs,
            batch=self.batch if on_gpu else min(torch.get_num_threads(), self.batch * self.accum),
            load_4bit=self.load_4bit,
            checkpointing=on_gpu if checkpointing is None else checkpointing,
            half=pick_dtype(self.dtype, "cuda" if on_gpu else "cpu") != torch.float32,
        )

    def deciding_flags(self) -> dict[str, Any]:
        """The flags that decide the trained weights, by name."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(TrainingSettings)}


@dataclass(frozen=True, kw_only=True)
class FitSettings(TrainingSettings):
    """All flags of sft.py: those of the training, and which data, base and directories to use.

    Raises BadInputError for a number out of range.
    """

    data: Path
    base: str
    scenarios: Path | None = None
    out: Path | None = None
    holdout: Path | None = None
    logdir: Path | None = None
    inspect_only: bool = False
    show_rows: int = 0
    partial: bool = False
    redo: bool = False
    reload_after: bool | None = None  # None: yes, except where the base is held in memory

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in AT_LEAST_ONE:
            value = getattr(self, name)
            if value is not None and value < 1:
                raise BadInputError(f"--{name.replace('_', '-')} is {value}; it must be at least 1")
        if self.show_rows < 0:
            raise BadInputError(f"--show is {self.show_rows}; it must be at least 0")
        if self.lr is not None and not 0 < self.lr < 1:
            raise BadInputError(f"--lr is {self.lr}; it must lie between 0 and 1, or be left out")

    def within_context(self) -> "FitSettings":
        """These settings with the context of the base as the longest row, where that is shorter."""
        config = Path(self.base) / "config.json"
        context = read_json(config).get("max_position_embeddings") if config.exists() else None
        if not isinstance(context, int) or context >= self.max_length_tokens:
            return self
        return dataclasses.replace(self, max_length_tokens=context)

    def with_learning_rate(self) -> "FitSettings":
        """These settings with the usual learning rate of the base where none was given."""
        if self.lr is not None:
            return self
        return dataclasses.replace(self, lr=hardware.usual_learning_rate(self.base))

    def print_changes(self, given: "FitSettings") -> None:
        """Say what the base has changed in the `given` settings, once nothing in them can be wrong any more."""
        if self.max_length_tokens != given.max_length_tokens:
            context = self.max_length_tokens
            print(f"{self.base}: its context is {context} tokens; longer rows are left out", file=sys.stderr)
        if self.lr != given.lr:
            print(f"learning rate {self.lr:g}, by the width of {self.base}; --lr sets another", file=sys.stderr)


def add_training_flags(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Give a parser the flags of a training run; returns it."""
    add = parser.add_argument
    add("--data", type=Path, required=True, help="directory of trajectories (rollout.py --out)")
    add("--scenarios", type=Path, default=None, help="train only on the sessions of these scenarios (default all)")
    add_base_flag(parser)
    add("--out", type=Path, default=None, help="adapter directory to write; one directory per run")
    add("--holdout", type=Path, default=None, help="held-out scenarios (split.py): refuse data that overlaps")
    add("--render", choices=("markers", "chat"), default="markers", help="render format (default markers)")
    add("--lora-r", type=int, default=16, help="rank of the adapter (default 16)")
    add("--lora-alpha", type=int, default=32, help="scale of the adapter times its rank (default 32)")
    add("--lora-targets", default="all-linear", help="comma-separated linear layers (default all-linear)")
    add("--lr", type=float, help="peak learning rate, decays linearly (default 2e-4 * 4096 / width of the base)")
    add("--epochs", type=int, help=f"passes over the data (default {EPOCHS}; --overfit: at most {OVERFIT_EPOCHS})")
    add("--batch", type=int, default=1, help="rows per micro-batch (default 1, which needs no padding)")
    add("--accum", type=int, default=8, help="micro-batches per optimizer step (default 8; --overfit: 1)")
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
    add("--overfit", type=int, metavar="N", help="sanity check: train on N rows until their loss is about 0")
    add("--include-not-kept", action="store_true", help="train on trajectories that are not kept, too")
    add("--limit", type=int, default=None, help="use only the first rows of --data")
    add("--inspect", dest="inspect_only", action="store_true", help="check mask and data; train nothing")
    add("--show", dest="show_rows", type=int, default=0, metavar="N", help="print N rows with their mask (--inspect)")
    add("--partial", action="store_true", help="accept an unfinished data directory")
    add("--redo", action="store_true", help="start over instead of resuming")
    add(
        "--reload",
        dest="reload_after",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="compare the saved adapter's logits in a fresh process (default: on, except in a resident process)",
    )
    return parser
