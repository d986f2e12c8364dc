"""Read the episodes of --replay, and put them into the steps that are trained.

    steps, left_out = replay_groups(episodes, scenarios, renderer, settings)

The episodes of a run of rl.py come in that run's own steps, which its log_history.jsonl names: no episode is trained
before those of earlier weights. Those of any other directory are cut by sample number.
"""

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from model.loading import model_hash
from model.render import Renderer
from pipeline.files import read_manifest
from schema import BadInputError, Scenario, Trajectory
from training.dataset import build
from training.history import LOG, read_history
from training.policy_gradient import Group, reward_of
from training.rl_settings import RlSettings

Visit = tuple[int, str]  # the number of a visit, and the id of the scenario


def replay_groups(
    episodes: Sequence[Trajectory], scenarios: Sequence[Scenario], renderer: Renderer, settings: RlSettings
) -> tuple[list[list[Group]], dict[str, list[str]]]:
    """The groups of each step of a replay, and the ids of the episodes that are in none, by reason.

    Samples 0 to 3 of a scenario are the group of its first visit, 4 to 7 that of its second (with --episodes 4). The
    steps are those of the run that played them; else all scenarios come once before any comes twice, in an order that
    --seed decides. Left out are episodes of other scenarios (`other_scenario`), those with ids that `renderer` would
    not give (`other_render`), and those of a step that the run has not logged (`unfinished_step`).
    """
    by_id = {one.id: one for one in scenarios}
    foreign = of_other_render(episodes, renderer)
    members: dict[Visit, list[tuple[int, Trajectory]]] = defaultdict(list)
    left_out: dict[str, list[str]] = defaultdict(list)
    for episode in episodes:
        scenario = by_id.get(episode.scenario_id)
        if scenario is None or scenario.content_hash != episode.scenario_hash:
            left_out["other_scenario"].append(episode.id)
        elif episode.id in foreign:
            left_out["other_render"].append(episode.id)
        else:
            tail = episode.id.rpartition("-s")[2]
            sample = int(tail) if tail.isdecimal() else 0
            members[sample // settings.episodes, episode.scenario_id].append((sample, episode))
    planned = visits_of_run(settings)
    if planned is None:
        order = sorted(members)
        random.Random(settings.seed).shuffle(order)
        order.sort(key=lambda visit: visit[0])
        planned = [order[at : at + settings.groups] for at in range(0, len(order), settings.groups)]
    steps = []
    for visits in planned:
        groups = []
        for visit in visits:
            rows = [one for _, one in sorted(members.pop(visit, []), key=lambda found: (found[0], found[1].id))]
            if rows:
                scenario = by_id[visit[1]]
                groups.append(Group(scenario.id, rows, [reward_of(one, scenario, settings) for one in rows]))
        steps += [groups] if groups else []
    left_out["unfinished_step"] += [one.id for found in members.values() for _, one in found]
    return steps, {reason: ids for reason, ids in left_out.items() if ids}


def visits_of_run(settings: RlSettings) -> list[list[Visit]] | None:
    """The visits of each step of the run whose <out>/episodes --replay names; None where it is no such directory.

    Raises BadInputError where --groups or --episodes are not those of the run.
    """
    assert settings.replay is not None
    manifest, out = read_manifest(settings.replay), settings.replay.resolve().parent
    if manifest is None or manifest.stage != "rl" or not (out / LOG).exists():
        return None
    log = read_history(out, partial=settings.partial)
    if not all("scenarios" in line for line in log):  # logged before this was a field
        return None
    for name in ("groups", "episodes"):
        if (had := manifest.flags[name]) != getattr(settings, name):
            raise BadInputError(
                f"--{name} is {getattr(settings, name)}, the run of {settings.replay} had {had}; pass --{name} {had}"
            )
    seen, steps = Counter[str](), list[list[Visit]]()
    for line in log:
        steps.append([(seen[id_], id_) for id_ in line["scenarios"]])
        seen.update(line["scenarios"])
    return steps


def of_other_render(episodes: Sequence[Trajectory], renderer: Renderer) -> set[str]:
    """The ids of the episodes whose recorded ids are of another tokenizer or render format than the renderer's.

    The messages of a session are rendered again, with its sampled ids in their places. The segments of an agent program
    cannot be: they were read by a chat template, so only a renderer of chat fits them.
    """
    sessions = [one for one in episodes if one.token_ids is not None and one.segments is None]
    found = build(sessions, renderer, max_length_tokens=sys.maxsize, include_not_kept=True).retokenised
    agents = [one.id for one in episodes if one.segments is not None and one.operator.kind == "agent"]
    return {*found, *(agents if renderer.wire != "chat" else [])}


def refuse_other_base(replay: Path, base: str) -> None:
    """Raise BadInputError where the manifest of the episodes says that another base played them."""
    manifest = read_manifest(replay)
    flags = manifest.flags if manifest else {}
    played = flags.get("base_hash") or flags.get("base")  # rl.py's name, and that of rollout.py
    ours = model_hash(base)
    if played and ours and played != ours:
        raise BadInputError(f"{replay}: manifest.json: another base played these episodes; pass it as --base")
