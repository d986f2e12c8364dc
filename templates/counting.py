"""Shape the counting archetypes: count things, add up a column, rank values by how often they occur.

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


def _report(
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
    return _report(
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
    return _report(
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
        ],
        solution=[f"wc {flag} < {quote(source)} > {quote(out)}"],
    )


def _files_by_extension(names: Names) -> Unit:
    place, out = names.directory(), names.file("txt")
    wanted, other = names.rng.sample(["txt", "log", "csv", "md", "conf", "png"], 2)
    count = names.number(2, 5)
    paths = [f"{place}/{names.file(wanted)}" for _ in range(count)]
    paths += [f"{place}/{names.file(other)}" for _ in range(names.number(1, 3))]
    return _report(
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
    return _report(
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
    return _report(
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
        ],
        solution=[f"cat {place}/*.{ext} | grep -c {word} > {quote(out)}"],
    )


def _lines_of_two_files(names: Names) -> Unit:
    first, second, out = names.file("txt"), names.file("txt"), names.file("txt")
    one, two = names.number(2, 5), names.number(6, 9)
    if names.rng.random() < 0.5:
        one, two = two, one
    a, b, o = shown(first), shown(second), shown(out)
    return _report(
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
    return _report(
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
        ],
        solution=[f"find {place} -type f -size 0 | wc -l > {quote(out)}"],
    )


def _distinct_lines(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "list"]), names.number(0, 1)), names.file("txt")
    values = names.filler(names.number(3, 6))
    lines = values + [names.pick(values) for _ in range(names.number(2, 5))]
    names.rng.shuffle(lines)
    f = quote(source)
    return _report(
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
        ],
        solution=[names.pick([f"sort -u {f} | wc -l > {quote(out)}", f"sort {f} | uniq | wc -l > {quote(out)}"])],
    )


def _sum_of_column(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "dat"]), names.number(0, 1)), names.file("txt")
    keys, column = names.filler(names.number(4, 8)), names.number(2, 3)
    rows = [(key, names.number(1, 90), names.number(1, 90)) for key in keys]
    total = sum(row[column - 1] for row in rows)  # type: ignore[misc]
    ordinal = {2: "second", 3: "third"}[column]
    s, o = shown(source), shown(out)
    return _report(
        names,
        [fixture(source, text_of(f"{a} {b} {c}" for a, b, c in rows))],
        (out, f"{total}\n"),
        asks=[
            f"Add up column {column} of {s} (columns are separated by spaces) and write the sum to {o}.",
            f"Sum the numbers in the {ordinal} column of {s}. Write only the total to {o}.",
            f"Total the {ordinal} field of every line of {s} and save the number in {o}.",
        ],
        others=[
            f"{o} should hold the sum over column {column} of {s}, whose columns are parted by spaces.",
            f"I need the {ordinal} column of {s} added up in {o}.",
        ],
        solution=[f"awk '{{s+=${column}}} END {{print s}}' {quote(source)} > {quote(out)}"],
    )


def _sum_of_table(names: Names) -> Unit:
    source, out = names.path("csv", names.number(0, 1)), names.file("txt")
    column, title = names.number(2, 3), names.word()
    header = ["name", names.word(), names.word()]
    header[column - 1] = title
    rows = [[key, f"{names.number(1, 60)}", f"{names.number(1, 60)}"] for key in names.filler(names.number(3, 7))]
    total = sum(int(row[column - 1]) for row in rows)
    lines = [",".join(row) for row in [header, *rows]]
    s, o = shown(source), shown(out)
    return _report(
        names,
        [fixture(source, text_of(lines))],
        (out, f"{total}\n"),
        asks=[
            f"Add up column {column} ({title}) of the comma-separated {s}, header left out, and write the sum to {o}.",
            f"{s} is comma-separated with a header line. Sum its column {column} and save the number in {o}.",
            f"Skip the header of {s}, total the values of column {column}, and store the number in {o}.",
        ],
        others=[
            f"The CSV table {s} has a header; {o} should hold the sum of field {column} below it.",
            f"I need the values under {title}, which is column {column} of {s}, added up in {o}.",
        ],
        solution=[f"awk -F, 'NR>1 {{s+=${column}}} END {{print s}}' {quote(source)} > {quote(out)}"],
    )


def _sum_of_rows(names: Names) -> Unit:
    source, out, key = names.path("log", names.number(0, 1)), names.file("txt"), names.word()
    rows = [(key, names.number(1, 50)) for _ in range(names.number(2, 4))]
    rows += [(other, names.number(1, 50)) for other in names.filler(names.number(2, 4))]
    names.rng.shuffle(rows)
    total = sum(number for name, number in rows if name == key)
    s, o = shown(source), shown(out)
    return _report(
        names,
        [fixture(source, text_of(f"{name} {number}" for name, number in rows))],
        (out, f"{total}\n"),
        asks=[
            f"Add up the second column of {s} over the lines whose first column is {key}; write the sum to {o}.",
            f"In {s}, sum the numbers that belong to {key}. Save the total in {o}.",
            f"Each line of {s} has a name and a number. Write the total of {key} to {o}.",
        ],
        others=[
            f"{o} should hold what {key} comes to when its numbers in {s} are added.",
            f"I need only the rows of {s} for {key}, their second field summed, in {o}.",
        ],
        solution=[f"awk '$1==\"{key}\" {{s+=$2}} END {{print s}}' {quote(source)} > {quote(out)}"],
    )


def _sum_per_name(names: Names) -> Unit:
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    keys = names.filler(3)
    rows = [(key, names.number(1, 40)) for key in keys] + [
        (names.pick(keys), names.number(1, 40)) for _ in range(names.number(3, 5))
    ]
    names.rng.shuffle(rows)
    totals = sorted((key, sum(number for name, number in rows if name == key)) for key in keys)
    s, o = shown(source), shown(out)
    return _report(
        names,
        [fixture(source, text_of(f"{name} {number}" for name, number in rows))],
        (out, text_of(f"{name} {total}" for name, total in totals)),
        asks=[
            f"Add up the numbers of {s} per name and write lines of name and total, sorted by name, to {o}.",
            f"Each line of {s} is a name and a number. Save the sum of every name, as 'name sum', sorted, in {o}.",
            f"Group {s} by its first column, sum the second, and store the sorted lines 'name total' in {o}.",
        ],
        others=[
            f"{o} should list each name of {s} with its total after a space, in alphabetical order.",
            f"I need the totals by name from {s}, one 'name total' a line and sorted, in {o}.",
        ],
        solution=[f"awk '{{s[$1]+=$2}} END {{for (k in s) print k, s[k]}}' {quote(source)} | sort > {quote(out)}"],
    )


def _sum_of_files(names: Names) -> Unit:
    place, out, ext = names.directory(), names.file("txt"), names.pick(["dat", "txt"])
    columns = [[names.number(1, 80) for _ in range(names.number(2, 4))] for _ in range(names.number(2, 3))]
    total = sum(map(sum, columns))
    return _report(
        names,
        [fixture(f"{place}/{names.file(ext)}", text_of(map(str, numbers))) for numbers in columns],
        (out, f"{total}\n"),
        asks=[
            f"The .{ext} files in {place} hold one number per line. Write the sum of all of them to {shown(out)}.",
            f"Add up every number in the .{ext} files of {place} and save the one total in {shown(out)}.",
            f"Sum all lines of all .{ext} files of {place}; the total goes to {shown(out)}.",
        ],
        others=[
            f"{shown(out)} should hold the grand total of the numbers in {place}, .{ext} files only.",
            f"I need all numbers from the .{ext} files in {place} added together in {shown(out)}.",
        ],
        solution=[f"cat {place}/*.{ext} | awk '{{s+=$1}} END {{print s}}' > {quote(out)}"],
    )


def _sum_of_products(names: Names) -> Unit:
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    rows = [(key, names.number(1, 9), names.number(2, 20)) for key in names.filler(names.number(3, 6))]
    total = sum(count * price for _, count, price in rows)
    s, o = shown(source), shown(out)
    return _report(
        names,
        [fixture(source, text_of(f"{a} {b} {c}" for a, b, c in rows))],
        (out, f"{total}\n"),
        asks=[
            f"Lines of {s} are item, count, price. Multiply count by price, add up all lines, write the sum to {o}.",
            f"Multiply columns 2 and 3 of {s} line by line and save the sum of the products in {o}.",
            f"Work out the value of the stock in {s} (name, pieces, price of a piece) and write the total to {o}.",
        ],
        others=[
            f"{o} should hold the sum of column 2 times column 3 over all of {s}.",
            f"I need the total price of everything in {s}, where fields 2 and 3 are count and price, in {o}.",
        ],
        solution=[f"awk '{{s+=$2*$3}} END {{print s}}' {quote(source)} > {quote(out)}"],
    )


def _with_total_line(names: Names) -> Unit:
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    rows = [(key, names.number(1, 70)) for key in names.filler(names.number(3, 6))]
    lines = [f"{key} {number}" for key, number in rows]
    total = sum(number for _, number in rows)
    s, o = shown(source), shown(out)
    return _report(
        names,
        [fixture(source, text_of(lines))],
        (out, text_of([*lines, f"total {total}"])),
        asks=[
            f"Copy {s} to {o} and end {o} with a line 'total N' where N is the sum of the second column.",
            f"Make {o}: all lines of {s}, then one more line, the word total and the sum of column 2.",
            f"Write the lines of {s} to {o} and below them 'total' with the sum of their second column.",
        ],
        others=[
            f"{o} should be {s} with a closing line that says total and gives the sum of field 2.",
            f"I need {s} repeated in {o}, closed by a total line for its second column.",
        ],
        solution=names.pick(
            [
                [
                    f"cp {quote(source)} {quote(out)}",
                    f"awk '{{s+=$2}} END {{print \"total\", s}}' {quote(source)} >> {quote(out)}",
                ],
                [f"awk '{{print; s+=$2}} END {{print \"total\", s}}' {quote(source)} > {quote(out)}"],
            ]
        ),
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
    return _report(
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
        ],
        solution=[f"sort {quote(source)} | uniq -c | sort {flags} | head -n 1 | awk '{{print $2}}' > {quote(out)}"],
    )


def _top_values(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "log", "list"]), names.number(0, 1)), names.file("txt")
    lines, ranking = _ranked(names, names.number(4, 5))
    top = names.number(2, 3)
    s, o = shown(source), shown(out)
    return _report(
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
    return _report(
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
    return _report(
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
        ],
        solution=[f"sort {quote(source)} | uniq {flag} > {quote(out)}"],
    )


def _ranking_and_winner(names: Names) -> Unit:
    source, ranks, out = names.path("log", names.number(0, 1)), names.file("txt"), names.file("txt")
    lines, ranking = _ranked(names, 3)
    s, r, o = shown(source), shown(ranks), shown(out)
    unit = _report(
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
    return _report(
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
    "sum_column": [
        _sum_of_column,
        _sum_of_table,
        _sum_of_rows,
        _sum_per_name,
        _sum_of_files,
        _sum_of_products,
        _with_total_line,
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
