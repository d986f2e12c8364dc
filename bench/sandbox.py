"""Measure the sandbox side by side with `docker exec`, the Docker SDK's exec and mini-swe-agent's environment.

    python -m bench.sandbox                    # all parts, five rounds: ten minutes on 2 idle cores
    python -m bench.sandbox --only commands    # one part: commands, session, rollouts or parallel

Reads   nothing
Writes  the figures as JSON to --out (default bench/sandbox.json) and as a table to stderr, after each part
Needs   a Docker engine with the image, an otherwise idle machine; `pip install -r bench/requirements.txt` for
        mini-swe-agent, which is left out where it is not installed

All ways of a round run in one process, on the same image with the same flags, and take turns: what slows the machine
down slows all of them. A p50 is the median of the rounds' medians. A p90 or p99 is of all samples of all rounds: one
round has too few. Any other figure is the median over the rounds.
"""

import argparse
import logging
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from pipeline import stage
from pipeline.files import write_json
from sandbox import containers
from sandbox.containers import SandboxError
from sandbox.pool import Pool
from sandbox.session import OPERATOR, Session, session
from sandbox.tree import archive_of, tree_of
from schema import HOME, Fixture

FIXTURES = [
    Fixture(path=f"{HOME}/logs/part-{n}.txt", type="file", mode=0o644, text="one\ntwo\n" * 40) for n in range(8)
]
PROVIDER = ("/usr/local/bin/duty", "#!/bin/sh\necho 'count the lines below logs'\n")
COMMANDS = [
    "ls", "duty", "cd logs", "ls -l", "cat part-1.txt | head -n 3", "wc -l part-*.txt", "export N=8",
    "cat part-*.txt | wc -l > ../count.txt",
]  # fmt: skip
CHECKER = f'[ "$(cat {HOME}/count.txt)" = 640 ]'
# The shortest shell text that carries the state from one bare exec to the next.
BARE = 'cd "$(cat /run/operator/cwd 2>/dev/null || echo ~)"; [ ! -f /run/operator/env ] || . /run/operator/env; {}\n'
BARE += "r=$?; pwd >/run/operator/cwd; export -p >/run/operator/env; exit $r"

Table = dict[str, Any]


def main(*, only: str | None, rounds: int, sessions: list[int], rollouts: int, workers: int, out: Path) -> int:
    """Run the parts, all or the one named, and write the figures."""
    containers.require_image()
    containers.reap()
    parts: dict[str, Callable[[], Table]] = {
        "commands": lambda: commands(sessions, rounds),
        "session": lambda: warm_session(rounds),
        "rollouts": lambda: whole_rollouts(rollouts, workers, rounds),
        "parallel": lambda: parallel(max(sessions), rounds),
    }
    chosen = {name: part for name, part in parts.items() if only in (None, name)}
    figures: Table = {"date": time.strftime("%Y-%m-%d"), "cores": os.cpu_count(), "rounds": rounds}
    figures["engine"] = str(containers.api().version()["Version"])
    for name, part in chosen.items():
        figures[name] = part()
        print_part(name, figures[name])
        write_json(out, figures)
    stage.print_summary(figures)
    return stage.DONE


def print_part(name: str, table: Table) -> None:
    """Print one line per row, for grep."""
    for key, value in table.items():
        print(f"{name:10} {key:34} {value}", file=sys.stderr, flush=True)


# --- the ways to run one command -----------------------------------------------------------------------------------


def sdk_exec(container: str, script: str, *, user: str = OPERATOR, stdin: bytes | None = None) -> bytes:
    """Run one command through the SDK as its documentation does: create, start, inspect."""
    api = containers.api()
    command = ["/usr/bin/dash", "-c", script]
    if stdin is not None:
        process = containers.Process(container, command, user=user, workdir="/", stdin=stdin)
        process.pump(lambda stream, data: False, time.monotonic() + 60)
        process.close()
        return b""
    made = api.exec_create(container, command, user=user)["Id"]
    output: bytes = api.exec_start(made)
    api.exec_inspect(made)
    return output


def cli_exec(container: str, script: str) -> bytes:
    """Run one command through `docker exec`."""
    command = ["docker", "exec", "--user", OPERATOR, container, "/usr/bin/dash", "-c", script]
    return subprocess.run(command, capture_output=True, check=False).stdout


def docker_run_flags(container: str) -> list[str]:
    """The flags of `docker run` that give another container the same limits as this one."""
    host = containers.api().inspect_container(container)["HostConfig"]
    home = host["Mounts"][0]["VolumeOptions"]["DriverConfig"]["Options"]["o"]
    seccomp = f"seccomp={Path(containers.__file__).with_name('seccomp.json')}"  # the command line takes a file
    security = [seccomp if one.startswith("seccomp={") else one for one in host["SecurityOpt"]]
    return [
        "--rm", "--read-only", "--hostname=sandbox", f"--user={OPERATOR}", f"--network={host['NetworkMode']}",
        f"--memory={host['Memory']}", f"--memory-swap={host['MemorySwap']}", f"--cpus={host['NanoCpus'] / 1e9:g}",
        f"--pids-limit={host['PidsLimit']}", f"--ipc={host['IpcMode']}", f"--log-driver={host['LogConfig']['Type']}",
        *(f"--cap-drop={name}" for name in host["CapDrop"]), *(f"--security-opt={one}" for one in security),
        *(f"--tmpfs={path}:{options}" for path, options in {**host["Tmpfs"], HOME: home}.items()),
        *(f"--ulimit={one['Name']}={one['Soft']}:{one['Hard']}" for one in host["Ulimits"]),
    ]  # fmt: skip


@contextmanager
def mini_swe_agent(like: str) -> Iterator[Any]:
    """mini-swe-agent's Docker environment with the limits of the container `like`; None where it is not installed.

    One difference remains, for which it has no option: PID 1 runs as the user of the commands.
    """
    os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")
    try:
        from minisweagent.environments.docker import DockerEnvironment
    except ImportError:
        yield None
        return
    environment = DockerEnvironment(
        image=containers.IMAGE, cwd="/", interpreter=["/usr/bin/dash", "-c"], run_args=docker_run_flags(like),
        container_timeout="3600", logger=logging.getLogger("bench"),
    )  # fmt: skip
    try:
        yield environment
    finally:
        subprocess.run(["docker", "rm", "-f", str(environment.container_id)], capture_output=True, check=False)


def ways_of(opened: list[Session], mini: Any) -> dict[str, Callable[[int], bool]]:
    """Functions that run `echo hi` as call number n and return whether the answer is right.

    Calls take turns between the open sandboxes. mini-swe-agent always uses its own container.
    """

    def channel(n: int) -> bool:
        return opened[n % len(opened)].step("echo hi").output == "hi\n"

    def cli(n: int) -> bool:
        return cli_exec(opened[n % len(opened)].container, "echo hi") == b"hi\n"

    def sdk(n: int) -> bool:
        return sdk_exec(opened[n % len(opened)].container, "echo hi") == b"hi\n"

    def other(n: int) -> bool:
        return bool(mini.execute({"command": "echo hi"})["output"] == "hi\n")

    ways: dict[str, Callable[[int], bool]] = {"channel": channel, "cli exec": cli, "sdk exec": sdk}
    if mini is not None:
        ways["mini-swe-agent"] = other
    return ways


def commands(sessions: list[int], rounds: int, each: int = 40) -> Table:
    """Milliseconds from the request for `echo hi` to its answer, by the number of open sandboxes.

    The last rows are one sandbox with each way's commands back to back: no way can then prepare its next command while
    another way runs.
    """
    table: Table = {}
    for count in sessions:
        with open_sessions(count) as opened, mini_swe_agent(opened[0].container) as mini:
            table |= compared(ways_of(opened, mini), f"{count} open", rounds, each, together=1)
    with open_sessions(1) as opened, mini_swe_agent(opened[0].container) as mini:
        table |= compared(ways_of(opened, mini), "back to back", rounds, each, together=each)
    return table


@contextmanager
def open_sessions(count: int) -> Iterator[list[Session]]:
    """Start `count` sandboxes in parallel; end them in parallel."""
    with ExitStack() as stack:
        with ThreadPoolExecutor(8) as boots:
            opened = list(boots.map(lambda _: stack.enter_context(session([])), range(count)))
        yield opened
        with ThreadPoolExecutor(8) as ends:
            list(ends.map(lambda one: one.end(), opened))


def compared(ways: dict[str, Callable[[int], bool]], what: str, rounds: int, each: int, *, together: int) -> Table:
    """Rows of p50 and p99: per round `each` calls of each way, in turns of `together` calls."""
    times: dict[str, list[list[float]]] = {way: [] for way in ways}
    for turn in range(-1, rounds):  # the first round warms up and is not counted
        samples: dict[str, list[float]] = {way: [] for way in ways}
        for first in range(0, each, together):
            for way, call in ways.items():
                for n in range(first, min(first + together, each)):
                    began = time.perf_counter()
                    if call((turn + 1) * each + n) is not True:
                        raise RuntimeError(f"{way} gave no answer")
                    samples[way].append(1e3 * (time.perf_counter() - began))
        for way in ways if turn >= 0 else ():
            times[way].append(samples[way])
    base = p50_of(times["sdk exec"])
    return {
        f"{way}, {what}": {
            "p50_ms": ms(p50_of(found)),
            "p99_ms": ms(percentile(found, 99)),
            "sdk_exec_over_this": ms(base / p50_of(found)),
        }
        for way, found in times.items()
    }


def p50_of(rounds: list[list[float]]) -> float:
    """The median of the rounds' medians."""
    return statistics.median(statistics.median(one) for one in rounds)


def percentile(rounds: list[list[float]], percent: int) -> float:
    """A percentile of the samples of all rounds; one round has too few."""
    every = sorted(value for one in rounds for value in one)
    return every[percent * len(every) // 100]


def ms(value: float) -> float:
    """Round to two decimals."""
    return round(value, 2)


# --- sessions and whole rollouts -----------------------------------------------------------------------------------


def warm_session(rounds: int, each: int = 5) -> Table:
    """Milliseconds from the request for a session with fixtures and a provider to the end of its first command."""

    def once(pool: Pool | None = None) -> float:
        while pool and not pool.full():
            time.sleep(0.02)
        time.sleep(0.2)  # until the machine is quiet again after filling the pool
        began = time.perf_counter()
        with session(FIXTURES, provider=PROVIDER, pool=pool) as shell:
            if "count the lines" not in shell.step("duty").output:
                raise RuntimeError("the provider did not answer")
            return 1e3 * (time.perf_counter() - began)

    times: dict[str, list[list[float]]] = {"from a warm pool": [], "booted on demand": []}
    for _ in range(rounds):
        times["booted on demand"].append([once() for _ in range(each)])
        with Pool(os.cpu_count() or 1) as pool:
            times["from a warm pool"].append([once(pool) for _ in range(each)])
    return {way: {"p50_ms": ms(p50_of(found)), "p90_ms": ms(percentile(found, 90))} for way, found in times.items()}


def with_channel(pool: Pool | None) -> bool:
    """A rollout as rollout.py does it."""
    with session(FIXTURES, provider=PROVIDER, pool=pool) as shell:
        for command in COMMANDS:
            shell.step(command)
        return shell.verify(CHECKER).passed is True


def with_sdk_exec(_: Pool | None) -> bool:
    """The same rollout in two containers with 11 execs: fixtures, provider, eight commands, checker."""
    api = containers.api()
    digest = str(api.inspect_image(containers.IMAGE)["Id"])
    with containers.owned("container", "container", "volume") as (acting, checking, volume):
        options = containers.SandboxOptions(image=digest, lifetime_seconds=600)
        for name, for_checker in ((acting, False), (checking, True)):
            mounts = [containers.volume_mount(volume, HOME, read_only=for_checker, lifetime_seconds=600)]
            sleep = ["/bin/busybox", "sleep", "600"]
            containers.create(name, sleep, options, mounts=mounts, for_checker=for_checker)
            api.start(name)
            if not for_checker:
                archive = archive_of(tree_of(FIXTURES))
                sdk_exec(name, f"exec /bin/busybox tar -x -C {HOME}", stdin=archive)
                write = f"cat >{PROVIDER[0]}; chmod 755 {PROVIDER[0]}"
                sdk_exec(name, write, user="0:0", stdin=PROVIDER[1].encode())
                for command in COMMANDS:
                    sdk_exec(name, BARE.format(command))
        containers.remove(acting, "container")
        made = api.exec_create(checking, ["/usr/bin/dash", "-c", CHECKER], user="0:0")["Id"]
        api.exec_start(made)
        return int(api.exec_inspect(made)["ExitCode"]) == 0


def whole_rollouts(count: int, workers: int, rounds: int) -> Table:
    """Rollouts per second: start, fixtures, provider, eight commands, check, removal.

    Once with a pool like rollout.py's, including the time to fill it, and once without a pool.
    """
    ways = {"channel, pool": with_channel, "channel": with_channel, "sdk exec": with_sdk_exec}
    rates: dict[str, list[float]] = {way: [] for way in ways}
    with ThreadPoolExecutor(workers) as threads:
        for _ in range(rounds):
            for way, rollout in ways.items():
                began = time.perf_counter()
                with Pool(min(workers, os.cpu_count() or 1), most=count) if "pool" in way else nullcontext() as pool:
                    if not all(threads.map(rollout, [pool] * count)):
                        raise RuntimeError(f"{way}: a rollout was not verified")
                rates[way].append(count / (time.perf_counter() - began))
    table: Table = {"sdk exec does": "2 boots, 11 execs (fixtures, provider, 8 commands, checker), 2 removals by force"}
    for way, found in rates.items():
        over = [one / other for one, other in zip(found, rates["sdk exec"], strict=True)]
        per_second = ms(statistics.median(found))
        table[f"{way}, {workers} at once"] = {"per_second": per_second, "over_sdk_exec": ms(statistics.median(over))}
    return table


# --- many at once --------------------------------------------------------------------------------------------------


def parallel(count: int, rounds: int, steps: int = 20) -> Table:
    """The cost of `count` sandboxes while they idle, and while all at once run `steps` commands each."""
    found: dict[str, list[float]] = {}
    times: list[list[float]] = []

    def note(key: str, value: float) -> None:
        found.setdefault(key, []).append(value)

    for _ in range(rounds):
        free, busy = available_bytes(), host_seconds()
        with open_sessions(count) as opened:
            note("boot_cpu_seconds", host_seconds() - busy)
            time.sleep(2)  # until the machine is quiet again
            note("host_mib", (free - available_bytes()) / 2**20 / count)
            note("cgroup_mib", statistics.median(cgroup_bytes(one) for one in opened[:8]) / 2**20)
            busy = host_seconds()
            time.sleep(2)
            note("idle_cpu_ms_per_second", 1e3 * (host_seconds() - busy) / 2)
            began, busy = time.perf_counter(), host_seconds()
            with ThreadPoolExecutor(count) as threads:
                answers = list(threads.map(lambda one: time_steps(one, steps), opened))
            note("seconds", time.perf_counter() - began)
            note("cpu_seconds", host_seconds() - busy)
            note("errors", sum(errors for _, errors in answers))
            times.append([value for one, _ in answers for value in one])
    middle = {key: ms(statistics.median(values)) for key, values in found.items()}
    return {
        f"idle sandbox, of {count}": {key: middle[key] for key in ("cgroup_mib", "host_mib")},
        f"host, {count} sandboxes": {key: middle[key] for key in ("boot_cpu_seconds", "idle_cpu_ms_per_second")},
        f"{count} at once, {steps} commands each": {
            "p50_ms": ms(p50_of(times)),
            "p99_ms": ms(percentile(times, 99)),
            **{key: middle[key] for key in ("seconds", "cpu_seconds")},
            "commands": rounds * count * steps,
            "infrastructure_errors": int(sum(found["errors"])),
        },
    }


def time_steps(shell: Session, steps: int) -> tuple[list[float], int]:
    """Run commands; returns the milliseconds of each, and the number of missing or wrong answers."""
    times, errors = [], 0
    for n in range(steps):
        began = time.perf_counter()
        try:
            errors += shell.step(f"echo {n}").output != f"{n}\n"
        except SandboxError:
            errors += 1
        times.append(1e3 * (time.perf_counter() - began))
    return times, errors


def cgroup_bytes(shell: Session) -> int:
    """Bytes of memory of a sandbox, as counted by its cgroup."""
    return int(containers.api().stats(shell.container, stream=False, one_shot=True)["memory_stats"]["usage"])


def host_seconds() -> float:
    """CPU seconds of the whole host since its start."""
    user, nice, system, _, _, *interrupts = Path("/proc/stat").read_text().split("\n")[0].split()[1:8]
    return sum(map(int, (user, nice, system, *interrupts))) / os.sysconf("SC_CLK_TCK")


def available_bytes() -> int:
    """Bytes of memory that are available on the host."""
    rows = Path("/proc/meminfo").read_text().splitlines()
    return 1024 * next(int(row.split()[1]) for row in rows if row.startswith("MemAvailable"))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument(
        "--only", choices=["commands", "session", "rollouts", "parallel"], help="run one part (default: all)"
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each part (default: %(default)s)")
    parser.add_argument(
        "--sessions",
        type=int,
        nargs="+",
        default=[1, 16, 64],
        help="numbers of open sandboxes; parallel uses the largest (default: 1 16 64)",
    )
    parser.add_argument("--rollouts", type=int, default=32, help="rollouts per round and way (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=16, help="threads that run rollouts (default: %(default)s)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).parent / "sandbox.json",
        help="file of figures (default: bench/sandbox.json)",
    )
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
