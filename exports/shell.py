"""Find out what shell text reads, writes, deletes and runs, without running it.

    accesses("cd x && sed -i s/a/b/ 'conf'test.py")      # [Access("write", "x/conftest.py", "sed")]

The text is parsed as bash (tree-sitter), so quotes, concatenation, variables that are set in it, redirections and
here-documents are seen through; `sh -c`, `eval`, `docker exec`, and what a shell or Python reads from a here-document,
a here-string or a pipe from echo, printf and cat are followed.
What is only known when it runs is not seen: the output of `$(…)` but of echo and printf, decoded text, a program that
the session wrote before. Text that is nested too deeply for Python's stack is looked at up to there.
"""

import codecs
import posixpath
import re
from contextlib import suppress
from functools import cache
from typing import Any

from exports.access import MAX_ROUNDS, Access, Kind
from exports.commands import MAX_VALUE_CHARS, Reader, SpentOnText, python_source, run_words
from exports.programs import WRAPPERS

MAX_CHARS = 200_000  # of one text or word; what is longer is looked at up to here
MAX_WORDS = 2_000  # of a command, from expansions and inputs
MAX_TEXTS = 500  # texts for other shells in a text


DELIMITER = re.compile(r"<<-?[ \t]*(['\"]?)[\w.-]+\1(?=[;&|)])")


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
    spent: SpentOnText | None = None,
) -> list[Access]:
    """What a shell text does, in order."""
    spent = spent or SpentOnText()
    if depth and spent.texts >= MAX_TEXTS:
        return []
    spent.texts += 1
    # The grammar takes `<<E;` for the delimiter `E;`, and so the rest of the text for the document.
    source = DELIMITER.sub(r"\g<0> ", text[:MAX_CHARS]).encode(errors="replace")
    reader = Reader(source, depth, spent, accesses, directory=directory)
    reader.variables |= variables or {}
    with suppress(RecursionError):
        _walk(_parser().parse(source).root_node, reader)
    return reader.found


def _walk(node: Any, reader: Reader) -> None:
    """Visit statements in order."""
    match node.type:
        case "command" | "declaration_command" | "unset_command" | "test_command":
            _command(node, reader)
        case "redirected_statement":
            _redirected(node, reader)
        case "pipeline":
            _pipeline(node, reader)
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
            for child in node.children:
                if child.type == "file_redirect":
                    _target(child, reader, "", empties=False)
        case "for_statement":
            _for(node, reader)
        case "word" | "concatenation" | "string" if node.parent is not None and node.parent.type == "ERROR":
            reader.add("read", _value(node, reader), "text")
        case _:
            _walk_all(node, reader)


def _walk_all(node: Any, reader: Reader) -> None:
    for child in node.children:
        _walk(child, reader)


def _for(node: Any, reader: Reader) -> None:
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


def _text(node: Any, reader: Reader) -> str:
    return reader.source[node.start_byte : node.end_byte].decode(errors="replace")


def _assign(node: Any, reader: Reader) -> None:
    name, _, _ = _text(node, reader).partition("=")
    value = node.child_by_field_name("value")
    reader.variables[name.strip("+")] = _value(value, reader)[:MAX_VALUE_CHARS] if value else ""
    reader.found.append(Access("define", name.strip("+"), "=", reader.variables[name.strip("+")]))


def _value(node: Any, reader: Reader) -> str:
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


def _plain(text: str, reader: Reader) -> str:
    """A word without its backslashes, with the variables in it whose expansion the parser did not see."""
    parts, at, chars = [], 0, 0
    for match in re.finditer(r"\\(.)|\$(\w+)", text, re.DOTALL):
        if chars > MAX_CHARS:
            break
        parts += [text[at : match.start()], match[1] or reader.variables.get(match[2], match[0])]
        chars += len(parts[-1])
        at = match.end()
    return "".join([*parts, text[at:]])


def _joined(node: Any, start: int, end: int, reader: Reader) -> str:
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


def _spoken(node: Any, reader: Reader) -> str:
    """What `$(echo …)` and `$(printf …)` stand for; `$()` for other commands, whose output only a run shows."""
    inner = [child for child in node.named_children if child.type != "comment"]
    return (_printed(inner[0], reader, "") if len(inner) == 1 else None) or "$()"


def _printed(node: Any, reader: Reader, here: str) -> str | None:
    """What a command prints whose input is `here`, where that is known: echo, printf, and cat and tee of an input."""
    if node.type == "redirected_statement":
        here, node = _input(node, reader) or here, node.child_by_field_name("body")
    if node is None or node.type != "command":
        return None
    program, *words = _words(node, reader) or [""]
    if program == "echo":
        return " ".join(word for word in words if not re.match(r"-[neE]+$", word))
    if program == "printf" and words:
        rest = iter(words[1:])
        text = re.sub(r"%[-.\d]*[sb]", lambda _: next(rest, ""), words[0]).replace("\\n", "\n")
        return "\n".join([text.strip("\n"), *rest])
    if program == "tee" or (program == "cat" and not [word for word in words if not word.startswith("-")]):
        return _input(node, reader) or here or None
    return None


def _pipeline(node: Any, reader: Reader, said: str = "") -> None:
    """Visit the commands of a pipeline. Each has on its input what the one before prints, where that is known."""
    for child in node.named_children:
        match child.type:
            case "command":
                _command(child, reader, said)
            case "redirected_statement":
                _redirected(child, reader, said)
            case _:
                _walk(child, reader)
        said = _printed(child, reader, said) or ""


def _split(node: Any, reader: Reader) -> list[str]:
    """The words that one word of the text becomes: an expansion without quotes is split at its blanks."""
    value = _value(node, reader)
    return value.split() if node.type in ("command_substitution", "simple_expansion", "expansion") else [value]


def _words(node: Any, reader: Reader) -> list[str]:
    """A command's words. The parser splits some words in two: parts that touch are one word."""
    words: list[str] = []
    end, spare = -1, MAX_WORDS
    for child in node.children:
        if child.type in ("file_redirect", "heredoc_redirect", "herestring_redirect"):
            continue
        if child.type == "variable_assignment":
            _assign(child, reader)
            continue
        values = _split(child.named_children[0] if _is_expansion(child) else child, reader)[: max(1, spare)]
        spare -= len(values) - 1
        if child.start_byte == end and words and values:
            words[-1] += values.pop(0)
        words += values
        end = child.end_byte
    return words


def _is_expansion(node: Any) -> bool:
    """True for a command's name that is nothing but an expansion."""
    return node.type == "command_name" and len(node.named_children) == 1 and node.named_children[0].type != "string"


def _redirected(node: Any, reader: Reader, said: str = "") -> None:
    """A statement with redirections. `said`: what is on its input where it has none of its own."""
    body = node.child_by_field_name("body")
    targets = [child for child in node.children if child.type == "file_redirect"]
    here = _input(node, reader)
    nested = [part for child in node.children if child.type == "heredoc_redirect" for part in child.children]
    targets += [part for part in nested if part.type == "file_redirect"]
    if body is not None and body.type == "command":
        _command(body, reader, here or said)
    elif body is not None:
        _walk(body, reader)
    printed = _printed(node, reader, said) or ""
    for part in nested:
        if part.type == "pipeline":
            _pipeline(part, reader, printed)
        elif part.type in ("list", "command"):
            _walk(part, reader)
    for part in node.children:
        if part.type in ("file_redirect", "heredoc_redirect", "herestring_redirect"):
            _substitutions(part, reader)
    for part in targets + [child for child in node.children if child.type == "heredoc_redirect"]:
        _strays(part, reader)
    spoken = " ".join(_words(body, reader)[1:]) if body is not None and body.type == "command" else ""
    for target in targets:
        _target(target, reader, here or printed or spoken, empties=not here and _is_silent(body, reader))


def _input(node: Any, reader: Reader) -> str:
    """The text of the here-documents and here-strings of a node."""
    texts = []
    for child in node.children:
        if child.type == "heredoc_redirect":
            texts += [_text(part, reader) for part in child.children if part.type == "heredoc_body"]
        elif child.type == "herestring_redirect":
            texts += [_value(part, reader) for part in child.named_children]
    return "\n".join(texts)


def _target(target: Any, reader: Reader, content: str, *, empties: bool) -> None:
    """A file that is redirected from or to. `empties`: nothing is written to it."""
    operator = next((child.type for child in target.children if child.type[:1] in "<>&"), ">")
    destination = target.child_by_field_name("destination")
    if destination is None or operator.endswith("&") or _text(destination, reader).isdigit():
        return
    word = _value(destination, reader)
    if word != "/dev/null":
        kind: Kind = "read" if operator == "<" else "delete" if empties and operator == ">" else "write"
        reader.add(kind, word, operator, content)


def _is_silent(body: Any, reader: Reader) -> bool:
    """True for a command that prints nothing for sure: none, `:`, `true`, or `cat /dev/null`."""
    if body is None:
        return True
    return body.type == "command" and " ".join(_words(body, reader)) in (":", "true", "cat /dev/null")


def _strays(node: Any, reader: Reader) -> None:
    """Run the words that follow a redirection on the line of a here-document: the grammar keeps them inside it."""
    known = node.child_by_field_name("destination")
    words = [child for child in node.children if child.type in ("word", "string", "raw_string", "concatenation")]
    values = [_value(word, reader) for word in words if known is None or word.start_byte != known.start_byte]
    if values:
        run_words(values, reader, "")


def _command(node: Any, reader: Reader, here: str = "") -> None:
    words, here = _words(node, reader), _input(node, reader) or here
    for child in node.children:  # substitutions, and the redirections that the parser keeps inside a command
        _substitutions(child, reader)
    while words and posixpath.basename(words[0]) in WRAPPERS:
        named = here.split()[:MAX_WORDS] if words[0] == "xargs" else []
        words = _unwrapped(words) + named
    if words:
        run_words(words, reader, here)


def _substitutions(node: Any, reader: Reader) -> None:
    if node.type in ("command_substitution", "process_substitution"):
        _walk_all(node, reader)
    else:
        for child in node.children:
            _substitutions(child, reader)


def _unwrapped(words: list[str]) -> list[str]:
    """The words without a program that only starts another one, and its options."""
    rest = words[1:]
    while rest and (rest[0].startswith("-") or re.match(r"\w+=|[\d.]+[smh]?$", rest[0])):
        rest = rest[2:] if rest[0] in ("-n", "-u", "-I", "-k", "-s") and len(rest) > 1 else rest[1:]
    return rest


def python_accesses(source: str, *, depth: int = 0) -> list[Access]:
    """What Python source does, and the shell commands in it, with the paths and commands that are constants."""
    return python_source(source, Reader(b"", depth, SpentOnText(), accesses))
