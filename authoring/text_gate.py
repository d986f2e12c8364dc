"""Refuse a scenario by its text alone, before any container runs.

    for check in CHECKS:
        check(scenario)      # RejectedError names the gate and the reason

The checks: the shape fits the axes, the paths lie in the world, the announcement and the directives do not reveal the
solution, the solution is made of commands, and the scaffold is nowhere in the scenario. Whether a scenario works is for
gate.py to decide, in containers.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from authoring.scaffold import SCAFFOLD
from pipeline.verdicts import is_command, is_terminal, spaced
from schema import HOME, Scenario, known_values
from taxonomy import DIFFICULTIES

ANNOUNCEMENT_RUN = 4  # words of a directive in a row that an announcement may not repeat
SCAFFOLD_RUN = 6  # words of the scaffold in a row that a scenario may not repeat
GATES = (
    "shape", "paths", "announcement", "directives", "solution", "scaffold",
    "provider", "reference", "attempt", "untouched", "prefixes", "mutations", "fakes",
)  # fmt: skip
# No attempt at a directive begins with one of these: they only look, only fail, or hide what runs.
NO_ATTEMPT = frozenset({"!", "[", "test", "false", "ls", "stat", "sh", "dash", "eval", "exec"})
# The form of a directive command of each provider kind, with P for the program. At least one command of a scenario must
# match the group in parentheses.
CALL_FORMS = {
    "subcommand": r"P [^-\s]\S*( \d+)?",
    "flags": r"P -\S+( \S+)?",
    "numbered": r"P (\d+)",
    "bulletin": r"P ([^-\s\d]\S*)",
    "topics": r"P [^-\s]\S*( [^-\s\d]\S*)?",
    "keyvalue": r"P (\S+=\S+)",
    "piped": r".+\| ?P( .*)?",
}
HELP_FORMS = {"usage": r"P", "help": r"P (--help|-h|help)", "subhelp": r"P \S+ (--help|-h|help)|P help \S+"}


class RejectedError(Exception):
    """A scenario is refused by `gate`. The text is the reason, which the author gets word for word."""

    def __init__(self, gate: str, reason: str) -> None:
        assert gate in GATES, gate
        super().__init__(reason)
        self.gate = gate


def check_shape(scenario: Scenario) -> None:
    """The number of directives, the terminal and the blocked outputs fit the difficulty and the archetype."""
    wanted = DIFFICULTIES[scenario.difficulty].directives
    if len(scenario.directives) != wanted:
        raise RejectedError(
            "shape", f"difficulty {scenario.difficulty} wants {wanted} directives, there are {len(scenario.directives)}"
        )
    if len({spaced(directive) for directive in scenario.directives}) != wanted:
        raise RejectedError("shape", "two directives are the same")
    terminal = known_values(scenario.taxonomy).archetypes[scenario.task].terminal
    if scenario.terminal != terminal:
        raise RejectedError("shape", f"task {scenario.task} ends with {terminal}, not with {scenario.terminal}")
    blocked = terminal == "panic"
    if blocked != bool(scenario.blocked_outputs):
        raise RejectedError(
            "shape", f"task {scenario.task} {'wants at least one' if blocked else 'takes no'} entry in blocked_outputs"
        )
    if blocked and not scenario.blocked_attempt:
        raise RejectedError(
            "shape",
            f"task {scenario.task} wants blocked_attempt: for each directive that cannot be done, the command that a "
            f"person would type to do it; the gate runs it and it must fail",
        )
    if scenario.blocked_attempt and not blocked:
        raise RejectedError("shape", f"task {scenario.task} takes no blocked_attempt")
    _check_calls(scenario)


def _check_calls(scenario: Scenario) -> None:
    """The help and directive commands have the form of the provider kind and the doc depth."""
    provider = scenario.provider
    name = re.escape(PurePosixPath(provider.path).name)
    own = scenario.taxonomy.provider(scenario.provider_kind) if scenario.taxonomy else None
    kind = own.like if own else scenario.provider_kind
    # A kind of a user's own may be called in any way. That each command calls the program is checked as it runs.
    call = re.compile(CALL_FORMS[kind].replace("P", name) if kind else "(.+)", re.DOTALL)
    found = [(command, call.fullmatch(spaced(command))) for command in provider.directive_commands]
    for command, match in found:
        if match is None:
            raise RejectedError(
                "shape", f"{command!r} is not how a provider of kind {scenario.provider_kind} is called"
            )
    if not any(match and any(match.groups()) for _, match in found) and kind != "piped":
        raise RejectedError("shape", f"no directive command asks a provider of kind {scenario.provider_kind} for one")
    wanted = re.compile(HELP_FORMS[scenario.doc_depth].replace("P", name))
    if not any(wanted.fullmatch(spaced(command)) for command in provider.help_commands):
        raise RejectedError("shape", f"no help command is one of doc depth {scenario.doc_depth}")


def check_paths(scenario: Scenario) -> None:
    """Fixtures lie in directories, symlinks point into the home, blocked outputs are normalised paths below it."""
    entries = {fixture.path: fixture for fixture in scenario.world_fixtures()}
    for path, fixture in entries.items():
        if any(ord(character) < 32 or ord(character) == 127 for character in path) or len(path.encode()) > 1000:
            raise RejectedError("paths", f"fixture path {path!r} holds a control character or is over 1000 bytes")
        for parent in map(str, PurePosixPath(path).parents):
            if parent in entries and entries[parent].type != "dir":
                raise RejectedError("paths", f"fixture {path!r} lies below {parent!r}, which is not a directory")
        if fixture.type == "symlink" and not _inside(path, fixture.target or ""):
            raise RejectedError("paths", f"symlink {path!r} -> {fixture.target!r} leads out of {HOME}")
    for path in scenario.blocked_outputs:
        if not path.startswith(HOME + "/") or str(PurePosixPath(path)) != path or ".." in PurePosixPath(path).parts:
            raise RejectedError("paths", f"blocked output {path!r} must be a normalised path below {HOME}/")


def check_announcement(scenario: Scenario, outputs: Sequence[str] = ()) -> None:
    """The announcement names the provider and nothing of the task (invariant 1).

    `outputs` are the paths that the solution created or changed; they are known once it has run.
    """
    text, name = scenario.announcement.text, PurePosixPath(scenario.provider.path).name
    if not has_word(text, name):
        raise RejectedError("announcement", f"the announcement does not name the provider program {name!r}")
    rest = text.replace(scenario.provider.path, " ").replace(name, " ").lower()
    paths = [fixture.path for fixture in scenario.fixtures]
    for path in [*paths, *scenario.blocked_outputs, *outputs]:
        for form in _forms_of_path(path):
            if has_word(rest, form.lower()):
                raise RejectedError("announcement", f"the announcement holds {form!r}, a path of the task")
    for literal in literals(scenario.checker, inner=False) | literals(
        "\n".join(scenario.reference_solution), inner=True
    ):
        if has_word(rest, literal.lower()):
            raise RejectedError("announcement", f"the announcement holds {literal!r}, a literal of checker or solution")
    runs = {run for directive in scenario.directives for run in _word_runs(directive, ANNOUNCEMENT_RUN)}
    if shared := sorted(runs & set(_word_runs(text, ANNOUNCEMENT_RUN))):
        raise RejectedError("announcement", f"the announcement repeats {shared[0]!r} from a directive")


def check_directives(scenario: Scenario) -> None:
    """No directive contains a line of the solution.

    The first line of a command counts always, later ones if they have two words or more: `done` and `EOF` do not.
    """
    for command in scenario.reference_solution:
        for index, line in enumerate(command.splitlines()):
            if index and len(line.split()) < 2:
                continue
            for directive in scenario.directives:
                if has_word(spaced(directive), spaced(line)):
                    raise RejectedError("directives", f"directive {directive!r} contains the solution line {line!r}")


def check_solution(scenario: Scenario) -> None:
    """Every entry of the solution is a command that a kept session may hold; an attempt is one simple command."""
    for command in scenario.reference_solution:
        if is_terminal(command):
            raise RejectedError("solution", f"{command!r} ends the session; leave it out, it is played by itself")
        if not is_command(command):
            raise RejectedError("solution", f"{command!r} reads as prose, not as a command")
    for command in scenario.blocked_attempt or ():
        if fault := _fault_of_attempt(command, scenario):
            raise RejectedError("solution", f"{command!r} of blocked_attempt {fault}")


def _fault_of_attempt(command: str, scenario: Scenario) -> str:
    """Why the command is no attempt at a blocked directive; an empty string where it may be one.

    It must be one simple command, so that its exit code is that of the program it runs. Beside the program it must name
    something that a directive names and the solution does not, which the directives that can be done do not need.
    """
    if is_terminal(command) or not is_command(command):
        return "is not a command that does work"
    try:
        words = shlex.split(command)
        parts = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    except ValueError:
        return "has an open quote"
    if re.search(r"\n|`|\$\(", command) or any(set(part) <= set(";|&()") for part in parts if part):
        return "is not one simple command (no ; | & and no second line)"
    if words[0] in NO_ATTEMPT:
        return f"begins with {words[0]}, which cannot do the work of a directive"
    solution = "\n".join(scenario.reference_solution)
    names = {name for word in words[1:] for name in (word.removeprefix("./"), PurePosixPath(word).name)}
    own = {name for name in names if len(name) > 2 and not has_word(solution, name)}
    if not any(has_word(directive, name) for directive in scenario.directives for name in own):
        return "names nothing that a directive names and the solution does not"
    return ""


def check_scaffold(scenario: Scenario) -> None:
    """No six words in a row of the scaffold occur in the scenario."""
    texts = [
        scenario.announcement.text, *scenario.directives, scenario.provider.source,
        *(fixture.text or "" for fixture in scenario.fixtures),
    ]  # fmt: skip
    scaffold = set(_word_runs(SCAFFOLD, SCAFFOLD_RUN, whole=False))
    for text in texts:
        if shared := sorted(scaffold & set(_word_runs(text, SCAFFOLD_RUN, whole=False))):
            raise RejectedError("scaffold", f"the scenario repeats {shared[0]!r} from the scaffold")


CHECKS: tuple[Callable[[Scenario], None], ...] = (
    check_shape, check_paths, check_announcement, check_directives, check_solution, check_scaffold,
)  # fmt: skip


def literals(script: str, *, inner: bool) -> set[str]:
    """The strings of a script that could reveal the task: quoted strings, and words with a slash, a dot or a digit.

    Single digits, options, expansions and paths in /dev reveal nothing and are left out. `inner` adds the longer words
    inside quoted strings, such as the words that a sed script replaces.
    """
    found: set[str] = set()
    for quoted in re.findall(r"'([^']*)'|\"([^\"]*)\"", script):
        text = "".join(quoted)
        found |= {line.strip() for line in text.splitlines() if len(line.strip()) >= 3 and not re.search(r"[$`]", line)}
        if inner:
            found |= set(re.findall(r"\w{3,}", re.sub(r"\\[nt]", " ", text))) - {"and", "for", "not", "the", "you"}
    for word in re.split(r"[\s;|&<>()`'\"={}\[\]!]+", script):
        word = word.removeprefix("./").rstrip(":,.")
        if re.search(r"[/.\d]", word) and len(word) >= 2 and not re.match(r"[-$]|/dev/", word):
            found.add(word)
    return {word for word in found if re.search(r"\w", word) and word not in (HOME, "/bin/sh", "/usr/bin/dash")}


def _forms_of_path(path: str) -> Iterator[str]:
    """The ways in which a text may name a path. A name of letters alone does not count: it may be a common word."""
    relative = PurePosixPath(path).relative_to(HOME)
    yield str(relative)
    if re.search(r"[^A-Za-z]", relative.name):
        yield relative.name


def has_word(text: str, word: str) -> bool:
    """True when `word` occurs in `text` with no letter, digit or underscore beside it."""
    return bool(word) and re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text) is not None


def _word_runs(text: str, size: int, *, whole: bool = True) -> Iterable[str]:
    """Every run of `size` words of a text, in lower case; a shorter text is one run if `whole`."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    if len(words) < size:
        return [" ".join(words)] if whole and words else []
    return [" ".join(words[start : start + size]) for start in range(len(words) - size + 1)]


def _inside(path: str, target: str) -> bool:
    """True when a symlink at `path` points into the home, whether or not its target exists."""
    parts: list[str] = []
    for part in (PurePosixPath(path).parent / target).parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return PurePosixPath(*parts).is_relative_to(HOME) and bool(target)
