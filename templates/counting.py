"""Shape the counting archetypes: count things, rank values by how often they occur.

    from templates.counting import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing

Every answer is a small text file whose bytes are worked out here; `uniq -c` pads its counts differently from one
implementation to the next, so that rankings always pass through awk.
"""

from collections.abc import Sequence

from schema import Fixture
from templates.world import Names, Shape, Unit, fixture, quote, shown, text_of


def report(
    names: Names,
    sources: Sequence[Fixture],
    answer: tuple[str, str],
    *,
    asks: Sequence[str],
    others: Sequence[str],
    solution: Sequence[str],
) -> Unit:
    """A unit that leaves its sources alone and writes one answer: a path and its text."""
    return Unit(
        fixtures=list(sources),
        directive=names.pick(asks),
        instruction=names.pick(others),
        solution=list(solution),
        after=[fixture(*answer)],
    )


def _lines_of_file(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "log", "list"]), names.number(0, 1)), names.file("txt")
    lines = names.lines(names.number(4, 12))
    f, s, o = quote(source), shown(source), shown(out)
    return report(
        names,
        [fixture(source, text_of(lines))],
        (out, f"{len(lines)}\n"),
        asks=[
            f"Count the lines of {s} and write only the number to {o}.",
            f"How many lines does {s} have? Put just that number into {o}.",
            f"Save the line count of {s} as a bare number in {o}.",
            f"Work out how many lines {s} holds and leave the number, nothing else, in {o}.",
        ],
        others=[
            f"{o} should hold the number of lines of {s}.",
            f"I need the line count of {s}, only the number, in a file named {o}.",
            f"Write the number of lines in the file {s} to {o}, with nothing but the number.",
            f"Could you count how many lines are in {s}? The number alone belongs in {o}.",
            f"In {o} put the length of {s} in lines, as a number without a name.",
            f"Use wc to get the lines of {s} and store only the count as {o}.",
            f"Create {o} with one number in it: how many lines there are in {s}.",
            f"The file {s} must be counted line by line, and the bare count written to {o}.",
            f"Find the number of lines of {s}; {o} gets that number and no file name.",
        ],
        solution=[names.pick([f"wc -l < {f} > {quote(out)}", f"cat {f} | wc -l > {quote(out)}"])],
    )


def _words_of_file(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "md", "note"]), names.number(0, 1)), names.file("txt")
    lines = names.lines(names.number(3, 7))
    unit, flag, count = names.pick(
        [("words", "-w", sum(len(line.split()) for line in lines)), ("bytes", "-c", len(text_of(lines)))]
    )
    s, o = shown(source), shown(out)
    return report(
        names,
        [fixture(source, text_of(lines))],
        (out, f"{count}\n"),
        asks=[
            f"Count the {unit} of {s} and write only the number to {o}.",
            f"How many {unit} are in {s}? Store the number alone in {o}.",
            f"Measure {s} in {unit} and save the bare number as {o}.",
        ],
        others=[
            f"{o} should hold the number of {unit} of {s}.",
            f"I need to know how many {unit} {s} has, as one number in {o}.",
            f"Write the number of {unit} in the file {s} to {o}, with nothing but the number.",
            f"Could you count the {unit} in {s}? The number alone belongs in {o}.",
            f"In {o} put the length of {s} in {unit}, as a number without a name.",
            f"Use wc to get the {unit} of {s} and store only the count as {o}.",
            f"Create {o} with one number in it, which tells how many {unit} there are in {s}.",
            f"The {unit} of {s} must be counted and the bare count written to {o}.",
            f"Find the number of {unit} of {s}; {o} gets that number and no file name.",
        ],
        solution=[f"wc {flag} < {quote(source)} > {quote(out)}"],
    )


def _files_by_extension(names: Names) -> Unit:
    place, out = names.directory(), names.file("txt")
    wanted, other = names.rng.sample(["txt", "log", "csv", "md", "conf", "png"], 2)
    count = names.number(2, 5)
    paths = [f"{place}/{names.file(wanted)}" for _ in range(count)]
    paths += [f"{place}/{names.file(other)}" for _ in range(names.number(1, 3))]
    return report(
        names,
        [fixture(path, names.text(1, 2)) for path in names.rng.sample(paths, len(paths))],
        (out, f"{count}\n"),
        asks=[
            f"Count the files in {place} that end in .{wanted} and write the number to {shown(out)}.",
            f"How many .{wanted} files lie in {place}? Put the bare number into {shown(out)}.",
            f"Save the number of .{wanted} files of the directory {place} in {shown(out)}.",
        ],
        others=[
            f"{shown(out)} should say, as a number, how many .{wanted} files there are in {place}.",
            f"For {shown(out)} I need the count of the .{wanted} files below {place}.",
            f"Count the .{wanted} files in the folder {place} and store just the count as {shown(out)}.",
            f"Could you count {place}/*.{wanted} and put the number of files in {shown(out)}?",
            f"In {shown(out)} write one number: how many files of the directory {place} have the extension .{wanted}.",
            f"The number of files ending in .{wanted} in the folder {place} must be saved as {shown(out)}.",
            f"List the .{wanted} files of {place}, count them, and let {shown(out)} hold the count.",
            f"Create {shown(out)} with the count of files in {place} whose names end in .{wanted}.",
            f"The folder {place} has files of several kinds; write to {shown(out)} how many are .{wanted} files.",
        ],
        solution=[
            names.pick(
                [
                    f"ls {place}/*.{wanted} | wc -l > {quote(out)}",
                    f"find {place} -name '*.{wanted}' | wc -l > {quote(out)}",
                ]
            )
        ],
    )


def _matching_lines(names: Names) -> Unit:
    source, out, word = names.path("log", names.number(0, 1)), names.file("txt"), names.word()
    lines = names.lines(names.number(5, 10))
    for index in names.rng.sample(range(len(lines)), names.number(2, 4)):
        lines[index] = f"{lines[index]} {word}" if names.rng.random() < 0.5 else f"{word} {lines[index]}"
    hits = sum(word in line for line in lines)
    contain = names.rng.random() < 0.6
    count, flags = (hits, "-c") if contain else (len(lines) - hits, names.pick(["-vc", "-v -c"]))
    verb = "contain" if contain else "do not contain"
    return report(
        names,
        [fixture(source, text_of(lines))],
        (out, f"{count}\n"),
        asks=[
            f"Count the lines of {shown(source)} that {verb} {word} and write the number to {shown(out)}.",
            f"How many lines of {shown(source)} {verb} the word {word}? Save the number in {shown(out)}.",
            f"Store in {shown(out)}, as a bare number, how many lines of {shown(source)} {verb} {word}.",
        ],
        others=[
            f"{shown(out)} should hold the number of lines in {shown(source)} that {verb} {word}.",
            f"I need a count of the lines that {verb} {word}, taken from {shown(source)}, in {shown(out)}.",
            f"Write the number of lines in {shown(source)} that {verb} {word} to {shown(out)}.",
            f"Could you count, in {shown(source)}, the lines that {verb} {word}? Put the bare number in {shown(out)}.",
            f"In {shown(out)} store one number: how many of the lines in {shown(source)} {verb} {word}.",
            f"Some lines of {shown(source)} {verb} {word}. Save just their number as {shown(out)}.",
            f"Use grep to count which lines of {shown(source)} {verb} {word}; the count belongs in {shown(out)}.",
            f"Create {shown(out)} with the bare count of lines that {verb} {word} in the file {shown(source)}.",
            f"The lines {'with' if contain else 'without'} {word} in {shown(source)} must be counted, and the number"
            f" saved as {shown(out)}.",
        ],
        solution=[f"grep {flags} {word} {quote(source)} > {quote(out)}"],
    )


def _matches_in_directory(names: Names) -> Unit:
    place, out, word = names.directory(), names.file("txt"), names.word()
    texts = [names.lines(names.number(2, 5)) for _ in range(names.number(2, 4))]
    for lines in texts:
        lines[names.number(0, len(lines) - 1)] += f" {word}"
    count = sum(word in line for lines in texts for line in lines)
    ext = names.pick(["log", "txt"])
    return report(
        names,
        [fixture(f"{place}/{names.file(ext)}", text_of(lines)) for lines in texts],
        (out, f"{count}\n"),
        asks=[
            f"Count the lines with {word} in all .{ext} files of {place} and write the one number to {shown(out)}.",
            f"How many lines in the .{ext} files of {place} mention {word}? Write the total to {shown(out)}.",
            f"Take all .{ext} files in {place} as one and save the number of lines with {word} in {shown(out)}.",
        ],
        others=[
            f"The total of lines mentioning {word} over every .{ext} file in {place} belongs in {shown(out)}.",
            f"I need one number in {shown(out)}: the lines with {word} over all .{ext} files below {place}.",
            f"Search all .{ext} files in {place} for {word} and write the total number of lines found to {shown(out)}.",
            f"Could you count the lines that contain {word} in {place}/*.{ext}? Put one total in {shown(out)}.",
            f"In {shown(out)} save how many lines with {word} the .{ext} files in the folder {place} have together.",
            f"The lines with {word} in {place}/*.{ext} must be counted, all files together, and the number stored in"
            f" {shown(out)}.",
            f"Create {shown(out)} with one number, the count of lines in the .{ext} files of {place} that contain"
            f" {word}.",
            f"Join the .{ext} files of the directory {place}, count the lines with {word}, and keep that number in"
            f" {shown(out)}.",
        ],
        solution=[f"cat {place}/*.{ext} | grep -c {word} > {quote(out)}"],
    )


def _lines_of_two_files(names: Names) -> Unit:
    first, second, out = names.file("txt"), names.file("txt"), names.file("txt")
    one, two = names.number(2, 5), names.number(6, 9)
    if names.rng.random() < 0.5:
        one, two = two, one
    a, b, o = shown(first), shown(second), shown(out)
    return report(
        names,
        [fixture(first, text_of(names.lines(one))), fixture(second, text_of(names.lines(two)))],
        (out, f"{one}\n{two}\n"),
        asks=[
            f"Write the line count of {a} and below it the line count of {b} to {o}, only the two numbers.",
            f"Fill {o} with two numbers, one on each line: the lines of {a}, then the lines of {b}.",
            f"Count the lines of {a} and of {b}. Save the numbers in that order in {o}, one per line.",
        ],
        others=[
            f"{o} should hold two line counts, first that of {a}, next that of {b}.",
            f"I need to compare {a} with {b}: their line counts, one under the other, in {o}.",
            f"Write two numbers to {o}: on line 1 how many lines {a} has, on line 2 how many {b} has.",
            f"Could you count the lines in {a} and then in {b}, and put each number on a line of its own in {o}?",
            f"In {o} store the number of lines of {a}; after it, on the next line, the number of lines of {b}.",
            f"Use wc for {a} and for {b}; {o} gets both line counts, in that order and without file names.",
            f"Create {o} with two lines, the line count of {a} and the line count of {b}.",
            f"The files {a} and {b} must be counted line by line; save the count of {a} in {o} and append that of {b}.",
            f"How long are {a} and {b}? Put their line counts in {o}, {a} first, one number a line.",
        ],
        solution=[f"wc -l < {quote(first)} > {quote(out)}", f"wc -l < {quote(second)} >> {quote(out)}"],
    )


def _empty_files(names: Names) -> Unit:
    place, out = names.directory(), names.file("txt")
    count = names.number(2, 4)
    below = names.word()
    paths = [f"{names.pick([place, f'{place}/{below}'])}/{names.file()}" for _ in range(count + 3)]
    entries = [fixture(path, "") for path in paths[:count]] + [
        fixture(path, names.text(1, 3)) for path in paths[count:]
    ]
    return report(
        names,
        entries,
        (out, f"{count}\n"),
        asks=[
            f"Count the empty files anywhere below {place} and write the number to {shown(out)}.",
            f"How many files under {place}, subdirectories included, have no content? Number to {shown(out)}.",
            f"Find out how many files below {place} are empty and save that number in {shown(out)}.",
        ],
        others=[
            f"{shown(out)} should hold the number of files of size zero in the tree {place}.",
            f"I need the count of all empty files in the tree {place}, written to {shown(out)}.",
            f"Write the number of files without any content in {place} and its subdirectories to {shown(out)}.",
            f"Could you count files of size zero in the whole tree {place}? Only the count belongs in {shown(out)}.",
            f"In {shown(out)} store how many empty files there are in {place}, at any depth.",
            f"Use find to count all empty files in {place} and the folders in it; save the count as {shown(out)}.",
            f"Create {shown(out)} with the count of files that are empty, in the directory {place} or deeper.",
            f"The empty files in the tree {place} must be counted, and only their number written to {shown(out)}.",
            f"How many files have size zero in {place} or its subdirectories? The number belongs in {shown(out)}.",
        ],
        solution=[f"find {place} -type f -size 0 | wc -l > {quote(out)}"],
    )


def _distinct_lines(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "list"]), names.number(0, 1)), names.file("txt")
    values = names.filler(names.number(3, 6))
    lines = values + [names.pick(values) for _ in range(names.number(2, 5))]
    names.rng.shuffle(lines)
    f = quote(source)
    return report(
        names,
        [fixture(source, text_of(lines))],
        (out, f"{len(values)}\n"),
        asks=[
            f"Count the different lines of {shown(source)} and write the number to {shown(out)}.",
            f"How many distinct lines are there in {shown(source)}? Write the number to {shown(out)}.",
            f"Save in {shown(out)} how many different values {shown(source)} lists, as a bare number.",
        ],
        others=[
            f"Repeats not counted, the number of lines in {shown(source)} belongs in {shown(out)}.",
            f"I need one number in {shown(out)}: how many values of {shown(source)} differ from each other.",
            f"Write the number of different lines in the file {shown(source)} to {shown(out)}.",
            f"Could you count the unique values in {shown(source)}? Put the bare number in {shown(out)}.",
            f"In {shown(out)} store how many lines {shown(source)} has when every repeated line counts once.",
            f"Sort {shown(source)}, drop the repeated lines, count what is left, and save that number as {shown(out)}.",
            f"Create {shown(out)} with one number: how many distinct values occur in {shown(source)}.",
            f"The different lines of {shown(source)} must be counted, and just the count saved in {shown(out)}.",
            f"Some lines of {shown(source)} occur again and again. Count each only once and write what you get"
            f" to {shown(out)}.",
        ],
        solution=[names.pick([f"sort -u {f} | wc -l > {quote(out)}", f"sort {f} | uniq | wc -l > {quote(out)}"])],
    )


def _ranked(names: Names, size: int) -> tuple[list[str], list[tuple[str, int]]]:
    """Lines in random order and their `size` values with how often each occurs, most frequent first, no two equal."""
    counts = sorted(names.numbers(size, 1, size + 2), reverse=True)
    ranking = list(zip(names.filler(size), counts, strict=True))
    lines = [value for value, count in ranking for _ in range(count)]
    names.rng.shuffle(lines)
    return lines, ranking


def _winner(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "log", "list"]), names.number(0, 1)), names.file("txt")
    lines, ranking = _ranked(names, names.number(3, 4))
    s, o = shown(source), shown(out)
    most = names.rng.random() < 0.7
    kind, flags, value = ("most", "-rn", ranking[0][0]) if most else ("least", "-n", ranking[-1][0])
    return report(
        names,
        [fixture(source, text_of(lines))],
        (out, f"{value}\n"),
        asks=[
            f"Write the line that occurs {kind} often in {s} to {o}, without its count.",
            f"Which value comes up {kind} often in {s}? Save the value alone in {o}.",
            f"Find the {kind} frequent line of {s} and store just that line in {o}.",
        ],
        others=[
            f"{o} should name the value that is {kind} common in {s}.",
            f"I need the {kind} frequent entry of {s}, only the entry, in {o}.",
            f"Write to {o} the value that {s} has {kind} often, and not how often.",
            f"Could you find the line that comes {kind} frequently in the file {s} and put it in {o}, without a"
            " number?",
            f"In {o} store only the {kind} common line of {s}.",
            f"Which line of {s} is the {kind} frequent one? It alone belongs in {o}.",
            f"Count how often each line of {s} occurs and save the {kind} frequent value, without the count, as {o}.",
            f"Create {o} with one line: the value found {kind} often in {s}.",
            f"The {kind} frequent line in {s} must be written to {o}, the count left out.",
        ],
        solution=[f"sort {quote(source)} | uniq -c | sort {flags} | head -n 1 | awk '{{print $2}}' > {quote(out)}"],
    )


def _top_values(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "log", "list"]), names.number(0, 1)), names.file("txt")
    lines, ranking = _ranked(names, names.number(4, 5))
    top = names.number(2, 3)
    s, o = shown(source), shown(out)
    return report(
        names,
        [fixture(source, text_of(lines))],
        (out, text_of(f"{value} {count}" for value, count in ranking[:top])),
        asks=[
            f"Write the {top} most frequent lines of {s} to {o}, as line, space and count, top one first.",
            f"Rank the lines of {s} by how often they occur; save the first {top} as 'value count' in {o}.",
            f"Save the top {top} values of {s} in {o}, most frequent first, one 'value count' per line.",
        ],
        others=[
            f"{o} should list the {top} commonest values of {s} with their counts behind them, highest first.",
            f"I need a top {top} of the values in {s}, 'value count' on each line, in {o}.",
            f"Write to {o} the {top} values that occur most often in {s}, each with its count behind a space, largest"
            " first.",
            f"Could you find the {top} commonest lines in the file {s} and put them in {o} as 'value count', highest"
            " count on top?",
            f"In {o} store the {top} leaders of {s} by frequency, one 'value count' on each line.",
            f"Which {top} lines come most often in {s}? Save them with their counts, 'value count', from high to low,"
            f" as {o}.",
            f"Count how often each line of {s} occurs and keep the {top} largest as lines 'value count', sorted from"
            f" the top, in {o}.",
            f"Create {o} with {top} lines, 'value count', for the most common values of {s}, the commonest first.",
            f"The {top} most common values of {s}, with their counts after them, must be written to {o} in falling"
            " order.",
        ],
        solution=[f"sort {quote(source)} | uniq -c | sort -rn | head -n {top} | awk '{{print $2, $1}}' > {quote(out)}"],
    )


def _rank_column(names: Names) -> Unit:
    table = names.rng.random() < 0.5
    source, out = names.path("csv" if table else "log", names.number(0, 1)), names.file("txt")
    values, ranking = _ranked(names, 3)
    column = names.number(1, 2)
    separator = "," if table else " "
    rows = [[names.filler()[0], names.filler()[0]] for _ in values]
    for row, value in zip(rows, values, strict=True):
        row[column - 1] = value
    cut = f"cut -d, -f{column}" if table else names.pick([f"awk '{{print ${column}}}'", f"cut -d' ' -f{column}"])
    kind = "comma-separated" if table else "space-separated"
    s, o = shown(source), shown(out)
    return report(
        names,
        [fixture(source, text_of(separator.join(row) for row in rows))],
        (out, text_of(f"{value} {count}" for value, count in ranking)),
        asks=[
            f"Rank the values in column {column} of the {kind} {s} by frequency: 'value count', top first, in {o}.",
            f"Count how often each value of field {column} of the {kind} {s} occurs; 'value count', top first, to {o}.",
            f"Tally column {column} of {s} ({kind}) and save lines 'value count', most frequent first, in {o}.",
        ],
        others=[
            f"{o} should give each value of column {column} in {s}, which is {kind}, with its count, highest on top.",
            f"I need a frequency table of the {kind} {s}, column {column}, 'value count' from high to low, in {o}.",
            f"Write to {o} how often each value of column {column} occurs in the {kind} file {s}, as 'value count',"
            " largest count first.",
            f"Could you count the values in column {column} of {s}? It is {kind}; put lines 'value count' in {o}, from"
            " high to low.",
            f"In {o} store 'value count' for all values in field {column} of {s} ({kind}), the most common at the top.",
            f"The file {s} is {kind}. Count the different values of its column {column} and list them as 'value count'"
            f" in {o}, highest first.",
            f"Take field {column} of the {kind} {s}, count each value, and save lines 'value count', sorted by falling"
            f" count, as {o}.",
            f"Create {o} with a line 'value count' for each value that column {column} of the {kind} {s} has, the"
            " commonest first.",
        ],
        solution=[f"{cut} {quote(source)} | sort | uniq -c | sort -rn | awk '{{print $2, $1}}' > {quote(out)}"],
    )


def _repeated_lines(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "list"]), names.number(0, 1)), names.file("txt")
    values = names.filler(6)
    repeated, single = values[:3], values[3:]
    lines = [value for value in repeated for _ in range(names.number(2, 3))] + single
    names.rng.shuffle(lines)
    more = names.rng.random() < 0.6
    phrase, flag, kept = ("more than once", "-d", repeated) if more else ("exactly once", "-u", single)
    s, o = shown(source), shown(out)
    return report(
        names,
        [fixture(source, text_of(lines))],
        (out, text_of(sorted(kept))),
        asks=[
            f"Write the lines that occur {phrase} in {s} to {o}, each once and sorted.",
            f"Which lines come up {phrase} in {s}? Save them sorted, one of each, in {o}.",
            f"List in {o}, in alphabetical order, every value that {s} holds {phrase}.",
        ],
        others=[
            f"{o} should be a sorted list of what {s} contains {phrase}.",
            f"I need the entries found {phrase} in {s}, sorted, in {o}.",
            f"Write a sorted list of the lines that are {phrase} in {s} to {o}, one line for each.",
            f"Could you find the lines that {s} has {phrase} and put them, sorted, in {o}?",
            f"In {o} store, sorted, each line that occurs {phrase} in the file {s}.",
            f"Sort {s} and keep only those lines that are there {phrase}; {o} gets each of them one time.",
            f"Create {o} with the values of {s} found {phrase}, in alphabetical order and without repeats.",
            f"The lines that come {phrase} in {s} must be saved in sorted order as {o}, one copy of each.",
            f"Some lines of {s} occur {phrase}. They belong in {o}, sorted and not repeated.",
        ],
        solution=[f"sort {quote(source)} | uniq {flag} > {quote(out)}"],
    )


def _ranking_and_winner(names: Names) -> Unit:
    source, ranks, out = names.path("log", names.number(0, 1)), names.file("txt"), names.file("txt")
    lines, ranking = _ranked(names, 3)
    s, r, o = shown(source), shown(ranks), shown(out)
    unit = report(
        names,
        [fixture(source, text_of(lines))],
        (ranks, text_of(f"{value} {count}" for value, count in ranking)),
        asks=[
            f"Rank the lines of {s} in {r} as 'value count', most frequent first, then copy its first line to {o}.",
            f"Save the tally of {s} ('value count', highest first) as {r} and the top line of that tally as {o}.",
            f"Write all values of {s} with their counts, top one first, to {r}; the first line also goes to {o}.",
        ],
        others=[
            f"{r} should hold the frequency table of {s}, 'value count' from high to low, and {o} only its first line.",
            f"I need {s} tallied in {r}, most frequent first, with the winning 'value count' line again in {o}.",
            f"Count how often each line of {s} occurs. Save lines 'value count', highest count first, as {r}, and the"
            f" first of them as {o}.",
            f"Could you write the ranking of the values in {s} to {r}, 'value count' from most to least, and its top"
            f" line to {o}?",
            f"In {r} list every value of {s} with its count, sorted by count from high to low; in {o} put only the top"
            f" line of {r}.",
            f"Make two files from {s}: {r} with a 'value count' line for each value, largest count first, and {o} with"
            f" the first line of {r}.",
            f"Sort the values of {s} by frequency and store 'value count' lines in {r}; copy the line on top to {o}.",
            f"The values in {s} must be counted: all 'value count' lines go in {r}, the most frequent at the top, and"
            f" that top line in {o}.",
        ],
        solution=[
            f"sort {quote(source)} | uniq -c | sort -rn | awk '{{print $2, $1}}' > {quote(ranks)}",
            f"head -n 1 {quote(ranks)} > {quote(out)}",
        ],
    )
    unit.after.append(fixture(out, f"{ranking[0][0]} {ranking[0][1]}\n"))
    return unit


def _common_over_files(names: Names) -> Unit:
    place, out, ext = names.directory(), names.file("txt"), names.pick(["log", "txt"])
    lines, ranking = _ranked(names, 3)
    half = len(lines) // 2
    sources = [f"{place}/{names.file(ext)}" for _ in range(2)]
    return report(
        names,
        [fixture(sources[0], text_of(lines[:half])), fixture(sources[1], text_of(lines[half:]))],
        (out, f"{ranking[0][0]} {ranking[0][1]}\n"),
        asks=[
            f"Put all .{ext} files of {place} together and write their commonest line with its count ('line count') to"
            f" {shown(out)}.",
            f"Which line occurs most often in all .{ext} files of {place}? Save 'line count' in {shown(out)}.",
            f"Read all .{ext} files of {place} as one list and store its commonest line, a space and the count in"
            f" {shown(out)}.",
        ],
        others=[
            f"{shown(out)} should name the commonest line of the .{ext} files in {place} with the count behind it.",
            f"I need the top line over every .{ext} file in {place}, as 'line count', in {shown(out)}.",
            f"Count the lines of {place}/*.{ext} together and write the most frequent one, a space and its count to"
            f" {shown(out)}.",
            f"Could you find the line that comes most often in the .{ext} files of {place}, with its count after it, in"
            f" {shown(out)}?",
            f"In {shown(out)} store one line, 'line count', for the most common line in the .{ext} files of the folder"
            f" {place} taken together.",
            f"Join all .{ext} files in the directory {place}, find the most frequent line, and save it with its count"
            f" behind as {shown(out)}.",
            f"Create {shown(out)} with the most common line of {place}/*.{ext} and how often it occurs, in the form"
            " 'line count'.",
            f"The most frequent line over the .{ext} files in {place} must be written to {shown(out)}, followed by a"
            " space and its count.",
        ],
        solution=[
            f"cat {place}/*.{ext} | sort | uniq -c | sort -rn | head -n 1 | awk '{{print $2, $1}}' > {quote(out)}"
        ],
    )


SHAPES: dict[str, list[Shape]] = {
    "count_things": [
        _lines_of_file,
        _words_of_file,
        _files_by_extension,
        _matching_lines,
        _matches_in_directory,
        _lines_of_two_files,
        _empty_files,
        _distinct_lines,
    ],
    "most_frequent": [
        _winner,
        _top_values,
        _rank_column,
        _repeated_lines,
        _ranking_and_winner,
        _common_over_files,
    ],
}
