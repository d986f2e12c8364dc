"""Write the card of a data set and of an adapter: a README.md with the YAML head that the Hugging Face Hub reads.

    card = dataset_card(DatasetParts(scenarios, sessions, ...), licence="apache-2.0")
    str(card)

Every figure comes from a manifest, a report or the records. Undefined is not zero: what is not there is said to be
missing. What comes from a record, a manifest or a file's name is shown as a code span, in which a reader of Markdown
sees no image, link or tag; characters that would be obeyed or hidden are shown by their names.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from huggingface_hub import DatasetCard, DatasetCardData, EvalResult, ModelCard, ModelCardData
from pydantic import BaseModel, Field

from exports.holdout import Holdout
from formats.columns import columns_of
from pipeline.hidden import as_text
from pipeline.rates import RATES, rate_of
from pipeline.tables import CELL, format_difference, format_rate
from records.base import TrainedSession
from records.overlap import Count, CountedSessions, Overlap
from schema import AdapterIdentity, EvalReport, Manifest, Scenario, Trajectory, axis_balance, axis_values

MAX_CELL_CHARS = 200
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
MISUSE = """\
- **Unattended use.** A model that was trained on this types commands into a shell. Run it only where nothing
  can be lost: in a container without network and secrets.
- **A judge or a safety measure.** A session that ended with `exit` says that the model thought it was done, no
  more.
- **A measure of general ability.** The work is short, in English, on one shell with a busybox userland.
- **Training with the held-out set.** Who trains on held-out scenarios can no longer evaluate on them."""


class GateCounts(BaseModel):
    """How many attempts reached a gate, and how many passed it."""

    reached: Count
    passed: Count


class YieldCounts(BaseModel):
    """The gates' yields in the counts of a manifest."""

    yields: dict[str, GateCounts] | None = Field(default=None, alias="yield")


class CountedManifest(BaseModel):
    """What a card shows of a manifest's counts."""

    counts: YieldCounts


class ScenarioKeys(NamedTuple):
    """What a held-out set knows a scenario by."""

    instance: str
    content_hash: str
    archetype: str | None


@dataclass(frozen=True)
class DatasetParts:
    """What a data-set card is made from. `held_out` is None where it is not known what is held out."""

    scenarios: Sequence[Scenario]
    sessions: Sequence[Trajectory] = ()
    manifests: Sequence[Manifest] = ()
    sessions_manifest: Manifest | None = None
    yields: Mapping[str, GateCounts] = field(default_factory=dict)
    held_out: Holdout | None = None
    overlaps: Sequence[Overlap] = ()


@dataclass(frozen=True)
class AdapterParts:
    """What an adapter card is made from: its identity, the evals by name, the base's licence and 13-gram counts."""

    name: str
    identity: AdapterIdentity
    reports: Mapping[str, EvalReport] = field(default_factory=dict)
    overlaps: Sequence[Overlap] = ()
    base_licence: str | None = None
    licence_files: Sequence[str] = ()


@dataclass(frozen=True)
class DataFile:
    """One file of a data set: the config and the split that it is, and its rows."""

    config: str
    split: str
    name: str
    rows: Sequence[Scenario | Trajectory]


def data_files(parts: DatasetParts) -> Iterator[DataFile]:
    """The files of a data set: one for each split of scenarios and sessions that has rows."""
    every: dict[str, list[tuple[ScenarioKeys, Scenario | Trajectory]]] = {
        "scenarios": [(ScenarioKeys(one.id, one.content_hash, one.task), one) for one in parts.scenarios],
        "trajectories": [
            (ScenarioKeys(one.scenario_id, one.scenario_hash, one.axes["task"]), one) for one in parts.sessions
        ],
    }
    held = parts.held_out or Holdout()
    for config, keyed in every.items():
        for split in ("train", "holdout"):
            if rows := [row for keys, row in keyed if (held.reason(keys) is not None) == (split == "holdout")]:
                name = f"{config}.jsonl" if parts.held_out is None else f"{config}-{split}.jsonl"
                yield DataFile(config, split, name, rows)


def dataset_card(parts: DatasetParts, *, licence: str) -> DatasetCard:
    """The card of scenarios, and of sessions where there are some."""
    files = list(data_files(parts))
    configs = {one.config: [two for two in files if two.config == one.config] for one in files}
    columns = {"scenarios": columns_of(Scenario), "trajectories": columns_of(Trajectory)}
    head = DatasetCardData(
        language="en",
        license=_line(licence),
        pretty_name="Shell scenarios of sekft",
        size_categories=[_size_category(len(parts.scenarios) + len(parts.sessions))],
        task_categories=["text-generation"],
        tags=["shell", "agent", "sekft"],
        configs=[
            {"config_name": name, "data_files": [{"split": one.split, "path": one.name} for one in those]}
            for name, those in configs.items()
        ],
        dataset_info=[{"config_name": name, "features": columns[name]} for name in configs],
    )
    blocked = sum(scenario.terminal == "panic" for scenario in parts.scenarios)
    sections = {
        "What it is": f"{len(parts.scenarios)} scenarios ({blocked} blocked) and {len(parts.sessions)} sessions. In a "
        "scenario an operator logs in to a plain shell, finds out where its directives are, carries them out and ends "
        "the session itself. A checker, a POSIX sh program, looks at the files that are left. In a blocked scenario "
        "part of the work cannot be done: the right end is `panic`, not `exit`.",
        "How it was made": _made(parts.manifests, parts.scenarios),
        "Gate": _gate(parts.yields),
        "Balance": _balance(parts.scenarios),
        "Held out": _held_out(parts),
        "Sessions": _sessions(parts.sessions, parts.sessions_manifest),
        "Decontamination": _overlaps(parts.overlaps),
        "Licence": f"{_code(licence)}. Scenarios of a teacher are also under the terms of the teacher's model.",
        "Must not be used for": MISUSE + " The section *Held out* says which they are.",
    }
    return DatasetCard(_text(head.to_yaml(), "Shell scenarios of sekft", sections))


def adapter_card(parts: AdapterParts, *, licence: str, base_model: str | None) -> ModelCard:
    """The card of an adapter. `base_model` is the base's name on the hub, where it has one."""
    results = [
        EvalResult(
            task_type="text-generation", task_name="shell sessions", dataset_type="sekft", dataset_name=_line(name),
            metric_type=rate_name, metric_name=rate_name, metric_value=round(rate.rate, 4),
        )
        for name, report in parts.reports.items() if "adapter" in report.subjects
        for rate_name, rate in report.subjects["adapter"].rates
        if rate is not None and rate.rate is not None
    ]  # fmt: skip
    head = ModelCardData(
        language="en",
        license=_line(licence),
        base_model=_line(base_model) if base_model else None,
        library_name="peft",
        pipeline_tag="text-generation",
        tags=["shell", "agent", "sekft", "lora"],
        model_name=_line(parts.name) if results else None,
        eval_results=results or None,
    )
    identity = parts.identity
    flags = [[_code(name), _code(value)] for name, value in sorted(identity.flags.items())]
    archetypes = Counter(session.archetype for session in identity.trained_on)
    scenarios = len({session.content_hash for session in identity.trained_on})
    base = _code(base_model or identity.base)
    sections = {
        "What it is": f"A LoRA adapter for {base}. With it the base acts as a shell operator: it logs in, finds out "
        "where its directives are, carries them out with ordinary commands, and ends the session itself.",
        "How it was made": f"Trained by sekft at commit {_code(identity.git_commit or 'missing')}, with the loss on "
        "the operator's turns alone.\n\n"
        + (_table(["flag", "value"], flags) if flags else "The flags of the training are missing."),
        "Base": f"{base}, fingerprint {_code(identity.base_hash or 'missing')}. {_base_licence(parts)}",
        "Data": (
            f"{len(identity.trained_on)} sessions of {scenarios} scenarios in {len(archetypes)} archetypes; "
            "`sekft.json` names each."
            if identity.trained_on
            else "The list of sessions is missing."
        ),
        "Rates": _rates(parts.reports),
        "Decontamination": _overlaps(parts.overlaps, identity.trained_on),
        "Licence": f"{_code(licence)}, for the adapter's weights.",
        "Must not be used for": f"{MISUSE} " + _evaluated_on(parts.reports),
    }
    return ModelCard(_text(head.to_yaml(), _code(parts.name), sections))


def _text(head: str, title: str, sections: Mapping[str, str]) -> str:
    body = "\n\n".join(f"## {name}\n\n{text.strip()}" for name, text in sections.items())
    return f"---\n{head}\n---\n\n# {title}\n\n{body}\n"


def _line(value: Any) -> str:
    """A value on one line, with each hidden character shown by its name; one of over 200 characters is cut."""
    text = " ".join(as_text(str(value)).split())
    return text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…"


def _code(value: Any) -> str:
    """A value as a code span of one line, which renders no Markdown and ends no cell of a table."""
    text = _line(value).translate(str.maketrans("|`<>", "/'()"))
    return f"`{text or '(empty)'}`"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _size_category(n: int) -> str:
    return next((name for limit, name in SIZES if n < limit), "n>1M")


def _made(manifests: Sequence[Manifest], scenarios: Sequence[Scenario]) -> str:
    """Authors, and the runs that the manifests tell."""
    by = Counter(_who(one.provenance.author, one.provenance.model) for one in scenarios)
    authors = "Authors: " + ", ".join(f"{name} ({n})" for name, n in sorted(by.items())) + "."
    if not manifests:
        return f"{authors} The manifest is missing: the run's flags, commit and image are not known."
    return "\n\n".join([authors, *map(_run, manifests)])


def _run(manifest: Manifest) -> str:
    """The stage, flags, commit and image of one run."""
    split = manifest.flags.get("by")
    rows = [
        ["stage", _code(manifest.stage)],
        *([f"flag {_code(name)}", _code(value)] for name, value in manifest.flags.items() if value is not None),
        ["commit", _code(manifest.git_commit or "missing")],
        ["image", _code(manifest.image_digest or "missing")],
        ["split", f"one side of a split by {_code(split)}" if split else "no split"],
    ]
    return _table(["", ""], rows)


def _who(kind: str, model: str | None) -> str:
    """An author or operator, with its model where it has one."""
    return f"{kind} {_code(model)}" if model else kind


def _gate(yields: Mapping[str, GateCounts]) -> str:
    """How many reached each gate and passed it."""
    if not yields:
        return (
            "Gate yields are missing: they are in the manifest of `generate.py`, which this directory does not have. "
            "Each scenario says in `provenance.gates` what the gate found."
        )
    rows = [
        [_code(name), str(one.reached), str(one.passed), _share(one.passed, one.reached)]
        for name, one in sorted(yields.items(), key=lambda item: (-item[1].reached, -item[1].passed))
    ]
    return _table(["gate", "reached", "passed", "share"], rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _balance(scenarios: Sequence[Scenario]) -> str:
    """exp(entropy) over the number of values, for each axis of the taxonomy that the scenarios are of."""
    found_of, rows = axis_balance(scenarios), []
    for axis, values in axis_values(scenarios).items():
        found = found_of[axis]
        used = len({scenario.axes()[axis] for scenario in scenarios})
        rows.append([axis, f"{used} of {len(values)}", "-" if found is None else f"{found:.3f}"])
    own = sorted({_code(one.taxonomy.name) for one in scenarios if one.taxonomy is not None})
    told = f" Of the taxonomy {', '.join(own)} the values count that occur here." if own else ""
    table = _table(["axis", "values", "balance"], rows)
    return f"1 where all values of an axis occur equally often.{told}\n\n{table}"


def _held_out(parts: DatasetParts) -> str:
    """Which scenarios are held out."""
    if parts.held_out is None:
        return "Missing: nothing that this card was made from says which of these scenarios are held out."
    if not (parts.held_out.ids or parts.held_out.hashes):
        return "These scenarios are the training side of a split, which holds out none of them."
    n = Counter((one.config, one.split) for one in data_files(parts) for _ in one.rows)
    told = (
        f"The split `holdout` of each config is held out: {n['scenarios', 'holdout']} of {len(parts.scenarios)} "
        f"scenarios and {n['trajectories', 'holdout']} of {len(parts.sessions)} sessions. Train on the split `train`."
    )
    if names := sorted(parts.held_out.archetypes):
        told += f" Archetypes that are held out as a whole: {', '.join(map(_code, names))}."
    return told


def _evaluated_on(reports: Mapping[str, EvalReport]) -> str:
    """Which scenarios the rates of an adapter are of."""
    told = []
    for name, report in reports.items():
        tasks = sorted({task for subject in report.subjects.values() for task in subject.per_axis.get("task", {})})
        what = "every scenario of the archetypes" if report.split_by == "archetype" else "the played scenarios of"
        told.append(f"  - {_code(name)}: {what} {', '.join(map(_code, tasks)) or 'missing'}")
    return "\n".join(["The held-out set of each eval is:", *told]) if told else "Which it is, is missing: no eval."


def _base_licence(parts: AdapterParts) -> str:
    """Which licence the base has, as far as it is known."""
    files = ", ".join(_code(name) for name in parts.licence_files)
    text = f" Its text lies here: {files}." if files else ""
    if parts.base_licence is None:
        return f"The name of the base's licence is not known here.{text} It holds beside this adapter's: look it up."
    return f"The base's licence is {_code(parts.base_licence)}, and holds beside this adapter's.{text}"


def _sessions(sessions: Sequence[Trajectory], manifest: Manifest | None) -> str:
    """Operators, outcomes and the rate of kept sessions."""
    if not sessions:
        return "There are no sessions in it."
    by = Counter(_who(one.operator.kind, one.operator.model) for one in sessions)
    ends = Counter(one.outcome for one in sessions)
    kept = rate_of([one.kept for one in sessions], 0)
    commit = _code(manifest.git_commit) if manifest and manifest.git_commit else "missing"
    return (
        f"Operators: {', '.join(f'{name} ({n})' for name, n in sorted(by.items()))}. Commit: {commit}. "
        f"Kept (right terminal, checker passed, commands only): {format_rate(kept)}.\n\n"
        + _table(["outcome", "sessions"], [[name, str(n)] for name, n in sorted(ends.items())])
    )


def _overlaps(overlaps: Sequence[Overlap], trained_on: Sequence[TrainedSession] = ()) -> str:
    """The counts of contamination.py, of each held-out set; for an adapter, whether they are of its own sessions."""
    if not overlaps:
        return "The counts are missing: `contamination.py` was not run, or its `overlap.json` was not given."
    trained = CountedSessions.of((one.trajectory_id, one.content_hash) for one in trained_on)
    return "\n\n".join(_overlap(one, trained if trained_on else None) for one in overlaps)


def _overlap(overlap: Overlap, trained: CountedSessions | None) -> str:
    """13-grams and commands of one held-out set that were read."""
    rows = [
        [_code(corpus), _code(part), str(counts.runs), str(counts.shared)]
        for corpus, parts in overlap.shared.items()
        for part, counts in parts.items()
    ]
    head = ["read", "part of the held-out scenarios", "13-grams", "of them read"]
    told = f"Held-out set {_code(overlap.holdout)}: 13-grams that occur in the training data, names masked."
    if trained and overlap.sessions:
        same = "those" if overlap.sessions == trained else "not exactly those"
        told += f" {overlap.sessions.count} sessions were read for this: {same} that the adapter was trained on."
    commands = overlap.whole_commands
    whole = f"\n\nOf {commands.distinct} whole commands {commands.distinct_read} occur there." if commands else ""
    return f"{told}\n\n{_table(head, rows) if rows else 'No 13-grams were counted.'}{whole}"


def _rates(reports: Mapping[str, EvalReport]) -> str:
    """Every subject's rates with intervals, and the paired differences."""
    if not reports:
        return "Rates are missing: no eval was given."
    parts = []
    for name, report in reports.items():
        rows = [
            [subject, *(format_rate(rate) for _, rate in entry.rates), str(entry.voided)]
            for subject, entry in report.subjects.items()
        ]
        rows += [
            [_code(pair), *(format_difference(getattr(found, one)) for one in RATES), ""]
            for pair, found in report.paired.items()
        ]
        split = f"split by {_code(report.split_by)}" if report.split_by else "not split by split.py"
        told = f"{_code(name)}: {_code(report.scenarios or 'scenarios not named')}, {split}, eval seed {report.seed}"
        parts.append(f"{told}.\n\n{_table(['', *RATES, 'voided'], rows)}")
    return "\n\n".join([*parts, f"Cells: {CELL}."])
