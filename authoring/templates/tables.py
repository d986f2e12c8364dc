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
            f"Since {shown(path)} uses a {kind} as separator, split it there and send column {column} to {shown(out)}.",
            f"Isolate field {column} of each row in {shown(path)} ({kind} separated); {shown(out)} gets the values.",
            f"With the {kind} as separator, export field {column} of each {shown(path)} line to {shown(out)}.",
            f"Collect in {shown(out)}, row by row, cell {column} of {shown(path)}; a {kind} parts the cells.",
            f"Field {column} of all lines in {shown(path)} belongs in {shown(out)}. The delimiter is a {kind}.",
            f"List column {column} of {shown(path)} in {shown(out)}, one value a line (separator: {kind}).",
            f"Given a {kind} between the cells of {shown(path)}, output cell {column} of each row to {shown(out)}.",
            f"Pull what is at position {column} in the {kind} separated rows of {shown(path)} into {shown(out)}.",
            f"Can {shown(out)} be made to hold column {column} of {shown(path)} alone? The separator is a {kind}.",
            f"Dump column {column} of {shown(path)} to {shown(out)}, treating a {kind} as the delimiter.",
            f"Duplicate nothing of {shown(path)} but its {kind} separated field {column}, and that as {shown(out)}.",
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
            f"Extract {what} of {shown(path)} to {shown(out)}; both are {kind} separated.",
            f"Trim the {kind} separated rows of {shown(path)} to {what} for {shown(out)}, same separator.",
            f"Narrow the table {shown(path)} to {what} in a new file {shown(out)}. Delimiter, old and new: {kind}.",
            f"With a {kind} as separator on both sides, transfer {what} of {shown(path)} to {shown(out)}.",
            f"Export {what} from {shown(path)} as {shown(out)} ({kind} separated, like the original).",
            f"Of the cells in {shown(path)}, split by a {kind}, only {what} belong in {shown(out)}, split likewise.",
            f"Omit all columns except {what} from a duplicate {shown(out)} of the {kind} separated {shown(path)}.",
            f"Write to {shown(out)} nothing but {what} of {shown(path)}, with the {kind} between cells retained.",
            f"To get {shown(out)}, select {what} from each row of {shown(path)}; a {kind} parts the cells of both.",
            f"Pull {what} from the {kind} separated {shown(path)}. They form {shown(out)}, delimiter unchanged.",
            f"Can {what} of {shown(path)} be saved as {shown(out)}? A {kind} divides the cells in either file.",
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
            f"Output column {first} and then {second} of {shown(path)} to {shown(out)}, {kind} separated both.",
            f"Reorder {shown(path)} as {shown(out)}: only column {first}, then {second}; {kind} stays separator.",
            f"Build {shown(out)} from fields {first} and {second}, in turn, of {shown(path)}; a {kind} splits both.",
            f"Using {kind} as delimiter in and out, list fields {first}, {second} of {shown(path)} in {shown(out)}.",
            f"Each line of {shown(out)}: cell {first}, {kind}, cell {second} of {kind} separated {shown(path)}.",
            f"Extract cells {first},{second}, so ordered, of {shown(path)} to {shown(out)} (separator: {kind}).",
            f"Place column {first} of {shown(path)} before {second} in {shown(out)}, {kind} separated as there.",
            f"Columns {first},{second} of {shown(path)}, in that order, make up {shown(out)}; separator: {kind}.",
            f"Flip columns: {shown(out)} gets {first}, then {second}, of {shown(path)}, both {kind} separated.",
            f"Select field {first} and, next, {second} of {shown(path)} for {shown(out)}; a {kind} parts both.",
            f"Can {shown(out)} list column {first} then {second} of {shown(path)}? Both are {kind} separated.",
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
            f"Extract column {column} of the csv file {shown(path)} to {shown(out)}, less its heading {title}.",
            f"List {title} (field {column} of the csv {shown(path)}) in {shown(out)}, without the header line.",
            f"Omit line 1 of the csv table {shown(path)} and print field {column} of the others to {shown(out)}.",
            f"Export column {column}, {title}, of the csv {shown(path)} to {shown(out)}; no header there.",
            f"Below heading {title}, the csv {shown(path)} has data (column {column}): copy it to {shown(out)}.",
            f"Pull comma separated field {column} from {shown(path)}, line 2 to the end, into {shown(out)}.",
            f"Once the header is passed, cell {column} of each csv line in {shown(path)} belongs in {shown(out)}.",
            f"Isolate {title}, column {column} of the csv {shown(path)}; {shown(out)} gets its values only.",
            f"Can {shown(out)} hold column {column} of the csv {shown(path)}, the heading {title} excluded?",
            f"Gather field {column} of the data rows in the csv {shown(path)} in {shown(out)}, but not of row 1.",
            f"Ignore the header of the csv {shown(path)}; dump column {column} of all the rest to {shown(out)}.",
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
            f"Extract column {column} of each csv file {home}/*.csv, in name order, to {shown(out)}.",
            f"Collect comma separated field {column} of {home}/*.csv in {shown(out)}, file by file in name order.",
            f"Join up column {column} of all comma separated files {home}/*.csv, by name, as {shown(out)}.",
            f"For each csv {home}/*.csv, by name, append its comma separated field {column} to a new {shown(out)}.",
            f"One list, {shown(out)}: column {column} of all tables {home}/*.csv, by name, split at commas.",
            f"Pull cell {column} from all rows of all csv tables {home}/*.csv, ordered by name, into {shown(out)}.",
            f"Combine the values in column {column} of the csv files {home}/*.csv, by name, to one {shown(out)}.",
            f"Commas divide fields in {home}/*.csv; field {column} of all these, by name, belongs in {shown(out)}.",
            f"Can {shown(out)} list column {column} of every csv table {home}/*.csv, the files in order of name?",
            f"Dump field {column} (comma as delimiter) of {home}/*.csv, in order of file name, to {shown(out)}.",
            f"Export from folder {home} column {column} of each .csv (commas inside), by name, to {shown(out)}.",
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
