"""Author the doable work of blocked scenarios: one command each, used in no other archetype.

Each blocked archetype has work of its own, so that holding out the archetype holds out all of its commands.
"""

import base64
from collections.abc import Callable, Sequence

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
        others=[
            f"I want {o} to count from {low} up to {high}, line by line.",
            f"{o} should run from {low} to {high}.",
            f"Count from {low} to {high} into the file {o}, a new line for each number.",
            f"Put all the whole numbers between {low} and {high}, both included, into {o}, one below the other.",
            f"Could you make {o} with the numbers from {low} up to {high}, one on each line?",
            f"We need a file {o} that lists {low} to {high}, every number on its own line.",
            f"Generate the numbers that start at {low} and end at {high}; store them in {o}, one per line.",
            f"The file {o} has to contain the numbers {low} through {high}, one number on every line.",
            f"Print the whole numbers {low} to {high} into {o}, every one on its own line.",
            f"Start at {low}, go up by 1 and stop after {high}; {o} gets these numbers, line by line.",
            f"Into {o} goes every whole number that is at least {low} and at most {high}, in rising order, one a line.",
            f"Use seq to fill {o} with {low} up to {high}.",
            f"Build a file {o} with one number on every line. The first line says {low}, the last one {high}, in steps"
            " of 1.",
            f"Write {low} to {high} into {o}, each number on its own line.",
            f"Fill {o} with the whole numbers {low} to {high}, one a line.",
            f"List every number from {low} up to and including {high} in {o}, one below another.",
            f"Create {o}: first line {low}, last line {high}, and all whole numbers between them in order.",
            f"Save the sequence {low} to {high} as {o}, with a line for each number.",
            f"Enter the numbers {low} through {high} in {o}, rising by one from line to line.",
            f"A file {o} is wanted in which the lines go up by one, beginning with {low} and ending with {high}.",
            f"Beginning at {low}, write one number per line to {o} until {high} is reached, {high} included.",
            f"Produce the range {low} to {high} (both ends included) in {o}, line after line.",
            f"Store consecutive numbers in {o}, one per line. The lowest is {low} and the highest {high}.",
            f"The lines of {o} are the numbers {low} to {high}, in ascending order.",
        ],
        solution=[f"seq {low} {high} > {quote(out)}"],
    )


def _filter_unit(
    names: Names,
    command: str,
    turn: Callable[[list[str]], list[str]],
    what: str,
    others: Callable[[str, str], Sequence[str]],
    lines: list[str],
) -> Unit:
    """A unit that passes a file through one command; `what` describes the change of the lines in words.

    `others` makes the instructions from two file names, those of the source and the result.
    """
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
        others=others(s, o),
        solution=[f"{command} {quote(source)} > {quote(out)}"],
    )


def _reversed_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 6))
    return _filter_unit(
        names,
        "tac",
        lambda all_: all_[::-1],
        "last line first",
        lambda s, o: [
            f"I want {o} to be {s} from bottom to top.",
            f"{o} should be {s} from bottom to top.",
            f"Reverse the order of the lines of {s} and store the outcome in {o}.",
            f"Turn {s} upside down, its bottom line on top, and save that as {o}.",
            f"Could you put the lines of {s} into {o} in reverse order, so that the last one comes first?",
            f"The file {o} has to contain the rows of {s} in the opposite order.",
            f"{s} is to be copied into {o} with its lines in reversed order, the last at the top.",
            f"Produce {o}, which has the entries of {s} backwards: the final line at the start, the first at the end.",
            f"Print {s} into {o}, from its last line up to its first.",
            f"Into {o} go the lines of {s} in the opposite order, the bottom line on top and the top line at the"
            " bottom.",
            f"Use tac on {s} and store what it prints in {o}.",
            f"Read {s} from its end to its beginning, line by line, and record it that way in {o}.",
            f"Flip the order of all lines in {s}. The result goes into {o}, which starts with the last line of {s}.",
            f"Copy {s} to {o}, but with the order of its lines reversed.",
            f"List the lines of {s} last to first in {o}.",
            f"Write {s} into {o} back to front, line by line: last line at the top, first at the bottom.",
            f"Save a version of {s} as {o} in which the final line comes first and the first line final.",
            f"Invert the line order of {s}; {o} receives the result.",
            f"Place the last line of {s} at the top of {o}, next the one before it, and so on up to the first.",
            f"Fill {o} with all lines of {s}, starting at the bottom and going up.",
            f"The lines of {s} are wanted in {o} in reverse sequence, each line itself unchanged.",
            f"Rearrange a copy of {s} into the opposite line order, last line first, and call it {o}.",
            f"Whatever line ends {s} has to begin {o}, and so on up to the line that begins {s}.",
            f"Create {o} out of {s} by going through its lines upwards, from the end to the start.",
        ],
        lines,
    )


def _mirrored_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 5))
    return _filter_unit(
        names,
        "rev",
        lambda all_: [line[::-1] for line in all_],
        "each line spelled backwards",
        lambda s, o: [
            f"I want {o} to be {s} with mirrored lines.",
            f"{o} should be {s} with mirrored lines.",
            f"Reverse the characters in every line of {s} and put the result into {o}, the lines in the same order.",
            f"Spell each line of {s} from right to left in a new file {o}.",
            f"Could you write {o}, where every line of {s} is read from its last character to its first?",
            f"In {o} we need the lines of {s} reversed letter by letter, in the same order of lines.",
            f"Flip the text of each row in {s} so that it reads backwards, and save this in {o}.",
            f"{o} has to contain every line of {s} with its characters in reverse order.",
            f"Print every line of {s} into {o} from right to left; the order of the lines stays.",
            f"Into {o} goes {s} with the characters of every line turned around.",
            f"Use rev on {s} and store what it prints in {o}.",
            f"Read every line of {s} from its end to its beginning, character by character, and record it that way in"
            f" {o}.",
            f"Mirror the lines of {s}, so that the last character comes first. The result goes into {o}, line after"
            " line as before.",
            f"Write {s} to {o} with each line spelled backwards.",
            f"Copy {s} to {o}, but reverse the characters within every line.",
            f"Fill {o} with the lines of {s}, each one spelled from its end to its start.",
            f"Invert each line of {s} character by character; {o} receives the lines in their old order.",
            f"Save as {o} a version of {s} whose lines run from the last character to the first.",
            f"Line by line, {o} is to show {s} backwards: last character first, first character last.",
            f"Turn every line of {s} around, so that it reads from right to left. Keep the outcome as {o}.",
            f"Create {o} out of {s} by reversing each line's characters without moving any line.",
            f"Put the lines of {s} into {o} in the same order, each with its text back to front.",
            f"The lines of {s} are wanted in {o} with their characters in the opposite order.",
            f"Store {s} in {o} mirrored (every line backwards, the sequence of lines unchanged).",
        ],
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
        lambda s, o: [
            f"I want {o} to be {s} with numbered lines, '1 ' before the first.",
            f"{o} should be {s} with numbered lines, '1 ' before the first.",
            f"Number the lines of {s} in {o}: '1 ' and the first line, '2 ' and the second, and so forth.",
            f"Could you put the line number and one space before every line of {s} and save that in {o}?",
            f"Produce a numbered copy of {s} called {o}; each line begins with its number and one space.",
            f"In {o} every line of {s} has to start with its position, counted from 1, and a space.",
            f"Add line numbers to the text of {s}, a single space after each, and store that in {o}, not in {s}.",
            f"We need {o}: the same lines as {s}, but with 1, 2, 3 and so on plus one space at the front of them.",
            f"Print {s} into {o} with every line after its own number and one space.",
            f"Into {o} goes {s} with 1, 2, 3 and so on at the start of its lines; one space follows the number.",
            f"Use awk on {s} to set the line number and one space before every line; store what it prints in {o}.",
            f"Copy {s} to {o} and number the lines on the way. A line of {o} is the number, one space and the old"
            " line.",
            f"For line 1 of {s}, record '1 ' plus the line in {o}, for line 2 '2 ' plus the line, and so on to the"
            " end.",
            f"Write {s} to {o} and start each line with its line number and one space.",
            f"Prefix every line of {s} with its number plus one space; {o} receives the result.",
            f"Save a version of {s} as {o} where '1 ' precedes the first line, '2 ' the second, and so on.",
            f"Label the lines of {s} 1, 2, 3 and so on, one space behind each number, and keep that as {o}.",
            f"Fill {o} with the lines of {s}, each behind its own number and one space.",
            f"The lines of {s} are wanted in {o} with numbers in front, from 1 up, set off by one space.",
            f"List {s} in {o} with line numbers. Just one space parts the number from the line.",
            f"Every line of {o} is a number counted from 1, one space, and the line of {s} at that position.",
            f"Create {o} out of {s} by putting the line number, then one space, ahead of each line.",
            f"Counting from 1, give each line of {s} its number and a space in front, and store all this in {o}.",
            f"Place numbers (1 for the first line, one space after each) before the lines of {s}, in {o}.",
        ],
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
        lambda s, o: [
            f"I want {o} to be {s} in lines of at most {width} characters.",
            f"{o} should be {s} in lines of at most {width} characters.",
            f"Wrap the lines of {s} at {width} characters and store the outcome in {o}.",
            f"Cut the lines of {s} into pieces of {width} characters, one piece per line, and put them into {o}.",
            f"Could you fold {s} to a width of {width} and keep the result as {o}?",
            f"No line of {o} may have more than {width} characters; apart from that it has the text of {s}.",
            f"Split each line in {s} after {width} characters, as often as necessary; the new lines belong in {o}.",
            f"We need {s} with a line break every {width} characters, saved under the name {o}.",
            f"Print {s} into {o} with a line break wherever a line would get longer than {width} characters.",
            f"Into {o} goes {s} with its long lines cut up, {width} characters to a line.",
            f"Use fold on {s} with a width of {width}; store what it prints in {o}.",
            f"Chop the lines of {s} into parts {width} characters long, the last part being what remains, and record"
            f" them in {o}, one part a line.",
            f"Break up the lines of {s}: {width} characters are the most that one may have. The broken lines go into"
            f" {o}.",
            f"Write {s} to {o} with its lines broken after every {width} characters.",
            f"Fold the lines of {s} at {width} characters into {o}.",
            f"Divide each line of {s} into stretches of {width} characters; {o} has every stretch on its own line.",
            f"Limit the lines to {width} characters by breaking longer ones: {o} is that version of {s}.",
            f"Save a version of {s} as {o} whose lines end after {width} characters at the latest.",
            f"Insert a line break after each {width} characters of a line in {s}, and keep the outcome as {o}.",
            f"If a line of {s} has more than {width} characters, {o} breaks it after every {width}.",
            f"The lines of {s} are wanted in {o}, broken so that none is over {width} characters long.",
            f"Fill {o} with the text of {s}, starting a new line whenever {width} characters are full.",
            f"While {s} is being copied to {o}, each line gets a break after every {width} characters.",
            f"Reformat {s} to a line width of {width} (a break after each {width} characters) and store it as {o}.",
        ],
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
        others=[
            f"I want the base64 of {s} decoded in {o}.",
            f"{o} should be {s} without the base64 around it.",
            f"The file {s} holds base64 text. Decode it into {o}.",
            f"Could you undo the base64 encoding of {s} and put the plain text into {o}?",
            f"Produce {o} by decoding {s}, which is in base64.",
            f"What the base64 in {s} means has to be stored in {o}.",
            f"Convert {s} back from base64; the decoded text belongs in {o}, and {s} is left alone.",
            f"We need the original text, now base64 in {s}, under the name {o}.",
            f"Print into {o} what the base64 text of {s} says in plain form.",
            f"Into {o} goes the decoded content of {s}, which is written in base64.",
            f"Use base64 -d on {s} and store what it prints in {o}.",
            f"Translate {s} from base64 into plain text and record that in {o}, with {s} itself left alone.",
            f"Take the base64 encoding off {s}. What comes out is the new file {o}.",
            f"Decode the base64 file {s} and save the plain text as {o}.",
            f"Write the decoded base64 of {s} to {o}.",
            f"Turn the base64 in {s} back into plain text; {o} receives it.",
            f"Reverse the base64 encoding of {s} and keep the outcome as {o}.",
            f"Restore the text that {s} holds in base64 form, as a file {o}.",
            f"{s} was encoded with base64. Store its decoded text in {o}.",
            f"Fill {o} with what {s} says once its base64 is decoded.",
            f"The plain text behind the base64 of {s} is wanted in {o}; {s} itself stays encoded.",
            f"Since {s} is base64, decode it and place the content in {o}.",
            f"Extract the original text from {s} (encoded in base64) to {o}.",
            f"Get {s}, at present base64, into readable form under the name {o}, without changing {s}.",
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
        others=[
            f"I want the base64 of {s} in {o}.",
            f"{o} should be {s} put into base64.",
            f"Convert {s} to base64 and put the outcome into {o}.",
            f"Could you base64 encode the file {s} and let {o} be the outcome?",
            f"The file {o} has to contain {s} in base64, and {s} is left as it is.",
            f"Produce a base64 version of {s} called {o}.",
            f"Run base64 on {s} and keep what it prints in {o}.",
            f"We need {s} as base64 text; {o} is the file for it.",
            f"Print {s} in base64 into {o}.",
            f"Into {o} goes what {s} says, but written in base64.",
            f"Use base64 on {s} and store what it prints in {o}.",
            f"Translate {s} into base64 and record that in {o}, with {s} itself left alone.",
            f"Take {s} and encode it. The code is base64, and the encoded form is the new file {o}.",
            f"Encode {s} in base64 and save the encoded text as {o}.",
            f"Write the base64 encoding of {s} to {o}, with standard line wrapping.",
            f"Transform the bytes of {s} into base64 text; store it under {o}.",
            f"Generate {o} by encoding {s} as base64. The source stays unchanged.",
            f"Export {s} as base64 to {o}.",
            f"So that {s} can travel as plain text, save it base64-encoded in {o}.",
            f"Store in {o} the base64 form of {s}, with no change to {s}.",
            f"What does {s} look like in base64? Send that to {o}.",
            f"Redirect the output of base64 for {s} to {o}.",
            f"At the end, a new file {o} holds a base64-encoded copy of {s}.",
            f"Render {s} in base64, with {o} as the result and the original untouched.",
        ],
        solution=[f"base64 {quote(source)} > {quote(out)}"],
    )


def _cleaning_unit(
    names: Names, script: str, spoil: Callable[[str], str], what: str, others: Callable[[str], Sequence[str]]
) -> Unit:
    """A unit that edits every line of a file in place. `what` names the part to remove, `others` makes instructions."""
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
        instruction=names.wording(others(s)),
        solution=[f"sed -i '{script}' {quote(path)}"],
        after=[fixture(path, text_of(lines))],
    )


def _carriage_returns(names: Names) -> Unit:
    return _cleaning_unit(
        names,
        r"s/\r$//",
        lambda line: f"{line}\r",
        "a carriage return",
        lambda s: [
            f"I want {s} without its Windows line ends.",
            f"{s} should be rid of its Windows line ends.",
            f"Convert {s} from Windows to Unix line endings, in place.",
            f"Remove the carriage return at the end of each line in {s}.",
            f"Could you get the CR characters out of {s}?",
            f"Every line in {s} ends with CR and LF; only the LF is to stay.",
            f"{s} was written on Windows. Delete the CR before each line end, in the same file.",
            f"We need {s} to have plain Unix line ends, without any carriage returns.",
            f"Edit {s} in place so that no line has a carriage return at its end.",
            f"Take the CR off the end of each line in {s}, without a second file.",
            f"In {s}, delete all carriage returns before the line ends.",
            f"Turn the CRLF at the line ends of {s} into plain LF, in the file itself.",
            f"Rid {s} of the carriage returns that its lines end with.",
            f"All lines of {s} have a CR too many at the end. Drop it and leave all else as it is.",
            f"Strip the trailing carriage return from every line of {s}, in place.",
            f"Normalize the line endings of {s} from CRLF to LF, overwriting the same file.",
            f"Change {s} from DOS to Unix line endings.",
            f"Make {s} a Unix text file: its lines must end in LF, not CRLF.",
            f"Clean up {s} by dropping the \\r at each line end, without a new file.",
            f"Use sed to erase the final carriage return of each line directly in {s}.",
            f"Because {s} has DOS line ends, rewrite it with LF only.",
            f"No line of {s} may still end with a carriage return; fix the file itself.",
            f"Carriage returns at the line ends of {s} are to be stripped, everything else kept.",
            f"Replace each CRLF by LF throughout {s}, saving over the original.",
            f"Can {s} be converted to LF line endings in place? It has CRLF now.",
        ],
    )


def _trailing_spaces(names: Names) -> Unit:
    return _cleaning_unit(
        names,
        "s/ *$//",
        lambda line: f"{line}   ",
        "trailing spaces",
        lambda s: [
            f"I want {s} without blanks after the values.",
            f"{s} should be rid of blanks after the values.",
            f"Remove the spaces at the end of each line in {s}.",
            f"Could you trim {s}, so that no line ends in blanks?",
            f"There are spaces after the values in {s}; delete them in the file itself.",
            f"Edit {s} in place: no line may end with a space.",
            f"Cut the whitespace off the right-hand side of all lines of {s}.",
            f"We need {s} without any spaces at the line ends.",
            f"Take all spaces off the ends of the lines in {s}, without a second file.",
            f"In {s}, delete the blanks between the last visible character of a line and its end.",
            f"Trim the lines of {s} on the right, in the file itself.",
            f"Rid {s} of the spaces that its lines end with.",
            f"All lines of {s} have spaces too many at the end. Drop these and leave all else as it is.",
            f"Strip {s}, editing it in place, of the spaces that follow the text of its lines.",
            f"Clean the line ends of {s}: no spaces may follow the text.",
            f"Erase any run of spaces that closes a line in {s}; change nothing else.",
            f"Discard the blanks at the right-hand end of each line of {s}, overwriting the file.",
            f"Shorten the lines of {s} so that each stops at its final non-space character.",
            f"Tidy {s} by deleting trailing blanks, with the result saved in the same file.",
            f"Use sed to drop the spaces before each line break, right in {s}.",
            f"Trailing spaces in {s} must go; text and line breaks stay.",
            f"Wherever a line of {s} has spaces after its text, remove them in that file.",
            f"Is there trailing space in {s}? Purge it from all lines, in place.",
            f"Once edited, no line of {s} has a space before its line break.",
        ],
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
        others=[
            f"I want {o} to hold {left} {sign} {right}.",
            f"{o} should be the {word} of {left} and {right}.",
            f"How much is {left} {sign} {right}? Put the answer into {o}.",
            f"Calculate {left} {sign} {right}; the result has to be stored in {o}.",
            f"Could you save the {word} of {left} and {right} in a file {o}?",
            f"The file {o} has to contain one number, the result of {left} {sign} {right}.",
            f"We need the value of {left} {sign} {right} in {o}, just the number.",
            f"Let the shell calculate {left} {sign} {right}; its answer belongs in {o}.",
            f"Print the result of {left} {sign} {right} into {o}.",
            f"Into {o} goes one number: what {left} {sign} {right} comes to.",
            f"Determine the value of {left} {sign} {right} and record it in {o}.",
            f"Evaluate {left} {sign} {right} with the shell; only the number is stored in {o}.",
            f"Use shell arithmetic for {left} {sign} {right}. Fill {o} with the number that comes out.",
            f"Compute {left} {sign} {right} and save the answer as {o}.",
            f"Work out the {word} of {left} and {right}; write it, as a bare number, to {o}.",
            f"Store the {word} of {left} and {right} as the only line of {o}.",
            f"Solve {left} {sign} {right}. Save the plain result in {o}.",
            f"Find the {word} of {left} and {right}, that is {left} {sign} {right}, and note it in {o}.",
            f"Create {o} with a single line, the value of {left} {sign} {right}.",
            f"Do the arithmetic {left} {sign} {right} and send just the answer to {o}.",
            f"What is {left} {sign} {right}? Save the number alone under {o}.",
            f"The {word} of {left} and {right} is to be written to {o} and nothing besides.",
            f"Given the numbers {left} and {right}, leave their {word} ({left} {sign} {right}) in {o}.",
            f"When you are done, a file {o} shows what {left} {sign} {right} equals, and only that.",
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
