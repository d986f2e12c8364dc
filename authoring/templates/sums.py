"""Worlds of the archetype sum_column: numbers of a column are added up.

Every sum is computed here from whole numbers, so no awk rounds it.
"""

from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of


def _sum_of_column(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "dat"]), names.number(0, 1)), names.file("txt")
    keys, column = names.filler(names.number(4, 8)), names.number(2, 3)
    rows = [(key, names.number(1, 90), names.number(1, 90)) for key in keys]
    total = sum(row[column - 1] for row in rows)  # type: ignore[misc]
    ordinal = {2: "second", 3: "third"}[column]
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(f"{a} {b} {c}" for a, b, c in rows))],
        out,
        f"{total}\n",
        asks=[
            f"Add up column {column} of {s} (columns are separated by spaces) and write the sum to {o}.",
            f"Sum the numbers in the {ordinal} column of {s}. Write only the total to {o}.",
            f"Total the {ordinal} field of every line of {s} and save the number in {o}.",
        ],
        others=[
            f"{o} should hold the sum over column {column} of {s}, whose columns are parted by spaces.",
            f"I need the {ordinal} column of {s} added up in {o}.",
            f"Write the sum of column {column} of {s}, where spaces separate the columns, to {o}.",
            f"Could you add up the {ordinal} column in the file {s}? Put only the sum in {o}.",
            f"In {o} store the total of field {column} of {s}; fields are separated by spaces.",
            f"Use awk to sum the {ordinal} field over all lines of {s} and save the result as {o}.",
            f"Create {o} with one number, the sum of the {ordinal} column of the space-separated {s}.",
            f"The numbers in column {column} of {s} must be added, and the sum saved in {o}.",
            f"What does the {ordinal} column of {s} add up to? Write that number to {o}.",
            f"Read {s}, whose columns are separated by spaces, add up its {ordinal} column, and record only the sum in"
            f" {o}.",
            f"The numbers in field {column} of {s}, a space-separated file, are added together and go into {o} as one"
            " number.",
            f"From each line of {s} take the {ordinal} field (a space ends a field), add these up, and send the sum to"
            f" {o}.",
            f"Determine the total of the {ordinal} column in {s}, a space-separated file, and keep it alone in {o}.",
            f"Over all lines of {s}, sum field {column}. Print the bare result into {o}.",
            f"Total column {column} of the space-separated {s} and write the number to {o}.",
            f"Sum the {ordinal} field of all lines in {s} (fields end at spaces) into {o}.",
            f"Add up column {column} in {s}, which has spaces between columns; {o} gets just the sum.",
            f"Calculate the sum of the {ordinal} column in {s} and place that number alone in {o}.",
            f"Tally the numbers in field {column} of {s}, storing a single total in {o}.",
            f"Compute what the {ordinal} field of {s} totals over all lines; {o} is to have only that number.",
            f"Fill {o} with one line: the sum of the numbers in column {column} of {s}, split at spaces.",
            f"Work out the total of column {column} in {s} and file it as {o}, nothing else in it.",
            f"All numbers in the {ordinal} column of {s} are totalled; {o} shows the total and nothing more.",
            f"If you split {s} at spaces, what is the total of field {column}? Put that one number in {o}.",
            f"A single figure is needed in {o}, namely the sum of the {ordinal} column in {s}.",
        ],
        solution=[f"awk '{{s+=${column}}} END {{print s}}' {quote(source)} > {quote(out)}"],
    )


def _sum_of_table(names: Names) -> Unit:
    source, out = names.path("csv", names.number(0, 1)), names.file("txt")
    column, title = names.number(2, 3), names.word()
    header = ["name", names.word(), names.word()]
    header[column - 1] = title
    rows = [[key, f"{names.number(1, 60)}", f"{names.number(1, 60)}"] for key in names.filler(names.number(3, 7))]
    total = sum(int(row[column - 1]) for row in rows)
    lines = [",".join(row) for row in [header, *rows]]
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        f"{total}\n",
        asks=[
            f"Add up column {column} ({title}) of the comma-separated {s}, header left out, and write the sum to {o}.",
            f"{s} is comma-separated with a header line. Sum its column {column} and save the number in {o}.",
            f"Skip the header of {s}, total the values of column {column}, and let {o} hold the sum.",
        ],
        others=[
            f"The CSV table {s} has a header; {o} should hold the sum of field {column} below it.",
            f"I need the values under {title}, which is column {column} of {s}, added up in {o}.",
            f"Write the sum of column {column} of the csv file {s} to {o}, not counting its header line.",
            f"Could you add up the {title} column, number {column}, of {s}? It is comma-separated with a header; the"
            f" sum belongs in {o}.",
            f"In {o} store the total of the {title} column ({column}) of the comma separated file {s}, leaving out the"
            " first line.",
            f"After the heading line of {s}, sum field {column} of each line (fields end at commas) and save the"
            f" result as {o}.",
            f"Create {o} with one number, the sum of the values under {title} in the csv file {s}, column {column}.",
            f"The values in column {column} of {s} must be added, except for the header {title}, and the sum saved in"
            f" {o}.",
            f"What do the values of {title} in the comma-separated {s} add up to? It is column {column}; write what"
            f" comes out to {o}.",
            f"Leave the header of the comma-separated {s} aside, add up its column {column}, and record the bare sum in"
            f" {o}.",
            f"Into {o} goes one number: the sum of the {title} column, field {column} in the comma-separated {s},"
            " without its header.",
            f"From line 2 on, take field {column} of {s}, where commas end the fields, and send the total of these"
            f" numbers to {o}.",
            f"Determine what column {column} of the csv file {s} adds up to; its first line is only a header. Keep the"
            f" bare sum in {o}.",
            f"Every line of the comma-separated {s} but the first, a header, adds its column {column} to a sum. Print"
            f" that sum into {o}.",
            f"Total column {column} of the CSV file {s}, skipping the header line, and write it to {o}.",
            f"Sum field {column} of {s} (commas between fields, first line a header) into {o}.",
            f"Add up the {title} values, column {column} in the comma-separated {s}, and store the sum in {o}.",
            f"Skip the header of the csv file {s}; the total of column {column} goes into {o} as one number.",
            f"Calculate what column {column} ({title}) of the CSV table {s} sums to and place it in {o}.",
            f"Tally the figures below {title}, field {column} in the csv file {s}, and put the bare total in {o}.",
            f"Compute the sum of column {column} for all lines but the first of the CSV file {s}; save it as {o}.",
            f"Ignoring its header, the comma-separated {s} has its column {column} summed; {o} gets the sum.",
            f"One number is needed in {o}: the sum of column {column} of the csv {s}, heading {title} left out.",
            f"If commas split {s}, what does field {column} total below the header? Write that number to {o}.",
            f"{o} is to state the total of the column {title} (field {column}) in {s}, a CSV file with a header.",
        ],
        solution=[f"awk -F, 'NR>1 {{s+=${column}}} END {{print s}}' {quote(source)} > {quote(out)}"],
    )


def _sum_of_rows(names: Names) -> Unit:
    source, out, key = names.path("log", names.number(0, 1)), names.file("txt"), names.word()
    rows = [(key, names.number(1, 50)) for _ in range(names.number(2, 4))]
    rows += [(other, names.number(1, 50)) for other in names.filler(names.number(2, 4))]
    names.rng.shuffle(rows)
    total = sum(number for name, number in rows if name == key)
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(f"{name} {number}" for name, number in rows))],
        out,
        f"{total}\n",
        asks=[
            f"Add up the second column of {s} over the lines whose first column is {key}; write the sum to {o}.",
            f"In {s}, sum the numbers that belong to {key}. Save the total in {o}.",
            f"Each line of {s} has a name and a number. Write the total of {key} to {o}.",
        ],
        others=[
            f"{o} should hold what {key} comes to when its numbers in {s} are added.",
            f"I need only the rows of {s} for {key}, their second field summed, in {o}.",
            f"Write the sum of the second field, over those lines of {s} that start with the name {key}, to {o}.",
            f"Could you add up the numbers of {key} in the file {s} and put only the sum in {o}?",
            f"In {o} store the total for {key}: the numbers in column 2 of {s}, where column 1 is {key}.",
            f"Use awk on {s}: where field 1 equals {key}, add field 2, and save the result as {o}.",
            f"Create {o} with one number, the sum of all numbers that stand behind {key} in {s}.",
            f"The numbers of {key} in {s} must be added, other names ignored, and the sum saved in {o}.",
            f"What do the lines of {key} in {s} add up to in their second column? Write that number to {o}.",
            f"Pick the lines of {s} that have {key} in column 1, add up their column 2, and record this one sum in"
            f" {o}.",
            f"Save in {o}, as one number, the second fields of all {key} lines in {s} added together.",
            f"From {s} take only the lines that start with the name {key}, sum their numbers, and send the result to"
            f" {o}.",
            f"Determine the total that {s} gives for {key} (name in field 1, number in field 2) and keep it in {o}.",
            f"For {key} alone, add all the numbers that stand next to it in {s}; print the sum into {o}.",
            f"Total the numbers of {key} in {s} and write the sum alone to {o}.",
            f"Sum column 2 of {s} over the lines whose column 1 is {key}, and save it as {o}.",
            f"Add up field 2 of every line in {s} whose first field is {key}; {o} gets the sum.",
            f"Tally in {o}, as one number, the second fields of {s} that have {key} in front of them.",
            f"Calculate from {s} the sum of the numbers that follow the name {key}, and put it in {o}.",
            f"Compute what {key} has in {s} in all, adding its numbers in column 2, and file it as {o}.",
            f"Skip all lines of {s} but those with {key} in field 1; total their field 2 into {o}.",
            f"One number goes in {o}: the second column of {s}, summed for lines with {key} in the first.",
            f"If a line of {s} has {key} as its first field, its second counts towards the total in {o}.",
            f"All numbers beside {key} in {s} are totalled, those of other names are not; {o} shows the total.",
            f"How much does {key} have in {s}, all its lines added up? {o} is to have just that number.",
        ],
        solution=[f"awk '$1==\"{key}\" {{s+=$2}} END {{print s}}' {quote(source)} > {quote(out)}"],
    )


def _sum_per_name(names: Names) -> Unit:
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    keys = names.filler(3)
    rows = [(key, names.number(1, 40)) for key in keys] + [
        (names.pick(keys), names.number(1, 40)) for _ in range(names.number(3, 5))
    ]
    names.rng.shuffle(rows)
    totals = sorted((key, sum(number for name, number in rows if name == key)) for key in keys)
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(f"{name} {number}" for name, number in rows))],
        out,
        text_of(f"{name} {total}" for name, total in totals),
        asks=[
            f"Add up the numbers of {s} per name and write lines of name and total, sorted by name, to {o}.",
            f"Each line of {s} is a name and a number. Save the sum of every name, as 'name sum', sorted, in {o}.",
            f"Group {s} by its first column, sum the second, and store the sorted lines 'name total' in {o}.",
        ],
        others=[
            f"{o} should list each name of {s} with its total after a space, in alphabetical order.",
            f"I need the totals by name from {s}, one 'name total' a line and sorted, in {o}.",
            f"Write one line per name of {s} to {o}: the name, a space, and the sum of its numbers, sorted by name.",
            f"Could you add up the second column of {s} for each name in the first, and put sorted lines 'name sum' in"
            f" {o}?",
            f"In {o} store the total of every name in {s} as 'name total', in alphabetical order of the names.",
            f"Use awk to sum column 2 of {s} by column 1, sort the 'name total' lines, and save them as {o}.",
            f"Create {o} with the sum for each name in {s}, one 'name sum' per line, the lines sorted.",
            f"The numbers behind each name in {s} must be added; save the sums with their names in front, sorted, in"
            f" {o}.",
            f"What does each name in {s} add up to? Write the answers as sorted lines, name then total, to {o}.",
            f"Add together, for each name in the first column of {s}, its numbers in the second, and record 'name sum',"
            f" sorted by name, in {o}.",
            f"Into {o} goes one line per name in {s}, made of the name, a space and the total of its numbers, in"
            " alphabetical order.",
            f"From the name and number on each line of {s}, work out a total per name; send the 'name total' lines,"
            f" sorted, to {o}.",
            f"Determine what every name in {s} adds up to (its numbers are in column 2). Arrange the 'name total' lines"
            f" by name in {o}.",
            f"For all lines of {s} that share column 1, sum column 2; print 'name sum' for every name, in alphabetical"
            f" order, into {o}.",
            f"Total the numbers in {s} per name and list 'name total', sorted by name, in {o}.",
            f"Sum column 2 of {s} separately for each name in column 1; sorted lines 'name sum' go to {o}.",
            f"Group the lines of {s} by name, add up their numbers, and save 'name sum' lines, sorted, as {o}.",
            f"Tally field 2 of {s} by field 1: {o} gets a line 'name total' for each name, alphabetically.",
            f"Condense {s} to one line per name in {o}, 'name sum' with all its numbers added, sorted by name.",
            f"Calculate each name's sum in {s} and store name, space, sum, a line each, alphabetically in {o}.",
            f"Merge lines of {s} with the same name by adding their numbers; write 'name sum', sorted, to {o}.",
            f"Compute subtotals of column 2 by name (column 1) in {s}; {o} lists 'name subtotal' in name order.",
            f"Each name occurs once in {o}, sorted, with a space and the sum of its numbers in {s}.",
            f"As names repeat in {s}, the numbers of each are added; {o} has 'name sum' for every name, sorted.",
            f"Per name in {s} one sum of its numbers is needed, as a line 'name sum' in {o}, from A to Z.",
        ],
        solution=[f"awk '{{s[$1]+=$2}} END {{for (k in s) print k, s[k]}}' {quote(source)} | sort > {quote(out)}"],
    )


def _sum_of_files(names: Names) -> Unit:
    place, out, ext = names.directory(), names.file("txt"), names.pick(["dat", "txt"])
    columns = [[names.number(1, 80) for _ in range(names.number(2, 4))] for _ in range(names.number(2, 3))]
    total = sum(map(sum, columns))
    return saving_unit(
        names,
        [fixture(f"{place}/{names.file(ext)}", text_of(map(str, numbers))) for numbers in columns],
        out,
        f"{total}\n",
        asks=[
            f"The .{ext} files in {place} hold one number per line. Write the sum of all of them to {shown(out)}.",
            f"Add up every number in the .{ext} files of {place} and save the one total in {shown(out)}.",
            f"Sum all lines of all .{ext} files of {place}; the total goes to {shown(out)}.",
        ],
        others=[
            f"{shown(out)} should hold the grand total of the numbers in {place}, .{ext} files only.",
            f"I need all numbers from the .{ext} files in {place} added together in {shown(out)}.",
            f"Write the sum of all numbers in the .{ext} files of the folder {place} to {shown(out)}.",
            f"Could you add up the numbers in {place}/*.{ext} and put one total in {shown(out)}?",
            f"In {shown(out)} store one number: the sum over every line of every .{ext} file in the directory {place}.",
            f"Join the .{ext} files in {place}, add the numbers in them, and save the result as {shown(out)}.",
            f"Create {shown(out)} with the total of all lines of {place}/*.{ext}, each of which is a number.",
            f"The numbers in the .{ext} files of {place} must be added, all files together, and the sum saved as"
            f" {shown(out)}.",
            f"What do the numbers in all .{ext} files of the folder {place} add up to? Write that to {shown(out)}.",
            f"Read all .{ext} files in {place}, add up the numbers on their lines, and record the one sum in"
            f" {shown(out)}.",
            f"Put a single sum into {shown(out)}, that of every number in {place}/*.{ext}.",
            f"From each .{ext} file in the folder {place} take all its numbers; send the sum over all files to"
            f" {shown(out)}.",
            f"Determine what the numbers in {place}/*.{ext} add up to, one number a line and all files together; keep"
            f" it in {shown(out)}.",
            f"Over every .{ext} file that {place} has, sum the numbers. One total for all of them goes into"
            f" {shown(out)}.",
            f"Total {place}/*.{ext}, all their numbers together, with {shown(out)} as the file for the one sum.",
            f"Sum every line of {place}/*.{ext} (one number each) into a single figure in {shown(out)}.",
            f"Tally the numbers of the .{ext} files in {place}, all files together, in {shown(out)}.",
            f"Calculate the grand total over the .{ext} files in {place}; save just this number as {shown(out)}.",
            f"Merge the numbers from {place}/*.{ext} into one sum, kept in {shown(out)}.",
            f"Combine all .{ext} files of {place}, and place the sum of their numbers in {shown(out)}.",
            f"Compute what the numbers in the .{ext} files of {place} make together; {shown(out)} gets the sum.",
            f"All .{ext} files in {place} count: their numbers, summed up, give the one figure in {shown(out)}.",
            f"One overall sum is needed in {shown(out)}, not one per file, of the numbers in {place}/*.{ext}.",
            f"If a file in {place} ends in .{ext}, its numbers enter into the total that {shown(out)} shows.",
            f"How much do the lines of {place}/*.{ext} make in all? Place that number in {shown(out)}.",
        ],
        solution=[f"cat {place}/*.{ext} | awk '{{s+=$1}} END {{print s}}' > {quote(out)}"],
    )


def _sum_of_products(names: Names) -> Unit:
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    rows = [(key, names.number(1, 9), names.number(2, 20)) for key in names.filler(names.number(3, 6))]
    total = sum(count * price for _, count, price in rows)
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(f"{a} {b} {c}" for a, b, c in rows))],
        out,
        f"{total}\n",
        asks=[
            f"Lines of {s} are item, count, price. Multiply count by price, add up all lines, write the sum to {o}.",
            f"Multiply columns 2 and 3 of {s} line by line and save the sum of the products in {o}.",
            f"Work out the value of the stock in {s} (name, pieces, price of a piece) and write the total to {o}.",
        ],
        others=[
            f"{o} should hold the sum of column 2 times column 3 over all of {s}.",
            f"I need the total price of everything in {s}, where fields 2 and 3 are count and price, in {o}.",
            f"Write to {o} the sum, over all lines of {s}, of the second field times the third.",
            f"Could you multiply column 2 by column 3 on each line of {s}, add the results, and put the result in {o}?",
            f"In {o} store the total value of the items in {s}: count (field 2) times price (field 3), all added up.",
            f"Use awk to add $2*$3 over the lines of {s} and save the result as {o}.",
            f"Create {o} with one number: for every line of {s} its second and third columns multiplied, then all"
            " summed.",
            f"The lines of {s} give a name, a number of pieces and a price; the pieces times the price must be added"
            f" up and saved in {o}.",
            f"What is everything in {s} worth, if column 2 is the count and column 3 the price? Let {o} say so.",
            f"Form the product of fields 2 and 3 on every line of {s}, add the products up, and record the one sum in"
            f" {o}.",
            f"The total price of what {s} lists goes into {o}: on each line, column 2 is the count, column 3 the price"
            " of one piece.",
            f"From every line of {s} work out count (second field) times price (third field), and send the sum of them"
            f" all to {o}.",
            f"Determine what all goods in {s} cost together, with the pieces in column 2 and the price of one in column"
            f" 3, and keep the sum alone in {o}.",
            f"Over all lines of {s}, sum the second column multiplied by the third. Print the bare result into {o}.",
            f"Multiply fields 2 and 3 on each line of {s} and write the sum of these products to {o}.",
            f"Sum column 2 times column 3 over every line of {s} into {o}.",
            f"Total the products of the second and third columns of {s}; {o} gets that one number.",
            f"Calculate count times price (columns 2 and 3) per line of {s}, and store the overall sum in {o}.",
            f"Add up, line by line, field 2 of {s} multiplied by field 3; save the total as {o}.",
            f"Compute the value of all items in {s}, field 2 pieces at the price in field 3, and put it in {o}.",
            f"Work out one grand total for {s}, each line counting as its field 2 times its field 3, in {o}.",
            f"One number is needed in {o}: second times third column of {s}, summed over all lines.",
            f"If each line of {s} counts as column 2 times column 3, what is the total? Write it to {o}.",
            f"Columns 2 and 3 of {s} are multiplied line by line, and the products' sum alone is put in {o}.",
            f"{o} shows the overall cost of the goods in {s}: field 2 (pieces) by field 3 (price), summed.",
        ],
        solution=[f"awk '{{s+=$2*$3}} END {{print s}}' {quote(source)} > {quote(out)}"],
    )


def _with_total_line(names: Names) -> Unit:
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    rows = [(key, names.number(1, 70)) for key in names.filler(names.number(3, 6))]
    lines = [f"{key} {number}" for key, number in rows]
    total = sum(number for _, number in rows)
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of([*lines, f"total {total}"]),
        asks=[
            f"Copy {s} to {o} and end {o} with a line 'total N' where N is the sum of the second column.",
            f"Make {o}: all lines of {s}, then one more line, the word total and the sum of column 2.",
            f"Write the lines of {s} to {o} and below them 'total' with the sum of their second column.",
        ],
        others=[
            f"{o} should be {s} with a closing line that says total and gives the sum of field 2.",
            f"I need {s} repeated in {o}, closed by a total line for its second column.",
            f"Write a copy of {s} to {o} with one line more at the end: total, a space, and the sum of its second"
            " field.",
            f"Could you put all of {s} in {o} and after it a line 'total' with the sum of the numbers in column 2?",
            f"In {o} store the lines of {s} as they are, and as last line the word total and what column 2 adds up to.",
            f"Use awk to print {s} and then 'total' with the sum of field 2; save it all as {o}.",
            f"Create {o} from {s}: the same lines, followed by 'total' and the sum of column 2, separated by a space.",
            f"The lines of {s} must be copied to {o}, and a line with total and the sum of their numbers (field 2)"
            " added below.",
            f"What does column 2 of {s} add up to? Copy {s} to {o} and append 'total' and that sum as a line.",
            f"Repeat {s} in {o} and close it with a line that has 'total', a space and what its column 2 adds up to.",
            f"Into {o} go all lines of {s}, and as the last one 'total' with a space and what their second fields add"
            " up to.",
            f"From {s} make {o}: every line as it is, and one line 'total N' more, N being what field 2 adds up to.",
            f"Reproduce {s} as {o}, but with one line more at its end: 'total', then a space, then the sum of field 2.",
            f"Add the numbers in column 2 of {s}. Print the file into {o}, and after its last line 'total' with a space"
            " and that sum.",
            f"Copy {s} to {o}, and as an appended line have there 'total N' (sum up column 2 to get N).",
            f"Duplicate {s} as {o}, then add a last line: total, a space, the sum of the second column.",
            f"Extend a copy of {s}, called {o}, by a final line 'total SUM' with the sum of its field 2.",
            f"Sum column 2 of {s}; {o} is to have all lines of {s} and then 'total', a space, that sum.",
            f"Transfer every line of {s} unchanged to {o}, and finish with 'total SUM' for its second field.",
            f"Give {o}, otherwise a copy of {s}, a last line 'total N' with field 2 summed as N; do not change {s}.",
            f"Place the lines of {s} in {o} with 'total SUM' under them, SUM being that of the second column.",
            f"Under the lines of {s}, copied to {o}, stands 'total', a space and the sum of their column 2.",
            f"A copy of {s} is needed in {o}, ending in one more line, 'total N' (N: the second field summed up).",
            f"{s} itself is not changed; {o} repeats it and ends with a line 'total N', N the sum of field 2.",
            f"After all lines of {s}, unchanged, {o} has one of its own: 'total', a space and the sum of field 2.",
        ],
        solution=names.pick(
            [
                [
                    f"cp {quote(source)} {quote(out)}",
                    f"awk '{{s+=$2}} END {{print \"total\", s}}' {quote(source)} >> {quote(out)}",
                ],
                [f"awk '{{print; s+=$2}} END {{print \"total\", s}}' {quote(source)} > {quote(out)}"],
            ]
        ),
    )


SHAPES: dict[str, list[Shape]] = {
    "sum_column": [
        _sum_of_column,
        _sum_of_table,
        _sum_of_rows,
        _sum_per_name,
        _sum_of_files,
        _sum_of_products,
        _with_total_line,
    ],
}
