"""Give every template the same bricks: units of work, fresh names, and a checker derived from the expected end state.

    from authoring.templates.world import Names, Unit, checker_for, quote

Reads   nothing
Writes  nothing
Needs   nothing

A family module never writes a checker: it says what the world looks like afterwards, and `checker_for` turns that
into POSIX sh. The gate then proves in a real shell that solution and expectation agree.
"""

import random
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeVar

from authoring.templates.words import EXTENSIONS, WORDS
from schema import HOME, Fixture, sha256

T = TypeVar("T")

_PARTS_OF_OTHERS = frozenset(word for word in WORDS if any(word in other for other in WORDS if other != word))
AWKWARD_SHARE = 0.4  # of the names in a world with awkward names
LATER_WORDINGS = 11  # of each shape's instructions: the corpus grew after scenarios had been written
RESERVED_WORDS = 200  # of the word list, for contents: they never equal a name or a word that a directive asks for


@dataclass(frozen=True)
class Unit:
    """One directive's worth of work in one world shape.

    `directive` is what the provider prints; `instruction` asks for the same work in a sentence frame that no directive
    uses (the base's corpus reads that one, never the directive). `after` holds every entry that the work creates or
    changes, in its final form; `removed` the paths that are gone. `checks` are lines of POSIX sh that must succeed too,
    for what `after` cannot say (the members of an archive). A unit that cannot be done has no solution, no `after`,
    and names in `blocked_outputs` what a faked success would leave behind.

    Units share a world with other units, distractors and perhaps a notice or mailbox in the home: a glob or find of a
    solution stays below a directory that is the unit's own.
    """

    fixtures: list[Fixture]
    directive: str
    instruction: str
    solution: list[str]
    after: list[Fixture]
    removed: list[str] = field(default_factory=list)
    blocked_outputs: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)


Shape = Callable[["Names"], Unit]


class Names:
    """Fresh names, contents and numbers for one world, all drawn from `rng`.

    A word that `word` gave out comes neither again nor in any filler. Awkward worlds mix in names with a space or a
    leading dash; `plain=True` keeps a name out of that (one that a glob in the working directory would meet, say).
    """

    def __init__(self, rng: random.Random, awkward: bool = False) -> None:
        self.rng, self.awkward = rng, awkward
        words = rng.sample(WORDS, len(WORDS))
        self._fillers, self._fresh = words[:RESERVED_WORDS], words[RESERVED_WORDS:]

    def pick(self, options: Sequence[T]) -> T:
        """One of `options`."""
        return self.rng.choice(options)

    def wording(self, options: Sequence[str]) -> str:
        """One of `options`; the last 11 take no draw of `rng`, so that a world stays what it was before they came."""
        usual = options[:-LATER_WORDINGS]
        first = self.pick(usual)
        at = random.Random(first).randrange(len(options))
        return options[at] if at >= len(usual) else first

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return self.rng.randint(low, high)

    def word(self) -> str:
        """A word that this world has not used."""
        return self._fresh.pop()

    def words(self, count: int) -> list[str]:
        """`count` fresh words."""
        return [self.word() for _ in range(count)]

    def keyword(self) -> str:
        """A fresh word that is part of no other word, so that a search for it finds just what was planted."""
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

    def directory(self, *, plain: bool = True) -> str:
        """A fresh directory name; plain unless asked, since an awkward one spoils every path below it."""
        return self.stem(plain=plain)

    def path(self, ext: str = "txt", depth: int = 1, *, plain: bool = False) -> str:
        """A fresh relative path, `depth` fresh directories deep."""
        return "/".join([*(self.word() for _ in range(depth)), self.file(ext, plain=plain)])

    def filler(self, count: int = 1) -> list[str]:
        """`count` different words for contents; another call may repeat them, `word` never gives them out."""
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
    others: Sequence[str],
    solution: list[str],
) -> Unit:
    """A unit that leaves its fixtures alone and writes `text` to one new file `out`, asked for in one of `asks`."""
    return Unit(list(fixtures), names.pick(asks), names.wording(others), solution, after=[fixture(out, text)])


def editing_unit(
    names: Names,
    fixtures: Sequence[Fixture],
    texts: dict[str, str],
    directive: str,
    others: Sequence[str],
    solution: list[str],
) -> Unit:
    """A unit that changes files in place: `texts` holds their new contents by path."""
    after = [fixture(path, text) for path, text in texts.items()]
    return Unit(list(fixtures), directive, names.wording(others), solution, after)


def text_of(lines: Iterable[str]) -> str:
    """The lines as a file's content, each ended by a newline."""
    return "".join(f"{line}\n" for line in lines)


def fixture(path: str, text: str, mode: int | None = None) -> Fixture:
    """A file at a path relative to the home. A mode that is given is checked where the file is in `after`."""
    fields = {} if mode is None else {"mode": mode}
    return Fixture(path=f"{HOME}/{path}", text=text, **fields)  # type: ignore[arg-type]


def directory(path: str, mode: int | None = None) -> Fixture:
    """A directory at a path relative to the home; 0755 where no mode is given, and then not checked in `after`."""
    entry = Fixture(path=f"{HOME}/{path}", type="dir", mode=0o755 if mode is None else mode)
    if mode is None:
        entry.model_fields_set.discard("mode")
    return entry


def link(path: str, target: str) -> Fixture:
    """A symbolic link at a path relative to the home."""
    return Fixture(path=f"{HOME}/{path}", type="symlink", mode=0o777, target=target)


def quote(path: str) -> str:
    """The path as a word of a command: quoted where it must be, `./` before a leading dash."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def shown(path: str) -> str:
    """The path as a directive writes it: in single quotes where it holds a space."""
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
    """POSIX sh that exits 0 when the world is as expected and 1, naming the first difference, when not.

    Every entry of `after` is checked by type and content, by mode where its mode was given; every fixture that is in
    neither `after` nor `removed` must be as it was, mode included. `removed` holds paths relative to the home.
    `strict` allows nothing else below the home at all: then `fixtures` must hold the announcement's file, too.
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
    """`text` with names and paths as N, numbers as 0 and extensions as .E: what stays is its sentence frame.

    Two directives, instructions or commands with the same masked form differ only in names.
    """
    text = _LETTERS.sub(lambda letters: "N" if letters[0].lower() in _NAMES else letters[0], text)
    text = _NUMBER.sub("0", text)
    text = _EXTENSION.sub(".E", text).replace("N.E", "N")
    return re.sub(r"\s+", " ", _PATH.sub("N", _QUOTED.sub("N", text))).strip()
