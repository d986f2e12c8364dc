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
        others=[
            f"how to glue {shown(first)} to {shown(second)} line by line with a {kind}, saved as {shown(out)}",
            f"Combine {shown(first)} and {shown(second)} line by line into {shown(out)}, with a {kind} between the "
            "two parts.",
            f"{shown(out)} should have two columns: the lines of {shown(first)} on the left, those of {shown(second)} "
            f"on the right, a {kind} between them.",
            f"I want line 1 of {shown(first)}, a {kind} and line 1 of {shown(second)} as line 1 of {shown(out)}, and "
            "so on for all lines.",
            f"Paste the file {shown(second)} next to {shown(first)} with a {kind} as separator, and save the result "
            f"as {shown(out)}.",
            f"Glue each line of {shown(second)} to the same line of {shown(first)}, a {kind} between; the new file is "
            f"{shown(out)}.",
            f"Take the two lists {shown(first)} and {shown(second)} and write them as one {kind} separated table, in "
            f"this order, to {shown(out)}.",
            f"Make a table of two columns in {shown(out)}: column 1 from {shown(first)}, column 2 from "
            f"{shown(second)}, separated by a {kind}.",
            f"Print line after line of {shown(first)} into {shown(out)}, every one followed by a {kind} and the line"
            f" of {shown(second)} with the same number.",
            f"Into {shown(out)} go pairs, line by line: on the left what {shown(first)} says, then a {kind}, then what"
            f" {shown(second)} says.",
            f"From the lists {shown(first)} and {shown(second)} build {shown(out)}, whose line 1 is line 1 of"
            f" {shown(first)}, a {kind} and line 1 of {shown(second)}, and so on to the end.",
            f"Set {shown(first)} as the left column and {shown(second)} as the right column of the file {shown(out)};"
            f" a {kind} divides them.",
            f"Use paste on {shown(first)} and, after it, {shown(second)}. The separator is a {kind}, and {shown(out)}"
            " gets the result.",
            f"Join {shown(first)} and {shown(second)} side by side, {kind} between, as {shown(out)}.",
            f"Merge the lines of {shown(first)} and {shown(second)} in pairs, {kind} separated, into {shown(out)}.",
            f"Put {shown(first)} and {shown(second)} side by side in {shown(out)}, a {kind} as the delimiter.",
            f"Pair {shown(first)} with {shown(second)}, line by line and {kind} separated, in {shown(out)}.",
            f"Create {shown(out)}: column 1 {shown(first)}, column 2 {shown(second)}, delimiter {kind}.",
            f"Match line n of {shown(first)} with line n of {shown(second)} in {shown(out)}, a {kind} between.",
            f"Arrange {shown(first)} and {shown(second)} as two columns of {shown(out)}, with a {kind} between.",
            f"Each line of {shown(out)} is one from {shown(first)}, a {kind} and its partner in {shown(second)}.",
            f"With a {kind} between, lines of {shown(first)} and {shown(second)} form the pairs in {shown(out)}.",
            f"Columns {shown(first)} and {shown(second)}, in this order and {kind} separated, make up {shown(out)}.",
            f"Save {shown(first)} (left) and {shown(second)} (right) as {kind} separated columns in {shown(out)}.",
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
        others=[
            f"how to concatenate {shown(first)} with {shown(second)} giving {shown(out)}",
            f"Combine the files {shown(first)} and {shown(second)}, one after the other, in {shown(out)}.",
            f"{shown(out)} should begin with all lines of {shown(first)} and end with all lines of {shown(second)}.",
            f"I want {shown(first)} and then {shown(second)} in one new file {shown(out)}; both originals stay.",
            f"Copy {shown(first)} to {shown(out)}, then add the lines of {shown(second)} to it.",
            f"Make one file {shown(out)} out of two: {shown(first)} at the top, {shown(second)} after it.",
            f"Put the content of {shown(second)} after that of {shown(first)} and save both together as {shown(out)}.",
            f"The text of {shown(first)} and the text of {shown(second)}, in that order, are to be stored in a single "
            f"file {shown(out)}.",
            f"Print all of {shown(first)} and, right after it, all of {shown(second)} into one new file, {shown(out)}.",
            f"Into {shown(out)} goes {shown(first)} from top to bottom, and then {shown(second)} in the same way.",
            f"From {shown(first)} and {shown(second)} build a single file {shown(out)}, with {shown(first)} as the"
            f" upper part and {shown(second)} as the lower part.",
            f"Merge two files end to end as {shown(out)}: at the top {shown(first)}, after it {shown(second)}.",
            f"Start {shown(out)} as a duplicate of {shown(first)}. Add to it what {shown(second)} says, and leave"
            f" {shown(first)} itself alone.",
            f"Join {shown(first)} and {shown(second)} end to end in a new file {shown(out)}.",
            f"Concatenate {shown(first)} and {shown(second)}, in this order, and save the whole as {shown(out)}.",
            f"Create {shown(out)} from {shown(first)} followed by {shown(second)}.",
            f"Stack {shown(first)} on top of {shown(second)}; the stack is saved as {shown(out)}.",
            f"Write {shown(first)} to {shown(out)}. Append {shown(second)} to that.",
            f"Use cat to chain {shown(first)} and {shown(second)} together as {shown(out)}.",
            f"Store the lines of {shown(first)}, then those of {shown(second)}, in {shown(out)}.",
            f"Unite the text of {shown(first)} with that of {shown(second)}, which comes second, in {shown(out)}.",
            f"After the text of {shown(first)}, the new file {shown(out)} continues with that of {shown(second)}.",
            f"One file, {shown(out)}, is wanted in which {shown(second)} follows {shown(first)}.",
            f"Both files, {shown(first)} before {shown(second)}, are to be saved as one, {shown(out)}.",
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
        instruction=names.wording(
            [
                f"how to grow {shown(target)} with everything from {shown(source)} by appending",
                f"Put the lines of {shown(source)} after the last line of {shown(target)}, in {shown(target)} itself.",
                f"{shown(target)} should have all lines of {shown(source)} at its end, after the lines that are there "
                "now.",
                f"I want the content of {shown(source)} at the end of {shown(target)}; leave {shown(source)} alone.",
                f"Take everything in {shown(source)} and write it behind what is already in {shown(target)}.",
                f"Extend the file {shown(target)}: the text of {shown(source)} comes after its own lines.",
                f"The lines in {shown(source)} must be appended to {shown(target)}; nothing in {shown(target)} is "
                f"lost and {shown(source)} stays.",
                f"Add a copy of the lines in {shown(source)} to the bottom of {shown(target)}.",
                f"Copy the whole of {shown(source)} to the bottom of {shown(target)}, and take nothing out of"
                f" {shown(source)}.",
                f"At the bottom of {shown(target)}, add what {shown(source)} says; the lines that {shown(target)} has"
                " already stay before it.",
                f"Let {shown(target)} go on, after its last line, with everything that {shown(source)} says.",
                f"Use cat to lengthen {shown(target)} by all that is in {shown(source)}.",
                f"What {shown(source)} says goes into {shown(target)} as well, after all lines there. {shown(source)}"
                " itself is not altered.",
                f"Append {shown(source)} to {shown(target)}.",
                f"Attach the content of {shown(source)} to the end of {shown(target)}, keeping {shown(source)}.",
                f"Lengthen {shown(target)} with a copy of all lines from {shown(source)} at its end.",
                f"Write the text of {shown(source)} at the foot of {shown(target)}; overwrite nothing.",
                f"Duplicate all of {shown(source)} at the end of {shown(target)}.",
                f"Join {shown(source)} onto the tail of {shown(target)} without changing {shown(source)}.",
                f"Continue {shown(target)} with the lines of {shown(source)}, after those already there.",
                f"Update {shown(target)}: below its present text comes that of {shown(source)}.",
                f"When its own lines are over, {shown(target)} should continue with those of {shown(source)}.",
                f"After this, {shown(target)} holds its old lines first and then those of {shown(source)}.",
                f"Everything in {shown(source)} is to be appended to {shown(target)}, which keeps its lines.",
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
        others=[
            f"how to concatenate the .{ext} pieces in {home} into the whole {shown(out)}",
            f"Combine the .{ext} files in the folder {home}, sorted by name, into one file {shown(out)}.",
            f"{shown(out)} should have the content of all .{ext} files of {home}, file after file by name.",
            f"I want the parts {home}/*.{ext} put together as the file {shown(out)}, in the order of their names.",
            f"Glue the .{ext} pieces from directory {home} to each other by name, and store the whole in {shown(out)}.",
            f"Take every .{ext} file of {home}, go by file name, and write its lines to {shown(out)}, one file after "
            "another.",
            f"There are several .{ext} parts in {home}. Make a single file {shown(out)} of them, in alphabetical "
            "order of the names.",
            f"All the lines of {home}/*.{ext} belong together: copy them, file by file as the names sort, to "
            f"{shown(out)}.",
            f"Print all .{ext} parts in {home} into one file, {shown(out)}, in the order in which their names come.",
            f"Into {shown(out)} goes what the .{ext} files in the folder {home} say, part after part by name.",
            f"From the pieces {home}/*.{ext} build {shown(out)}; the file names tell their order.",
            f"Merge the .{ext} parts in {home} end to end, taken by name. {shown(out)} is the file for the whole.",
            f"Read the .{ext} pieces of {home} from the first name to the last and record all their lines in"
            f" {shown(out)}.",
            f"Append the .{ext} files of {home} to one another in name order; the outcome is {shown(out)}.",
            f"Collate {home}/*.{ext} by file name into a single file, {shown(out)}.",
            f"Join up, sorted by name, whatever {home} holds in .{ext} files, and call the whole {shown(out)}.",
            f"Assemble {shown(out)} out of the .{ext} files in {home}: lowest name at the top, highest at the end.",
            f"String together the contents of all {home}/*.{ext}, ordered by name, as {shown(out)}.",
            f"Fill {shown(out)} with every .{ext} file from {home}, one below the other, names ascending.",
            f"Dump each .{ext} file that {home} contains, alphabetically, into the one file {shown(out)}.",
            f"The .{ext} parts of {home} are to be written one after the other, by name, to {shown(out)}.",
            f"To have {home}/*.{ext} as one text, save the files' contents in name order to {shown(out)}.",
            f"Unite the text of the .{ext} pieces in {home}. Keep name order; the result is saved as {shown(out)}.",
            f"Could the .{ext} files in {home} be chained, ordered by name, into one {shown(out)}?",
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
        others=[
            f"how to merge csv tables {shown(first)} {shown(second)} with a single header in {shown(out)}",
            f"Combine the csv files {shown(first)} and {shown(second)} in {shown(out)}, {shown(first)} on top, with a "
            "single header line.",
            f"{shown(out)} should have the header line of {shown(first)}, the rows of {shown(first)} and then the "
            f"rows of {shown(second)}.",
            f"I want one table {shown(out)} from {shown(first)} and {shown(second)}, in this order; the header of "
            "both comes once, at the top.",
            f"Copy {shown(first)} to {shown(out)}, then append all lines of {shown(second)} but its header.",
            f"The tables {shown(first)} and {shown(second)} begin with the same header. Put the rows of "
            f"{shown(second)} after those of {shown(first)} in the new file {shown(out)}, and do not repeat the "
            "header.",
            f"Glue {shown(second)} to the end of {shown(first)}, without the header line of {shown(second)}, and save "
            f"the whole as {shown(out)}; leave {shown(first)} alone.",
            f"Make one csv file {shown(out)} of two, {shown(first)} and after it {shown(second)}, so that the line of "
            "column names is there only at the top.",
            f"Print all of {shown(first)} into {shown(out)} and, after it, what {shown(second)} has from its line 2"
            " on.",
            f"Into {shown(out)} go the csv table {shown(first)} with its header and, further down, the table"
            f" {shown(second)} without its header.",
            f"From the csv tables {shown(first)} and {shown(second)} build {shown(out)}: one header line, the rows of"
            f" {shown(first)}, the rows of {shown(second)}.",
            f"Merge two csv files end to end as {shown(out)}: {shown(first)} whole, then {shown(second)} minus its top"
            " line, which is the same header.",
            f"Start {shown(out)} as a duplicate of {shown(first)}. Add the rows of {shown(second)} to it, but not the"
            f" header of {shown(second)}.",
            f"Stack {shown(second)}, less its header, under all of {shown(first)}, saved as {shown(out)}.",
            f"Write {shown(first)} to {shown(out)}, followed by {shown(second)} from its second line onward.",
            f"Duplicate {shown(first)} as {shown(out)}; extend that by {shown(second)} minus its header.",
            f"Join tables {shown(first)} and {shown(second)}, in this order, under one header in {shown(out)}.",
            f"Collect in {shown(out)}: {shown(first)} complete, then {shown(second)} except its header row.",
            f"Concatenate {shown(first)} and {shown(second)} into {shown(out)}, skipping the second header.",
            f"Assemble {shown(out)} from all of {shown(first)} and, next, the data rows of {shown(second)}.",
            f"First {shown(first)}, then {shown(second)} less line 1: that is to be the content of {shown(out)}.",
            f"To get one table {shown(out)}, add the data rows of {shown(second)} below a copy of {shown(first)}.",
            f"The header of {shown(second)} is dropped when it is saved after {shown(first)} in {shown(out)}.",
            f"Unify {shown(first)} (as is) and {shown(second)} (no header), in that order, as {shown(out)}.",
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
        others=[
            f"how to list in {shown(out)} whatever lines of {shown(second)} {verb} the file {shown(first)}",
            f"Compare {shown(second)} with {shown(first)}. Lines in {shown(second)} which {verb} {shown(first)} are "
            f"stored in {shown(out)}.",
            f"{shown(out)} should have those lines from {shown(second)} which {verb} {shown(first)}, in the order of "
            f"{shown(second)}.",
            f"I want to see in {shown(out)} the lines of {shown(second)} which {verb} the file {shown(first)}.",
            f"Take {shown(second)} line by line; whole lines that {verb} {shown(first)} are copied to {shown(out)}.",
            f"Look up each line of {shown(second)} in {shown(first)}: save as {shown(out)} all those that {verb} "
            f"{shown(first)}.",
            f"Filter the list {shown(second)} with the list {shown(first)}; entries that {verb} {shown(first)} go "
            f"into {shown(out)}, in their old order.",
            f"What entries of {shown(second)} {verb} {shown(first)}? Put these lines into the file {shown(out)}.",
            f"Copy from {shown(second)} to {shown(out)} all lines, and no others, that {verb} {shown(first)}.",
            f"Into {shown(out)} go the entries of {shown(second)} which {verb} the list {shown(first)}, compared as"
            " whole lines.",
            f"Test {shown(second)} line by line against the lines of {shown(first)}. Those that {verb} {shown(first)}"
            f" are recorded in {shown(out)}.",
            f"For {shown(out)}, pick out of {shown(second)} all whole lines that {verb} {shown(first)}, in the same"
            " order as there.",
            f"Pass through {shown(second)} from top to bottom and print to {shown(out)} all lines there which {verb}"
            f" the file {shown(first)}.",
            f"Extract whichever whole lines of {shown(second)} {verb} {shown(first)}; save them as {shown(out)}.",
            f"Lines of {shown(second)} are kept in {shown(out)}, order unchanged, only if they {verb} {shown(first)}.",
            f"Lines to select from {shown(second)} are those which {verb} {shown(first)}; write these to {shown(out)}.",
            f"Collect as {shown(out)} all full lines of {shown(second)}, in order, which {verb} {shown(first)}.",
            f"Search {shown(second)} for entire lines that {verb} {shown(first)}; they belong in {shown(out)}.",
            f"Sift {shown(second)}: all lines that {verb} {shown(first)} are wanted, in order, in {shown(out)}.",
            f"Reduce a copy of {shown(second)} to those lines that {verb} {shown(first)}. Call it {shown(out)}.",
            f"Transfer the lines of {shown(second)} which {verb} {shown(first)} (whole lines) to {shown(out)}.",
            f"If lines of {shown(second)} {verb} {shown(first)}, whole and exact, they are written to {shown(out)}.",
            f"List as is, in {shown(out)}, what {shown(second)} has by way of whole lines which {verb} {shown(first)}.",
            f"Go down {shown(second)} and list, in that order, in {shown(out)}, any lines that {verb} {shown(first)}.",
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
        others=[
            f"how to look up keys of {shown(first)} in {shown(second)} with awk for a joined {shown(out)}",
            f"For each row of {shown(first)}, look up column 1 in {shown(second)} and put the second column found "
            f"there at the end of the row; store the table as {shown(out)}. All of it is comma separated.",
            f"{shown(out)} should have the rows of {shown(first)}, in the same order, with one more column: the value "
            f"that {shown(second)} has for the same key in column 1. Commas separate columns.",
            f"I want {shown(first)} and {shown(second)} combined by their first column: key, column 2 of "
            f"{shown(first)}, column 2 of {shown(second)}, comma separated, as {shown(out)}, rows ordered as in "
            f"{shown(first)}.",
            f"The csv files {shown(first)} and {shown(second)} share the keys in column 1. Write key, value of "
            f"{shown(first)} and value of {shown(second)} to {shown(out)}, one row for each row of {shown(first)}, in "
            "its order.",
            f"Extend the csv table {shown(first)} by the matching values (column 2) of {shown(second)}, key in column "
            f"1, and save the wider table, still comma separated, as {shown(out)}.",
            f"Both {shown(first)} and {shown(second)} have a key and a value, comma separated. Make {shown(out)} with "
            f"key, value from {shown(first)}, value from {shown(second)}, ordered like {shown(first)}.",
            f"Take the keys of {shown(first)} from top to bottom; each line of {shown(out)} is the line of "
            f"{shown(first)}, a comma and the value that goes with this key in the csv file {shown(second)}.",
            f"Print the rows of the csv file {shown(first)} into {shown(out)}, every one followed by a comma and"
            f" column 2 of that row of the csv file {shown(second)} which has the same key in column 1.",
            f"Into {shown(out)} go the rows of {shown(first)}, in the same order, with one more cell after the others:"
            f" what {shown(second)} has in column 2 for their column 1. All three are csv files.",
            f"Match by key, which is column 1 in the comma separated tables {shown(first)} and {shown(second)}:"
            f" {shown(out)} gets key, column 2 of {shown(first)} and column 2 of {shown(second)}, with commas between;"
            f" the keys come as in {shown(first)}.",
            f"For every key in column 1 of the csv table {shown(first)}, from top to bottom, find the row of"
            f" {shown(second)} with that key. Record the row of {shown(first)}, a comma and column 2 of the found row"
            f" in {shown(out)}.",
            f"Extend the rows of {shown(first)} by a third column and store them as {shown(out)}, still comma"
            f" separated; it is taken from column 2 of {shown(second)}, from the row that starts with the same value.",
            f"Append column 2 of {shown(second)} to the csv {shown(first)} by key (column 1); save as {shown(out)}.",
            f"Join csv {shown(second)} to {shown(first)} on column 1, in the latter's order, as {shown(out)}.",
            f"Widen csv {shown(first)} into {shown(out)}: match column 1 in {shown(second)}, add its column 2.",
            f"Complete csv rows of {shown(first)} with field 2 of {shown(second)} by key (field 1) in {shown(out)}.",
            f"Attach to csv {shown(first)} field 2 of {shown(second)}, matched on field 1; save as {shown(out)}.",
            f"By column 1, put column 2 of {shown(second)} after each csv row of {shown(first)}, as {shown(out)}.",
            f"Pair {shown(first)} rows with csv {shown(second)} by column 1; {shown(out)} gets row, comma, value.",
            f"Enrich csv {shown(first)} with column 2 of {shown(second)}, looked up by column 1, as {shown(out)}.",
            f"{shown(out)} is to be csv {shown(first)} with column 2 of {shown(second)} added, keyed on column 1.",
            f"To csv {shown(first)}, in a copy {shown(out)}, is added column 2 of {shown(second)} by column 1.",
            f"Tack column 2 of {shown(second)} onto csv {shown(first)} rows with equal column 1, as {shown(out)}.",
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
