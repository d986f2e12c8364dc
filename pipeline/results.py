"""Define the records of what exports, cascades and selections found; all others stand in schema.py."""

from typing import Any

from pydantic import AliasChoices, ConfigDict, Field, StrictBool

from schema import Difference, OperatorInfo, Rate, Record, Usage


class ExportedRow(Record):
    """What became of one row that export.py read: a line of `rows.jsonl`, or of a sidecar."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(description="`trajectories/<id>`, or `archive.json:12`")
    instance: str = Field(description="scenario id, or instance_id")
    content_hash: str = Field(description="of the scenario; of a foreign row, SHA-256 of what precedes its first turn")
    archetype: str | None = None
    hash: str = Field(description="SHA-256 of the messages as exported")
    model: str
    tier: str = Field(description="cheap or frontier; of our trajectories the operator's kind")
    resolved: bool
    tokens: int | None = Field(default=None, description="null where an earlier guard took the row")
    truncated: bool = False
    heading: str = Field(description="where the row is counted")
    reason: str | None = Field(default=None, description="why it is counted there")
    warnings: list[str] = Field(default=[], description="what the reward-hack monitor only warns of")


class SidecarLine(Record):
    """Where one exported line comes from: line k of `sft.sidecar.jsonl` belongs to line k of each `sft.*.jsonl`."""

    model_config = ConfigDict(extra="ignore")

    rows: list[ExportedRow] = Field(description="the row; for a pair the chosen and the rejected one")
    lines: dict[str, str] = Field(description="form -> SHA-256 of the line")


class ExportReport(Record):
    """What an export did: `export-report.json`."""

    model_config = ConfigDict(extra="ignore")

    archives: list[str]
    holdout: str | None = Field(description="null: nothing was held out")
    base: str | None = Field(description="whose tokenizer counted; null for the estimate of characters / 4")
    max_length_tokens: int
    read: int = Field(description="rows; equal to the sum of the headings")
    headings: dict[str, int] = Field(description="every row is counted under exactly one")
    sft: int = Field(description="lines of each sft file")
    pairs: int = Field(description="lines of each pairs file")
    truncated: int = Field(description="exported rows that were cut to the budget")
    warned: int = Field(description="exported rows of which the monitor warns")
    findings: dict[str, int] = Field(description="what the monitor found, in all rows it read -> rows")
    files: dict[str, str] = Field(description="file -> SHA-256")
    notes: list[str] = Field(default=[], description="what was printed as a warning")


class CascadeOutcome(Record):
    """What a cascade came to on one task. Names as `instance_id`, `cheapResolved` and `costUsd` are read too."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1, validation_alias=AliasChoices("id", "instance_id"), description="scenario id")
    cheap_resolved: StrictBool = Field(validation_alias=AliasChoices("cheap_resolved", "cheapResolved"))
    escalated: StrictBool
    resolved: StrictBool = Field(description="by whoever acted last")
    cost_usd: float = Field(
        ge=0, allow_inf_nan=False, validation_alias=AliasChoices("cost_usd", "costUsd"), description="of all calls"
    )
    signal: str | None = Field(default=None, description="why it was escalated")


class CascadeSummary(Record):
    """The rates and the cost of one policy of escalation."""

    n: int
    cheap_resolve_rate: Rate
    escalation_rate: Rate
    resolve_rate: Rate
    total_cost_usd: float
    cost_per_resolved_usd: float | None = Field(description="null where nothing was resolved")


class CascadeReport(Record):
    """What `cascade.py play` found: `outcomes.json` in its directory."""

    model_config = ConfigDict(extra="ignore")

    cheap: OperatorInfo
    frontier: OperatorInfo | None = Field(description="null where nothing was escalated")
    escalate_on: list[str]
    prices: dict[str, Any] = Field(description="USD, as --prices had them")
    scenarios: str
    voided: list[str] = Field(default=[], description="scenarios whose sandbox or operator broke; no outcome")
    summary: CascadeSummary
    oracle: CascadeSummary | None = Field(description="escalation by the checker: a bound, not a policy")
    usage: dict[str, Usage] = Field(description="cheap and frontier, over the outcomes")
    outcomes: list[CascadeOutcome]


class AdapterCandidate(Record):
    """One candidate on the selection scenarios, against the base."""

    adapter: str = Field(description="directory, as --candidates named it")
    adapter_hash: str = Field(description="SHA-256 of the adapter's weights")
    clean_rate: Rate
    difference: Difference | None = Field(description="clean rate minus the base's; null where no scenario has both")


class SelectedAdapter(Record):
    """Which adapter deserves to be used, if any: `selected.json`. Every --adapter takes the file."""

    model_config = ConfigDict(extra="ignore")

    selected: str = Field(description="the adapter's directory, seen from the file's; `none` is the bare base")
    adapter_hash: str | None = Field(description="of the selected adapter; null for none")
    base: str
    base_hash: str | None = None
    why: str
    scenarios: str = Field(description="the selection scenarios")
    n: int
    base_clean_rate: Rate
    candidates: list[AdapterCandidate]


RESULTS: tuple[type[Record], ...] = (ExportReport, SidecarLine, CascadeReport, SelectedAdapter)
