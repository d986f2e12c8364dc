"""Define what all templates share: units of work, fresh names, and a checker made from the expected end state.

    names = Names(random.Random("1/0"))
    note = fixture(names.file("txt"), names.text())
    checker = checker_for([], after=[note], removed=[])

A template never writes a checker. It states the world's end state, and `checker_for` turns that into POSIX sh. The gate
then shows in a real shell that solution and end state agree.
"""

import random
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeVar

from authoring.templates.words import EXTENSIONS, WORDS
from operators.reference import quote as quote  # the shapes take it from here
from schema import HOME, Fixture, sha256

T = TypeVar("T")

_PARTS_OF_OTHERS = frozenset(word for word in WORDS if any(word in other for other in WORDS if other != word))
AWKWARD_SHARE = 0.4  # share of awkward names in a world with awkward names
RESERVED_WORDS = 200  # of the word list, for contents only: they never equal a name or a word that a directive asks for


@dataclass(frozen=True)
class Unit:
    """The work of one directive.

    `directive` is the sentence that the provider prints. `after` holds every entry that the work creates or changes, in
    its final form, and `removed` the paths that it removes. `checks` are lines of POSIX sh that must also succeed, for
    conditions that `after` cannot express (the members of an archive). A unit that cannot be carried out has no
    solution and no `after`. Its `blocked_outputs` are the paths that a faked success would leave. Its `attempt` holds
    the commands that would do the work.

    A world holds several units, distractors and perhaps a notice or a mailbox in the home. So a glob or `find` in a
    solution stays below a directory of its own unit.
    """

    fixtures: list[Fixture]
    directive: str
    solution: list[str]
    after: list[Fixture]
    removed: list[str] = field(default_factory=list)
    blocked_outputs: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    attempt: list[str] = field(default_factory=list)


Shape = Callable[["Names"], Unit]


class Names:
    """Fresh names, contents and numbers for one world, all picked with `rng`.

    `word` never returns a word twice, and none that is in a filler. In an awkward world some names have a space or a
    leading dash. `plain=True` excludes that, for example where a glob in the working directory would match the name.
    """

    def __init__(self, rng: random.Random, awkward: bool = False) -> None:
        self.rng, self.awkward = rng, awkward
        words = rng.sample(WORDS, len(WORDS))
        self._fillers, self._fresh = words[:RESERVED_WORDS], words[RESERVED_WORDS:]

    def pick(self, options: Sequence[T]) -> T:
        """One of `options`."""
        return self.rng.choice(options)

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return self.rng.randint(low, high)

    def word(self) -> str:
        """A word that this world has not used yet."""
        return self._fresh.pop()

    def words(self, count: int) -> list[str]:
        """`count` fresh words."""
        return [self.word() for _ in range(count)]

    def keyword(self) -> str:
        """A fresh word that is part of no other word, so that a search for it matches nothing else."""
        while (word := self.word()) in _PARTS_OF_OTHERS:
            pass
        return word

    def stem(self, *, plain: bool = False) -> str:
        """A fresh name without extension, sometimes of two words, sometimes awkward."""
        words = self.words(self.pick([1, 1, 2]))
        if self.awkward and not plain and self.rng.random() < AWKWARD_SHARE:
            return self.pick([f"{words[0]} {self.word()}", f"-{words[0]}"])
        return self.pick(["-", "-", "_"]).join(words)

    def file(self, ext: str = "txt", *, plain: bool = False) -> str:
        """A fresh file name."""
        return f"{self.stem(plain=plain)}.{ext}" if ext else self.stem(plain=plain)

    def directory(self) -> str:
        """A fresh directory name, never awkward: else every path below it would be."""
        return self.stem(plain=True)

    def path(self, ext: str = "txt", depth: int = 1, *, plain: bool = False) -> str:
        """A fresh relative path, `depth` fresh directories deep."""
        return "/".join([*(self.word() for _ in range(depth)), self.file(ext, plain=plain)])

    def filler(self, count: int = 1) -> list[str]:
        """`count` different words for contents. Another call may repeat them; `word` never returns them."""
        return self.rng.sample(self._fillers, count)

    def line(self, low: int = 2, high: int = 4) -> str:
        """A line of filler words."""
        return " ".join(self.filler(self.number(low, high)))

    def lines(self, count: int) -> list[str]:
        """`count` different lines of filler words."""
        starts = self.filler(count)
        return [" ".join([start, *(self.filler(self.number(1, 3)))]) for start in starts]

    def text(self, low: int = 3, high: int = 6) -> str:
        """A file's content: `low` to `high` different lines."""
        return text_of(self.lines(self.number(low, high)))

    def numbers(self, count: int, low: int = 1, high: int = 99) -> list[int]:
        """`count` different whole numbers."""
        return self.rng.sample(range(low, high + 1), count)


def saving_unit(
    names: Names,
    fixtures: Sequence[Fixture],
    out: str,
    text: str,
    *,
    asks: Sequence[str],
    solution: list[str],
) -> Unit:
    """A unit that changes no fixture and writes `text` to a new file `out`; `asks` are the directive's wordings."""
    return Unit(list(fixtures), names.pick(asks), solution, after=[fixture(out, text)])


def editing_unit(
    fixtures: Sequence[Fixture],
    texts: dict[str, str],
    directive: str,
    solution: list[str],
) -> Unit:
    """A unit that changes files in place; `texts` maps their paths to the new contents."""
    after = [fixture(path, text) for path, text in texts.items()]
    return Unit(list(fixtures), directive, solution, after)


def text_of(lines: Iterable[str]) -> str:
    """The lines as a file's content, each ended by a newline."""
    return "".join(f"{line}\n" for line in lines)


def fixture(path: str, text: str, mode: int | None = None) -> Fixture:
    """A file at a path relative to the home. In `after`, its mode is checked if it was given here."""
    fields = {} if mode is None else {"mode": mode}
    return Fixture(path=f"{HOME}/{path}", text=text, **fields)  # type: ignore[arg-type]


def directory(path: str, mode: int | None = None) -> Fixture:
    """A directory at a path relative to the home. Without a mode it has 0755, which is not checked in `after`."""
    entry = Fixture(path=f"{HOME}/{path}", type="dir", mode=0o755 if mode is None else mode)
    if mode is None:
        entry.model_fields_set.discard("mode")
    return entry


def link(path: str, target: str) -> Fixture:
    """A symbolic link at a path relative to the home."""
    return Fixture(path=f"{HOME}/{path}", type="symlink", mode=0o777, target=target)


def shown(path: str) -> str:
    """The path as a directive writes it: in single quotes if it has a space."""
    return f"'{path}'" if " " in path else path


def listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


_PROLOGUE = f"""\
cd {HOME} || exit 1
bad() {{ echo "$1: $2"; exit 1; }}
is_file() {{
  [ -f "$1" ] && [ ! -L "$1" ] || bad "$1" "not a regular file"
  [ "$(sha256sum < "$1")" = "$2  -" ] || bad "$1" "other content"
}}
is_dir() {{ [ -d "$1" ] && [ ! -L "$1" ] || bad "$1" "not a directory"; }}
is_link() {{ [ -L "$1" ] && [ "$(readlink "$1")" = "$2" ] || bad "$1" "not the link"; }}
has_mode() {{ [ "$(stat -c %a "$1")" = "$2" ] || bad "$1" "other mode"; }}
is_gone() {{ [ ! -e "$1" ] && [ ! -L "$1" ] || bad "$1" "still there"; }}
"""


def checker_for(
    fixtures: Sequence[Fixture],
    after: Sequence[Fixture],
    removed: Sequence[str],
    *,
    strict: bool = False,
    checks: Sequence[str] = (),
) -> str:
    """POSIX sh that exits 0 if the world is as expected, and else prints the first difference and exits 1.

    Every entry of `after` is checked by type and content, and by mode if its mode was given. Every fixture that is in
    neither `after` nor `removed` must be unchanged, mode included. `removed` holds paths relative to the home. `strict`
    allows no other path below the home; then `fixtures` must include the file of the announcement.
    """
    expected = {entry.path: entry for entry in after}
    gone = {f"{HOME}/{path}" for path in removed}
    kept = [entry for entry in fixtures if entry.path not in expected and entry.path not in gone]
    lines = [line for entry in after for line in _entry_lines(entry, "mode" in entry.model_fields_set)]
    lines += [f"is_gone {quote(path)}" for path in removed]
    lines += [line for entry in kept for line in _entry_lines(entry, True)]
    lines += [f'{{ {check}; }} || bad "$PWD" "check {index} failed"' for index, check in enumerate(checks, 1)]
    if strict:
        lines += _whole_tree_lines([*expected, *(entry.path for entry in kept)])
    return _PROLOGUE + "\n".join([*lines, "exit 0"]) + "\n"


def _relative(path: str) -> str:
    return path.removeprefix(HOME + "/")


def _entry_lines(entry: Fixture, with_mode: bool) -> list[str]:
    """The checks of one entry."""
    name = quote(_relative(entry.path))
    if entry.type == "symlink":
        return [f"is_link {name} {shlex.quote(entry.target or '')}"]
    lines = [f"is_dir {name}" if entry.type == "dir" else f"is_file {name} {sha256(entry.content())}"]
    return [*lines, f"has_mode {name} {entry.mode:o}"] if with_mode else lines


def _whole_tree_lines(paths: Iterable[str]) -> list[str]:
    """Checks that the world holds these paths and their parents, and nothing else."""
    everything = {"."}
    for path in paths:
        relative = PurePosixPath(_relative(path))
        everything |= {f"./{relative}", *(f"./{parent}" for parent in relative.parents if str(parent) != ".")}
    wanted = "".join(f"{path}\n" for path in sorted(everything, key=str.encode))
    return [f'[ "$(find . | LC_ALL=C sort)" = {shlex.quote(wanted.rstrip())} ] || bad "$PWD" "entries differ"']


_LETTERS = re.compile(r"[A-Za-z]+")
_NAMES = frozenset(WORDS)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_EXTENSION = re.compile(r"(?<=[N*0])\.(?:" + "|".join(sorted(EXTENSIONS, key=len, reverse=True)) + r")\b")
_QUOTED = re.compile(r"""(['"])[-./ ]*N[-_./ N0]*\1""")
_PATH = re.compile(r"(?<![A-Za-z])(?:\./)?-?N(?:[-_/]+N)*")


def masked(text: str) -> str:
    """The sentence frame of `text`: names and paths become N, numbers 0 and extensions .E.

    Two directives or commands with the same frame differ only in names and numbers.
    """
    text = _LETTERS.sub(lambda letters: "N" if letters[0].lower() in _NAMES else letters[0], text)
    text = _NUMBER.sub("0", text)
    text = _EXTENSION.sub(".E", text).replace("N.E", "N")
    return re.sub(r"\s+", " ", _PATH.sub("N", _QUOTED.sub("N", text))).strip()
