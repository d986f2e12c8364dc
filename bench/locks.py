"""Measure the kernel memory of locks (`flock`) that a sandbox holds, and how much of it its cgroup counts.

    python -m bench.locks --files 200 --processes 50 --rounds 3

Reads   bench/hold_locks.c, /proc/slabinfo, the container's cgroup (version 1)
Writes  one JSON line on stdout
Needs   root, a C compiler that links statically, a Docker engine on this machine, the image sekft-dash

Each round holds the same open files once without and once with a lock on each. It takes a few MiB at most.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from pipeline import stage
from sandbox.containers import OPEN_FILES, PROCESSES, api
from sandbox.session import Session, session
from schema import BadInputError

MOST = 20_000  # locks of one round, under 4 MiB


def main(*, files: int, processes: int, rounds: int) -> int:
    """Hold open files without and with locks, in turn."""
    if files * processes > MOST:
        raise BadInputError(f"--files {files} --processes {processes}: more than {MOST} locks; take fewer")
    found: dict[str, list[tuple[int, int]]] = {"open": [], "locked": []}
    with session([]) as shell:
        shell.write_file("hold_locks", compiled())
        shell.step("chmod +x hold_locks")
        for _ in range(rounds):
            for lock, rows in enumerate(found.values()):
                rows.append(grown(shell, files, processes, lock))
    slab, counted = (median(row[at] for row in found["locked"]) for at in (0, 1))
    plain = median(row[1] for row in found["open"])
    summary = {"locks": files * processes, "slab_bytes_per_lock": round(slab / (files * processes), 1)}
    most = round(slab / (files * processes) * OPEN_FILES * PROCESSES)
    stage.print_summary(
        {**summary, "cgroup_bytes": {"open": plain, "locked": counted}, "most_bytes_of_a_sandbox": most}
    )
    return stage.DONE


def compiled() -> bytes:
    """The static program."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "hold_locks"
        source = Path(__file__).parent / "hold_locks.c"
        subprocess.run(["cc", "-static", "-O1", "-o", out, source], check=True)
        return out.read_bytes()


def grown(shell: Session, files: int, processes: int, lock: int) -> tuple[int, int]:
    """Bytes by which the host's slab of locks, and the cgroup's count of kernel memory, have grown."""
    before = slab_bytes(), kernel_bytes(shell)
    shell.step(f"./hold_locks {files} {processes} {lock} >out")
    while len(shell.read_file("out").split()) < processes:
        time.sleep(0.2)
    assert {int(word) for word in shell.read_file("out").split()} == {files}
    after = slab_bytes(), kernel_bytes(shell)
    shell.step("pkill hold_locks; sleep 2")
    return after[0] - before[0], after[1] - before[1]


def slab_bytes() -> int:
    """Memory of all locks on this machine."""
    rows = [line.split() for line in Path("/proc/slabinfo").read_text().splitlines()]
    return next(int(row[1]) * int(row[3]) for row in rows if row[0] == "file_lock_cache")


def kernel_bytes(shell: Session) -> int:
    """Kernel memory of a container by its cgroup's count."""
    pid = api().inspect_container(shell.container)["State"]["Pid"]
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    (group,) = [line.split(":")[2] for line in lines if line.split(":")[1] == "memory"]
    return int(Path(f"/sys/fs/cgroup/memory{group}/memory.kmem.usage_in_bytes").read_text())


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--files", type=int, default=200, help="open files per process (default %(default)d)")
    parser.add_argument("--processes", type=int, default=50, help="processes (default %(default)d)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, whose medians count (default %(default)d)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
