"""Train an adapter further on the verified reward of its own episodes, with the loss on the operator's own tokens.

    python rl.py --adapter ckpt-sft --scenarios split/train --inspect --holdout split/holdout   # reads no weights
    python rl.py --adapter ckpt-sft --scenarios split/train --plan              # cost of the updates alone
    python rl.py --adapter ckpt-sft --scenarios split/train --out ckpt-rl --holdout split/holdout
    python rl.py --adapter ckpt-sft --scenarios split/train --replay ckpt-rl/episodes --out ckpt-again

Reads   <scenarios>/*.json (schema.Scenario), the base, <adapter>, <replay>/*.json and <sft-data>/*.json
        (schema.Trajectory), <holdout>/*.json (schema.Scenario)
Writes  <out>/adapter_model.safetensors, adapter_config.json, render.json, sekft.json, log_history.jsonl, manifest.json,
        probe.safetensors, <out>/episodes (schema.Trajectory), <out>/steps (adapters on the way), <out>/runs
        (TensorBoard), <out>/checkpoints
Needs   torch, transformers, peft; a Docker engine with the image, except for --replay; a CUDA device, except for a
        small base

A step plays --episodes episodes in each of --groups scenarios with the adapter as it is now, rewards those whose final
state is verified in a clean container and whose terminal is right, and updates the adapter on the tokens that it
sampled. docs/rl.md has the loss and every figure of the log.

The same command continues a killed run: the weights are those of the last complete step, and episodes that were played
are not played again. Above 2 % voided episodes the exit code is 1; the adapter is trained on the others.
--inspect exits 2 where it prints an ERROR, --plan where this machine cannot do the run.
"""

import argparse
import dataclasses
import itertools
import sys
from collections.abc import Sequence

from pipeline import stage
from model import hardware
from model.loading import adapter_hash, model_hash
from model.render import Renderer
from operators.evaluation import MAX_VOIDED_SHARE
from operators.rollouts import refuse_other_image
from pipeline.files import (
    EPISODES,
    read_scenarios,
    read_trajectories,
    write_identity,
    write_json,
    write_manifest,
)
from pipeline.hidden import as_text
from pipeline.holdout import overlap, print_unknown_split, session_in
from sandbox.containers import reap, require_image
from schema import AdapterIdentity, BadInputError, Scenario, Trajectory
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
from training.dataset import Dataset, build
from training.inspection import Finding
from training.plan import Plan, plan_of, print_plan
from training.policy_gradient import Group, PolicyData, PolicyRow, policy_rows, sft_rows
from training.rl_replay import refuse_other_base, replay_groups
from training.rl_run import RlState, sessions_of_state, train_policy
from training.rl_settings import RlSettings, add_rl_flags

Steps = list[list[Group]]  # the groups of each step of a replay
OF_PLAYING = {  # flags that --replay does not read
    "temperature", "max_steps", "max_new_tokens", "timeout_seconds", "workers", "skip_after", "revisit_after", "image",
    "assumed_tokens",
}  # fmt: skip


def main(settings: RlSettings) -> int:
    """Train, inspect or plan; returns the exit code."""
    if settings.replay is not None:
        read = {one.name for one in dataclasses.fields(settings)} - OF_PLAYING
        stage.refuse_unread(settings, parser(), read, "--replay")
    run.refuse_several_processes("rl.py")
    if not (settings.inspect_only or settings.plan_only):
        run.out_of(settings)
    scenarios = read_scenarios(settings.scenarios, partial=settings.partial)
    given, settings = settings, settings.within_context()
    base, start = settings.base, start_of(settings.adapter)
    if settings.inspect_only or settings.plan_only:
        run.check_tokenizer(base)
        settings, steps = settings.with_learning_rate(RATE_SHARE), replay_of(settings, scenarios)
        renderer = Renderer.for_adapter(settings.adapter, run.load_tokenizer(base))
        print_sizes(settings, given, scenarios, steps)
        taught = taught_of(settings, renderer)
        if settings.inspect_only:
            return print_episodes(steps, scenarios, renderer, settings, start, taught)
        return print_plan(rl_plan(settings, start, steps, taught))
    out = run.out_of(settings)
    settings, renderer, finished = checked_start(settings, out)
    steps, taught = replay_of(settings, scenarios), taught_of(settings, renderer)
    if not finished:
        check_updates(settings, start, scenarios, steps, taught)
    image = image_of(settings, scenarios) if settings.replay is None else None
    flags = {**settings.deciding_flags(), **flags_of_start(settings, start), "replay": settings.replay is not None}
    inputs = [one for one in (settings.scenarios, settings.replay, settings.sft_data) if one]
    manifest = stage.begin(out, stage="rl", flags=flags, inputs=inputs, image_digest=image, redo=settings.redo)
    if manifest.finished:
        return run.print_finished(out, base, manifest)
    print_sizes(settings, given, scenarios, steps)  # after all that may be refused in one line
    before_files = run.files_of(base)
    if settings.replay is None:
        write_manifest(out / EPISODES, manifest)

    def identity(state: RlState) -> AdapterIdentity:
        trained_on = [*sessions_of_state(state), *(run.sessions_of(taught) if taught else [])]
        return identity_after(settings, start, manifest, data_hash=state.data_hash, trained_on=trained_on)

    state, figures = train_policy(settings, out, scenarios, renderer, steps, identity, image, taught)
    if model_hash(base) != flags["base_hash"] or run.files_of(base) != before_files:
        raise RuntimeError(f"{base}: its files changed during the training")
    write_json(out / "render.json", renderer.describe())
    write_identity(out, identity(state))
    if settings.reload_after is not False and figures["updated"]:
        run.free_memory()
        figures["logits_differ_by"] = reload.in_fresh_process(base, out)
    ids = sorted({one.trajectory_id for one in sessions_of_state(state)})
    if settings.replay is None:
        stage_ids = sorted(path.stem for path in (out / EPISODES).glob("*.json") if path.name != "manifest.json")
        write_manifest(out / EPISODES, manifest.model_copy(update={"finished": True, "ids": stage_ids}))
    stage.finish(out, manifest, ids=ids, counts=figures)
    stage.print_summary({"out": str(out), "base": base, "adapter": str(settings.adapter), **figures})
    voided = figures["voided"] if settings.replay is None else 0
    return stage.WORLD_FAILED if voided > MAX_VOIDED_SHARE * figures["episodes"] else stage.DONE


def replay_of(settings: RlSettings, scenarios: Sequence[Scenario]) -> Steps | None:
    """The groups of each step of --replay; None where episodes are played. Raises BadInputError where there is none."""
    if settings.replay is None:
        return None
    episodes: list[Trajectory] = read_trajectories(settings.replay, partial=settings.partial)
    renderer = Renderer.for_adapter(settings.adapter, run.load_tokenizer(settings.base))
    steps, left_out = replay_groups(episodes, scenarios, renderer, settings)
    counts = {reason: len(ids) for reason, ids in left_out.items()}
    for reason, count in counts.items():
        print(f"left out, {reason}: {count} of {len(episodes)} episodes", file=sys.stderr)
    if not steps and len(left_out.get("other_scenario", [])) == len(episodes):
        raise BadInputError(
            f"{settings.replay}: no episode of a scenario in {settings.scenarios}; name their scenarios"
        )
    if not steps:
        raise BadInputError(
            f"{settings.replay}: no episode to train on ({counts}); other_render: record them with the render format "
            f"of {settings.adapter}"
        )
    return steps[: settings.updates]


def taught_of(settings: RlSettings, renderer: Renderer) -> Dataset | None:
    """The sessions of --sft-data. Raises BadInputError where a row is malformed, or none is left."""
    if settings.sft_data is None:
        return None
    rows = read_trajectories(settings.sft_data, partial=settings.partial)
    dataset = build(rows, renderer, max_length_tokens=settings.max_length_tokens)
    if dataset.malformed:
        raise BadInputError(dataset.malformed[0])
    if not dataset.examples:
        raise BadInputError(f"{settings.sft_data}: no kept session to train on; name the directory of sft.py --data")
    return dataset


def print_sizes(settings: RlSettings, given: RlSettings, scenarios: Sequence[Scenario], steps: Steps | None) -> None:
    """Print what the base has changed in the `given` settings, and how much is played or replayed."""
    settings.print_changes(given)
    if settings.holdout:
        print_unknown_split(settings.holdout)
    if steps is None:
        each = min(settings.groups, len(scenarios)) * settings.episodes
        print(f"{len(scenarios)} scenarios, {settings.updates} steps of {each} episodes", file=sys.stderr)
    else:
        print(f"{sum(map(len, steps))} recorded groups in {len(steps)} steps", file=sys.stderr)


def check_updates(
    settings: RlSettings, start: AdapterIdentity, scenarios: Sequence[Scenario], steps: Steps | None,
    taught: Dataset | None = None,
) -> None:  # fmt: skip
    """Raise BadInputError for a run that is too large, for held-out data, and for a replay that cannot be used."""
    plan = rl_plan(settings, start, steps, taught)
    plan.refuse()
    if line := hardware.too_small(plan.figures["memory_bytes"]["total"], plan.machine.free_bytes):
        print(line, file=sys.stderr)
    if settings.holdout:
        refuse_held_out(settings, start, list(map(session_in, scenarios)), "--scenarios")
        if taught:
            refuse_held_out(settings, start, run.sessions_of(taught), "--sft-data")
    if settings.replay is not None:
        refuse_other_base(settings.replay, settings.base)
    if steps is not None and not any(policy_data_of(groups, settings).rows for groups in steps):
        left_out = policy_data_of([group for groups in steps for group in groups], settings).left_out
        counts = {reason: len(ids) for reason, ids in left_out.items() if ids}
        raise BadInputError(f"{settings.replay}: no episode to train on ({counts}); record them with a local operator")


def policy_data_of(groups: Sequence[Group], settings: RlSettings) -> PolicyData:
    """The rows of these groups, for the vocabulary of the base."""
    return policy_rows(groups, settings, vocabulary=hardware.shape_of(settings.base).vocabulary)


def image_of(settings: RlSettings, scenarios: Sequence[Scenario]) -> str:
    """The digest of the sandbox's image. Raises BadInputError where it is not there, or not that of the scenarios."""
    refuse_other_image(scenarios, settings.image)
    image = require_image(settings.image)
    reap()
    return image


def rl_plan(settings: RlSettings, start: AdapterIdentity, steps: Steps | None, taught: Dataset | None = None) -> Plan:
    """What the updates would cost, the sessions of --sft-data included, and with --episodes-per-hour the playing too.

    Without --replay each episode is assumed to have --assumed-tokens, half of them sampled.
    """
    if steps is None:
        count = settings.updates * settings.groups * settings.episodes
        lengths, trained = [settings.assumed_tokens] * count, [settings.assumed_tokens // 2] * count
    else:
        rows = [row for groups in steps for row in policy_data_of(groups, settings).rows]
        count = sum(len(group.episodes) for groups in steps for group in groups)
        lengths, trained = [len(row.token_ids) for row in rows], [len(row.places) for row in rows]
    updates = settings.updates if steps is None else len(steps)
    for row in [row for step in range(updates) for row in sft_rows(taught, settings, step + 1)] if taught else []:
        lengths.append(len(row.token_ids))
        trained.append(len(row.places))
    rank, targets = start.flags["lora_r"], start.flags["lora_targets"]
    costs = hardware.costs(
        hardware.shape_of(settings.base), settings.rl_work(lengths, trained, rank=rank, targets=targets)
    )
    if steps is None and settings.episodes_per_hour is None:
        told = "hours and dollars are those of the updates; playing comes on top (--episodes-per-hour counts it)"
        print(told, file=sys.stderr)
    play_hours = 0.0 if settings.episodes_per_hour is None else count / settings.episodes_per_hour
    return plan_of(
        "rl", settings, costs, play_hours=play_hours, episodes=count, rows=len(lengths), tokens=sum(lengths),
        steps=updates, trainable_parameters=costs["trainable_parameters"],
    )  # fmt: skip


def marked_text(row: PolicyRow, renderer: Renderer) -> str:
    """The text of a row with its sampled tokens in ⟦brackets⟧, safe to print to a terminal."""
    sampled, parts = set(row.places), []
    for on, places in itertools.groupby(range(len(row.token_ids)), key=lambda at: at in sampled):
        text = as_text(renderer.decode([row.token_ids[at] for at in places]))
        parts.append(f"⟦{text}⟧" if on else text)
    return "".join(parts)


def print_episodes(
    steps: Steps | None,
    scenarios: Sequence[Scenario],
    renderer: Renderer,
    settings: RlSettings,
    start: AdapterIdentity,
    taught: Dataset | None,
) -> int:
    """Print the findings of --inspect and the JSON line; returns 2 where a finding is an ERROR."""
    groups = [group for one in steps or [] for group in one]
    data = policy_data_of(groups, settings)
    findings = findings_of(groups, data, scenarios, settings, start, taught)
    for row in data.rows[: settings.show_rows]:
        shown = " to ".join(f"{one:+.3f}" for one in sorted({min(row.advantages), max(row.advantages)}))
        print(f"{row.episode}, advantage {shown}:\n{marked_text(row, renderer)}", file=sys.stderr)
    for finding in findings:
        print(finding.line(), file=sys.stderr)
    stage.print_summary(
        {
            "scenarios": len(scenarios),
            "terminals": {kind: sum(one.terminal == kind for one in scenarios) for kind in ("exit", "panic")},
            "steps": settings.updates if steps is None else len(steps),
            "groups": len(groups),
            "groups_with_signal": sum(group.has_signal for group in groups),
            "episodes": sum(len(group.episodes) for group in groups),
            "rows": len(data.rows),
            "trained_tokens": sum(len(row.places) for row in data.rows),
            "left_out": {reason: len(ids) for reason, ids in data.left_out.items()},
            "render": renderer.describe(),
            "findings": [vars(finding) for finding in findings if finding.level != "OK"],
            "checks": len(findings),
        }
    )
    return stage.BAD_INPUT if any(finding.level == "ERROR" for finding in findings) else stage.DONE


def findings_of(
    groups: Sequence[Group],
    data: PolicyData,
    scenarios: Sequence[Scenario],
    settings: RlSettings,
    start: AdapterIdentity,
    taught: Dataset | None,
) -> list[Finding]:
    """What --inspect checks: held-out data, rows that are left out, and groups that teach something."""
    findings = []
    if settings.holdout:
        held_out = read_scenarios(settings.holdout, partial=settings.partial)
        sessions = [*map(session_in, scenarios), *sessions_behind(settings.base, start)]
        sessions += run.sessions_of(taught) if taught else []
        for kind, ids in overlap(sessions, settings.holdout, held_out).items():
            level = "ERROR" if ids else "OK"
            findings.append(Finding(level, f"holdout_{kind}", f"{len(ids)} whose {kind} is held out", ids))
    if not groups:
        return findings
    for reason, ids in data.left_out.items():
        findings.append(Finding("WARN" if ids else "OK", reason, f"{len(ids)} episodes are left out", ids))
    signal = [group for group in groups if group.has_signal]
    level = "OK" if signal else "WARN"
    findings.append(Finding(level, "signal", f"{len(signal)} of {len(groups)} groups have different rewards"))
    digest = adapter_hash(settings.adapter)
    foreign = [one.id for group in groups for one in group.episodes if one.operator.adapter_hash != digest]
    text = f"{len(foreign)} episodes were sampled by other weights than the start adapter's"
    findings.append(Finding("WARN" if foreign else "OK", "other_weights", text, foreign))
    return findings


def parser() -> argparse.ArgumentParser:
    """The command line."""
    return add_rl_flags(stage.command_line(__doc__))


if __name__ == "__main__":
    stage.run_script(main, parser())
