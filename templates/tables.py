"""Make worlds of tables: picking columns, filtering rows.

    from templates.tables import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing
"""

from templates.world import Names, Shape, Unit, fixture, quote, saved, shown, text_of

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
    return saved(
        names,
        [fixture(path, table_text(rows, separator))],
        out,
        text_of(row[column - 1] for row in rows),
        asks=[
            f"Save column {column} of the {kind} separated table {shown(path)} as {shown(out)}.",
            f"The cells of {shown(path)} are separated by a {kind}. Write column {column} of it to {shown(out)}.",
            f"Write only column {column} of {shown(path)} ({kind} separated) to {shown(out)}, one value per line.",
        ],
        others=[
            f"how to extract field {column} from {shown(path)}, fields split at each {kind}, to {shown(out)}",
            f"Take the values of column {column} out of {shown(path)} ({kind} separated) and store them in "
            f"{shown(out)}.",
            f"{shown(out)} should have just column {column} of the table {shown(path)}, whose columns are separated "
            f"by a {kind}.",
            f"I want column {column} of {shown(path)} in {shown(out)}; there is a {kind} between the columns.",
            f"In {shown(path)} the fields of a line are separated by a {kind}. Put field {column} of each line into "
            f"{shown(out)}.",
            f"What is in column {column} of {shown(path)}? Columns are {kind} separated; write the values to "
            f"{shown(out)}, one a line.",
            f"Copy only field {column} of each row of the {kind} separated file {shown(path)} to {shown(out)}.",
            f"Of each line in {shown(path)}, split at the {kind}, only part {column} is wanted. Save these parts as "
            f"{shown(out)}.",
            f"Column {column} of {shown(path)} should be stored alone in the file {shown(out)}; a {kind} separates "
            "the cells.",
            f"Cut field {column} out of every line of {shown(path)}, where a {kind} divides the fields, into the file"
            f" {shown(out)}.",
            f"From the {kind} separated file {shown(path)}, print field {column} of all rows into {shown(out)}.",
            f"Fill {shown(out)} with what column {column} of {shown(path)} has, one value a line; columns are split at"
            f" each {kind}.",
            f"Into {shown(out)} goes column {column} of the table {shown(path)} and no other. Its columns have a"
            f" {kind} between them.",
            f"Split the rows of {shown(path)} at each {kind}; part {column} alone is recorded in {shown(out)}, row by"
            " row.",
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
    return saved(
        names,
        [fixture(path, table_text(rows, separator))],
        out,
        table_text([[row[index] for index in chosen] for row in rows], separator),
        asks=[
            f"Save {what} of {shown(path)}, a {kind} separated table, as {shown(out)} in the same format.",
            f"From the {kind} separated {shown(path)}, only {what} are needed. Write them to {shown(out)}.",
            f"{shown(out)} shall hold {what} of {shown(path)}; both use a {kind} between cells.",
        ],
        others=[
            f"how to reduce {shown(path)} to {what} ({kind} between fields) in {shown(out)}",
            f"Take {what} out of {shown(path)}, where a {kind} separates the columns, and store them in {shown(out)}, "
            f"again with a {kind}.",
            f"{shown(out)} should have only {what} of the table {shown(path)}, {kind} separated as before.",
            f"I want just {what} of {shown(path)} in {shown(out)}. Both files have a {kind} between columns.",
            f"Make a smaller table {shown(out)} from {shown(path)} with {what} alone; the {kind} stays the separator.",
            f"Copy {what} of the {kind} separated file {shown(path)} to {shown(out)} and leave out all others.",
            f"In {shown(path)} there is a {kind} between cells. Put {what} into {shown(out)}, separated in the same "
            "way.",
            f"The table {shown(path)} is {kind} separated; {what} of it should be stored as the table {shown(out)}.",
            f"Cut {what} out of every line of {shown(path)} into the file {shown(out)}; a {kind} divides the cells in"
            " both.",
            f"For {shown(out)}, take the {kind} separated rows of {shown(path)} and drop all but {what} from them; the"
            " separator stays the same.",
            f"From {shown(path)}, whose cells have a {kind} between them, print {what} into {shown(out)}, where the"
            f" {kind} stays.",
            f"Into {shown(out)} go {what} of the table {shown(path)} and no others. Cells have a {kind} between them,"
            " there as here.",
            f"Fill {shown(out)} with rows of {shown(path)} reduced to {what}; fields are split, and stay split, by a"
            f" {kind}.",
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
    return saved(
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
        others=[
            f"how to swap fields with awk: {first} before {second} of {shown(path)} ({kind}) to {shown(out)}",
            f"Make {shown(out)} from {shown(path)} with two columns: column {first} and after it column {second}, "
            f"{kind} separated like {shown(path)}.",
            f"Print column {first} before column {second} for each line of {shown(path)} and save that as "
            f"{shown(out)}; a {kind} separates the columns in both files.",
            f"I want {shown(out)} to have column {first} of {shown(path)} on the left and column {second} on the "
            f"right. Both tables are {kind} separated.",
            f"The columns of {shown(path)} are separated by a {kind}. For each row write field {first}, a {kind} and "
            f"field {second} to {shown(out)}.",
            f"{shown(out)} should have the columns {first} and {second} of the {kind} separated {shown(path)}, column "
            f"{first} in front, with a {kind} after it.",
            f"Take columns {first} and {second} from {shown(path)} and store them in this order in {shown(out)}; both "
            f"files are {kind} separated.",
            f"Change the order of columns: in {shown(out)}, field {first} of {shown(path)} comes before field "
            f"{second}. Both files have a {kind} between fields.",
            f"Print field {first}, then a {kind}, then field {second} of every row of {shown(path)} into {shown(out)};"
            f" a {kind} divides fields in {shown(path)}, too.",
            f"Into {shown(out)} go two columns of {shown(path)}: on the left column {first}, on the right column"
            f" {second}. Cells have a {kind} between them, there as here.",
            f"Rearrange the {kind} separated table {shown(path)}: {shown(out)} has only its column {first} and, behind"
            f" that, its column {second}, with the same separator.",
            f"For every row of {shown(path)}, cells split by a {kind}, record cell {first} ahead of cell {second} in"
            f" {shown(out)}, a {kind} between the two.",
            f"Bring column {first} of {shown(path)} in front of column {second} and drop the rest; the new table is"
            f" {shown(out)}. Both tables are split by a {kind}.",
        ],
        solution=[f"awk {option}'{{print ${first} {glue} ${second}}}' {quote(path)} > {quote(out)}"],
    )


def cut_without_header(names: Names) -> Unit:
    """One column without the line of headings."""
    path, out = names.path("csv", names.number(0, 1)), names.file("txt")
    heads, rows = names.words(3), some_rows(names, 3)
    column = names.number(1, 3)
    title = heads[column - 1]
    return saved(
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
        others=[
            f"how to get field {column} of the csv {shown(path)} minus the header {title} in {shown(out)}",
            f"Take column {column} of the comma separated file {shown(path)}, drop its header {title}, and store the "
            f"values in {shown(out)}.",
            f"{shown(out)} should list the values of {title}, column {column} of the csv file {shown(path)}, without "
            "the header line.",
            f"I want column {column} ({title}) of the table {shown(path)} in {shown(out)}, data only, no header; "
            "fields are split by commas.",
            f"The first line of {shown(path)} has column names. Put what is in column {column} after that line into "
            f"{shown(out)}; a comma separates the columns.",
            f"Copy field {column} of each row of {shown(path)} (comma separated) to {shown(out)}, all rows but the "
            "header line.",
            f"What values are there for {title} in {shown(path)}? It is column {column}, comma separated; write them "
            f"to {shown(out)} and leave out the heading.",
            f"Skip the header of the csv table {shown(path)} and save field {column}, called {title}, of all other "
            f"lines as {shown(out)}.",
            f"Cut field {column} out of the csv file {shown(path)} from line 2 on, since line 1 has the headings, and"
            f" store it in {shown(out)}.",
            f"From {shown(path)}, split at commas, print the {title} values (column {column}) into {shown(out)}, but"
            " not the heading itself.",
            f"Drop the header line of {shown(path)}; what the other lines have in field {column} ({title}) is recorded"
            f" in {shown(out)}. Commas divide the fields.",
            f"Into {shown(out)} goes column {column} of the csv table {shown(path)}, one value a line. The heading"
            f" {title} is not among them.",
            f"Fill {shown(out)} with what {shown(path)} has for {title}: cell {column} of every row but the top one,"
            " with the headings, cells split by commas.",
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
    return saved(
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
        others=[
            f"how to cut field {column} out of many csv tables in {home} into one {shown(out)}",
            f"Go through the .csv files in the folder {home}, sorted by name, and store column {column} of each in "
            f"{shown(out)}; commas separate the columns.",
            f"{shown(out)} should have the values of column {column} from every .csv table in {home}, file after file "
            "by name. The tables are comma separated.",
            f"I want column {column} of all tables {home}/*.csv, comma separated, together in {shown(out)}, by file "
            "name.",
            f"From each comma separated .csv file in directory {home} take field {column}, and put all of these, file "
            f"by file, into {shown(out)}.",
            f"The directory {home} has comma separated .csv files. Write field {column} of all their rows, by file "
            f"name, to the one file {shown(out)}.",
            f"Cut column {column} from all .csv files of {home} (split at the comma, files sorted by name) and save "
            f"it as {shown(out)}.",
            f"What is in column {column} of the .csv files of {home}? Copy these values, one file after the other by "
            f"name, to {shown(out)}; a comma separates columns.",
            f"Cut field {column}, split at commas, out of every .csv table in {home} and gather the values in"
            f" {shown(out)}, tables taken in order of name.",
            f"From {home}/*.csv, one table after another by name, print column {column} into {shown(out)}; commas"
            " divide the columns.",
            f"Into {shown(out)} goes column {column} of all .csv tables in {home}, whose names give the order. Their"
            " cells have commas between them.",
            f"Read the .csv files in the folder {home} by name and record cell {column} of every comma separated row"
            f" in one file, {shown(out)}.",
            f"Fill {shown(out)} with what the .csv tables of {home} have in column {column}, table after table by"
            " name; their columns are split by commas.",
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
    return saved(
        names,
        [fixture(path, table_text(rows))],
        out,
        table_text(kept),
        asks=[
            f"Save the rows of {shown(path)} whose column {width} is {word} {limit} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write the rows with a column {width} {word} {limit} to {shown(out)}.",
            f"Write each row of the comma separated {shown(path)} to {shown(out)} if column {width} is {word} {limit}.",
        ],
        others=[
            f"how to keep the csv rows of {shown(path)} where field {width} is {word} {limit}, in {shown(out)}",
            f"Keep the rows of the csv file {shown(path)} where column {width} is {word} {limit}; store them in "
            f"{shown(out)}.",
            f"{shown(out)} should have only those lines of {shown(path)} with a value {word} {limit} in column "
            f"{width}; a comma separates the columns.",
            f"I want the rows of the comma separated table {shown(path)} in {shown(out)} if their field {width} is "
            f"{word} {limit}.",
            f"Look at column {width} of {shown(path)}, a comma separated table. Rows with a value {word} {limit} "
            f"there are copied to {shown(out)}.",
            f"Filter the table {shown(path)} by column {width}: values {word} {limit} stay. Save the whole rows as "
            f"{shown(out)}; cells are split by commas.",
            f"Which rows in {shown(path)} have a value {word} {limit} in column {width}? Put them into {shown(out)} "
            "unchanged. Columns are comma separated.",
            f"In the csv table {shown(path)}, take all lines with column {width} {word} {limit} and write them to "
            f"{shown(out)}.",
            f"Copy from the csv file {shown(path)} to {shown(out)} all rows that have a number {word} {limit} in field"
            f" {width}.",
            f"For {shown(out)}, leave out every row of the csv table {shown(path)} unless its field {width} is {word}"
            f" {limit}.",
            f"Into {shown(out)} go those rows of {shown(path)}, whole, that have a value {word} {limit} as column"
            f" {width}. Commas divide the columns.",
            f"Test field {width} of every line in {shown(path)}, fields split at commas: if it is {word} {limit},"
            f" record the line in {shown(out)}.",
            f"Pick out of {shown(path)}, a table split at commas, the lines in which cell {width} is {word} {limit};"
            f" {shown(out)} is the file for them.",
        ],
        solution=[f"awk -F, '${width} {sign} {limit}' {quote(path)} > {quote(out)}"],
    )


def _labelled(names: Names, word: str) -> Rows:
    """Rows of three cells; the second is the word in two or three rows, and other rows hold it elsewhere."""
    rows = some_rows(names, 3, 5, 7)
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
        [fixture(path, table_text(rows))],
        out,
        table_text(kept),
        asks=[
            f"Save the rows of {shown(path)} whose second column {verb} {word} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write the rows where column 2 {verb} {word} to {shown(out)}.",
            f"{shown(out)} shall hold every row of the comma separated {shown(path)} in which column 2 {verb} {word}.",
        ],
        others=[
            f"how to select csv records of {shown(path)} whose field 2 {verb} {word} into {shown(out)}",
            f"Keep the lines of the csv file {shown(path)} in which field 2 {verb} {word}, and store them in "
            f"{shown(out)}.",
            f"{shown(out)} should have just the rows of {shown(path)} with a column 2 that {verb} {word}; a comma "
            "separates the columns.",
            f"I want all rows of the comma separated table {shown(path)} in {shown(out)} if their second field {verb} "
            f"{word}.",
            f"Look at the second column of {shown(path)}, comma separated. Whenever it {verb} {word}, the whole row "
            f"is copied to {shown(out)}.",
            f"Filter the table {shown(path)}: only rows where the second cell {verb} {word} go into {shown(out)}. "
            "Commas separate the cells.",
            f"Which rows in the csv table {shown(path)} fit? Column 2 {verb} {word} in these. Put them into "
            f"{shown(out)}, unchanged.",
            f"Take from {shown(path)}, a csv file, all lines where the value in column 2 {verb} {word}, and write "
            f"them to {shown(out)}.",
            f"Copy from the csv file {shown(path)} to {shown(out)} all rows in which cell 2 {verb} {word}.",
            f"For {shown(out)}, accept a row of the csv table {shown(path)} only if its second field {verb} {word}.",
            f"Into {shown(out)} go those rows of {shown(path)}, whole, whose value in column 2 {verb} {word}. Commas"
            " divide the columns.",
            f"Test the second cell of every line in {shown(path)}, cells split at commas: if it {verb} {word}, record"
            f" the line in {shown(out)}.",
            f"Pick out of {shown(path)}, a table split at commas, the lines whose field 2 {verb} {word}; {shown(out)}"
            " is the file for them.",
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
    return saved(
        names,
        [fixture(path, table_text(rows))],
        out,
        table_text(kept),
        asks=[
            f"Save the rows of {shown(path)} whose first column {verb} {word} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write the rows where column 1 {verb} {word} to {shown(out)}.",
            f"Look at column 1 of comma separated {shown(path)}: rows in which it {verb} {word} go to {shown(out)}.",
        ],
        others=[
            f"how to grep the csv {shown(path)} for records whose leading field {verb} {word}, to {shown(out)}",
            f"Keep the lines of the csv file {shown(path)} in which the first field {verb} {word}; they are stored in "
            f"{shown(out)}.",
            f"{shown(out)} should have the rows of {shown(path)} with a first column that {verb} {word}, and no other "
            "rows; columns are comma separated.",
            f"I want the rows of {shown(path)} in {shown(out)} where the word before the first comma {verb} {word}.",
            f"Go by the first cell of each row in the csv table {shown(path)}: if it {verb} {word}, copy the row to "
            f"{shown(out)}.",
            f"Filter the comma separated table {shown(path)} on column 1. Only rows where that {verb} {word} are "
            f"saved in {shown(out)}.",
            f"Which lines in {shown(path)} fit? Field 1 {verb} {word} in those, comma separated. Write the lines to "
            f"{shown(out)}.",
            f"Rows whose value in column 1 {verb} {word} should be taken from the csv table {shown(path)} and put "
            f"into {shown(out)}.",
            f"Copy from the csv file {shown(path)} to {shown(out)} all rows in which cell 1 {verb} {word}.",
            f"For {shown(out)}, accept a row of the csv table {shown(path)} only if its first field {verb} {word}.",
            f"Into {shown(out)} go those lines of {shown(path)}, whole, where the part up to the first comma, without"
            f" the comma, {verb} {word}.",
            f"Test how the rows of {shown(path)} begin, cells split at commas: if cell 1 {verb} {word}, record the row"
            f" in {shown(out)}.",
            f"Pick out of {shown(path)}, a table split at commas, the lines whose field 1 {verb} {word}; {shown(out)}"
            " is the file for them.",
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
    return saved(
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
        others=[
            f"how to filter the csv {shown(path)} by field 3 {word} {limit} with its header, into {shown(out)}",
            f"Keep the header of the csv file {shown(path)} and all rows with a value {word} {limit} in column 3; "
            f"store both in {shown(out)}.",
            f"{shown(out)} should begin with the headings of {shown(path)}, followed by those rows in which "
            f"{heads[2]} is {word} {limit} (column 3, comma separated).",
            f"I want the table {shown(path)} with its header line but only rows where field 3 is {word} {limit} in "
            f"{shown(out)}; a comma separates the fields.",
            f"Filter the comma separated table {shown(path)} by {heads[2]} in column 3: {word} {limit} stays, and so "
            f"does the line of headings. Save it as {shown(out)}.",
            f"Copy the header line of {shown(path)} to {shown(out)}, then each line whose third field is {word} "
            f"{limit}. Columns are split by commas.",
            f"Which rows of the csv table {shown(path)} have a {heads[2]} (column 3) {word} {limit}? Put them into "
            f"{shown(out)}, after the same header line.",
            f"From {shown(path)}, comma separated, take the headings and any row with {heads[2]} {word} {limit}, and "
            f"write them to {shown(out)}. {heads[2]} is column 3.",
            f"Copy the headings of the csv file {shown(path)} to {shown(out)} and, after them, all rows that have a"
            f" number {word} {limit} in field 3.",
            f"For {shown(out)}, leave out every row of {shown(path)} unless its {heads[2]} (field 3) is {word}"
            f" {limit}, but leave the header in. Commas divide the fields.",
            f"Into {shown(out)} go the header of the table {shown(path)} and those rows whose column 3, {heads[2]}, is"
            f" {word} {limit}. The cells have commas between them.",
            f"Test field 3 of every line in {shown(path)} after the header, fields split at commas: if it is {word}"
            f" {limit}, record the line in {shown(out)}, which starts with the same header.",
            f"Pick out of {shown(path)}, a table split at commas, its top line with the column names and the lines in"
            f" which cell 3, {heads[2]}, is {word} {limit}; {shown(out)} is the file for them.",
        ],
        solution=[f"awk -F, 'NR == 1 || $3 {sign} {limit}' {quote(path)} > {quote(out)}"],
    )


def names_of_rows(names: Names) -> Unit:
    """One column of the rows that satisfy a condition."""
    path, out, word = names.path("csv", names.number(0, 1)), names.file("txt"), names.keyword()
    rows = _labelled(names, word)
    column = names.pick([1, 3])
    return saved(
        names,
        [fixture(path, table_text(rows))],
        out,
        text_of(row[column - 1] for row in rows if row[1] == word),
        asks=[
            f"From the rows of {shown(path)} whose column 2 is {word}, save column {column} as {shown(out)}.",
            f"{shown(path)} is comma separated. Write column {column} of rows with {word} in column 2 to {shown(out)}.",
            f"{shown(out)} shall list column {column} of those rows of {shown(path)} that have {word} as column 2.",
        ],
        others=[
            f"how to print field {column} where field 2 equals {word} in {shown(path)}, to {shown(out)}",
            f"Look for {word} in column 2 of the csv file {shown(path)} and store column {column} of those rows in "
            f"{shown(out)}.",
            f"{shown(out)} should have just the column {column} values of the rows in {shown(path)} where field 2 is "
            f"{word}; columns are comma separated.",
            f"I want to know column {column} of each row in {shown(path)} that has {word} as its second field: one "
            f"value a line, in {shown(out)}. Commas separate fields.",
            f"Filter the comma separated table {shown(path)} for rows whose second column is {word}; of these, only "
            f"field {column} goes to {shown(out)}.",
            f"Where the second cell of a row in {shown(path)} is {word}, copy cell {column} of it to {shown(out)}. A "
            "comma separates the cells.",
            f"What is in field {column} of the csv table {shown(path)} on lines where field 2 is {word}? Write these "
            f"values to {shown(out)}.",
            f"Take the rows of {shown(path)} with the value {word} in column 2 and save their column {column} alone "
            f"as {shown(out)}; the table is comma separated.",
            f"Copy cell {column} of all rows with {word} as cell 2 from the csv file {shown(path)} to {shown(out)}.",
            f"For every row of {shown(path)} with {word} in its second field, print field {column} alone into"
            f" {shown(out)}; commas divide the fields.",
            f"Into {shown(out)} go values of column {column}, but only from rows of the csv table {shown(path)} with"
            f" {word} as column 2.",
            f"Test field 2 of every line in {shown(path)}, fields split at commas: if it is {word}, record field"
            f" {column} in {shown(out)}, without the rest of the line.",
            f"Pick out of {shown(path)}, a table split at commas, the lines whose cell 2 is {word}; {shown(out)} is"
            f" the file for their cell {column}, one value a line.",
        ],
        solution=[f"awk -F, '$2 == \"{word}\" {{print ${column}}}' {quote(path)} > {quote(out)}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "cut_columns": [cut_one, cut_some, cut_reordered, cut_without_header, cut_of_each],
    "filter_rows": [rows_by_number, rows_by_word, rows_by_first, rows_with_header, names_of_rows],
}
