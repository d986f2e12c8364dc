"""Shape the work that stands beside a directive that cannot be done: small, of one command, and asked for nowhere else.

    from templates.doable import DOABLE

Reads   nothing
Writes  nothing
Needs   nothing

Each blocked archetype has work of its own, so that holding the archetype out holds all of its commands out.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence

from schema import HOME, Fixture
from templates.world import Names, Shape, Unit, fixture, link, quote, shown, text_of


def _can(
    names: Names,
    *,
    fixtures: Sequence[Fixture] = (),
    answer: tuple[str, str],
    asks: Sequence[str],
    others: Sequence[str],
    solution: str,
) -> Unit:
    """A unit of one command that leaves one file with this text."""
    return Unit(
        fixtures=list(fixtures),
        directive=names.pick(asks),
        instruction=names.pick(others),
        solution=[solution],
        after=[fixture(*answer)],
    )


def _number_sequence(names: Names) -> Unit:
    low, out = names.number(1, 40), names.file("txt")
    high, o = low + names.number(3, 9), shown(out)
    return _can(
        names,
        answer=(out, text_of(map(str, range(low, high + 1)))),
        asks=[
            f"Write the whole numbers from {low} to {high} to {o}, one per line.",
            f"Fill {o} with the numbers {low} to {high}, each on a line of its own.",
            f"Save the sequence {low} to {high} in {o}, one number a line.",
        ],
        others=[f"I want {o} to count from {low} up to {high}, line by line.", f"{o} should run from {low} to {high}."],
        solution=f"seq {low} {high} > {quote(out)}",
    )


def _through(
    names: Names, command: str, turn: Callable[[list[str]], list[str]], what: str, other: str, lines: list[str]
) -> Unit:
    """A unit that passes a file through one command; `what` says what the result is, `other` says it otherwise."""
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    s, o = shown(source), shown(out)
    return _can(
        names,
        fixtures=[fixture(source, text_of(lines))],
        answer=(out, text_of(turn(lines))),
        asks=[
            f"Write the lines of {s} to {o}, {what}.",
            f"Make {o} from {s}: its lines, {what}.",
            f"Save {s} as {o}, {what}.",
        ],
        others=[f"I want {o} to be {s} {other}.", f"{o} should be {s} {other}."],
        solution=f"{command} {quote(source)} > {quote(out)}",
    )


def _reversed_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 6))
    return _through(names, "tac", lambda all_: all_[::-1], "last line first", "from bottom to top", lines)


def _mirrored_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 5))
    what = "each line spelled backwards"
    return _through(names, "rev", lambda all_: [line[::-1] for line in all_], what, "with mirrored lines", lines)


def _numbered_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 6))

    def numbered(all_: list[str]) -> list[str]:
        return [f"{index} {line}" for index, line in enumerate(all_, 1)]

    what = "each with its line number and a space in front"
    return _through(names, "awk '{print NR, $0}'", numbered, what, "with numbered lines, '1 ' before the first", lines)


def _folded_lines(names: Names) -> Unit:
    lines, width = ["".join(names.filler(names.number(3, 4))) for _ in range(names.number(2, 3))], names.number(6, 12)

    def folded(all_: list[str]) -> list[str]:
        return [line[start : start + width] for line in all_ for start in range(0, len(line), width)]

    what = f"broken after every {width} characters"
    return _through(names, f"fold -w {width}", folded, what, f"in lines of at most {width} characters", lines)


def _decoded(names: Names) -> Unit:
    source, out, text = names.path("txt", names.number(0, 1)), names.file("txt"), names.text(2, 3)
    s, o = shown(source), shown(out)
    encoded = base64.b64encode(text.encode()).decode()
    return _can(
        names,
        fixtures=[fixture(source, text_of(encoded[start : start + 76] for start in range(0, len(encoded), 76)))],
        answer=(out, text),
        asks=[
            f"Decode the base64 text in {s} and save the result as {o}.",
            f"{s} is base64. Write what it stands for to {o}.",
            f"Turn the base64 file {s} into its plain form {o}; {s} stays.",
        ],
        others=[f"I want the base64 of {s} decoded in {o}.", f"{o} should be {s} without the base64 around it."],
        solution=f"base64 -d {quote(source)} > {quote(out)}",
    )


def _own_name(names: Names) -> Unit:
    out = names.file("txt")
    o = shown(out)
    what, other, command, answer = names.pick(
        [
            ("the name of the user you are logged in as", "who the login user is", "id -un", "operator"),
            ("the numeric id of your user", "the user id as a number", "id -u", "1000"),
            ("the absolute path of the home directory", "where home is", "echo $HOME", HOME),
        ]
    )
    return _can(
        names,
        answer=(out, f"{answer}\n"),
        asks=[f"Write {what} to {o}.", f"Let {o} name {what}.", f"Record {what} in {o}."],
        others=[f"I want {o} to say {other}.", f"{o} should tell {other}."],
        solution=f"{command} > {quote(out)}",
    )


def _mode_digits(names: Names) -> Unit:
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    mode = names.pick([0o600, 0o640, 0o644, 0o660, 0o700, 0o750, 0o755])
    s, o = shown(source), shown(out)
    return _can(
        names,
        fixtures=[fixture(source, names.text(), mode)],
        answer=(out, f"{mode:o}\n"),
        asks=[
            f"Write the mode of {s} to {o} as three octal digits.",
            f"Which mode does {s} have? Save its three digits in {o}.",
            f"Record the permissions of {s}, as an octal number, in {o}.",
        ],
        others=[f"I want to read the octal mode of {s} in {o}.", f"{o} should give the three mode digits of {s}."],
        solution=f"stat -c %a {quote(source)} > {quote(out)}",
    )


def _link_target(names: Names) -> Unit:
    name, target, out = names.stem(plain=True), names.path("txt", names.number(0, 1), plain=True), names.file("txt")
    o = shown(out)
    return _can(
        names,
        fixtures=[fixture(target, names.text()), link(name, target)],
        answer=(out, f"{target}\n"),
        asks=[
            f"Write the target of the symbolic link {name} to {o}.",
            f"Where does the symlink {name} point? Save its target in {o}.",
            f"Record in {o} what the symbolic link {name} leads to, as the link has it.",
        ],
        others=[f"I want {o} to say what the symlink {name} reads.", f"{o} should name the target of the link {name}."],
        solution=f"readlink {name} > {quote(out)}",
    )


def _checksum(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "dat"]), names.number(0, 1), plain=True), names.file("txt")
    text, kind = names.text(), names.pick(["sha256", "md5", "sha1"])
    digest = hashlib.new(kind, text.encode(), usedforsecurity=False).hexdigest()
    s, o = shown(source), shown(out)
    return _can(
        names,
        fixtures=[fixture(source, text)],
        answer=(out, f"{digest}  {source}\n"),
        asks=[
            f"Save the {kind} checksum of {s} in {o}, as {kind}sum prints it.",
            f"Write what {kind}sum prints for {s} to {o}.",
            f"Record the {kind} checksum line of {s}, hash and name, in {o}.",
        ],
        others=[f"I want the {kind}sum line of {s} in {o}.", f"{o} should be the output of {kind}sum for {s}."],
        solution=f"{kind}sum {source} > {quote(out)}",
    )


def _size_in_bytes(names: Names) -> Unit:
    source, out, text = names.path(names.pick(["txt", "dat"]), names.number(0, 1)), names.file("txt"), names.text()
    s, o = shown(source), shown(out)
    return _can(
        names,
        fixtures=[fixture(source, text)],
        answer=(out, f"{len(text.encode())}\n"),
        asks=[
            f"Write the size that stat gives for {s} to {o}, a bare number.",
            f"What size does stat report for {s}? Save that number in {o}.",
            f"Ask stat for the size of {s} and record the number in {o}.",
        ],
        others=[f"I want the size of {s}, by stat, in {o}.", f"{o} should say the size of {s} as stat sees it."],
        solution=f"stat -c %s {quote(source)} > {quote(out)}",
    )


def _encoded(names: Names) -> Unit:
    source, out, text = names.path(names.pick(["txt", "dat"]), names.number(0, 1)), names.file("txt"), names.text(2, 4)
    s, o = shown(source), shown(out)
    return _can(
        names,
        fixtures=[fixture(source, text)],
        answer=(out, base64.encodebytes(text.encode()).decode()),
        asks=[
            f"Encode {s} in base64 and save the result as {o}.",
            f"Write {s} to {o} in base64 form.",
            f"Make {o}, the base64 encoding of {s}; {s} stays.",
        ],
        others=[f"I want the base64 of {s} in {o}.", f"{o} should be {s} put into base64."],
        solution=f"base64 {quote(source)} > {quote(out)}",
    )


def _cleaned(names: Names, script: str, spoil: Callable[[str], str], what: str, other: str) -> Unit:
    """A unit that edits every line of a file in place; `what` is what must go."""
    path = names.path(names.pick(["conf", "cfg", "env"]), names.number(0, 1))
    lines = [f"{names.filler()[0]}={names.number(1, 99)}" for _ in range(names.number(3, 5))]
    s = shown(path)
    return Unit(
        fixtures=[fixture(path, text_of(map(spoil, lines)))],
        directive=names.pick(
            [
                f"Strip {what} from every line of {s}.",
                f"The lines of {s} end in {what}; take that away.",
                f"Clean {s} by cutting {what} off its lines.",
            ]
        ),
        instruction=names.pick([f"I want {s} without {other}.", f"{s} should be rid of {other}."]),
        solution=[f"sed -i '{script}' {quote(path)}"],
        after=[fixture(path, text_of(lines))],
    )


def _carriage_returns(names: Names) -> Unit:
    return _cleaned(names, r"s/\r$//", lambda line: f"{line}\r", "a carriage return", "its Windows line ends")


def _trailing_spaces(names: Names) -> Unit:
    return _cleaned(names, "s/ *$//", lambda line: f"{line}   ", "trailing spaces", "blanks after the values")


def _arithmetic(names: Names) -> Unit:
    left, right, out = names.number(11, 99), names.number(2, 40), names.file("txt")
    word, sign, result = names.pick(
        [("product", "*", left * right), ("sum", "+", left + right), ("difference", "-", left - right)]
    )
    o = shown(out)
    return _can(
        names,
        answer=(out, f"{result}\n"),
        asks=[
            f"Write the {word} of {left} and {right} to {o}.",
            f"Work out {left} {sign} {right} and save the result in {o}.",
            f"Compute the {word} of {left} and {right}; the number goes to {o}.",
        ],
        others=[f"I want {o} to hold {left} {sign} {right}.", f"{o} should be the {word} of {left} and {right}."],
        solution=f"echo $(({left} {sign} {right})) > {quote(out)}",
    )


DOABLE: dict[str, list[Shape]] = {
    "missing_source": [_number_sequence, _reversed_lines, _mirrored_lines],
    "forbidden_place": [_own_name, _mode_digits, _link_target],
    "absent_program": [_checksum, _size_in_bytes, _encoded],
    "unreachable_host": [_carriage_returns, _trailing_spaces, _arithmetic],
    "broken_archive": [_numbered_lines, _folded_lines, _decoded],
}
