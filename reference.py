"""Play a scenario's reference solution as a person would: look around, find out, do it, leave.

    operator = ReferenceOperator()
    operator.begin(scenario, seed=1)

Reads   nothing
Writes  nothing
Needs   nothing

It makes offline data, so what it does must be learnable from the screen: it calls the provider only after it has seen
the announcement, and it works only after it has seen every directive; where it cannot see one it panics. Four sessions
of five follow a few plain routines; the rest looks elsewhere first, looks at results, or joins commands. Everything is
drawn from the seed.
"""

import random
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from operators import Move, Tokens
from schema import HOME, Message, OperatorInfo, Scenario

LOOKS: dict[str, float] = {  # what is typed first where the login shows no announcement
    "ls": 0.46,
    "env": 0.20,
    "ls -la": 0.10,
    "ls; env": 0.08,
    "pwd": 0.05,
    "ls -a": 0.04,
    "printenv": 0.03,
    "cat /etc/motd": 0.02,
    "id": 0.02,
}
SIDE_LOOKS = ("ls", "ls -la", "pwd", "ls -a")  # where the login shows it, and somebody looks around all the same
PATH = re.compile(r"'([^'\n]+)'|(?<![\w./-])((?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z0-9]+|/?(?:[\w.-]+/)+[\w.-]*[\w-])")


class ReferenceOperator:
    """Plays discovery, the reference solution and the right terminal. Deterministic in scenario and seed."""

    def __init__(self) -> None:
        self.seed = 0
        self.screen = ""
        self.last = ""

    def begin(self, scenario: Scenario, seed: int) -> None:
        """Start a session of `scenario`."""
        self.scenario, self.seed = scenario, seed
        self.rng = random.Random(f"reference/{seed}/{scenario.content_hash}")
        self.plan = self._play()

    def command(self, messages: Sequence[Message]) -> Move:
        """The next command, given what the screen has shown so far."""
        self.screen = "\n".join(message.content for message in messages if message.role == "user")
        return Move(next(self.plan))

    def info(self) -> OperatorInfo:
        """The kind and the seed say it all."""
        return OperatorInfo(kind="reference", seed=self.seed)

    def tokens(self) -> Tokens | None:
        """None: it writes text."""
        return None

    def _play(self) -> Iterator[str]:
        yield from self._find_announcement()
        if not self._announced():
            yield "panic nothing here says what is wanted"
        yield from self._learn()
        yield from self._ask()
        if missing := [text for text in self.scenario.directives if text not in self.screen]:
            yield f"panic only {len(self.scenario.directives) - len(missing)} directives can be read"
        yield from self._look_before()
        yield from self._work()
        if self.scenario.terminal == "panic":
            yield from self._give_up()
        else:
            yield from self._look_after()
            yield self._some({"exit": 0.85, "exit 0": 0.15})

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
            words = {"env" if word == "printenv" else word for word in re.split(r"[ ;]+", look)} & {"ls", "env"}
            if words and words <= done:
                continue
            done |= words
            yield look
            if not self._announced():
                yield from self._follow_place()
            if self._announced():
                yield from self._look_again()
                return

    def _follow_place(self) -> Iterator[str]:
        """Read the notice or the mail once the screen has shown where it lies."""
        place = self.scenario.announcement.place
        if place is None or not place.startswith("/"):
            return
        relative = PurePosixPath(place).relative_to(HOME)
        if f"MAIL={place}" in self.screen and self.rng.random() < 0.8:
            yield self._some({'cat "$MAIL"': 0.6, f"cat {shlex.quote(place)}": 0.4})
        elif self._listed(relative.parts[0]):
            if len(relative.parts) > 1 and not self._listed(str(relative)):
                yield f"find {shlex.quote(relative.parts[0])} -type f"
            yield f"cat {_word(str(relative))}"
        elif f"MAIL={place}" in self.screen:
            yield 'cat "$MAIL"'

    def _listed(self, name: str) -> bool:
        """True when a line of the screen ends in `name`, as in a listing."""
        return re.search(rf"(?:^|[\s/]){re.escape(name)}$", self.screen, re.MULTILINE) is not None

    def _look_again(self) -> Iterator[str]:
        place = self.scenario.announcement.place
        if self.scenario.announcement.channel == "env" and self.rng.random() < 0.12:
            yield f'echo "${place}"'

    def _learn(self) -> Iterator[str]:
        """The help commands in order; the bare call is left out at times where `--help` follows anyway."""
        commands = list(self.scenario.provider.help_commands)
        if len(commands) > 1 and commands[1] == f"{commands[0]} --help" and self.rng.random() < 0.2:
            commands = commands[1:]
        yield from commands

    def _ask(self) -> Iterator[str]:
        """The directive commands: the first alone (it may be the list), the others one by one or at once."""
        first, *others = self.scenario.provider.directive_commands
        yield first
        if len(others) > 1 and self.rng.random() < 0.15:
            yield self.rng.choice(["; ", "\n", " && "]).join(others)
        else:
            yield from others

    def _named_fixtures(self) -> list[str]:
        """Small text files of the world that a directive names, relative to the home."""
        named = {match[1] or match[2] for text in self.scenario.directives for match in PATH.finditer(text)}
        small = [fixture for fixture in self.scenario.fixtures if fixture.text is not None and len(fixture.text) < 400]
        return [path for path in (f.path.removeprefix(HOME + "/") for f in small) if path in named]

    def _look_before(self) -> Iterator[str]:
        named = self._named_fixtures()
        if named and self.rng.random() < 0.12:
            yield f"cat {_word(self.rng.choice(named))}"

    def _work(self) -> Iterator[str]:
        """The reference solution: mostly one command a turn, at times several."""
        commands = self.scenario.reference_solution
        style = self._some({"one": 0.84, "lines": 0.08, "pairs": 0.08})
        plain = all("\n" not in command and not command.rstrip().endswith(("&", ";", "\\")) for command in commands)
        if style == "one" or not plain or any("#" in command for command in commands):
            yield from commands
        elif style == "lines":
            yield from ("\n".join(commands[start : start + 4]) for start in range(0, len(commands), 4))
        else:
            yield from ("; ".join(commands[start : start + 2]) for start in range(0, len(commands), 2))

    def _look_after(self) -> Iterator[str]:
        commands = self.scenario.reference_solution
        if self.rng.random() >= 0.15 or any(re.search(r"\bcd\b", command) for command in commands):
            return
        written = re.search(r"> ?([\w./-]+)$", commands[-1])
        yield f"cat {_word(written[1])}" if written and not written[1].startswith("/dev/") else "ls"

    def _give_up(self) -> Iterator[str]:
        """See for oneself that the blocked directive cannot be done, then say what is missing."""
        attempt, reason = obstacle(self.scenario)
        if attempt and self.rng.random() < 0.8:
            yield attempt
        yield f"panic {reason}"


def obstacle(scenario: Scenario) -> tuple[str | None, str]:
    """What stands in the way of a blocked scenario: a harmless command that shows it, and what to say of it.

    Both are made of words of the directives. The command reads or is refused; it never leaves anything behind.
    """
    known = {fixture.path.removeprefix(HOME + "/") for fixture in scenario.world_fixtures()}
    known |= {str(parent) for path in known for parent in PurePosixPath(path).parents}
    faked = {path.removeprefix(HOME + "/") for path in scenario.blocked_outputs}
    work = "\n".join(scenario.reference_solution)
    named = [match[1] or match[2] for text in scenario.directives for match in PATH.finditer(text)]
    for path in named:
        if path not in known and path not in faked and path not in work and f"{HOME}/{path}" not in faked:
            return f"ls {_word(path)}", f"no such file: {path}"
    return None, "one directive cannot be carried out"


def _word(path: str) -> str:
    """`path` as a word of a command, safe before a leading dash."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)
