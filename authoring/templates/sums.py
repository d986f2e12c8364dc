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
