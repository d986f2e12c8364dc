"""Author the doable work of blocked scenarios: one command each, used in no other archetype.

Each blocked archetype has work of its own, so that holding out the archetype holds out all of its commands.
"""

import base64
from collections.abc import Callable

from authoring.templates.facts import checksum, link_target, mode_digits, own_name, size_in_bytes
from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of


def _number_sequence(names: Names) -> Unit:
    low, out = names.number(1, 40), names.file("txt")
    high, o = low + names.number(3, 9), shown(out)
    return saving_unit(
        names,
        [],
        out,
        text_of(map(str, range(low, high + 1))),
        asks=[
            f"Write the whole numbers from {low} to {high} to {o}, one per line.",
            f"Fill {o} with the numbers {low} to {high}, each on a line of its own.",
            f"Save the sequence {low} to {high} in {o}, one number a line.",
        ],
        solution=[f"seq {low} {high} > {quote(out)}"],
    )


def _filter_unit(
    names: Names,
    command: str,
    turn: Callable[[list[str]], list[str]],
    what: str,
    lines: list[str],
) -> Unit:
    """A unit that passes a file through one command; `what` describes the change of the lines in words."""
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(turn(lines)),
        asks=[
            f"Write the lines of {s} to {o}, {what}.",
            f"Make {o} from {s}: its lines, {what}.",
            f"Save {s} as {o}, {what}.",
        ],
        solution=[f"{command} {quote(source)} > {quote(out)}"],
    )


def _reversed_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 6))
    return _filter_unit(
        names,
        "tac",
        lambda all_: all_[::-1],
        "last line first",
        lines,
    )


def _mirrored_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 5))
    return _filter_unit(
        names,
        "rev",
        lambda all_: [line[::-1] for line in all_],
        "each line spelled backwards",
        lines,
    )


def _numbered_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 6))

    def numbered(all_: list[str]) -> list[str]:
        return [f"{index} {line}" for index, line in enumerate(all_, 1)]

    return _filter_unit(
        names,
        "awk '{print NR, $0}'",
        numbered,
        "each with its line number and a space in front",
        lines,
    )


def _folded_lines(names: Names) -> Unit:
    lines, width = ["".join(names.filler(names.number(3, 4))) for _ in range(names.number(2, 3))], names.number(6, 12)

    def folded(all_: list[str]) -> list[str]:
        return [line[start : start + width] for line in all_ for start in range(0, len(line), width)]

    return _filter_unit(
        names,
        f"fold -w {width}",
        folded,
        f"broken after every {width} characters",
        lines,
    )


def _decoded(names: Names) -> Unit:
    source, out, text = names.path("txt", names.number(0, 1)), names.file("txt"), names.text(2, 3)
    s, o = shown(source), shown(out)
    encoded = base64.b64encode(text.encode()).decode()
    return saving_unit(
        names,
        [fixture(source, text_of(encoded[start : start + 76] for start in range(0, len(encoded), 76)))],
        out,
        text,
        asks=[
            f"Decode the base64 text in {s} and save the result as {o}.",
            f"{s} is base64. Write what it stands for to {o}.",
            f"Turn the base64 file {s} into its plain form {o}; {s} stays.",
        ],
        solution=[f"base64 -d {quote(source)} > {quote(out)}"],
    )


def _encoded(names: Names) -> Unit:
    source, out, text = names.path(names.pick(["txt", "dat"]), names.number(0, 1)), names.file("txt"), names.text(2, 4)
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text)],
        out,
        base64.encodebytes(text.encode()).decode(),
        asks=[
            f"Encode {s} in base64 and save the result as {o}.",
            f"Write {s} to {o} in base64 form.",
            f"Make {o}, the base64 encoding of {s}; {s} stays.",
        ],
        solution=[f"base64 {quote(source)} > {quote(out)}"],
    )


def _cleaning_unit(names: Names, script: str, spoil: Callable[[str], str], what: str) -> Unit:
    """A unit that edits every line of a file in place; `what` names the part to remove."""
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
        solution=[f"sed -i '{script}' {quote(path)}"],
        after=[fixture(path, text_of(lines))],
    )


def _carriage_returns(names: Names) -> Unit:
    return _cleaning_unit(
        names,
        r"s/\r$//",
        lambda line: f"{line}\r",
        "a carriage return",
    )


def _trailing_spaces(names: Names) -> Unit:
    return _cleaning_unit(
        names,
        "s/ *$//",
        lambda line: f"{line}   ",
        "trailing spaces",
    )


def _arithmetic(names: Names) -> Unit:
    left, right, out = names.number(11, 99), names.number(2, 40), names.file("txt")
    word, sign, result = names.pick(
        [("product", "*", left * right), ("sum", "+", left + right), ("difference", "-", left - right)]
    )
    o = shown(out)
    return saving_unit(
        names,
        [],
        out,
        f"{result}\n",
        asks=[
            f"Write the {word} of {left} and {right} to {o}.",
            f"Work out {left} {sign} {right} and save the result in {o}.",
            f"Compute the {word} of {left} and {right}; the number goes to {o}.",
        ],
        solution=[f"echo $(({left} {sign} {right})) > {quote(out)}"],
    )


DOABLE: dict[str, list[Shape]] = {
    "missing_source": [_number_sequence, _reversed_lines, _mirrored_lines],
    "forbidden_place": [own_name, mode_digits, link_target],
    "absent_program": [checksum, size_in_bytes, _encoded],
    "unreachable_host": [_carriage_returns, _trailing_spaces, _arithmetic],
    "broken_archive": [_numbered_lines, _folded_lines, _decoded],
}
