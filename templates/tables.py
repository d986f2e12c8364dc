"""Make worlds of tables: picking columns, filtering rows, joining.

    from templates.tables import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing

Neither base image has `join` or `comm`: tables are combined with paste, cat, grep and awk.
"""

from templates.world import Names, Shape, Unit, fixture, quote, saved, shown, text_of

Rows = list[list[str]]
_SEPARATORS = [(",", "csv", "comma", "-d, "), ("\t", "tsv", "tab", ""), (":", "dat", "colon", "-d: ")]


def _rows(names: Names, width: int, low: int = 4, high: int = 7) -> Rows:
    """Rows whose first cells are different words, the last a number, the others words."""
    count = names.number(low, high)
    keys, values = names.filler(count), names.numbers(count, 5, 95)
    return [[key, *names.filler(width - 2), str(value)] for key, value in zip(keys, values, strict=True)]


def _text(rows: Rows, separator: str = ",") -> str:
    return text_of(separator.join(row) for row in rows)


def cut_one(names: Names) -> Unit:
    """One column of a table."""
    separator, ext, kind, option = names.pick(_SEPARATORS)
    path, out = names.path(ext, names.number(0, 1)), names.file("txt")
    rows = _rows(names, names.number(3, 4))
    column = names.number(1, len(rows[0]))
    return saved(
        names,
        [fixture(path, _text(rows, separator))],
        out,
        text_of(row[column - 1] for row in rows),
        asks=[
            f"Save column {column} of the {kind} separated table {shown(path)} as {shown(out)}.",
            f"The cells of {shown(path)} are separated by a {kind}. Write column {column} of it to {shown(out)}.",
            f"Write only column {column} of {shown(path)} ({kind} separated) to {shown(out)}, one value per line.",
        ],
        other=f"how to extract field {column} from {shown(path)}, fields split at each {kind}, to {shown(out)}",
        solution=[f"cut {option}-f{column} {quote(path)} > {quote(out)}"],
    )


def cut_some(names: Names) -> Unit:
    """Two columns or a range of columns, in their order."""
    separator, ext, kind, option = names.pick(_SEPARATORS)
    path, out = names.path(ext, names.number(0, 1)), names.file(ext)
    rows = _rows(names, 4)
    what, fields, chosen = names.pick(
        [
            ("columns 1 and 3", "1,3", [0, 2]), ("columns 1 and 4", "1,4", [0, 3]), ("columns 2 and 4", "2,4", [1, 3]),
            ("columns 1 to 3", "1-3", [0, 1, 2]), ("columns 2 to 4", "2-4", [1, 2, 3]),
        ]
    )  # fmt: skip
    return saved(
        names,
        [fixture(path, _text(rows, separator))],
        out,
        _text([[row[index] for index in chosen] for row in rows], separator),
        asks=[
            f"Save {what} of {shown(path)}, a {kind} separated table, as {shown(out)} in the same format.",
            f"From the {kind} separated {shown(path)}, only {what} are needed. Write them to {shown(out)}.",
            f"{shown(out)} shall hold {what} of {shown(path)}; both use a {kind} between cells.",
        ],
        other=f"how to reduce {shown(path)} to {what} ({kind} between fields) in {shown(out)}",
        solution=[f"cut {option}-f{fields} {quote(path)} > {quote(out)}"],
    )


def cut_reordered(names: Names) -> Unit:
    """Two columns of a table in the opposite order."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    rows = _rows(names, 3)
    first, second = names.pick([(2, 1), (3, 1), (3, 2)])
    commas = names.number(0, 1)
    kind, separator, option = ("comma", ",", "-F, ") if commas else ("space", " ", "")
    glue = '","' if commas else '" "'
    return saved(
        names,
        [fixture(path, _text(rows, separator))],
        out,
        _text([[row[first - 1], row[second - 1]] for row in rows], separator),
        asks=[
            f"Write column {first}, then column {second} of {shown(path)} to {shown(out)}, {kind} separated as there.",
            f"Turn columns around: {shown(out)} gets column {first} of {shown(path)} first, then column {second}, "
            f"with a {kind} between. The cells of {shown(path)} are separated by a {kind}, too.",
            f"{shown(path)} is {kind} separated. Save its columns {first} and {second}, in that order, as {shown(out)} "
            f"with a {kind} between.",
        ],
        other=f"how to swap fields with awk: {first} before {second} of {shown(path)} ({kind}) to {shown(out)}",
        solution=[f"awk {option}'{{print ${first} {glue} ${second}}}' {quote(path)} > {quote(out)}"],
    )


def cut_without_header(names: Names) -> Unit:
    """One column without the line of headings."""
    path, out = names.path("csv", names.number(0, 1)), names.file("txt")
    heads, rows = names.words(3), _rows(names, 3)
    column = names.number(1, 3)
    title = heads[column - 1]
    return saved(
        names,
        [fixture(path, _text([heads, *rows]))],
        out,
        text_of(row[column - 1] for row in rows),
        asks=[
            f"Save the values of column {column} ({title}) of {shown(path)} as {shown(out)}, without the heading.",
            f"{shown(path)} is comma separated and starts with headings. Write column {column}, without its heading "
            f"{title}, to {shown(out)}.",
            f"Leave out the first line of {shown(path)} and write comma separated column {column} to {shown(out)}.",
        ],
        other=f"how to get field {column} of the csv {shown(path)} minus the header {title} in {shown(out)}",
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
    tables = {f"{home}/{names.file('csv')}": _rows(names, 3, 3, 4) for _ in range(names.number(2, 3))}
    column = names.number(1, 3)
    return saved(
        names,
        [fixture(path, _text(rows)) for path, rows in tables.items()],
        out,
        text_of(row[column - 1] for path in sorted(tables) for row in tables[path]),
        asks=[
            f"Write column {column} of all .csv files in {home}, one file after another by name, to {shown(out)}.",
            f"The .csv files of {home} are comma separated. Collect column {column} of each, in order of file name, "
            f"in {shown(out)}.",
            f"{shown(out)} shall hold column {column} of every comma separated .csv file of {home}, by file name.",
        ],
        other=f"how to cut field {column} out of many csv tables in {home} into one {shown(out)}",
        solution=[
            names.pick(
                [
                    f"cut -d, -f{column} {home}/*.csv > {quote(out)}",
                    f"cat {home}/*.csv | cut -d, -f{column} > {quote(out)}",
                ]
            )
        ],
    )


def rows_by_number(names: Names) -> Unit:
    """Rows whose number is above or below a limit."""
    path, out, width = names.path("csv", names.number(0, 1)), names.file("csv"), names.number(2, 3)
    rows = _rows(names, width, 5, 8)
    limit = sorted(int(row[-1]) for row in rows)[len(rows) // 2]
    word, sign, kept = names.pick(
        [
            ("greater than", ">", [row for row in rows if int(row[-1]) > limit]),
            ("less than", "<", [row for row in rows if int(row[-1]) < limit]),
            ("at least", ">=", [row for row in rows if int(row[-1]) >= limit]),
        ]
    )
    return saved(
        names,
        [fixture(path, _text(rows))],
        out,
        _text(kept),
        asks=[
            f"Save the rows of {shown(path)} whose column {width} is {word} {limit} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write the rows with a column {width} {word} {limit} to {shown(out)}.",
            f"Write each row of the comma separated {shown(path)} to {shown(out)} if column {width} is {word} {limit}.",
        ],
        other=f"how to keep the csv rows of {shown(path)} where field {width} is {word} {limit}, in {shown(out)}",
        solution=[f"awk -F, '${width} {sign} {limit}' {quote(path)} > {quote(out)}"],
    )


def _labelled(names: Names, word: str) -> Rows:
    """Rows of three cells; the second is the word in two or three rows, and other rows hold it elsewhere."""
    rows = _rows(names, 3, 5, 7)
    for row in names.rng.sample(rows[1:], names.number(2, 3)):
        row[1] = word
    if rows[0][1] != word:
        rows[0][0] = word
    return rows


def rows_by_word(names: Names) -> Unit:
    """Rows with a word in one column, or those without it there."""
    path, out, word = names.path("csv", names.number(0, 1)), names.file("csv"), names.keyword()
    rows = _labelled(names, word)
    verb, sign, kept = names.pick(
        [
            ("is", "==", [row for row in rows if row[1] == word]),
            ("is not", "!=", [row for row in rows if row[1] != word]),
        ]
    )
    return saved(
        names,
        [fixture(path, _text(rows))],
        out,
        _text(kept),
        asks=[
            f"Save the rows of {shown(path)} whose second column {verb} {word} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write the rows where column 2 {verb} {word} to {shown(out)}.",
            f"{shown(out)} shall hold every row of the comma separated {shown(path)} in which column 2 {verb} {word}.",
        ],
        other=f"how to select csv records of {shown(path)} whose field 2 {verb} {word} into {shown(out)}",
        solution=[f"awk -F, '$2 {sign} \"{word}\"' {quote(path)} > {quote(out)}"],
    )


def rows_by_first(names: Names) -> Unit:
    """Rows of a table without awk: those that start with a word and a comma."""
    path, out, word = names.path("csv", names.number(0, 1)), names.file("csv"), names.keyword()
    rows = [[word, *row[1:]] if index % 3 == 0 else row for index, row in enumerate(_rows(names, 3, 6, 8))]
    rows[1][1] = word
    rows = names.rng.sample(rows, len(rows))
    verb, option, kept = names.pick(
        [
            ("is", "", [row for row in rows if row[0] == word]),
            ("is not", "-v ", [row for row in rows if row[0] != word]),
        ]
    )
    return saved(
        names,
        [fixture(path, _text(rows))],
        out,
        _text(kept),
        asks=[
            f"Save the rows of {shown(path)} whose first column {verb} {word} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write the rows where column 1 {verb} {word} to {shown(out)}.",
            f"Look at column 1 of comma separated {shown(path)}: rows in which it {verb} {word} go to {shown(out)}.",
        ],
        other=f"how to grep the csv {shown(path)} for records whose leading field {verb} {word}, to {shown(out)}",
        solution=[f"grep {option}'^{word},' {quote(path)} > {quote(out)}"],
    )


def rows_with_header(names: Names) -> Unit:
    """Rows above a limit, the line of headings kept."""
    path, out = names.path("csv", names.number(0, 1)), names.file("csv")
    heads, rows = names.words(3), _rows(names, 3, 5, 7)
    limit = sorted(int(row[-1]) for row in rows)[len(rows) // 2]
    word, sign = names.pick([("greater than", ">"), ("less than", "<")])
    kept = [row for row in rows if (int(row[-1]) > limit if sign == ">" else int(row[-1]) < limit)]
    return saved(
        names,
        [fixture(path, _text([heads, *rows]))],
        out,
        _text([heads, *kept]),
        asks=[
            f"Save the heading line of {shown(path)} and the rows with {heads[2]} (column 3) {word} {limit} as "
            f"{shown(out)}.",
            f"{shown(path)} is comma separated with headings. Keep the headings and the rows whose column 3 is {word} "
            f"{limit}; write them to {shown(out)}.",
            f"Write to {shown(out)} the first line of {shown(path)} and below it rows with column 3 {word} {limit}.",
        ],
        other=f"how to filter the csv {shown(path)} by field 3 {word} {limit} with its header, into {shown(out)}",
        solution=[f"awk -F, 'NR == 1 || $3 {sign} {limit}' {quote(path)} > {quote(out)}"],
    )


def names_of_rows(names: Names) -> Unit:
    """One column of the rows that satisfy a condition."""
    path, out, word = names.path("csv", names.number(0, 1)), names.file("txt"), names.keyword()
    rows = _labelled(names, word)
    column = names.pick([1, 3])
    return saved(
        names,
        [fixture(path, _text(rows))],
        out,
        text_of(row[column - 1] for row in rows if row[1] == word),
        asks=[
            f"From the rows of {shown(path)} whose column 2 is {word}, save column {column} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write column {column} of rows with {word} in column 2 to {shown(out)}.",
            f"{shown(out)} shall list column {column} of those rows of {shown(path)} that have {word} as column 2.",
        ],
        other=f"how to print field {column} where field 2 equals {word} in {shown(path)}, to {shown(out)}",
        solution=[f"awk -F, '$2 == \"{word}\" {{print ${column}}}' {quote(path)} > {quote(out)}"],
    )


def paste_columns(names: Names) -> Unit:
    """Two lists side by side."""
    first, second, out = names.file("txt"), names.file("txt"), names.file(names.pick(["csv", "tsv", "txt"]))
    count = names.number(4, 6)
    left, right = names.filler(count), [str(number) for number in names.numbers(count)]
    kind, separator, option = names.pick([("comma", ",", "-d, "), ("tab", "\t", ""), ("colon", ":", "-d: ")])
    return saved(
        names,
        [fixture(first, text_of(left)), fixture(second, text_of(right))],
        out,
        text_of(f"{a}{separator}{b}" for a, b in zip(left, right, strict=True)),
        asks=[
            f"Put the lines of {shown(first)} and {shown(second)} side by side, a {kind} between, into {shown(out)}.",
            f"Make {shown(out)} with two columns, {kind} separated: {shown(first)} first, {shown(second)} second.",
            f"Each line of {shown(out)} is a line of {shown(first)}, a {kind}, and the same line of {shown(second)}.",
        ],
        other=f"how to glue {shown(first)} to {shown(second)} line by line with a {kind}, saved as {shown(out)}",
        solution=[f"paste {option}{quote(first)} {quote(second)} > {quote(out)}"],
    )


def stack_files(names: Names) -> Unit:
    """Two named files, one after the other."""
    ext = names.pick(["txt", "csv", "log"])
    first, second, out = names.path(ext, names.number(0, 1)), names.path(ext, names.number(0, 1)), names.file(ext)
    one, two = names.text(3, 4), names.text(3, 4)
    return saved(
        names,
        [fixture(first, one), fixture(second, two)],
        out,
        one + two,
        asks=[
            f"Join {shown(first)} and {shown(second)}, in this order, to one file {shown(out)}.",
            f"Write {shown(first)} followed by {shown(second)} to {shown(out)}.",
            f"{shown(out)} shall hold the lines of {shown(first)} and after them those of {shown(second)}.",
        ],
        other=f"how to concatenate {shown(first)} with {shown(second)} giving {shown(out)}",
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
        instruction=f"how to grow {shown(target)} with everything from {shown(source)} by appending",
        solution=[f"cat {quote(source)} >> {quote(target)}"],
        after=[fixture(target, text + added)],
    )


def join_parts(names: Names) -> Unit:
    """All parts of a directory, in order of name."""
    home, out, ext = names.directory(), names.file("csv"), names.pick(["csv", "part", "txt"])
    parts = {f"{home}/{number:02d}-{names.file(ext)}": _rows(names, 3, 2, 3) for number in range(1, names.number(3, 4))}
    return saved(
        names,
        [fixture(path, _text(rows)) for path, rows in names.rng.sample(sorted(parts.items()), len(parts))],
        out,
        "".join(_text(parts[path]) for path in sorted(parts)),
        asks=[
            f"Join all .{ext} files of {home}, in order of their names, to the one file {shown(out)}.",
            f"{home} holds a table in .{ext} pieces, numbered by name. Put them together as {shown(out)}.",
            f"Write the contents of every .{ext} file in {home}, sorted by name, one after another to {shown(out)}.",
        ],
        other=f"how to concatenate the .{ext} pieces in {home} into the whole {shown(out)}",
        solution=[f"cat {home}/*.{ext} > {quote(out)}"],
    )


def stack_with_one_header(names: Names) -> Unit:
    """Two tables with the same headings, one after the other, with one line of headings."""
    first, second, out = names.file("csv"), names.file("csv"), names.file("csv")
    heads, one, two = names.words(3), _rows(names, 3, 3, 4), _rows(names, 3, 3, 4)
    return saved(
        names,
        [fixture(first, _text([heads, *one])), fixture(second, _text([heads, *two]))],
        out,
        _text([heads, *one, *two]),
        asks=[
            f"{shown(first)} and {shown(second)} have the same heading line. Join them in this order as {shown(out)}, "
            f"with the headings only once.",
            f"Write {shown(first)} to {shown(out)} and add {shown(second)} without its first line.",
            f"Make {shown(out)} from {shown(first)}, then {shown(second)}; leave out the headings of {shown(second)}.",
        ],
        other=f"how to merge csv tables {shown(first)} {shown(second)} with a single header in {shown(out)}",
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
    return saved(
        names,
        [fixture(first, text_of(left)), fixture(second, text_of(right))],
        out,
        text_of(kept),
        asks=[
            f"Save the lines of {shown(second)} that {verb} {shown(first)} as {shown(out)}, in their order.",
            f"Compare two files: lines of {shown(second)} that {verb} {shown(first)} go to {shown(out)}.",
            f"Which lines of {shown(second)} {verb} {shown(first)}? Write them to {shown(out)}.",
        ],
        other=f"how to list in {shown(out)} whatever lines of {shown(second)} {verb} the file {shown(first)}",
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
    return saved(
        names,
        [fixture(first, _text(left)), fixture(second, _text(right))],
        out,
        _text([[*row, values[row[0]]] for row in left]),
        asks=[
            f"Match {shown(first)} and {shown(second)} by column 1 and write the rows of {shown(first)}, each with "
            f"column 2 of {shown(second)} added, to {shown(out)}. All are comma separated.",
            f"Add to each row of {shown(first)} the column 2 that {shown(second)} has for the same column 1; save the "
            f"comma separated result as {shown(out)}.",
            f"Join the comma separated {shown(first)} and {shown(second)} on column 1 into {shown(out)}; the order is "
            f"that of {shown(first)}.",
        ],
        other=f"how to look up keys of {shown(first)} in {shown(second)} with awk for a joined {shown(out)}",
        solution=[
            f"awk -F, 'NR == FNR {{a[$1] = $2; next}} {{print $0 \",\" a[$1]}}' {quote(second)} {quote(first)}"
            f" > {quote(out)}"
        ],
    )


SHAPES: dict[str, list[Shape]] = {
    "cut_columns": [cut_one, cut_some, cut_reordered, cut_without_header, cut_of_each],
    "filter_rows": [rows_by_number, rows_by_word, rows_by_first, rows_with_header, names_of_rows],
    "join_tables": [
        paste_columns, stack_files, append_file, join_parts, stack_with_one_header, common_lines, join_by_key,
    ],
}  # fmt: skip
