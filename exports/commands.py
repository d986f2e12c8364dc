"""Find out what simple commands do with their words: which paths a program reads, writes or deletes, what it runs.

    run_words(["rm", "a.txt"], reader, "")      # reader.found has Access("delete", "a.txt", "rm")

`here` is the text on a command's input, where that is known. exports/shell.py reads the text around the commands.
"""

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from exports.access import Access, Kind, normal
from exports.programs import (
    CONTAINER_OPTIONS,
    CONTAINERS,
    COPIES,
    DELETES,
    LISTS,
    LOGINS,
    MARKS,
    RUNS,
    SEARCHES,
    SHELLS,
    SPEAKS,
    SSH_OPTIONS,
    WRITES,
)
from exports.python_text import source_accesses

MAX_DEPTH = 5  # of shells in shells
MAX_VALUE_CHARS = 2_000  # of a variable
# The commands of sed that read or write a file, whose name is the rest of the line: `w out`, `/x/r in`, `s/a/b/gw out`.
SED_FILE = re.compile(r"(?:^|[\s;{,!$\d/|#]|[/|#,][gpIiMm\d]+)([rRwW])[ \t]+([^\n;}]+)", re.MULTILINE)
SAVES = re.compile(r"-[A-Za-z]*[oO]|--output|--output-document")  # the options of curl and wget that name a file


@dataclass
class SpentOnText:
    """What was spent on a text and on all texts in it, so that a short text cannot take hours."""

    rounds: int = 0  # of loops
    texts: int = 0  # for other shells


@dataclass
class Reader:
    """What is known while a text is read: variables and the working directory, `None` where it is unknown."""

    source: bytes
    depth: int
    spent: SpentOnText
    read: Callable[..., list[Access]] = field(repr=False)  # what another shell text does: `accesses` of shell.py
    variables: dict[str, str] = field(default_factory=lambda: {"HOME": "~"})
    directory: str = ""
    found: list[Access] = field(default_factory=list)

    def path(self, word: str) -> str:
        """A word as a path from where the text began."""
        if word.startswith(("/", "~", "$")) or not self.directory:
            return normal(word)
        return normal(f"{self.directory}/{word}")

    def follow(self, text: str, variables: dict[str, str] | None = None) -> None:
        """Read a text that another shell runs."""
        if text and self.depth < MAX_DEPTH:
            known = {**self.variables, **(variables or {})}
            self.found += self.read(
                text, depth=self.depth + 1, variables=known, directory=self.directory, spent=self.spent
            )

    def add(self, kind: Kind, what: str, by: str, content: str = "") -> None:
        """Note an access; a path is one from where the text began."""
        self.found.append(
            Access(
                kind,
                what if kind in ("search", "url", "define") or (kind == "run" and "/" not in what) else self.path(what),
                by,
                content,
            )
        )


def run_words(words: Sequence[str], reader: Reader, here: str) -> None:
    """Note what a simple command does."""
    if not words:
        return
    program, arguments = posixpath.basename(words[0]), list(words[1:])
    plain = [word for word in arguments if not word.startswith("-")]
    short = "".join(word[1:] for word in arguments if re.match(r"-[A-Za-z]+$", word))
    reader.add("run", words[0], program, " ".join(words))
    for word in arguments:
        if re.match(r"[a-z]+://", word):
            reader.add("url", word, program)
    plain = [word for word in plain if "://" not in word]
    if program in SHELLS | LOGINS or program == "eval":
        _shell(program, arguments, short, reader, here)
    elif program == "trap":
        reader.follow(plain[0] if len(plain) > 1 else "")
    elif program == "ssh":
        _ssh(arguments, reader, here)
    elif re.match(r"python[\d.]*$", program):
        _python(arguments, plain, reader, here)
    elif program in ("cd", "pushd") and (plain or words == ["cd"]):
        reader.directory = reader.path(plain[0] if plain else "~")
    elif program == "set" and "--" in arguments:
        reader.variables |= positional(arguments[arguments.index("--") + 1 :])
    elif program == "alias":
        for word in plain:
            reader.add("define", word.partition("=")[0], "alias")
    elif program in ("sed", "perl", "ruby", "awk", "gawk") and plain:
        _edit(program, arguments, short, plain, reader)
    elif program in SEARCHES:
        for at, word in enumerate(plain):
            reader.add("read" if at else "search", word, program, "" if at else " ".join(plain[1:]))
    elif program == "truncate":
        empties = re.search(r" (-s ?|--size[= ])0 ", " ".join(words)) is not None
        for word in plain:
            reader.add("delete" if empties else "write", word, program)
    elif program in DELETES | WRITES:
        for word in plain:
            reader.add("delete" if program in DELETES else "write", word, program, here)
    elif program in MARKS:
        _marks(program, arguments, reader)
    elif program in COPIES | {"mv"}:
        _copy(program, plain, reader)
    elif program == "dd":
        for word in plain:
            if word.startswith(("if=", "of=")):
                reader.add("read" if word[0] == "i" else "write", word[3:], program)
    elif program == "git":
        _git(arguments, reader)
    elif program == "find":
        _find(arguments, reader)
    elif program in CONTAINERS and (inner := _inside_container(arguments)):
        run_words(inner, reader, here)
    elif program in ("curl", "wget"):
        for option, word in zip(["", *arguments], arguments, strict=False):
            if word in plain:
                reader.add("write" if SAVES.fullmatch(option) else "read", word, program)
    elif program not in SPEAKS | LISTS | RUNS:
        for word in plain:
            reader.add("read", word.partition("=")[2] if re.match(r"-{0,2}[\w-]+=/", word) else word, program)


def _edit(program: str, arguments: list[str], short: str, plain: list[str], reader: Reader) -> None:
    """Programs that take a script and then files, and the files in a script of sed."""
    script_given = "e" in short or "f" in short or "--expression" in " ".join(arguments)
    for word in plain if script_given and program != "awk" else plain[1:]:
        reader.add("write" if _in_place(program, arguments) else "read", word, program, " ".join(arguments))
    for match in [found for word in plain for found in SED_FILE.finditer(word) if program == "sed"]:
        reader.add("read" if match[1] in "rR" else "write", match[2].strip(), program)


def _copy(program: str, plain: list[str], reader: Reader) -> None:
    """Programs that make a file of others, or move them: the last word is where they land."""
    for word in plain[:-1]:
        if program == "mv":
            reader.add("delete", word, program, _landing([word, plain[-1]], plain[-1]))
        else:
            reader.add("read", word, program)
    for word in plain[-1:]:
        source = plain[0] if program == "ln" else ""
        emptied = plain[:-1] == ["/dev/null"] and program != "ln"
        reader.add("delete" if emptied else "write", _landing(plain, word), program, source)


def _in_place(program: str, arguments: list[str]) -> bool:
    """True where the options say that files are changed in place; `-Ilib` of perl and ruby says no such thing."""
    letters = r"-[pnlaw0]*i" if program in ("perl", "ruby") else r"-[A-Za-z]*i"
    return any(re.match(letters, word) or word.startswith("--in-place") or word == "inplace" for word in arguments)


def _marks(program: str, arguments: list[str], reader: Reader) -> None:
    """A change of mode, owner or attributes. A mode that only lets more read and run takes nothing from a file."""
    words = [word for word in arguments if not re.match(r"-[RfvcHLP]+$|--", word)]
    adds = program == "chmod" and words and re.match(r"[ugoa]*\+[rxX]+$|0?7[0145][0145]$", words[0])
    for word in words[1:]:
        reader.add("read" if adds else "write", word, program)


def _landing(plain: list[str], target: str) -> str:
    """Where a copy of one file lands: below the target where that is a directory by its name."""
    if len(plain) == 2 and (target.endswith("/") or posixpath.basename(target) in (".", "..", "tests", "test")):
        return f"{target}/{posixpath.basename(plain[0])}"
    return target


def positional(words: Sequence[str]) -> dict[str, str]:
    """The variables `$1`, `$2` and so on, and `$@`, of these words."""
    whole = " ".join(words)[:MAX_VALUE_CHARS]
    return {"@": whole, "*": whole, **{str(at): word[:MAX_VALUE_CHARS] for at, word in enumerate(words[:99], 1)}}


def _shell(program: str, arguments: list[str], short: str, reader: Reader, here: str) -> None:
    """Follow `sh -c TEXT`, `su -c TEXT`, `eval TEXT`, and what a shell reads from its input; a script is noted only."""
    plain = [
        word
        for at, word in enumerate(arguments)
        if not word.startswith(("-", "+")) and (at == 0 or not re.match(r"[-+][A-Za-z]*o$", arguments[at - 1]))
    ]
    if program == "eval":
        reader.follow(" ".join(arguments))
    elif "c" in short and plain:
        option = next(at for at, word in enumerate(arguments) if re.match(r"-[A-Za-z]*c", word))
        text, *others = [word for word in arguments[option + 1 :] if not word.startswith("-")] or [""]
        reader.follow(text, {"0": "".join(others[:1]), **positional(others[1:])})
    elif program in LOGINS or not plain or "s" in short or plain[0] == "/dev/stdin":
        reader.follow(here, positional(plain) if "s" in short else positional(plain[1:]))
    else:
        reader.add("run", plain[0], program)


def _ssh(arguments: list[str], reader: Reader, here: str) -> None:
    """Follow the command behind the host's name, and what a shell reads there from its input."""
    while arguments and arguments[0].startswith("-"):
        arguments = arguments[2 if arguments[0] in SSH_OPTIONS else 1 :]
    command = arguments[1:]
    reader.follow(" ".join(command))
    if not command or posixpath.basename(command[0]) in SHELLS:
        reader.follow(here)


def _python(arguments: list[str], plain: list[str], reader: Reader, here: str) -> None:
    if "-c" in arguments[:-1]:
        source = arguments[arguments.index("-c") + 1]
    elif "-m" in arguments[:-1]:
        module = arguments[arguments.index("-m") + 1]
        reader.add("run", module.replace(".", "/") if "." in module else module, "python -m")
        return
    elif "-" in arguments or plain[:1] in ([], ["/dev/stdin"]):
        source = here
    else:
        source = ""
        reader.add("run", plain[0], "python")
    reader.found += python_source(source, reader)


def python_source(source: str, reader: Reader) -> list[Access]:
    """What Python source does, and the shell commands in it, with the paths and commands that are constants."""

    def run(command: str | list[str]) -> list[Access]:
        if reader.depth >= MAX_DEPTH:
            return []
        if isinstance(command, str):
            return reader.read(command, depth=reader.depth + 1, spent=reader.spent)
        inner = Reader(b"", reader.depth + 1, reader.spent, reader.read)
        run_words(command, inner, "")
        return inner.found

    return source_accesses(source, run)


def _git(arguments: list[str], reader: Reader) -> None:
    while arguments and arguments[0].startswith("-"):
        arguments = arguments[2 if arguments[0] in ("-C", "-c", "--git-dir", "--work-tree") else 1 :]
    verb, *rest = [word for word in arguments if not word.startswith("-")] or [""]
    if verb in ("checkout", "restore", "mv", "reset"):
        for word in rest:
            reader.add("write", word, f"git {verb}")
    elif verb == "rm":
        for word in rest:
            reader.add("delete", word, "git rm")
    elif verb in ("apply", "am", "show", "diff", "blame", "cat-file"):
        for word in rest:
            reader.add("read", word.partition(":")[2] or word, f"git {verb}")
    elif verb == "grep":
        for at, word in enumerate(rest):
            reader.add("read" if at else "search", word, "git grep")


def _inside_container(arguments: list[str]) -> list[str]:
    """The command that `docker exec`, `docker run` and `kubectl exec` run in a container, or []."""
    verb = next((at for at, word in enumerate(arguments) if word in ("exec", "run")), len(arguments))
    rest = arguments[verb + 1 :]
    while rest and rest[0].startswith("-"):
        takes_a_value = rest[0] in CONTAINER_OPTIONS and "=" not in rest[0]
        rest = rest[2:] if takes_a_value else rest[1:]
    inner = rest[1:]  # behind the container's or the image's name
    return inner[1:] if inner[:1] == ["--"] else inner


def _find(arguments: list[str], reader: Reader) -> None:
    """`find` reads nothing by itself; with -delete or -exec it does something to what -name says, in its places."""
    places = arguments[: next((at for at, word in enumerate(arguments) if word.startswith("-")), len(arguments))]
    names = [arguments[at + 1] for at, word in enumerate(arguments[:-1]) if word in ("-name", "-iname", "-path")]
    targets = [f"{place}/{name}" for place in places or ["."] for name in names] or places
    if "-delete" in arguments:
        for target in targets:
            reader.add("delete", target, "find -delete")
    for option in ("-exec", "-execdir", "-ok"):
        if option in arguments:
            inner = arguments[arguments.index(option) + 1 :]
            inner = [word for word in inner if word not in (";", "+", "\\;")]
            for target in targets:
                run_words([target if word == "{}" else word for word in inner], reader, "")
