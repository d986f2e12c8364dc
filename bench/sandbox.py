"""Measure the sandbox side by side with `docker exec`, the Docker SDK's exec and mini-swe-agent's environment.

    python bench/sandbox.py                    # everything, five rounds, ten minutes or so
    python bench/sandbox.py --only commands    # or rollouts, session, memory

Reads   nothing
Writes  the figures as JSON where --out says (default bench/sandbox.json), a table to stderr
Needs   a Docker engine with the image, an otherwise idle machine; `pip install -r bench/requirements.txt` for
        mini-swe-agent, which is left out where it is not installed

All of a round runs in one process on the same image with the same flags, the ways taken in turn, so that what slows the
machine down slows them all. A figure is the median over the rounds.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import dashdocker
import engine
import stage
from schema import HOME, Fixture, write_json

OPERATOR = "1000:1000"
FIXTURES = [
    Fixture(path=f"{HOME}/logs/part-{n}.txt", type="file", mode=0o644, text="one\ntwo\n" * 40) for n in range(8)
]
PROVIDER = ("/usr/local/bin/duty", "#!/bin/sh\necho 'count the lines below logs'\n")
COMMANDS = [
    "ls", "duty", "cd logs", "ls -l", "cat part-1.txt | head -n 3", "wc -l part-*.txt", "export N=8",
    "cat part-*.txt | wc -l > ../count.txt",
]  # fmt: skip
CHECKER = f'[ "$(cat {HOME}/count.txt)" = 640 ]'
# What carries the state from one bare exec to the next: the least that does the same work.
BARE = 'cd "$(cat /run/operator/cwd 2>/dev/null || echo ~)"; [ ! -f /run/operator/env ] || . /run/operator/env; {}\n'
BARE += "r=$?; pwd >/run/operator/cwd; export -p >/run/operator/env; exit $r"

Table = dict[str, Any]


def main(*, only: str | None, rounds: int, sessions: list[int], rollouts: int, workers: int, out: Path) -> int:
    """Run the parts that are asked for and write the table."""
    engine.preflight()
    engine.reap()
    parts: dict[str, Callable[[], Table]] = {
        "commands": lambda: commands(sessions, rounds),
        "session": lambda: warm_session(rounds),
        "rollouts": lambda: whole_rollouts(rollouts, workers, rounds),
        "memory": lambda: memory(max(sessions)),
    }
    chosen = {name: part for name, part in parts.items() if only in (None, name)}
    figures: Table = {"date": time.strftime("%Y-%m-%d"), "cores": os.cpu_count(), "rounds": rounds}
    figures["engine"] = str(engine.api().version()["Version"])
    for name, part in chosen.items():
        figures[name] = part()
        show(name, figures[name])
    write_json(out, figures)
    stage.report(figures)
    return stage.DONE


def show(name: str, table: Table) -> None:
    """One greppable line per row."""
    for key, value in table.items():
        print(f"{name:10} {key:24} {value}", file=sys.stderr, flush=True)


# --- the ways to run one command -----------------------------------------------------------------------------------


def sdk_exec(container: str, script: str, *, user: str = OPERATOR, stdin: bytes | None = None) -> bytes:
    """One command through the SDK, as its documentation does it: create, start, inspect."""
    api = engine.api()
    command = ["/usr/bin/dash", "-c", script]
    if stdin is not None:
        process = engine.Process(container, command, user=user, workdir="/", stdin=stdin)
        process.pump(lambda stream, data: False, time.monotonic() + 60)
        process.close()
        return b""
    made = api.exec_create(container, command, user=user)["Id"]
    output: bytes = api.exec_start(made)
    api.exec_inspect(made)
    return output


def cli_exec(container: str, script: str) -> bytes:
    """One command through the docker command."""
    command = ["docker", "exec", "--user", OPERATOR, container, "/usr/bin/dash", "-c", script]
    return subprocess.run(command, capture_output=True, check=False).stdout


@contextmanager
def mini_swe_agent() -> Iterator[Any]:
    """mini-swe-agent's Docker environment on the same image with the same flags; None where it is not installed."""
    os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")
    try:
        from minisweagent.environments.docker import DockerEnvironment
    except ImportError:
        yield None
        return
    flags = [
        "--rm", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only", "--cpus=1",
        f"--memory={engine.MEMORY_BYTES}", f"--memory-swap={engine.MEMORY_BYTES}", "--pids-limit=256",
        "--ipc=none", "--log-driver=none", f"--user={OPERATOR}", f"--tmpfs={HOME}", "--tmpfs=/tmp",
    ]  # fmt: skip
    environment = DockerEnvironment(
        image=engine.IMAGE, cwd="/", interpreter=["/usr/bin/dash", "-c"], run_args=flags, container_timeout="3600"
    )
    try:
        yield environment
    finally:
        subprocess.run(["docker", "rm", "-f", str(environment.container_id)], capture_output=True, check=False)


def ways_of(opened: list[dashdocker.Session], mini: Any) -> dict[str, Callable[[int], bool]]:
    """Call n of each way: `echo hi` in one of the open sandboxes, True when it answered."""

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
    """Milliseconds from asking for `echo hi` to its answer, by how many sandboxes are open."""
    table: Table = {}
    for count in sessions:
        with ExitStack() as stack:
            with ThreadPoolExecutor(4) as boots:
                opened = list(boots.map(lambda _: stack.enter_context(dashdocker.session([])), range(count)))
            mini = stack.enter_context(mini_swe_agent())
            ways = ways_of(opened, mini)
            times: dict[str, list[list[float]]] = {way: [] for way in ways}
            for turn in range(-1, rounds):  # the first warms up
                samples: dict[str, list[float]] = {way: [] for way in ways}
                for n in range(each):
                    for way, call in ways.items():
                        began = time.perf_counter()
                        if call((turn + 1) * each + n) is not True:
                            raise RuntimeError(f"{way} gave no answer")
                        samples[way].append(1e3 * (time.perf_counter() - began))
                for way in ways if turn >= 0 else ():
                    times[way].append(samples[way])
        p50 = {way: statistics.median(statistics.median(one) for one in found) for way, found in times.items()}
        for way, found in times.items():
            faster = p50["sdk exec"] / p50[way]
            table[f"{way}, {count} open"] = {
                "p50_ms": ms(p50[way]),
                "p99_ms": ms(p99_of(found)),
                "sdk_exec_over_this": ms(faster),
            }
    return table


def p99_of(rounds: list[list[float]]) -> float:
    """The 99th percentile of all rounds together: one alone has too few."""
    every = sorted(value for one in rounds for value in one)
    return every[int(0.99 * len(every))]


def ms(value: float) -> float:
    """Two decimals."""
    return round(value, 2)


# --- sessions and whole rollouts -----------------------------------------------------------------------------------


def warm_session(rounds: int, each: int = 5) -> Table:
    """Milliseconds from asking for a session with fixtures and a provider to the end of its first command."""

    def once(ready: Callable[[], bool]) -> float:
        while not ready():
            time.sleep(0.02)
        time.sleep(0.2)  # what filled the pool has settled
        began = time.perf_counter()
        with dashdocker.session(FIXTURES, provider=PROVIDER) as shell:
            if "count the lines" not in shell.step("duty").output:
                raise RuntimeError("the provider did not answer")
            return 1e3 * (time.perf_counter() - began)

    cold = [once(lambda: True) for _ in range(rounds * each)]
    with dashdocker.Pool(os.cpu_count() or 1) as pool:
        warm = [once(pool.full) for _ in range(rounds * each)]
    return {
        name: {"p50_ms": ms(statistics.median(found)), "p90_ms": ms(sorted(found)[int(0.9 * len(found))])}
        for name, found in (("from a warm pool", warm), ("booted on demand", cold))
    }


def ours(_: int) -> bool:
    """A rollout as rollout.py does it."""
    with dashdocker.session(FIXTURES, provider=PROVIDER) as shell:
        for command in COMMANDS:
            shell.step(command)
        return shell.verify(CHECKER).passed is True


def with_sdk_exec(_: int) -> bool:
    """The same with an exec for each thing: fixtures, provider, eight commands, checker: eleven and two boots."""
    api = engine.api()
    digest = str(api.inspect_image(engine.IMAGE)["Id"])
    with engine.owned("container", "container", "volume") as (acting, clean, volume):
        for name, checks in ((acting, False), (clean, True)):
            mounts = [engine.volume_mount(volume, HOME, read_only=checks, lifetime=600)]
            sleep = ["/bin/busybox", "sleep", "600"]
            engine.create(name, sleep, image=digest, mounts=mounts, lifetime=600, checks=checks)
            api.start(name)
            if not checks:
                archive = dashdocker.archive_of(dashdocker.tree_of(FIXTURES))
                sdk_exec(name, f"exec /bin/busybox tar -x -C {HOME}", stdin=archive)
                lay = f"cat >{PROVIDER[0]}; chmod 755 {PROVIDER[0]}"
                sdk_exec(name, lay, user="0:0", stdin=PROVIDER[1].encode())
                for command in COMMANDS:
                    sdk_exec(name, BARE.format(command))
        engine.remove(acting, "container")
        made = api.exec_create(clean, ["/usr/bin/dash", "-c", CHECKER], user="0:0")["Id"]
        api.exec_start(made)
        return int(api.exec_inspect(made)["ExitCode"]) == 0


def whole_rollouts(count: int, workers: int, rounds: int) -> Table:
    """Rollouts per second: boot, fixtures, provider, eight commands, clean verification, removal."""
    rates: dict[str, list[float]] = {"channel": [], "sdk exec": []}
    with ThreadPoolExecutor(workers) as threads:
        for _ in range(rounds):
            for way, rollout in (("channel", ours), ("sdk exec", with_sdk_exec)):
                began = time.perf_counter()
                if not all(threads.map(rollout, range(count))):
                    raise RuntimeError(f"{way}: a rollout was not verified")
                rates[way].append(count / (time.perf_counter() - began))
    per_second = {way: statistics.median(found) for way, found in rates.items()}
    ratio = statistics.median(a / b for a, b in zip(rates["channel"], rates["sdk exec"], strict=True))
    return {
        "sdk exec does": "2 boots, 11 execs (fixtures, provider, 8 commands, checker), 2 removals by force",
        f"rollouts/s, {workers} workers": {way: ms(rate) for way, rate in per_second.items()},
        "channel over sdk exec": ms(ratio),
    }


# --- memory --------------------------------------------------------------------------------------------------------


def memory(count: int, steps: int = 20) -> Table:
    """What idle sandboxes cost, and whether `count` of them at once all answer `steps` commands."""
    before = available_bytes()
    with ExitStack() as stack:
        with ThreadPoolExecutor(8) as boots:
            opened = list(boots.map(lambda _: stack.enter_context(dashdocker.session([])), range(count)))
        time.sleep(2)  # what booted them has settled
        host = (before - available_bytes()) / count
        first = [used(one) for one in opened[:8]]
        time.sleep(2)
        idle = [1e-6 * (used(one)[1] - cpu) / 2 for one, (_, cpu) in zip(opened[:8], first, strict=True)]

        def steps_of(shell: dashdocker.Session) -> tuple[list[float], int]:
            times, errors = [], 0
            for n in range(steps):
                began = time.perf_counter()
                try:
                    errors += shell.step(f"echo {n}").output != f"{n}\n"
                except dashdocker.SandboxError:
                    errors += 1
                times.append(1e3 * (time.perf_counter() - began))
            return times, errors

        with ThreadPoolExecutor(count) as threads:
            found = list(threads.map(steps_of, opened))
    times = [one for one, _ in found]
    p50 = statistics.median(value for one in times for value in one)
    return {
        "idle sandbox": {
            "cgroup_mib": ms(statistics.median(memory for memory, _ in first) / 2**20),
            "cpu_ms_per_second": ms(statistics.median(idle)),
        },
        f"host, each of {count} open": {"mib": ms(host / 2**20)},
        f"{count} at once, {steps} commands each": {
            "p50_ms": ms(p50),
            "p99_ms": ms(p99_of(times)),
            "infrastructure_errors": sum(errors for _, errors in found),
        },
    }


def used(shell: dashdocker.Session) -> tuple[int, int]:
    """Bytes of memory and nanoseconds of processor time that a sandbox uses and has used."""
    found = engine.api().stats(shell.container, stream=False, one_shot=True)
    return int(found["memory_stats"]["usage"]), int(found["cpu_stats"]["cpu_usage"]["total_usage"])


def available_bytes() -> int:
    """Memory that the host could still give."""
    rows = Path("/proc/meminfo").read_text().splitlines()
    return 1024 * next(int(row.split()[1]) for row in rows if row.startswith("MemAvailable"))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--only", choices=["commands", "session", "rollouts", "memory"], help="one part (default all)")
    parser.add_argument("--rounds", type=int, default=5, help="of each part (default %(default)s)")
    parser.add_argument(
        "--sessions", type=int, nargs="+", default=[1, 16, 64], help="open at once; memory: the most (default 1 16 64)"
    )
    parser.add_argument("--rollouts", type=int, default=32, help="per round and way (default %(default)s)")
    parser.add_argument("--workers", type=int, default=16, help="that roll out (default %(default)s)")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "sandbox.json", help="(default %(default)s)"
    )
    return parser


if __name__ == "__main__":
    stage.run(main, parser())
