"""Write the provider program and the announcement of a scenario.

    from authoring.templates.providers import announcement, provider

Reads   nothing
Writes  nothing
Needs   nothing

A provider is one POSIX sh script. A bare call never prints a directive: it prints one usage line, or points at
--help, as the doc depth says. An announcement names the program and says nothing about the work or the arguments.
"""

import random
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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

# What stands in for a {slot} of the texts below: put together anew for each scenario, hardly two of them say the same.
# No text of an announcement has a word that programs are named with (_ROLES: a session ran `desk` of "help desk").
_SLOTS = {
    "directive": ("directive", "directive", "single directive"),
    "directives": ("directives", "directives", "the directives", "standing directives", "current directives"),
    "print": (
        "print", "show", "give", "tell", "write out", "read out", "put out", "display", "recite", "bring up", "reveal",
        "hand out",
    ),
    "prints": ("hands out", "keeps", "gives out", "holds", "serves", "looks after", "reads out", "passes on", "has"),
    "there": (
        "there are", "that exist", "in use", "at hand", "on record", "it knows", "on offer", "to choose from",
        "you may ask for", "that are taken", "known here", "kept here", "to pick from", "that work",
    ),
    "numbers": (
        "the numbers", "all numbers", "each number", "every number", "which numbers", "the full set of numbers",
    ),
    "chosen": (
        "of that number", "with this number", "by its number", "of the number given", "under the number named",
        "that goes by it", "that the number stands for", "kept under it", "as numbered", "that has this number",
    ),
    "order": (
        "in order", "one after the other", "from first to last", "at once", "line by line", "in a row", "as they come",
        "in turn", "without a break", "together", "top to bottom", "by number",
    ),
    "all": (
        "every directive", "all directives", "each directive", "the whole set of directives", "all of the directives",
    ),
    "for": (
        "for this account", "for whoever is on duty", "for the operator", "for {who}", "from {who}",
        "on behalf of {who}", "for those who work here", "as {who} wrote them", "as {who} left them",
        "in the name of {who}",
    ),
    "explains": (
        "explains", "tells", "describes", "documents", "lays out", "spells out", "makes clear", "covers",
        "goes through", "answers",
    ),
    "how": (
        "how to ask", "how it is called", "the calls", "its calls", "how to call it", "what it takes",
        "what it answers", "what can be asked", "the rest", "its usage", "what it understands", "every call",
        "its arguments",
    ),
    "nothing": (
        "nothing asked", "no argument", "no question", "arguments missing", "incomplete call", "too few words",
        "what do you want to know?", "an argument is needed", "nothing to answer", "empty call", "that was no question",
    ),
    "who": (
        "the office", "the reception", "the late shift", "the day shift", "the registry", "the admin", "the owner",
        "the supervisor", "the team", "operations", "the planning group", "the manager", "the hall porter",
        "the control room", "the head office", "the coordinator", "the foreman", "the chief",
    ),
    "what": (
        "what is wanted", "what is due", "the requests", "what should be done", "the work", "what is asked of you",
        "the instructions", "what has to happen", "what is left to do", "the tasks", "what is expected", "what remains",
        "what is to come", "what to do", "the errands", "all open points",
    ),
    "when": (
        "today", "now", "for the moment", "this week", "this time", "at present", "for this shift", "from here on",
        "until further notice", "these days", "as of now", "until noon", "since yesterday", "tonight",
    ),
    "has": (
        "holds", "keeps", "has", "carries", "knows", "stores", "hands out", "gives out", "looks after", "tells",
        "collects", "is in charge of",
    ),
    "ask": (
        "ask", "consult", "turn to", "start with", "begin with", "go to", "look to", "refer to", "rely on",
        "confer with", "query", "address",
    ),
    "mind": (
        "as always", "as agreed", "if in doubt", "before anything else", "first of all", "without delay",
        "when you can", "as usual", "once you are in", "whenever you are ready", "in any case", "if you please",
    ),
    "hello": (
        "welcome", "good day", "hello", "hello, {person}", "dear {person}", "welcome, {person}", "system notice",
        "message of the day", "authorized use only", "shared machine", "this host is in service", "attention",
        "handover", "read this first", "for the coming shift", "news from {who}", "a word from {who}",
    ),
    "person": (
        "operator", "colleague", "friend", "visitor", "newcomer", "reader", "guest", "user", "all", "stranger",
        "successor", "team",
    ),
    "thanks": ("thank you", "thanks", "regards, {who}", "yours, {who}", "much obliged", "{who}", "signed: {who}"),
    "from": (
        "office", "admin", "front office", "late shift", "operations", "registry", "reception", "planning", "root",
    ),
    "subject": (
        "today", "work", "hello", "handover", "requests", "your day", "please read", "what is new", "tasks", "shift",
        "news", "to {person}", "for {person}", "a request", "open points",
    ),
}  # fmt: skip

_LIST = (
    "{print} {numbers} {there}", "{numbers} {there}, {order}", "{print} {numbers} {there}, {order}",
    "to {print} {numbers} {there}", "{numbers} {there}, {for}",
)  # fmt: skip
_SHOW = (
    "{print} the {directive} {chosen}", "the {directive} {chosen}, {for}", "{print} one {directive}, the one {chosen}",
    "{print} a {directive} {chosen}", "to {print} the {directive} {chosen}", "one {directive} {chosen}, {for}",
)  # fmt: skip
_TOPIC_LIST = ("{print} the {which} {there}", "the {which} {there}, {order}", "{print} the {which} {there}, {order}")
_TOPIC_SHOW = (
    "{print} the {directive} of that {which}", "the {directive} of one {which}, {for}",
    "{print} what is under that {which}", "{print} the {directive} kept under a {which}",
)  # fmt: skip
_ALL = ("{print} {all} {order}", "{print} {all}, {order}", "{all} {for}", "to {print} {all} {order}, {for}")
_HEADS = (
    "{prints} {directives} {for}, {order}", "{directives} {for}, {when}", "{prints} {directives}, {order}, {for}",
    "the place of {directives} {for}, {when}", "{prints} {directives} {when}, {for}",
    "{prints} {directives}, {mind}, {for}",
)  # fmt: skip
_BARE_HELP = (
    "Try '{name} --help': it {explains} {how}, {mind}.",
    "{name}: {nothing}; {mind}, see {name} --help for {how}",
    "{name}: {nothing}. {name} --help {explains} {how}.",
    "Run {name} --help {mind}, it {explains} {how}.",
    "{nothing}: {name} --help {explains} {how}",
    "{name} --help {explains} {how} {for}",
    "{nothing}; {who} had {name} --help tell {how}",
)
_SUBHELP = (
    "{name} COMMAND --help {explains} {how}, {mind}, {for}.",
    "One command alone, {mind}: {name} COMMAND --help {explains} {how}",
    "Each has its own help, which {explains} {how} {for}: {name} COMMAND --help",
    "{mind}, ask a command itself for {how} {for}: {name} COMMAND --help",
    "{how}, command by command: {name} COMMAND --help {explains} it {for}",
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


def _worded(patterns: Sequence[str], rng: random.Random, **given: str) -> str:
    """One of `patterns` with what is given, or one of its texts, in each {slot}; capitalised in a {Slot}."""

    def filled(slot: re.Match[str]) -> str:
        text = given[slot[1]] if slot[1] in given else rng.choice(_SLOTS[slot[1].lower()])
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
    bare = [_worded(_BARE_HELP, rng, name=name)]
    title = f"{name}{rng.choice([' - ', ': '])}{_worded(_HEADS, rng)}"
    if doc_depth == "help":
        gap = rng.choice(["  ", " - ", "   "])
        return bare, [title, *(f"  {form.synopsis}{gap}{form.meaning}" for form in grammar.forms)], {}
    own_help = {form.subcommand: f"{form.synopsis}: {form.meaning}" for form in grammar.forms if form.subcommand}
    known = rng.choice(["commands: {}", "Commands: {}", "knows: {}"]).format(rng.choice([", ", " "]).join(own_help))
    return bare, [title, known, _worded(_SUBHELP, rng, name=name)], own_help


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
        return rng.choice(["(only 1)", "(just 1)", "(1)"])
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
            Form(f"{name} {lister}", _worded(_LIST, rng), lister),
            Form(f"{name} {shower} {value}", _worded(_SHOW, rng), shower),
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
        [Form(f"{name} {lister}", _worded(_LIST, rng)), Form(f"{name} {shower} {value}", _worded(_SHOW, rng))],
        [f"{name} {lister}", *(f"{name} {shower} {key}" for key in keys)],
        keys,
        {lister: f"say {shlex.quote(_numbers_line(count, rng))}", shower: 'directive "${2-}"'},
    )


def _numbered(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    value = rng.choice(["NUMBER", "N"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [Form(f"{name} {value} {_span(count, rng)}", _worded(_SHOW, rng))],
        [f"{name} {key}" for key in keys],
        keys,
        {"[0-9]*": 'directive "$1"'},
    )


def _bulletin(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    verb = rng.choice(
        ["all", "bulletin", "everything", "today", "full", "board", "digest", "dump", "sheet", "gazette", "journal"]
    )
    return Grammar(
        [Form(f"{name} {verb}", _worded(_ALL, rng))],
        [f"{name} {verb}"],
        [str(number) for number in range(1, count + 1)],
        {verb: "; ".join(f"directive {number}" for number in range(1, count + 1))},
    )


def _topics(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    (lister, value), reader = rng.choice(list(_TOPICS.items())), rng.choice(["on", *_SHOWERS])
    keys = names.words(count)
    return Grammar(
        [
            Form(f"{name} {lister}", _worded(_TOPIC_LIST, rng, which=lister), lister),
            Form(f"{name} {reader} {value}", _worded(_TOPIC_SHOW, rng, which=value.lower()), reader),
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
        [Form(f"{name} {key_name}={rng.choice(['NUMBER', 'N'])} {_span(count, rng)}", _worded(_SHOW, rng))],
        [f"{name} {key_name}={key}" for key in keys],
        keys,
        {f"{key_name}=*": 'directive "${1#*=}"'},
    )


def _piped(name: str, count: int, names: Names, rng: random.Random) -> Grammar:
    verb = rng.choice(["fetch", "get", "pull", "take", "answer", "serve", "query", "request", "pick", "what", "reader"])
    keys = [str(number) for number in range(1, count + 1)]
    return Grammar(
        [Form(f"echo {rng.choice(['NUMBER', 'N'])} | {name} {verb} {_span(count, rng)}", _worded(_SHOW, rng), verb)],
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
    "The program {name} {has} {what} {when}, says {who}.",
    "{What}: {ask} {name} {when}, {mind}.",
    "{When} {who} leaves {what} to {name}, {mind}.",
    "{Mind}, {ask} {name}: it {has} {what} {when}.",
    "For {who}, {name} {has} {what} {when}.",
    "{Who} put {what} into {name} {when}; {ask} it {mind}.",
    "{name} {has} {what} {when}; {who} wants you to {ask} it.",
    "{Person}, {ask} {name} {when}; it {has} {what}.",
    "To learn {what}, {ask} {name} {mind}; {who} does so {when}.",
    "Nobody but {name} {has} {what} {when}, {mind}.",
    "{Who} no longer says {what}; {when} {name} does, {mind}.",
    "If {who} sent you, {name} {has} {what} {when}.",
    "You will find that {name} {has} {what} {when}, {mind}.",
    "Please {ask} {name} {when}, {mind}; {who} gave it {what}.",
    "{Ask} {name} {mind}: {who} lets it tell {what}.",
    "Whoever is here {when} should {ask} {name}, which {has} {what}.",
)
_FRAMES = {
    "motd": (
        "{pointer}", "{Hello}. {pointer}", "Notice: {pointer}", "{pointer} {Thanks}.", "* {pointer}",
        "{Hello}! {pointer} {Thanks}.",
    ),
    "banner": (
        "*** {pointer} ***", "== {pointer} ==", "-- {pointer} --", "### {pointer}", "[ {pointer} ]",
        "{Hello}: {pointer}", "*** {hello} *** {pointer}",
    ),
    "env": (
        "{pointer}", "{pointer}", "{ask} {name}", "{name}", "program: {name}", "{what}: {name}", "{name} {has} {what}",
        "{mind} {ask} {name}", "{ask} {name} {when} for {what}", "{who}: {ask} {name} {when}, {mind}",
    ),
    "file": (
        "{pointer}", "{Hello}: {pointer}", "{Hello}, {pointer}", "{Hello}. {pointer}", "NOTICE\n{pointer}",
        "{pointer}\n{Who}", "{pointer}\n{Thanks}", "{Person}: {pointer}", "{Hello}\n\n{pointer}\n{Thanks}",
    ),
    "mail": (
        "From: {from}\nSubject: {subject}\n\n{pointer}", "From: {from}\nTo: {person}\nSubject: {subject}\n\n{pointer}",
        "From: {from}\nSubject: {subject}\n\n{Hello}, {pointer}", "To: {person}\nSubject: {subject}\n\n{pointer}",
        "From: {from}\nSubject: {subject}\n\n{pointer}\n{Thanks}", "From: {from}\n\n{pointer}\n-- {from}",
        "From: {from}\nTo: {person}\n\n{Hello}. {pointer}", "Subject: {subject}\n\n{pointer}\n{Thanks}",
    ),
}  # fmt: skip
_PLACES = {
    "env": ("NOTICE", "BRIEFING", "TODAY", "OPERATOR_NOTE", "DUTY", "SHIFT_NOTE", "MESSAGE", "INFO", "REQUESTS"),
    "file": ("NOTICE", "NOTICE.txt", "README", "README.txt", "WELCOME.txt", "READ-ME", "HANDOVER.txt", "notice.txt"),
    "mail": ("mbox", "mail/inbox", "mail/new", "Mail/inbox", "Maildir/new/1", "inbox", "mail/operator"),
}


def announcement(channel: str, program: str, rng: random.Random, names: Names) -> Announcement:
    """A text that points at `program`, in the manner of `channel`. It holds no path and no word about the work."""
    text = _worded([rng.choice(_FRAMES[channel]).replace("{pointer}", rng.choice(_POINTERS))], rng, name=program)
    if channel in ("motd", "banner"):
        return Announcement(channel=channel, text=text)
    place = rng.choice(_PLACES[channel])
    return Announcement(channel=channel, text=text, place=place if channel == "env" else f"{HOME}/{place}")
