"""Measure in a real Chromium how a page of many sessions opens, scrolls, filters and shows one session.

    python -m bench.page --n 2000

Reads   nothing
Writes  one JSON line on stdout
Needs   Chromium and its driver (make chromium), and the packages of requirements-dev.txt

Each session has 12 steps, each of 20 lines; no line comes twice, so the page cannot shrink by repetition. Every token
that was typed has a log-prob, so each session has its shade. Times are in milliseconds. `frame` is the time between two
frames while the list is scrolled from top to end; a screen shows one every 16.7. `filter` is the time from a key in the
search field to the next frame, `session` the time from a link to the session's text. `cpu` is the mean CPU time that
the page's thread takes for each of them: unlike the others it depends little on what else the machine does.
"""

import argparse
import itertools
import random
import statistics
import tempfile
from pathlib import Path
from typing import Any

from pipeline import stage
from pages.document import write_page
from pages.gather import page_contents
from schema import Scenario, Trajectory
from tests.helpers import run_directories as made, tiny
from tests.helpers.browser import browser, open_page, wait_for

STEPS, LINES = 12, 20
FRAMES = 300  # of the scrolling
SCROLL = """
const done = arguments[0], box = document.querySelector("#rows"), times = [];
const far = (box.scrollHeight - box.clientHeight) / FRAMES;
let last = null;
const frame = (now) => {
  if (last !== null) times.push(now - last);
  last = now;
  box.scrollTop += far;
  if (times.length < FRAMES) requestAnimationFrame(frame); else done(times);
};
requestAnimationFrame(frame);
""".replace("FRAMES", str(FRAMES))
FILTER = """
const [word, done] = arguments, box = document.querySelector("#search"), began = performance.now();
box.focus();
box.value = word;
box.dispatchEvent(new Event("input"));
requestAnimationFrame(() => setTimeout(() => done(performance.now() - began), 0));
"""
OPEN = """
const [number, done] = arguments, began = performance.now();
location.hash = linkTo(ROWS[number]);
const look = () => shownRow === ROWS[number] && document.querySelector("#session .terminal")
  ? done(performance.now() - began) : requestAnimationFrame(look);
requestAnimationFrame(look);
"""


def main(*, n: int) -> int:
    """Write a page of n sessions, use it, and print what that took."""
    with tempfile.TemporaryDirectory() as place, browser() as driver:
        page = Path(place) / "page.html"
        base = tiny.base(Path(place) / "base")
        records = made.scenarios(-(-n // 20))
        draw = random.Random(n)
        sessions = [shaded(base, one, draw, sample) for one in records for sample in range(20)][:n]
        write_page(page, page_contents({"run": made.write_rollout(Path(place) / "run", sessions)}))
        open_page(driver, page, "#view=list")
        wait_for(driver, f"listed.length === {n}")
        opened = driver.execute_script("return performance.getEntriesByType('navigation')[0].domComplete")
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        cpu = [cpu_ms(driver)]
        frames = driver.execute_async_script(SCROLL)
        cpu.append(cpu_ms(driver))
        filters = [driver.execute_async_script(FILTER, "sum exit rollout"[:end]) for end in range(1, 13)]
        cpu.append(cpu_ms(driver))
        shown = [driver.execute_async_script(OPEN, number) for number in range(0, n, max(1, n // 20))]
        cpu.append(cpu_ms(driver))
        took = [after - before for before, after in itertools.pairwise(cpu)]
        counts = {"frame": len(frames), "filter": len(filters), "session": len(shown)}
        stage.print_summary({
            "sessions": n,
            "page_mb": round(page.stat().st_size / 1e6, 1),
            "opened_ms": round(opened),
            "frame_ms": spread(frames),
            "cpu_ms": {name: round(ms / count, 1) for (name, count), ms in zip(counts.items(), took, strict=True)},
            "filter_ms": spread(filters),
            "session_ms": spread(shown),
        })  # fmt: skip
    return stage.DONE


def shaded(base: Path, record: Scenario, draw: random.Random, sample: int) -> Trajectory:
    """A session of STEPS commands whose tokens have log-probs."""
    steps = made.session(record, *(output(draw) for _ in range(STEPS))).steps
    return made.sampled(base, record, *(one.command for one in steps), steps=steps, sample=sample)


def output(draw: random.Random) -> str:
    """An output of LINES lines that no other has."""
    return "".join(f"line {draw.getrandbits(64):016x} of an output\n" for _ in range(LINES))


def cpu_ms(driver: Any) -> float:
    """CPU time of the page's thread so far, in milliseconds."""
    found = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return 1000 * next(float(one["value"]) for one in found if one["name"] == "TaskDuration")


def spread(times: list[Any]) -> dict[str, float]:
    """Median, the time that 95 % keep to, and the longest."""
    at_95 = sorted(times)[int(0.95 * (len(times) - 1))]
    return {"median": round(statistics.median(times), 1), "p95": round(at_95, 1), "longest": round(max(times), 1)}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--n", type=int, default=2000, help="sessions on the page (default 2000)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
