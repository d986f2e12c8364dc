"""Write the tiny base's training corpus: plain instructions, shell transcripts and copying exercises.

    python -m tiny_base.corpus --seed 0 --n 3     # print three documents

Reads   nothing
Writes  nothing
Needs   nothing

Document `i` of a seed is the same on every machine and in any order. The corpus holds no session of this project: no
text announces a program, no program prints directives, and no turn ends a session. It asks for work with the
`instruction` of a unit, whose sentence frame no directive uses. Every output is computed in Python from the fixtures of
the unit; no command is run.
"""

import argparse
import random
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from pipeline import stage
from authoring import templates
from authoring.templates.wording import instruction_of, with_opener_and_closer
from authoring.templates.words import CALLED, CALLS
from authoring.templates.world import Names, Unit, fixture, quote
from operators.reference import harmless_attempts
from schema import HOME, Message, canonical, sha256
from taxonomy import ARCHETYPES
from tiny_base.looks import HomeView, Look, lines

PROMPT = Message(role="user", content="$ ")
UNLISTED = 0.08  # share of file names that are not made of listed words
DIGESTED = 200  # documents
WRONG = 0.15  # share of `tool` documents with one wrong call


@dataclass(frozen=True)
class Document:
    """A training document: turns, or a transcript where `plain`. `weight` is the loss weight of a command."""

    kind: str
    archetypes: tuple[str, ...]
    messages: list[Message]
    weight: float = 1.0
    plain: bool = False
    solutions: tuple[str, ...] = ()  # the commands that carry out an instruction, as in the turns


def document(seed: int, index: int, archetype: str | None = None) -> Document:
    """Document `index` of the corpus of `seed`; with an archetype, a document of instructions for it alone."""
    rng = random.Random(f"corpus/{seed}/{index}/{archetype}")
    if archetype:
        return work(rng, [archetype])
    writers, shares = zip(*KINDS.values(), strict=True)
    write: Callable[[random.Random], Document] = rng.choices(writers, shares)[0]
    return write(rng)


def documents(seed: int, start: int = 0) -> Iterator[Document]:
    """Yield the corpus of `seed` from document `start`, without end."""
    index = start
    while True:
        yield document(seed, index)
        index += 1


def digest(seed: int) -> str:
    """SHA-256 over the first 200 documents of `seed`. Identifies the corpus."""
    turns = ([message.content for message in document(seed, index).messages] for index in range(DIGESTED))
    return sha256(canonical(list(turns)))


# --- the parts of a document ---------------------------------------------------------------------------------------


def facts_turns(rng: random.Random) -> list[Message]:
    """An opening that states facts, without a goal or a hint."""
    user, host = (
        rng.choice(["kim", "operator", "ada", "guest", "root", "sam"]),
        rng.choice(["box", "dash", "node", "pi"]),
    )
    system = rng.choice(
        [
            "You type into a POSIX shell.",
            "A shell session. The user's turns hold what the shell printed.",
            "This is dash, a small POSIX shell, without a network.",
            "A terminal. Each answer is one command line.",
            f"Shell of {user}. Current directory and variables are kept between commands, functions are not.",
            "The answers go to /bin/sh as they are.",
            "You are a shell assistant: answer with the command, nothing else.",
        ]
    )
    facts = rng.choice(
        [
            "",
            "",
            f"Last login: day {rng.randint(1, 28)} on tty{rng.randint(0, 9)}",
            f"{host} login: {user}\nWorking directory: /home/{user}",
            f"Connected to {host} as {user}.\nThe home directory is /home/{user}.",
            f"user {user}, uid {rng.choice([0, 1000, 1001])}, shell dash, host {host}",
        ]
    )
    return [Message(role="system", content=system), *([Message(role="user", content=facts)] if facts else [])]


def user(content: str) -> Message:
    """A user turn."""
    return Message(role="user", content=content)


def typed(steps: list[Look]) -> list[Message]:
    """The turns of each step: prompt, command, and output unless it is empty."""
    turns: list[Message] = []
    for command, output in steps:
        turns += [PROMPT, Message(role="assistant", content=command)]
        turns += [user(output)] if output else []
    return turns


def token_name(rng: random.Random, names: Names) -> str:
    """A name to copy: listed words, a program name, a word from usages, syllables, upper case or hex digits."""
    kind = rng.random()
    if kind < 0.35:
        return names.stem()
    if kind < 0.5:
        return program(rng, names)
    if kind < 0.7:
        return rng.choice([*CALLED, *CALLS, "exit", "panic", "stop", "error", "status", "help"])
    if kind < 0.85:
        return syllables(rng)
    if kind < 0.93:
        return rng.choice(["_", ""]).join(names.words(rng.randint(1, 2))).upper()
    return "".join(rng.choice("0123456789abcdef") for _ in range(rng.randint(3, 8)))


def syllables(rng: random.Random) -> str:
    """A made-up name of several tokens, not in the word lists."""
    parts = [rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(2, 4))]
    return "".join(parts) + rng.choice(["", "", "n", "s", "x"])


def program(rng: random.Random, names: Names) -> str:
    """A program name: one part with or without a suffix, or two parts joined by `-`, `_` or nothing."""
    parts = [names.word(), rng.choice([rng.choice(CALLED), rng.choice(CALLED), names.word(), syllables(rng)])]
    rng.shuffle(parts)
    style = rng.random()
    if style < 0.2:
        return rng.choice([parts[0], syllables(rng)]) + rng.choice(["", "", "s", "er", ".sh", "2"])
    return rng.choice(["-", "-", "_", "_", "", "", ""]).join(parts)


class MixedNames(Names):
    """Names as in scenarios; a share of UNLISTED of the stems has syllables or capitals instead."""

    def stem(self, *, plain: bool = False) -> str:
        """A fresh name without extension."""
        if self.rng.random() >= UNLISTED:
            return super().stem(plain=plain)
        listed, fresh = self.word(), syllables(self.rng)
        return self.pick(
            [fresh, fresh.capitalize(), fresh.upper(), listed.upper(), listed.capitalize(), f"{listed}-{fresh}"]
        )


# --- work: the archetypes' instructions and their commands ---------------------------------------------------------


def work(rng: random.Random, archetypes: list[str] | None = None) -> Document:
    """One to six instructions, given in one of four ways, and the commands that carry them out."""
    names = MixedNames(rng, awkward=rng.random() < 0.3)
    chosen = archetypes or rng.choices(
        [a for a in ARCHETYPES if a in templates.SHAPES], k=rng.choice([1, 2, 2, 3, 3, 4, 5, 6])
    )
    jobs = [Work.of(archetype, names) for archetype in chosen]
    world = HomeView()
    for job in jobs:
        world.add(job.unit.fixtures)
    ways = {one_by_one: 3, at_once: 1, from_notes: 3, one_note: 1}
    turns = rng.choices(list(ways), list(ways.values()))[0](rng, names, world, jobs)
    return Document(
        kind="work",
        archetypes=tuple(chosen),
        messages=[*facts_turns(rng), *turns],
        solutions=tuple(command for job in jobs for command in job.unit.solution),
    )


@dataclass(frozen=True)
class Work:
    """A unit of an archetype."""

    archetype: str
    unit: Unit

    @classmethod
    def of(cls, archetype: str, names: Names) -> "Work":
        """A fresh unit of the archetype."""
        return cls(archetype, unit_of(archetype, names))

    def done(self, rng: random.Random, world: HomeView) -> list[Message]:
        """The commands, sometimes with an extra listing; applies their effects to the world."""
        paths = [entry.path.removeprefix(HOME + "/") for entry in self.unit.fixtures]
        before = rng.choice(world.looks(rng.choice(paths))) if paths and rng.random() < 0.25 else None
        steps = [before] if before else []
        steps += [Look(command, "") for command in joined(self.unit.solution, rng)]
        if not self.unit.solution:
            return [*typed(steps + attempt(self, rng)), *([user(rng.choice(LEAVE))] if rng.random() < 0.7 else [])]
        world.add(self.unit.after)
        world.drop(self.unit.removed)
        changed = [entry.path.removeprefix(HOME + "/") for entry in self.unit.after]
        if changed and rng.random() < 0.25:
            steps.append(rng.choice(world.looks(rng.choice(changed))))
        return typed(steps)


LEAVE = ["Leave that one.", "Never mind.", "Too bad, skip it.", "ok, not that then", "Forget about it."]


def joined(commands: list[str], rng: random.Random) -> list[str]:
    """The commands, one per turn; in a tenth of the cases two or all of them in one turn."""
    style = rng.random()
    if style < 0.9 or any(character in command for command in commands for character in "\n#&"):
        return commands
    return (
        ["\n".join(commands)]
        if style < 0.95
        else ["; ".join(commands[at : at + 2]) for at in range(0, len(commands), 2)]
    )


def attempt(job: Work, rng: random.Random) -> list[Look]:
    """A harmless attempt at a blocked unit, and its error."""
    fixtures = [entry.path for entry in job.unit.fixtures]
    tried = harmless_attempts(job.archetype, job.unit.instruction, fixtures, job.unit.blocked_outputs)
    return [Look(command, refusal(command, rng)) for command in rng.sample(tried, min(1, len(tried)))]


def refusal(command: str, rng: random.Random) -> str:
    """The error of a harmless attempt in a sandbox without a network."""
    program, *_, target = shlex.split(command)
    host = re.sub(r"https?://|/.*", "", target)
    unreachable = f"can't connect to remote host ({host}): Network is unreachable"
    said = {
        "ls": [f"{target}: No such file or directory"],
        "cat": [f"can't open '{target}': No such file or directory"],
        "touch": [f"{target}: {why}" for why in ("Read-only file system", "No such file or directory")],
        "wget": [unreachable if host[:1].isdigit() else f"bad address '{host}'"],
        "gunzip": ["corrupted data", "unexpected end of file"],
        "bunzip2": ["corrupted data"],
        "tar": ["corrupted data\ntar: short read"] if "z" in command.split()[1] else ["invalid tar magic"],
    }
    if program == "unzip":
        head = f"Archive:  {target}\n  Length      Date    Time    Name\n---------  ---------- -----   ----\n"
        return f"{head}unzip: short read\n"
    if program not in said:
        return f"sh: 1: {program}: not found\n"
    return f"{program}: {rng.choice(said[program])}\n"


def one_by_one(rng: random.Random, names: Names, world: HomeView, jobs: list[Work]) -> list[Message]:
    """Each instruction is a user turn, followed by its commands."""
    turns: list[Message] = []
    for job in jobs:
        turns += [user(with_opener_and_closer(instruction_of(job.unit, rng), rng)), *job.done(rng, world)]
    return turns


def at_once(rng: random.Random, names: Names, world: HomeView, jobs: list[Work]) -> list[Message]:
    """All instructions, as a list or as one turn each, then the commands in that order."""
    mark = rng.choice(["{}. ", "{}) ", "({}) ", "- ", "job {}: ", "no {} - ", "{}: "])
    rows = [mark.format(number) + instruction_of(job.unit, rng) for number, job in enumerate(jobs, 1)]
    if rng.random() < 0.6:
        head = rng.choice(["", "", f"{len(jobs)} jobs:\n", "The list of today\n", "Things to do, in this order.\n\n"])
        turns = [user(head + rng.choice(["\n", "\n\n"]).join(rows))]
    else:
        turns = [user(row) for row in rows]
    if rng.random() < 0.3:
        turns += typed(look_around(rng, world, rng.randint(1, 2)))
    return turns + [turn for job in jobs for turn in job.done(rng, world)]


def from_notes(rng: random.Random, names: Names, world: HomeView, jobs: list[Work]) -> list[Message]:
    """Each instruction is in a file of its own; all files are read first, or each before its commands."""
    place = names.directory()
    kept = {f"{place}/{rng.choice([names.file, names.stem])()}": job for job in jobs}
    kept = dict(sorted(kept.items(), key=lambda item: item[0].encode()))
    for path, job in kept.items():
        world.add([fixture(path, with_opener_and_closer(instruction_of(job.unit, rng), rng) + "\n")])
    turns = rng.choice([[], [user(rng.choice(["What is asked lies in {}.", "See {}.", "{} holds it."]).format(place))]])
    turns = turns + typed([world.home(rng)] if rng.random() < 0.5 else [])
    turns += typed([Look(f"ls {quote(place)}", lines(world.listing(place)))])
    readings = {path: typed([Look(f"cat {quote(path)}", world.text(path))]) for path in kept}
    if rng.random() < 0.3:
        turns += [turn for reading in readings.values() for turn in reading]
        return turns + [turn for job in kept.values() for turn in job.done(rng, world)]
    for path, job in kept.items():
        turns += [*readings[path], *job.done(rng, world)]
    return turns


def one_note(rng: random.Random, names: Names, world: HomeView, jobs: list[Work]) -> list[Message]:
    """All instructions are in one file that is shown once."""
    path = names.path(rng.choice(["txt", "md"]), rng.choice([0, 1]))
    mark = rng.choice(["{}. ", "{}) ", "- ", "[{}] ", ""])
    rows = [mark.format(number) + instruction_of(job.unit, rng) for number, job in enumerate(jobs, 1)]
    world.add([fixture(path, rng.choice(["", "", "to do\n\n"]) + rng.choice(["\n", "\n\n"]).join(rows) + "\n")])
    turns = [user(f"{path}")] if rng.random() < 0.3 else typed([world.home(rng)])
    if "/" in path:
        folder = str(PurePosixPath(path).parent)
        turns += typed([Look(f"ls {quote(folder)}", lines(world.listing(folder)))])
    turns += typed([Look(f"cat {quote(path)}", world.text(path))])
    return turns + [turn for job in jobs for turn in job.done(rng, world)]


def unit_of(archetype: str, names: Names) -> Unit:
    """A unit of the archetype; for an archetype that ends in `panic`, a doable unit in half of the cases."""
    blocked = ARCHETYPES[archetype].terminal == "panic"
    return names.pick(templates.units(archetype, names, 2 if blocked else 1))


# --- other documents -----------------------------------------------------------------------------------------------


def look_around(rng: random.Random, world: HomeView, count: int) -> list[Look]:
    """Commands that show the home directory and `count` random entries."""
    steps = [world.home(rng)]
    for path in rng.sample(list(world.entries), min(count, len(world.entries))):
        steps.append(rng.choice(world.looks(path)))
    return steps


def show_home(rng: random.Random) -> Document:
    """A session without an instruction: listings, contents, counts, the environment."""
    names = MixedNames(rng, awkward=rng.random() < 0.3)
    world = random_world(rng, names)
    steps = look_around(rng, world, rng.randint(2, 8)) + facts(rng, names)
    if rng.random() < 0.5:
        steps += visit_directory(rng, world)
    if rng.random() < 0.4:
        steps += mistakes(rng, names)
    if rng.random() < 0.3:
        text = "".join(f"$ {command}\n{output}" for command, output in steps)
        return Document("transcript", (), [user(text)], weight=0.5, plain=True)
    return Document("tour", (), [*facts_turns(rng), *typed(steps)], weight=0.5)


def random_world(rng: random.Random, names: Names) -> HomeView:
    """A few files in a few directories."""
    world = HomeView()
    places = ["", *(names.directory() + "/" for _ in range(rng.randint(1, 3)))]
    for _ in range(rng.randint(3, 7)):
        path = rng.choice(places) + names.file(rng.choice(["txt", "log", "csv", "md", "conf", "list"]))
        world.add([fixture(path, names.text())])
    return world


def visit_directory(rng: random.Random, world: HomeView) -> list[Look]:
    """Commands that enter a directory, show its files and leave it."""
    folders = [path for path, entry in world.entries.items() if entry.type == "dir"]
    if not folders:
        return []
    folder = rng.choice(folders)
    steps = [Look(f"cd {quote(folder)}", ""), Look("ls", lines(world.listing(folder)))]
    if rng.random() < 0.5:
        steps.insert(1, Look("pwd", f"{HOME}/{folder}\n"))
    for name in world.listing(folder)[:2]:
        entry = world.entries[f"{folder}/{name}"]
        if entry.text:
            steps.append(Look(f"cat {quote(name)}", entry.text))
    return [*steps, rng.choice([Look("cd ..", ""), Look("cd", "")])]


def facts(rng: random.Random, names: Names) -> list[Look]:
    """Commands that print variables, the user or the current directory."""
    values = {token_name(rng, names).upper().replace("-", "_").replace(" ", "_"): names.line() for _ in range(2)}
    values = {"A" + name if name[0] in "0123456789_" else name: value for name, value in values.items()}
    variables = {"HOME": HOME, "PATH": "/usr/local/bin:/usr/bin:/bin", "PWD": HOME, "USER": "operator", **values}
    chosen = [
        Look("pwd", f"{HOME}\n"),
        Look("id -un", "operator\n"),
        Look("echo $HOME", f"{HOME}\n"),
        *(Look("env", lines([f"{name}={value}" for name, value in variables.items()])) for _ in range(2)),
        *(Look(f"echo ${name}", f"{value}\n") for name, value in values.items()),
        Look("echo $?", "0\n"),
    ]
    return rng.sample(chosen, rng.randint(0, 3))


def mistakes(rng: random.Random, names: Names) -> list[Look]:
    """Commands that fail, with the errors of busybox and dash."""
    missing, other = quote(names.path("txt", rng.choice([0, 1]))), names.word()
    chosen = [
        Look(f"cat {missing}", f"cat: can't open '{missing}': No such file or directory\n"),
        Look(f"ls {missing}", f"ls: {missing}: No such file or directory\n"),
        Look(f"cd {other}", f"/bin/sh: cd: can't cd to {other}\n"),
        Look(other, f"/bin/sh: {other}: not found\n"),
        Look(f"rmdir {other}", f"rmdir: '{other}': No such file or directory\n"),
        Look(f"grep {other} {missing}", f"grep: {missing}: No such file or directory\n"),
        Look(f"tar -xf {missing}", f"tar: can't open '{missing}': No such file or directory\n"),
    ]
    return rng.sample(chosen, rng.randint(1, 2))


@dataclass(frozen=True)
class Manual:
    """The interface of a made-up program: the calls that list its keys and print one key.

    `looks` are the commands that show the usage.
    """

    keys_call: str | None
    key_call: str
    looks: list[Look]


def manual(name: str, noun: str, key: str, last: int | None, rng: random.Random, names: Names) -> Manual:
    """A random interface; shares no wording with providers.

    Where the keys are the numbers up to `last`, the usage says so and no call lists them.
    """
    known, verb = (rng.choice([*rng.sample(CALLED, 3), *names.words(2), syllables(rng)]) for _ in range(2))
    keys_call, key_call = rng.choice(
        [
            (f"{name} {known}", f"{name} {verb} {{}}"),
            (f"{name} {known}", f"{name} {verb} {{}}"),
            (f"{name} --{known}", f"{name} --{verb} {{}}"),
            (f"{name} -{known[0].upper()}", f"{name} -{verb[0].upper()} {{}}"),
            (f"{name} {known}", f"{name} {verb}={{}}"),
            (f"{name} {known}", f"echo {{}} | {name} {verb}"),
            (f"{name} {known}", f"{name} @{{}}"),
        ]
    )
    gap = rng.choice(["  ", " : ", "    ", "\t"])
    first = rng.choice(["every {} it has", "which {}s are known", "names each {}", "the {}s, one per line"]).format(key)
    second = rng.choice(["what is known of one {}", "the entry of a {}", "looks a {} up"]).format(key)
    value = rng.choice([key.upper(), f"<{key}>"])
    heading = rng.choice([f"{name}, {noun}", f"{noun} ({name})", "synopsis"])
    usage = [f"{keys_call}{gap}{first}", f"{key_call.format(value)}{gap}{second}"]
    looks = [Look(name, lines([heading, *usage]))]
    brief = rng.choice(["call it as {}", "to be called as {}", "understood: {}", "{}"]) if rng.random() < 0.3 else None
    if last is not None:
        known_to = rng.choice(["{} from 1 to {}", "{} 1-{}", "{}: 1 ... {}"]).format(value, last)
        two = rng.choice([[heading, f"{usage[1]}, {known_to}"], [f"{heading}, {known_to}", usage[1]]])
        looks = [Look(name, lines([brief.format(f"{key_call.format(value)}, {known_to}")] if brief else two))]
    elif brief:  # all in one line
        calls = rng.choice([" / ", ", ", " and ", "; "]).join([keys_call, key_call.format(value)])
        looks = [Look(name, lines([brief.format(calls)]))]
    elif rng.random() < 0.3:  # each word has a help of its own
        option, own = rng.choice(["-h", "--help", "help"]), [(known, usage[0]), (verb, usage[1])]
        rng.shuffle(own)
        said = rng.choice(["{}", "understands {}", "words: {}"]).format(rng.choice([" ", ", "]).join(dict(own)))
        looks = [Look(name, lines([heading, said, f"{name} WORD {option}, for more"]))]
        looks += [Look(f"{name} {word} {option}", f"{line}\n") for word, line in own]
    if rng.random() < 0.6:
        found = Look(f"{name} --help", looks[0].output)
        hint = Look(name, f"{name}: say what; {name} --help has it\n")
        looks[:1] = rng.choice([[found], [hint, found]])
    return Manual(None if last else keys_call, key_call, looks)


def tool(rng: random.Random) -> Document:
    """A session with a program that stores facts: reads its usage, then calls it with keys copied from its output."""
    names = Names(rng)
    name = program(rng, names)
    noun, key, value = rng.choice(list(SUBJECTS))
    counted, ranged, last = rng.random() < 0.4, rng.random() < 0.5, rng.randint(1, 5)
    keys = [str(at) for at in range(1, last + 1)] if counted else [token_name(rng, names) for _ in range(last)]
    table = {entry: value(rng, names) for entry in keys}
    asking = manual(name, noun, key, last if counted and ranged else None, rng, names)
    steps = [*asking.looks]
    if asking.keys_call:
        listed = rng.choice(["{}", "{}", f"known {key}s: {{}}", f"{noun} for {{}}"]).format(" ".join(table))
        steps.append(Look(asking.keys_call, rng.choice([lines(list(table)), f"{listed}\n"])))
    if rng.random() < WRONG:  # a call with an unknown word, and its error
        wrong = rng.choice([*rng.sample(CALLED, 2), names.word(), syllables(rng)])
        step = Look(f"{name} {wrong}", rng.choice(REFUSALS).format(name) + "\n")
        steps.insert(rng.randint(0, len(steps)), step)
    wanted, out = rng.choice(list(table)), quote(names.file())
    read = {entry: Look(asking.key_call.format(entry), f"{table[entry]}\n") for entry in table}
    note = {entry: Look(f"echo {quoted(table[entry])} >> {out}", "") for entry in table}
    each, noted = list(read.values()), [step for entry in table for step in (read[entry], note[entry])]
    request, answer = rng.choice(
        [  # in most of these the keys are only in the program's output
            (f"{name} has {noun}. The {key} {wanted}?", [read[wanted]]),
            (f"{name} has {noun}. Read {wanted} there, add it to {out}.", [read[wanted], note[wanted]]),
            (f"{name} has {noun}. {out} gets what it says of {wanted}.", [Look(f"{read[wanted].command} > {out}", "")]),
            (f"Every {key} of {name} ({noun}), each by itself.", each),
            (f"What does {name} say of each {key}?", each),
            (f"What does {name} know?", each),
            (f"The first {key} that {name} knows?", each[:1]),
            (f"The last {key} that {name} knows?", each[-1:]),
            (f"Go through each {key} of {name}, add what it says to {out}.", noted),
            (f"{name} has {noun}. All of it goes to {out}, {key} by {key}.", noted),
            (f"Go through each {key} of {name}, then add that of {wanted} to {out}.", [*each, note[wanted]]),
        ]
    )
    turns = [*facts_turns(rng), user(request), *typed(steps + answer)]
    return Document("tool", (), turns, weight=0.7, solutions=tuple(step.command for step in answer))


REFUSALS = ("{}: not understood", "{} does not know that", "{}: what is that?", "no such word known to {}")
SUBJECTS: list[tuple[str, str, Callable[[random.Random, Names], str]]] = [
    ("phone numbers", "person", lambda rng, names: f"{rng.randint(100, 999)}-{rng.randint(1000, 9999)}"),
    ("prices", "item", lambda rng, names: f"{rng.randint(1, 99)}.{rng.randint(10, 99)}"),
    ("weather reports", "town", lambda rng, names: f"{rng.choice(['rain', 'sun', 'fog'])} {rng.randint(-9, 35)}"),
    ("departures", "line", lambda rng, names: f"{rng.randint(0, 23)}:{rng.randint(10, 59)}"),
    ("heights of hills", "hill", lambda rng, names: f"{rng.randint(200, 4000)} m"),
    ("a glossary", "term", lambda rng, names: names.line()),
    ("recipes", "dish", lambda rng, names: names.line()),
    ("shelf marks", "book", lambda rng, names: names.word().upper() + str(rng.randint(1, 99))),
]


def drill(rng: random.Random) -> Document:
    """Names to copy, from the last turn or from a list many turns before."""
    names = Names(rng, awkward=rng.random() < 0.3)
    stock = [token_name(rng, names) for _ in range(rng.randint(4, 12))]
    mark = rng.choice(["{}. {}", "{} {}", "{}: {}", "{}) {}"])
    turns = [user("\n".join(mark.format(number, name) for number, name in enumerate(stock, 1)))]
    for _ in range(rng.randint(3, 8)):
        number = rng.randrange(len(stock))
        old, fresh, word = stock[number], quote(names.file()), token_name(rng, names)
        request, command, output = rng.choice(
            [
                (f"name {number + 1}", f"echo {quoted(old)}", f"{old}\n"),
                (f"number {number + 1} into {fresh}", f"echo {quoted(old)} > {fresh}", ""),
                (f"say {word}", f"echo {quoted(word)}", f"{word}\n"),
                (f"{fresh} <- {word}", f"echo {quoted(word)} > {fresh}", ""),
                (f"empty file {fresh}", f": > {fresh}", ""),
                (f"word {word} at the end of {fresh}", f"echo {quoted(word)} >> {fresh}", ""),
                ("the whole list", "printf '%s\\n' " + " ".join(quoted(name) for name in stock), lines(stock)),
            ]
        )
        steps = [Look(command, output)]
        if ">" in command and rng.random() < 0.5:
            shown = "" if command.startswith(":") else f"{old if 'number' in request else word}\n"
            steps.append(Look(f"cat {fresh}", shown))
        turns += [user(request), *typed(steps)]
    return Document("drill", (), [*facts_turns(rng), *turns])


def echo(rng: random.Random) -> Document:
    """Long lists of repeated names; this teaches copying fastest."""
    names = Names(rng)
    turns = facts_turns(rng)
    for _ in range(rng.randint(2, 5)):
        kind = rng.random()
        run = names.filler(rng.randint(6, 20)) if kind < 0.5 else [token_name(rng, names) for _ in range(8)]
        if kind > 0.8:
            run = [f"{name}/{other}" for name, other in zip(names.filler(6), names.filler(6), strict=True)]
        command = rng.choice(["echo", "echo", "touch", "mkdir -p", "rm -f", "cat"])
        shown = rng.choice([" ", " ", "\n", ", "]).join(run)
        output = " ".join(run) + "\n" if command == "echo" else ""
        turns += [user(shown), *typed([Look(f"{command} {' '.join(run)}", output if rng.random() < 0.3 else "")])]
    return Document("echo", (), turns)


def quoted(word: str) -> str:
    """The word quoted where the shell would split it."""
    return f"'{word}'" if " " in word else word


# By the name in recipes: the function that writes a document, and its share of the corpus.
KINDS: dict[str, tuple[Callable[[random.Random], Document], float]] = {
    "work": (work, 0.66),
    "tool": (tool, 0.14),
    "tour": (show_home, 0.08),
    "drill": (drill, 0.09),
    "echo": (echo, 0.03),
}


def main(*, seed: int, n: int, archetype: str | None) -> int:
    """Print documents, then the counts as one JSON line."""
    for index in range(n):
        one = document(seed, index, archetype)
        print(f"--- {one.kind} {' '.join(one.archetypes)}", file=sys.stderr)
        for message in one.messages:
            print(f"<|{message.role}|>\n{message.content}", file=sys.stderr)
    stage.print_summary({"documents": n, "seed": seed})
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="corpus seed (default %(default)s)")
    parser.add_argument("--n", type=int, default=3, help="documents to print (default %(default)s)")
    parser.add_argument("--archetype", choices=list(ARCHETYPES), help="only instructions of this archetype")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
