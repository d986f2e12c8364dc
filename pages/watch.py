"""Show a run while it goes on, from its files alone: nothing is written into its directory.

    watch(Path("trajectories"))

On a terminal the view is drawn anew twice a second; elsewhere each change is one line. It ends when the stage has
finished or its process is gone. How many episodes are under way is in `.live.json` (operators/under_way.py).
"""

import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from pipeline import locks
from pipeline.files import LIVE, read_manifest
from pipeline.hidden import as_text
from pipeline.rates import wilson
from schema import VOIDED, BadInputError, LiveRun, Manifest, Subject
from training.history import LOG, read_history

SECONDS = 0.5  # between two looks
COMMAND_WIDTH = 100
RECENT_STEPS = 10  # of a training's loss


@dataclass
class Tally:
    """The records of one directory so far."""

    label: str
    done: int = 0
    kept: int = 0
    verified: int = 0
    voided: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    live: LiveRun | None = None
    since_start: int = 0  # records that this run wrote

    def counted(self) -> int:
        """Episodes that count in a rate."""
        return self.done - self.voided

    def of_episodes(self) -> bool:
        """True where the records are episodes, not scenarios."""
        return self.done > 0 and "written" not in self.outcomes


@dataclass
class Snapshot:
    """A run at one moment."""

    manifest: Manifest
    at: float
    running: bool
    tallies: list[Tally]
    total: int | None
    history: list[dict[str, Any]]
    steps_per_second: float | None

    def state(self) -> str:
        """finished, running or stopped."""
        if self.manifest.finished:
            return "finished"
        return "running" if self.running else "stopped: the same command again goes on"

    def done(self) -> int:
        """Records so far."""
        return sum(tally.done for tally in self.tallies)

    def per_minute(self) -> float | None:
        """Records a minute since the episodes of this run began."""
        live = [tally for tally in self.tallies if tally.live]
        seconds = sum(self.at - tally.live.started for tally in live if tally.live)
        written = sum(tally.since_start for tally in live)
        return 60 * written / seconds if written and seconds > 0 else None

    def seconds_left(self) -> float | None:
        """Until the last record or the last step, at the speed so far."""
        if self.manifest.finished or not self.running:
            return None
        if self.history:
            steps = steps_in_all(self.history, self.manifest)
            left = steps - self.history[-1]["step"] if steps else None
            return left / self.steps_per_second if left is not None and self.steps_per_second else None
        speed = self.per_minute()
        return 60 * (self.total - self.done()) / speed if self.total is not None and speed else None

    def changed(self) -> tuple[Any, ...]:
        """What makes a new line where there is no terminal."""
        return self.done(), self.history[-1]["step"] if self.history else None, self.state()


class Watcher:
    """Takes snapshots of one directory; each record is read once."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._seen: dict[Path, tuple[int, dict[str, Any]]] = {}
        self._steps: list[tuple[float, int]] = []  # (time, step) of the first and the latest look

    def look(self) -> Snapshot:
        """The run now. Raises BadInputError where no stage has begun here."""
        running = locks.is_held(self.directory)  # before the manifest: a stage that ends writes it, then unlocks
        manifest = read_manifest(self.directory)
        if manifest is None:
            raise BadInputError(f"{self.directory}: no manifest.json; name the --out of a stage that has begun")
        now = time.time()
        places = [self.directory, *(self.directory / subject for subject in get_args(Subject))]
        tallies = [tally for place in places if (tally := self._tally(place)).done or tally.live]
        history: list[dict[str, Any]] = []
        if (self.directory / LOG).exists():
            history = read_history(self.directory, partial=True)
        return Snapshot(
            manifest, now, running, tallies, total_of(manifest, tallies), history, self._step_speed(now, history)
        )

    def _tally(self, place: Path) -> Tally:
        tally = Tally(place.name, live=read_live(place))
        apart = ("manifest.json", "report.json", "render.json", "sekft.json", "overlap.json", "adapter_config.json")
        for path in place.glob("*.json") if place.is_dir() else ():
            if path.name[0] == "." or path.name in apart:
                continue
            record = self._record(path)
            outcome = record.get("outcome")
            tally.done += 1
            tally.kept += record.get("kept", False)
            tally.verified += record.get("verified", False)
            tally.voided += outcome in VOIDED
            tally.outcomes[outcome or "written"] += 1
            tally.since_start += tally.live is not None and record["mtime"] >= tally.live.started
        return tally

    def _record(self, path: Path) -> dict[str, Any]:
        """What is counted of a record."""
        try:
            written = path.stat().st_mtime_ns
            if path not in self._seen or self._seen[path][0] != written:
                value = json.loads(path.read_text(encoding="utf-8"))
                names = ("outcome", "kept", "verified")
                self._seen[path] = written, {name: value[name] for name in names if name in value}
        except (OSError, ValueError, TypeError):  # is being replaced, or no record
            return {"mtime": 0.0}
        return {**self._seen[path][1], "mtime": written / 1e9}

    def _step_speed(self, now: float, history: list[dict[str, Any]]) -> float | None:
        """Steps a second between the first look that found a step and the latest that found another."""
        if not history:
            return None
        step = history[-1]["step"]
        if not self._steps or step < self._steps[0][1]:
            self._steps = [(now, step)]
        elif step != self._steps[-1][1]:
            self._steps = [self._steps[0], (now, step)]
        (began, first), (ended, last) = self._steps[0], self._steps[-1]
        return (last - first) / (ended - began) if last > first and ended > began else None


def read_live(place: Path) -> LiveRun | None:
    """The episodes under way; None where none are, or where the file is of another version."""
    try:
        return LiveRun.model_validate_json((place / LIVE).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def total_of(manifest: Manifest, tallies: list[Tally]) -> int | None:
    """How many records there will be; None where nothing says so."""
    if manifest.finished:
        return sum(tally.done for tally in tallies)
    if manifest.stage == "generate":
        return manifest.flags.get("n")
    known = [tally.live.total for tally in tallies if tally.live]
    if not known:
        return None
    if manifest.stage != "eval":
        return sum(known)
    flags, adapter = manifest.flags, any(name.endswith(".safetensors") for name in manifest.inputs)
    subjects = 1 + bool(flags.get("clean_up")) + bool(adapter and flags.get("compare_base"))
    return known[0] * subjects


def steps_in_all(history: list[dict[str, Any]], manifest: Manifest) -> int | None:
    """Optimizer steps of the whole training, from how far its epochs are."""
    last, epochs = history[-1], manifest.flags.get("epochs")
    return round(last["step"] * epochs / last["epoch"]) if epochs and last.get("epoch") else None


def duration(seconds: float | None) -> str:
    """`1:02:03` or `2:03`; a dash where it is not known."""
    if seconds is None:
        return "-"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def one_line(text: str | None) -> str:
    """A command as one line of text that a terminal does not obey."""
    cut = as_text((text or "").replace("\n", "⏎").replace("\t", " "))
    return cut if len(cut) <= COMMAND_WIDTH else cut[: COMMAND_WIDTH - 1] + "…"


def share(successes: int, n: int) -> str:
    """`9/16 56% [33-77]`."""
    interval = wilson(successes, n)
    if interval is None:
        return "-"
    return f"{successes}/{n} {successes / n:.0%} [{100 * interval[0]:.0f}-{100 * interval[1]:.0f}]"


def line_of(found: Snapshot) -> str:
    """A snapshot in one line."""
    total = "?" if found.total is None else found.total
    parts = [f"{found.manifest.stage or 'stage'} {found.state()}"]
    if found.history:
        parts.append(training_line(found))
    else:
        speed = found.per_minute()
        parts.append(f"{found.done()}/{total}")
        parts += [f"{one.label}: kept {share(one.kept, one.counted())}" for one in found.tallies if one.of_episodes()]
        parts += [f"{speed:.1f}/min"] if speed else []
    parts.append(f"{duration(found.seconds_left())} left")
    live = [one for tally in found.tallies if tally.live for one in tally.live.episodes]
    parts += [f"{one.id} step {one.steps}: {one_line(one.command)}" for one in live]
    return " | ".join(parts)


def training_line(found: Snapshot) -> str:
    """The latest step, the mean loss of the last ones, and every other figure that was logged."""
    last, steps = found.history[-1], steps_in_all(found.history, found.manifest)
    losses = [row["loss"] for row in found.history[-RECENT_STEPS:] if isinstance(row.get("loss"), int | float)]
    mean = f"loss {sum(losses) / len(losses):.4f} over {len(losses)} steps" if losses else ""
    others = {name: value for name, value in last.items() if name not in ("step", "loss")}
    rest = [f"{name} {value:.4g}" for name, value in others.items() if isinstance(value, int | float)]
    return ", ".join(part for part in [f"step {last['step']}/{steps or '?'}", mean, *rest] if part)


def view_of(found: Snapshot, directory: Path) -> Any:
    """A snapshot as tables of rich."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    done, total = found.done(), found.total
    if found.history:
        done, total = found.history[-1]["step"], steps_in_all(found.history, found.manifest)
    colour = {"finished": "green", "running": "cyan"}.get(found.state(), "yellow")
    head = Text.assemble(
        (f"{found.manifest.stage or 'stage'} ", "bold"), as_text(str(directory)), "  ", (found.state(), colour),
        f"  {done}/{total or '?'}", f"  {duration(found.seconds_left())} left",
        f"  {speed:.1f} records/min" if (speed := found.per_minute()) else "",
    )  # fmt: skip
    bar = ProgressBar(total=total or 1, completed=done if total else 0)
    parts: list[Any] = [head, Padding(bar, 0)]  # the bar alone ends no line
    if found.history:
        parts.append(Text(training_line(found)))
    episodes = [one for one in found.tallies if one.of_episodes()]
    if episodes:
        rates = Table("", "kept", "verified", "outcomes", box=None, header_style="dim")
        for one in episodes:
            outcomes = ", ".join(f"{name} {count}" for name, count in sorted(one.outcomes.items()))
            rates.add_row(one.label, share(one.kept, one.counted()), share(one.verified, one.counted()), outcomes)
        parts.append(rates)
    under_way = [episode for tally in found.tallies if tally.live for episode in tally.live.episodes]
    if under_way and found.running:
        table = Table("under way", "steps", "seconds", "last command", box=None, header_style="dim", expand=True)
        for episode in under_way:
            seconds = f"{max(0.0, found.at - episode.since):.0f}"
            command = Text(one_line(episode.command), "bold", no_wrap=True)
            table.add_row(Text(episode.id), str(episode.steps), seconds, command)
        parts.append(table)
    return Group(*parts)


def watch(directory: Path) -> Snapshot:
    """Show the run until it has finished or stopped; returns the last snapshot. Raises BadInputError."""
    from rich.console import Console
    from rich.live import Live

    watcher, console = Watcher(directory), Console(stderr=True)
    found = watcher.look()
    if not console.is_terminal:
        return watch_in_lines(watcher, found)
    with Live(view_of(found, directory), console=console, auto_refresh=False) as live:
        while found.state() == "running":
            time.sleep(SECONDS)
            found = watcher.look()
            live.update(view_of(found, directory), refresh=True)
    return found


def watch_in_lines(watcher: Watcher, found: Snapshot) -> Snapshot:
    """One line on stderr for each change."""
    print(line_of(found), file=sys.stderr, flush=True)
    while found.state() == "running":
        time.sleep(SECONDS)
        before, found = found, watcher.look()
        if found.changed() != before.changed():
            print(line_of(found), file=sys.stderr, flush=True)
    return found
