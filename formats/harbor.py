"""Write a scenario as a task directory of Harbor, and read it back.

    write_task(Path("tasks/make_links-0001"), scenario)
    read_task(Path("tasks/make_links-0001")) == scenario

What Harbor has a place for lies there: the world in `environment/`, the checker in `tests/`, the reference solution in
`solution/`, and what a login shows in `instruction.md`. The rest of the record lies in `scenario.json`, beside them.
The instruction names no task, like a login: the agent must find the provider and ask it. A scenario that passed the
gate on an image of your own becomes a task on that image.

Source of the format: the models of the package `harbor`, version 0.26.0, harbor/models/task/config.py and paths.py.
"""

import base64
import json
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import ValidationError

from formats.unfit import UnfitError
from model.render import login, orientation
from sandbox.containers import IMAGE
from sandbox.programs import read_program
from sandbox.tree import TreeEntry, archive_of, entries_of, members_of, tree_of
from sandbox.wrapper import LOGIN
from schema import Scenario, known_values

FORMAT = "1.4"  # schema_version of task.toml
RECORD = "scenario.json"
PROGRAMS = Path(__file__).parent / "sh"
IMAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")
VERIFIER_SECONDS, AGENT_SECONDS = 120.0, 600.0
MAX_FILE_BYTES = 8 << 20  # no file of a task that fits is larger

# The image has no bash, and Harbor starts every command with `bash -c`.
DOCKERFILE = """\
FROM {image}
USER root
ADD world.tar /home/operator/
COPY provider {path}
RUN chmod 755 {path} && chown -h operator:operator /home/operator \\
    && if ! [ -e /bin/bash ]; then ln -s /usr/bin/dash /bin/bash; fi
USER operator
WORKDIR /home/operator
"""
# Harbor's own switch for the network needs an image from a registry. Harbor's own command is a shell that waits for its
# child: test.sh, which ends what the agent left running, would end the container with it.
COMPOSE = """\
services:
  main:
    command: ["sleep", "infinity"]
    network_mode: none
    build:
      network: none
"""


def write_task(directory: Path, scenario: Scenario, tools: Sequence[str] = ()) -> None:
    """Write a scenario as the task directory `directory`, which must not exist. Same arguments, same bytes.

    Args:
        directory: the task.
        scenario: what it is made of.
        tools: the commands that the scenario's image has beside the busybox userland (containers.image_tools).

    Raises:
        UnfitError: the record's name of its image is no name of an image.
    """
    for path, (content, mode) in task_files(scenario, tools).items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(mode)


def task_files(scenario: Scenario, tools: Sequence[str] = ()) -> dict[str, tuple[bytes, int]]:
    """The files of a task, by their path in its directory, with content and mode; arguments as of `write_task`."""
    path = scenario.provider.path
    texts = {
        "task.toml": tomli_w.dumps(task_config(scenario)),
        "instruction.md": f"{orientation(tools)}\n\n{login(scenario)}\n",
        RECORD: json.dumps(_rest_of(scenario), sort_keys=True, ensure_ascii=False, indent=2) + "\n",
        "environment/Dockerfile": DOCKERFILE.format(image=task_image(scenario), path=path),
        "environment/docker-compose.yaml": COMPOSE,
        "environment/provider": scenario.provider.source,
        "tests/checker.sh": scenario.checker,
        "tests/run_checker.sh": read_program("checker.sh"),
    }
    commands = {
        f"solution/commands/{number:02d}": command for number, command in enumerate(scenario.reference_solution, 1)
    }
    files = {name: (text.encode(), 0o644) for name, text in {**texts, **commands}.items()}
    files["environment/world.tar"] = archive_of(tree_of(scenario.world_fixtures())), 0o644
    files["tests/test.sh"] = (PROGRAMS / "test.sh").read_bytes(), 0o755
    files["solution/solve.sh"] = (PROGRAMS / "solve.sh").read_bytes(), 0o755
    return files


def task_image(scenario: Scenario) -> str:
    """The image on which a scenario passed the gate. Raises UnfitError where its record has no name of an image."""
    name = scenario.provenance.gates.get("image", IMAGE)
    if not isinstance(name, str) or not IMAGE_NAME.fullmatch(name):
        raise UnfitError("image", f"provenance.gates.image is {str(name)[:80]!r}, which is no name of an image")
    return name


def task_config(scenario: Scenario) -> dict[str, Any]:
    """The contents of task.toml."""
    archetype = known_values(scenario.taxonomy).archetypes[scenario.task]
    return {
        "schema_version": FORMAT,
        "task": {
            "name": f"sekft/{scenario.id}",
            "description": f"A shell session in which the operator finds out what to do: {archetype.summary}.",
            "keywords": ["shell", archetype.family, scenario.task],
        },
        "metadata": {
            **scenario.axes(),
            "terminal": scenario.terminal,
            "author": scenario.provenance.author,
            "content_hash": scenario.content_hash,
        },
        "verifier": {"timeout_sec": VERIFIER_SECONDS, "user": "root"},
        "agent": {"timeout_sec": AGENT_SECONDS},
        "environment": {"env": {**LOGIN, **scenario.environment()}},
    }


def _rest_of(scenario: Scenario) -> dict[str, Any]:
    """The record without what lies in the other files of its task."""
    record = scenario.model_dump(mode="json", exclude_none=True, exclude={"checker", "reference_solution"})
    del record["provider"]["source"]
    for fixture in record["fixtures"]:
        for name in {"text", "base64"} & fixture.keys():
            fixture[name] = ""
    return record


def is_ours(directory: Path) -> bool:
    """True for a task that `write_task` wrote."""
    return (directory / RECORD).exists()


def read_task(directory: Path) -> Scenario:
    """The scenario of a task that `write_task` wrote.

    A task that was edited since then gives the edited scenario, without what the gate found of the earlier one; only
    the name of an image of your own stays, because its commands are needed.

    Raises:
        UnfitError: the record and the other files of the task contradict each other.
    """
    try:
        record = json.loads(file_text(directory, RECORD))
    except (ValueError, RecursionError) as error:
        raise UnfitError("record", f"{RECORD} is not JSON ({error})") from error
    commands = directory / "solution" / "commands"
    names = sorted(path.name for path in commands.iterdir()) if commands.is_dir() else []
    try:
        record["checker"] = file_text(directory, "tests/checker.sh")
        record["reference_solution"] = [file_text(directory, f"solution/commands/{name}") for name in names]
        record["provider"]["source"] = file_text(directory, "environment/provider")
        written = record.pop("content_hash", None)
        world = {entry.path: entry for entry in world_of(directory)}
        for fixture in record["fixtures"]:
            _fill(fixture, world)
        scenario = Scenario.model_validate(record)
    except (KeyError, TypeError, AttributeError) as error:
        raise UnfitError("record", f"{RECORD} lacks or misplaces {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "record"
        raise UnfitError("record", f"{RECORD}: {where}: {first['msg']}") from error
    if list(world.values()) != tree_of(scenario.world_fixtures()):
        raise UnfitError("mismatch", "environment/world.tar holds other entries or modes than scenario.json names")
    if scenario.content_hash == written:
        return scenario
    image = {name: value for name, value in scenario.provenance.gates.items() if name == "image"}
    unproved = scenario.provenance.model_copy(update={"gates": image})
    return scenario.model_copy(update={"provenance": unproved})


def _fill(fixture: dict[str, Any], world: Mapping[str, TreeEntry]) -> None:
    """Give a fixture of the record the content that the world has at its path."""
    content = world[fixture["path"]].content if fixture["path"] in world else None
    if content is None:
        if fixture.get("type", "file") == "file":
            raise UnfitError("mismatch", f"environment/world.tar has no file {fixture['path']!r}")
        return
    if "base64" in fixture:
        fixture["base64"] = base64.b64encode(content).decode()
        return
    try:
        fixture["text"] = content.decode()
    except UnicodeDecodeError as error:
        raise UnfitError("mismatch", f"environment/world.tar: {fixture['path']!r} is no text any more") from error


def world_of(directory: Path) -> list[TreeEntry]:
    """The entries of a task's environment/world.tar."""
    archive = file_bytes(directory, "environment/world.tar")
    try:
        members = [(_below_home(member), content) for member, content in members_of(archive)]
        return entries_of(members)
    except (tarfile.TarError, ValueError) as error:
        raise UnfitError("mismatch", f"environment/world.tar cannot be read ({error})") from error


def _below_home(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """The member with a first part for HOME before its name, as `entries_of` takes it."""
    member.name = f"operator/{member.name}"
    return member


def file_bytes(directory: Path, name: str) -> bytes:
    """A file of a task. Raises UnfitError where it is missing, a link, too large or not a regular file."""
    path = directory / name
    if path.is_symlink() or not path.resolve().is_relative_to(directory.resolve()):
        raise UnfitError("link", f"{name} leads out of the task")
    try:
        if not path.is_file():
            raise UnfitError("missing", f"{name} is not there")
        with path.open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UnfitError("missing", f"{name} cannot be read ({error.strerror})") from error
    if len(content) > MAX_FILE_BYTES:
        raise UnfitError("size", f"{name} is over {MAX_FILE_BYTES} bytes")
    return content


def file_text(directory: Path, name: str) -> str:
    """A file of a task as text. Raises UnfitError as `file_bytes`, and where it is not UTF-8."""
    try:
        return file_bytes(directory, name).decode()
    except UnicodeDecodeError as error:
        raise UnfitError("text", f"{name} is not UTF-8") from error


def task_directories(directory: Path) -> Iterator[Path]:
    """The tasks in a directory: `directory` itself, or else each folder in it that has a task.toml, by name."""
    if (directory / "task.toml").exists():
        yield directory
        return
    yield from sorted(path.parent for path in directory.glob("*/task.toml"))
