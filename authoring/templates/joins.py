"""Worlds in which files are combined: side by side, one after another, or by key.

Neither base image has `join` or `comm`, so tables are combined with paste, cat, grep and awk.
"""

from authoring.templates.tables import some_rows, table_text
from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of


def paste_columns(names: Names) -> Unit:
    """Two lists side by side."""
    first, second, out = names.file("txt"), names.file("txt"), names.file(names.pick(["csv", "tsv", "txt"]))
    count = names.number(4, 6)
    left, right = names.filler(count), [str(number) for number in names.numbers(count)]
    kind, separator, option = names.pick([("comma", ",", "-d, "), ("tab", "\t", ""), ("colon", ":", "-d: ")])
    return saving_unit(
        names,
        [fixture(first, text_of(left)), fixture(second, text_of(right))],
        out,
        text_of(f"{a}{separator}{b}" for a, b in zip(left, right, strict=True)),
        asks=[
            f"Put the lines of {shown(first)} and {shown(second)} side by side, a {kind} between, into {shown(out)}.",
            f"Make {shown(out)} with two columns, {kind} separated: {shown(first)} first, {shown(second)} second.",
            f"Each line of {shown(out)} is a line of {shown(first)}, a {kind}, and the same line of {shown(second)}.",
        ],
        solution=[f"paste {option}{quote(first)} {quote(second)} > {quote(out)}"],
    )


def stack_files(names: Names) -> Unit:
    """Two named files, one after the other."""
    ext = names.pick(["txt", "csv", "log"])
    first, second, out = names.path(ext, names.number(0, 1)), names.path(ext, names.number(0, 1)), names.file(ext)
    one, two = names.text(3, 4), names.text(3, 4)
    return saving_unit(
        names,
        [fixture(first, one), fixture(second, two)],
        out,
        one + two,
        asks=[
            f"Join {shown(first)} and {shown(second)}, in this order, to one file {shown(out)}.",
            f"Write {shown(first)} followed by {shown(second)} to {shown(out)}.",
            f"{shown(out)} shall hold the lines of {shown(first)} and after them those of {shown(second)}.",
        ],
        solution=names.pick(
            [
                [f"cat {quote(first)} {quote(second)} > {quote(out)}"],
                [f"cp {quote(first)} {quote(out)}", f"cat {quote(second)} >> {quote(out)}"],
            ]
        ),
    )


def append_file(names: Names) -> Unit:
    """One file added to the end of another."""
    ext = names.pick(["txt", "csv", "log"])
    source, target = names.path(ext, names.number(0, 1)), names.path(ext, names.number(0, 1))
    added, text = names.text(2, 4), names.text(3, 5)
    return Unit(
        fixtures=[fixture(source, added), fixture(target, text)],
        directive=names.pick(
            [
                f"Append the lines of {shown(source)} to the end of {shown(target)}.",
                f"Add {shown(source)} at the end of {shown(target)}; {shown(source)} itself stays.",
                f"{shown(target)} must be extended by the content of {shown(source)}.",
            ]
        ),
        solution=[f"cat {quote(source)} >> {quote(target)}"],
        after=[fixture(target, text + added)],
    )


def join_parts(names: Names) -> Unit:
    """All parts of a directory, in order of name."""
    home, out, ext = names.directory(), names.file("csv"), names.pick(["csv", "part", "txt"])
    parts = {
        f"{home}/{number:02d}-{names.file(ext)}": some_rows(names, 3, 2, 3) for number in range(1, names.number(3, 4))
    }
    return saving_unit(
        names,
        [fixture(path, table_text(rows)) for path, rows in names.rng.sample(sorted(parts.items()), len(parts))],
        out,
        "".join(table_text(parts[path]) for path in sorted(parts)),
        asks=[
            f"Join all .{ext} files of {home}, in order of their names, to the one file {shown(out)}.",
            f"{home} holds a table in .{ext} pieces, numbered by name. Put them together as {shown(out)}.",
            f"Write the contents of every .{ext} file in {home}, sorted by name, one after another to {shown(out)}.",
        ],
        solution=[f"cat {home}/*.{ext} > {quote(out)}"],
    )


def stack_with_one_header(names: Names) -> Unit:
    """Two tables with the same headings, one after the other, with one line of headings."""
    first, second, out = names.file("csv"), names.file("csv"), names.file("csv")
    heads, one, two = names.words(3), some_rows(names, 3, 3, 4), some_rows(names, 3, 3, 4)
    return saving_unit(
        names,
        [fixture(first, table_text([heads, *one])), fixture(second, table_text([heads, *two]))],
        out,
        table_text([heads, *one, *two]),
        asks=[
            f"{shown(first)} and {shown(second)} have the same heading line. Join them in this order as {shown(out)}, "
            f"with the headings only once.",
            f"Write {shown(first)} to {shown(out)} and add {shown(second)} without its first line.",
            f"Make {shown(out)} from {shown(first)}, then {shown(second)}; leave out the headings of {shown(second)}.",
        ],
        solution=[f"cp {quote(first)} {quote(out)}", f"tail -n +2 {quote(second)} >> {quote(out)}"],
    )


def common_lines(names: Names) -> Unit:
    """Lines of one file that another has, or has not."""
    first, second, out = names.file("txt"), names.file("txt"), names.file("txt")
    lines = names.filler(9)
    left, right = names.rng.sample(lines[:6], 6), names.rng.sample(lines[3:], 6)
    verb, options, kept = names.pick(
        [
            ("are also in", "-Fxf", [line for line in right if line in left]),
            ("are not in", "-vFxf", [line for line in right if line not in left]),
        ]
    )
    return saving_unit(
        names,
        [fixture(first, text_of(left)), fixture(second, text_of(right))],
        out,
        text_of(kept),
        asks=[
            f"Save the lines of {shown(second)} that {verb} {shown(first)} as {shown(out)}, in their order.",
            f"Compare two files: lines of {shown(second)} that {verb} {shown(first)} go to {shown(out)}.",
            f"Which lines of {shown(second)} {verb} {shown(first)}? Write them to {shown(out)}.",
        ],
        solution=[f"grep {options} {quote(first)} {quote(second)} > {quote(out)}"],
    )


def join_by_key(names: Names) -> Unit:
    """Two tables with the same keys in another order, matched by the first column."""
    first, second, out = names.file("csv"), names.file("csv"), names.file("csv")
    count = names.number(3, 5)
    keys, cells = names.filler(count), names.filler(count)
    values = dict(zip(keys, map(str, names.numbers(count)), strict=True))
    right = [[key, values[key]] for key in names.rng.sample(keys, count)]
    left = [[key, cell] for key, cell in zip(keys, cells, strict=True)]
    return saving_unit(
        names,
        [fixture(first, table_text(left)), fixture(second, table_text(right))],
        out,
        table_text([[*row, values[row[0]]] for row in left]),
        asks=[
            f"Match {shown(first)} and {shown(second)} by column 1 and write the rows of {shown(first)}, each with "
            f"column 2 of {shown(second)} added, to {shown(out)}. All are comma separated.",
            f"Add to each row of {shown(first)} the column 2 that {shown(second)} has for the same column 1; save the "
            f"comma separated result as {shown(out)}.",
            f"Join the comma separated {shown(first)} and {shown(second)} on column 1 into {shown(out)}; the order is "
            f"that of {shown(first)}.",
        ],
        solution=[
            f"awk -F, 'NR == FNR {{a[$1] = $2; next}} {{print $0 \",\" a[$1]}}' {quote(second)} {quote(first)}"
            f" > {quote(out)}"
        ],
    )


SHAPES: dict[str, list[Shape]] = {
    "join_tables": [
        paste_columns, stack_files, append_file, join_parts, stack_with_one_header, common_lines, join_by_key,
    ],
}  # fmt: skip
