"""Read a Harbor task that was not written here as a scenario, or refuse it by a named rule.

    scenario = foreign_task(Path("tasks/tidy-up"), archetype="sort_by_kind")

Few tasks of the wild fit. A scenario's world is files below /home/operator on a dash and busybox image without a
network, its checker is one POSIX sh program, and its work is one of the known archetypes. What fits keeps its words:
the instruction becomes the directive, `solve.sh` the reference solution, `test.sh` the checker. A provider and an
announcement are made for it. The gate has not seen it: `python -m authoring.gate FILE` runs it.

The rules are in unfit.py.
"""

import random
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from authoring.templates.providers import announcement, provider
from authoring.templates.world import Names
from formats.harbor import file_bytes, file_text
from formats.unfit import UnfitError
from schema import HOME, Fixture, Provenance, Scenario, canonical, sha256
from taxonomy import ANNOUNCEMENTS, ARCHETYPES, DIFFICULTIES, PROVIDERS

IGNORED = {"FROM", "USER", "LABEL", "CMD", "WORKDIR"}  # what a world of files does not depend on
NOT_SH = re.compile(r"(?m)^#!.*\b(bash|zsh|ksh|python\d*|node|perl)\b|\[\[|<<<|\bfunction +\w+ *\{")
ABSENT = re.compile(r"\b(apt|apt-get|apk|pip\d?|uv|uvx|python\d?|pytest|curl|wget|git|npm|node|perl|ruby|gcc|make)\b")
ABSOLUTE = re.compile(r"(?<![\w.~/-])/(?:[\w.-]+/?)+")
REWARD = "/logs/verifier"
ALLOWED = (HOME, REWARD, "/dev/null", "/bin", "/usr/bin", "/tmp")
CHECKER = """\
mkdir -p /tmp/verifier || exit 126
(
{test}
)
case $(cat /tmp/verifier/reward.txt) in 1 | 1.0) exit 0 ;; esac
exit 1
"""


def foreign_task(directory: Path, *, archetype: str | None = None) -> Scenario:
    """The scenario of a task. Raises UnfitError, which names the rule that refuses it.

    Args:
        directory: the task.
        archetype: of the work; where it is None, `task` or `archetype` in the table [metadata] names it.
    """
    config = _config_of(directory)
    _refuse_by_config(config, directory)
    kind = archetype or config["metadata"].get("archetype") or config["metadata"].get("task")
    if not isinstance(kind, str) or kind not in ARCHETYPES or ARCHETYPES[kind].terminal != "exit":
        named = "--archetype" if archetype else "[metadata] archetype"
        raise UnfitError("archetype", f"{named} is {kind!r}; name a shipped one that can be done (python taxonomy.py)")
    directive = file_text(directory, "instruction.md").strip()
    if not 0 < len(directive) <= 2000:
        raise UnfitError("instruction", f"instruction.md has {len(directive)} characters; a directive has 1 to 2000")
    fixtures = list(_fixtures(directory))
    test, solution = _verifier_of(directory), _solution_of(directory)
    for name, text in {"instruction.md": directive, "tests/test.sh": test, "solution/solve.sh": solution}.items():
        _refuse_paths(name, text)
    rng = random.Random(f"formats/{directory.name}/{directive}")
    names = Names(rng, awkward=False)
    provider_kind = rng.choice(sorted(PROVIDERS))
    depth, channel = rng.choice(PROVIDERS[provider_kind]), rng.choice(ANNOUNCEMENTS)
    program = provider(provider_kind, depth, [directive], names, rng)
    try:
        return Scenario(
            id=re.sub(r"[^a-z0-9_-]+", "-", directory.name.lower()).strip("-_")[:100] or "task",
            task=kind,
            provider_kind=provider_kind,
            announcement_channel=channel,
            doc_depth=depth,
            difficulty=next(name for name, one in DIFFICULTIES.items() if one.directives == 1),
            provider=program,
            announcement=announcement(channel, PurePosixPath(program.path).name, rng),
            directives=[directive],
            fixtures=fixtures,
            checker=CHECKER.format(test=test.replace(REWARD, "/tmp/verifier")),
            reference_solution=[solution],
            terminal="exit",
            provenance=Provenance(author="hand", request_hash=sha256(canonical([directory.name, directive]))),
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise UnfitError("record", f"{'.'.join(map(str, first['loc'])) or 'scenario'}: {first['msg']}") from error


def _config_of(directory: Path) -> dict[str, Any]:
    """The contents of task.toml, with the tables that rules ask for."""
    try:
        config = tomllib.loads(file_text(directory, "task.toml"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UnfitError("toml", f"task.toml: {error}") from error
    for name in ("metadata", "environment", "agent", "verifier"):
        if not isinstance(config.setdefault(name, {}), dict):
            raise UnfitError("toml", f"task.toml: {name} is no table")
    return config


def _refuse_by_config(config: dict[str, Any], directory: Path) -> None:
    """Raise UnfitError for what task.toml asks for and a scenario has not."""
    environment = config["environment"]
    if config.get("steps"):
        raise UnfitError("steps", f"task.toml: steps is {config['steps']!r:.80}")
    if environment.get("os", "linux") != "linux":
        raise UnfitError("os", f"environment.os is {environment['os']!r}")
    needs = [name for name in ("docker_image", "mcp_servers", "gpus", "gpu_types", "tpu", "skills_dir", "healthcheck")
             if environment.get(name)]  # fmt: skip
    if needs:
        raise UnfitError("services", f"environment.{needs[0]} is set")
    if (directory / "environment" / "docker-compose.yaml").exists():
        raise UnfitError("services", "environment/docker-compose.yaml is there")
    for name in ("environment", "agent", "verifier"):
        if config[name].get("allowed_hosts") or config[name].get("network_mode", "no-network") != "no-network":
            raise UnfitError("network", f"{name}.network_mode or allowed_hosts asks for one")
        if config[name].get("allow_internet"):
            raise UnfitError("network", f"{name}.allow_internet is true")


def _fixtures(directory: Path) -> Iterator[Fixture]:
    """The files that the Dockerfile copies into the world."""
    workdir, directories = HOME, {HOME}  # a file that is copied to one of these goes into it
    joined = re.sub(r"\\\n", " ", file_text(directory, "environment/Dockerfile"))
    for line in joined.splitlines():
        word, _, rest = line.strip().partition(" ")
        instruction = word.upper()
        if not word or word.startswith("#"):
            continue
        if instruction == "WORKDIR":
            workdir = str(PurePosixPath(workdir, rest.strip()))
            directories.add(workdir)
        if instruction in IGNORED:
            continue
        try:
            *sources, target = shlex.split(rest)
        except ValueError as error:
            raise UnfitError("dockerfile", f"{line.strip()[:60]!r} cannot be read ({error})") from error
        if instruction != "COPY" or not sources or rest.startswith(("[", "--")):
            raise UnfitError("dockerfile", f"{line.strip()[:60]!r}")
        for source in sources:
            place = str(PurePosixPath(workdir, target))
            into = len(sources) > 1 or target.endswith("/") or place in directories
            try:
                for fixture in _copied(directory, source, place, into=into):
                    directories |= {str(parent) for parent in PurePosixPath(fixture.path).parents}
                    yield fixture
            except UnfitError:
                raise
            except (OSError, ValueError) as error:  # a name that no file system takes
                raise UnfitError("dockerfile", f"COPY of {source[:60]!r} ({error})"[:200]) from error
    if workdir != HOME:
        raise UnfitError("world", f"WORKDIR is {workdir}; a session begins in {HOME}")


def _copied(directory: Path, source: str, place: str, *, into: bool) -> Iterator[Fixture]:
    """The files that one source of a COPY becomes: `place`, or below it where it is a directory (`into`)."""
    context = directory / "environment"
    origin = context / source
    if ":" in source or not origin.resolve().is_relative_to(context.resolve()):
        raise UnfitError("dockerfile", f"COPY of {source!r}, which is not in environment/")
    found = sorted(path for path in origin.rglob("*") if not path.is_dir()) if origin.is_dir() else [origin]
    for path in found:
        relative = path.relative_to(origin) if origin.is_dir() else Path(path.name)
        name = str(PurePosixPath(place, relative)) if into or origin.is_dir() else place
        if not _inside(name):
            raise UnfitError("world", f"COPY puts {name} outside {HOME}")
        content = file_bytes(directory, str(path.relative_to(directory)))
        try:
            yield Fixture.of(name, content, path.stat().st_mode & 0o777)
        except ValidationError as error:
            raise UnfitError("world", error.errors()[0]["msg"]) from error


def _verifier_of(directory: Path) -> str:
    """The text of tests/test.sh."""
    text = file_text(directory, "tests/test.sh")
    if others := sorted(path.name for path in (directory / "tests").iterdir() if path.name != "test.sh"):
        raise UnfitError("verifier", f"tests/ holds {others[0]} too")
    if fault := _not_plain_sh(text):
        raise UnfitError("verifier", f"tests/test.sh uses {fault!r}")
    if f"{REWARD}/reward.txt" not in text:
        raise UnfitError("verifier", f"tests/test.sh does not write {REWARD}/reward.txt")
    return text


def _solution_of(directory: Path) -> str:
    """The text of solution/solve.sh, without its first line where that names an interpreter."""
    path = directory / "solution"
    if not (path / "solve.sh").exists():
        raise UnfitError("solution", "solution/solve.sh is not there")
    text = file_text(directory, "solution/solve.sh")
    if others := sorted(one.name for one in path.iterdir() if one.name != "solve.sh"):
        raise UnfitError("solution", f"solution/ holds {others[0]} too")
    if fault := _not_plain_sh(text):
        raise UnfitError("solution", f"solution/solve.sh uses {fault!r}")
    return re.sub(r"\A#!.*\n", "", text).strip()


def _not_plain_sh(text: str) -> str | None:
    """What in a program needs more than dash and busybox without a network, as far as its words tell."""
    found = NOT_SH.search(text) or ABSENT.search(text)
    return found.group(0).strip() if found else None


def _refuse_paths(name: str, text: str) -> None:
    """Raise UnfitError for an absolute path that does not lie in the world."""
    body = re.sub(r"\A#!.*\n", "", text)
    for found in ABSOLUTE.findall(body):
        path = found.rstrip(".")  # the full stop of a sentence
        if ".." in PurePosixPath(found).parts or not any(path == one or path.startswith(f"{one}/") for one in ALLOWED):
            raise UnfitError("world", f"{name} names {found}")


def _inside(path: str) -> bool:
    """True for HOME and what lies below it."""
    return ".." not in PurePosixPath(path).parts and (path == HOME or path.startswith(f"{HOME}/"))
