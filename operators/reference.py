"""Play a scenario's reference solution as a person would: look around, find the provider, do the work, leave.

    operator = ReferenceOperator()
    operator.begin(scenario, seed=1)
    operator.command([*opening(scenario), *start_prompt()])

Its sessions are offline training data, so each command must follow from what the screen has shown. The operator calls
the provider only after it has seen the announcement. It carries out each directive as soon as it has read it, then asks
for the next one, until there are no more. A directive that cannot be done is tried once and left, and the others are
done. Before it leaves, it lists what the directives asked it to make: a file that a directive which cannot be done
should have left is missing there. `panic` repeats what the screen said of it.
Most sessions follow a few plain routines; the others look elsewhere first, inspect results, or join commands. The seed
decides all of it.
"""

import random
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from operators.protocol import Move, Tokens
from pipeline.verdicts import terminal_of
from schema import HOME, Message, OperatorInfo, Scenario, Usage
from taxonomy import ARCHETYPES

LOOKS: dict[str, float] = {  # the first command where the login shows no announcement, with its probability
    "ls": 0.46,
    "env": 0.20,
    "ls -la": 0.10,
    "ls; env": 0.08,
    "pwd": 0.05,
    "ls -a": 0.04,
    "cat /etc/motd": 0.02,
    "id": 0.02,
}
SIDE_LOOKS = ("ls", "ls -la", "pwd", "ls -a")  # the first command at times where the login shows the announcement
NAME = re.compile(r"\w{2,}")
SYNTAX = {"for", "in", "do", "done", "if", "then", "else", "fi", "while", "read"}  # of the shell, not of the work
ABSENT = re.compile(
    r"(?<![\w./-])(?:unrar|rar|7z|zstd|lz4|brotli|zip|xz|[a-z0-9]+(?= is not installed))(?![\w/-]|\.\w)"
)
TROUBLE = re.compile(
    r"not found|No such file|denied|Read-only|bad address|can't|cannot|corrupt|short read|invalid|unexpected|error"
    r"|magic|failed|not (?:a |an |in )?(?:gzip|bzip2|tar|zip)|unreachable|timed out"
)
ARCHIVE_TESTS = {  # how to test an archive without unpacking it, by ending; the first ending that fits counts
    ".tar.gz": "tar -tzf",
    ".tgz": "tar -tzf",
    ".tar": "tar -tf",
    ".gz": "gunzip -t",
    ".bz2": "bunzip2 -t",
    ".zip": "unzip -l",
}
PATH = re.compile(r"'([^'\n]+)'|(?<![\w./-])((?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z0-9]+|/?(?:[\w.-]+/)+[\w.-]*[\w-])")


class ReferenceOperator:
    """Discovery, the reference solution and the correct terminal, one command at a time.

    The same scenario and seed give the same commands.
    """

    def __init__(self) -> None:
        self.seed = 0
        self.screen = ""  # everything shown so far
        self.last = ""  # the output of the last command
        self.style = "one"
        self.failure: tuple[str, str] | None = None
        self.held = 0  # tokens that a model would have read at the last call

    def begin(self, scenario: Scenario, seed: int) -> None:
        """Start a session of `scenario`."""
        self.scenario, self.seed = scenario, seed
        self.failure, self.held = None, 0
        self.rng = random.Random(f"reference/{seed}/{scenario.content_hash}")
        self.plan = self._commands()

    def command(self, messages: Sequence[Message]) -> Move:
        """The next command, given what the screen has shown so far."""
        self.screen = "\n".join(message.content for message in messages if message.role == "user")
        self.last = messages[-2].content if messages[-2].role == "user" else ""
        text = next(self.plan)
        held, self.held = self.held, sum(len(message.content) for message in messages) // 4
        usage = Usage(
            calls=1, input_tokens=self.held - held, cached_input_tokens=held, output_tokens=len(text) // 4 + 1,
            estimated=True,
        )  # fmt: skip
        return Move(text, usage=usage)

    def info(self) -> OperatorInfo:
        """The kind and the seed."""
        return OperatorInfo(kind="reference", seed=self.seed)

    def tokens(self) -> Tokens | None:
        """None: this operator has no tokens."""
        return None

    def _commands(self) -> Iterator[str]:
        yield from self._find_announcement()
        if not self._announced():
            yield "panic nothing here says what is wanted"
        yield from self._learn()
        self.style = self._some({"one": 0.84, "lines": 0.08, "pairs": 0.08})
        parts = dict(enumerate(parts_of(self.scenario)))
        products = made_things(self.scenario, parts)
        for call in self.scenario.provider.directive_commands:
            yield from self._ask(call, parts)
        if parts:
            yield f"panic {len(parts)} of the directives cannot be read"
        yield from self._look_after(products)
        if self.scenario.terminal == "panic":
            yield from self._give_up()
        else:
            yield self._some({"exit": 0.85, "exit 0": 0.15})

    def _ask(self, call: str, parts: dict[int, list[str]]) -> Iterator[str]:
        """Call the provider and carry out each directive that the screen now shows; those are removed from `parts`."""
        yield call
        for number in [number for number in parts if self.scenario.directives[number] in self.screen]:
            yield from self._carry_out(self.scenario.directives[number], parts.pop(number))

    def _some(self, weights: dict[str, float]) -> str:
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def _announced(self) -> bool:
        """True when the screen shows the line of the announcement that names the program."""
        name = PurePosixPath(self.scenario.provider.path).name
        return any(line in self.screen for line in self.scenario.announcement.text.splitlines() if name in line)

    def _find_announcement(self) -> Iterator[str]:
        if self._announced():
            if self.rng.random() < 0.15:
                yield self.rng.choice(SIDE_LOOKS)
            return
        looks = [self._some(LOOKS)]
        looks += self.rng.choice([["ls", "env"], ["ls", "env"], ["ls -la", "env"]])
        done: set[str] = set()
        for look in looks:
            words = set(re.split(r"[ ;]+", look)) & {"ls", "env"}
            if words and words <= done:
                continue
            done |= words
            yield look
            if not self._announced():
                yield from self._read_place()
            if self._announced():
                yield from self._look_again()
                return

    def _read_place(self) -> Iterator[str]:
        """Read the notice or the mail once the screen has shown its path."""
        place = self.scenario.announcement.place
        if place is None or not place.startswith("/"):
            return
        relative = PurePosixPath(place).relative_to(HOME)
        if f"MAIL={place}" in self.screen and self.rng.random() < 0.8:
            yield self._some({'cat "$MAIL"': 0.6, f"cat {shlex.quote(place)}": 0.4})
        elif self._listed(relative.parts[0]):
            hidden = len(relative.parts) > 1 and not self._listed(str(relative))
            # Without a suffix, `ls` shows a file and a directory alike.
            if hidden or (not relative.suffix and self.rng.random() < 0.8):
                yield f"find {shlex.quote(relative.parts[0])} -type f"
            yield f"cat {quote(str(relative))}"
        elif f"MAIL={place}" in self.screen:
            yield 'cat "$MAIL"'

    def _listed(self, name: str) -> bool:
        """True when a line of the screen ends in `name`, as in a listing."""
        return re.search(rf"(?:^|[\s/]){re.escape(name)}$", self.screen, re.MULTILINE) is not None

    def _look_again(self) -> Iterator[str]:
        place = self.scenario.announcement.place
        if self.scenario.announcement.shown_as == "env" and self.rng.random() < 0.12:
            yield f'echo "${place}"'

    def _learn(self) -> Iterator[str]:
        """The help commands in order; at times without the bare call, where `--help` follows it."""
        commands = list(self.scenario.provider.help_commands)
        if len(commands) > 1 and commands[1] == f"{commands[0]} --help" and self.rng.random() < 0.2:
            commands = commands[1:]
        yield from commands

    def _carry_out(self, directive: str, commands: Sequence[str]) -> Iterator[str]:
        """The work for one directive: mostly one command a turn, at times several.

        A directive without commands cannot be done and gets one harmless attempt.
        """
        named = self._named_fixtures(directive)
        if named and self.rng.random() < 0.06:
            yield f"cat {quote(self.rng.choice(named))}"
        if not commands and (attempts := self._attempts(directive)):
            commands = [self.rng.choice(attempts)]
        if self.style == "one" or self.scenario.terminal == "panic":
            for command in commands:
                yield command
                self._note_failure(command)
        else:
            yield from self._joined(commands)

    def _attempts(self, directive: str) -> list[str]:
        if self.scenario.task not in ARCHETYPES:  # a kind of work that is not known here: what the gate has tried
            words = set(NAME.findall(directive))
            return [one for one in self.scenario.blocked_attempt or () if words & ({*NAME.findall(one)} - SYNTAX)]
        fixtures = [fixture.path for fixture in self.scenario.world_fixtures()]
        return harmless_attempts(self.scenario.task, directive, fixtures, self.scenario.blocked_outputs)

    def _joined(self, commands: Sequence[str]) -> list[str]:
        """The commands as turns: one each, or two or four joined, depending on the style of this session."""
        if not all(map(is_plain, commands)):
            return list(commands)
        many, joint = (4, "\n") if self.style == "lines" else (2, "; ")
        return [joint.join(commands[start : start + many]) for start in range(0, len(commands), many)]

    def _named_fixtures(self, directive: str) -> list[str]:
        """Small text files of the world that the directive names, relative to the home."""
        named = {match[1] or match[2] for match in PATH.finditer(directive)}
        small = [fixture for fixture in self.scenario.fixtures if fixture.text is not None and len(fixture.text) < 400]
        return [path for path in (f.path.removeprefix(HOME + "/") for f in small) if path in named]

    def _note_failure(self, command: str) -> None:
        """Remember the command that has just failed, and the line of its error message."""
        lines = [line for line in self.last.splitlines() if TROUBLE.search(line)]
        if lines:
            self.failure = (command, lines[0])

    def _look_after(self, products: Sequence[str]) -> Iterator[str]:
        """List what was to be made, or look at the last of it."""
        if not products or any(re.search(r"\bcd\b", command) for command in self.scenario.reference_solution):
            yield "ls"
            return
        yield " ".join(["ls", *map(quote, products)])
        if self.scenario.terminal == "exit" and self.rng.random() < 0.1:
            yield f"cat {quote(products[-1])}"

    def _give_up(self) -> Iterator[str]:
        """Panic with a reason in words that the screen has shown."""
        reason = obstacle(self.scenario, *self.failure) if self.failure else ""
        said = terminal_of(f"panic {reason}")
        yield f"panic {reason}" if said and said.reason else "panic one directive cannot be carried out"


def parts_of(scenario: Scenario) -> list[list[str]]:
    """The commands of the reference solution that belong to each directive, in order; none for a blocked directive.

    A scenario does not record this. Of all ways to cut the solution into consecutive parts, one per directive, the one
    wins whose commands share most words with their own directive alone. A word of a fixture's path counts three times,
    since words like `sort` and `for` are in commands and directives alike.
    """
    paths = set(NAME.findall(" ".join(fixture.path for fixture in scenario.fixtures)))
    commands = scenario.reference_solution
    words = [set(NAME.findall(text)) for text in scenario.directives]
    ways: dict[tuple[int, int], tuple[int, list[list[str]]]] = {(0, 0): (0, [])}
    for index, here in enumerate(words):  # (commands given out, directives without) -> the best (words shared, parts)
        own = here.difference(*words[:index], *words[index + 1 :])
        met = [own.intersection(NAME.findall(command)) - SYNTAX for command in commands]
        shared = [len(names) + 2 * len(names & paths) for names in met]
        longer: dict[tuple[int, int], tuple[int, list[list[str]]]] = {}
        for (start, without), (total, parts) in ways.items():
            for end in range(start, len(commands) + 1):
                place = (end, without + (start == end))
                way = (total + sum(shared[start:end]), [*parts, commands[start:end]])
                longer[place] = max(longer.get(place, way), way)
        ways = longer
    blocked = scenario.terminal == "panic"
    ends = [
        (total, -abs(without - blocked), parts)
        for (end, without), (total, parts) in ways.items()
        if end == len(commands)
    ]
    return max(ends)[2]


def is_plain(command: str) -> bool:
    """True when another command may follow `command` on its line."""
    return not ("\n" in command or "#" in command or command.rstrip()[-1:] in "&;\\")


def made_things(scenario: Scenario, parts: dict[int, list[str]]) -> list[str]:
    """Paths, relative to the home, that the directives ask for and that do not exist at the start, in their order.

    Of a directive that can be done only paths count that its commands (`parts`, by directive) name too. A name without
    a directory counts as there where a file of that name lies anywhere, and as no file without an ending.
    """
    there = {fixture.path.removeprefix(HOME + "/") for fixture in scenario.world_fixtures()}
    there |= {PurePosixPath(path).name for path in there}
    found: dict[str, None] = {}
    for number, directive in enumerate(scenario.directives):
        typed = " ".join(parts[number])
        unpacks = any(path.endswith(tuple(ARCHIVE_TESTS)) and path in directive for path in there)
        for match in PATH.finditer(re.sub(r"https?://\S+", "", directive)):
            path = match[1] or match[2]
            in_work = f"> {quote(path)}" in typed if unpacks else path in typed  # not the member of an archive
            if path not in there and re.search(r"\w[/.]", path) and (in_work or not typed):
                found[path] = None
    return list(found)


def obstacle(scenario: Scenario, command: str, line: str) -> str:
    """A short reason for a panic after `command` failed with the message `line`; it names the missing thing."""
    words = shlex.split(command, posix=True)
    archive = next((word for word in words if word.endswith(tuple(ARCHIVE_TESTS))), None)
    address = re.search(r"https?://([\w.-]+)", command)
    place = re.search(r"(?<![\w.])/\w[\w./-]*", command)
    if line.endswith("not found"):
        return f"not found: {words[0]}"
    if scenario.task == "broken_archive" and archive:
        return f"damaged: {archive.removeprefix('./')}"
    if scenario.task == "unreachable_host" and address:
        return f"cannot reach: {address[1]}"
    if scenario.task == "forbidden_place" and place:
        return f"cannot write: {place[0]}"
    named = next((word for word in words[1:] if word in line and not word.startswith("-")), None)
    if "No such file" in line and named:
        return f"no such file: {named.removeprefix('./')}"
    return line.strip()


def harmless_attempts(task: str, text: str, fixtures: Iterable[str], made: Iterable[str]) -> list[str]:
    """Commands, made of the words of a blocked directive `text`, that try it and change nothing.

    The paths of `fixtures` exist; those of `made` are the outputs that a success would leave.
    """
    named = [match[1] or match[2] for match in PATH.finditer(text)]
    if task == "missing_source":
        there, later = ({path.removeprefix(HOME + "/") for path in paths} for paths in (fixtures, made))
        known = {str(place) for path in there for place in (path, *PurePosixPath(path).parents)}
        missing = sorted((path for path in named if path not in known), key=lambda path: path in later)
        return [f"{look} {quote(path)}" for path in missing[:1] for look in ("ls", "cat")]
    if task == "forbidden_place" and (match := re.search(r"(?<![\w.])/\w[\w./-]*\w", text)):
        return [f"touch {match[0]}"]
    if task == "absent_program" and (match := ABSENT.search(text)):
        return [f"{match[0]} --help"]
    if task == "unreachable_host" and (match := re.search(r"https?://[\w./-]*\w", text)):
        return [f"wget -q -O - {match[0]}"]
    if task == "broken_archive":
        for path in named:
            if test := next((test for ending, test in ARCHIVE_TESTS.items() if path.endswith(ending)), None):
                return [f"{test} {quote(path)}"]
    return []


def quote(path: str) -> str:
    """The path as a word of a command: quoted if needed, with `./` before a leading dash."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)
