"""Run reinforcement learning step by step: play or read episodes, reward them, update, write the state.

    state, figures = train_policy(settings, out, scenarios, renderer, None, identity, image_digest)

A step is done when its directory <out>/checkpoints/step-<n> has its name: it is written under another name and renamed.
It holds the adapter, the optimizer, and everything that the next step depends on. A killed run goes on from the last
such directory. Episodes of the step that was under way are on disk and are not played again: their adapter is the one
of that directory.
"""

import contextlib
import dataclasses
import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline import stage
from model.decoder import Decoder
from model.loading import adapter_hash
from model.render import Renderer
from operators.episode import Episode, EpisodeLimits
from operators.local import LocalOperator
from operators.ray_episodes import EpisodeNode
from operators.rollouts import RolloutPlan, read_finished, run_episodes
from pipeline.files import EPISODES, read_json, write_identity, write_json
from pipeline.holdout import session_of
from pipeline.rates import agent_counts, behaviour_of, outcome_counts
from pipeline.ray_workers import Nodes
from schema import (
    VOIDED,
    AdapterIdentity,
    BadInputError,
    Scenario,
    TrainedSession,
    Trajectory,
    WorldError,
    canonical,
    sha256,
)
from training import reload
from training.curriculum import Curriculum, Pick
from training.dataset import Dataset
from training.history import write_history
from training.policy_gradient import Group, PolicyData, is_solved, policy_rows, reward_of, sft_rows
from training.policy_update import SAME_WEIGHTS, Policy
from training.rl_nodes import FILES, hand_out, policy_nodes, policy_operator
from training.rl_settings import RlSettings
from training.run import free_memory

STATES, SAVED = "checkpoints", "steps"  # directories in --out, beside EPISODES
STATE = "state.json"


@dataclass
class RlState:
    """What a run has come to after its last complete step."""

    step: int = 0
    log: list[dict[str, Any]] = field(default_factory=list)  # the lines of log_history.jsonl
    visits: dict[str, dict[str, Any]] = field(default_factory=dict)
    sessions: list[dict[str, Any]] = field(default_factory=list)  # that an update was made on
    data_hash: str = ""  # over the rows of all steps
    probe: list[list[int]] = field(default_factory=list)  # ids of two rows, for the reload check


@dataclass
class StepGroups:
    """The groups of one step, and what it took to get them."""

    groups: list[Group]
    pick: Pick | None = None  # None in a replay
    sample_seconds: float = 0.0
    check_seconds: float | None = 0.0  # None: the nodes of a cluster checked, and do not tell


class PolicyRun:
    """The policy, the state, and where both are written."""

    def __init__(
        self,
        settings: RlSettings,
        out: Path,
        scenarios: Sequence[Scenario],
        renderer: Renderer,
        identity: Callable[[RlState], AdapterIdentity],
        taught: Dataset | None = None,
    ) -> None:
        self.taught = taught
        self.settings, self.out, self.renderer, self.identity = settings, out, renderer, identity
        self.scenarios = {one.id: one for one in scenarios}
        self.adapter, self.state = last_state(out, settings.adapter)
        self.policy = Policy(settings)
        if self.state.step:
            self.policy.load(self.adapter)
        self.decoder, self.digest = Decoder(self.policy.model), adapter_hash(self.adapter)
        self.cancelled = threading.Event()
        self.nodes: Nodes[EpisodeNode] | None = None  # that play the episodes; None: this process alone does
        self.curriculum = Curriculum(list(self.scenarios), settings, self.state.visits)
        write_history(out, self.state.log)

    def step(self, played: StepGroups) -> dict[str, Any]:
        """Update on the episodes of a step and write its state; returns the line of the log."""
        number = self.state.step + 1
        vocabulary = int(self.policy.model.config.vocab_size)
        data = policy_rows(played.groups, self.settings, vocabulary=vocabulary)
        data.sft = sft_rows(self.taught, self.settings, number) if self.taught else []
        for group in played.groups:
            if played.pick is not None:
                self.curriculum.enter(group.scenario_id, number, group.scored)
        began = time.monotonic()
        rate = self.settings.rate_at(number)
        figures = self.policy.update(data, lr=rate)
        free_memory()
        line = {
            "step": number,
            **figures,
            "lr": rate,
            **group_figures(played, self.scenarios, data),
            "sample_seconds": round(played.sample_seconds, 2),
            "check_seconds": None if played.check_seconds is None else round(played.check_seconds, 2),
            "update_seconds": round(time.monotonic() - began, 2),
        }
        used = {row.episode for row in data.rows}
        sessions = [session_of(one) for group in played.groups for one in group.episodes if one.id in used]
        self.state = RlState(
            step=number,
            log=[*self.state.log, line],
            visits=self.curriculum.as_json(),
            sessions=[*self.state.sessions, *(one.model_dump() for one in sessions)],
            data_hash=sha256(canonical([self.state.data_hash, data.hash()])),
            probe=self.state.probe or [list(row.token_ids) for row in data.rows[:2]],
        )
        self._write()
        warn_of_difference(line, self.policy.dtype, replay=self.settings.replay is not None)
        return line

    def _write(self) -> None:
        """Write the state after a step; once it has its name, the step is done and the log has its line."""
        final = self.out / STATES / f"step-{self.state.step:05d}"
        staging = final.with_name(".saving")
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        self.policy.save(staging)
        write_json(staging / STATE, dataclasses.asdict(self.state))
        if self.state.step % self.settings.save_every == 0:
            saved = self.out / SAVED / final.name
            copy_files(staging, saved)
            write_json(saved / "render.json", self.renderer.describe())
            write_identity(saved, self.identity(self.state))
        staging.rename(final)
        before, self.adapter = self.adapter, final
        write_history(self.out, self.state.log)
        if before.parent == final.parent:
            shutil.rmtree(before)

    def sample(self, pick: Pick) -> StepGroups:
        """Play the episodes of a step that are not on disk yet. Raises WorldError where none could be played."""
        settings, directory = self.settings, self.out / EPISODES
        planned = {
            id_: [
                Episode(self.scenarios[id_], self.curriculum.visits[id_].count * settings.episodes + sample)
                for sample in range(settings.episodes)
            ]
            for id_ in pick.ids
        }
        every = [episode for episodes in zip(*planned.values(), strict=True) for episode in episodes]
        self.digest = adapter_hash(self.adapter)
        found = {one.id: known for one in every if (known := self._finished(directory, one))}
        checks: list[float] = []
        began = time.monotonic()
        if todo := [one for one in every if one.id not in found]:
            limits = EpisodeLimits(settings.max_steps, settings.timeout_seconds)
            if self.nodes is not None:
                hand_out(self.nodes, self.adapter)
            plan = RolloutPlan(
                self.operator, settings.seed, limits, settings.workers, self.cancelled, settings.image, self.nodes,
                checked=checks.append,
            )  # fmt: skip
            found |= run_episodes(plan, todo, directory, label=f"step {self.state.step + 1}")
        again = [one.id for one in every if read_finished(directory, one) is None]
        if len(found) < len(every) or len(again) == len(every):
            raise WorldError(f"{directory}: the sandbox failed in every episode of step {self.state.step + 1}")
        groups = [self._group([found[one.id] for one in episodes]) for episodes in planned.values()]
        return StepGroups(groups, pick, time.monotonic() - began, None if self.nodes is not None else sum(checks))

    def operator(self) -> LocalOperator:
        """What plays one episode of the step that is under way."""
        return policy_operator(self.settings, self.decoder, self.renderer, self.digest, self.cancelled)

    def _finished(self, directory: Path, episode: Episode) -> Trajectory | None:
        """An episode of this step that an interrupted run has played."""
        known = read_finished(directory, episode)
        if known is not None and known.operator.adapter_hash != self.digest:
            raise BadInputError(
                f"{directory / episode.id}.json: operator.adapter_hash: was sampled by another adapter than that of "
                f"step {self.state.step}; pass --redo to start over"
            )
        return known

    def _group(self, episodes: Sequence[Trajectory]) -> Group:
        scenario = self.scenarios[episodes[0].scenario_id]
        return Group(scenario.id, episodes, [reward_of(one, scenario, self.settings) for one in episodes])


def train_policy(
    settings: RlSettings,
    out: Path,
    scenarios: Sequence[Scenario],
    renderer: Renderer,
    replayed: Sequence[Sequence[Group]] | None,
    identity: Callable[[RlState], AdapterIdentity],
    image_digest: str | None,
    taught: Dataset | None = None,
) -> tuple[RlState, dict[str, Any]]:
    """Run every step that is not done yet and write the adapter; returns the last state and figures for the summary.

    Args:
        settings: the flags.
        out: the adapter's directory.
        scenarios: to play, or those that the replayed episodes are of.
        renderer: of the start adapter.
        replayed: the groups of each step, where episodes are replayed.
        identity: of the adapter, for a state of the run.
        image_digest: of the sandbox's image; None where nothing is played.
        taught: the sessions of --sft-data.
    """
    from torch.utils.tensorboard import SummaryWriter
    from transformers import set_seed

    set_seed(settings.seed)
    run = PolicyRun(settings, out, scenarios, renderer, identity, taught)
    total = settings.updates if replayed is None else min(settings.updates, len(replayed))
    resumed = run.state.step
    board = SummaryWriter(str((settings.logdir or out / "runs").expanduser()), purge_step=resumed + 1)
    with contextlib.ExitStack() as stack:
        if settings.ray is not None and image_digest is not None and resumed < total:
            run.nodes = stack.enter_context(
                policy_nodes(settings, image_digest, run.operator, dtype=run.policy.dtype, cancelled=run.cancelled)
            )
        progress = stack.enter_context(stage.Progress(total, "rl"))
        for line in run.state.log:
            progress.record(f"step-{line['step']}", "from the checkpoint")
        for number in range(resumed, total):
            if replayed is None:
                line = run.step(run.sample(run.curriculum.pick(number + 1)))
            else:
                line = run.step(StepGroups(list(replayed[number])))
            progress.record(f"step-{line['step']}", step_in_words(line))
            for name, value in line.items():
                if name != "step" and isinstance(value, int | float):
                    board.add_scalar(f"train/{name}", value, line["step"])
    board.close()
    copy_files(run.adapter, out)
    if run.state.probe:
        reload.write_probe(run.policy.model, run.state.probe, out)
    return run.state, {**totals_of(run.state.log, run.policy.dtype), "resumed_from": resumed or None}


def last_state(out: Path, start: Path) -> tuple[Path, RlState]:
    """The directory of the last complete step and its state; every other one is removed. (start, RlState()) at first.

    `start` is the adapter that the run begins with.
    """
    for path in (out / STATES).glob(".saving"):
        shutil.rmtree(path)
    *older, last = [None, *sorted((out / STATES).glob("step-*"))]
    for directory in older:
        if directory is not None:
            shutil.rmtree(directory)
    if last is None:
        return start, RlState()
    return last, RlState(**read_json(last / STATE))


def copy_files(adapter: Path, out: Path) -> None:
    """Copy an adapter's two files into a directory, each renamed into place."""
    out.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(adapter / name, out / f".{name}")
        (out / f".{name}").replace(out / name)


def group_figures(played: StepGroups, scenarios: dict[str, Scenario], data: PolicyData) -> dict[str, Any]:
    """What the episodes of a step were; None where a figure has nothing to count."""
    episodes = [one for group in played.groups for one in group.episodes]
    rewards = [reward for group in played.groups for reward in group.scored]
    counted = [one for one in episodes if one.outcome not in VOIDED]
    mean = sum(rewards) / len(rewards) if rewards else None
    spread = (sum((one - (mean or 0)) ** 2 for one in rewards) / len(rewards)) ** 0.5 if rewards else None
    loops = [bool(behaviour_of(one, blocked=False)["loop"]) for one in counted]
    pick = played.pick

    def share(values: Sequence[bool | float]) -> float | None:
        return sum(values) / len(values) if values else None

    return {
        "reward": mean,
        "reward_std": spread,
        "solved": share([is_solved(one, scenarios[one.scenario_id]) for one in counted]),
        "groups": len(played.groups),
        "scenarios": [group.scenario_id for group in played.groups],  # --replay repeats the steps of a run from it
        "signal_share": share([group.has_signal for group in played.groups]),
        "episodes": len(episodes),
        "scored": len(rewards),
        "outcomes": outcome_counts(episodes),
        **({"agent_counts": counts} if (counts := agent_counts(episodes)) else {}),
        "voided": len(episodes) - len(counted),
        "void_share": share([one.outcome in VOIDED for one in episodes]),
        "left_out": {reason: len(ids) for reason, ids in data.left_out.items()},
        "segments": len(data.rows),
        "commands": share([len(one.commands) for one in counted]),
        "episode_tokens": share([sum(len(row.places) for row in data.rows) / data.episodes]) if data.episodes else None,
        "loops": share(loops),
        "revisited": pick.revisited if pick else 0,
        "skipped_solved": pick.skipped_solved if pick else 0,
        "skipped_failed": pick.skipped_failed if pick else 0,
    }


def warn_of_difference(line: dict[str, Any], dtype: str, *, replay: bool) -> None:
    """Say loudly where the log-probs of the training are not those of the sampling."""
    found, allowed = line["log_prob_difference_mean"], SAME_WEIGHTS[dtype]
    if found is not None and found > allowed:
        why = (
            "these episodes were sampled by other weights"
            if replay
            else "sampling and training do not compute the same policy; do not trust this run"
        )
        print(
            f"WARNING step {line['step']}: mean |train - sample log-prob| is {found:.2g}, {allowed:g} is allowed in "
            f"{dtype}: {why}",
            file=sys.stderr,
        )


def step_in_words(line: dict[str, Any]) -> str:
    """A step in a few words."""
    reward, signal = line["reward"], line["signal_share"]
    shown = "-" if reward is None else f"{reward:.3f}"
    return (
        f"reward {shown} signal {signal or 0:.2f} loss {line['loss']:.4f} grad_norm {line['grad_norm']:.3f} "
        f"sample {line['sample_seconds']:.0f} s update {line['update_seconds']:.0f} s"
    )


def totals_of(log: Sequence[dict[str, Any]], dtype: str) -> dict[str, Any]:
    """What all steps came to."""
    differences = [line["log_prob_difference_mean"] for line in log if line["log_prob_difference_mean"] is not None]
    return {
        "steps": len(log),
        "updated": sum(line["updated"] for line in log),
        "episodes": sum(line["episodes"] for line in log),
        "scored": sum(line["scored"] for line in log),
        "voided": sum(line["voided"] for line in log),
        "reward_first": log[0]["reward"] if log else None,
        "reward_last": log[-1]["reward"] if log else None,
        "log_prob_difference_mean": sum(differences) / len(differences) if differences else None,
        "log_prob_difference_over": sum(one > SAME_WEIGHTS[dtype] for one in differences),
        "dtype": dtype,
        **{f"{name}_seconds": total_seconds(log, name) for name in ("sample", "check", "update")},
    }


def total_seconds(log: Sequence[dict[str, Any]], phase: str) -> float | None:
    """The seconds of a phase in all steps; None where a step does not tell."""
    known = [seconds for line in log if (seconds := line[f"{phase}_seconds"]) is not None]
    return round(sum(known), 1) if len(known) == len(log) else None


def sessions_of_state(state: RlState) -> list[TrainedSession]:
    """The sessions that the run has trained on."""
    return [TrainedSession(**one) for one in state.sessions]
