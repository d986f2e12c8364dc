"""Worlds in which rows of a table are filtered."""

from authoring.templates.tables import Rows, some_rows, table_text
from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of


def rows_by_number(names: Names) -> Unit:
    """Rows whose number is above or below a limit."""
    path, out, width = names.path("csv", names.number(0, 1)), names.file("csv"), names.number(2, 3)
    rows = some_rows(names, width, 5, 8)
    limit = sorted(int(row[-1]) for row in rows)[len(rows) // 2]
    word, sign, kept = names.pick(
        [
            ("greater than", ">", [row for row in rows if int(row[-1]) > limit]),
            ("less than", "<", [row for row in rows if int(row[-1]) < limit]),
            ("at least", ">=", [row for row in rows if int(row[-1]) >= limit]),
        ]
    )
    return saving_unit(
        names,
        [fixture(path, table_text(rows))],
        out,
        table_text(kept),
        asks=[
            f"Save the rows of {shown(path)} whose column {width} is {word} {limit} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write the rows with a column {width} {word} {limit} to {shown(out)}.",
            f"Write each row of the comma separated {shown(path)} to {shown(out)} if column {width} is {word} {limit}.",
        ],
        solution=[f"awk -F, '${width} {sign} {limit}' {quote(path)} > {quote(out)}"],
    )


def _rows_with_word(names: Names, word: str) -> Rows:
    """Rows of three cells. In two or three rows the second cell is the word; other rows have it in another cell."""
    rows = some_rows(names, 3, 5, 7)
    for row in names.rng.sample(rows[1:], names.number(2, 3)):
        row[1] = word
    if rows[0][1] != word:
        rows[0][0] = word
    return rows


def rows_by_word(names: Names) -> Unit:
    """Rows with a word in one column, or those without it there."""
    path, out, word = names.path("csv", names.number(0, 1)), names.file("csv"), names.keyword()
    rows = _rows_with_word(names, word)
    verb, sign, kept = names.pick(
        [
            ("is", "==", [row for row in rows if row[1] == word]),
            ("is not", "!=", [row for row in rows if row[1] != word]),
        ]
    )
    return saving_unit(
        names,
        [fixture(path, table_text(rows))],
        out,
        table_text(kept),
        asks=[
            f"Save the rows of {shown(path)} whose second column {verb} {word} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write the rows where column 2 {verb} {word} to {shown(out)}.",
            f"{shown(out)} shall hold every row of the comma separated {shown(path)} in which column 2 {verb} {word}.",
        ],
        solution=[f"awk -F, '$2 {sign} \"{word}\"' {quote(path)} > {quote(out)}"],
    )


def rows_by_first(names: Names) -> Unit:
    """Rows of a table without awk: those that start with a word and a comma."""
    path, out, word = names.path("csv", names.number(0, 1)), names.file("csv"), names.keyword()
    rows = [[word, *row[1:]] if index % 3 == 0 else row for index, row in enumerate(some_rows(names, 3, 6, 8))]
    rows[1][1] = word
    rows = names.rng.sample(rows, len(rows))
    verb, option, kept = names.pick(
        [
            ("is", "", [row for row in rows if row[0] == word]),
            ("is not", "-v ", [row for row in rows if row[0] != word]),
        ]
    )
    return saving_unit(
        names,
        [fixture(path, table_text(rows))],
        out,
        table_text(kept),
        asks=[
            f"Save the rows of {shown(path)} whose first column {verb} {word} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write the rows where column 1 {verb} {word} to {shown(out)}.",
            f"Look at column 1 of comma separated {shown(path)}: rows in which it {verb} {word} go to {shown(out)}.",
        ],
        solution=[f"grep {option}'^{word},' {quote(path)} > {quote(out)}"],
    )


def rows_with_header(names: Names) -> Unit:
    """Rows above a limit, the line of headings kept."""
    path, out = names.path("csv", names.number(0, 1)), names.file("csv")
    heads, rows = names.words(3), some_rows(names, 3, 5, 7)
    limit = sorted(int(row[-1]) for row in rows)[len(rows) // 2]
    word, sign = names.pick([("greater than", ">"), ("less than", "<")])
    kept = [row for row in rows if (int(row[-1]) > limit if sign == ">" else int(row[-1]) < limit)]
    return saving_unit(
        names,
        [fixture(path, table_text([heads, *rows]))],
        out,
        table_text([heads, *kept]),
        asks=[
            f"Save the heading line of {shown(path)} and the rows with {heads[2]} (column 3) {word} {limit} as "
            f"{shown(out)}.",
            f"{shown(path)} is comma separated with headings. Keep the headings and the rows whose column 3 is {word} "
            f"{limit}; write them to {shown(out)}.",
            f"Write to {shown(out)} the first line of {shown(path)} and below it rows with column 3 {word} {limit}.",
        ],
        solution=[f"awk -F, 'NR == 1 || $3 {sign} {limit}' {quote(path)} > {quote(out)}"],
    )


def names_of_rows(names: Names) -> Unit:
    """One column of the rows that satisfy a condition."""
    path, out, word = names.path("csv", names.number(0, 1)), names.file("txt"), names.keyword()
    rows = _rows_with_word(names, word)
    column = names.pick([1, 3])
    return saving_unit(
        names,
        [fixture(path, table_text(rows))],
        out,
        text_of(row[column - 1] for row in rows if row[1] == word),
        asks=[
            f"From the rows of {shown(path)} whose column 2 is {word}, save column {column} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write column {column} of rows with {word} in column 2 to {shown(out)}.",
            f"{shown(out)} shall list column {column} of those rows of {shown(path)} that have {word} as column 2.",
        ],
        solution=[f"awk -F, '$2 == \"{word}\" {{print ${column}}}' {quote(path)} > {quote(out)}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "filter_rows": [rows_by_number, rows_by_word, rows_by_first, rows_with_header, names_of_rows],
}
