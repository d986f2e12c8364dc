"""Worlds in which the lines of files are sorted, or repeated lines are picked."""

from authoring.templates.world import Names, Shape, Unit, editing_unit, fixture, quote, saving_unit, shown, text_of


def _with_repeats(names: Names, count: int) -> list[str]:
    """Lines in random order, two of them repeated."""
    lines = names.lines(count)
    return names.rng.sample([*lines, *names.rng.sample(lines, 2)], count + 2)


def sort_plain(names: Names) -> Unit:
    """Sorted lines, forwards or backwards, with or without repeats, in a new file."""
    path, out = names.path(names.pick(["txt", "list"]), names.number(0, 1)), names.file("txt")
    lines = _with_repeats(names, names.number(4, 7))
    how, options, result = names.pick(
        [
            ("without repeats", "sort -u", sorted(set(lines))),
            ("with each line only once", "sort -u", sorted(set(lines))),
            ("keeping repeated lines", "sort", sorted(lines)),
            ("but from z to a, without repeats", "sort -ru", sorted(set(lines), reverse=True)),
            ("but in reverse, keeping repeated lines", "sort -r", sorted(lines, reverse=True)),
        ]
    )
    return saving_unit(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(result),
        asks=[
            f"Sort the lines of {shown(path)} into {shown(out)}, {how}.",
            f"Write the lines of {shown(path)} to {shown(out)} in alphabetical order, {how}.",
            f"{shown(out)} shall hold the sorted lines of {shown(path)}, {how}.",
        ],
        solution=[f"{options} {quote(path)} > {quote(out)}"],
    )


def sort_numbers(names: Names) -> Unit:
    """A file of numbers, by value."""
    path, out = names.path("dat", names.number(0, 1)), names.file("txt")
    numbers = [*names.numbers(names.number(4, 6), 1, 400), names.number(1000, 2000)]
    numbers = names.rng.sample([*numbers, numbers[0]], len(numbers) + 1)
    how, option, result = names.pick(
        [
            ("from lowest to highest", "-n", sorted(numbers)),
            ("from highest to lowest", "-rn", sorted(numbers, reverse=True)),
            ("from lowest to highest, each only once", "-nu", sorted(set(numbers))),
        ]
    )
    return saving_unit(
        names,
        [fixture(path, text_of(map(str, numbers)))],
        out,
        text_of(map(str, result)),
        asks=[
            f"Sort the numbers in {shown(path)} {how} and write them to {shown(out)}.",
            f"{shown(path)} holds one number per line. Save them {how} as {shown(out)}.",
            f"Order the numbers of {shown(path)} by value, {how}; the result goes to {shown(out)}.",
        ],
        solution=[f"sort {option} {quote(path)} > {quote(out)}"],
    )


def sort_in_place(names: Names) -> Unit:
    """The file itself gets sorted."""
    path = names.path(names.pick(["txt", "list"]), names.number(0, 1))
    lines = _with_repeats(names, names.number(4, 6))
    return editing_unit(
        [fixture(path, text_of(lines))],
        {path: text_of(sorted(set(lines)))},
        names.pick(
            [
                f"Sort {shown(path)} itself and drop repeated lines.",
                f"The file {shown(path)} must end up sorted, every line once, under the same name.",
                f"Put the lines of {shown(path)} in alphabetical order in the same file; no line may occur twice.",
            ]
        ),
        names.pick(
            [
                [f"sort -u -o {quote(path)} {quote(path)}"],
                [f"sort -u {quote(path)} > {quote(path + '.new')}", f"mv {quote(path + '.new')} {quote(path)}"],
            ]
        ),
    )


def sort_several(names: Names) -> Unit:
    """The lines of all files of a directory, or of two files, merged."""
    home, out, ext = names.directory(), names.file("txt"), names.pick(["txt", "list"])
    lines = names.lines(6)
    paths = [f"{home}/{names.file(ext)}" for _ in range(3)]
    parts = [lines[:3], lines[2:5], lines[4:] + lines[:1]]
    for part in parts:
        names.rng.shuffle(part)
    return saving_unit(
        names,
        [fixture(path, text_of(part)) for path, part in zip(paths, parts, strict=True)],
        out,
        text_of(sorted(lines)),
        asks=[
            f"Merge the lines of all .{ext} files in {home} into {shown(out)}, sorted and without repeats.",
            f"The .{ext} files of {home} overlap. Save their lines, sorted, each once, in {shown(out)}.",
            f"Collect every different line of the .{ext} files in {home}, sort them, and write them to {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"sort -u {home}/*.{ext} > {quote(out)}",
                    f"cat {home}/*.{ext} | sort -u > {quote(out)}",
                    f"cat {home}/*.{ext} | sort | uniq > {quote(out)}",
                ]
            )
        ],
    )


def repeated_lines(names: Names) -> Unit:
    """Only the lines that occur more than once, or only the others."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    lines = _with_repeats(names, names.number(4, 6))
    which, option, result = names.pick(
        [
            ("more than once", "-d", sorted({line for line in lines if lines.count(line) > 1})),
            ("exactly once", "-u", sorted(line for line in lines if lines.count(line) == 1)),
        ]
    )
    return saving_unit(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(result),
        asks=[
            f"Write the lines that occur {which} in {shown(path)} to {shown(out)}, sorted.",
            f"Which lines does {shown(path)} have {which}? Save them, sorted, one time each, as {shown(out)}.",
            f"{shown(out)} shall list, in sorted order, the lines of {shown(path)} that are there {which}.",
        ],
        solution=[f"sort {quote(path)} | uniq {option} > {quote(out)}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "sort_unique": [sort_plain, sort_numbers, sort_in_place, sort_several, repeated_lines],
}
