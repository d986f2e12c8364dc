"""The records that say what runs came to: rates, costs, exports, and episodes under way."""

from typing import Any, Literal

from pydantic import AliasChoices, ConfigDict, Field, StrictBool, model_validator

from records.base import OperatorInfo, Record, Subject, TrainedSession, Usage


class Rate(Record):
    """A share of episodes. Undefined is not zero: `rate` is null where n is 0."""

    model_config = ConfigDict(extra="ignore")

    successes: int
    n: int
    rate: float | None
    interval: tuple[float, float] | None = Field(description="95 % Wilson score interval")
    rate_voided_as_failures: float | None = Field(default=None, description="the rate with voided episodes as failures")


class Rated(Record):
    """What holds the rates. Reports that name them without `_rate` are read too."""

    @model_validator(mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        old = ("operate", "terminate", "verified", "clean")
        if not isinstance(value, dict):
            return value
        return {f"{key}_rate" if key in old else key: one for key, one in value.items()}


class EventRates(Rated):
    """The rates of an eval."""

    operate_rate: Rate = Field(description="at least one command before the terminal, and no turn that is prose")
    discover_rate: Rate | None = Field(
        default=None, description="every directive was shown to the operator; null in reports from before this rate"
    )
    terminate_rate: Rate = Field(description="ended with exit or panic")
    verified_rate: Rate = Field(description="the checker passed on the final state")
    clean_rate: Rate = Field(description="correct terminal AND verified AND command-only")


class BehaviourRates(Record):
    """What else episodes show."""

    loop: Rate = Field(description="cut off by a limit while repeating at most two commands")
    open_heredoc: Rate = Field(description="a command opened a heredoc that it never closed")
    panic_precision: Rate = Field(description="of the episodes that ended with panic, those of blocked scenarios")
    panic_recall: Rate = Field(description="of the episodes of blocked scenarios, those that ended with panic")


class SubjectReport(Record):
    """The rates of one subject: base, clean_up or adapter."""

    model_config = ConfigDict(extra="ignore")

    rates: EventRates
    behaviour: BehaviourRates
    per_axis: dict[str, dict[str, EventRates]] = Field(description="axis -> value -> rates")
    outcomes: dict[str, int] = Field(default={}, description="outcome -> episodes")
    voided: int = Field(description="episodes that the sandbox or the operator's endpoint broke; no rate counts them")
    checker_failed: int = 0
    reasons: dict[str, int] = Field(default={}, description="why episodes were not kept -> episodes")


class Difference(Record):
    """A paired difference of a rate, after minus before, on the same scenarios."""

    difference: float
    interval: tuple[float, float] = Field(description="95 % percentile bootstrap over scenarios")
    only_after: int = Field(description="scenarios with the event after and not before")
    only_before: int


class PairedDifferences(Rated):
    """The differences of two subjects; null where no scenario has both."""

    n: int
    operate_rate: Difference | None
    discover_rate: Difference | None = None
    terminate_rate: Difference | None
    verified_rate: Difference | None
    clean_rate: Difference | None


class EvalReport(Record):
    """What an eval found: `report.json` in its directory."""

    model_config = ConfigDict(extra="ignore")  # every report since the first is read

    stage: Literal["eval"] = "eval"
    base: str | None = None
    adapter: str | None
    scenarios: str | None = Field(default=None, description="the directory of held-out scenarios")
    split_by: str | None = Field(description="archetype, scenario, or null for a directory that split.py did not write")
    seed: int | None = None
    n: int | None = Field(default=None, description="scenarios that were evaluated")
    subjects: dict[Subject, SubjectReport] = Field(min_length=1)
    paired: dict[str, PairedDifferences] = Field(description="`adapter - base` and so on")
    transcripts: dict[str, dict[str, int | float]] | None = Field(default=None, description="--against: what differs")


class AdapterCandidate(Record):
    """One candidate on the selection scenarios, against the base."""

    adapter: str = Field(description="directory, as --candidates named it")
    adapter_hash: str = Field(description="SHA-256 of the adapter's weights")
    clean_rate: Rate
    difference: Difference | None = Field(
        description="clean rate minus the base's; null where no scenario has both. only_after: clean with the candidate"
        " alone; only_before: with the base alone"
    )
    sign_test_p: float | None = Field(
        default=None, description="exact two-sided sign test of only_after against only_before (McNemar)"
    )


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
    selected_on: list[TrainedSession] = Field(
        default=[], description="the scenarios that were played, each as a session of its own id"
    )
    base_clean_rate: Rate
    candidates: list[AdapterCandidate]


class CascadeOutcome(Record):
    """What a cascade came to on one task. Names as `instance_id`, `cheapResolved` and `costUsd` are read too."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1, validation_alias=AliasChoices("id", "instance_id"), description="scenario id")
    cheap_resolved: StrictBool = Field(validation_alias=AliasChoices("cheap_resolved", "cheapResolved"))
    escalated: StrictBool
    resolved: StrictBool = Field(description="by whoever acted last")
    cost_usd: float = Field(
        ge=0,
        allow_inf_nan=False,
        strict=True,
        validation_alias=AliasChoices("cost_usd", "costUsd"),
        description="of all calls",
    )
    signal: str | None = Field(default=None, description="why it was escalated")
    content_hash: str | None = Field(default=None, description="of the scenario; null in a foreign file")


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
    conditions: dict[str, int | float | None] = Field(
        default={}, description="max_steps, max_new_tokens, timeout_seconds and temperature of the episodes"
    )
    scenarios: str
    voided: list[str] = Field(default=[], description="scenarios whose sandbox or operator broke; no outcome")
    summary: CascadeSummary
    oracle: CascadeSummary | None = Field(description="escalation by the checker: a bound, not a policy")
    usage: dict[str, Usage] = Field(description="cheap and frontier, over the outcomes")
    outcomes: list[CascadeOutcome]


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
    notes: list[str] = Field(default=[])


class LiveEpisode(Record):
    """An episode under way."""

    id: str
    steps: int = Field(description="commands so far")
    command: str | None = Field(default=None, description="the last one, at most 200 characters of it")
    since: float = Field(description="when it was typed, seconds since 1970")


class LiveRun(Record):
    """The episodes under way in a directory."""

    model_config = ConfigDict(extra="ignore")

    total: int = Field(description="records that the directory will hold in the end")
    started: float = Field(description="seconds since 1970")
    episodes: list[LiveEpisode]
