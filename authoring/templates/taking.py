"""Worlds in which some lines of a file are taken or removed by their position."""

from authoring.templates.world import Names, Shape, Unit, editing_unit, fixture, quote, saving_unit, shown, text_of


def take_edge(names: Names) -> Unit:
    """The first or last lines of a file."""
    path, out = names.path(names.pick(["log", "txt"]), names.number(0, 1)), names.file("txt")
    lines, count = names.lines(names.number(6, 10)), names.number(2, 4)
    which, tool, result = names.pick([("first", "head", lines[:count]), ("last", "tail", lines[-count:])])
    return saving_unit(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(result),
        asks=[
            f"Save the {which} {count} lines of {shown(path)} as {shown(out)}.",
            f"Write only the {which} {count} lines of {shown(path)} to {shown(out)}.",
            f"{shown(out)} shall hold the {which} {count} lines of {shown(path)}.",
            f"From {shown(path)}, put the {which} {count} lines into {shown(out)}.",
        ],
        solution=[f"{tool} -n {count} {quote(path)} > {quote(out)}"],
    )


def take_middle(names: Names) -> Unit:
    """A range of lines."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    lines, start = names.lines(names.number(8, 10)), names.number(2, 4)
    end = start + names.number(1, 3)
    return saving_unit(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(lines[start - 1 : end]),
        asks=[
            f"Save lines {start} to {end} of {shown(path)} as {shown(out)}.",
            f"Write {shown(path)} from line {start} up to and including line {end} to {shown(out)}.",
            f"Only lines {start} through {end} of {shown(path)} are needed; put them into {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"sed -n '{start},{end}p' {quote(path)} > {quote(out)}",
                    f"head -n {end} {quote(path)} | tail -n +{start} > {quote(out)}",
                ]
            )
        ],
    )


def take_single(names: Names) -> Unit:
    """One line by its number."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    lines = names.lines(names.number(6, 9))
    number = names.number(2, len(lines) - 1)
    return saving_unit(
        names,
        [fixture(path, text_of(lines))],
        out,
        f"{lines[number - 1]}\n",
        asks=[
            f"Save line {number} of {shown(path)} as {shown(out)}.",
            f"Write just line number {number} of {shown(path)} to {shown(out)}.",
            f"What stands in line {number} of {shown(path)}? Put that line into {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"sed -n '{number}p' {quote(path)} > {quote(out)}",
                    f"sed -n {number}p {quote(path)} > {quote(out)}",
                    f"head -n {number} {quote(path)} | tail -n 1 > {quote(out)}",
                ]
            )
        ],
    )


def take_rest(names: Names) -> Unit:
    """Everything after the first lines."""
    path, out = names.path(names.pick(["txt", "csv"]), names.number(0, 1)), names.file("txt")
    lines, skip = names.lines(names.number(6, 9)), names.number(1, 3)
    what = "line" if skip == 1 else f"{skip} lines"
    return saving_unit(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(lines[skip:]),
        asks=[
            f"Save {shown(path)} without its first {what} as {shown(out)}.",
            f"Write all but the first {what} of {shown(path)} to {shown(out)}.",
            f"Skip the first {what} of {shown(path)}; the remaining lines go to {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"tail -n +{skip + 1} {quote(path)} > {quote(out)}",
                    f"sed '1,{skip}d' {quote(path)} > {quote(out)}"
                    if skip > 1
                    else f"sed 1d {quote(path)} > {quote(out)}",
                ]
            )
        ],
    )


def take_off_in_place(names: Names) -> Unit:
    """The first or last line removed from the file itself."""
    path = names.path(names.pick(["txt", "log"]), names.number(0, 1))
    lines = names.lines(names.number(5, 8))
    which, script, result = names.pick([("first", "1d", lines[1:]), ("last", "$d", lines[:-1])])
    return editing_unit(
        [fixture(path, text_of(lines))],
        {path: text_of(result)},
        names.pick(
            [
                f"Take the {which} line off {shown(path)}, in the file itself.",
                f"Remove the {which} line of {shown(path)} and keep all other lines.",
                f"{shown(path)} has one line too many: delete its {which} line.",
            ]
        ),
        [f"sed -i '{script}' {quote(path)}"],
    )


def take_of_each(names: Names) -> Unit:
    """The first or last line of each file of a directory."""
    home, out, ext = names.directory(), names.file("txt"), names.pick(["txt", "log"])
    texts = {f"{home}/{names.file(ext)}": names.lines(names.number(3, 5)) for _ in range(3)}
    which, tool, index = names.pick([("first", "head", 0), ("last", "tail", -1)])
    return saving_unit(
        names,
        [fixture(path, text_of(lines)) for path, lines in texts.items()],
        out,
        text_of(texts[path][index] for path in sorted(texts)),
        asks=[
            f"Write the {which} line of each .{ext} file in {home}, in order of file name, to {shown(out)}.",
            f"Every .{ext} file of {home} gives its {which} line to {shown(out)}; go by file name, no headings.",
            f"Collect in {shown(out)} the {which} lines of all .{ext} files of {home}, sorted by file name.",
        ],
        solution=[f'for f in {home}/*.{ext}; do {tool} -n 1 "$f"; done > {quote(out)}'],
    )


SHAPES: dict[str, list[Shape]] = {
    "take_lines": [take_edge, take_middle, take_single, take_rest, take_off_in_place, take_of_each],
}
