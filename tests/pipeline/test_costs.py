"""Costs are what calls took at the stated prices; a verdict is only as sure as its intervals."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.costs import (
    Price,
    RunOutcomes,
    compare_outcomes,
    differing_conditions,
    read_outcomes,
    read_prices,
    summary_of,
    total_usage,
    usd_of,
)
from schema import BadInputError, CascadeOutcome, CascadeReport, Usage


def outcomes(*rows: tuple[bool, bool, bool, float]) -> list[CascadeOutcome]:
    return [
        CascadeOutcome(id=f"t{at:03}", cheap_resolved=cheap, escalated=escalated, resolved=resolved, cost_usd=usd)
        for at, (cheap, escalated, resolved, usd) in enumerate(rows)
    ]


SOLVED = (True, False, True, 0.01)
ESCALATED = (False, True, True, 0.50)
FAILED = (False, True, False, 0.50)


def test_tokens_and_hours_cost_what_the_prices_say() -> None:
    usage = Usage(calls=2, input_tokens=1_000_000, cached_input_tokens=2_000_000, output_tokens=500_000, seconds=1800)
    assert usd_of(usage, Price(input=3, cached_input=0.3, output=15)) == pytest.approx(3 + 0.6 + 7.5)
    assert usd_of(usage, Price(input=3, output=15)) == pytest.approx(3 + 6 + 7.5)
    assert usd_of(usage, Price(per_hour=2)) == pytest.approx(1)
    assert total_usage([usage, usage]).input_tokens == 2_000_000
    assert usd_of(total_usage([]), Price(per_hour=2)) == 0


def test_cost_per_resolved_is_undefined_without_a_resolved_task() -> None:
    assert summary_of(outcomes(FAILED)).cost_per_resolved_usd is None
    assert summary_of([]).resolve_rate.rate is None
    assert summary_of(outcomes(SOLVED, ESCALATED)).cost_per_resolved_usd == pytest.approx(0.255)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ([ESCALATED] * 60 + [SOLVED] * 40, [ESCALATED] * 20 + [SOLVED] * 80, "win"),
        ([ESCALATED] * 20, [ESCALATED] * 19 + [SOLVED], "undecided"),
        ([ESCALATED] * 100, [ESCALATED] * 100, "no win"),
        ([SOLVED] * 50 + [ESCALATED] * 50, [SOLVED] * 50 + [FAILED] * 25 + [SOLVED] * 25, "no win"),  # -25 points
        ([ESCALATED] * 100, [FAILED] * 100, "no win"),  # resolves nothing, at no cost per resolved task
        ([ESCALATED] * 20, [SOLVED] * 19 + [(False, False, False, 0.01)], "undecided"),  # cheaper, and one lost
        ([SOLVED] * 40, [ESCALATED] * 40, "no win"),
    ],
)
def test_a_win_needs_both_intervals(before: Any, after: Any, verdict: str) -> None:
    found = compare_outcomes(outcomes(*before), outcomes(*after), seed=0)
    assert found.verdict == verdict, found


@pytest.mark.parametrize(("after", "verdict"), [(SOLVED, "win"), (ESCALATED, "no win"), (FAILED, "no win")])
def test_few_tasks_decide_nothing_even_where_all_agree(after: Any, verdict: str) -> None:
    for n in (1, 19):
        found = compare_outcomes(outcomes(*[ESCALATED] * n), outcomes(*[after] * n), seed=0)
        assert (found.verdict, found.why) == ("undecided", f"{n} tasks are too few for a verdict, which takes 20")
    assert compare_outcomes(outcomes(*[ESCALATED] * 20), outcomes(*[after] * 20), seed=0).verdict == verdict


def test_an_empty_or_hopeless_run_is_no_win_and_never_costs_nothing(tmp_path: Path) -> None:
    hopeless = compare_outcomes(outcomes(*[ESCALATED] * 20), outcomes(*[(False, False, False, 0.0)] * 20), seed=0)
    assert hopeless.metrics["cost_per_resolved_usd"].after is None
    assert hopeless.verdict == "no win"
    (tmp_path / "empty.json").write_text("[]")
    with pytest.raises(BadInputError, match="holds no outcomes"):
        read_outcomes(tmp_path / "empty.json")


FOREIGN = {"instance_id": "a", "cheapResolved": False, "escalated": True, "resolved": True, "costUsd": 0.5}


def test_the_foreign_shape_is_read(tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text(json.dumps([FOREIGN, {**FOREIGN, "instance_id": "b", "cheapResolved": True}]))
    one, other = read_outcomes(tmp_path / "o.json").outcomes
    assert (one.id, one.cost_usd, other.cheap_resolved) == ("a", 0.5, True)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{key: value for key, value in FOREIGN.items() if key != "costUsd"}], "cost_usd: Field required"),
        ([{**FOREIGN, "costUsd": None}], "row 1: costUsd"),
        ([{**FOREIGN, "costUsd": -1}], "row 1: costUsd"),
        ([{**FOREIGN, "costUsd": "0.5"}], "row 1: costUsd: Input should be a valid number"),
        ([{**FOREIGN, "costUsd": True}], "row 1: costUsd: Input should be a valid number"),
        ([{**FOREIGN, "costUsd": 10**400}], "row 1: costUsd"),
        ([{**FOREIGN, "resolved": "false"}], "row 1: resolved"),
        ([FOREIGN, FOREIGN], "comes twice"),
        (
            [FOREIGN, {**FOREIGN, "instance_id": "b", "escalated": False}],
            "o.json: row 2: resolved: is True, but nothing",
        ),
        ([3], "row 1: outcome"),
        ({}, "cheap"),
        ("text", "content"),
    ],
)
def test_a_bad_outcome_is_named(tmp_path: Path, rows: Any, words: str) -> None:
    (tmp_path / "o.json").write_text(json.dumps(rows))
    with pytest.raises(BadInputError, match=words):
        read_outcomes(tmp_path / "o.json")


@pytest.mark.parametrize("n", [1, 2])
def test_json_lines_are_read_as_an_array_is(tmp_path: Path, n: int) -> None:
    rows = [{**FOREIGN, "instance_id": f"i{at}"} for at in range(n)]
    (tmp_path / "o.json").write_text(json.dumps(rows))
    (tmp_path / "o.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = read_outcomes(tmp_path / "o.jsonl").outcomes
    assert lines == read_outcomes(tmp_path / "o.json").outcomes
    assert len(lines) == n
    (tmp_path / "o.jsonl").write_text(json.dumps(FOREIGN) + "\n{")
    with pytest.raises(BadInputError, match=r"o\.jsonl: not JSON"):
        read_outcomes(tmp_path / "o.jsonl")


def test_whole_numbers_are_prices_and_costs(tmp_path: Path) -> None:
    prices = {"cheap": {"per_hour": 1}, "frontier": {"input": 3, "cached_input": 0, "output": 15}}
    (tmp_path / "p.json").write_text(json.dumps(prices))
    assert read_prices(tmp_path / "p.json").frontier.output == 15
    (tmp_path / "o.json").write_text(json.dumps([{**FOREIGN, "costUsd": 2}]))
    assert read_outcomes(tmp_path / "o.json").outcomes[0].cost_usd == 2


@pytest.mark.parametrize("field", ["per_hour", "input", "cached_input", "output"])
@pytest.mark.parametrize("value", ["0.1", True, False])
def test_a_price_that_is_no_number_is_refused_by_name(tmp_path: Path, field: str, value: Any) -> None:
    by_token = {"input": 3, "cached_input": 0.3, "output": 15}
    price = {"per_hour": value} if field == "per_hour" else {**by_token, field: value}
    (tmp_path / "p.json").write_text(json.dumps({"cheap": price, "frontier": by_token}))
    with pytest.raises(BadInputError, match=f"cheap.{field}: Input should be a valid number; correct the prices"):
        read_prices(tmp_path / "p.json")


PRICES_THAT_SAY_TOO_MUCH_OR_TOO_LITTLE: list[dict[str, Any]] = [
    {}, {"input": 1}, {"per_hour": 1, "input": 1, "output": 2}, {"per_hour": 1, "input": 1},
    {"per_hour": 1, "cached_input": 1}, {"per_hour": -1},
]  # fmt: skip


@pytest.mark.parametrize("price", PRICES_THAT_SAY_TOO_MUCH_OR_TOO_LITTLE)
def test_a_bad_price_is_named(tmp_path: Path, price: Any) -> None:
    (tmp_path / "p.json").write_text(json.dumps({"cheap": {"per_hour": 1}, "frontier": price}))
    with pytest.raises(BadInputError, match="frontier"):
        read_prices(tmp_path / "p.json")


def test_runs_with_other_frontiers_are_not_compared_and_differences_are_told(tmp_path: Path) -> None:
    made = [CascadeOutcome(id="a", cheap_resolved=True, escalated=False, resolved=True, cost_usd=1.0)]

    def report(name: str, **changes: Any) -> RunOutcomes:
        given: dict[str, Any] = {
            "cheap": {"kind": "local"}, "frontier": {"kind": "reference"}, "escalate_on": ["panic"], "scenarios": "s",
            "prices": {"cheap": {"per_hour": 1}, "frontier": {"input": 3, "output": 15}}, "summary": summary_of(made),
            "conditions": {"max_steps": 30, "temperature": None}, "oracle": None,
            "usage": {"frontier": Usage(estimated=True)}, "outcomes": made,
        }  # fmt: skip
        text = CascadeReport.model_validate({**given, **changes}).model_dump_json()
        (tmp_path / name).write_text(text)
        found = read_outcomes(tmp_path / name)
        (tmp_path / name).unlink()  # nothing reads it again
        return found

    (tmp_path / "foreign").write_text(json.dumps([FOREIGN]))
    one = report("one")
    assert differing_conditions(one, read_outcomes(tmp_path / "foreign")) == []
    notes = differing_conditions(one, report("other", escalate_on=["max_steps"], usage={}))
    assert notes == [
        f"{tmp_path / 'one'}: the tokens of frontier are estimated (characters / 4)",
        "escalated on panic before, on max_steps after",
    ]
    limits = {"max_steps": 14, "temperature": 0.5, "max_new_tokens": 9}  # the last one is unknown of the first run
    notes[1:] = ["max_steps was 30 before, 14 after", "temperature was None before, 0.5 after"]
    assert differing_conditions(one, report("other", conditions=limits, usage={})) == notes
    cheap = {"cheap": {"per_hour": 2}, "frontier": {"input": 3, "output": 15}}
    assert differing_conditions(one, report("none", prices=cheap, frontier=None, usage={})) == notes[:1]
    for changes in ({"frontier": {"kind": "endpoint"}}, {"prices": {"frontier": {"input": 1, "output": 15}}}):
        with pytest.raises(BadInputError, match="frontier: another one, or at another price"):
            differing_conditions(one, report("third", **changes))
    same, apart = ([made[0].model_copy(update={"content_hash": text})] for text in ("aa", "bb"))
    assert differing_conditions(one, report("unknown", outcomes=apart, usage={})) == notes[:1]
    with pytest.raises(BadInputError, match="two: content_hash: 'a' is another scenario than in"):
        differing_conditions(report("first", outcomes=same), report("two", outcomes=apart))
