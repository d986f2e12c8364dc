"""Write the card of a data set and of an adapter: a README.md with the YAML head that the Hugging Face Hub reads.

    card = dataset_card(DatasetParts(scenarios, sessions, ...), licence="apache-2.0")
    str(card)

Every figure comes from a manifest, a report or the records. Undefined is not zero: what is not there is said to be
missing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from huggingface_hub import DatasetCard, DatasetCardData, EvalResult, ModelCard, ModelCardData

from pipeline.rates import RATES, rate_of
from pipeline.tables import CELL, format_difference, format_rate, split_text
from schema import AdapterIdentity, EvalReport, Manifest, Scenario, Trajectory
from taxonomy import AXES, balance

MAX_CELL_CHARS = 200
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
MISUSE = """\
- **Not for unattended use.** A model that was trained on this types commands into a shell. Run it only where nothing
  can be lost: in a container without network and secrets.
- **Not as a judge or a safety measure.** A session that ended with `exit` says that the model thought it was done, no
  more.
- **Not as a measure of general ability.** The work is short, in English, on one shell with a busybox userland.
- **Not for training with the held-out set.** Who trains on held-out scenarios can no longer evaluate on them.
"""


@dataclass(frozen=True)
class DatasetParts:
    """What a data-set card is made from."""

    scenarios: Sequence[Scenario]
    sessions: Sequence[Trajectory] = ()
    manifest: Manifest | None = None
    sessions_manifest: Manifest | None = None
    overlap: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class AdapterParts:
    """What an adapter card is made from: its identity, and the evals by name with their overlap files."""

    name: str
    identity: AdapterIdentity
    reports: Mapping[str, EvalReport] = field(default_factory=dict)
    overlaps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def dataset_card(parts: DatasetParts, *, licence: str) -> DatasetCard:
    """The card of scenarios, and of sessions where there are some."""
    files = [("scenarios", parts.scenarios), ("trajectories", parts.sessions)]
    configs = [{"config_name": name, "data_files": f"{name}.jsonl"} for name, rows in files if rows]
    head = DatasetCardData(
        language="en",
        license=licence,
        pretty_name="Shell scenarios of sekft",
        size_categories=[_size_category(len(parts.scenarios) + len(parts.sessions))],
        task_categories=["text-generation"],
        tags=["shell", "agent", "sekft"],
        configs=configs,
    )
    blocked = sum(scenario.terminal == "panic" for scenario in parts.scenarios)
    sections = {
        "What it is": f"{len(parts.scenarios)} scenarios ({blocked} blocked) and {len(parts.sessions)} sessions. In a "
        "scenario an operator logs in to a plain shell, finds out where its directives are, carries them out and ends "
        "the session itself. A checker, a POSIX sh program, looks at the files that are left. In a blocked scenario "
        "part of the work cannot be done: the right end is `panic`, not `exit`.",
        "How it was made": _made(parts.manifest, parts.scenarios),
        "Gate": _gate(parts.manifest),
        "Balance": _balance(parts.scenarios),
        "Sessions": _sessions(parts.sessions, parts.sessions_manifest),
        "Decontamination": _overlap(parts.overlap),
        "Licence": f"{_cell(licence)}. Scenarios of a teacher are also under the terms of the teacher's model.",
        "Must not be used for": MISUSE,
    }
    return DatasetCard(_text(head.to_yaml(), "Shell scenarios of sekft", sections))


def adapter_card(parts: AdapterParts, *, licence: str, base_model: str | None) -> ModelCard:
    """The card of an adapter. `base_model` is the base's name on the hub, where it has one."""
    results = [
        EvalResult(
            task_type="text-generation", task_name="shell sessions", dataset_type="sekft", dataset_name=name,
            metric_type=rate_name, metric_name=rate_name, metric_value=round(rate.rate, 4),
        )
        for name, report in parts.reports.items() if "adapter" in report.subjects
        for rate_name, rate in report.subjects["adapter"].rates
        if rate is not None and rate.rate is not None
    ]  # fmt: skip
    head = ModelCardData(
        language="en",
        license=licence,
        base_model=base_model,
        library_name="peft",
        pipeline_tag="text-generation",
        tags=["shell", "agent", "sekft", "lora"],
        model_name=parts.name if results else None,
        eval_results=results or None,
    )
    identity = parts.identity
    flags = [[f"`{_cell(name)}`", f"`{_cell(value)}`"] for name, value in sorted(identity.flags.items())]
    archetypes = Counter(session.archetype for session in identity.trained_on)
    scenarios = len({session.content_hash for session in identity.trained_on})
    base = f"`{base_model or _cell(identity.base)}`"
    sections = {
        "What it is": f"A LoRA adapter for {base}. With it the base acts as a shell operator: it logs in, finds out "
        "where its directives are, carries them out with ordinary commands, and ends the session itself.",
        "How it was made": f"Trained by sekft at commit `{_cell(identity.git_commit or 'missing')}`, with the loss on "
        "the operator's turns alone.\n\n"
        + (_table(["flag", "value"], flags) if flags else "The flags of the training are missing."),
        "Base": f"{base}, fingerprint `{_cell(identity.base_hash or 'missing')}`. The base's own licence holds beside "
        "this adapter's.",
        "Data": (
            f"{len(identity.trained_on)} sessions of {scenarios} scenarios in {len(archetypes)} archetypes; "
            "`sekft.json` names each."
            if identity.trained_on
            else "The list of sessions is missing."
        ),
        "Rates": _rates(parts.reports),
        "Decontamination": "\n\n".join(f"{name}: {_overlap(one)}" for name, one in parts.overlaps.items())
        or _overlap(None),
        "Licence": f"{_cell(licence)}, for the adapter's weights.",
        "Must not be used for": MISUSE,
    }
    return ModelCard(_text(head.to_yaml(), parts.name, sections))


def _text(head: str, title: str, sections: Mapping[str, str]) -> str:
    body = "\n\n".join(f"## {name}\n\n{text.strip()}" for name, text in sections.items())
    return f"---\n{head}\n---\n\n# {_cell(title)}\n\n{body}\n"


def _cell(value: Any) -> str:
    """A value as one line of Markdown that ends no table, code span or tag; one of over 200 characters is cut."""
    text = " ".join(str(value).split()).translate(str.maketrans("|`<>", "/'()"))
    return text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _size_category(n: int) -> str:
    return next((name for limit, name in SIZES if n < limit), "n>1M")


def _made(manifest: Manifest | None, scenarios: Sequence[Scenario]) -> str:
    """Authors, and the run that the manifest tells."""
    by = Counter(f"{one.provenance.author} {_cell(one.provenance.model or '')}".strip() for one in scenarios)
    authors = "Authors: " + ", ".join(f"{name} ({n})" for name, n in sorted(by.items())) + "."
    if manifest is None:
        return f"{authors} The manifest is missing: the run's flags, commit and image are not known."
    split = manifest.flags.get("by")
    rows = [
        ["stage", _cell(manifest.stage)],
        *(
            [f"flag `{_cell(name)}`", f"`{_cell(value)}`"]
            for name, value in manifest.flags.items()
            if value is not None
        ),
        ["commit", _cell(manifest.git_commit or "missing")],
        ["image", _cell(manifest.image_digest or "missing")],
        ["split", f"one side of a split by {_cell(split)}" if split else "no split"],
    ]
    return f"{authors}\n\n{_table(['', ''], rows)}"


def _gate(manifest: Manifest | None) -> str:
    """How many reached each gate and passed it."""
    yields = manifest.counts.get("yield") if manifest else None
    if not yields:
        return (
            "Gate yields are missing: they are in the manifest of `generate.py`, which this directory does not have. "
            "Each scenario says in `provenance.gates` what the gate found."
        )
    rows = [
        [_cell(name), str(one["reached"]), str(one["passed"]), _share(one["passed"], one["reached"])]
        for name, one in sorted(yields.items(), key=lambda item: (-item[1]["reached"], -item[1]["passed"]))
    ]
    return _table(["gate", "reached", "passed", "share"], rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _balance(scenarios: Sequence[Scenario]) -> str:
    """exp(entropy) over the number of values, for each axis."""
    rows = []
    for axis, values in AXES.items():
        found = balance((scenario.axes()[axis] for scenario in scenarios), len(values))
        used = len({scenario.axes()[axis] for scenario in scenarios})
        rows.append([axis, f"{used} of {len(values)}", "-" if found is None else f"{found:.3f}"])
    return "1 where all values of an axis occur equally often.\n\n" + _table(["axis", "values", "balance"], rows)


def _sessions(sessions: Sequence[Trajectory], manifest: Manifest | None) -> str:
    """Operators, outcomes and the rate of kept sessions."""
    if not sessions:
        return "There are no sessions in it."
    by = Counter(f"{one.operator.kind} {_cell(one.operator.model or '')}".strip() for one in sessions)
    ends = Counter(one.outcome for one in sessions)
    kept = rate_of([one.kept for one in sessions], 0)
    commit = _cell(manifest.git_commit) if manifest and manifest.git_commit else "missing"
    return (
        f"Operators: {', '.join(f'{name} ({n})' for name, n in sorted(by.items()))}. Commit: {commit}. "
        f"Kept (right terminal, checker passed, commands only): {format_rate(kept)}.\n\n"
        + _table(["outcome", "sessions"], [[name, str(n)] for name, n in sorted(ends.items())])
    )


def _overlap(overlap: Mapping[str, Any] | None) -> str:
    """The counts of contamination.py."""
    if not overlap:
        return "The counts are missing: `contamination.py` was not run, or its `overlap.json` was not given."
    rows = [
        [_cell(corpus), _cell(part), _cell(counts)]
        for corpus, parts in overlap.get("shared", {}).items()
        for part, counts in (parts.items() if isinstance(parts, Mapping) else [("", parts)])
    ]
    table = (
        _table(["read", "part of the held-out scenarios", "13-grams"], rows) if rows else "No 13-grams were counted."
    )
    return f"13-grams of held-out scenarios that occur in the training data, names masked.\n\n{table}"


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
            [pair, *(format_difference(getattr(found, one)) for one in RATES), ""]
            for pair, found in report.paired.items()
        ]
        told = f"`{_cell(name)}`: {_cell(report.scenarios or 'scenarios not named')}, {split_text(report)}, eval seed "
        parts.append(f"{told}{report.seed}.\n\n{_table(['', *RATES, 'voided'], rows)}")
    return "\n\n".join([*parts, f"Cells: {CELL}."])
