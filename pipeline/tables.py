"""Show rates and differences to people: cells, and the tables that an eval prints."""

import sys
from collections.abc import Iterable, Sequence
from typing import get_args

from pipeline.rates import BEHAVIOUR, RATES
from schema import Difference, EvalReport, Outcome, Rate, SubjectReport

CELL = "successes/n, rate, 95 % interval (the rate with voided episodes as failures, where that is another)"


def print_table(report: EvalReport) -> None:
    """Print rates, differences and outcomes as three tables on stderr."""
    rows = report.subjects.items()
    outcomes = outcomes_of(entry for _, entry in rows)
    _print_rows([["", *RATES, "voided"]] + [
        [name, *(format_rate(rate) for _, rate in entry.rates), str(entry.voided)] for name, entry in rows
    ] + [
        [pair, *(format_difference(getattr(found, name)) for name in RATES), ""]
        for pair, found in report.paired.items()
    ])  # fmt: skip
    _print_rows(
        [["", *BEHAVIOUR], *([name, *(format_rate(rate) for _, rate in entry.behaviour)] for name, entry in rows)]
    )
    _print_rows([
        ["", *outcomes], *([name, *(str(entry.outcomes.get(one, 0)) for one in outcomes)] for name, entry in rows)
    ])  # fmt: skip
    print(f"({CELL}; {split_text(report)}; eval seed {report.seed})", file=sys.stderr)


def _print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print an empty line and the rows, the first cell to the left and the others to the right of their columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(file=sys.stderr)
    for first, *cells in rows:
        line = "".join(f"   {cell:>{width}s}" for cell, width in zip(cells, widths[1:], strict=True))
        print(f"{first:{widths[0]}s}{line}".rstrip(), file=sys.stderr)


def outcomes_of(entries: Iterable[SubjectReport]) -> list[str]:
    """The outcomes that occur, in the order of the schema."""
    found = {one for entry in entries for one in entry.outcomes}
    return [one for one in get_args(Outcome) if one in found]


def split_text(report: EvalReport) -> str:
    """How the scenarios were split: `split by archetype`."""
    return f"split by {report.split_by}" if report.split_by else "not split by split.py"


def format_rate(rate: Rate | None) -> str:
    """`9/16 56% [33-77]`, or `-` where there is no rate; with ` (50%)` where voids as failures give another rate."""
    if rate is None:
        return "-"
    with_voided = rate.rate_voided_as_failures
    aside = f" ({with_voided:.0%})" if with_voided is not None and with_voided != rate.rate else ""
    if rate.rate is None or rate.interval is None:
        return "-" + aside
    low, high = rate.interval
    return f"{rate.successes}/{rate.n} {rate.rate:.0%} [{100 * low:.0f}-{100 * high:.0f}]{aside}"


def format_difference(difference: Difference | None) -> str:
    """`+56 [+31,+75]` in percentage points, or `-`."""
    if difference is None:
        return "-"
    low, high = difference.interval
    return f"{100 * difference.difference:+.0f} [{100 * low:+.0f},{100 * high:+.0f}]"
