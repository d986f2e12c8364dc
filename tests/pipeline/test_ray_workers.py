"""Episodes on two Ray nodes with engines of their own give the records of threads; a lost node loses nothing."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.files import read_json, read_trajectories
from sandbox.containers import IMAGE
from tests.helpers import ROOT
from tests.helpers.processes import heed_signals
from tests.helpers.ray_cluster import FIRST_ENGINE, TwoNodes, client_of, two_nodes
from tests.helpers.rollouts import clean_environment, command_line, made, script, write_scenarios

pytestmark = [pytest.mark.docker, pytest.mark.slow]
FLAGS = ("--operator", "reference", "--workers", "4")


@pytest.fixture(scope="module")
def cluster() -> Iterator[TwoNodes]:
    with two_nodes(IMAGE) as made_here:
        yield made_here


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scenarios(tmp_path_factory.mktemp("ray") / "scenarios", made(5))


def comparable(out: Path) -> dict[str, Any]:
    """The records of a directory by id, without the durations."""
    records = {one.id: one.model_dump(mode="json") for one in read_trajectories(out)}
    for record in records.values():
        del record["usage"]["seconds"]
        for step in record["steps"]:
            del step["duration_seconds"]
    return records


def sandboxes_on(engine: str) -> list[str]:
    """The containers and volumes of sandboxes on an engine."""
    client = client_of(engine)
    found = client.api.containers(all=True, filters={"label": "sekft.run"})
    volumes = client.api.volumes(filters={"label": "sekft.run"})["Volumes"] or []
    return [one["Id"] for one in found] + [one["Name"] for one in volumes]


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


def test_a_node_with_another_image_is_refused_by_name(cluster: TwoNodes, few: Path, tmp_path: Path) -> None:
    second = client_of(cluster.second)
    image = second.images.get(IMAGE)
    first = client_of(FIRST_ENGINE)
    first.images.get(IMAGE).tag("sekft-other:ray-test")
    try:
        code, _, message = script(
            few, tmp_path / "out", *FLAGS, "--image", "sekft-other:ray-test", "--ray", cluster.address
        )
        assert code == 2
        assert message.splitlines()[-1].startswith("rollout.py: error: --ray: node ")
        assert "image 'sekft-other:ray-test' is not in the Docker engine at" in message.splitlines()[-1]
        left = first.api.containers(all=True, filters={"label": "sekft.run"})
        assert [one for one in left if one["Image"] == "sekft-other:ray-test"] == []  # of the node that had begun
    finally:
        first.images.remove("sekft-other:ray-test")
    assert image.id == second.images.get(IMAGE).id


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_no_sandbox_on_any_node(
    cluster: TwoNodes, few: Path, tmp_path: Path, number: int, code: int
) -> None:
    command = command_line(few, tmp_path / "out", *FLAGS, "--samples", "20", "--ray", cluster.address)
    with subprocess.Popen(
        command, cwd=ROOT, env=clean_environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        preexec_fn=heed_signals,
    ) as running:  # fmt: skip
        wait_for_records(tmp_path / "out", 3, running)
        assert sandboxes_on(cluster.second) != []
        running.send_signal(number)
        _, message = running.communicate(timeout=90)
    assert running.returncode == code, message
    assert message.splitlines()[-1] == "rollout.py: interrupted; what was finished is on disk, rerun to go on"
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
        reap_on(cluster.second)
        assert sandboxes_on(cluster.second) == []
    finally:
        cluster.add(cluster.second)
        cluster.cluster.wait_for_nodes()


def wait_for_records(out: Path, count: int, running: "subprocess.Popen[str]") -> None:
    """Wait until a run has written so many records."""
    deadline = time.monotonic() + 120
    while len(list(out.glob("*-s*.json"))) < count:
        assert running.poll() is None, running.communicate()[1]
        assert time.monotonic() < deadline, list(out.iterdir())
        time.sleep(0.05)
