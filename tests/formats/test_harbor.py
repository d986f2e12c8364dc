"""A scenario goes through a Harbor task and comes back equal; Harbor's own models read the task."""

import io
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from authoring.templates import author
from examples.git_repositories.author import TAXONOMY, write_drafts
from formats.harbor import file_bytes, read_task, task_config, task_directories, task_files, write_task
from formats.unfit import UnfitError
from generate import sample_combinations
from sandbox.containers import OPERATOR_UID
from schema import Scenario
from tests.helpers.hand_scenarios import hand
from tests.helpers.peers import HARBOR, peer
from tests.helpers.rollouts import made
from tests.helpers.worlds import WORLD

VALIDATE = """
from pathlib import Path
from harbor.models.task.config import TaskConfig
from harbor.models.task.task import Task
found = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    config = TaskConfig.model_validate_toml((path / "task.toml").read_text())
    again = TaskConfig.model_validate_toml(config.model_dump_toml())
    found[path.name] = [Task.is_valid_dir(path), config.task.name, again == config, Task(path).instruction]
print(json.dumps(found))
"""


def awkward() -> Scenario:
    """A scenario with every mode, type and byte in its world, and texts that other formats could read as theirs."""
    return hand(
        id="awkward-1",
        fixtures=[*WORLD, *hand().fixtures],
        announcement={"channel": "env", "place": "TODAY", "text": "ask ${duty} or $(duty) \"now\" 'then' \\ ]]>\n'''"},
        announcement_channel="env",
        checker="# \u202e \x7f\r\n" + hand().checker + "\n\n",
        reference_solution=["cat <<'E' > x\n'''\nE\n", "true # \x01\t"],
    )


def test_every_archetype_comes_back_equal(tmp_path: Path) -> None:
    for number, combination in enumerate(sample_combinations(90, 3)):
        scenario = author(combination, seed=f"3/{number}", id=f"{combination.task}-{number}")
        write_task(tmp_path / scenario.id, scenario)
        assert read_task(tmp_path / scenario.id) == scenario
    tasks = list(task_directories(tmp_path))
    assert len(tasks) == 90
    assert list(task_directories(tasks[0])) == [tasks[0]]


def test_scenarios_of_an_own_taxonomy_come_back_equal(tmp_path: Path) -> None:
    drafts = write_drafts(8, 1)
    assert {one.task for one in drafts} == {one.name for one in TAXONOMY.archetypes}
    for scenario in drafts:
        write_task(tmp_path / scenario.id, scenario)
        assert read_task(tmp_path / scenario.id) == scenario
        (kind,) = [one for one in TAXONOMY.archetypes if one.name == scenario.task]
        told = task_config(scenario)["task"]
        assert kind.summary in told["description"]
        assert kind.family in told["keywords"]


def on_image(name: Any) -> Scenario:
    """A scenario that passed the gate on an image of your own."""
    return hand(provenance={"author": "hand", "request_hash": "0" * 64, "gates": {"runs": 3, "image": name}})


def test_a_task_is_on_the_image_of_its_scenario(tmp_path: Path) -> None:
    scenario = on_image("my-tools:1")
    write_task(tmp_path / "task", scenario, ("git", "jq"))
    assert (tmp_path / "task" / "environment" / "Dockerfile").read_text().startswith("FROM my-tools:1\nUSER root\n")
    assert "Beside the busybox userland there are: git, jq." in (tmp_path / "task" / "instruction.md").read_text()
    assert read_task(tmp_path / "task") == scenario
    (tmp_path / "task" / "tests" / "checker.sh").write_text("exit 1\n")
    assert read_task(tmp_path / "task").provenance.gates == {"image": "my-tools:1"}  # its commands are needed still


@pytest.mark.parametrize("name", ["x\nRUN rm -rf /", "", 3, None, "a b", "-x"])
def test_what_is_no_name_of_an_image_is_refused(name: Any, tmp_path: Path) -> None:
    with pytest.raises(UnfitError) as refused:
        write_task(tmp_path / "task", on_image(name))
    assert refused.value.rule == "image"
    assert not (tmp_path / "task").exists()


def test_awkward_worlds_and_texts_come_back_equal(tmp_path: Path) -> None:
    for scenario in [awkward(), hand(), hand(blocked=True)]:
        write_task(tmp_path / scenario.id, scenario)
        assert read_task(tmp_path / scenario.id) == scenario
        assert task_files(scenario) == task_files(Scenario.model_validate(json.loads(scenario.model_dump_json())))


def test_the_instruction_is_the_login_and_names_no_task() -> None:
    for scenario in made():
        files = {path: content for path, (content, _) in task_files(scenario).items()}
        instruction = files["instruction.md"].decode()
        assert instruction.endswith("shell login: operator\n") or scenario.announcement.text in instruction
        assert not any(directive in instruction for directive in scenario.directives)
        # What the agent's container is made of has neither the checker nor the solution.
        seen = b"".join(content for path, content in files.items() if path.startswith("environment/"))
        assert scenario.checker.encode() not in seen
        assert not any(len(one) > 30 and one.encode() in seen for one in scenario.reference_solution)


def test_harbor_itself_accepts_the_tasks(tmp_path: Path) -> None:
    scenarios = [*made(), awkward()]
    for scenario in scenarios:
        write_task(tmp_path / scenario.id, scenario)
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "task.toml").write_text('[task]\nname = "sekft/planted"\n')
    found = peer(HARBOR + VALIDATE.replace("Task(path).instruction", "''"), tmp_path)
    assert found.pop("planted")[0] is False  # a directory without instruction and verifier
    assert found == {one.id: [True, f"sekft/{one.id}", True, ""] for one in scenarios}


def test_an_edited_task_loses_what_the_gate_found(tmp_path: Path) -> None:
    scenario = hand(provenance={"author": "hand", "request_hash": "0" * 64, "gates": {"runs": 3}})
    write_task(tmp_path / "task", scenario)
    assert read_task(tmp_path / "task").provenance.gates == {"runs": 3}
    (tmp_path / "task" / "tests" / "checker.sh").write_text("exit 1\n")
    edited = read_task(tmp_path / "task")
    assert (edited.checker, edited.provenance.gates) == ("exit 1\n", {})
    assert edited.content_hash == edited.compute_hash() != scenario.content_hash


def _world(task: Path, name: str, content: bytes, **info: Any) -> None:
    """Write a world of one entry."""
    with tarfile.open(task / "environment" / "world.tar", "w") as tar:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        for key, value in info.items():
            setattr(member, key, value)
        tar.addfile(member, io.BytesIO(content))


def _record(place: Path, **changed: Any) -> None:
    value = json.loads((place / "scenario.json").read_text())
    (place / "scenario.json").write_text(json.dumps({**value, **changed}))


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


FAULTS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "no JSON": ("record", lambda task: (task / "scenario.json").write_text("{")),
    "no object": ("record", lambda task: (task / "scenario.json").write_text("[]")),
    "an unknown axis value": ("record", lambda task: _record(task, task="juggling")),
    "no fixtures": ("record", lambda task: _record(task, fixtures=None)),
    "no solution": ("record", lambda task: shutil.rmtree(task / "solution" / "commands")),
    "no checker": ("missing", lambda task: (task / "tests" / "checker.sh").unlink()),
    "no tar": ("mismatch", lambda task: (task / "environment" / "world.tar").write_bytes(b"x" * 600)),
    "a file less": ("mismatch", lambda task: _world(task, "other.txt", b"")),
    "another mode": ("mismatch", lambda task: _world(task, "fruit.txt", b"plum\n", mode=0o600)),
    "no text": ("mismatch", lambda task: _world(task, "fruit.txt", b"\xff", mode=0o644)),
    "a path that leads out": ("mismatch", lambda task: _world(task, "../../etc/passwd", b"", mode=0o644)),
    "a checker that is a link": ("link", lambda task: _link(task / "tests" / "checker.sh")),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_spoilt_task_is_refused_by_its_rule(fault: str, tmp_path: Path) -> None:
    rule, spoil = FAULTS[fault]
    write_task(tmp_path / "task", hand())
    assert read_task(tmp_path / "task") == hand()
    spoil(tmp_path / "task")
    with pytest.raises(UnfitError) as refused:
        read_task(tmp_path / "task")
    assert refused.value.rule == rule


def test_a_file_behind_a_linked_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("x")
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "tests").symlink_to(tmp_path / "outside")
    with pytest.raises(UnfitError, match="leads out"):
        file_bytes(tmp_path / "task", "tests/secret")


@pytest.mark.docker
def test_the_verifier_rewards_the_solution_and_nothing_less(tmp_path: Path) -> None:
    for scenario in [hand(), hand(blocked=True)]:
        assert rewards(tmp_path / scenario.id, scenario) == ("0", "1", "")


def rewards(task: Path, scenario: Scenario) -> tuple[str, ...]:
    """The rewards, in the task's image, of doing nothing and of the solution; then what a broken checker writes."""
    write_task(task, scenario)
    name = f"sekft-formats-{scenario.id}"
    reward = "rm -f /logs/verifier/reward.txt; sh /tests/test.sh; cat /logs/verifier/reward.txt 2>/dev/null; echo /"
    script = f"{reward}; su operator -s /bin/sh -c /solution/solve.sh >/dev/null 2>&1; {reward}"
    crash = "mkdir /t; cp /tests/* /t; echo 'kill -9 $$' > /t/checker.sh; sed -i s,/tests/,/t/,g /t/test.sh"
    script += f"; {crash}; {reward.replace('/tests/', '/t/')}"
    with image_of(task, name):
        done = docker(
            "run", "--rm", "--network", "none", "-u", "0", "-v", f"{task}/tests:/tests:ro",
            "-v", f"{task}/solution:/solution:ro", name, "sh", "-c", script,
        )  # fmt: skip
    return tuple(one.strip() for one in done.split("/\n")[:-1])


def docker(*arguments: str) -> str:
    """What docker prints. Fails where it hangs."""
    return subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True, timeout=300).stdout


@contextmanager
def image_of(task: Path, name: str) -> Iterator[None]:
    """The image of a task, under this name."""
    docker("build", "--network", "none", "-q", "-t", name, str(task / "environment"))
    try:
        yield
    finally:
        subprocess.run(["docker", "rmi", "-f", name], check=False, capture_output=True)


# What an agent may leave behind: (commands that go on or lie in wait, whether the work is done first, the reward).
FORGE = "while :; do echo 1 > reward.txt; echo '{\"reward\": 1}' > reward.json; done"
LEFT_BEHIND = {
    "a process that writes rewards": (f"({FORGE}) &", False, "0"),
    "processes that fork and end, on and on": ("f() { f & }; f", True, "1"),
    "a process that heeds no signal": ("(trap '' TERM HUP INT; exec sleep 100000) &", True, "1"),
    "pipes that never open": ("mkfifo checker.txt reward.txt reward.json", True, "1"),
    "directories": ("mkdir -p checker.txt/x reward.txt/x reward.json/x", False, "0"),
    "links to the world": ("ln -s ~/own checker.txt; ln -s ~/own reward.txt; echo 1 > ~/own", False, "0"),
    "a reward beside a checker that crashes": (f"({FORGE}) &", None, "none"),
}


@pytest.mark.docker
def test_what_the_agent_left_behind_changes_no_reward(tmp_path: Path) -> None:
    task, name = tmp_path / "task", "sekft-formats-left-behind"
    write_task(task, hand())
    (tmp_path / "crash").mkdir()
    (tmp_path / "crash" / "checker.sh").write_text("kill -9 $$\n")
    shutil.copy(task / "tests" / "run_checker.sh", tmp_path / "crash")
    with image_of(task, name):
        assert {left: reward_beside(left, task, name) for left in LEFT_BEHIND} == {
            left: reward for left, (_, _, reward) in LEFT_BEHIND.items()
        }


def reward_beside(left: str, task: Path, image: str) -> str:
    """The reward that Harbor would read in a container like Harbor's, where the agent left something behind."""
    commands, works, _ = LEFT_BEHIND[left]
    tests = task.parent / "crash" if works is None else task / "tests"
    container = docker(
        "run", "-d", "--network", "none", "--pids-limit", "2000", "-v", f"{tests}:/tests:ro",
        "-v", f"{task}/tests/test.sh:/verify.sh:ro", "-v", f"{task}/solution:/solution:ro", image, "sleep", "infinity",
    ).strip()  # fmt: skip
    try:
        docker("exec", "-u", "0", container, "sh", "-c", "mkdir -p /logs/verifier; chmod 777 /logs/verifier")
        if works:
            docker("exec", container, "sh", "-c", "/solution/solve.sh >/dev/null 2>&1")
        docker("exec", "-w", "/logs/verifier", container, "sh", "-c", f"exec >/dev/null 2>&1; {commands}")
        verified = ["docker", "exec", "-u", "0", container, "sh", "/verify.sh"]
        subprocess.run(verified, check=False, capture_output=True, timeout=60)
        read = "cd /logs/verifier; cat reward.json || cat reward.txt || [ -e reward.txt ] || echo none"
        read_them = ["docker", "exec", "-u", "0", container, "timeout", "20", "sh", "-c", read]
        reward = subprocess.run(read_them, check=False, capture_output=True, text=True, timeout=60).stdout.strip()
        # Of the operator only the first process of the container runs on.
        alive = "$(grep -L '^State:[[:space:]]*Z' /proc/[0-9]*/status 2>/dev/null)"
        running = f"grep -l '^Uid:[[:space:]]*{OPERATOR_UID}' {alive} 2>/dev/null; true"
        left_over = docker("exec", "-u", "0", container, "sh", "-c", running).split()
        return reward if left_over == ["/proc/1/status"] else f"{reward} beside {left_over}"
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        subprocess.run(["docker", "rm", "-f", container], check=False, capture_output=True)
