"""Worlds of the archetype count_things: count lines, words, files or matches.

Every answer is a small text file, whose content is computed here.
"""

from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of


def _lines_of_file(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "log", "list"]), names.number(0, 1)), names.file("txt")
    lines = names.lines(names.number(4, 12))
    f, s, o = quote(source), shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        f"{len(lines)}\n",
        asks=[
            f"Count the lines of {s} and write only the number to {o}.",
            f"How many lines does {s} have? Put just that number into {o}.",
            f"Save the line count of {s} as a bare number in {o}.",
            f"Work out how many lines {s} holds and leave the number, nothing else, in {o}.",
        ],
        solution=[names.pick([f"wc -l < {f} > {quote(out)}", f"cat {f} | wc -l > {quote(out)}"])],
    )


def _words_of_file(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "md", "note"]), names.number(0, 1)), names.file("txt")
    lines = names.lines(names.number(3, 7))
    unit, flag, count = names.pick(
        [("words", "-w", sum(len(line.split()) for line in lines)), ("bytes", "-c", len(text_of(lines)))]
    )
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        f"{count}\n",
        asks=[
            f"Count the {unit} of {s} and write only the number to {o}.",
            f"How many {unit} are in {s}? Store the number alone in {o}.",
            f"Measure {s} in {unit} and save the bare number as {o}.",
        ],
        solution=[f"wc {flag} < {quote(source)} > {quote(out)}"],
    )


def _files_by_extension(names: Names) -> Unit:
    place, out = names.directory(), names.file("txt")
    wanted, other = names.rng.sample(["txt", "log", "csv", "md", "conf", "png"], 2)
    count = names.number(2, 5)
    paths = [f"{place}/{names.file(wanted)}" for _ in range(count)]
    paths += [f"{place}/{names.file(other)}" for _ in range(names.number(1, 3))]
    return saving_unit(
        names,
        [fixture(path, names.text(1, 2)) for path in names.rng.sample(paths, len(paths))],
        out,
        f"{count}\n",
        asks=[
            f"Count the files in {place} that end in .{wanted} and write the number to {shown(out)}.",
            f"How many .{wanted} files lie in {place}? Put the bare number into {shown(out)}.",
            f"Save the number of .{wanted} files of the directory {place} in {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"ls {place}/*.{wanted} | wc -l > {quote(out)}",
                    f"find {place} -name '*.{wanted}' | wc -l > {quote(out)}",
                ]
            )
        ],
    )


def _matching_lines(names: Names) -> Unit:
    source, out, word = names.path("log", names.number(0, 1)), names.file("txt"), names.word()
    lines = names.lines(names.number(5, 10))
    for index in names.rng.sample(range(len(lines)), names.number(2, 4)):
        lines[index] = f"{lines[index]} {word}" if names.rng.random() < 0.5 else f"{word} {lines[index]}"
    hits = sum(word in line for line in lines)
    contain = names.rng.random() < 0.6
    count, flags = (hits, "-c") if contain else (len(lines) - hits, names.pick(["-vc", "-v -c"]))
    verb = "contain" if contain else "do not contain"
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        f"{count}\n",
        asks=[
            f"Count the lines of {shown(source)} that {verb} {word} and write the number to {shown(out)}.",
            f"How many lines of {shown(source)} {verb} the word {word}? Save the number in {shown(out)}.",
            f"Store in {shown(out)}, as a bare number, how many lines of {shown(source)} {verb} {word}.",
        ],
        solution=[f"grep {flags} {word} {quote(source)} > {quote(out)}"],
    )


def _matches_in_directory(names: Names) -> Unit:
    place, out, word = names.directory(), names.file("txt"), names.word()
    texts = [names.lines(names.number(2, 5)) for _ in range(names.number(2, 4))]
    for lines in texts:
        lines[names.number(0, len(lines) - 1)] += f" {word}"
    count = sum(word in line for lines in texts for line in lines)
    ext = names.pick(["log", "txt"])
    return saving_unit(
        names,
        [fixture(f"{place}/{names.file(ext)}", text_of(lines)) for lines in texts],
        out,
        f"{count}\n",
        asks=[
            f"Count the lines with {word} in all .{ext} files of {place} and write the one number to {shown(out)}.",
            f"How many lines in the .{ext} files of {place} mention {word}? Write the total to {shown(out)}.",
            f"Take all .{ext} files in {place} as one and save the number of lines with {word} in {shown(out)}.",
        ],
        solution=[f"cat {place}/*.{ext} | grep -c {word} > {quote(out)}"],
    )


def _lines_of_two_files(names: Names) -> Unit:
    first, second, out = names.file("txt"), names.file("txt"), names.file("txt")
    one, two = names.number(2, 5), names.number(6, 9)
    if names.rng.random() < 0.5:
        one, two = two, one
    a, b, o = shown(first), shown(second), shown(out)
    return saving_unit(
        names,
        [fixture(first, text_of(names.lines(one))), fixture(second, text_of(names.lines(two)))],
        out,
        f"{one}\n{two}\n",
        asks=[
            f"Write the line count of {a} and below it the line count of {b} to {o}, only the two numbers.",
            f"Fill {o} with two numbers, one on each line: the lines of {a}, then the lines of {b}.",
            f"Count the lines of {a} and of {b}. Save the numbers in that order in {o}, one per line.",
        ],
        solution=[f"wc -l < {quote(first)} > {quote(out)}", f"wc -l < {quote(second)} >> {quote(out)}"],
    )


def _empty_files(names: Names) -> Unit:
    place, out = names.directory(), names.file("txt")
    count = names.number(2, 4)
    below = names.word()
    paths = [f"{names.pick([place, f'{place}/{below}'])}/{names.file()}" for _ in range(count + 3)]
    entries = [fixture(path, "") for path in paths[:count]] + [
        fixture(path, names.text(1, 3)) for path in paths[count:]
    ]
    return saving_unit(
        names,
        entries,
        out,
        f"{count}\n",
        asks=[
            f"Count the empty files anywhere below {place} and write the number to {shown(out)}.",
            f"How many files under {place}, subdirectories included, have no content? Number to {shown(out)}.",
            f"Find out how many files below {place} are empty and save that number in {shown(out)}.",
        ],
        solution=[f"find {place} -type f -size 0 | wc -l > {quote(out)}"],
    )


def _distinct_lines(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "list"]), names.number(0, 1)), names.file("txt")
    values = names.filler(names.number(3, 6))
    lines = values + [names.pick(values) for _ in range(names.number(2, 5))]
    names.rng.shuffle(lines)
    f = quote(source)
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        f"{len(values)}\n",
        asks=[
            f"Count the different lines of {shown(source)} and write the number to {shown(out)}.",
            f"How many distinct lines are there in {shown(source)}? Write the number to {shown(out)}.",
            f"Save in {shown(out)} how many different values {shown(source)} lists, as a bare number.",
        ],
        solution=[names.pick([f"sort -u {f} | wc -l > {quote(out)}", f"sort {f} | uniq | wc -l > {quote(out)}"])],
    )


def _words_alike(names: Names) -> Unit:
    path, out, word = names.path("txt", names.number(0, 1)), names.file("txt"), names.keyword()
    lines = [f"{word} {line} {word}" if index < 2 else line for index, line in enumerate(names.lines(4))]
    lines += [f"{names.line()} {word}"] * names.number(1, 2)
    s, o = shown(path), shown(out)
    return saving_unit(
        names,
        [fixture(path, text_of(lines))],
        out,
        f"{text_of(lines).count(word)}\n",
        asks=[
            f"How often does {word} stand in {s}, several times on a line included? Write the number to {o}.",
            f"Count every {word} in {s}, not the lines with it, and save the number in {o}.",
            f"Write to {o} how many times the word {word} occurs in {s}; a line may have it twice.",
        ],
        solution=[f"tr ' ' '\\n' < {quote(path)} | grep -c {word} > {quote(out)}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "count_things": [
        _words_alike,
        _lines_of_file,
        _words_of_file,
        _files_by_extension,
        _matching_lines,
        _matches_in_directory,
        _lines_of_two_files,
        _empty_files,
        _distinct_lines,
    ],
}
