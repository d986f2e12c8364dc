"""Worlds of the archetype most_frequent: values ranked by how often they occur.

`uniq -c` pads its counts differently in each implementation, so every ranking passes through awk.
"""

from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of


def _lines_and_ranking(names: Names, size: int) -> tuple[list[str], list[tuple[str, int]]]:
    """Lines in random order and their `size` values with how often each occurs, most frequent first, no two equal."""
    counts = sorted(names.numbers(size, 1, size + 2), reverse=True)
    ranking = list(zip(names.filler(size), counts, strict=True))
    lines = [value for value, count in ranking for _ in range(count)]
    names.rng.shuffle(lines)
    return lines, ranking


def _winner(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "log", "list"]), names.number(0, 1)), names.file("txt")
    lines, ranking = _lines_and_ranking(names, names.number(3, 4))
    s, o = shown(source), shown(out)
    most = names.rng.random() < 0.7
    kind, flags, value = ("most", "-rn", ranking[0][0]) if most else ("least", "-n", ranking[-1][0])
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        f"{value}\n",
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
            f"Determine which line {s} has {kind} often and record it, without a count, in {o}.",
            f"Into {o} goes a single line, the {kind} frequent one of {s}, and not its count.",
            f"From the lines of {s} pick the {kind} common one and send only this line to {o}.",
            f"Look for the {kind} frequent value of {s} and enter it in {o}; the number of times stays out.",
            f"Of all lines in {s}, the one found {kind} often goes into {o} by itself.",
            f"Extract the {kind} common line of {s} into {o}, without its count.",
            f"Identify the value that occurs {kind} often in {s}; {o} receives that value and nothing else.",
            f"Tally {s} by line and keep just the {kind} frequent value, no number, in {o}.",
            f"Put the {kind} common entry of {s} in {o}, with no count beside it.",
            f"Search {s} for its {kind} frequent line and copy that one line, a single time, to {o}.",
            f"Group equal lines of {s}, see which one comes up {kind} often, and store it alone in {o}.",
            f"Name in {o} the line that {s} contains {kind} often; leave the count out.",
            f"Report the {kind} frequent value in {s}: one line, no count, in {o}.",
            f"Once the lines of {s} are counted, the {kind} common one, and no figure, belongs in {o}.",
            f"After this, {o} holds one line, the value which appears {kind} often in {s}.",
            f"What does {s} contain {kind} often? Place that line, but not its count, in {o}.",
        ],
        solution=[f"sort {quote(source)} | uniq -c | sort {flags} | head -n 1 | awk '{{print $2}}' > {quote(out)}"],
    )


def _top_values(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "log", "list"]), names.number(0, 1)), names.file("txt")
    lines, ranking = _lines_and_ranking(names, names.number(4, 5))
    top = names.number(2, 3)
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(f"{value} {count}" for value, count in ranking[:top]),
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
            f"Tally the lines of {s}. The {top} with the highest counts go into {o}, highest on top, one 'value count'"
            " per line.",
            f"Save as {o} the {top} most common lines of {s} in the form 'value count', in order of falling count.",
            f"Determine the {top} values that {s} has most often; record them as 'value count' in {o}, the commonest on"
            " top.",
            f"From {s} pick the {top} lines that occur the most times and send 'value count' for each, highest count on"
            f" top, to {o}.",
            f"Order the values of {s} by how many times each occurs, largest count on top, and print the first {top}"
            f" into {o} as 'value count'.",
            f"Rank the lines of {s} by frequency and keep the top {top} in {o} as 'value count', highest first.",
            f"Extract the {top} most frequent values of {s} to {o}: lines 'value count', by falling count.",
            f"Put a top {top} of the lines of {s} in {o}. Each line reads 'value count'; the largest count leads.",
            f"Group equal lines in {s}, then list just the {top} commonest in {o} as 'value count', highest first.",
            f"Fill {o} with the {top} most frequent lines of {s}, each as 'value count', greatest count first.",
            f"Report in {o} the {top} values that {s} has most often ('value count' per line, falling counts).",
            f"Summarize {s} in {o}: the {top} values with the highest counts, as 'value count', biggest on top.",
            f"Limit a frequency list of {s}, 'value count' from high to low, to {top} lines and store it in {o}.",
            f"Once the lines of {s} are tallied, the {top} leading ones go to {o} as 'value count', highest first.",
            f"What are the {top} most common lines of {s}? {o} must show them as 'value count', highest first.",
            f"Only the {top} most frequent values of {s} belong in {o}, as 'value count' and by falling count.",
        ],
        solution=[f"sort {quote(source)} | uniq -c | sort -rn | head -n {top} | awk '{{print $2, $1}}' > {quote(out)}"],
    )


def _rank_column(names: Names) -> Unit:
    table = names.rng.random() < 0.5
    source, out = names.path("csv" if table else "log", names.number(0, 1)), names.file("txt")
    values, ranking = _lines_and_ranking(names, 3)
    column = names.number(1, 2)
    separator = "," if table else " "
    rows = [[names.filler()[0], names.filler()[0]] for _ in values]
    for row, value in zip(rows, values, strict=True):
        row[column - 1] = value
    cut = f"cut -d, -f{column}" if table else names.pick([f"awk '{{print ${column}}}'", f"cut -d' ' -f{column}"])
    kind = "comma-separated" if table else "space-separated"
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(separator.join(row) for row in rows))],
        out,
        text_of(f"{value} {count}" for value, count in ranking),
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
            f"Tally {s}, a {kind} file, by its column {column} and record each value as 'value count' in {o}, highest"
            " count on top.",
            f"Into {o} goes one line 'value count' for each value in field {column} of {s}, a {kind} file, in order of"
            " falling count.",
            f"From the {kind} file {s} take column {column}; order its values by how many times they occur and send"
            f" 'value count' to {o}, the most common on top.",
            f"Work through field {column} of {s} ({kind}): print each different value once into {o}, a space and its"
            " count behind it, commonest on top.",
            f"Determine how many times each value stands in column {column} of {s}, which is {kind}. Lines 'value"
            f" count' go into {o}, from high to low.",
            f"Rank the column {column} values of {s} ({kind}) by count in {o}: lines 'value count', highest first.",
            f"Tabulate column {column} of the {kind} {s} in {o}: 'value count', the highest count first.",
            f"Extract column {column} of {s} ({kind}), tally it, and put 'value count' in {o}, high counts first.",
            f"Summarize field {column} of the {kind} {s} in {o} as 'value count', from most to least frequent.",
            f"Group the rows of {s} ({kind}) by column {column} and list 'value count' in {o}, by falling count.",
            f"Report the counts of column {column} values in the {kind} {s} to {o}: 'value count', highest first.",
            f"Build a ranking {o} of column {column} from {s}, a {kind} file: 'value count', commonest on top.",
            f"Fill {o} with 'value count' per value of field {column} in the {kind} {s}, highest count first.",
            f"As {s} is {kind}, its column {column} must be tallied to {o} as 'value count', highest count first.",
            f"How often has {s} ({kind}) each column {column} value? List 'value count' in {o}, highest first.",
            f"Column {column} of the {kind} file {s}: its values go in {o} as 'value count', by falling count.",
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
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(sorted(kept)),
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
            f"Look through {s} for lines found {phrase} and record them, sorted and without repeats, in {o}.",
            f"Into {o} goes, in alphabetical order, one copy of every line that stands {phrase} in {s}.",
            f"From {s} pick what occurs {phrase}, put it in alphabetical order, and send one line for each to {o}.",
            f"Only lines that {s} has {phrase} go into {o}, sorted and with one copy of each.",
            f"Determine which values {s} lists {phrase} and arrange them alphabetically in {o}, one line for every"
            " value.",
            f"Extract from {s} the lines it holds {phrase} and save them, sorted and one copy each, in {o}.",
            f"List in {o}, alphabetically, each distinct line that appears {phrase} in {s}.",
            f"Collect the values that {s} contains {phrase}; {o} lists them sorted, a single line apiece.",
            f"Put one copy of any line seen {phrase} in {s} into {o}, in sorted order.",
            f"Filter {s} down to lines that occur {phrase}, each given one time and sorted, and store that as {o}.",
            f"Group equal lines of {s}. Where a line occurs {phrase}, {o} gets it one time, in sorted order.",
            f"Copy to {o} whichever lines {s} has {phrase}: sorted, each a single time.",
            f"Fill {o} with the sorted values that appear {phrase} in {s}, no value given twice.",
            f"If a line is in {s} {phrase}, {o} must name it one time; {o} is sorted.",
            f"Which lines does {s} hold {phrase}? Give each one line in {o}, alphabetically.",
            f"A line belongs in {o}, sorted and without repeats, if {s} contains it {phrase}.",
        ],
        solution=[f"sort {quote(source)} | uniq {flag} > {quote(out)}"],
    )


def _ranking_and_winner(names: Names) -> Unit:
    source, ranks, out = names.path("log", names.number(0, 1)), names.file("txt"), names.file("txt")
    lines, ranking = _lines_and_ranking(names, 3)
    s, r, o = shown(source), shown(ranks), shown(out)
    unit = saving_unit(
        names,
        [fixture(source, text_of(lines))],
        ranks,
        text_of(f"{value} {count}" for value, count in ranking),
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
            f"Tally {s} line by line into {r} as 'value count', highest count on top, and send the top line of {r} to"
            f" {o} as well.",
            f"Into {r} goes every value of {s} with a space and its count, in order of falling count; into {o} goes"
            f" only the top line of {r}.",
            f"Order the values of {s} by how many times they occur. Record them as 'value count' in {r}, the commonest"
            f" on top, and repeat its top line in {o}.",
            f"From {s} make a ranking {r} with lines 'value count', largest count on top, and from {r} take the top"
            f" line for {o}.",
            f"Determine how many times each value of {s} occurs; print 'value count' lines, from high to low, into {r}"
            f" and the first of these lines also into {o}.",
            f"Rank the values of {s} in {r} as 'value count', highest first; {o} receives the first line of {r}.",
            f"Build {r}, the 'value count' list for the lines of {s} by falling count; copy its first line to {o}.",
            f"Let {r} summarize {s} by 'value count' of each line, largest count first, and let {o} be line 1 of {r}.",
            f"Group equal lines of {s}: 'value count' for each in {r}, largest count first. {o} is line 1 of {r}.",
            f"List all values of {s} in {r} as 'value count', commonest first; extract line 1 of {r} to {o}.",
            f"Fill {r} with 'value count' for the lines of {s}, by falling count, and {o} with the top line of {r}.",
            f"Tabulate line counts of {s} in {r}, 'value count', highest first, and repeat just line 1 in {o}.",
            f"Report twice on {s}: 'value count' for all its lines in {r}, by falling count; line 1 of that in {o}.",
            f"Once {r} lists 'value count' for every value in {s}, highest count first, put its line 1 in {o} too.",
            f"{o} must equal the first line of {r}, and {r} the 'value count' ranking of {s}, highest count first.",
            f"How frequent is each line of {s}? Store 'value count', highest first, in {r} and its line 1 in {o}.",
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
    lines, ranking = _lines_and_ranking(names, 3)
    half = len(lines) // 2
    sources = [f"{place}/{names.file(ext)}" for _ in range(2)]
    return saving_unit(
        names,
        [fixture(sources[0], text_of(lines[:half])), fixture(sources[1], text_of(lines[half:]))],
        out,
        f"{ranking[0][0]} {ranking[0][1]}\n",
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
            f"Treat all files {place}/*.{ext} as a single one and record its most common line in {shown(out)}, as 'line"
            " count'.",
            f"Into {shown(out)} goes the line that the .{ext} files in the folder {place} have most often between them,"
            " as 'line count'.",
            f"From all of {place}/*.{ext} together, pick the line found the most times and send it, with a space and"
            f" its count behind it, to {shown(out)}.",
            f"Tally the lines over every .{ext} file in {place}. Enter the winner in {shown(out)} in the form 'line"
            " count'.",
            f"Determine the most frequent line over all .{ext} files that {place} has, taken together, and print 'line"
            f" count' into {shown(out)}.",
            f"Extract the commonest line of all {place}/*.{ext} together to {shown(out)}, in the form 'line count'.",
            f"Pool the .{ext} files in {place} and store their most frequent line as 'line count' in {shown(out)}.",
            f"Combine all .{ext} files of {place}; {shown(out)} gets the most frequent line, as 'line count'.",
            f"Report the most common line across {place}/*.{ext} in {shown(out)}: the line, a space, its count.",
            f"Identify the line that all .{ext} files of {place} have most; 'line count' goes in {shown(out)}.",
            f"Rank the lines of {place}/*.{ext}, taken as one, and keep just the top 'line count' in {shown(out)}.",
            f"Fill {shown(out)} with one 'line count': the top line over the .{ext} files in {place} together.",
            f"Merge line counts over all .{ext} files in {place}. The top 'line count' goes to {shown(out)}.",
            f"Across all {place}/*.{ext}, which line is most frequent? Give it as 'line count' in {shown(out)}.",
            f"Once {place}/*.{ext} are counted as one, {shown(out)} must hold the commonest line as 'line count'.",
            f"A single 'line count' belongs in {shown(out)}: the most frequent line of all .{ext} files in {place}.",
        ],
        solution=[
            f"cat {place}/*.{ext} | sort | uniq -c | sort -rn | head -n 1 | awk '{{print $2, $1}}' > {quote(out)}"
        ],
    )


SHAPES: dict[str, list[Shape]] = {
    "most_frequent": [
        _winner,
        _top_values,
        _rank_column,
        _repeated_lines,
        _ranking_and_winner,
        _common_over_files,
    ],
}
