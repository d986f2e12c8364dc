"""Work on two Ray nodes with engines of their own gives the records of threads; a lost node loses nothing."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import rl
import rollout
from pipeline import stage
from operators.episode import EpisodeLimits
from operators.evaluation import EvalSettings, add_flags as eval_flags, nodes_of
from operators.ray_episodes import ADAPTER_FILES, EpisodeNodePlan, RayRun
from operators.reference import ReferenceOperator
from pipeline.files import read_json, read_scenarios, write_json
from pipeline.ray_workers import Nodes
from pipeline.workers import WorkerPool
from sandbox.containers import IMAGE, require_image
from schema import BadInputError
from tests.helpers import ROOT, policy, tiny
from tests.helpers.processes import heed_signals
from tests.helpers.ray_cluster import FIRST_ENGINE, LoggedHold, TwoNodes, client_of, head, two_nodes
from tests.helpers.rollouts import clean_environment, command_line, comparable, made, script, write_scenarios
from training.rl_nodes import policy_nodes
from training.rl_settings import RlSettings

pytestmark = [pytest.mark.docker, pytest.mark.slow]
FLAGS = ("--operator", "reference", "--workers", "4")


@pytest.fixture(scope="module")
def cluster() -> Iterator[TwoNodes]:
    with two_nodes(IMAGE) as made_here:
        yield made_here


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scenarios(tmp_path_factory.mktemp("ray") / "scenarios", made(5))


def containers_on(engine: str) -> list[str]:
    """The containers of sandboxes on an engine."""
    return [one["Id"] for one in client_of(engine).api.containers(all=True, filters={"label": "sekft.run"})]


def sandboxes_on(engine: str) -> list[str]:
    """The containers and volumes of sandboxes on an engine."""
    volumes = client_of(engine).api.volumes(filters={"label": "sekft.run"})["Volumes"] or []
    return containers_on(engine) + [one["Name"] for one in volumes]


def python(name: str, *flags: str) -> "subprocess.CompletedProcess[str]":
    """A script with one thread for tensors, so that the order of sums is always the same."""
    environment = clean_environment(OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="")
    command = [sys.executable, name, *flags]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


def reap_on(engine: str) -> None:
    """What a rerun on that node does first."""
    environment = clean_environment(DOCKER_HOST=engine)
    subprocess.run([sys.executable, "dashdocker.py", "reap"], cwd=ROOT, env=environment, check=True, timeout=120)


def test_records_are_those_of_threads_and_either_resumes_the_other(
    cluster: TwoNodes, few: Path, tmp_path: Path
) -> None:
    assert script(few, tmp_path / "threads", *FLAGS)[0] == 0
    code, summary, message = script(few, tmp_path / "ray", *FLAGS, "--ray", cluster.address)
    assert code == 0, message
    assert (summary["kept"], summary["resumed"]) == (5, 0)
    assert comparable(tmp_path / "ray") == comparable(tmp_path / "threads")
    assert "ray" not in read_json(tmp_path / "ray" / "manifest.json")["flags"]
    code, summary, message = script(few, tmp_path / "ray", *FLAGS, "--samples", "2")
    assert (code, summary["kept"], summary["resumed"]) == (0, 10, 5), message
    code, summary, message = script(few, tmp_path / "threads", *FLAGS, "--samples", "2", "--ray", cluster.address)
    assert (code, summary["kept"], summary["resumed"]) == (0, 10, 5), message
    assert comparable(tmp_path / "ray") == comparable(tmp_path / "threads")
    assert sandboxes_on(cluster.second) == []


def test_generate_admits_the_scenarios_of_threads(cluster: TwoNodes, tmp_path: Path) -> None:
    flags = ("--n", "3", "--seed", "5", "--author", "template", "--workers", "2")
    one = python("generate.py", "--out", str(tmp_path / "threads"), *flags)
    other = python("generate.py", "--out", str(tmp_path / "ray"), *flags, "--ray", cluster.address)
    assert (one.returncode, other.returncode) == (0, 0), one.stderr + other.stderr
    assert read_scenarios(tmp_path / "threads") == read_scenarios(tmp_path / "ray")
    assert len(read_scenarios(tmp_path / "ray")) == 3
    assert sandboxes_on(cluster.second) == []


def test_eval_samples_the_tokens_of_threads(cluster: TwoNodes, few: Path, tmp_path: Path) -> None:
    tiny.base(tmp_path / "base")
    flags = ["--base", str(tmp_path / "base"), "--scenarios", str(few), "--n", "2", "--workers", "2"]
    flags += ["--max-steps", "2", "--max-new-tokens", "8", "--temperature", "1", "--dtype", "fp32"]
    one = python("eval.py", "--out", str(tmp_path / "threads"), *flags)
    other = python("eval.py", "--out", str(tmp_path / "ray"), *flags, "--ray", cluster.address)
    assert (one.returncode, other.returncode) == (0, 0), one.stderr + other.stderr
    found, expected = (comparable(tmp_path / way / "base") for way in ("ray", "threads"))
    for id_, record in found.items():
        assert record["token_ids"]
        # Which sessions share a batch is a matter of time, and moves the last digits.
        assert record.pop("log_probs") == pytest.approx(expected[id_].pop("log_probs"), abs=1e-4)
    assert found == expected


def test_the_bare_base_plays_without_the_adapter_on_a_node_too(cluster: TwoNodes, few: Path, tmp_path: Path) -> None:
    base = tiny.base(tmp_path / "base")
    start = policy.undecided_adapter(base, tmp_path / "sft", policy.write_worlds(tmp_path / "worlds"))
    flags = ["--base", str(base), "--scenarios", str(few), "--n", "2", "--max-steps", "2", "--max-new-tokens", "8"]
    flags += ["--dtype", "fp32"]  # in bf16, which some CPUs choose, the batch would change the tokens
    alone = python("eval.py", "--out", str(tmp_path / "alone"), *flags)
    both = ["--adapter", str(start), "--compare-base", "--ray", cluster.address]
    beside = python("eval.py", "--out", str(tmp_path / "beside"), *flags, *both)
    assert (alone.returncode, beside.returncode) == (0, 0), alone.stderr + beside.stderr
    typed = [[one["token_ids"] for one in comparable(tmp_path / way).values()] for way in ("alone/base", "beside/base")]
    assert typed[0] == typed[1]
    assert typed[0] != [one["token_ids"] for one in comparable(tmp_path / "beside" / "adapter").values()]


def test_every_node_without_a_device_begins_once(cluster: TwoNodes, tmp_path: Path) -> None:
    begun, told = begun_and_told(cluster, tmp_path / "log")
    assert len(begun) == 2
    assert {process for process, _, _ in told} == set(begun)
    assert sorted((number, loads) for _, number, loads in told) == [(number, 1) for number in range(12)]


def test_every_device_of_a_node_begins_once(cluster: TwoNodes, tmp_path: Path) -> None:
    node = cluster.add_devices(2)
    try:
        cluster.cluster.wait_for_nodes()
        begun, _ = begun_and_told(cluster, tmp_path / "log")
        assert sorted(begun.values()) == ["0", "1"]
    finally:
        cluster.cluster.remove_node(node)


def test_what_this_process_holds_serves_its_own_node(tmp_path: Path) -> None:
    begin, own = (partial(LoggedHold, tmp_path / name) for name in ("actors", "here"))
    with head(1) as cluster:
        with Nodes(cluster.address, workers=2, begin=begin, own=own, cancelled=threading.Event()) as nodes:
            assert nodes.call(LoggedHold.work, 1) == (os.getpid(), 1, 0)
        cluster.add_node(num_cpus=1, include_dashboard=False, object_store_memory=100 << 20)
        cluster.wait_for_nodes()
        with Nodes(cluster.address, workers=2, begin=begin, own=own, cancelled=threading.Event()) as nodes:
            nodes.everywhere(LoggedHold.load)
            with WorkerPool(2, cancelled=nodes.cancelled, release=nodes.release) as pool:
                told = [pool.submit(nodes.call, LoggedHold.work, number) for number in range(20)]
                processes = {one.result(timeout=60)[0] for one in told}
            assert {one.result()[2] for one in told} == {1}
    (there,) = {json.loads(line)[0] for line in (tmp_path / "actors").read_text().splitlines()}
    assert processes == {os.getpid(), there}
    assert len((tmp_path / "here").read_text().splitlines()) == 2


def begun_and_told(cluster: TwoNodes, log: Path) -> tuple[dict[int, str], list[tuple[int, int, int]]]:
    """The devices of the processes that began, and what twelve tasks returned after `load` was called everywhere."""
    with Nodes(
        cluster.address, workers=4, begin=partial(LoggedHold, log), cancelled=threading.Event(), needs_device=True
    ) as nodes:
        nodes.everywhere(LoggedHold.load)
        with WorkerPool(4, cancelled=nodes.cancelled, release=nodes.release) as pool:
            futures = [pool.submit(nodes.call, LoggedHold.work, number) for number in range(12)]
            told = [future.result(timeout=60) for future in futures]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    begun = {process: device for process, device, _ in lines}
    assert len(begun) == len(lines)
    assert {threads for _, _, threads in lines} == {os.environ.get("OMP_NUM_THREADS", "")}  # not the 1 that ray sets
    return begun, told


@pytest.mark.parametrize("there", [False, True])
def test_a_node_without_the_image_or_with_another_is_refused_by_name(
    cluster: TwoNodes, few: Path, tmp_path: Path, there: bool
) -> None:
    first, second = client_of(FIRST_ENGINE), client_of(cluster.second)
    expected = first.images.get(IMAGE)
    expected.tag("sekft-other:ray-test")
    message = f"image 'sekft-other:ray-test' is not in the Docker engine at {cluster.second}"
    if there:
        container = second.containers.create(IMAGE)
        other = container.commit(repository="sekft-other", tag="ray-test")
        container.remove()
        message = f"image 'sekft-other:ray-test' is {other.id}, this run is on {expected.id}"
    try:
        code, _, told = script(
            few, tmp_path / "out", *FLAGS, "--image", "sekft-other:ray-test", "--ray", cluster.address
        )
        assert code == 2
        assert told.splitlines()[-1].startswith("rollout.py: error: --ray: node ")
        assert message in told.splitlines()[-1]
        left = first.api.containers(all=True, filters={"label": "sekft.run"})
        assert [one for one in left if one["Image"] == "sekft-other:ray-test"] == []  # of the node that had begun
    finally:
        first.images.remove("sekft-other:ray-test")
        if there:
            second.images.remove("sekft-other:ray-test")


def test_a_node_with_another_base_or_adapter_is_refused(tmp_path: Path) -> None:
    base, adapter = tiny.base(tmp_path / "base"), tmp_path / "adapter"
    for name in ADAPTER_FILES:
        write_json(adapter / name, {"content of": name})
    run = RayRun("local", require_image(IMAGE), lambda _: ReferenceOperator, str(base), adapter)
    plan = EpisodeNodePlan(run, 0, EpisodeLimits(1, 1.0), 1, IMAGE, run.hashes())
    plan().release()
    for name in ADAPTER_FILES:
        content = (adapter / name).read_bytes()
        for change in (lambda path: path.write_text("other"), Path.unlink):
            change(adapter / name)
            with pytest.raises(BadInputError, match=r"--adapter .*: missing or other content"):
                plan()
        (adapter / name).write_bytes(content)
    (base / "config.json").write_text("{}")
    with pytest.raises(BadInputError, match=r"--base .*: missing or other content"):
        plan()


def test_every_script_has_its_nodes_compare_the_adapter(tmp_path: Path) -> None:
    base, adapter = tiny.base(tmp_path / "base"), tmp_path / "adapter"
    flags = ["--base", str(base), "--adapter", str(adapter), "--scenarios", "s", "--out", "o", "--ray", "local"]
    rolled = rollout.RolloutSettings(**vars(rollout.parser().parse_args([*flags, "--operator", "local"])))
    evaluated = EvalSettings(**vars(eval_flags(stage.command_line("")).parse_args(flags)))
    trained = RlSettings(**vars(rl.parser().parse_args(flags)))
    nodes = policy_nodes(trained, "image", ReferenceOperator, dtype="float32", cancelled=threading.Event())
    assert isinstance(nodes.begin, EpisodeNodePlan)
    for run in (rollout.ray_run(rolled, "image"), nodes_of(evaluated, "base", "image"), nodes.begin.run):
        assert run is not None
        assert (run.base, run.adapter) == (str(base), adapter)
    assert nodes.begin.hashes == nodes.begin.run.hashes()


def test_a_local_cluster_leaves_no_process_and_no_directory(few: Path, tmp_path: Path) -> None:
    before = traces_of_local()
    code, summary, message = script(few, tmp_path / "out", *FLAGS, "--ray", "local")
    assert (code, summary.get("kept")) == (0, 5), message
    wait_until(lambda: traces_of_local() <= before)


def traces_of_local() -> set[str]:
    """The directories of clusters that `--ray local` started, and the processes that name one."""
    found = {str(path) for path in Path("/tmp").glob("sekft-ray-*")}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found |= {path.parent.name} if b"/tmp/sekft-ray-" in path.read_bytes() else set()
    return found


@pytest.mark.parametrize(
    ("name", "number", "code"),
    [
        ("rollout.py", signal.SIGINT, 130),
        ("rollout.py", signal.SIGTERM, 143),
        ("generate.py", signal.SIGINT, 130),
        ("eval.py", signal.SIGTERM, 143),
    ],
)
def test_an_interrupt_leaves_no_sandbox_on_any_node(
    cluster: TwoNodes, few: Path, tmp_path: Path, name: str, number: int, code: int
) -> None:
    out, base = tmp_path / "out", tmp_path / "base"
    flags, records = {
        "rollout.py": (["--scenarios", few, *FLAGS, "--samples", 20], out.glob),
        "generate.py": (["--n", 60, "--author", "template", "--workers", 4], out.glob),
        "eval.py": (["--base", base, "--scenarios", few, "--n", 5, "--workers", 2], (out / "base").glob),
    }[name]
    if name == "eval.py":
        tiny.base(base)
    command = [sys.executable, name, "--out", str(out), *map(str, flags), "--ray", cluster.address]
    with subprocess.Popen(
        command, cwd=ROOT, env=clean_environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        preexec_fn=heed_signals,
    ) as running:  # fmt: skip
        wait_until(lambda: len(list(records("*-*.json"))) > 0 or running.poll() is not None)
        assert running.poll() is None, running.communicate()[1]
        assert sandboxes_on(cluster.second) != []
        running.send_signal(number)
        _, message = running.communicate(timeout=90)
    assert running.returncode == code, message
    assert message.splitlines()[-1] == f"{name}: interrupted; finished results are on disk, rerun the same command"
    assert "Traceback" not in message
    assert sandboxes_on(cluster.second) == []


def test_without_ray_the_flag_is_one_line(few: Path, tmp_path: Path) -> None:
    program = "import runpy, sys; sys.modules['ray'] = None; runpy.run_path(sys.argv[0], run_name='__main__')"
    rollout = ["rollout.py", "--scenarios", str(few), "--out", str(tmp_path / "out"), *FLAGS, "--ray", "local"]
    program = f"import sys; sys.argv = {rollout!r}; {program}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 2
    assert done.stderr == (
        "rollout.py: error: --ray: the package ray is not installed; run `pip install -r requirements-ray.txt`\n"
    )


def test_a_killed_node_loses_and_repeats_nothing(cluster: TwoNodes, few: Path, tmp_path: Path) -> None:
    """40 rollouts; the second node is killed in their middle."""
    out = tmp_path / "out"
    command = command_line(few, out, *FLAGS, "--samples", "8", "--ray", cluster.address)
    with subprocess.Popen(
        command, cwd=ROOT, env=clean_environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        wait_for_records(out, 8, running)
        assert sandboxes_on(cluster.second) != []
        cluster.kill(cluster.nodes[1])
        printed, message = running.communicate(timeout=300)
    try:
        assert running.returncode == 0, message
        summary = json.loads(printed)
        assert (summary["rollouts"], summary["kept"], summary["voided"], summary["unplayed"]) == (40, 40, 0, 0)
        assert "is lost; its tasks go to the other 1" in message
        names = [line.split()[2] for line in message.splitlines() if line.startswith("rollout ")]
        assert len(names) == len(set(names)) == 40
        wait_until(lambda: left_after_reaping(cluster.second) == [])  # the node's processes may still be ending
        assert script(few, tmp_path / "threads", *FLAGS, "--samples", "8")[0] == 0
        assert comparable(out) == comparable(tmp_path / "threads")
    finally:
        cluster.add(cluster.second)
        cluster.cluster.wait_for_nodes()


def left_after_reaping(host: str) -> list[str]:
    """What an engine still has of sandboxes after the reaping that the next run begins with."""
    reap_on(host)
    return sandboxes_on(host)


def wait_for_records(out: Path, count: int, running: "subprocess.Popen[str]") -> None:
    """Wait until a run has written so many records."""
    deadline = time.monotonic() + 120
    while len(list(out.glob("*-s*.json"))) < count:
        assert running.poll() is None, running.communicate()[1]
        assert time.monotonic() < deadline, list(out.iterdir())
        time.sleep(0.05)


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + 240
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)
