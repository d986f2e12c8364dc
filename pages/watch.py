"""Show a run while it goes on, from its files alone: nothing is written into its directory.

    watch(Path("trajectories"))

On a terminal the view is drawn anew twice a second; elsewhere each change is one line. It ends when the stage has
finished or its process is gone. Which episodes are under way is in `.live.json` (operators/under_way.py). All texts
come from files that anybody may have written: each is made one line of plain text before it is shown.
"""

import json
import math
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import ValidationError

from pipeline import locks
from pipeline.files import EPISODES, LIVE, read_manifest
from pipeline.hidden import as_text
from pipeline.rates import rate_of
from pipeline.tables import format_rate
from schema import VOIDED, BadInputError, LiveRun, Manifest, Subject
from training.history import LARGEST, LOG, is_figure, read_history

SECONDS = 0.5  # between two looks
BEGIN_SECONDS = 10.0  # for which a directory may be empty
CLOCK_SECONDS = 0.02  # the kernel's clock of files goes by ticks: a record's time is up to one behind time.time()
COMMAND_WIDTH = 100
RECENT_STEPS = 10
AVERAGED = ("loss", "reward")  # over the recent steps of a training
TRAININGS = ("sft", "dpo", "rl")
INSIDE: dict[str, tuple[str, ...]] = {  # stage -> the directories in its --out that hold episodes
    "eval": get_args(Subject),
    "cascade": ("cheap", "frontier"),
    "select_adapter": ("base", "candidate-*"),
}
NOT_RECORDS = (
    "manifest.json", "report.json", "render.json", "sekft.json", "overlap.json", "adapter_config.json", "outcomes.json",
    "selected.json", "export-report.json",
)  # fmt: skip


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
    unreadable: list[str] = field(default_factory=list)  # names of files that are no records

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
    total: int | None  # records in the end; of a training, steps
    history: list[dict[str, Any]] | None  # a training's log; None where no steps are made
    per_second: float | None  # steps, or records where the episodes under way do not say when they began

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

    def step(self) -> int | None:
        """The latest step of a training, 0 before the first; None where no steps are made."""
        if self.history is None:
            return None
        return int(self.history[-1]["step"]) if self.history else 0

    def seconds_left(self) -> float | None:
        """Until the last record or the last step, at the speed so far."""
        if self.manifest.finished or not self.running or self.total is None:
            return None
        step, speed = self.step(), self.per_minute()
        if step is not None:
            return max(0, self.total - step) / self.per_second if self.per_second else None
        per_second = speed / 60 if speed else self.per_second
        return max(0, self.total - self.done()) / per_second if per_second else None

    def changed(self) -> tuple[Any, ...]:
        """What makes a new line where there is no terminal."""
        return self.done(), self.step(), self.state()


class Watcher:
    """Takes snapshots of one directory; each record is read once."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory_of_run(directory)
        self._seen: dict[Path, tuple[int, dict[str, Any]]] = {}
        self._counts: list[tuple[float, int]] = []  # (time, step or records) of the first and the latest change

    def look(self) -> Snapshot:
        """The run now. Raises BadInputError where no stage has begun here, or a manifest or log is malformed."""
        running = locks.is_held(self.directory)  # before the manifest: a stage that ends writes it, then unlocks
        manifest = read_manifest(self.directory)
        if manifest is None:
            raise BadInputError(f"{self.directory}: no manifest.json; name the --out of a stage that has begun")
        path = self.directory / "manifest.json"
        if manifest.stage is None:
            raise BadInputError(f"{path}: stage: missing; name the --out of a stage that has begun")
        now = time.time()
        inside = (EPISODES,) if manifest.stage == "rl" else INSIDE.get(manifest.stage, ())
        places = [self.directory, *(path for name in inside for path in sorted(self.directory.glob(name)))]
        tallies = [tally for place in places if (tally := self._tally(place)).done or tally.live or tally.unreadable]
        history = None
        if (self.directory / LOG).exists():
            history = read_history(self.directory, partial=True)
        elif manifest.stage in TRAININGS:
            history = []
        total = total_of(manifest, path, tallies) if history is None else steps_in_all(history, manifest, path)
        found = Snapshot(manifest, now, running, tallies, total, history, None)
        found.per_second = logged_speed(history or []) or self._observed_speed(now, found)
        return found

    def _tally(self, place: Path) -> Tally:
        tally = Tally(place.resolve().name, live=read_live(place))
        for path in sorted(place.glob("*.json")) if place.is_dir() else ():
            if path.name[0] == "." or path.name in NOT_RECORDS:
                continue
            try:
                record = self._record(path)
            except (OSError, ValueError, RecursionError):
                tally.unreadable.append(path.name)
                continue
            outcome = record["outcome"]
            tally.done += 1
            tally.kept += record["kept"]
            tally.verified += record["verified"]
            tally.voided += outcome in VOIDED
            tally.outcomes[outcome or "written"] += 1
            tally.since_start += tally.live is not None and record["written"] >= tally.live.started - CLOCK_SECONDS
        return tally

    def _record(self, path: Path) -> dict[str, Any]:
        """What is counted of a record. Raises OSError, and ValueError for a file that is none."""
        written = path.stat().st_mtime_ns
        if path not in self._seen or self._seen[path][0] != written:
            value = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(value, dict):
                raise ValueError("no record")
            counted = {"outcome": value.get("outcome"), **{one: value.get(one, False) for one in ("kept", "verified")}}
            if not isinstance(counted["outcome"], str | None):
                raise ValueError("outcome")
            if not isinstance(counted["kept"], bool) or not isinstance(counted["verified"], bool):
                raise ValueError("kept or verified")
            self._seen[path] = written, {**counted, "written": written / 1e9}
        return self._seen[path][1]

    def _observed_speed(self, now: float, found: Snapshot) -> float | None:
        """Steps or records a second between the first look that found one and the latest that found another number."""
        step = found.step()
        count = found.done() if step is None else step
        if not count:
            return None
        if not self._counts or count < self._counts[0][1]:
            self._counts = [(now, count)]
        elif count != self._counts[-1][1]:
            self._counts = [self._counts[0], (now, count)]
        (began, first), (ended, last) = self._counts[0], self._counts[-1]
        return (last - first) / (ended - began) if last > first and ended > began else None


def directory_of_run(directory: Path) -> Path:
    """The directory whose run is meant: rl.py's --out where its directory of episodes is named."""
    manifest = read_manifest(directory)
    whole = directory.resolve()
    if manifest is None or manifest.stage != "rl" or whole.name != EPISODES:
        return directory
    return whole.parent if (whole.parent / "manifest.json").exists() else directory


def read_live(place: Path) -> LiveRun | None:
    """The episodes under way; None where none are, or where the file is malformed or of another version."""
    try:
        return LiveRun.model_validate_json((place / LIVE).read_bytes())
    except (OSError, ValidationError):
        return None


def number_of(manifest: Manifest, path: Path, name: str, among: Literal["flags", "counts"] = "flags") -> int | None:
    """A flag or count of the run; None where it is not set. Raises BadInputError unless it is a count above 0."""
    value = getattr(manifest, among).get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= LARGEST:
        raise BadInputError(
            f"{path}: {among}.{name}: {str(value)[:40]!r} is no whole number above 0; rerun the stage with --redo"
        )
    return value


def total_of(manifest: Manifest, path: Path, tallies: list[Tally]) -> int | None:
    """How many records there will be; None where nothing says so. `path`: of the manifest."""
    if manifest.finished:
        return sum(tally.done for tally in tallies)
    if manifest.stage == "generate":
        return number_of(manifest, path, "n")
    if manifest.stage == "eval":
        return episodes_of_eval(manifest, path)
    live = [tally.live.total for tally in tallies if tally.live and 0 < tally.live.total <= LARGEST]
    return sum(live) if live else None


def episodes_of_eval(manifest: Manifest, path: Path) -> int | None:
    """Episodes of all subjects together: beside an adapter the others play `base_n` scenarios where that is set."""
    n, fewer = number_of(manifest, path, "n", "counts"), number_of(manifest, path, "base_n")
    if n is None:
        return None
    adapter = any(name.endswith(".safetensors") for name in manifest.inputs)
    others = bool(manifest.flags.get("clean_up")) + bool(adapter and manifest.flags.get("compare_base"))
    return n + others * (min(fewer, n) if adapter and fewer else n)


def steps_in_all(history: list[dict[str, Any]], manifest: Manifest, path: Path) -> int | None:
    """Steps of the whole training: of rl.py its flag, of sft.py and dpo.py from how far the epochs are.

    None where nothing says so: before the first step, and where rl.py replays episodes, of which there may be fewer.
    """
    last: dict[str, Any] = history[-1] if history else {}
    if manifest.stage == "rl":
        if manifest.flags.get("replay"):
            return int(last["step"]) if last and manifest.finished else None
        return number_of(manifest, path, "updates")
    epochs, epoch = number_of(manifest, path, "epochs"), last.get("epoch")
    if epochs is None or not is_figure(epoch) or epoch <= 0:
        return None
    steps = last["step"] * (epochs / epoch)
    return round(steps) if steps <= LARGEST else None


def logged_speed(history: list[dict[str, Any]]) -> float | None:
    """Steps a second of the latest steps, where each says how long it took, as rl.py's do."""
    recent = history[-RECENT_STEPS:]
    times = [row.get(name) for row in recent for name in ("sample_seconds", "update_seconds")]
    seconds = sum(one for one in times if is_figure(one))
    return len(recent) / seconds if seconds > 0 and all(is_figure(one) for one in times) else None


def duration(seconds: float | None) -> str:
    """`1:02:03` or `2:03`; a dash where it is not known."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def one_line(text: str | None) -> str:
    """A text as one line, cut, that a terminal does not obey."""
    cut = as_text((text or "").replace("\n", "⏎").replace("\t", " "))
    return cut if len(cut) <= COMMAND_WIDTH else cut[: COMMAND_WIDTH - 1] + "…"


def share(successes: int, n: int) -> str:
    """`9/16 56% [33-77]`."""
    return format_rate(rate_of([True] * successes + [False] * (n - successes), voided=0))


def line_of(found: Snapshot) -> str:
    """A snapshot in one line."""
    total = "?" if found.total is None else found.total
    parts = [f"{one_line(found.manifest.stage) or 'stage'} {found.state()}"]
    speed = found.per_minute()
    parts.append(f"{found.done()}/{total}" if found.history is None else training_line(found))
    parts += [
        f"{one_line(one.label)}: kept {share(one.kept, one.counted())}" for one in found.tallies if one.of_episodes()
    ]
    parts += [f"{speed:.1f}/min"] if speed and found.history is None else []
    parts.append(f"{duration(found.seconds_left())} left")
    parts += unreadable_files(found)
    live = [one for tally in found.tallies if tally.live for one in tally.live.episodes]
    parts += [f"{one_line(one.id)} step {one.steps}: {one_line(one.command)}" for one in live]
    return " | ".join(parts)


def training_line(found: Snapshot) -> str:
    """The latest step, the mean loss and reward of the last ones, and every other figure that was logged."""
    history, means = found.history or [], list[str]()
    for name in AVERAGED:
        values = [row[name] for row in history[-RECENT_STEPS:] if is_figure(row.get(name))]
        means += [f"{name} {sum(values) / len(values):.4f} over {len(values)} steps"] if values else []
    others = {
        name: value for name, value in (history[-1] if history else {}).items() if name not in ("step", *AVERAGED)
    }
    rest = [f"{one_line(name)} {value:.4g}" for name, value in others.items() if is_figure(value)]
    total = "?" if found.total is None else found.total
    return ", ".join([f"step {found.step()}/{total}", *means, *rest])


def unreadable_files(found: Snapshot) -> list[str]:
    """What is said of files beside the records that are none."""
    return [
        f"{one_line(one.label)}: {len(one.unreadable)} not counted, no records: such as {one_line(one.unreadable[0])}"
        for one in found.tallies
        if one.unreadable
    ]


def view_of(found: Snapshot, directory: Path) -> Any:
    """A snapshot as tables of rich."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    step, total = found.step(), found.total
    done = found.done() if step is None else step
    colour = {"finished": "green", "running": "cyan"}.get(found.state(), "yellow")
    head = Text.assemble(
        (f"{one_line(found.manifest.stage) or 'stage'} ", "bold"), one_line(str(directory)), "  ",
        (found.state(), colour), f"  {done}/{'?' if total is None else total}",
        f"  {duration(found.seconds_left())} left",
        f"  {speed:.1f} records/min" if (speed := found.per_minute()) else "",
    )  # fmt: skip
    bar = ProgressBar(total=total or 1, completed=done if total else 0)
    parts: list[Any] = [head, Padding(bar, 0)]  # the bar alone ends no line
    if found.history is not None:
        parts.append(Text(training_line(found)))
    parts += [Text(line, "yellow") for line in unreadable_files(found)]
    episodes = [one for one in found.tallies if one.of_episodes()]
    if episodes:
        rates = Table("", "kept", "verified", "outcomes", box=None, header_style="dim")
        for one in episodes:
            outcomes = ", ".join(f"{one_line(name)} {count}" for name, count in sorted(one.outcomes.items()))
            cells = (one_line(one.label), share(one.kept, one.counted()), share(one.verified, one.counted()), outcomes)
            rates.add_row(*map(Text, cells))
        parts.append(rates)
    under_way = [episode for tally in found.tallies if tally.live for episode in tally.live.episodes]
    if under_way and found.running:
        table = Table("under way", "steps", "seconds", "last command", box=None, header_style="dim", expand=True)
        for episode in under_way:
            seconds = f"{max(0.0, found.at - episode.since):.0f}"
            command = Text(one_line(episode.command), "bold", no_wrap=True)
            table.add_row(Text(one_line(episode.id)), str(episode.steps), seconds, command)
        parts.append(table)
    return Group(*parts)


def wait_for_manifest(directory: Path) -> None:
    """Return once there is a manifest, or after BEGIN_SECONDS; at once where no stage is about to write one.

    A stage that begins creates its directory and its lock first, and writes the manifest under a hidden name.
    """
    deadline = time.monotonic() + BEGIN_SECONDS
    while (
        directory.is_dir()
        and not (directory / "manifest.json").exists()
        and (locks.is_held(directory) or all(path.name.startswith(".") for path in directory.iterdir()))
        and time.monotonic() < deadline
    ):
        time.sleep(SECONDS / 5)


def watch(directory: Path) -> Snapshot:
    """Show the run until it has finished or stopped; returns the last snapshot. Raises BadInputError."""
    from rich.console import Console
    from rich.live import Live

    wait_for_manifest(directory)
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
