"""Worlds in which columns of a table are picked."""

from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of

Rows = list[list[str]]
_SEPARATORS = [(",", "csv", "comma", "-d, "), ("\t", "tsv", "tab", ""), (":", "dat", "colon", "-d: ")]


def some_rows(names: Names, width: int, low: int = 4, high: int = 7) -> Rows:
    """Rows whose first cells are different words, the last a number, the others words."""
    count = names.number(low, high)
    keys, values = names.filler(count), names.numbers(count, 5, 95)
    return [[key, *names.filler(width - 2), str(value)] for key, value in zip(keys, values, strict=True)]


def table_text(rows: Rows, separator: str = ",") -> str:
    """The rows as a file's content, their cells separated."""
    return text_of(separator.join(row) for row in rows)


def cut_one(names: Names) -> Unit:
    """One column of a table."""
    separator, ext, kind, option = names.pick(_SEPARATORS)
    path, out = names.path(ext, names.number(0, 1)), names.file("txt")
    rows = some_rows(names, names.number(3, 4))
    column = names.number(1, len(rows[0]))
    return saving_unit(
        names,
        [fixture(path, table_text(rows, separator))],
        out,
        text_of(row[column - 1] for row in rows),
        asks=[
            f"Save column {column} of the {kind} separated table {shown(path)} as {shown(out)}.",
            f"The cells of {shown(path)} are separated by a {kind}. Write column {column} of it to {shown(out)}.",
            f"Write only column {column} of {shown(path)} ({kind} separated) to {shown(out)}, one value per line.",
        ],
        solution=[f"cut {option}-f{column} {quote(path)} > {quote(out)}"],
    )


def cut_some(names: Names) -> Unit:
    """Two columns or a range of columns, in their order."""
    separator, ext, kind, option = names.pick(_SEPARATORS)
    path, out = names.path(ext, names.number(0, 1)), names.file(ext)
    rows = some_rows(names, 4)
    what, fields, chosen = names.pick(
        [
            ("columns 1 and 3", "1,3", [0, 2]), ("columns 1 and 4", "1,4", [0, 3]), ("columns 2 and 4", "2,4", [1, 3]),
            ("columns 1 to 3", "1-3", [0, 1, 2]), ("columns 2 to 4", "2-4", [1, 2, 3]),
        ]
    )  # fmt: skip
    return saving_unit(
        names,
        [fixture(path, table_text(rows, separator))],
        out,
        table_text([[row[index] for index in chosen] for row in rows], separator),
        asks=[
            f"Save {what} of {shown(path)}, a {kind} separated table, as {shown(out)} in the same format.",
            f"From the {kind} separated {shown(path)}, only {what} are needed. Write them to {shown(out)}.",
            f"{shown(out)} shall hold {what} of {shown(path)}; both use a {kind} between cells.",
        ],
        solution=[f"cut {option}-f{fields} {quote(path)} > {quote(out)}"],
    )


def cut_reordered(names: Names) -> Unit:
    """Two columns of a table in the opposite order."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    rows = some_rows(names, 3)
    first, second = names.pick([(2, 1), (3, 1), (3, 2)])
    commas = names.number(0, 1)
    kind, separator, option = ("comma", ",", "-F, ") if commas else ("space", " ", "")
    glue = '","' if commas else '" "'
    return saving_unit(
        names,
        [fixture(path, table_text(rows, separator))],
        out,
        table_text([[row[first - 1], row[second - 1]] for row in rows], separator),
        asks=[
            f"Write column {first}, then column {second} of {shown(path)} to {shown(out)}, {kind} separated as there.",
            f"Turn columns around: {shown(out)} gets column {first} of {shown(path)} first, then column {second}, "
            f"with a {kind} between. The cells of {shown(path)} are separated by a {kind}, too.",
            f"{shown(path)} is {kind} separated. Save its columns {first} and {second}, in that order, as {shown(out)} "
            f"with a {kind} between.",
        ],
        solution=[f"awk {option}'{{print ${first} {glue} ${second}}}' {quote(path)} > {quote(out)}"],
    )


def cut_without_header(names: Names) -> Unit:
    """One column without the line of headings."""
    path, out = names.path("csv", names.number(0, 1)), names.file("txt")
    heads, rows = names.words(3), some_rows(names, 3)
    column = names.number(1, 3)
    title = heads[column - 1]
    return saving_unit(
        names,
        [fixture(path, table_text([heads, *rows]))],
        out,
        text_of(row[column - 1] for row in rows),
        asks=[
            f"Save the values of column {column} ({title}) of {shown(path)} as {shown(out)}, without the heading.",
            f"{shown(path)} is comma separated and starts with headings. Write column {column}, without its heading "
            f"{title}, to {shown(out)}.",
            f"Leave out the first line of {shown(path)} and write comma separated column {column} to {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"tail -n +2 {quote(path)} | cut -d, -f{column} > {quote(out)}",
                    f"sed 1d {quote(path)} | cut -d, -f{column} > {quote(out)}",
                ]
            )
        ],
    )


def cut_of_each(names: Names) -> Unit:
    """One column of all tables of a directory."""
    home, out = names.directory(), names.file("txt")
    tables = {f"{home}/{names.file('csv')}": some_rows(names, 3, 3, 4) for _ in range(names.number(2, 3))}
    column = names.number(1, 3)
    return saving_unit(
        names,
        [fixture(path, table_text(rows)) for path, rows in tables.items()],
        out,
        text_of(row[column - 1] for path in sorted(tables) for row in tables[path]),
        asks=[
            f"Write column {column} of all .csv files in {home}, one file after another by name, to {shown(out)}.",
            f"The .csv files of {home} are comma separated. Collect column {column} of each, in order of file name, "
            f"in {shown(out)}.",
            f"{shown(out)} shall hold column {column} of every comma separated .csv file of {home}, by file name.",
        ],
        solution=[
            names.pick(
                [
                    f"cut -d, -f{column} {home}/*.csv > {quote(out)}",
                    f"cat {home}/*.csv | cut -d, -f{column} > {quote(out)}",
                ]
            )
        ],
    )


SHAPES: dict[str, list[Shape]] = {
    "cut_columns": [cut_one, cut_some, cut_reordered, cut_without_header, cut_of_each],
}
