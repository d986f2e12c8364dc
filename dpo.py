"""Train an SFT adapter further on pairs of kept and rejected sessions, with the loss on the operator's own tokens.

    python rollout.py --operator local --adapter ckpt-sft --scenarios train --samples 8 --temperature 1 --out pairs
    python dpo.py --adapter ckpt-sft --data pairs --inspect --show 2      # checks pairs and mask, reads no weights
    python dpo.py --adapter ckpt-sft --data pairs --plan                  # steps, hours, memory, dollars
    python dpo.py --adapter ckpt-sft --data pairs --out ckpt-dpo --holdout split/holdout

Reads   <data>/*.json (schema.Trajectory), the base, <adapter>, <holdout>/*.json and <scenarios>/*.json
        (schema.Scenario)
Writes  <out>/adapter_model.safetensors, adapter_config.json, render.json, sekft.json, log_history.jsonl, manifest.json,
        probe.safetensors, reference.jsonl (log-probs of the start adapter), <out>/runs (TensorBoard), <out>/checkpoints
Needs   torch, transformers, peft; a CUDA device, except for a small base

A pair is two sessions of one scenario that this adapter sampled, one kept and one not (training/pairs.py). The recorded
ids are trained, never the text tokenised again. The reference is the adapter as it was at the start; its log-probs are
computed once, so that one base and one adapter are in memory. A run stops where the policy loses the chosen sessions:
in the mean of 10 steps their log-prob per token lies more than 0.5 nats below the start's, or that of their last turn
more than 1 nat.

The same command continues a killed run, and returns at once for a finished run. --inspect exits 2 where it prints an
ERROR, --overfit where the loss of its pairs does not reach about zero, --plan where this machine cannot do the run.
"""

import argparse
import sys
from collections.abc import Sequence

from pipeline import stage
from model import hardware
from model.loading import adapter_hash, model_hash
from model.render import Renderer
from pipeline.files import read_scenarios, split_trajectories, write_identity, write_json
from pipeline.holdout import each_once, overlap, print_unknown_split
from schema import AdapterIdentity, BadInputError, Trajectory
from training import reload, run
from training.continued import (
    RATE_SHARE,
    checked_start,
    flags_of_start,
    identity_after,
    refuse_held_out,
    sessions_behind,
    start_of,
)
from training.dataset import steps_of
from training.inspection import inspect, show, statistics_of
from training.loop import OVERFIT_LOSS
from training.plan import Plan, plan_of, print_plan
from training.preference import DpoSettings, PreferenceData, add_preference_flags, preference_data
from training.preference_run import train_pairs


def main(settings: DpoSettings) -> int:
    """Train, inspect or plan; returns the exit code."""
    run.refuse_several_processes("dpo.py")
    if not (settings.inspect_only or settings.plan_only):
        run.out_of(settings)
    trajectories, others = split_trajectories(settings.data, settings.scenarios, partial=settings.partial)
    given, settings = settings, settings.within_context()
    base, start = settings.base, start_of(settings.adapter)
    if settings.inspect_only or settings.plan_only:
        run.check_tokenizer(base)
        settings = settings.with_learning_rate(RATE_SHARE)
        renderer = Renderer.for_adapter(settings.adapter, run.load_tokenizer(base))
        found = pairs_of(settings, trajectories, others, renderer)
        print_start(settings, given, found)
        if settings.inspect_only:
            return print_pairs(found, renderer, settings, start)
        return print_plan(preference_plan(settings, start, found))
    out = run.out_of(settings)
    settings, renderer, finished = checked_start(settings, out)
    data = None if finished else checked_data(settings, start, trajectories, others, renderer)
    flags = {
        **settings.deciding_flags(),
        **flags_of_start(settings, start),
        "scenarios": stage.hash_directory(settings.scenarios) if settings.scenarios else None,
    }
    manifest = stage.begin(out, stage="dpo", flags=flags, inputs=[settings.data], redo=settings.redo)
    if manifest.finished:
        return run.print_finished(out, base, manifest)
    data = data or checked_data(settings, start, trajectories, others, renderer)
    print_start(settings, given, data)  # after all that may be refused in one line
    before_files = run.files_of(base)
    losses, figures = train_pairs(data, settings, out)
    if settings.overfit and not figures["overfit_reached"]:
        raise BadInputError(
            f"{settings.data}: --overfit {len(data.pairs)}: loss {losses[-1]:.3f} after {len(losses)} steps, wanted "
            f"under {OVERFIT_LOSS}; raise --lr or --beta, and look at --inspect --show 1 if that does not help"
        )
    if model_hash(base) != flags["base_hash"] or run.files_of(base) != before_files:
        raise RuntimeError(f"{base}: its files changed during the training")
    write_json(out / "render.json", renderer.describe())
    sessions = run.sessions_of(data.dataset)
    write_identity(out, identity_after(settings, start, manifest, data_hash=data.hash(), trained_on=sessions))
    if settings.reload_after is not False:
        run.free_memory()
        figures["logits_differ_by"] = reload.in_fresh_process(base, out)
    counts = {**data.counts(), **figures, "loss_first": losses[0], "loss_last": losses[-1]}
    stage.finish(out, manifest, ids=[example.id for example in data.dataset.examples], counts=counts)
    stage.print_summary({"out": str(out), "base": base, "adapter": str(settings.adapter), **counts})
    return stage.DONE


def pairs_of(
    settings: DpoSettings, trajectories: Sequence[Trajectory], others: Sequence[Trajectory], renderer: Renderer
) -> PreferenceData:
    """The pairs to train on. Raises BadInputError where a row is malformed or there is no pair."""
    data = preference_data(settings, trajectories, renderer, adapter_hash(settings.adapter))
    if others:
        data.dataset.read += len(others)
        data.dataset.left_out["other_scenario"] = [row.id for row in others]
    if data.dataset.malformed:
        raise BadInputError(data.dataset.malformed[0])
    if not data.pairs:
        left_out = {reason: count for reason, count in data.counts()["left_out"].items() if count}
        raise BadInputError(
            f"{settings.data}: no pair to train on ({left_out}); roll out {settings.adapter} with --operator local, "
            f"--temperature 1 and more --samples"
        )
    return data


def print_start(settings: DpoSettings, given: DpoSettings, data: PreferenceData) -> None:
    """Print what the base has changed in the `given` settings, what is left out, and the number of pairs."""
    settings.print_changes(given)
    if settings.holdout:
        print_unknown_split(settings.holdout)
    run.print_left_out(data.dataset)
    print(f"{len(data.pairs)} pairs", file=sys.stderr)


def checked_data(
    settings: DpoSettings,
    start: AdapterIdentity,
    trajectories: Sequence[Trajectory],
    others: Sequence[Trajectory],
    renderer: Renderer,
) -> PreferenceData:
    """The pairs to train on. Raises BadInputError for a run that is too large, and for held-out data."""
    data = pairs_of(settings, trajectories, others, renderer)
    plan = preference_plan(settings, start, data)
    plan.refuse()
    if line := hardware.too_small(plan.figures["memory_bytes"]["total"], plan.machine.free_bytes):
        print(line, file=sys.stderr)
    if settings.holdout:
        refuse_held_out(settings, start, run.sessions_of(data.dataset), "--data")
    return data


def preference_plan(settings: DpoSettings, start: AdapterIdentity, data: PreferenceData) -> Plan:
    """What the run would do and cost; the reference's forward passes count as a third of an epoch."""
    sides = [example for pair in data.pairs for example in pair]
    lengths, trained = [len(one.encoded.token_ids) for one in sides], [sum(one.encoded.mask) for one in sides]
    work = settings.work(lengths, trained, rank=start.flags["lora_r"], targets=start.flags["lora_targets"], rows=2)
    costs = hardware.costs(hardware.shape_of(settings.base), work)
    share = (settings.epochs + 1 / 3) / settings.epochs
    costs["flops"] *= share
    costs["hours"] = {name: float(f"{hours * share:.2g}") for name, hours in costs["hours"].items()}
    return plan_of(
        "dpo", settings, costs, pairs=len(data.pairs), sessions=len(data.dataset.examples), tokens=sum(lengths),
        steps=steps_of(len(data.pairs), settings.batch, settings.accum, settings.epochs),
        trainable_parameters=costs["trainable_parameters"],
    )  # fmt: skip


def print_pairs(data: PreferenceData, renderer: Renderer, settings: DpoSettings, start: AdapterIdentity) -> int:
    """Print the findings of --inspect and the JSON line; returns 2 where a finding is an ERROR."""
    held_out = None
    if settings.holdout:
        scenarios = read_scenarios(settings.holdout, partial=settings.partial)
        sessions = each_once([*sessions_behind(settings.base, start), *run.sessions_of(data.dataset)])
        held_out = overlap(sessions, settings.holdout, scenarios)
    findings = inspect(data.dataset, renderer, held_out=held_out)
    for chosen, rejected in data.pairs[: settings.show_rows]:
        for side, example in (("chosen", chosen), ("rejected", rejected)):
            print(f"{side}, {example.trajectory.outcome}:", file=sys.stderr)
            print(show(example, colour=sys.stderr.isatty()), file=sys.stderr)
    for finding in findings:
        print(finding.line(), file=sys.stderr)
    tokens = [[sum(example.encoded.mask) for example in side] for side in zip(*data.pairs, strict=True)]
    stage.print_summary(
        {
            **data.counts(),
            **statistics_of(data.dataset, renderer),
            "chosen_trained_tokens": sum(tokens[0]),
            "rejected_trained_tokens": sum(tokens[1]),
            "scenarios": len({example.trajectory.scenario_id for example in data.dataset.examples}),
            "steps_estimate": steps_of(len(data.pairs), settings.batch, settings.accum, settings.epochs),
            "data_sha256": data.hash(),
            "render": renderer.describe(),
            "findings": [vars(finding) for finding in findings if finding.level != "OK"],
            "checks": len(findings),
        }
    )
    return stage.BAD_INPUT if any(finding.level == "ERROR" for finding in findings) else stage.DONE


def parser() -> argparse.ArgumentParser:
    """The command line."""
    return add_preference_flags(stage.command_line(__doc__))


if __name__ == "__main__":
    stage.run_script(main, parser())
