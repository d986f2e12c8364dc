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
        ],
        solution=f"seq {low} {high} > {quote(out)}",
    )


def _through(
    names: Names,
    command: str,
    turn: Callable[[list[str]], list[str]],
    what: str,
    others: Callable[[str, str], Sequence[str]],
    lines: list[str],
) -> Unit:
    """A unit that passes a file through one command; `what` says what becomes of the lines.

    `others` gives the instructions for the two file names, the source and the result.
    """
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
        others=others(s, o),
        solution=f"{command} {quote(source)} > {quote(out)}",
    )


def _reversed_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 6))
    return _through(
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
        ],
        lines,
    )


def _mirrored_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 5))
    return _through(
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
        ],
        lines,
    )


def _numbered_lines(names: Names) -> Unit:
    lines = names.lines(names.number(3, 6))

    def numbered(all_: list[str]) -> list[str]:
        return [f"{index} {line}" for index, line in enumerate(all_, 1)]

    return _through(
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
        ],
        lines,
    )


def _folded_lines(names: Names) -> Unit:
    lines, width = ["".join(names.filler(names.number(3, 4))) for _ in range(names.number(2, 3))], names.number(6, 12)

    def folded(all_: list[str]) -> list[str]:
        return [line[start : start + width] for line in all_ for start in range(0, len(line), width)]

    return _through(
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
        ],
        lines,
    )


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
        ],
        solution=f"base64 -d {quote(source)} > {quote(out)}",
    )


def _own_name(names: Names) -> Unit:
    out = names.file("txt")
    o = shown(out)
    what, other, thing, command, answer = names.pick(
        [
            (
                "the name of the user you are logged in as",
                "who the login user is",
                "your own user name",
                "id -un",
                "operator",
            ),
            ("the numeric id of your user", "the user id as a number", "your numeric uid", "id -u", "1000"),
            (
                "the absolute path of the home directory",
                "where home is",
                "the full path of your home directory",
                "echo $HOME",
                HOME,
            ),
        ]
    )
    return _can(
        names,
        answer=(out, f"{answer}\n"),
        asks=[f"Write {what} to {o}.", f"Let {o} name {what}.", f"Record {what} in {o}."],
        others=[
            f"I want {o} to say {other}.",
            f"{o} should tell {other}.",
            f"Find out {thing} and store it in {o}.",
            f"Could you save {thing} as the only line of {o}?",
            f"We need a file {o} with {thing} in it, nothing more.",
            f"Put {thing}, just that, into a file {o}.",
            f"The file {o} has to contain {thing}.",
            f"Look up {thing}; it belongs in {o}.",
            f"Print {thing} into {o}.",
            f"Into {o} goes one line: {thing}.",
            f"Determine {thing} and let it be all that {o} says.",
            f"Ask the shell for {thing}; fill {o} with the answer.",
            f"Build a file {o} of one line. That line says {other}.",
        ],
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
        others=[
            f"I want to read the octal mode of {s} in {o}.",
            f"{o} should give the three mode digits of {s}.",
            f"What are the permissions of {s}, as three digits? Put the answer into {o}.",
            f"Could you save the octal permission bits of {s}, three digits such as 644, in a file {o}?",
            f"Look up the file mode of {s} in octal and store it in {o}, just the three digits.",
            f"The file {o} has to contain the octal mode of {s}, as stat prints it.",
            f"We need {o} with the numeric permissions (octal, three digits) of the file {s}.",
            f"Produce {o}: one line, the octal access mode of {s}.",
            f"Print the octal permissions of {s}, three digits and no more, into {o}.",
            f"Into {o} goes one line: the mode of {s}, written as a number of three octal digits.",
            f"Use stat on {s} to get its octal mode; the three digits are stored in {o}.",
            f"Determine the access mode of {s} and record it in {o} as three digits from 0 to 7.",
            f"Build a file {o} of one line. It gives the mode bits of {s} in octal, in three digits.",
        ],
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
        others=[
            f"I want {o} to say what the symlink {name} reads.",
            f"{o} should name the target of the link {name}.",
            f"{name} is a symbolic link; put the path that it points to into {o}.",
            f"Could you read the link {name} and put what it says into {o}?",
            f"The file {o} has to contain the path which the symlink {name} leads to.",
            f"Look up what the symlink {name} points at and save that path as the only line of {o}.",
            f"We need the destination of the symbolic link {name}, exactly as it is stored in the link, in {o}.",
            f"Produce {o} with one line, the target path of the link called {name}.",
            f"What does the symbolic link {name} point to? The answer belongs in {o}.",
            f"Print into {o} the path that the symlink {name} is made of.",
            f"Into {o} goes one line: the path that stands in the symbolic link {name}.",
            f"Use readlink on {name} and store what it prints in {o}.",
            f"Read the symbolic link {name} itself, not the file behind it, and record its path in {o}.",
            f"Determine where the symbolic link {name} leads. Fill {o} with that path, spelled as in the link.",
        ],
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
        others=[
            f"I want the {kind}sum line of {s} in {o}.",
            f"{o} should be the output of {kind}sum for {s}.",
            f"Run {kind}sum on {s} and keep its output in {o}.",
            f"Compute the {kind} hash of {s} with {kind}sum; its output line belongs in {o}.",
            f"Could you put the {kind} checksum of {s} into {o}, with the file name behind it as {kind}sum does?",
            f"The file {o} has to contain the line that {kind}sum gives for {s}.",
            f"We need a checksum file {o} for {s}, made with {kind}sum.",
            f"Take the {kind}sum of {s} and store hash plus file name in {o}.",
            f"Print the {kind}sum of {s} into {o}, hash and file name in one line.",
            f"Into {o} goes what {kind}sum says about {s}.",
            f"Determine the {kind} checksum of {s} and record it in {o} in the form that {kind}sum has for it.",
            f"Build a checksum file {o} for {s}; {kind}sum is the program for it.",
            f"Let {kind}sum read {s}. The line that it prints is stored in {o}.",
        ],
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
            f"Ask stat for the size of {s} and let {o} hold the answer.",
        ],
        others=[
            f"I want the size of {s}, by stat, in {o}.",
            f"{o} should say the size of {s} as stat sees it.",
            f"How large is {s} in bytes, according to stat? Put only the number into {o}.",
            f"Could you use stat to get the size of {s} and store it, just the number, in {o}?",
            f"The file {o} has to contain the byte size of {s} that stat shows, nothing else.",
            f"Let stat tell how big {s} is; save the plain number as {o}.",
            f"We need the file size of {s}, the number from stat, in a file named {o}.",
            f"Get the size of {s} in bytes with stat and write just that figure into {o}.",
            f"Print the byte size of {s} into {o}, read by stat and without the file name.",
            f"Into {o} goes one number: how many bytes long {s} is, by stat.",
            f"Use stat on {s} to get the size in bytes; only this number is stored in {o}.",
            f"Determine by stat how many bytes {s} has and record that number, nothing more, in {o}.",
            f"Let stat look at {s}. Fill {o} with the size it gives, as one plain number.",
        ],
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
        ],
        solution=f"base64 {quote(source)} > {quote(out)}",
    )


def _cleaned(
    names: Names, script: str, spoil: Callable[[str], str], what: str, others: Callable[[str], Sequence[str]]
) -> Unit:
    """A unit that edits every line of a file in place; `what` is what must go, `others` the instructions for a file."""
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
        instruction=names.pick(others(s)),
        solution=[f"sed -i '{script}' {quote(path)}"],
        after=[fixture(path, text_of(lines))],
    )


def _carriage_returns(names: Names) -> Unit:
    return _cleaned(
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
        ],
    )


def _trailing_spaces(names: Names) -> Unit:
    return _cleaned(
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
        ],
    )


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
        ],
        solution=f"echo $(({left} {sign} {right})) > {quote(out)}",
    )


DOABLE: dict[str, list[Shape]] = {
    "missing_source": [_number_sequence, _reversed_lines, _mirrored_lines],
    "forbidden_place": [_own_name, _mode_digits, _link_target],
    "absent_program": [_checksum, _size_in_bytes, _encoded],
    "unreachable_host": [_carriage_returns, _trailing_spaces, _arithmetic],
    "broken_archive": [_numbered_lines, _folded_lines, _decoded],
}
