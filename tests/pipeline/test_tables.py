"""Rates and differences are printed as counts, percentages and intervals, or as a dash where there are none."""

import pytest

from pipeline.rates import compare_subjects, rate_of
from pipeline.tables import format_difference, format_rate, print_table
from schema import Difference, EvalReport, Rate, Subject, Trajectory
from tests.helpers.recorded import episode, scenario


def report(split_by: str | None) -> EvalReport:
    """Two clean episodes of the adapter, none of the base."""
    records = [scenario("copy_files", index) for index in range(2)]
    episodes: dict[Subject, dict[str, Trajectory]] = {
        "base": {record.id: episode(record, "max_steps", kept=False) for record in records},
        "adapter": {record.id: episode(record) for record in records},
    }
    subjects, differences = compare_subjects(episodes, records, seed=0)
    return EvalReport(adapter="a", split_by=split_by, seed=7, subjects=subjects, paired=differences)


def test_format_rate() -> None:
    rate = Rate(successes=9, n=16, rate=9 / 16, interval=(0.3318, 0.7690), rate_voided_as_failures=0.5)
    assert format_rate(rate) == "9/16 56% [33-77] (50%)"
    assert format_rate(rate.model_copy(update={"rate_voided_as_failures": 9 / 16})) == "9/16 56% [33-77]"
    assert format_rate(rate.model_copy(update={"rate_voided_as_failures": None})) == "9/16 56% [33-77]"
    assert format_rate(rate_of([], 3)) == "- (0%)"
    assert format_rate(rate_of([], 0)) == "-"


@pytest.mark.parametrize(
    ("difference", "interval", "text"),
    [
        (0.5625, (0.31, 0.75), "+56 [+31,+75]"),
        (-0.25, (-0.5, 0.1), "-25 [-50,+10]"),
        (0.0, (0.0, 0.0), "+0 [+0,+0]"),
    ],
)
def test_format_difference(difference: float, interval: tuple[float, float], text: str) -> None:
    found = Difference(difference=difference, interval=interval, only_after=9, only_before=0)
    assert format_difference(found) == text
    assert format_difference(None) == "-"


@pytest.mark.parametrize(
    ("split_by", "words"),
    [(None, "not split by split.py"), ("archetype", "split by archetype"), ("scenario", "split by scenario")],
)
def test_table_says_how_scenarios_were_split(
    split_by: str | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_table(report(split_by))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"where that is another); {words}; eval seed 7)" in captured.err
    assert "split by None" not in captured.err


def test_table_has_a_row_per_subject_and_pair(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(report(None))
    rows = [" ".join(line.split()) for line in capsys.readouterr().err.splitlines()]
    none, all_ = "0/2 0% [0-66]", "2/2 100% [34-100]"
    assert rows[1] == "operate_rate discover_rate terminate_rate verified_rate clean_rate voided"
    assert f"base {none} {none} {none} {none} {none} 0" in rows
    assert f"adapter {none} {none} {all_} {all_} {all_} 0" in rows
    assert "adapter - base +0 [+0,+0] +0 [+0,+0] +100 [+100,+100] +100 [+100,+100] +100 [+100,+100]" in rows
    assert rows[rows.index("exit max_steps") :][:3] == ["exit max_steps", "base 0 2", "adapter 2 0"]


def test_a_report_without_discover_shows_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    old = report(None).model_dump(mode="json")
    for entry in old["subjects"].values():
        for rates in [entry["rates"], *(one for values in entry["per_axis"].values() for one in values.values())]:
            del rates["discover_rate"]
    del old["paired"]["adapter - base"]["discover_rate"]
    print_table(EvalReport.model_validate(old))
    rows = [" ".join(line.split()) for line in capsys.readouterr().err.splitlines()]
    assert "base 0/2 0% [0-66] - 0/2 0% [0-66] 0/2 0% [0-66] 0/2 0% [0-66] 0" in rows
    assert any(row.startswith("adapter - base +0 [+0,+0] - +100") for row in rows)


def test_voided_episodes_lower_the_rate_in_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    """Five solved and five void sandboxes must not look like five of five."""
    records = [scenario("copy_files", index) for index in range(10)]
    ends = ["exit"] * 5 + ["sandbox_failed"] * 5
    rows = {one.id: episode(one, end, kept=end == "exit") for one, end in zip(records, ends, strict=True)}
    subjects, _ = compare_subjects({"adapter": rows}, records, seed=0)
    print_table(EvalReport(adapter="a", split_by=None, subjects=subjects, paired={}))
    shown = [" ".join(line.split()) for line in capsys.readouterr().err.splitlines()]
    assert any(
        line.startswith("adapter") and "5/5 100% [57-100] (50%)" in line and line.endswith(" 5") for line in shown
    )
    assert "exit sandbox_failed" in shown
