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
