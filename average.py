"""Average adapters that began at the same weights into one adapter.

    python sft.py --data trajectories --out ckpt-a --lr 1e-3 --seed 1
    python sft.py --data trajectories --out ckpt-b --lr 6e-4 --seed 1
    python average.py --adapters ckpt-a ckpt-b --out ckpt-mean
    python average.py --adapters ckpt-rl ckpt-rl/steps/step-00020 ckpt-rl/steps/step-00030 --out ckpt-mean
    python average.py --adapters ckpt-sft ckpt-rl --out ckpt-half        # ckpt-rl began with ckpt-sft

Reads   the base, each adapter directory as written by a finished sft.py, dpo.py, rl.py or average.py; saved steps of
        rl.py beside one of these
Writes  <out>/adapter_model.safetensors, adapter_config.json, render.json, sekft.json, manifest.json, probe.safetensors,
        log_history.jsonl (the members' mean loss at each step)
Needs   torch, transformers, peft

Makes a uniform soup (Wortsman et al. 2022, arXiv:2203.05482): each entry of lora_A and lora_B is the mean over the
members, so the result is as small and as fast as one member. Where every member has learned the routine, the mean ends
as many sessions of foreign work as the better member or more; elsewhere it is no better than that member (dev/LOG.md).
The members must have begun at the same weights: of sft.py base, --seed, rank, targets, render and dtype must be equal,
of dpo.py and rl.py the start adapter and these but for --seed; --lr, --epochs and the sessions may differ. The start
adapter of dpo.py and rl.py may be a member itself: the mean lies half-way then, and keeps more of what the start could
do (WiSE-FT: Wortsman et al. 2022, arXiv:2109.01903). At the end a fresh process loads the mean and must get the same
logits as this process. A rerun after the end does nothing.
"""

import argparse
import functools
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline import stage
from model.loading import adapter_hash, fetch, load_model
from pipeline.files import read_identity, read_manifest, write_identity
from pipeline.holdout import each_once
from schema import AdapterIdentity, BadInputError, Manifest
from training import reload
from training.run import print_finished

SAME = ("base_hash", "adapter", "seed", "lora_r", "lora_alpha", "lora_targets", "render", "dtype", "load_4bit")


def main(*, base: str, adapters: list[Path], out: Path, redo: bool) -> int:
    """Check the members, average them, reload the mean, print the summary."""
    if out.resolve() in [adapter.resolve() for adapter in adapters]:
        raise BadInputError(f"--out {out}: is one of --adapters; name another --out")
    members = check_members(base, adapters)
    about = trained_further(members)
    flags = {"base_hash": about[0].base_hash, "adapters": list(members)}
    manifest = stage.begin(out, stage="average", flags=flags, redo=redo)
    if manifest.finished:
        return print_finished(out, base, manifest)
    write_mean(base, adapters, about[0].flags, out)
    write_log(adapters, out)
    write_identity(out, mean_identity(members, manifest))
    counts = {"adapters": len(adapters), "logits_differ_by": reload.in_fresh_process(base, out)}
    stage.finish(out, manifest, ids=members, counts=counts)
    stage.print_summary({"out": str(out), "base": base, **counts})
    return stage.DONE


def check_members(base: str, adapters: Sequence[Path]) -> dict[str, AdapterIdentity]:
    """Hash of weights -> identity, for each adapter. Raises BadInputError where they cannot be averaged."""
    if len(adapters) < 2:
        raise BadInputError(f"--adapters names {len(adapters)}; name at least two")
    members: dict[str, AdapterIdentity] = {}
    for adapter in adapters:
        fetch(base, adapter)
        manifest = read_manifest(adapter)
        if manifest is not None and not manifest.finished:
            raise BadInputError(f"{adapter / 'manifest.json'}: finished: false; rerun its command, which continues")
        about, digest = read_identity(adapter), adapter_hash(adapter)
        if digest in members:
            raise BadInputError(f"{adapter}: has the weights of an earlier one; name each adapter once")
        members[digest] = about
    runs = trained_further(members)
    first = runs[0].flags
    for adapter, about in zip(adapters, members.values(), strict=True):
        for name in SAME if about in runs else ():
            # "adapter": where dpo.py and rl.py began, with weights that no seed decides
            if about.flags.get(name) != first.get(name) and not (name == "seed" and first.get("adapter")):
                raise BadInputError(
                    f"{adapter / 'sekft.json'}: flags.{name} is {about.flags.get(name)!r}, of another member "
                    f"{first.get(name)!r}; average adapters that began at the same weights"
                )
    if not probes_of(adapters):
        raise BadInputError(f"{adapters[0]}: no {reload.PROBE}, nor in the others; name a finished run, too")
    return members


def trained_further(members: Mapping[str, AdapterIdentity]) -> list[AdapterIdentity]:
    """The members that are not the adapter which another member began with."""
    starts = {about.flags.get("adapter") for about in members.values()}
    return [about for digest, about in members.items() if digest not in starts]


def probes_of(adapters: Sequence[Path]) -> list[Path]:
    """The probes that the members have; a saved step of rl.py has none."""
    return [adapter / reload.PROBE for adapter in adapters if (adapter / reload.PROBE).exists()]


def write_mean(base: str, adapters: Sequence[Path], flags: dict[str, Any], out: Path) -> None:
    """Write weights, configuration, render.json, and a probe of the mean in this process."""
    import torch
    from peft import set_peft_model_state_dict
    from safetensors.torch import load_file, save_file

    parts = [load_file(adapter / "adapter_model.safetensors") for adapter in adapters]
    # In fp64 the order of the members makes no difference.
    widest = functools.reduce(torch.promote_types, [part.dtype for found in parts for part in found.values()])
    mean = {name: torch.stack([part[name].double() for part in parts]).mean(0).to(widest) for name in parts[0]}
    model, _ = load_model(base, adapters[0], dtype=flags["dtype"], load_4bit=flags["load_4bit"])
    set_peft_model_state_dict(model, mean)
    rows = [ids.tolist() for name, ids in sorted(load_file(probes_of(adapters)[0]).items()) if "token_ids" in name]
    reload.write_probe(model, rows, out)
    for name in ("adapter_config.json", "render.json"):
        shutil.copy(adapters[0] / name, out / name)
    save_file(mean, out / "adapter_model.safetensors", metadata={"format": "pt"})


def write_log(adapters: Sequence[Path], out: Path) -> None:
    """Write log_history.jsonl: for each step the mean of the members' losses."""
    losses: dict[int, list[float]] = {}
    for log in [adapter / "log_history.jsonl" for adapter in adapters]:
        for line in log.read_text().splitlines() if log.exists() else []:
            entry = json.loads(line)
            losses.setdefault(entry["step"], []).append(entry["loss"])
    means = [{"step": step, "loss": sum(found) / len(found)} for step, found in sorted(losses.items())]
    (out / "log_history.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in means))


def mean_identity(members: Mapping[str, AdapterIdentity], manifest: Manifest) -> AdapterIdentity:
    """The identity of the mean: a list for each flag that differs, and the trained sessions of all members.

    The flags are those of the members that were trained further, where the start adapter is one, too.
    """
    about = trained_further(members)
    sessions = each_once(row for one in members.values() for row in one.trained_on)
    return AdapterIdentity(
        base=about[0].base,
        base_hash=about[0].base_hash,
        flags={name: common([one.flags.get(name) for one in about]) for name in about[0].flags},
        git_commit=manifest.git_commit,
        data_hash=common([one.data_hash for one in about]),
        averaged=manifest.flags["adapters"],
        earlier=about[0].earlier,
        trained_on=sorted(sessions, key=lambda row: row.trajectory_id),
    )


def common(values: Sequence[Any]) -> Any:
    """The value where all are equal, else the list of them."""
    return values[0] if all(value == values[0] for value in values) else list(values)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    stage.add_base_flag(parser, "the base that the adapters were trained on")
    parser.add_argument("--adapters", type=Path, nargs="+", required=True, help="adapter directories, two or more")
    parser.add_argument("--out", type=Path, required=True, help="adapter directory to write")
    parser.add_argument("--redo", action="store_true", help="start over instead of comparing with the earlier run")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
