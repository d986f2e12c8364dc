"""When Docker, a container, the host or a disk fails, the attempt is void, a rerun finishes and nothing is left."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import docker
import pytest

from pipeline.files import read_json, read_trajectories, write_record
from sandbox import containers
from sandbox.containers import IMAGE, api, identity
from schema import Trajectory
from tests.helpers import ROOT, program, tiny
from tests.helpers.hand_scenarios import BASE, hand
from tests.helpers.processes import heed_signals
from tests.helpers.rollouts import Scripted, clean_environment, command_line, made, play, script, write_scenarios

WAIT_SECONDS = 600.0
SOLUTION: list[str] = BASE["reference_solution"]
pytestmark = pytest.mark.docker
only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can start dockerd, mount, or steer the kernel")


def wait_until(condition: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for a condition; fail after WAIT_SECONDS, or when the process that should bring it about has ended."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None
        time.sleep(0.05)


def running(pid: int) -> bool:
    """True while a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


class OwnDocker:
    """A dockerd that belongs to these tests, with all its files below one directory."""

    def __init__(self, place: Path) -> None:
        names = {"SOCKET": "s", "PID_FILE": "pid", "DATA_ROOT": "data", "EXEC_ROOT": "exec", "LOG": "log"}
        self.place, self.environment = place, {key: str(place / value) for key, value in names.items()}
        self.url = f"unix://{place}/s"

    def start(self) -> None:
        environment = {key: value for key, value in os.environ.items() if key != "DOCKER_HOST"} | self.environment
        command = [str(ROOT / "runs" / "engine.sh"), "--bridge=none", "--iptables=false"]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=WAIT_SECONDS
        )
        assert done.returncode == 0, done.stderr

    def stop(self, how: signal.Signals) -> None:
        pid = int((self.place / "pid").read_text())
        os.kill(pid, how)
        wait_until(lambda: not running(pid))
        self.kill("containerd.toml")  # if it outlives a killed dockerd it keeps the next one from starting
        (self.place / "exec/containerd/containerd.pid").unlink(missing_ok=True)

    def kill(self, word: str) -> None:
        """Kill the processes of this dockerd that have the word in their command line."""
        for directory in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                line = (directory / "cmdline").read_bytes().decode(errors="replace")
                if f"{self.place}/" in line and word in line:
                    os.kill(int(directory.name), signal.SIGKILL)

    def client(self) -> Any:
        return docker.APIClient(base_url=self.url, timeout=WAIT_SECONDS)

    def sandboxes(self) -> list[str]:
        """The containers and volumes that exist.

        Docker 20.10 may go on listing a container as dead that it removed in its own start: no other call knows it.
        """
        client = self.client()
        volumes = client.volumes()["Volumes"] or []
        listed = [one["Id"] for one in client.containers(all=True) if one["State"] != "dead"]
        return listed + [one["Name"] for one in volumes]

    def clear(self) -> None:
        """End what a killed dockerd left behind: its processes and its mounts."""
        self.kill("")
        mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for mount in sorted((one for one in mounts if one.startswith(f"{self.place}/")), reverse=True):
            subprocess.run(["umount", "-l", mount], check=False)


@pytest.fixture(scope="module")
def own() -> Iterator[OwnDocker]:
    """One dockerd for this file, with the image; nothing of it is left afterwards."""
    place = Path(tempfile.mkdtemp(prefix="sekft-", dir="/tmp"))
    own = OwnDocker(place)
    try:
        own.start()
        own.client().load_image(b"".join(api().get_image(IMAGE)))
        yield own
    finally:
        with contextlib.suppress(OSError, ValueError):
            own.stop(signal.SIGTERM)
        own.clear()
        shutil.rmtree(place)


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scenarios(tmp_path_factory.mktemp("faults") / "scenarios", made(3))


def started_rollout(scenarios: Path, out: Path, *flags: str, **environment: str) -> subprocess.Popen[str]:
    """Start a rollout of the reference operator."""
    return subprocess.Popen(
        command_line(scenarios, out, "--operator", "reference", *flags), cwd=ROOT, text=True,
        env=clean_environment(**environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    )  # fmt: skip


def reaped(*names: str, **environment: str) -> None:
    """Run `reap`, which must have nothing to say; where names are given, nothing of these sandboxes.

    On the engine that other tests share, it may meet a sandbox of theirs that cannot be removed at this moment.
    """
    done = subprocess.run(
        [sys.executable, ROOT / "dashdocker.py", "reap"],
        env=clean_environment(**environment), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if not names or any(name in line for name in names)] == []


def written(out: Path) -> dict[str, int]:
    """The records on disk, each of them complete, with the time when it was written."""
    for path in out.glob("*-s?.json"):
        read_json(path)
    return {path.name: path.stat().st_mtime_ns for path in out.glob("*-s?.json")}


def require_finished(
    scenarios: Path, out: Path, kept: Sequence[Trajectory], rollouts: int, *flags: str, **environment: str
) -> None:
    """Rerun: what was kept stays unchanged, the rest is played, and every record exists once and is kept."""
    before = {trajectory.id: (out / f"{trajectory.id}.json").stat().st_mtime_ns for trajectory in kept}
    for _ in range(2):  # on a busy machine an attempt may be void for no fault of the test's
        code, summary, message = script(scenarios, out, "--operator", "reference", *flags, **environment)
        if code == 0:
            break
        errors = [one.error for one in read_trajectories(out, partial=True)]
        assert (code, len(errors)) == (1, rollouts), (message, errors)
        print(message, [error for error in errors if error])
    assert code == 0, message
    assert (summary["rollouts"], summary["kept"]) == (rollouts, rollouts)
    assert summary["resumed"] >= len(before)
    assert len(written(out)) == rollouts
    assert all((out / f"{name}.json").stat().st_mtime_ns == when for name, when in before.items())
    assert read_json(out / "manifest.json")["finished"]
    assert not list(out.glob(".*"))


# Docker


@only_root
def test_docker_restart_voids_rollouts_and_a_rerun_finishes(scenarios: Path, own: OwnDocker, tmp_path: Path) -> None:
    out, flags, here = tmp_path / "out", ["--samples", "7", "--workers", "16"], {"DOCKER_HOST": own.url}
    process = started_rollout(scenarios, out, *flags, **here)
    wait_until(lambda: written(out) and len(own.client().containers()) >= 8, process)
    own.stop(signal.SIGTERM)
    own.start()
    stdout, stderr = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 1, stderr
    assert "Traceback" not in stderr
    trajectories = read_trajectories(out, partial=True)
    assert len({trajectory.id for trajectory in trajectories}) == 21
    voided = [trajectory for trajectory in trajectories if trajectory.outcome == "sandbox_failed"]
    kept = [trajectory for trajectory in trajectories if trajectory.kept]
    assert voided
    assert len(voided) + len(kept) == 21, [(one.id, one.outcome, one.reasons) for one in trajectories]
    assert all(trajectory.error and not trajectory.verified for trajectory in voided)
    assert json.loads(stdout)["voided"] == len(voided)
    require_finished(scenarios, out, kept, 21, *flags, **here)
    reaped(**here)
    assert own.sandboxes() == []


OPEN_SESSIONS = """
import dashdocker, sys, threading
def use():
    try:
        with dashdocker.session([]) as shell:
            shell.step("true")
            print("on\\n", end="", flush=True)  # one write, because other threads print too
            shell.step("sleep 300", timeout_seconds=300)
    except dashdocker.SandboxError as error:
        print(f"SandboxError: {error}", flush=True)
threads = [threading.Thread(target=use) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


@only_root
def test_killed_docker_raises_and_reap_cleans_up(own: OwnDocker) -> None:
    environment = clean_environment(DOCKER_HOST=own.url)
    with subprocess.Popen(
        [sys.executable, "-c", OPEN_SESSIONS],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert [process.stdout.readline() for _ in range(3)] == ["on\n"] * 3
        own.stop(signal.SIGKILL)
        said, _ = process.communicate(timeout=WAIT_SECONDS)
    assert said.count("SandboxError: ") == 3
    own.start()
    reaped(DOCKER_HOST=own.url)
    assert own.sandboxes() == []


class Relay:
    """A socket in front of Docker that passes everything on, except the first answer to a request with `word`."""

    def __init__(self, place: Path, word: bytes | None = None) -> None:
        self.path, self.word = place / "relay", word
        self.attached: list[socket.socket] = []  # from the client to PID 1 of containers
        self.requests: list[str] = []
        self.kept = False
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                ends = self.listener.accept()[0], socket.socket(socket.AF_UNIX)
                ends[1].connect(str(docker_socket()))
                mute = threading.Event()
                for source, sink in (ends, ends[::-1]):
                    threading.Thread(
                        target=self._pass_on, args=(source, sink, mute, source is ends[0]), daemon=True
                    ).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, mute: threading.Event, asks: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if asks and b" HTTP/1.1" in data.split(b"\r\n")[0]:
                    self.requests.append(data.split(b"\r\n")[0].decode())
                    if "/attach?" in self.requests[-1]:
                        self.attached.append(source)
                    if self.word and self.word in data and not self.kept:
                        self.kept = True
                        mute.set()
                if asks or not mute.is_set():
                    sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def end_attached(self) -> None:
        """Tell the client that each PID 1 has ended. None has: what the client writes still reaches it."""
        for connection in self.attached:
            connection.shutdown(socket.SHUT_WR)


def docker_socket() -> Path:
    return Path(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://"))


def test_unanswered_wait_is_asked_again() -> None:
    """Docker 20.10 never answers a request to wait for a removal that comes in at the moment when the removal ends."""
    with tempfile.TemporaryDirectory(prefix="sekft-", dir="/tmp") as place:
        relay = Relay(Path(place), b"/wait?condition=removed")
        code = "import dashdocker\nwith dashdocker.session([]) as shell:\n    print(shell.step('echo on').output)"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=clean_environment(DOCKER_HOST=f"unix://{relay.path}"),
            capture_output=True, text=True, check=False, timeout=WAIT_SECONDS,
        )  # fmt: skip
        relay.listener.close()
    assert (done.returncode, done.stdout.strip()) == (0, "on"), done.stderr
    waits = [line.split("/")[3] for line in relay.requests if "/wait?condition=removed" in line]
    assert relay.kept
    assert len(waits) >= 2, relay.requests  # more where the removal takes longer than one wait
    assert len(set(waits)) == 1
    assert not [line for line in relay.requests if line.startswith("DELETE") and waits[0] in line], "removed by force"


USE_UP_MEMORY = """
import dashdocker
from sandbox.session import LockedOutError
with dashdocker.session([]) as shell:
    print(shell.container, flush=True)
    input()
    full = "head -c 60000000 /dev/zero >a; head -c 60000000 /dev/zero >/tmp/a; tail /dev/zero"
    try:
        shell.step(f"(sleep 4; {full}) & pkill -KILL -f ^/usr/libexec/")
        shell.step("true")
    except (dashdocker.SandboxError, LockedOutError) as error:
        print(f"{type(error).__name__}: {error}")
"""


@only_root
def test_lock_out_that_docker_reports_late_is_one() -> None:
    """A busy Docker shows the end of PID 1 on its connection seconds before it reports the container's."""
    with tempfile.TemporaryDirectory(prefix="sekft-", dir="/tmp") as place:
        relay = Relay(Path(place))
        with subprocess.Popen(
            [sys.executable, "-c", USE_UP_MEMORY], cwd=ROOT, env=clean_environment(DOCKER_HOST=f"unix://{relay.path}"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            assert process.stdout
            pid = api().inspect_container(process.stdout.readline().strip())["State"]["Pid"]
            Path(f"/proc/{pid}/oom_score_adj").write_text("1000")  # the kernel kills PID 1, and the container with it
            relay.end_attached()
            said, complaints = process.communicate("go\n", timeout=WAIT_SECONDS)
        relay.listener.close()
    assert said.startswith("LockedOutError: the container has ended: it used up its memory"), (said, complaints)


# The container


def own_container() -> str:
    """The id of the one container of this process."""
    (found,) = api().containers(filters={"label": f"sekft.run={containers.RUN}"})
    return str(found["Id"])


def remove_container() -> str:
    api().remove_container(own_container(), force=True)
    return "ls"


def remove_container_at_the_end() -> str:
    api().remove_container(own_container(), force=True)
    return "exit"


def kill_pid_1() -> str:
    api().kill(own_container(), "SIGKILL")
    return "ls"


@pytest.mark.parametrize("fault", [remove_container, remove_container_at_the_end, kill_pid_1])
def test_dead_container_voids_the_attempt(fault: Callable[[], str], tmp_path: Path) -> None:
    operator = Scripted("pwd", *SOLUTION, fault, "true", "exit")
    trajectory = play(operator, hand(), seed=0, max_steps=9, timeout_seconds=60)
    assert (trajectory.outcome, trajectory.verified, trajectory.kept) == ("sandbox_failed", False, False)
    assert trajectory.error
    assert len(trajectory.steps) == 1 + len(SOLUTION), "the fault was shown to the operator"
    again = play(Scripted(*SOLUTION, "exit"), hand(), seed=0, max_steps=9, timeout_seconds=60)
    assert again.kept
    assert write_record(tmp_path, trajectory) == write_record(tmp_path, again)
    assert not api().containers(all=True, filters={"label": f"sekft.run={containers.RUN}"})


def test_removed_containers_void_their_attempts(scenarios: Path, tmp_path: Path) -> None:
    out, flags = tmp_path / "out", ["--samples", "3", "--workers", "4"]
    process = started_rollout(scenarios, out, *flags)
    wait_until(lambda: len(containers_of(process)) >= 4, process)
    removed = containers_of(process)  # one per worker, and some of the pool's and the checkers'
    for one in removed:
        with contextlib.suppress(docker.errors.APIError):  # it ended by itself, or is being removed already
            api().remove_container(one, force=True)
    _, stderr = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 1, stderr
    played = read_trajectories(out, partial=True)
    kept = [trajectory for trajectory in played if trajectory.kept]
    assert len(played) == 9
    assert 1 <= len(played) - len(kept) <= len(removed)
    assert {trajectory.outcome for trajectory in played if not trajectory.kept} == {"sandbox_failed"}
    require_finished(scenarios, out, kept, 9, *flags)
    assert not sandboxes_of(process)


def test_oom_is_flagged_and_the_session_is_checked() -> None:
    operator = Scripted("tail /dev/zero", *SOLUTION, "exit")
    trajectory = play(operator, hand(), seed=0, max_steps=9, timeout_seconds=60)
    assert [step.oom for step in trajectory.steps] == [True] + [False] * len(SOLUTION)
    assert (trajectory.outcome, trajectory.kept) == ("exit", True)


# The host


def sandboxes_of(process: subprocess.Popen[str]) -> list[str]:
    """The ids of a process's containers and the names of its volumes."""
    found = api().containers(all=True, filters={"label": "sekft.run"})
    found += api().volumes(filters={"label": "sekft.run"})["Volumes"] or []
    return [
        str(one.get("Id", one.get("Name")))
        for one in found
        if one["Labels"].get("sekft.pid", "").split()[:1] == [str(process.pid)]
    ]


def containers_of(process: subprocess.Popen[str]) -> list[str]:
    found = api().containers(filters={"label": "sekft.run"})
    return [one["Id"] for one in found if one["Labels"].get("sekft.pid", "").split()[:1] == [str(process.pid)]]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_run_loses_and_doubles_nothing(how: signal.Signals, scenarios: Path, tmp_path: Path) -> None:
    out, flags = tmp_path / "out", ["--samples", "2", "--workers", "4"]
    process = started_rollout(scenarios, out, *flags)
    wait_until(lambda: written(out) and sandboxes_of(process), process)
    process.send_signal(how)
    process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    kept = [trajectory for trajectory in read_trajectories(out, partial=True) if trajectory.kept]
    assert len(kept) == len(written(out))
    if how == signal.SIGKILL:
        left = sandboxes_of(process)
        assert left
        reaped(*left)
    assert not sandboxes_of(process)
    require_finished(scenarios, out, kept, 6, *flags)


@only_root
def test_full_disk_ends_rollout_in_one_line(scenarios: Path, tmp_path: Path) -> None:
    disk, flags = tmp_path / "disk", ["--samples", "3"]
    disk.mkdir()
    out = disk / "out"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "none", disk], check=True)
    try:
        process = started_rollout(scenarios, out, *flags)
        stdout, stderr = process.communicate(timeout=WAIT_SECONDS)
        assert (process.returncode, stdout) == (1, ""), stderr
        assert stderr.splitlines()[-1].endswith(".json: No space left on device; make room and rerun the same command")
        assert "Traceback" not in stderr
        assert not sandboxes_of(process)
        kept = [trajectory for trajectory in read_trajectories(out, partial=True) if trajectory.kept]
        assert 0 < len(kept) == len(written(out)) < 9
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        require_finished(scenarios, out, kept, 9, *flags)
    finally:
        subprocess.run(["umount", disk], check=True)


@only_root
def test_full_disk_under_generate_loses_no_scenario(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [
        sys.executable,
        str(ROOT / "generate.py"),
        "--author",
        "template",
        "--n",
        "8",
        "--out",
        str(disk / "out"),
    ]
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "none", disk], check=True)
    try:
        full = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
        assert (full.returncode, full.stdout) == (1, ""), full.stderr
        assert full.stderr.splitlines()[-1].endswith(": No space left on device; make room and rerun the same command")
        before = {path.name: path.read_bytes() for path in (disk / "out").glob("*-????.json")}
        assert 0 < len(before) < 8
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        after = {path.name: path.read_bytes() for path in (disk / "out").glob("*-????.json")}
        assert len(after) == 8
        assert before.items() <= after.items()
    finally:
        subprocess.run(["umount", disk], check=True)


STAGES: dict[str, tuple[list[str], int]] = {
    "generate.py": (["--author", "template", "--n", "1", "--tasks", "copy_files", "--out", "out"], 0),
    "authoring.gate": (["missing.json"], 2),
    "rollout.py": (["--operator", "reference", "--scenarios", "missing", "--out", "out"], 2),
    "eval.py": (["--base", "tiny", "--scenarios", "good", "--out", "file/out"], 2),
    "dashdocker.py": (["self-check", "--only", "A01"], 0),
}


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_reaps_dead_owners_only(stage: str, tmp_path: Path) -> None:
    write_record(tmp_path / "good", hand())
    tiny.base(tmp_path / "tiny")
    (tmp_path / "file").write_text("")
    flags, code = STAGES[stage]
    deadline = {"sekft.deadline": str(time.time() + 600)}
    labels = {"dead": {**identity(), "sekft.pid": "4194304 1", **deadline}, "alive": {**identity(), **deadline}}
    names = {which: api().create_volume(labels=label)["Name"] for which, label in labels.items()}
    try:
        done = subprocess.run(
            [*program(stage), *flags],
            cwd=tmp_path, env=clean_environment(PYTHONPATH=str(ROOT)), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        left = {one["Name"] for one in api().volumes()["Volumes"]}
        assert (names["dead"] in left, names["alive"] in left) == (False, True)
    finally:
        for name in names.values():
            containers.remove(name, "volume")
