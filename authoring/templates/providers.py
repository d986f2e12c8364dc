"""Write the provider program and the announcement of a scenario.

    program = provider("subcommand", "help", ["Copy a.txt to b.txt."], names, rng)
    pointer = announcement("motd", PurePosixPath(program.path).name, rng)

A provider is one POSIX sh script. A bare call never prints a directive: it prints one usage line, or points at
--help, as the doc depth says. An announcement names the program and says nothing about the work or the arguments.
The words and sentences are in providers.json.
"""

import json
import random
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from authoring.templates.world import Names
from schema import HOME, PROVIDER_DIRECTORY, Announcement, Provider


@dataclass(frozen=True)
class Form:
    """One way to call the program: its synopsis, what it does, and the subcommand whose help explains it."""

    synopsis: str
    meaning: str
    subcommand: str | None = None


@dataclass(frozen=True)
class Grammar:
    """How one program is called: its forms, the calls that print every directive, and the shell code behind them.

    `keys` are the arguments of `directive` in the script, one per directive; `branches` maps a case pattern of the
    first argument to shell code.
    """

    forms: list[Form]
    calls: list[str]
    keys: list[str]
    branches: dict[str, str]


# The words of calls and the sentences of help and announcements. There are too many words to learn by heart from some
# hundred scenarios, so an operator must read them off the screen. Each {slot} of a sentence is filled anew in every
# scenario, so that hardly two scenarios share a sentence. No announcement has a word that programs are named with
# ("roles"): a session once ran `desk` where it had read "help desk".
_TEXTS: dict[str, Any] = json.loads((Path(__file__).parent / "providers.json").read_text())
ROLES: list[str] = _TEXTS["roles"]


def program_name(names: Names) -> str:
    """A fresh name for a provider program; it equals no command of the image."""
    role = names.pick(ROLES)
    style = names.pick(["{word}", "{word}-{role}", "{word}{role}", "{role}-{word}", "{word}-{other}", "{word}_{role}"])
    return style.format(word=names.word(), role=role, other=names.word())


def provider(kind: str, doc_depth: str, directives: Sequence[str], names: Names, rng: random.Random) -> Provider:
    """A provider of `kind` that documents itself at `doc_depth` and prints `directives`; its texts vary with `rng`.

    `help_commands` are the calls that print documentation, the bare call first; `directive_commands` are the calls that
    print every directive, a listing first if there is one.
    """
    name = program_name(names)
    grammar = _GRAMMARS[kind](name, len(directives), names, rng)
    label = rng.choice(_TEXTS["labels"])
    texts = [label.format(key=key, text=text) for key, text in zip(grammar.keys, directives, strict=True)]
    bare, full, own_help = _documentation(name, doc_depth, grammar, rng)
    help_commands = [name]
    if doc_depth != "usage":
        help_commands.append(f"{name} --help")
    help_commands += [f"{name} {subcommand} --help" for subcommand in own_help]
    return Provider(
        path=f"{PROVIDER_DIRECTORY}/{name}",
        source=_source(name, bare, full, own_help, grammar, texts),
        help_commands=help_commands,
        directive_commands=grammar.calls,
    )


def _fill_sentence(patterns: Sequence[str], rng: random.Random, **given: str) -> str:
    """One of `patterns` with each {slot} filled from `given` or with a random text; a {Slot} is capitalised."""

    def filled(slot: re.Match[str]) -> str:
        text = given[slot[1]] if slot[1] in given else rng.choice(_TEXTS["slots"][slot[1].lower()])
        return text if slot[1].islower() else text[0].upper() + text[1:]

    text = rng.choice(patterns)
    while "{" in text:
        text = re.sub(r"{(\w+)}", filled, text)
    return text


def _documentation(
    name: str, doc_depth: str, grammar: Grammar, rng: random.Random
) -> tuple[list[str], list[str], dict[str, str]]:
    """The lines of a bare call, those of --help, and the help line of each subcommand."""
    synopses = [form.synopsis for form in grammar.forms]
    if doc_depth == "usage":
        usage = rng.choice(["usage: {}", "Usage: {}", "usage is {}"]).format(rng.choice([" | ", " or "]).join(synopses))
        return [usage], [usage], {}
    bare = [_fill_sentence(_TEXTS["bare_help"], rng, name=name)]
    title = f"{name}{rng.choice([' - ', ': '])}{_fill_sentence(_TEXTS['heads'], rng)}"
    if doc_depth == "help":
        gap = rng.choice(["  ", " - ", "   "])
        return bare, [title, *(f"  {form.synopsis}{gap}{form.meaning}" for form in grammar.forms)], {}
    own_help = {form.subcommand: f"{form.synopsis}: {form.meaning}" for form in grammar.forms if form.subcommand}
    known = rng.choice(["commands: {}", "Commands: {}", "knows: {}"]).format(rng.choice([", ", " "]).join(own_help))
    return bare, [title, known, _fill_sentence(_TEXTS["subhelp"], rng, name=name)], own_help


def _source(
    name: str, bare: list[str], full: list[str], own_help: dict[str, str], grammar: Grammar, texts: list[str]
) -> str:
    """The script. Every text in it is a quoted word, so that the shell expands nothing in a directive."""
    lines = [
        "#!/bin/sh",
        "say() { printf '%s\\n' \"$@\"; }",
        "directive() {",
        '  case "$1" in',
        *(f"    {key}) say {shlex.quote(text)} ;;" for key, text in zip(grammar.keys, texts, strict=True)),
        f"    *) say {shlex.quote(f'{name}: no such directive')} >&2; exit 2 ;;",
        "  esac",
        "}",
        'case "${1-} ${2-}" in',
        *(f"  {shlex.quote(f'{sub} --help')}) say {shlex.quote(line)}; exit ;;" for sub, line in own_help.items()),
        "esac",
        'case "${1-}" in',
        f"  '') say {shlex.join(bare)} ;;",
        f"  -h | --help | help) say {shlex.join(full)} ;;",
        *(f"  {pattern}) {code} ;;" for pattern, code in grammar.branches.items()),
        f"  *) say {shlex.join([f'{name}: cannot read this', *bare])} >&2; exit 2 ;;",
        "esac",
    ]
    return "\n".join(lines) + "\n"


def _span(count: int, rng: random.Random) -> str:
    """The range of numbers as a synopsis writes it."""
    if count == 1:
        return rng.choice(["(only 1)", "(just 1)", "(1)"])
    return rng.choice([f"(1 to {count})", f"(1-{count})", f"(from 1 to {count})"])


def _numbers_line(count: int, rng: random.Random) -> str:
    """The output of a listing."""
    numbers = [str(number) for number in range(1, count + 1)]
    return rng.choice(["numbers: {}", "there are: {}", "directives: {}", "{}"]).format(" ".join(numbers))


def _subcommand(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    lister, shower = rng.choice(_TEXTS["listers"]), rng.choice(_TEXTS["showers"])
    value = rng.choice(["NUMBER", "N"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [
            Form(f"{name} {lister}", _fill_sentence(_TEXTS["list"], rng), lister),
            Form(f"{name} {shower} {value}", _fill_sentence(_TEXTS["show"], rng), shower),
        ],
        [f"{name} {lister}", *(f"{name} {shower} {key}" for key in keys)],
        keys,
        {lister: f"say {shlex.quote(_numbers_line(count, rng))}", shower: 'directive "${2-}"'},
    )


def _flags(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    lister = rng.choice(["-l", *(f"--{word}" for word in rng.sample(_TEXTS["listers"], 3))])
    shower = rng.choice(["-s", *(f"--{word}" for word in rng.sample(_TEXTS["showers"], 3))])
    value = rng.choice(["NUMBER", "N"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [
            Form(f"{name} {lister}", _fill_sentence(_TEXTS["list"], rng)),
            Form(f"{name} {shower} {value}", _fill_sentence(_TEXTS["show"], rng)),
        ],
        [f"{name} {lister}", *(f"{name} {shower} {key}" for key in keys)],
        keys,
        {lister: f"say {shlex.quote(_numbers_line(count, rng))}", shower: 'directive "${2-}"'},
    )


def _numbered(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    value = rng.choice(["NUMBER", "N"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [Form(f"{name} {value} {_span(count, rng)}", _fill_sentence(_TEXTS["show"], rng))],
        [f"{name} {key}" for key in keys],
        keys,
        {"[0-9]*": 'directive "$1"'},
    )


def _bulletin(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    verb = rng.choice(_TEXTS["bulletin_words"])
    return Grammar(
        [Form(f"{name} {verb}", _fill_sentence(_TEXTS["all"], rng))],
        [f"{name} {verb}"],
        [str(number) for number in range(1, count + 1)],
        {verb: "; ".join(f"directive {number}" for number in range(1, count + 1))},
    )


def _topics(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    (lister, value), reader = rng.choice(list(_TEXTS["topics"].items())), rng.choice(["on", *_TEXTS["showers"]])
    keys = names.words(count)
    return Grammar(
        [
            Form(f"{name} {lister}", _fill_sentence(_TEXTS["topic_list"], rng, which=lister), lister),
            Form(f"{name} {reader} {value}", _fill_sentence(_TEXTS["topic_show"], rng, which=value.lower()), reader),
        ],
        [f"{name} {lister}", *(f"{name} {reader} {key}" for key in keys)],
        keys,
        {lister: f"say {shlex.quote(' '.join(keys))}", reader: 'directive "${2-}"'},
    )


def _keyvalue(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    key_name = rng.choice(_TEXTS["keyvalue_words"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [
            Form(
                f"{name} {key_name}={rng.choice(['NUMBER', 'N'])} {_span(count, rng)}",
                _fill_sentence(_TEXTS["show"], rng),
            )
        ],
        [f"{name} {key_name}={key}" for key in keys],
        keys,
        {f"{key_name}=*": 'directive "${1#*=}"'},
    )


def _piped(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    verb = rng.choice(_TEXTS["piped_words"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [
            Form(
                f"echo {rng.choice(['NUMBER', 'N'])} | {name} {verb} {_span(count, rng)}",
                _fill_sentence(_TEXTS["show"], rng),
                verb,
            )
        ],
        [f"echo {key} | {name} {verb}" for key in keys],
        keys,
        {verb: 'read -r key; directive "$key"'},
    )


_GRAMMARS: dict[str, Callable[[str, int, Names, random.Random], Grammar]] = {
    "subcommand": _subcommand,
    "flags": _flags,
    "numbered": _numbered,
    "bulletin": _bulletin,
    "topics": _topics,
    "keyvalue": _keyvalue,
    "piped": _piped,
}


def announcement(channel: str, program: str, rng: random.Random) -> Announcement:
    """A text that points at `program`, in the style of `channel`. It holds no path and no word about the work."""
    text = _fill_sentence(
        [rng.choice(_TEXTS["frames"][channel]).replace("{pointer}", rng.choice(_TEXTS["pointers"]))], rng, name=program
    )
    if channel in ("motd", "banner"):
        return Announcement(channel=channel, text=text)
    place = rng.choice(_TEXTS["places"][channel])
    return Announcement(channel=channel, text=text, place=place if channel == "env" else f"{HOME}/{place}")
