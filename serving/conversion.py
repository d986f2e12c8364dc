"""Do what every conversion of an adapter does: refuse bad places, check the bound, let identity and licence travel.

    def make(work: Path, sessions: Sequence[Sequence[Message]]) -> LogitDifference:
        ...      # write the files into `work`, and compare their logits with ours on the sessions

    return run_conversion(request, make, what="merged into its base")

The files come to --out only if they pass. The base is never written. What is converted names the adapter that it was
made of, and every session behind it.
"""

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline import stage
from model.loading import adapter_argument, adapter_hash, directory_of, fetch, model_hash
from pipeline.files import read_identity, sessions_in_base, write_identity
from pipeline.holdout import each_once
from schema import BadInputError, Message
from serving.held_out import LogitDifference, held_out_sessions

# Share of the largest logit. Half precision rounds the merged weights, so its bounds are wider than those of loading.
BOUNDS = {"fp32": 1e-4, "fp16": 1e-2, "bf16": 8e-2}
NEARER = 0.25  # share of the bare base's mean difference that is allowed: half of an adapter is not enough
TRAVELLING = ("LICENSE*", "LICENCE*", "NOTICE*", "COPYING*", "USE_POLICY*")
LAST = "config.json"  # without it a directory is no model
CARD = """\
# {title}

{what}

Base: `{base}`. Its licence holds for this directory too; BASE_README.md is the base's own card, where it has one.
sekft.json names the base by its hash and every session that the adapter was trained on, render.json the format of a
session. The adapter was trained to act in a disposable sandbox without a network; let it act nowhere else.
"""


@dataclass(frozen=True)
class ConversionRequest:
    """What a conversion is asked for; `flags` decide the files beside base, adapter and dtype."""

    stage: str
    base: str
    adapter: Path
    scenarios: Path | None
    out: Path
    dtype: str
    redo: bool
    flags: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.adapter is None:  # what a selected.json may come to
            raise BadInputError("--adapter: no adapter is selected, the base won; name an adapter to convert")


def add_conversion_flags(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Give a parser the flags of a conversion."""
    add = parser.add_argument
    stage.add_base_flag(parser, "the base that the adapter was trained on")
    add("--adapter", type=adapter_argument, required=True, help="adapter directory of sft.py, or selected.json")
    add(
        "--scenarios", type=Path, default=None,
        help="held-out scenarios to compare on (default: new ones of the offline author)",
    )  # fmt: skip
    add("--out", type=Path, required=True, help="directory to write")
    add("--dtype", choices=tuple(BOUNDS), default="fp32", help="dtype of the weights (default fp32)")
    add("--redo", action="store_true", help="start over instead of comparing with the earlier run")
    return parser


def run_conversion(
    request: ConversionRequest, make: Callable[[Path, Sequence[Sequence[Message]]], LogitDifference], *, what: str
) -> int:
    """Check the request, `make` the files on held-out sessions, publish them if they pass; returns the exit code."""
    fetch(request.base, request.adapter)
    refuse_place(request.base, request.adapter, request.out)
    sessions = held_out_sessions(request.base, request.adapter, request.scenarios)
    flags = {"base": model_hash(request.base), "adapter": adapter_hash(request.adapter), "dtype": request.dtype}
    inputs = [] if request.scenarios is None else [request.scenarios]
    manifest = stage.begin(
        request.out, stage=request.stage, flags=flags | request.flags, inputs=inputs, redo=request.redo
    )
    if not manifest.finished:
        work = request.out / ".unchecked"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        try:
            difference = make(work, sessions)
            allowed = BOUNDS[request.dtype] * difference.largest_logit
            if fault := conversion_fault(difference, allowed):
                print(f"{request.stage}.py: error: {request.out}: {fault}; nothing was written there", file=sys.stderr)
                return stage.WORLD_FAILED
            carry_over(request, work, what)
            for path in sorted(work.iterdir(), key=lambda path: path.name == LAST):
                path.replace(request.out / path.name)
        finally:
            shutil.rmtree(work)
        manifest = manifest.model_copy(update={"counts": figures_of(difference, allowed)})
        stage.finish(request.out, manifest, ids=[], counts=manifest.counts)
    stage.print_summary({"out": str(request.out), "dtype": request.dtype, **manifest.counts})
    return stage.DONE


def refuse_place(base: str, adapter: Path, out: Path) -> None:
    """Raise BadInputError where `out` is the base or the adapter, lies in one of them, or is another model."""
    place = out.resolve()
    for name, directory in (("base", Path(base)), ("adapter", adapter)):
        if directory.is_dir() and directory.resolve() in (place, *place.parents):
            raise BadInputError(f"--out {out}: is the {name} {directory}, or lies in it; name another --out")
    if (out / LAST).exists() and not (out / "manifest.json").exists():
        raise BadInputError(f"--out {out}: is a model directory of its own; name another --out")


def conversion_fault(difference: LogitDifference, allowed: float) -> str | None:
    """Why a conversion does not pass, or None."""
    if difference.other_ids:
        return f"{difference.other_ids} of {difference.contexts} rendered contexts are read as other ids than ours"
    if not difference.largest <= allowed:  # NaN too
        return f"its logits differ by {difference.largest:.3g} from those of base and adapter, {allowed:.3g} is allowed"
    if difference.mean > difference.bare_mean * NEARER > 0:
        return (
            f"its logits differ by {difference.mean:.2g} in the mean, those of the bare base by "
            f"{difference.bare_mean:.2g}: the adapter is lost, or weaker than this dtype's rounding"
        )
    return None


def carry_over(request: ConversionRequest, out: Path, what: str) -> None:
    """Write identity, render.json, licence and a short card into `out`."""
    about = read_identity(request.adapter)
    sessions = each_once([*sessions_in_base(request.base), *about.trained_on])
    made_of = {"converted": adapter_hash(request.adapter), "trained_on": sessions}
    write_identity(out, about.model_copy(update=made_of))
    shutil.copy(request.adapter / "render.json", out / "render.json")
    source = directory_of(request.base)
    assert source is not None
    for path in licence_files(source):
        shutil.copy(path, out / path.name)
    if (source / "README.md").exists():
        shutil.copy(source / "README.md", out / "BASE_README.md")
    what = f"The adapter `{request.adapter.resolve().name}`, {what} in {request.dtype} by {request.stage}.py."
    (out / "README.md").write_text(CARD.format(title=request.out.resolve().name, what=what, base=about.base))


def licence_files(base: Path) -> list[Path]:
    """The files of a base's directory that hold its licence, by name."""
    found = (path for path in base.iterdir() if path.is_file() and any(path.match(one) for one in TRAVELLING))
    return sorted(found)


def figures_of(difference: LogitDifference, allowed: float) -> dict[str, Any]:
    """The difference as a summary has it."""
    return {
        "contexts": difference.contexts,
        "logits_differ_by": difference.largest,
        "allowed": allowed,
        "same_best_token": difference.same_best_token,
    }
