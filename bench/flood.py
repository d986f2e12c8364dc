"""Measure what endless output costs the host outside a sandbox's own core: CPU time of Docker and of this process.

    python -m bench.flood --seconds 30

Reads   nothing
Writes  one JSON line on stdout
Needs   a Docker engine on this machine, the image sekft-dash

dockerd's share has everything in it that dockerd does meanwhile, so run it on a machine that is otherwise idle.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

from pipeline import stage
from sandbox.containers import api
from sandbox.session import session

GIB = 1 << 30


def main(*, seconds: float) -> int:
    """Let `yes` print for some seconds."""
    with session([]) as shell:
        shell.step("true")
        container = api().inspect_container(shell.container)["Id"].encode()
        owners: dict[str, Callable[[list[bytes]], bool]] = {
            "dockerd": lambda words: words[0].endswith(b"dockerd"),
            "containerd_shim": lambda words: b"shim" in words[0] and container in words,
            "this_process": lambda words: False,
        }
        before = {name: cpu_seconds(is_owner) for name, is_owner in owners.items()} | {
            "this_process": time.process_time()
        }
        step = shell.step("yes", timeout_seconds=seconds)
        after = {name: cpu_seconds(is_owner) for name, is_owner in owners.items()} | {
            "this_process": time.process_time()
        }
    spent = {name: round(after[name] - before[name], 2) for name in owners}
    gib = step.output_bytes / GIB
    per_gib = round(sum(spent.values()) / gib, 1)
    stage.print_summary(
        {"seconds": seconds, "gib": round(gib, 3), "cpu_seconds": spent, "cpu_seconds_per_gib": per_gib}
    )
    return stage.DONE


def cpu_seconds(is_owner: Callable[[list[bytes]], bool]) -> float:
    """CPU time so far of all processes of this machine whose command line is the owner's."""
    ticks = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if is_owner((process / "cmdline").read_bytes().split(b"\0")):
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        except OSError:  # it has ended
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long it prints (default: %(default)g)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
