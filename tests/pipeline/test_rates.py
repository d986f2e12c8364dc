"""Rates, intervals and differences equal published and exact values, and clean_up extracts commands."""

import math
import time

import pytest

from pipeline.rates import (
    RATES,
    agent_counts,
    behaviour_of,
    behaviour_rates,
    brief,
    event_rates,
    events_by_name,
    outcome_counts,
    paired,
    rate_of,
    sign_test,
    subject_report,
    wilson,
)
from pipeline.verdicts import clean_up, is_command, verdict_of
from schema import AgentRun, PairedDifferences, Rate, Scenario, Step
from tests.helpers.recorded import acted, episode, scenario


def by_id(*scenarios: Scenario) -> dict[str, Scenario]:
    return {one.id: one for one in scenarios}


def test_wilson_interval_equals_scipys() -> None:
    low, high = wilson(9, 16) or (0.0, 0.0)  # scipy.stats.binomtest(9, 16).proportion_ci(method="wilson")
    assert (round(low, 4), round(high, 4)) == (0.3318, 0.7690)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(0, 0) is None


@pytest.mark.parametrize(
    ("before", "after", "p"), [(0, 0, 1.0), (0, 4, 0.125), (0, 6, 0.03125), (3, 3, 1.0), (9, 2, 0.0654296875)]
)
def test_the_sign_test_is_exact(before: int, after: int, p: float) -> None:
    assert sign_test(before, after) == sign_test(after, before) == p  # scipy.stats.binomtest(after, before + after)


def test_counts_of_agent_sessions_are_summed_by_name() -> None:
    counts = [{"calls": 3, "forks": 2, "fork_system": 2, "untrained_side_call": 7}, {"forks": 1, "fork_system": 1}]
    runs = [AgentRun(seconds=1.0, output="", output_bytes=0, counts=one) for one in counts]
    plain = episode(scenario("count_things", 0))
    rows = [*(plain.model_copy(update={"agent_run": run}) for run in runs), plain]
    assert agent_counts(rows) == {"fork_system": 3, "forks": 3, "untrained_side_call": 7}
    assert agent_counts(rows[2:]) == {}
    assert outcome_counts(rows) == {rows[0].outcome: 3}


def test_rate_of_no_episodes_is_none() -> None:
    assert rate_of([], 0).rate is None
    assert rate_of([], 3) == Rate(successes=0, n=0, rate=None, interval=None, rate_voided_as_failures=0.0)


def test_voided_episodes_are_counted_apart() -> None:
    records = [scenario("copy_files", index) for index in range(4)]
    rows = [episode(record) for record in records[:3]] + [episode(records[3], "sandbox_failed", kept=False)]
    clean = event_rates(rows, by_id(*records)).clean_rate
    assert (clean.successes, clean.n, clean.rate) == (3, 3, 1.0)
    assert clean.rate_voided_as_failures == 0.75


def test_pairs_need_both_episodes() -> None:
    records = [scenario("copy_files", index) for index in range(6)]
    before = {record.id: episode(record, "max_steps", kept=False) for record in records}
    after = {record.id: episode(record) for record in records}
    after[records[0].id] = episode(records[0], "sandbox_failed", kept=False)
    result = paired(before, after, by_id(*records), seed=0)
    assert result.n == 5
    assert result.terminate_rate is not None
    assert result.operate_rate is not None
    assert result.terminate_rate.difference == 1.0
    assert result.terminate_rate.only_after == 5
    assert result.operate_rate.difference == 0.0


def test_locked_out_episodes_count() -> None:
    """An operator that made its own sandbox unusable is not voided: it neither terminated nor passed."""
    records = [scenario("copy_files", index) for index in range(2)]
    rows = [episode(records[0]), episode(records[1], "locked_out", kept=False)]
    report = subject_report(rows, by_id(*records))
    rates = report.rates
    assert [(rate.successes, rate.n) for rate in (rates.terminate_rate, rates.verified_rate)] == [(1, 2), (1, 2)]
    assert (report.voided, report.outcomes) == (0, {"exit": 1, "locked_out": 1})
    verdict = verdict_of(expected="exit", commands=["kill -9 -1"], outcome="locked_out", verified=True)
    assert verdict.reasons == ("not terminated: locked_out", "not verified")


def test_metric_names_are_the_seeds() -> None:
    assert RATES == ("operate_rate", "discover_rate", "terminate_rate", "verified_rate", "clean_rate")
    assert set(RATES) < set(PairedDifferences.model_fields)
    one = scenario("copy_files", 0)
    report = subject_report([episode(one)], by_id(one))
    assert set(RATES) < set(brief(report))
    assert set(report.model_dump()["rates"]) == set(RATES)


def shown(record: Scenario, *steps: tuple[str, str]) -> bool:
    """Whether an episode of these commands and outputs counts as having discovered."""
    made = [
        Step(command=command, output=output, output_bytes=len(output), exit_code=0, cwd="/", duration_seconds=0)
        for command, output in steps
    ]
    return events_by_name(episode(record).model_copy(update={"steps": made}), record)["discover_rate"]


def test_discover_needs_every_directive_in_an_output() -> None:
    record = scenario("copy_files", 0)
    one, two = record.directives
    assert shown(record, ("duty 1", f"1 of 2: {one}\n"), ("duty 2", two))
    assert shown(record, ("duty", f"  - {one.replace(' ', chr(10) + '    ')}\n  - {two}\n"))  # wrapped and indented
    assert shown(record, ("cat /usr/local/bin/duty", f"#!/bin/sh\necho '{one}'\necho '{two}'"))  # its source shows it
    assert not shown(record)
    assert not shown(record, ("duty 1", one))
    assert not shown(record, ("duty 1", one), ("duty 2 | cut -c1-20", two[:20]))
    half = len(two) // 2
    assert not shown(record, ("duty 1", one), ("duty 2", f"{two[:half]}\n[... 9 bytes left out ...]\n{two[half:]}"))
    assert not shown(record, ("duty 1", one), ("duty 2", two[:half]), ("duty 2", two[half:]))  # in no one output


def test_a_directive_that_the_operator_typed_was_not_shown() -> None:
    record = scenario("copy_files", 0)
    one, two = record.directives
    assert not shown(record, ("duty 1", one), (f"echo '{two}'", two))
    assert not shown(record, ("duty 1", one), (f"echo '{two}' > notes", ""), ("cat notes", two))
    assert shown(record, ("duty 1", one), ("duty 2", two), (f"echo '{two}' > notes", ""))


@pytest.mark.parametrize(
    ("commands", "outcome", "loops"),
    [
        (["ls"] * 5, "max_steps", True),
        (["help", "ls", "ls -l", "ls", "ls -l", "ls"], "max_steps", True),
        (["ls"] * 5, "context_full", True),
        (["ls"] * 5 + ["exit"], "exit", False),  # it got out
        (["ls", "cat a", "cat b", "ls", "cat a"], "max_steps", False),
        (["ls"] * 4, "max_steps", False),  # too short to tell
    ],
)
def test_loops_are_found(commands: list[str], outcome: str, loops: bool) -> None:
    assert behaviour_of(acted(scenario("copy_files", 0), outcome, *commands), blocked=False)["loop"] is loops


def test_panic_precision_and_recall() -> None:
    ordinary = [scenario("copy_files", index) for index in range(4)]
    blocked = [scenario("missing_source", index) for index in range(3)]
    rows = [
        acted(ordinary[0], "panic", "panic lost"), acted(ordinary[1], "exit", "exit"),
        acted(ordinary[2], "max_steps", "cat << E", open_heredoc=True), acted(ordinary[3], "sandbox_failed"),
        acted(blocked[0], "panic", "panic no such file"), acted(blocked[1], "panic", "panic"),
        acted(blocked[2], "exit", "exit"),
    ]  # fmt: skip
    assert {record.terminal for record in blocked} == {"panic"}
    table = behaviour_rates(rows, by_id(*ordinary, *blocked))
    counts = {name: (entry.successes, entry.n) for name, entry in table}
    assert counts == {"loop": (0, 6), "open_heredoc": (1, 6), "panic_precision": (2, 3), "panic_recall": (2, 3)}
    none = behaviour_rates([acted(ordinary[1], "exit", "exit")], by_id(ordinary[1]))
    assert none.panic_recall.rate is none.panic_precision.rate is None


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("ls -la", "ls -la"),
        ("Let me look around.\n```sh\nls -la\ncat notes\n```\nThat lists the files.", "ls -la\ncat notes"),
        ("```bash\nls", "ls"),
        ("First I will list the files:\n$ ls -l\nNow let me read one.", "ls -l"),
        ("`exit`", "exit"),
        ("Here it is:\n```\ncat > a << E\nLet me say this.\nE\n```", "cat > a << E\nLet me say this.\nE"),
        ("cat << E\nLet me say this.\nE", "cat << E\nLet me say this.\nE"),  # a command stays as it is
        ("I cannot do that.", "I cannot do that."),
    ],
)
def test_clean_up_extracts_commands(text: str, typed: str) -> None:
    assert clean_up(text) == typed
    assert is_command(clean_up(text)) or clean_up(text) == text


def binomial_quantile(share: float, n: int, p: float) -> int:
    below = 0.0
    for successes in range(n + 1):
        below += math.comb(n, successes) * p**successes * (1 - p) ** (n - successes)
        if below >= share:
            return successes
    return n


def test_bootstrap_interval_is_binomial() -> None:
    record, n, better = scenario("copy_files", 0), 60, 20
    before = {f"s-{at}": episode(record, kept=False) for at in range(n)}
    after = {f"s-{at}": episode(record, kept=at < better) for at in range(n)}
    found = paired(before, after, by_id(record), seed=0).clean_rate
    assert found is not None
    exact = [binomial_quantile(share, n, better / n) / n for share in (0.025, 0.975)]
    assert found.difference == pytest.approx(better / n)
    assert found.interval == pytest.approx(exact, abs=1 / n + 1e-9)
    assert (found.only_after, found.only_before) == (better, 0)
    turned = paired(after, before, by_id(record), seed=0).clean_rate
    assert turned is not None
    assert turned.difference == pytest.approx(-better / n)
    assert turned.interval == pytest.approx([-exact[1], -exact[0]], abs=1 / n + 1e-9)


@pytest.mark.parametrize("text", ["\n", " \n", "x\n", "then ", "< "])
def test_clean_up_takes_time_in_proportion(text: str) -> None:
    spent = []
    for count in (5_000, 50_000):
        began = time.process_time()
        clean_up(f"Let me see{text * count}y")
        spent.append(time.process_time() - began)
    assert spent[1] < 40 * max(spent[0], 0.005)
