"""Show rates and differences to people: cells, and the table that an eval prints."""

import sys

from pipeline.rates import BEHAVIOUR, RATES
from schema import Difference, EvalReport, Rate


def print_table(report: EvalReport) -> None:
    """Print the rates as two tables on stderr."""
    width = max(len(name) for name in [*report.subjects, *report.paired]) + 2
    print(f"\n{'':{width}s}" + "".join(f"{name:>24s}" for name in RATES) + "   voided", file=sys.stderr)
    for subject, entry in report.subjects.items():
        cells = "".join(f"{format_rate(getattr(entry.rates, name)):>24s}" for name in RATES)
        print(f"{subject:{width}s}{cells}   {entry.voided}", file=sys.stderr)
    for pair, differences in report.paired.items():
        cells = "".join(f"{format_difference(getattr(differences, name)):>24s}" for name in RATES)
        print(f"{pair:{width}s}{cells}", file=sys.stderr)
    print(f"\n{'':{width}s}" + "".join(f"{name:>24s}" for name in BEHAVIOUR), file=sys.stderr)
    for subject, entry in report.subjects.items():
        cells = "".join(f"{format_rate(getattr(entry.behaviour, name)):>24s}" for name in BEHAVIOUR)
        print(f"{subject:{width}s}{cells}", file=sys.stderr)
    print(f"(successes/n, rate, 95 % interval; {split_text(report)}; eval seed {report.seed})", file=sys.stderr)


def split_text(report: EvalReport) -> str:
    """How the scenarios were split: `split by archetype`."""
    return f"split by {report.split_by}" if report.split_by else "not split by split.py"


def format_rate(rate: Rate) -> str:
    """`9/16 56% [33-77]`, or `-` where there is no rate."""
    if rate.rate is None or rate.interval is None:
        return "-"
    low, high = rate.interval
    return f"{rate.successes}/{rate.n} {rate.rate:.0%} [{100 * low:.0f}-{100 * high:.0f}]"


def format_difference(difference: Difference | None) -> str:
    """`+56 [+31,+75]` in percentage points, or `-`."""
    if difference is None:
        return "-"
    low, high = difference.interval
    return f"{100 * difference.difference:+.0f} [{100 * low:+.0f},{100 * high:+.0f}]"
