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
            f"Select rows of the csv file {shown(path)} with field {width} {word} {limit} for {shown(out)}.",
            f"Lines of the csv {shown(path)} move on to {shown(out)} given a value {word} {limit} in column {width}.",
            f"Retain in {shown(out)} only such rows of the csv {shown(path)} as have field {width} {word} {limit}.",
            f"If column {width} of a csv row in {shown(path)} is {word} {limit}, the row belongs in {shown(out)}.",
            f"Gather in {shown(out)} the csv records of {shown(path)} with a number {word} {limit} in cell {width}.",
            f"Duplicate the csv {shown(path)} as {shown(out)}, but only rows with field {width} {word} {limit}.",
            f"Scan the csv {shown(path)}; where field {width} is {word} {limit}, the line goes to {shown(out)}.",
            f"Only lines with column {width} {word} {limit} may pass from the csv {shown(path)} to {shown(out)}.",
            f"Print to {shown(out)} each csv row of {shown(path)} in which field {width} is {word} {limit}.",
            f"Omit from {shown(out)} any row of the csv {shown(path)} but those with field {width} {word} {limit}.",
            f"Can the csv rows of {shown(path)} with column {width} {word} {limit} be listed in {shown(out)}?",
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
            f"Select the csv rows of {shown(path)} whose column 2 {verb} {word}; send them to {shown(out)}.",
            f"Extract every line of the csv file {shown(path)} whose second cell {verb} {word} to {shown(out)}.",
            f"If field 2 of a row in the csv table {shown(path)} {verb} {word}, the row belongs in {shown(out)}.",
            f"Retain in {shown(out)} such rows of the csv {shown(path)} as have a second cell that {verb} {word}.",
            f"Gather in {shown(out)} the records of the csv {shown(path)} where field 2 {verb} {word}.",
            f"Only lines whose second column {verb} {word} may pass from the csv {shown(path)} to {shown(out)}.",
            f"Duplicate those rows of the csv table {shown(path)} whose cell 2 {verb} {word} as {shown(out)}.",
            f"Print to {shown(out)} any comma separated line of {shown(path)} whose second field {verb} {word}.",
            f"Choose by column 2: any csv row of {shown(path)} in which it {verb} {word} is listed in {shown(out)}.",
            f"Read the csv {shown(path)} and output rows, whole, to {shown(out)}, provided field 2 {verb} {word}.",
            f"Can all rows of the csv file {shown(path)} whose column 2 {verb} {word} be saved as {shown(out)}?",
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
            f"Select rows of the csv {shown(path)} whose column 1 {verb} {word} and send them to {shown(out)}.",
            f"Extract to {shown(out)} all lines of {shown(path)} whose first comma separated field {verb} {word}.",
            f"When the first column of a csv row in {shown(path)} {verb} {word}, that row belongs in {shown(out)}.",
            f"Retain in {shown(out)} nothing but those rows of the csv {shown(path)} whose field 1 {verb} {word}.",
            f"Gather records of the csv {shown(path)} whose opening cell {verb} {word}; output file: {shown(out)}.",
            f"Whole rows of the csv {shown(path)} are listed in {shown(out)}, provided that column 1 {verb} {word}.",
            f"Duplicate, as {shown(out)}, the csv lines of {shown(path)} with a leftmost field that {verb} {word}.",
            f"Print each line of the csv {shown(path)} to {shown(out)} if its first cell {verb} {word}.",
            f"Split {shown(path)} at commas; {shown(out)} gets all full lines whose field 1 {verb} {word}.",
            f"Find all rows in the csv {shown(path)} whose initial cell {verb} {word}. List them in {shown(out)}.",
            f"Can the csv rows of {shown(path)} whose first value {verb} {word} be saved as {shown(out)}?",
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
            f"Select rows of the csv {shown(path)} with field 3 {word} {limit}, plus its header, for {shown(out)}.",
            f"Extract from the csv {shown(path)} line 1 and all lines with column 3 {word} {limit} to {shown(out)}.",
            f"Retain, in {shown(out)}, the header of the csv {shown(path)} and rows with field 3 {word} {limit}.",
            f"Reduce the csv {shown(path)} to its header and rows with cell 3 {word} {limit}; save as {shown(out)}.",
            f"If field 3 of a csv row in {shown(path)} is {word} {limit}, list it in {shown(out)} below the header.",
            f"Print the top line of the csv {shown(path)} and any with field 3 {word} {limit} to {shown(out)}.",
            f"All {shown(out)} has: the header of the csv {shown(path)} and rows with field 3 {word} {limit}.",
            f"Omit from {shown(out)} rows of the csv {shown(path)} without field 3 {word} {limit}; keep the header.",
            f"Gather csv rows of {shown(path)} with field 3 {word} {limit} in {shown(out)}. On top: its header.",
            f"Can {shown(out)} have the header of the csv {shown(path)} and any row with field 3 {word} {limit}?",
            f"Duplicate the csv {shown(path)} as {shown(out)}, header first; rows need column 3 {word} {limit}.",
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
            f"Extract field {column} of all csv rows in {shown(path)} whose field 2 is {word} to {shown(out)}.",
            f"List column {column} of the csv {shown(path)} in {shown(out)}, but only if column 2 is {word}.",
            f"If field 2 of a csv line in {shown(path)} equals {word}, its field {column} belongs in {shown(out)}.",
            f"Select rows by column 2, {word}, in the csv {shown(path)}; send only column {column} to {shown(out)}.",
            f"Collect in {shown(out)} cell {column} of any csv row in {shown(path)} whose second cell is {word}.",
            f"Pull field {column} from csv {shown(path)}, only where field 2 is {word}, and save as {shown(out)}.",
            f"Only where column 2 is {word}, column {column} of the csv {shown(path)} is put into {shown(out)}.",
            f"Gather csv rows of {shown(path)} with {word} as field 2; output their field {column} to {shown(out)}.",
            f"Find {word} as cell 2 in csv {shown(path)}; record cell {column} of each such row in {shown(out)}.",
            f"Can {shown(out)} hold field {column} of those {shown(path)} csv records with {word} as field 2?",
            f"Dump to {shown(out)} csv field {column} of such lines in {shown(path)} as have {word} as field 2.",
        ],
        solution=[f"awk -F, '$2 == \"{word}\" {{print ${column}}}' {quote(path)} > {quote(out)}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "filter_rows": [rows_by_number, rows_by_word, rows_by_first, rows_with_header, names_of_rows],
}
