"""Draw the training loss of adapters and, beside it, their rates over what they were trained on."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.files import read_identity
from pipeline.rates import RATES
from schema import BadInputError, EvalReport, Rate
from training.history import LOG, is_figure, read_history

Log = list[dict[str, Any]]  # rows with step and loss


def draw_picture(reports: Mapping[str, EvalReport], path: Path) -> None:
    """Draw the training loss over steps, and beside it the adapters' rates over what they were trained on."""
    try:
        import matplotlib
    except ImportError as error:
        raise BadInputError("--picture needs matplotlib: pip install -r requirements.txt") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    evaluated = {label: report for label, report in reports.items() if "adapter" in report.subjects}
    logs = {label: read_log(Path(str(report.adapter))) for label, report in evaluated.items()}
    if not logs:
        raise BadInputError("--picture: none of these runs has an adapter; name runs of eval.py --adapter")
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 4), layout="constrained")
    draw_losses(left, {Path(str(evaluated[label].adapter)): log for label, (_, log) in logs.items()})
    draw_rates(right, evaluated, logs)
    figure.legend(*right.get_legend_handles_labels(), loc="outside right center", fontsize="small")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def draw_losses(axes: Any, logs: dict[Path, Log]) -> None:
    """Draw each adapter's loss by step. Single sessions scatter over two orders of magnitude: means over blocks."""
    for label, adapter in labels_of(list(logs)).items():
        blocks = mean_blocks(logs[adapter])
        losses = [sum(row["loss"] for row in block) / len(block) for block in blocks]
        axes.plot([block[-1]["step"] for block in blocks], losses, lw=1, label=label)
    axes.set(xlabel="optimizer steps", ylabel="loss per operator token, nats", yscale="log")
    axes.set_title("training loss, means over a hundredth of the run")
    axes.legend(fontsize="small")


def draw_rates(axes: Any, reports: dict[str, EvalReport], logs: dict[str, tuple[int, Log]]) -> None:
    """Draw the adapters' rates over the sessions they were trained on, or over steps if all have equally many sessions.

    Several runs may lie at one place: the line joins their means.
    """
    by_data = len(set(merge_close(amount for amount, _ in logs.values()).values())) > 1
    amounts = {run: amount if by_data else log[-1]["step"] for run, (amount, log) in logs.items()}
    places = merge_close(amounts.values())
    width = max(places.values()) or 1
    splits = sorted({report.split_by or "" for report in reports.values()})
    for split, line, marker in zip(splits, ("-", "--", ":"), "os^", strict=False):
        members = [run for run, report in reports.items() if (report.split_by or "") == split]
        for shift, name in enumerate(RATES[1:]):
            points: dict[float, list[float]] = {}
            for run in members:
                rate: Rate | None = getattr(reports[run].subjects["adapter"].rates, name)
                if rate is None or rate.rate is None or rate.interval is None:
                    continue
                x = places[amounts[run]] + (shift - 1.5 + 0.4 * splits.index(split)) * 0.012 * width  # side by side
                points.setdefault(x, []).append(rate.rate)
                axes.plot([x, x], rate.interval, color=f"C{shift}", lw=0.8)
                axes.plot(x, rate.rate, marker, color=f"C{shift}", ms=4)
            xs = sorted(points)
            label = f"{name}, held out by {split}" if split else f"{name}, not split"
            means = [sum(points[x]) / len(points[x]) for x in xs]
            axes.plot(xs, means, line, marker=marker, mfc="none", ms=5, color=f"C{shift}", lw=1, label=label)
    axes.set(xlabel="sessions trained on" if by_data else "optimizer steps", ylabel="rate", ylim=(-0.02, 1.02))
    axes.set_title("held-out episodes, 95 % intervals")


def mean_blocks(rows: Sequence[Any]) -> list[Sequence[Any]]:
    """`rows` in at most 100 blocks whose lengths differ by at most one."""
    count = min(100, len(rows))
    return [rows[len(rows) * at // count : len(rows) * (at + 1) // count] for at in range(count)]


def merge_close(amounts: Iterable[int]) -> dict[int, float]:
    """Each amount and where to draw it: amounts within a tenth of one another go to one place, their mean."""
    groups: list[list[int]] = []
    for amount in sorted(amounts):
        if groups and amount <= 1.1 * groups[-1][0]:
            groups[-1].append(amount)
        else:
            groups.append([amount])
    return {amount: sum(group) / len(group) for group in groups for amount in group}


def read_log(adapter: Path) -> tuple[int, Log]:
    """How many sessions an adapter was trained on, and the rows of its log that hold a loss."""
    rows = [{"step": row["step"], "loss": row["loss"]} for row in read_history(adapter) if is_figure(row.get("loss"))]
    if not rows:
        raise BadInputError(f"{adapter / LOG}: holds no loss; rerun sft.py or leave --picture out")
    return len(read_identity(adapter).trained_on), rows


def labels_of(paths: Sequence[Path]) -> dict[str, Path]:
    """The paths by the shortest ends that tell all of them apart. Raises BadInputError where one is named twice."""
    parts = {path.absolute().parts: path for path in paths}
    if len(parts) < len(paths):
        raise BadInputError("--runs: a directory is named twice; name each once")
    depth = next(depth for depth in itertools.count(1) if len({one[-depth:] for one in parts}) == len(parts))
    return {"/".join(one[-depth:]): path for one, path in parts.items()}
