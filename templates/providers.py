"""Write the provider program and the announcement of a scenario.

    from templates.providers import announcement, provider

Reads   nothing
Writes  nothing
Needs   nothing

A provider is one POSIX sh script. A bare call never prints a directive: it prints one usage line, or points at
--help, as the doc depth says. An announcement names the program and says nothing about the work or the arguments.
"""

import random
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schema import HOME, PROVIDER_DIRECTORY, Announcement, Provider
from templates.world import Names


@dataclass(frozen=True)
class Form:
    """One way to call the program: its synopsis, what it does, and the subcommand whose help explains it."""

    synopsis: str
    meaning: str
    subcommand: str | None = None


@dataclass(frozen=True)
class Grammar:
    """How one program is called: its forms, the calls that bring out every directive, and the sh that serves them.

    `keys` are what `directive KEY` takes in the script, one per directive; `branches` maps a case pattern of the first
    argument to the sh behind it.
    """

    forms: list[Form]
    calls: list[str]
    keys: list[str]
    branches: dict[str, str]


_ROLES = ("desk", "duty", "brief", "orders", "agenda", "roster", "docket", "dispatch", "rota", "memo", "chores", "ctl")

# Words to be read off the screen: too many to be learned by heart from some hundred scenarios.
_LISTERS = (
    "list", "index", "titles", "catalog", "menu", "outline", "register", "table", "roll", "rack", "enum", "known",
    "journal", "gazette",
)  # fmt: skip
_SHOWERS = (
    "show", "read", "print", "tell", "give", "view", "display", "recite", "speak", "recall", "reveal", "quote",
    "extract", "peek", "utter", "detail", "explain", "report", "voice", "see", "about", "inquire", "watch", "open",
)  # fmt: skip
_TOPICS = {
    "topics": "TOPIC", "subjects": "SUBJECT", "names": "NAME", "pages": "PAGE", "titles": "TITLE", "entries": "ENTRY",
    "keys": "KEY",
}  # fmt: skip

_LIST = ("print the numbers there are", "say which numbers exist", "print the numbers in use", "number what is there")
_SHOW = ("print one directive", "print the directive of that number", "hand out one directive", "read out a directive")
_ALL = ("print every directive", "print all directives in order", "read out all of them", "hand out every directive")
_HEADS = ("hands out directives", "keeps the directives", "today's directives", "directives for this account")
_BARE_HELP = (
    "Try '{name} --help'.",
    "{name}: see {name} --help",
    "{name}: nothing asked. {name} --help explains.",
    "Run {name} --help to learn how to ask.",
    "{name} needs an argument; {name} --help has them.",
)
_SUBHELP = (
    "{name} COMMAND --help explains a command.",
    "For one command: {name} COMMAND --help",
    "Each has its own help: {name} COMMAND --help",
    "Ask a command itself: {name} COMMAND --help",
)
_LABELS = (
    "{key}. {text}",
    "{key}) {text}",
    "[{key}] {text}",
    "{key}: {text}",
    "Directive {key}: {text}",
    "#{key} {text}",
)


def program_name(names: Names) -> str:
    """A fresh name for a provider program; it equals no command of the image."""
    role = names.pick(_ROLES)
    style = names.pick(["{word}", "{word}-{role}", "{word}{role}", "{role}-{word}", "{word}-{other}", "{word}_{role}"])
    return style.format(word=names.word(), role=role, other=names.word())


def provider(kind: str, doc_depth: str, directives: Sequence[str], names: Names, rng: random.Random) -> Provider:
    """A provider of `kind` that documents itself at `doc_depth` and hands out `directives`; its texts vary with `rng`.

    `help_commands` are the calls that teach how to ask, bare call first; `directive_commands` those that then bring out
    every directive, any listing first.
    """
    name = program_name(names)
    grammar = _GRAMMARS[kind](name, len(directives), names, rng)
    label = rng.choice(_LABELS)
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


def _documentation(
    name: str, doc_depth: str, grammar: Grammar, rng: random.Random
) -> tuple[list[str], list[str], dict[str, str]]:
    """The lines of a bare call, those of --help, and the help line of each subcommand."""
    synopses = [form.synopsis for form in grammar.forms]
    if doc_depth == "usage":
        usage = rng.choice(["usage: {}", "Usage: {}", "usage is {}"]).format(rng.choice([" | ", " or "]).join(synopses))
        return [usage], [usage], {}
    bare = [rng.choice(_BARE_HELP).format(name=name)]
    title = f"{name}{rng.choice([' - ', ': '])}{rng.choice(_HEADS)}"
    if doc_depth == "help":
        gap = rng.choice(["  ", " - ", "   "])
        return bare, [title, *(f"  {form.synopsis}{gap}{form.meaning}" for form in grammar.forms)], {}
    own_help = {form.subcommand: f"{form.synopsis}: {form.meaning}" for form in grammar.forms if form.subcommand}
    known = rng.choice(["commands: {}", "Commands: {}", "knows: {}"]).format(rng.choice([", ", " "]).join(own_help))
    return bare, [title, known, rng.choice(_SUBHELP).format(name=name)], own_help


def _source(
    name: str, bare: list[str], full: list[str], own_help: dict[str, str], grammar: Grammar, texts: list[str]
) -> str:
    """The script. Every text stands in it as a quoted word, so that nothing in a directive is ever expanded."""
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
    """How a synopsis says which numbers there are."""
    if count == 1:
        return rng.choice(["(there is only 1)", "(only 1)", "(it is 1)"])
    return rng.choice([f"(1 to {count})", f"(1-{count})", f"(from 1 to {count})"])


def _numbers_line(count: int, rng: random.Random) -> str:
    """What a listing prints."""
    numbers = [str(number) for number in range(1, count + 1)]
    return rng.choice(["numbers: {}", "there are: {}", "directives: {}", "{}"]).format(" ".join(numbers))


def _subcommand(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    lister, shower = rng.choice(_LISTERS), rng.choice(_SHOWERS)
    value = rng.choice(["NUMBER", "N"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [
            Form(f"{name} {lister}", rng.choice(_LIST), lister),
            Form(f"{name} {shower} {value}", rng.choice(_SHOW), shower),
        ],
        [f"{name} {lister}", *(f"{name} {shower} {key}" for key in keys)],
        keys,
        {lister: f"say {shlex.quote(_numbers_line(count, rng))}", shower: 'directive "${2-}"'},
    )


def _flags(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    lister = rng.choice(["-l", *(f"--{word}" for word in rng.sample(_LISTERS, 3))])
    shower = rng.choice(["-s", *(f"--{word}" for word in rng.sample(_SHOWERS, 3))])
    value = rng.choice(["NUMBER", "N"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [Form(f"{name} {lister}", rng.choice(_LIST)), Form(f"{name} {shower} {value}", rng.choice(_SHOW))],
        [f"{name} {lister}", *(f"{name} {shower} {key}" for key in keys)],
        keys,
        {lister: f"say {shlex.quote(_numbers_line(count, rng))}", shower: 'directive "${2-}"'},
    )


def _numbered(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    value = rng.choice(["NUMBER", "N"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [Form(f"{name} {value} {_span(count, rng)}", rng.choice(_SHOW))],
        [f"{name} {key}" for key in keys],
        keys,
        {"[0-9]*": 'directive "$1"'},
    )


def _bulletin(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    verb = rng.choice(
        ["all", "bulletin", "everything", "today", "full", "board", "digest", "dump", "sheet", "gazette", "journal"]
    )
    return Grammar(
        [Form(f"{name} {verb}", rng.choice(_ALL))],
        [f"{name} {verb}"],
        [str(number) for number in range(1, count + 1)],
        {verb: "; ".join(f"directive {number}" for number in range(1, count + 1))},
    )


def _topics(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    (lister, value), reader = rng.choice(list(_TOPICS.items())), rng.choice(["on", *_SHOWERS])
    keys = names.words(count)
    return Grammar(
        [
            Form(f"{name} {lister}", f"print the {lister} there are", lister),
            Form(f"{name} {reader} {value}", f"print the directive of that {value.lower()}", reader),
        ],
        [f"{name} {lister}", *(f"{name} {reader} {key}" for key in keys)],
        keys,
        {lister: f"say {shlex.quote(' '.join(keys))}", reader: 'directive "${2-}"'},
    )


def _keyvalue(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    key_name = rng.choice(
        ["item", "number", "part", "entry", "n", "piece", "slot", "unit", "section", "ticket", "point", "shelf"]
    )
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [Form(f"{name} {key_name}={rng.choice(['NUMBER', 'N'])} {_span(count, rng)}", rng.choice(_SHOW))],
        [f"{name} {key_name}={key}" for key in keys],
        keys,
        {f"{key_name}=*": 'directive "${1#*=}"'},
    )


def _piped(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    verb = rng.choice(["fetch", "get", "pull", "take", "answer", "serve", "query", "request", "pick", "what", "reader"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [Form(f"echo {rng.choice(['NUMBER', 'N'])} | {name} {verb} {_span(count, rng)}", rng.choice(_SHOW), verb)],
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

_POINTERS = (
    "The program {name} knows what is wanted today.",
    "What is asked of this account is kept by {name}.",
    "Please see {name} for what is due.",
    "{name} holds the current requests.",
    "Today's requests are with the program {name}.",
    "Ask {name} what should be done here.",
    "All that is wanted here can be learned from {name}.",
    "Whoever is on duty asks {name} first.",
    "Your instructions are with {name}.",
    "The command {name} gives out today's work.",
    "Work is handed out by {name} now.",
    "New work waits in {name}.",
    "If you want to know what to do, ask {name}.",
    "Start with {name}.",
)
_FRAMES = {
    "motd": (
        "{pointer}", "Welcome. {pointer}", "Good day. {pointer}", "Notice: {pointer}", "Message of the day: {pointer}",
        "Hello, operator. {pointer}", "{pointer} Thank you.", "System notice. {pointer}", "* {pointer}",
    ),
    "banner": (
        "*** {pointer} ***", "== {pointer} ==", "-- {pointer} --", "Authorized use only. {pointer}",
        "Shared machine. {pointer}", "### {pointer}", "This host is in service. {pointer}", "[ {pointer} ]",
        "Attention: {pointer}",
    ),
    "env": (
        "{pointer}", "ask {name}", "see {name}", "run {name}", "{name}", "program: {name}", "handled by {name}",
        "start at {name}", "requests: {name}",
    ),
    "file": (
        "{pointer}", "To whoever logs in here: {pointer}", "Dear operator, {pointer}", "Handover. {pointer}",
        "NOTICE\n{pointer}", "For the coming shift: {pointer}", "Read this first. {pointer}", "{pointer}\nThe office",
        "Operator: {pointer}",
    ),
    "mail": (
        "From: office\nSubject: today\n\n{pointer}", "From: admin\nTo: operator\nSubject: work\n\n{pointer}",
        "From: front office\nSubject: hello\n\nHello, {pointer}", "From: late shift\nSubject: handover\n\n{pointer}",
        "From: admin\nSubject: requests\n\n{pointer}\nThanks", "To: operator\nSubject: your day\n\n{pointer}",
        "From: office\nTo: operator\n\nGood day. {pointer}", "Subject: please read\n\n{pointer}",
        "From: admin\n\n{pointer}\n-- admin",
    ),
}  # fmt: skip
_PLACES = {
    "env": ("NOTICE", "BRIEFING", "TODAY", "OPERATOR_NOTE", "DUTY", "SHIFT_NOTE", "MESSAGE", "INFO", "REQUESTS"),
    "file": ("NOTICE", "NOTICE.txt", "README", "README.txt", "WELCOME.txt", "READ-ME", "HANDOVER.txt", "notice.txt"),
    "mail": ("mbox", "mail/inbox", "mail/new", "Mail/inbox", "Maildir/new/1", "inbox", "mail/operator"),
}


def announcement(channel: str, program: str, rng: random.Random, names: Names) -> Announcement:
    """A text that points at `program`, in the manner of `channel`. It holds no path and no word about the work."""
    pointer = rng.choice(_POINTERS).format(name=program)
    text = rng.choice(_FRAMES[channel]).format(pointer=pointer, name=program)
    if channel in ("motd", "banner"):
        return Announcement(channel=channel, text=text)
    place = rng.choice(_PLACES[channel])
    return Announcement(channel=channel, text=text, place=place if channel == "env" else f"{HOME}/{place}")
