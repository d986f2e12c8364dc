"""Worlds in which a file is split into parts, sorted lists are merged, or columns get another form."""

import gzip

from authoring.templates.archives import binary_file
from authoring.templates.tables import some_rows, table_text
from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of


def split_at_line(names: Names) -> Unit:
    """The first lines to one file, the rest to another."""
    path, one, two = names.path("txt", names.number(0, 1)), names.file("txt"), names.file("txt")
    lines = names.lines(names.number(6, 10))
    count = names.number(2, len(lines) - 2)
    p, s, a, b = quote(path), shown(path), shown(one), shown(two)
    return Unit(
        fixtures=[fixture(path, text_of(lines))],
        directive=names.pick(
            [
                f"Split {s}: its first {count} lines go to {a}, all others to {b}.",
                f"Write the first {count} lines of {s} to {a} and the lines after them to {b}.",
                f"Cut {s} in two after line {count}; save the parts as {a} and {b}. {s} stays.",
            ]
        ),
        solution=[f"head -n {count} {p} > {quote(one)}", f"tail -n +{count + 1} {p} > {quote(two)}"],
        after=[fixture(one, text_of(lines[:count])), fixture(two, text_of(lines[count:]))],
    )


def split_by_word(names: Names) -> Unit:
    """The lines with a word to one file, the others to another."""
    path, one, two, word = names.path("log"), names.file("log"), names.file("log"), names.keyword()
    lines = names.lines(names.number(6, 8))
    lines = [f"{line} {word}" if index % 3 == 0 else line for index, line in enumerate(lines)]
    p, s, a, b = quote(path), shown(path), shown(one), shown(two)
    return Unit(
        fixtures=[fixture(path, text_of(lines))],
        directive=names.pick(
            [
                f"Split {s}: lines with {word} go to {a}, those without it to {b}.",
                f"Sort the lines of {s} into two files, {a} for lines that hold {word} and {b} for the others.",
                f"Write the lines of {s} with {word} to {a} and all its other lines to {b}.",
            ]
        ),
        solution=[f"grep {word} {p} > {quote(one)}", f"grep -v {word} {p} > {quote(two)}"],
        after=[
            fixture(one, text_of(line for line in lines if word in line)),
            fixture(two, text_of(line for line in lines if word not in line)),
        ],
    )


def split_columns(names: Names) -> Unit:
    """The columns of a table to a file each."""
    path, one, two = names.path("txt", names.number(0, 1)), names.file("txt"), names.file("txt")
    kind, separator = names.pick([("comma", ","), ("colon", ":"), ("semicolon", ";")])
    d = "';'" if separator == ";" else separator
    rows = some_rows(names, 3)
    first, second = names.rng.sample([1, 2, 3], 2)
    p, s, a, b = quote(path), shown(path), shown(one), shown(two)
    return Unit(
        fixtures=[fixture(path, text_of(separator.join(row) for row in rows))],
        directive=names.pick(
            [
                f"{s} is {kind} separated. Write its column {first} to {a} and its column {second} to {b}.",
                f"Split the {kind} separated {s} by column: number {first} into {a}, number {second} into {b}.",
                f"Save column {first} of {s} as {a} and column {second} as {b}; a {kind} separates them in {s}.",
            ]
        ),
        solution=[f"cut -d {d} -f {first} {p} > {quote(one)}", f"cut -d {d} -f {second} {p} > {quote(two)}"],
        after=[
            fixture(one, text_of(row[first - 1] for row in rows)),
            fixture(two, text_of(row[second - 1] for row in rows)),
        ],
    )


def split_bytes(names: Names) -> Unit:
    """The first bytes to one file, the rest to another."""
    path, one, two = names.path("dat", names.number(0, 1)), names.file("dat"), names.file("dat")
    text, count = names.text(), names.number(4, 12)
    p, s, a, b = quote(path), shown(path), shown(one), shown(two)
    return Unit(
        fixtures=[fixture(path, text)],
        directive=names.pick(
            [
                f"Split {s} after {count} bytes: the first part is {a}, the rest {b}.",
                f"Write the first {count} bytes of {s} to {a} and everything after them to {b}.",
                f"Save {s} in two parts, {a} with {count} bytes and {b} with what remains.",
            ]
        ),
        solution=[f"head -c {count} {p} > {quote(one)}", f"tail -c +{count + 1} {p} > {quote(two)}"],
        after=[fixture(one, text[:count]), fixture(two, text[count:])],
    )


def merge_words(names: Names) -> Unit:
    """Two sorted lists merged, and their length."""
    first, second, out, count = names.file("txt"), names.file("txt"), names.file("txt"), names.file("txt")
    words = names.filler(8)
    a, b, o, c = shown(first), shown(second), shown(out), shown(count)
    merged = text_of(sorted(words))
    return Unit(
        fixtures=[fixture(first, text_of(sorted(words[:4]))), fixture(second, text_of(sorted(words[4:])))],
        directive=names.pick(
            [
                f"Merge the sorted lists {a} and {b} to one sorted list {o}, and write its line count to {c}.",
                f"{a} and {b} are sorted. Make of both the sorted {o}; the bare number of its lines goes to {c}.",
                f"Write all lines of {a} and {b}, sorted, to {o} and how many there are to {c}.",
            ]
        ),
        solution=names.pick(
            [
                [f"sort -m {quote(first)} {quote(second)} | tee {quote(out)} | wc -l > {quote(count)}"],
                [f"sort {quote(first)} {quote(second)} > {quote(out)}", f"wc -l < {quote(out)} > {quote(count)}"],
            ]
        ),
        after=[fixture(out, merged), fixture(count, "8\n")],
    )


def merge_numbers(names: Names) -> Unit:
    """Lists of numbers merged to one, the smallest or the largest first."""
    first, second, out = names.file("txt"), names.file("txt"), names.file("txt")
    numbers = names.numbers(8, 1, 400)
    option, order, down = names.pick([("-n", "smallest", False), ("-rn", "largest", True)])
    a, b, o = shown(first), shown(second), shown(out)
    return saving_unit(
        names,
        [fixture(path, text_of(map(str, part))) for path, part in ((first, numbers[:4]), (second, numbers[4:]))],
        out,
        text_of(map(str, sorted(numbers, reverse=down))),
        asks=[
            f"Merge the numbers of {a} and {b} into {o}, {order} first.",
            f"Write all numbers from {a} and {b} to {o} in order, the {order} at the top.",
            f"{o} shall hold the numbers of {a} and {b} together, sorted by value, {order} first.",
        ],
        solution=[f"sort {option} {quote(first)} {quote(second)} > {quote(out)}"],
    )


def merge_tables(names: Names) -> Unit:
    """Two tables merged by a column of numbers."""
    first, second, out = names.file("csv"), names.file("csv"), names.file("csv")
    keys, numbers = names.filler(7), names.numbers(7, 1, 400)
    rows = [[key, str(number)] for key, number in zip(keys, numbers, strict=True)]
    a, b, o = shown(first), shown(second), shown(out)
    return saving_unit(
        names,
        [fixture(first, table_text(rows[:4])), fixture(second, table_text(rows[4:]))],
        out,
        table_text(sorted(rows, key=lambda row: int(row[1]))),
        asks=[
            f"Merge the comma separated rows of {a} and {b} into {o}, by the number in column 2, smallest first.",
            f"Write the rows of {a} and {b} to {o}, ordered by the numbers of column 2; commas separate the columns.",
            f"{o} gets all rows of the comma separated {a} and {b}, sorted by value of column 2.",
        ],
        solution=[f"sort -t , -k 2 -n {quote(first)} {quote(second)} > {quote(out)}"],
    )


def other_separator(names: Names) -> Unit:
    """A table with another separator."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    (before, one), (after, two) = names.rng.sample([("commas", ","), ("colons", ":"), ("semicolons", ";")], 2)
    rows = some_rows(names, 3)
    s, o = shown(path), shown(out)
    return saving_unit(
        names,
        [fixture(path, text_of(one.join(row) for row in rows))],
        out,
        text_of(two.join(row) for row in rows),
        asks=[
            f"Write {s} to {o} with {after} in place of {before}.",
            f"{s} is separated by {before}. Save it as {o}, separated by {after}.",
            f"Turn the {before} of {s} into {after}; the result is {o}.",
        ],
        solution=[f"tr '{one}' '{two}' < {quote(path)} > {quote(out)}"],
    )


def lines_to_row(names: Names) -> Unit:
    """A list as one row, or a row as a list."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    words = names.filler(names.number(4, 6))
    kind, separator = names.pick([("commas", ","), ("colons", ":")])
    row, column = separator.join(words) + "\n", text_of(words)
    s, o = shown(path), shown(out)
    if names.rng.random() < 0.5:
        asks = [
            f"Write the lines of {s} as one line, {kind} between, to {o}.",
            f"Join all lines of {s} with {kind} to a single line in {o}.",
            f"{o} is one row: the lines of {s}, {kind} between them.",
        ]
        command = f"paste -s -d {separator} {quote(path)} > {quote(out)}"
        return saving_unit(names, [fixture(path, column)], out, row, asks=asks, solution=[command])
    asks = [
        f"Write the items of {s}, which has {kind} between them, to {o}, one per line.",
        f"Break the one row of {s} at its {kind}; {o} gets an item a line.",
        f"{o} lists the items of {s} below each other; {kind} separate them in {s}.",
    ]
    command = f"tr {separator} '\\n' < {quote(path)} > {quote(out)}"
    return saving_unit(names, [fixture(path, row)], out, column, asks=asks, solution=[command])


def column_of_spaces(names: Names) -> Unit:
    """A column of a table that is padded with spaces."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    rows = some_rows(names, 3)
    column = names.number(1, 3)
    p, s, o = quote(path), shown(path), shown(out)
    return saving_unit(
        names,
        [fixture(path, text_of(f"{a:<10}{b:<12}{c}" for a, b, c in rows))],
        out,
        text_of(row[column - 1] for row in rows),
        asks=[
            f"The columns of {s} are padded with spaces. Write column {column} to {o}.",
            f"Save the words of column {column} of {s}, which runs of spaces separate, in {o}.",
            f"{o} gets column {column} of {s}; between columns there are several spaces.",
        ],
        solution=[
            names.pick(
                [
                    f"tr -s ' ' < {p} | cut -d ' ' -f {column} > {quote(out)}",
                    f"awk '{{print ${column}}}' {p} > {quote(out)}",
                ]
            )
        ],
    )


def number_lines(names: Names) -> Unit:
    """A number before each line."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    lines, low = names.lines(names.number(3, 6)), names.number(1, 20)
    kind, separator, d = names.pick([("space", " ", "' '"), ("colon", ":", ":"), ("comma", ",", ",")])
    s, o = shown(path), shown(out)
    high = low + len(lines) - 1
    return saving_unit(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(f"{number}{separator}{line}" for number, line in enumerate(lines, low)),
        asks=[
            f"Number the {len(lines)} lines of {s} from {low} to {high}, a {kind} after each number, into {o}.",
            f"{o} gets the lines of {s} with {low} to {high} and a {kind} in front.",
            f"Put a column of numbers, {low} to {high}, and a {kind} before the lines of {s}; save it as {o}.",
        ],
        solution=[f"seq {low} {high} | paste -d {d} - {quote(path)} > {quote(out)}"],
    )


def merge_packed(names: Names) -> Unit:
    """Two compressed lists merged to one sorted list."""
    first, second, out = names.file("gz"), names.file("gz"), names.file("txt")
    words = names.filler(8)
    a, b, o = shown(first), shown(second), shown(out)
    packed = [gzip.compress(text_of(part).encode(), mtime=0) for part in (words[:4], words[4:])]
    return saving_unit(
        names,
        [binary_file(first, packed[0]), binary_file(second, packed[1])],
        out,
        text_of(sorted(words)),
        asks=[
            f"Merge the gzip-compressed lists {a} and {b} to the sorted, uncompressed {o}; both stay.",
            f"{a} and {b} are compressed with gzip. Write all their lines, sorted, to {o} and keep them.",
            f"Save the lines of the compressed {a} and {b} together in {o}, sorted.",
        ],
        solution=[f"zcat {quote(first)} {quote(second)} | sort > {quote(out)}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "split_file": [split_at_line, split_by_word, split_columns, split_bytes],
    "merge_lists": [merge_packed, merge_words, merge_numbers, merge_tables],
    "reshape_columns": [number_lines, other_separator, lines_to_row, column_of_spaces],
}
