"""Print what cascades came to, and draw what a solved task costs over how many are solved.

    python -m dev.cascade dev/proof/cascade/play-* --picture dev/proof/cascade/cascade.svg

Reads   <directory>/outcomes.json of each directory (cascade.py play)
Writes  --picture
Needs   matplotlib, for --picture
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from pipeline.files import read_json
from pipeline.tables import format_rate
from schema import CascadeReport, CascadeSummary

HEADINGS = ("cheap operator", "n", "resolves itself", "escalates", "resolved", "USD per 1,000 resolved", "oracle")
Reports = Mapping[str, CascadeReport]


def main(directories: list[Path], picture: Path | None) -> None:
    """Print a Markdown table, one row for each cascade."""
    reports = {}
    for directory in directories:
        report = CascadeReport.model_validate(read_json(directory / "outcomes.json"))
        reports[directory.name.removeprefix("play-")] = report
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    for name, report in reports.items():
        found = report.summary
        rates = map(format_rate, (found.cheap_resolve_rate, found.escalation_rate, found.resolve_rate))
        bound = per_thousand(report.oracle) if report.oracle else "not played"
        print(f"| {name} | {found.n} | {' | '.join(rates)} | {per_thousand(found)} | {bound} |")
    if picture is not None:
        draw(reports, picture)


def per_thousand(found: CascadeSummary) -> str:
    """USD per 1,000 resolved tasks."""
    cost = found.cost_per_resolved_usd
    return "undefined" if cost is None else f"{1000 * cost:.2f}"


def draw(reports: Reports, path: Path) -> None:
    """Draw each cascade as a filled point with the 95 % interval of its resolve rate, its oracle as a hollow one."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for at, (name, report) in enumerate(reports.items()):
        for found, filled in ((report.summary, True), (report.oracle, False)):
            if found is None or found.cost_per_resolved_usd is None or found.resolve_rate.interval is None:
                continue
            rate, (low, high) = found.resolve_rate.rate or 0.0, found.resolve_rate.interval
            axes.errorbar(
                1000 * found.cost_per_resolved_usd, 100 * rate, yerr=[[100 * (rate - low)], [100 * (high - rate)]],
                fmt="o", ms=6 if filled else 10, color=f"C{at}", mfc=f"C{at}" if filled else "white", capsize=3,
                label=name if filled else f"{name}, escalated by the checker (a bound)",
            )  # fmt: skip
    axes.set(xlabel="USD per 1,000 resolved tasks", ylabel="resolved, % (95 % interval)", xlim=(0, None), ylim=(0, 102))
    axes.set_title("what a solved task costs, by its cheap operator")
    axes.legend(fontsize="small", loc="lower left")
    figure.savefig(path)
    pyplot.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", type=Path, nargs="+", help="directories of cascade.py play")
    parser.add_argument("--picture", type=Path, help="SVG or PNG to write (default: none)")
    main(**vars(parser.parse_args()))
