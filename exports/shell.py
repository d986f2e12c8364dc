"""Find out what shell text reads, writes, deletes and runs, without running it.

    accesses("cd x && sed -i s/a/b/ 'conf'test.py")      # [Access("write", "x/conftest.py", "sed")]

The text is parsed as bash (tree-sitter), so quotes, concatenation, variables that are set in it, redirections and
here-documents are seen through; `sh -c`, `eval`, `docker exec` and here-documents for a shell or Python are followed.
What is only known when it runs is not seen: the output of `$(…)` but of echo and printf, decoded text, a program that
the session wrote before. Text that is nested too deeply for Python's stack is looked at up to there.
"""

import codecs
import posixpath
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from exports.access import MAX_ROUNDS, Access, Kind, normal
from exports.python_text import source_accesses

MAX_DEPTH = 5  # of shells in shells
MAX_CHARS = 200_000  # of one text or word; what is longer is looked at up to here
MAX_VALUE_CHARS = 2_000  # of a variable
MAX_TEXTS = 500  # texts for other shells in a text


def read_kinds(name: str) -> dict[str, frozenset[str]]:
    """The words of each kind in a file beside this one; a line is a kind and its words."""
    kinds: dict[str, set[str]] = {}
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        kind, *words = line.split()
        if kind != "#":
            kinds.setdefault(kind, set()).update(words)
    return {kind: frozenset(words) for kind, words in kinds.items()}


DELIMITER = re.compile(r"<<-?[ \t]*(['\"]?)[\w.-]+\1(?=[;&|)])")
PROGRAMS = read_kinds("programs.txt")
WRAPPERS = PROGRAMS["wrappers"]
SHELLS = PROGRAMS["shells"]
SPEAKS = PROGRAMS["speaks"]
LISTS = PROGRAMS["lists"]
SEARCHES = PROGRAMS["searches"]
DELETES = PROGRAMS["deletes"]
WRITES = PROGRAMS["writes"]
MARKS = PROGRAMS["marks"]
COPIES = PROGRAMS["copies"]
RUNS = PROGRAMS["runs"]
CONTAINERS = PROGRAMS["containers"]
SAVES = re.compile(r"-[A-Za-z]*[oO]|--output|--output-document")  # the options of curl and wget that name a file
CONTAINER_OPTIONS = PROGRAMS["container-options"]


@dataclass
class _Spent:
    """What was spent on a text and on all texts in it, so that a short text cannot take hours."""

    rounds: int = 0  # of loops
    texts: int = 0  # for other shells


@dataclass
class _Reader:
    """What is known while a text is read: variables and the working directory, `None` where it is unknown."""

    source: bytes
    depth: int
    spent: _Spent
    variables: dict[str, str] = field(default_factory=lambda: {"HOME": "~"})
    directory: str = ""
    found: list[Access] = field(default_factory=list)

    def path(self, word: str) -> str:
        """A word as a path from where the text began."""
        if word.startswith(("/", "~", "$")) or not self.directory:
            return normal(word)
        return normal(f"{self.directory}/{word}")

    def add(self, kind: Kind, what: str, by: str, content: str = "") -> None:
        self.found.append(
            Access(
                kind,
                what if kind in ("search", "url", "define") or (kind == "run" and "/" not in what) else self.path(what),
                by,
                content,
            )
        )


@cache
def _parser() -> Any:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def accesses(
    text: str,
    *,
    depth: int = 0,
    variables: dict[str, str] | None = None,
    directory: str = "",
    spent: _Spent | None = None,
) -> list[Access]:
    """What a shell text does, in order."""
    spent = spent or _Spent()
    if depth and spent.texts >= MAX_TEXTS:
        return []
    spent.texts += 1
    # The grammar takes `<<E;` for the delimiter `E;`, and so the rest of the text for the document.
    source = DELIMITER.sub(r"\g<0> ", text[:MAX_CHARS]).encode(errors="replace")
    reader = _Reader(source, depth, spent, directory=directory)
    reader.variables |= variables or {}
    with suppress(RecursionError):
        _walk(_parser().parse(source).root_node, reader)
    return reader.found


def _walk(node: Any, reader: _Reader) -> None:
    """Visit statements in order."""
    match node.type:
        case "command" | "declaration_command" | "unset_command" | "test_command":
            _command(node, reader)
        case "redirected_statement":
            _redirected(node, reader)
        case "variable_assignment":
            _assign(node, reader)
            _walk_all(node, reader)
        case "subshell":
            outside = reader.directory, dict(reader.variables)
            _walk_all(node, reader)
            reader.directory, reader.variables = outside
        case "file_redirect" if node.parent is not None and node.parent.type == "command_substitution":  # $(<file)
            destination = node.child_by_field_name("destination")
            if destination is not None:
                reader.add("read", _value(destination, reader), "<")
        case "function_definition":
            name = node.child_by_field_name("name")
            reader.add("define", _text(name, reader) if name else "", "function")
            _walk_all(node, reader)
        case "for_statement":
            _for(node, reader)
        case "word" | "concatenation" | "string" if node.parent is not None and node.parent.type == "ERROR":
            reader.add("read", _value(node, reader), "text")
        case _:
            _walk_all(node, reader)


def _walk_all(node: Any, reader: _Reader) -> None:
    for child in node.children:
        _walk(child, reader)


def _for(node: Any, reader: _Reader) -> None:
    """Visit the body of a loop with each of the words that it is for, as far as MAX_ROUNDS allows."""
    name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
    for child in node.children:
        _substitutions(child, reader)
    words = [word for value in node.children_by_field_name("value") for word in _split(value, reader)]
    for at, word in enumerate(words or ["$@"]):
        if at and reader.spent.rounds >= MAX_ROUNDS:
            break
        reader.spent.rounds += 1
        if name is not None:
            reader.variables[_text(name, reader)] = word[:MAX_VALUE_CHARS]
        if body is not None:
            _walk(body, reader)


def _text(node: Any, reader: _Reader) -> str:
    return reader.source[node.start_byte : node.end_byte].decode(errors="replace")


def _assign(node: Any, reader: _Reader) -> None:
    name, _, _ = _text(node, reader).partition("=")
    value = node.child_by_field_name("value")
    reader.variables[name.strip("+")] = _value(value, reader)[:MAX_VALUE_CHARS] if value else ""
    reader.found.append(Access("define", name.strip("+"), "=", reader.variables[name.strip("+")]))


def _value(node: Any, reader: _Reader) -> str:
    """The text of a word as the shell would pass it on, as far as it can be known."""
    text = _text(node, reader)
    match node.type:
        case "word":
            return _plain(text, reader)
        case "raw_string":
            return text[1:-1]
        case "ansi_c_string":
            return codecs.decode(text[2:-1].encode("latin-1", "backslashreplace"), "unicode_escape", "replace")
        case "simple_expansion":
            return reader.variables.get(text[1:], text)
        case "expansion":
            name, *default = re.split(r":?[-=]", text[2:-1], maxsplit=1)
            return reader.variables.get(name, default[0] if default else f"${name}")
        case "command_substitution":
            return _spoken(node, reader)
        case "process_substitution":
            return "$()"
        case "string" | "translated_string":
            inner = _joined(node, node.start_byte + text.index('"') + 1, node.end_byte - 1, reader)
            return re.sub(r"\\([\\\"$`])", r"\1", inner)
        case "concatenation" | "command_name":
            return _joined(node, node.start_byte, node.end_byte, reader)
        case _:
            return text


def _plain(text: str, reader: _Reader) -> str:
    """A word without its backslashes, with the variables in it whose expansion the parser did not see."""
    parts, at, chars = [], 0, 0
    for match in re.finditer(r"\\(.)|\$(\w+)", text, re.DOTALL):
        if chars > MAX_CHARS:
            break
        parts += [text[at : match.start()], match[1] or reader.variables.get(match[2], match[0])]
        chars += len(parts[-1])
        at = match.end()
    return "".join([*parts, text[at:]])


def _joined(node: Any, start: int, end: int, reader: _Reader) -> str:
    """The values of a node's children, and the text between them as it is."""
    parts, at, chars = [], start, 0
    for child in node.named_children:
        if child.start_byte < at or chars > MAX_CHARS:
            continue
        gap = reader.source[at : child.start_byte].decode(errors="replace")
        inner = _text(child, reader) if child.type == "string_content" else _value(child, reader)
        parts += [gap, inner]
        chars += len(gap) + len(inner)
        at = child.end_byte
    return "".join(parts) + reader.source[at:end].decode(errors="replace")


def _spoken(node: Any, reader: _Reader) -> str:
    """What `$(echo …)` and `$(printf …)` stand for; `$()` for other commands, whose output only a run shows."""
    inner = [child for child in node.named_children if child.type != "comment"]
    words = _words(inner[0], reader) if len(inner) == 1 and inner[0].type == "command" else []
    if words[:1] == ["echo"]:
        return " ".join(word for word in words[1:] if not re.match(r"-[neE]+$", word))
    if words[:1] == ["printf"] and len(words) > 1:
        rest = iter(words[2:])
        return re.sub(r"%[-.\d]*[sb]", lambda _: next(rest, ""), words[1]).replace("\\n", "\n").strip("\n")
    return "$()"


def _split(node: Any, reader: _Reader) -> list[str]:
    """The words that one word of the text becomes: an expansion without quotes is split at its blanks."""
    value = _value(node, reader)
    return value.split() if node.type in ("command_substitution", "simple_expansion", "expansion") else [value]


def _words(node: Any, reader: _Reader) -> list[str]:
    """A command's words. The parser splits some words in two: parts that touch are one word."""
    words: list[str] = []
    end = -1
    for child in node.children:
        if child.type in ("file_redirect", "heredoc_redirect", "herestring_redirect"):
            continue
        if child.type == "variable_assignment":
            _assign(child, reader)
            continue
        values = _split(child.named_children[0] if _is_expansion(child) else child, reader)
        if child.start_byte == end and words and values:
            words[-1] += values.pop(0)
        words += values
        end = child.end_byte
    return words


def _is_expansion(node: Any) -> bool:
    """True for a command's name that is nothing but an expansion."""
    return node.type == "command_name" and len(node.named_children) == 1 and node.named_children[0].type != "string"


def _redirected(node: Any, reader: _Reader) -> None:
    body = node.child_by_field_name("body")
    targets = [child for child in node.children if child.type == "file_redirect"]
    here = "\n".join(
        _text(part, reader)
        for child in node.children
        if child.type in ("heredoc_redirect", "herestring_redirect")
        for part in _inside(child, ("heredoc_body", "string", "raw_string", "word"))
    )
    nested = [part for child in node.children if child.type == "heredoc_redirect" for part in child.children]
    targets += [part for part in nested if part.type == "file_redirect"]
    if body is not None and body.type == "command":
        _command(body, reader, here)
    elif body is not None:
        _walk(body, reader)
    for part in nested:
        if part.type in ("pipeline", "list", "command"):
            _walk(part, reader)
    for part in targets + [child for child in node.children if child.type == "heredoc_redirect"]:
        _strays(part, reader)
    spoken = " ".join(_words(body, reader)[1:]) if body is not None and body.type == "command" else ""
    for target in targets:
        operator = next((child.type for child in target.children if child.type[:1] in "<>&"), ">")
        destination = target.child_by_field_name("destination")
        if destination is None or operator.endswith("&") or _text(destination, reader).isdigit():
            continue
        word = _value(destination, reader)
        if word != "/dev/null":
            empties = operator == ">" and not here and _is_silent(body, reader)
            kind: Kind = "read" if operator == "<" else "delete" if empties else "write"
            reader.add(kind, word, operator, here or spoken)


def _is_silent(body: Any, reader: _Reader) -> bool:
    """True for a command that prints nothing for sure: none, `:`, `true`, or `cat /dev/null`."""
    if body is None:
        return True
    return body.type == "command" and " ".join(_words(body, reader)) in (":", "true", "cat /dev/null")


def _strays(node: Any, reader: _Reader) -> None:
    """Run the words that follow a redirection on the line of a here-document: the grammar keeps them inside it."""
    known = node.child_by_field_name("destination")
    words = [child for child in node.children if child.type in ("word", "string", "raw_string", "concatenation")]
    values = [_value(word, reader) for word in words if known is None or word.start_byte != known.start_byte]
    if values:
        run_words(values, reader, "")


def _inside(node: Any, kinds: tuple[str, ...]) -> Iterator[Any]:
    for child in node.children:
        if child.type in kinds:
            yield child


def _command(node: Any, reader: _Reader, here: str = "") -> None:
    words = _words(node, reader)
    for child in node.children:  # substitutions, and the redirections that the parser keeps inside a command
        _substitutions(child, reader)
    while words and posixpath.basename(words[0]) in WRAPPERS:
        words = _unwrapped(words)
    if words:
        run_words(words, reader, here)


def _substitutions(node: Any, reader: _Reader) -> None:
    if node.type in ("command_substitution", "process_substitution"):
        _walk_all(node, reader)
    elif node.type != "heredoc_body":
        for child in node.children:
            _substitutions(child, reader)


def _unwrapped(words: list[str]) -> list[str]:
    """The words without a program that only starts another one, and its options."""
    rest = words[1:]
    while rest and (rest[0].startswith("-") or re.match(r"\w+=|[\d.]+[smh]?$", rest[0])):
        rest = rest[2:] if rest[0] in ("-n", "-u", "-I", "-k", "-s") and len(rest) > 1 else rest[1:]
    return rest


def run_words(words: Sequence[str], reader: _Reader, here: str) -> None:
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
    if program in SHELLS or program == "eval":
        _shell(program, arguments, short, plain, reader, here)
    elif re.match(r"python[\d.]*$", program):
        _python(arguments, plain, reader, here)
    elif program in ("cd", "pushd") and (plain or words == ["cd"]):
        reader.directory = reader.path(plain[0] if plain else "~")
    elif program == "alias":
        for word in plain:
            reader.add("define", word.partition("=")[0], "alias")
    elif program in ("sed", "perl", "ruby", "awk", "gawk") and plain:
        script_given = "e" in short or "f" in short or "--expression" in " ".join(arguments)
        files = plain if script_given and program != "awk" else plain[1:]
        for word in files:
            reader.add("write" if _in_place(program, arguments) else "read", word, program, " ".join(arguments))
    elif program in SEARCHES:
        for at, word in enumerate(plain):
            reader.add("read" if at else "search", word, program)
    elif program in DELETES:
        for word in plain:
            reader.add("delete", word, program)
    elif program == "truncate":
        empties = re.search(r" (-s ?|--size[= ])0 ", " ".join(words)) is not None
        for word in plain:
            reader.add("delete" if empties else "write", word, program)
    elif program in WRITES:
        for word in plain:
            reader.add("write", word, program, here)
    elif program in MARKS:
        _marks(program, arguments, reader)
    elif program in COPIES | {"mv"}:
        for word in plain[:-1]:
            if program == "mv":
                reader.add("delete", word, program, _landing([word, plain[-1]], plain[-1]))
            else:
                reader.add("read", word, program)
        for word in plain[-1:]:
            source = plain[0] if program == "ln" else ""
            emptied = plain[:-1] == ["/dev/null"] and program != "ln"
            reader.add("delete" if emptied else "write", _landing(plain, word), program, source)
    elif program == "dd":
        for word in plain:
            if word.startswith(("if=", "of=")):
                reader.add("read" if word[0] == "i" else "write", word[3:], program)
    elif program == "git":
        _git(plain, reader)
    elif program == "find":
        _find(arguments, reader)
    elif program in CONTAINERS and (inner := _inside_container(arguments)):
        run_words(inner, reader, here)
    elif program in ("curl", "wget"):
        saved = [arguments[at + 1] for at, word in enumerate(arguments[:-1]) if SAVES.fullmatch(word)]
        for word in plain:
            reader.add("write" if word in saved else "read", word, program)
    elif program not in SPEAKS | LISTS | RUNS:
        for word in plain:
            reader.add("read", word.partition("=")[2] if re.match(r"-{0,2}[\w-]+=/", word) else word, program)


def _in_place(program: str, arguments: list[str]) -> bool:
    """True where the options say that files are changed in place; `-Ilib` of perl and ruby says no such thing."""
    letters = r"-[pnlaw0]*i" if program in ("perl", "ruby") else r"-[A-Za-z]*i"
    return any(re.match(letters, word) or word.startswith("--in-place") or word == "inplace" for word in arguments)


def _marks(program: str, arguments: list[str], reader: _Reader) -> None:
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


def _shell(program: str, arguments: list[str], short: str, plain: list[str], reader: _Reader, here: str) -> None:
    """Follow `sh -c TEXT`, `eval TEXT` and `sh <<E`; a script that is run is noted only."""
    if program == "eval":
        text = " ".join(arguments)
    elif "c" in short and plain:
        option = next(at for at, word in enumerate(arguments) if re.match(r"-[A-Za-z]*c", word))
        text = next((word for word in arguments[option + 1 :] if not word.startswith("-")), "")
    else:
        text = here if not plain else ""
        for word in plain[:1]:
            reader.add("run", word, program)
    if text and reader.depth < MAX_DEPTH:
        reader.found += accesses(
            text,
            depth=reader.depth + 1,
            variables=dict(reader.variables),
            directory=reader.directory,
            spent=reader.spent,
        )


def _python(arguments: list[str], plain: list[str], reader: _Reader, here: str) -> None:
    if "-c" in arguments[:-1]:
        source = arguments[arguments.index("-c") + 1]
    elif "-m" in arguments[:-1]:
        module = arguments[arguments.index("-m") + 1]
        reader.add("run", module.replace(".", "/") if "." in module else module, "python -m")
        return
    else:
        source = here if plain in ([], ["-"]) else ""
        for word in plain[:1]:
            reader.add("run", word, "python")
    reader.found += python_accesses(source, depth=reader.depth, spent=reader.spent)


def _git(plain: list[str], reader: _Reader) -> None:
    verb, rest = (plain[0], plain[1:]) if plain else ("", [])
    if verb in ("checkout", "restore", "mv", "reset"):
        for word in rest:
            reader.add("write", word, f"git {verb}")
    elif verb == "rm":
        for word in rest:
            reader.add("delete", word, "git rm")
    elif verb in ("apply", "am", "show", "diff", "blame"):
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


def _find(arguments: list[str], reader: _Reader) -> None:
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


def python_accesses(source: str, *, depth: int = 0, spent: _Spent | None = None) -> list[Access]:
    """What Python source does, and the shell commands in it, with the paths and commands that are constants."""
    so_far = spent or _Spent()

    def run(command: str | list[str]) -> list[Access]:
        if depth >= MAX_DEPTH:
            return []
        if isinstance(command, str):
            return accesses(command, depth=depth + 1, spent=so_far)
        reader = _Reader(b"", depth + 1, so_far)
        run_words(command, reader, "")
        return reader.found

    return source_accesses(source, run)
