"""Worlds in which lines are picked by a pattern, from one file or several."""

from authoring.templates.search import lines_some_with
from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of


def lines_with_word(names: Names) -> Unit:
    """Lines of a file that contain a word, or that do not."""
    source, word, out = names.path(names.pick(["log", "txt"]), names.number(0, 1)), names.keyword(), names.file("txt")
    lines, hits = lines_some_with(names, word, names.number(5, 8))
    kind, solution, kept = names.pick(
        [
            ("contain", f"grep {word} {quote(source)} > {quote(out)}", hits),
            ("contain", f"cat {quote(source)} | grep {word} > {quote(out)}", hits),
            ("do not contain", f"grep -v {word} {quote(source)} > {quote(out)}", [x for x in lines if x not in hits]),
        ]
    )
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(kept),
        asks=[
            f"Save the lines of {shown(source)} that {kind} {word} as {shown(out)}.",
            f"Write those lines of {shown(source)} which {kind} the word {word} to {shown(out)}, in the same order.",
            f"From {shown(source)}, only lines that {kind} {word} are wanted. Put them into {shown(out)}.",
        ],
        solution=[solution],
    )


def lines_by_edge(names: Names) -> Unit:
    """Lines that start or end with a word; other lines hold it elsewhere."""
    source, word, out = names.path("txt", names.number(0, 1)), names.keyword(), names.file("txt")
    rows = [names.filler(2) for _ in range(6)]
    lines = [f"{word} {a} {b}" for a, b in rows[:2]] + [f"{a} {b} {word}" for a, b in rows[2:4]]
    lines += [f"{a} {word} {b}" for a, b in rows[4:]] + names.lines(2)
    names.rng.shuffle(lines)
    where, pattern = names.pick([("start", f"^{word}"), ("end", f"{word}$")])
    hits = [line for line in lines if line.split()[0 if where == "start" else -1] == word]
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(hits),
        asks=[
            f"Save the lines of {shown(source)} that {where} with {word} in {shown(out)}.",
            f"Take the lines from {shown(source)} which {where} with the word {word}; write them to {shown(out)}.",
            f"{shown(out)} shall get every line of {shown(source)} that {where}s with {word}, in order.",
        ],
        solution=[f"grep '{pattern}' {quote(source)} > {quote(out)}"],
    )


def lines_any_case(names: Names) -> Unit:
    """Lines with a word in any case, or numbered lines with it."""
    source, word, out = names.path("log", names.number(0, 1)), names.keyword(), names.file("txt")
    lines, _ = lines_some_with(names, word, names.number(5, 8))
    lines = [line.replace(word, names.pick([word, word.upper(), word.capitalize()])) for line in lines]
    hits = [line for line in lines if word in line.lower().split()]
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(hits),
        asks=[
            f"Save the lines of {shown(source)} that contain {word} in any case as {shown(out)}.",
            f"Upper or lower case does not matter: lines of {shown(source)} with {word} go to {shown(out)}.",
            f"Write each line of {shown(source)} that has the word {word}, ignoring case, to {shown(out)}.",
        ],
        solution=[f"grep -i {word} {quote(source)} > {quote(out)}"],
    )


def lines_numbered(names: Names) -> Unit:
    """Matching lines with their numbers in front."""
    source, word, out = names.path("txt", names.number(0, 1)), names.keyword(), names.file("txt")
    lines, hits = lines_some_with(names, word, names.number(5, 8))
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(f"{number}:{line}" for number, line in enumerate(lines, 1) if line in hits),
        asks=[
            f"Save the lines of {shown(source)} with the word {word} in {shown(out)}, each as number:line.",
            f"Write to {shown(out)} where {word} occurs in {shown(source)}: line number, a colon, the line.",
            f"Put the lines of {shown(source)} that contain {word}, line number and colon in front, into {shown(out)}.",
        ],
        solution=[f"grep -n {word} {quote(source)} > {quote(out)}"],
    )


def lines_of_several(names: Names) -> Unit:
    """Lines with a word from all files of a directory, without file names."""
    home, word, out = names.directory(), names.keyword(), names.file("txt")
    texts = {f"{home}/{names.file('log')}": lines_some_with(names, word, 5) for _ in range(names.number(2, 3))}
    return saving_unit(
        names,
        [fixture(path, text_of(lines)) for path, (lines, _) in texts.items()],
        out,
        text_of(line for path in sorted(texts) for line in texts[path][1]),
        asks=[
            f"Gather just the lines with {word} from all .log files of {home}, by file name, in {shown(out)}.",
            f"Go through the .log files of {home} in order of name and write every line that contains {word} to "
            f"{shown(out)}. Only the lines, no file names.",
            f"{shown(out)} shall hold just the lines of {home}/*.log, file by file, that have {word} in them.",
        ],
        solution=[
            names.pick(
                [
                    f"grep -h {word} {home}/*.log > {quote(out)}",
                    f"cat {home}/*.log | grep {word} > {quote(out)}",
                ]
            )
        ],
    )


def lines_with_either(names: Names) -> Unit:
    """Lines with one of two words."""
    source, out = names.path("txt", names.number(0, 1)), names.file("txt")
    first, second = names.keyword(), names.keyword()
    lines = [f"{names.line(1, 2)} {word} {names.line(1, 2)}" for word in (first, second, first, second)]
    lines = names.rng.sample([*lines, *names.lines(4)], 8)
    hits = [line for line in lines if {first, second} & set(line.split())]
    return saving_unit(
        names,
        [fixture(source, text_of(lines))],
        out,
        text_of(hits),
        asks=[
            f"Save the lines of {shown(source)} that contain {first} or {second} as {shown(out)}.",
            f"A line of {shown(source)} with either {first} or {second} in it belongs into {shown(out)}.",
            f"Copy to {shown(out)} each line of {shown(source)} where one of the words {first}, {second} occurs.",
        ],
        solution=[
            names.pick(
                [
                    f"grep -e {first} -e {second} {quote(source)} > {quote(out)}",
                    f"grep -E '{first}|{second}' {quote(source)} > {quote(out)}",
                ]
            )
        ],
    )


SHAPES: dict[str, list[Shape]] = {
    "extract_lines": [
        lines_with_word, lines_by_edge, lines_any_case, lines_numbered, lines_of_several, lines_with_either,
    ],
}  # fmt: skip
