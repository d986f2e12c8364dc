"""Gather what a page shows from the directories of runs: evals, rollouts, scenarios, trainings.

    contents = page_contents({"ckpt-run1": Path("eval/ckpt-run1"), "trajectories": Path("trajectories")})

The kind of a directory is read off its files. Scenarios are found in the directories that are named, and where an
eval's report says that they lie. Without a rollout's scenarios nobody can say whether a directive was shown, so
`discover_rate` is missing then.
"""

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pipeline import stage
from pages.document import Contents, finite
from pages.shade import Shader
from pipeline.files import read_json, read_manifest, read_record, read_report, read_scenarios, read_trajectories
from pipeline.hidden import CONTROL_NAMES, HIDDEN
from pipeline.rates import BEHAVIOUR, RATES, paired, rate_of, subject_report
from pipeline.tables import format_difference, format_rate
from pipeline.verdicts import events_of
from schema import (
    VOIDED,
    BadInputError,
    Difference,
    EventRates,
    Manifest,
    Outcome,
    PairedDifferences,
    Rate,
    Scenario,
    Subject,
    SubjectReport,
    Trajectory,
    axis_balance,
)
from taxonomy import AXES
from training.history import LARGEST, LOG, is_figure, read_history

MAX_POINTS = 300  # of a curve
TOLD_EVERY = 100  # sessions
MAX_FIXTURE_CHARS = 20_000


@dataclass
class EpisodeGroup:
    """The episodes of one rollout, or of one subject of an eval."""

    run: str
    label: str
    episodes: list[Trajectory]
    report: SubjectReport | None = None

    def first_samples(self) -> dict[str, Trajectory]:
        """Scenario's hash -> its first episode here."""
        found: dict[str, Trajectory] = {}
        for episode in self.episodes:
            found.setdefault(episode.scenario_hash, episode)
        return found


@dataclass
class Gathered:
    """What the named directories hold."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    groups: list[EpisodeGroup] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    trainings: dict[Path, str] = field(default_factory=dict)  # resolved directory -> label of its curves
    curves: list[dict[str, Any]] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)  # directories of scenarios
    scenarios: dict[str, Scenario] = field(default_factory=dict)  # by content hash


def page_contents(runs: Mapping[str, Path], *, partial: bool = False) -> Contents:
    """Everything that a page of these runs shows. Raises BadInputError for a directory that no stage wrote."""
    found = Gathered()
    with stage.Progress(len(runs), "read") as bar:
        for label, directory in runs.items():
            manifest = read_manifest(directory)
            if manifest is not None and not manifest.finished and not partial:
                path = directory / "manifest.json"
                raise BadInputError(f"{path}: finished: false; rerun that stage or pass --partial")
            kind = kind_of(directory, manifest)
            found.runs.append(about(label, kind, manifest))
            GATHER[kind](found, label, directory, manifest, partial)
            bar.record(label, kind)
    for training, label in found.trainings.items():
        add_curves(found, label, training, partial)
    for group in found.groups:
        if group.report is None:
            group.report = report_of_group(group.episodes, found.scenarios)
    compare_groups(found)
    return contents_of(found)


def kind_of(directory: Path, manifest: Manifest | None) -> str:
    """eval, training, scenarios or rollout. Raises BadInputError."""
    if not directory.is_dir():
        raise BadInputError(f"{directory}: no such directory; name one that a stage wrote")
    if (directory / "report.json").exists():
        return "eval"
    if (directory / LOG).exists() or (directory / "sekft.json").exists():
        return "training"
    names = sorted(path for path in directory.glob("*.json") if path.name != "manifest.json" and path.name[0] != ".")
    first = read_json(names[0]) if names else None
    if isinstance(first, dict) and "checker" in first:
        return "scenarios"
    if isinstance(first, dict) and "steps" in first:
        return "rollout"
    if manifest is not None and manifest.stage == "eval":
        raise BadInputError(
            f"{directory}: no report.json, which eval.py writes at its end; --watch shows it until then"
        )
    raise BadInputError(
        f"{directory}: holds no report.json, no records and no log_history.jsonl; name a directory that generate.py, "
        "rollout.py, eval.py or a training wrote"
    )


def about(label: str, kind: str, manifest: Manifest | None) -> dict[str, Any]:
    """The lines at the head of a run."""
    if manifest is None:
        return {
            "label": label,
            "kind": kind,
            "flags": {},
            "notes": ["no manifest: nothing says whether it was finished"],
        }
    notes = [] if manifest.finished else ["not finished: what is there so far"]
    flags = {name: finite(value, json.dumps) for name, value in manifest.flags.items() if value is not None}
    return {"label": label, "kind": kind, "flags": flags, "commit": manifest.git_commit, "notes": notes}


def gather_eval(found: Gathered, label: str, directory: Path, _manifest: Manifest | None, partial: bool) -> None:
    """The subjects of an eval, with the rates and differences of its report, and its adapter's curves."""
    report = read_report(directory)
    for subject in get_args(Subject):
        if subject in report.subjects:
            paths = sorted((directory / subject).glob("[!.]*.json"))
            episodes = [read_record(path, Trajectory) for path in paths]
            found.groups.append(EpisodeGroup(label, f"{label}: {subject}", episodes, report.subjects[subject]))
    found.differences += [
        difference_row(f"{label}: {pair}", differences) for pair, differences in report.paired.items()
    ]
    found.runs[-1]["notes"] += [f"split by {report.split_by}"] if report.split_by else ["not split by split.py"]
    if report.scenarios and any(Path(report.scenarios).glob("*.json")):
        add_scenarios(found, read_scenarios(Path(report.scenarios), partial=True))
    if report.adapter and (Path(report.adapter) / LOG).exists():
        adapter = Path(report.adapter).resolve()
        found.trainings.setdefault(adapter, f"{label}: training of {adapter.name}")


def gather_rollout(found: Gathered, label: str, directory: Path, _manifest: Manifest | None, partial: bool) -> None:
    """The episodes of a rollout."""
    found.groups.append(EpisodeGroup(label, label, read_trajectories(directory, partial=partial)))


def gather_training(found: Gathered, label: str, directory: Path, manifest: Manifest | None, _partial: bool) -> None:
    """A training's curves, and its counts."""
    found.trainings[directory.resolve()] = label
    counts = manifest.counts if manifest else {}
    figures = {name: value for name, value in counts.items() if isinstance(value, int | float)}
    found.runs[-1]["counts"] = finite(figures, json.dumps)


def gather_scenarios(found: Gathered, label: str, directory: Path, manifest: Manifest | None, partial: bool) -> None:
    """Scenarios: how many by axis value, and what the gate let through."""
    records = read_scenarios(directory, partial=partial)
    add_scenarios(found, records)
    counts = manifest.counts if manifest else {}
    found.sources.append(
        {
            "label": label,
            "scenarios": len(records),
            "blocked": sum(record.terminal == "panic" for record in records),
            "attempts": counts.get("attempts"),
            **gate_counts(directory / "manifest.json", counts),
            "balance": axis_balance(records),
            "axes": {axis: dict(Counter(record.axes()[axis] for record in records)) for axis in AXES},
        }
    )


def gate_counts(path: Path, counts: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of attempts and gates. Raises BadInputError naming the field that holds no counts."""

    def is_count(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST

    attempts, refused, yields = counts.get("attempts"), counts.get("refused") or {}, counts.get("yield") or {}
    whole = {
        "attempts": attempts is None or is_count(attempts),
        "refused": isinstance(refused, dict) and all(map(is_count, refused.values())),
        "yield": isinstance(yields, dict) and all(
            isinstance(one, dict) and is_count(one.get("reached")) and is_count(one.get("passed"))
            for one in yields.values()
        ),
    }  # fmt: skip
    for name, right in whole.items():
        if not right:
            raise BadInputError(f"{path}: counts.{name}: is not what generate.py counts; rerun it with --redo")
    return {"attempts": attempts, "refused": refused, "yield": yields}


GATHER = {"eval": gather_eval, "rollout": gather_rollout, "training": gather_training, "scenarios": gather_scenarios}


def add_scenarios(found: Gathered, records: Sequence[Scenario]) -> None:
    """Remember scenarios by their content."""
    found.scenarios |= {record.content_hash: record for record in records}


def add_curves(found: Gathered, label: str, directory: Path, partial: bool) -> None:
    """One curve per logged figure: loss, reward and whatever else the trainer wrote at each step."""
    rows = read_history(directory, partial=partial)
    names = [
        name
        for name in dict.fromkeys(name for row in rows for name in row)
        if name not in ("step", "epoch") and any(is_figure(row.get(name)) for row in rows)
    ]
    for name in names:
        points = [(row["step"], row[name]) for row in rows if is_figure(row.get(name))]
        lost = sum(isinstance(row.get(name), float) and not is_figure(row[name]) for row in rows)
        size = -(-len(points) // MAX_POINTS)
        blocks = [points[at : at + size] for at in range(0, len(points), size)]
        means = [(block[-1][0], sum(value for _, value in block) / len(block)) for block in blocks]
        found.curves.append({"run": label, "name": name, "points": means, "steps_per_point": size, "not_finite": lost})


def report_of_group(episodes: Sequence[Trajectory], known: Mapping[str, Scenario]) -> SubjectReport:
    """The rates of a rollout; without its scenarios, those that need none."""
    if all(episode.scenario_hash in known for episode in episodes):
        return subject_report(episodes, {one.scenario_id: known[one.scenario_hash] for one in episodes})
    none = Rate(successes=0, n=0, rate=None, interval=None)
    return SubjectReport.model_validate(
        {
            "rates": rates_without_scenarios(episodes),
            "behaviour": dict.fromkeys(BEHAVIOUR, none),
            "per_axis": {
                axis: {
                    value: rates_without_scenarios([one for one in episodes if one.axes[axis] == value])
                    for value in sorted({one.axes[axis] for one in episodes})
                }
                for axis in AXES
            },
            "outcomes": Counter(one.outcome for one in episodes),
            "voided": sum(one.outcome in VOIDED for one in episodes),
        }
    )


def rates_without_scenarios(episodes: Sequence[Trajectory]) -> EventRates:
    """The rates of EventRates but `discover_rate`."""
    counted = [dataclasses.asdict(events_of(episode, ())) for episode in episodes if episode.outcome not in VOIDED]
    voided = len(episodes) - len(counted)
    names = [name for name in RATES if name != "discover_rate"]
    return EventRates(
        **{name: rate_of([events[name.removesuffix("_rate")] for events in counted], voided) for name in names}
    )


def compare_groups(found: Gathered) -> None:
    """Paired differences of each run's last group from that of the first run that played some of its scenarios."""
    last = list({group.run: group for group in found.groups if group.episodes}.values())
    for at, group in enumerate(last):
        after = group.first_samples()
        for earlier in last[:at]:
            before = earlier.first_samples()
            if both := [key for key in before if key in after and key in found.scenarios]:
                scenarios = {before[key].scenario_id: found.scenarios[key] for key in both}
                scenarios |= {after[key].scenario_id: found.scenarios[key] for key in both}
                differences = paired(
                    {key: before[key] for key in both}, {key: after[key] for key in both}, scenarios, seed=0
                )
                found.differences.append(difference_row(f"{group.label} - {earlier.label}", differences))
                break


def difference_row(label: str, differences: PairedDifferences) -> dict[str, Any]:
    """One line of the table of differences."""
    return {
        "label": label,
        "n": differences.n,
        "rates": {name: _difference(getattr(differences, name)) for name in RATES},
    }


def _difference(value: Difference | None) -> list[Any] | None:
    if value is None or not all(map(math.isfinite, (value.difference, *value.interval))):
        return None
    return [format_difference(value), value.difference, *value.interval]


def _rate(value: Rate | None) -> list[Any] | None:
    """The cell's text, rate, low, high; None where there is no rate."""
    if value is None or value.rate is None or value.interval is None:
        return None
    if not all(map(math.isfinite, (value.rate, *value.interval))):
        return None
    return [format_rate(value), value.rate, *value.interval]


def contents_of(found: Gathered) -> Contents:
    """The index and the blocks of what was gathered."""
    shader = Shader()
    blocks: list[tuple[str, Any]] = []
    rows: list[list[Any]] = []
    episodes = [(at, episode) for at, group in enumerate(found.groups) for episode in group.episodes]
    with stage.Progress(len(episodes), "page", every=TOLD_EVERY) as bar:
        for at, episode in episodes:
            blocks.append((f"t{len(rows)}", session_of_page(episode, shader)))
            rows.append(row_of(at, episode))
            bar.record(episode.id, episode.outcome)
    numbers = {key: number for number, key in enumerate(found.scenarios)}
    blocks += [(f"s{number}", scenario_of_page(found.scenarios[key])) for key, number in numbers.items()]
    for run in found.runs:
        bases = {
            one.operator.model or "" for group in found.groups if group.run == run["label"] for one in group.episodes
        }
        run["notes"] += [why for base, why in shader.without.items() if base in bases]
    index = {
        "hidden": HIDDEN,
        "names": CONTROL_NAMES,
        "outcomes": get_args(Outcome),
        "voided": sorted(VOIDED),
        "axes": list(AXES),
        "rates": RATES,
        "behaviour": BEHAVIOUR,
        "runs": found.runs,
        "groups": [group_of_page(group) for group in found.groups],
        "differences": found.differences,
        "curves": found.curves,
        "sources": found.sources,
        "scenarios": numbers,
        "rows": rows,
    }
    return Contents(index, blocks)


def group_of_page(group: EpisodeGroup) -> dict[str, Any]:
    """A group's rates."""
    report = group.report
    assert report is not None
    return {
        "run": group.run,
        "label": group.label,
        "rates": {name: _rate(getattr(report.rates, name)) for name in RATES},
        "behaviour": {name: _rate(getattr(report.behaviour, name)) for name in BEHAVIOUR},
        "per_axis": {
            axis: {value: {name: _rate(getattr(rates, name)) for name in RATES} for value, rates in values.items()}
            for axis, values in report.per_axis.items()
        },
        "outcomes": report.outcomes,
        "voided": report.voided,
    }


def row_of(group: int, episode: Trajectory) -> list[Any]:
    """What the list of sessions knows of one, in the order that elements.js names in ROW."""
    return [
        group, episode.id, episode.scenario_id, episode.scenario_hash, episode.outcome, int(episode.kept),
        int(episode.verified), len(episode.steps), len(episode.token_ids or ()),
        sum(len(message.content) for message in episode.messages), [episode.axes[axis] for axis in AXES],
        episode.reasons,
    ]  # fmt: skip


def session_of_page(episode: Trajectory, shader: Shader) -> dict[str, Any]:
    """What is unpacked when a session is opened: everything to read, without what is there twice."""
    opening = [message for message in episode.messages[:2] if message.role != "assistant"]
    about_it = episode.model_dump(mode="json", include={
        "scenario_id", "terminal", "verified", "command_only", "outcome", "attempt", "kept", "reasons", "error",
        "operator",
    }, exclude_none=True)  # fmt: skip
    return {
        **about_it,
        "seed": None if episode.operator.seed is None else str(episode.operator.seed),  # over 2**53, JavaScript's limit
        "opening": [[message.role, message.content] for message in opening],
        "steps": [step.model_dump(mode="json", exclude_defaults=True) for step in episode.steps],
        "last": episode.commands_without_step(),
        "tokens": shader.tokens(episode),
        "replies": shader.replies(episode),
        "changes": episode.model_dump(mode="json").get("changes"),
    }


def scenario_of_page(scenario: Scenario) -> dict[str, Any]:
    """What is unpacked when a session's scenario is opened."""
    return {
        "terminal": scenario.terminal,
        "announcement": scenario.announcement.model_dump(mode="json", exclude_none=True),
        "provider": scenario.provider.model_dump(mode="json"),
        "directives": scenario.directives,
        "checker": scenario.checker,
        "solution": scenario.reference_solution,
        "fixtures": [
            [one.path, one.type, f"{one.mode:03o}", (one.text or one.target or one.base64 or "")[:MAX_FIXTURE_CHARS]]
            for one in scenario.world_fixtures()
        ],
    }
