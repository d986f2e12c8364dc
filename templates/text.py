"""Make worlds of changing text: replacing, sorting, translating characters, taking some of the lines.

    from templates.text import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing
"""

from collections.abc import Sequence

from schema import Fixture
from templates.world import Names, Shape, Unit, fixture, quote, saved, shown, text_of


def edited(fixtures: Sequence[Fixture], texts: dict[str, str], directive: str, other: str, solution: list[str]) -> Unit:
    """A unit that changes files in place: `texts` holds their new contents by path."""
    return Unit(list(fixtures), directive, other, solution, after=[fixture(path, text) for path, text in texts.items()])


def _mentions(names: Names, word: str, *, twice: bool = False) -> str:
    """A text of four to six lines, two or three of which hold the word; one of them twice if asked."""
    lines = names.lines(names.number(4, 6))
    for number, index in enumerate(names.rng.sample(range(len(lines)), names.number(2, 3))):
        lines[index] += f" {word}"
        if twice and number == 0:
            lines[index] = f"{word} {lines[index]}"
    return text_of(lines)


def replace_in_file(names: Names) -> Unit:
    """Every occurrence of a word in one file, in place."""
    path, old, new = names.path(names.pick(["txt", "md", "conf"]), names.number(0, 1)), names.keyword(), names.word()
    text = _mentions(names, old, twice=True)
    return edited(
        [fixture(path, text)],
        {path: text.replace(old, new)},
        names.pick(
            [
                f"In {shown(path)}, replace every {old} by {new}.",
                f"The word {old} in {shown(path)} must read {new} everywhere. Change the file itself.",
                f"Edit {shown(path)}: each occurrence of {old} becomes {new}.",
                f"Substitute {new} for {old} throughout the file {shown(path)}.",
            ]
        ),
        f"how to swap {old} for {new} all over {shown(path)} in place",
        [f"sed -i 's/{old}/{new}/g' {quote(path)}"],
    )


def replace_into_copy(names: Names) -> Unit:
    """The changed text in a new file; the original stays."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    old, new = names.keyword(), names.word()
    text = _mentions(names, old, twice=True)
    return saved(
        names,
        [fixture(path, text)],
        out,
        text.replace(old, new),
        asks=[
            f"Write {shown(path)} with every {old} replaced by {new} to {shown(out)}; leave {shown(path)} as it is.",
            f"{shown(out)} shall be a copy of {shown(path)} in which {new} stands wherever {old} stood.",
            f"Save a version of {shown(path)} as {shown(out)} that says {new} instead of {old} everywhere.",
        ],
        other=f"how to produce {shown(out)} out of {shown(path)} with {old} turned to {new}",
        solution=[f"sed 's/{old}/{new}/g' {quote(path)} > {quote(out)}"],
    )


def replace_in_directory(names: Names) -> Unit:
    """A word in all files of one extension of a directory."""
    home, old, new = names.directory(), names.keyword(), names.word()
    ext, other = names.rng.sample(["txt", "conf", "md"], 2)
    texts = {f"{home}/{names.file(ext)}": _mentions(names, old, twice=True) for _ in range(names.number(2, 3))}
    rest = fixture(f"{home}/{names.file(other)}", _mentions(names, old))
    return edited(
        [*(fixture(path, text) for path, text in texts.items()), rest],
        {path: text.replace(old, new) for path, text in texts.items()},
        names.pick(
            [
                f"Replace {old} by {new} in all .{ext} files of {home}, every time it occurs.",
                f"In every .{ext} file of the directory {home}, {old} must become {new}; other files stay as they are.",
                f"The .{ext} files of {home} say {old}. Make that {new} in all of them.",
            ]
        ),
        f"how to edit many .{ext} files of {home} at once so that {old} turns to {new}",
        [f"sed -i 's/{old}/{new}/g' {home}/*.{ext}"],
    )


def replace_in_tree(names: Names) -> Unit:
    """A word in all files of a tree."""
    home, old, new = names.directory(), names.keyword(), names.word()
    texts = {f"{home}/{names.path('txt', depth, plain=True)}": _mentions(names, old) for depth in (0, 1, 2)}
    rest = [fixture(f"{home}/{names.path('txt', depth, plain=True)}", names.text()) for depth in (0, 1)]
    return edited(
        [*(fixture(path, text) for path, text in texts.items()), *rest],
        {path: text.replace(old, new) for path, text in texts.items()},
        names.pick(
            [
                f"Change {old} to {new} in every file below {home}, at any depth.",
                f"Wherever a file in the tree {home} says {old}, it should say {new}.",
                f"{old} has a new name: {new}. Correct all files under {home}, subdirectories included.",
            ]
        ),
        f"how to rename {old} to {new} in the files of the whole tree {home}",
        [
            names.pick(
                [
                    f"grep -rl {old} {home} | xargs sed -i 's/{old}/{new}/g'",
                    f"find {home} -type f -exec sed -i 's/{old}/{new}/g' {{}} +",
                    f"find {home} -type f -exec sed -i 's/{old}/{new}/g' {{}} \\;",
                ]
            )
        ],
    )


def replace_once_per_line(names: Names) -> Unit:
    """Only the first occurrence on each line."""
    path, old, new = names.path("txt", names.number(0, 1)), names.keyword(), names.word()
    lines = [f"{old} {names.line(1, 2)} {old}", f"{names.line(1, 2)} {old} {old}", *names.lines(3)]
    names.rng.shuffle(lines)
    return edited(
        [fixture(path, text_of(lines))],
        {path: text_of(line.replace(old, new, 1) for line in lines)},
        names.pick(
            [
                f"In {shown(path)}, replace only the first {old} of each line by {new}.",
                f"Lines of {shown(path)} hold {old} more than once; change just the first one on every line to {new}.",
                f"On each line of {shown(path)} the first {old} becomes {new}, any later one stays.",
            ]
        ),
        f"how to alter the first {old} per line in {shown(path)} to {new}",
        [f"sed -i 's/{old}/{new}/' {quote(path)}"],
    )


def replace_two_words(names: Names) -> Unit:
    """Two words in one file."""
    path, first, second = names.path("md", names.number(0, 1)), names.keyword(), names.keyword()
    one, two = names.words(2)
    text = text_of([names.line(), f"{names.line()} {first}", f"{second} {names.line()}", f"{first} {second}"])
    return edited(
        [fixture(path, text)],
        {path: text.replace(first, one).replace(second, two)},
        names.pick(
            [
                f"In {shown(path)}, replace {first} by {one} and {second} by {two}, everywhere.",
                f"Two words of {shown(path)} change: {first} becomes {one}, {second} becomes {two}.",
                f"Edit {shown(path)} so that it says {one} for {first} and {two} for {second}.",
            ]
        ),
        f"how to make two substitutions in {shown(path)}: {first} to {one}, {second} to {two}",
        names.pick(
            [
                [f"sed -i 's/{first}/{one}/g; s/{second}/{two}/g' {quote(path)}"],
                [f"sed -i 's/{first}/{one}/g' {quote(path)}", f"sed -i 's/{second}/{two}/g' {quote(path)}"],
            ]
        ),
    )


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
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(result),
        asks=[
            f"Sort the lines of {shown(path)} into {shown(out)}, {how}.",
            f"Write the lines of {shown(path)} to {shown(out)} in alphabetical order, {how}.",
            f"{shown(out)} shall hold the sorted lines of {shown(path)}, {how}.",
        ],
        other=f"how to use sort on {shown(path)}, {how}, saving to {shown(out)}",
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
    return saved(
        names,
        [fixture(path, text_of(map(str, numbers)))],
        out,
        text_of(map(str, result)),
        asks=[
            f"Sort the numbers in {shown(path)} {how} and write them to {shown(out)}.",
            f"{shown(path)} holds one number per line. Save them {how} as {shown(out)}.",
            f"Order the numbers of {shown(path)} by value, {how}; the result goes to {shown(out)}.",
        ],
        other=f"how to sort numerically {how}, input {shown(path)}, output {shown(out)}",
        solution=[f"sort {option} {quote(path)} > {quote(out)}"],
    )


def sort_in_place(names: Names) -> Unit:
    """The file itself gets sorted."""
    path = names.path(names.pick(["txt", "list"]), names.number(0, 1))
    lines = _with_repeats(names, names.number(4, 6))
    return edited(
        [fixture(path, text_of(lines))],
        {path: text_of(sorted(set(lines)))},
        names.pick(
            [
                f"Sort {shown(path)} itself and drop repeated lines.",
                f"The file {shown(path)} must end up sorted, every line once, under the same name.",
                f"Put the lines of {shown(path)} in alphabetical order in the same file; no line may occur twice.",
            ]
        ),
        f"how to sort {shown(path)} in place with uniq lines",
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
    return saved(
        names,
        [fixture(path, text_of(part)) for path, part in zip(paths, parts, strict=True)],
        out,
        text_of(sorted(lines)),
        asks=[
            f"Merge the lines of all .{ext} files in {home} into {shown(out)}, sorted and without repeats.",
            f"The .{ext} files of {home} overlap. Save their lines, sorted, each once, in {shown(out)}.",
            f"Collect every different line of the .{ext} files in {home}, sort them, and write them to {shown(out)}.",
        ],
        other=f"how to unite the .{ext} files of {home} in one sorted {shown(out)} with unique lines",
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
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(result),
        asks=[
            f"Write the lines that occur {which} in {shown(path)} to {shown(out)}, sorted.",
            f"Which lines does {shown(path)} have {which}? Save them, sorted, one time each, as {shown(out)}.",
            f"{shown(out)} shall list, in sorted order, the lines of {shown(path)} that are there {which}.",
        ],
        other=f"how to find the lines of {shown(path)} that appear {which} with sort and uniq, into {shown(out)}",
        solution=[f"sort {quote(path)} | uniq {option} > {quote(out)}"],
    )


def case_into_copy(names: Names) -> Unit:
    """Upper or lower case in a new file."""
    path, out, upper = names.path("txt", names.number(0, 1)), names.file("txt"), names.number(0, 1)
    text = "".join(names.pick([line.title(), line]) for line in names.text(4, 6).splitlines(keepends=True))
    which, sets, result = ("upper", "a-z A-Z", text.upper()) if upper else ("lower", "A-Z a-z", text.lower())
    if text == result:
        text = text.swapcase()
    return saved(
        names,
        [fixture(path, text)],
        out,
        result,
        asks=[
            f"Write {shown(path)} in {which} case to {shown(out)}.",
            f"Save a copy of {shown(path)} as {shown(out)} with all letters in {which} case.",
            f"{shown(out)} shall hold the text of {shown(path)}, every letter in {which} case.",
        ],
        other=f"how to translate {shown(path)} to {which} case letters with tr and keep it in {shown(out)}",
        solution=[
            names.pick(
                [
                    f"tr {sets} < {quote(path)} > {quote(out)}",
                    f"cat {quote(path)} | tr {sets} > {quote(out)}",
                ]
            )
        ],
    )


def case_in_place(names: Names) -> Unit:
    """Upper or lower case in the file itself, by way of a second file."""
    path, upper = names.path("txt", names.number(0, 1)), names.number(0, 1)
    text = text_of(line.title() for line in names.lines(names.number(4, 6)))
    which, sets, result = ("upper", "a-z A-Z", text.upper()) if upper else ("lower", "A-Z a-z", text.lower())
    return edited(
        [fixture(path, text)],
        {path: result},
        names.pick(
            [
                f"Change all letters of {shown(path)} to {which} case, in the file itself.",
                f"The text in {shown(path)} has to be {which} case only; overwrite the file.",
                f"Turn {shown(path)} into {which} case and keep its name.",
            ]
        ),
        f"how to rewrite {shown(path)} using {which} case, by way of a temporary file",
        [
            f"tr {sets} < {quote(path)} > {quote(path + '.new')}",
            f"mv {quote(path + '.new')} {quote(path)}",
        ],
    )


def swap_character(names: Names) -> Unit:
    """One character for another."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    old, new, old_name, new_name = names.pick(
        [
            (",", ";", "comma", "a semicolon"), (":", " ", "colon", "a space"), (" ", "_", "space", "an underscore"),
            (" ", ",", "space", "a comma"), ("-", "_", "dash", "an underscore"), (";", ":", "semicolon", "a colon"),
        ]
    )  # fmt: skip
    text = text_of(line.replace(" ", old) for line in names.lines(names.number(4, 6)))
    return saved(
        names,
        [fixture(path, text)],
        out,
        text.replace(old, new),
        asks=[
            f"Replace each {old_name} in {shown(path)} by {new_name} and save the result as {shown(out)}.",
            f"Write {shown(path)} to {shown(out)} with {new_name} wherever there is a {old_name}.",
            f"{shown(out)} shall be {shown(path)} with every {old_name} turned into {new_name}.",
        ],
        other=f"how to exchange the {old_name} for {new_name} across {shown(path)} giving {shown(out)}",
        solution=[f"tr '{old}' '{new}' < {quote(path)} > {quote(out)}"],
    )


def drop_character(names: Names) -> Unit:
    """All of one character removed, or runs of it squeezed."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    rows = [line.split() for line in names.lines(names.number(4, 6))]
    sign, sign_name = names.pick([(",", "commas"), ("#", "hash signs"), ("*", "stars"), ("-", "dashes")])
    if names.number(0, 1):
        text = text_of(f"{sign} ".join(row) for row in rows)
        what, option, result = f"without any {sign_name}", "-d", text.replace(sign, "")
    else:
        text = text_of((sign * names.number(2, 4)).join(row) for row in rows)
        what, option = f"with each run of {sign_name} squeezed to one", "-s"
        result = text_of(sign.join(row) for row in rows)
    return saved(
        names,
        [fixture(path, text)],
        out,
        result,
        asks=[
            f"Save {shown(path)} {what} as {shown(out)}.",
            f"Write the text of {shown(path)} to {shown(out)}, {what}.",
            f"{shown(out)} needs the content of {shown(path)} {what}.",
        ],
        other=f"how to get {shown(out)} from {shown(path)} {what} by means of tr",
        solution=[f"tr {option} '{sign}' < {quote(path)} > {quote(out)}"],
    )


def case_of_directory(names: Names) -> Unit:
    """Every file of a directory, translated into a file of the same name in another directory."""
    home, target, upper = names.directory(), names.directory(), names.number(0, 1)
    which, sets = ("upper", "a-z A-Z") if upper else ("lower", "A-Z a-z")
    texts = {
        names.file("txt", plain=True): text_of(line.title() for line in names.lines(names.number(3, 4)))
        for _ in range(names.number(2, 3))
    }
    results = {name: text.upper() if upper else text.lower() for name, text in texts.items()}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in texts.items()],
        directive=names.pick(
            [
                f"Make {target} and write every file of {home} into it in {which} case, under the same name.",
                f"The files of {home} are wanted in {which} case: same names, in a new directory {target}.",
                f"For each file of {home}, save a version in {which} case in the new directory {target}.",
            ]
        ),
        instruction=f"how to loop over {home} and put {which} case versions of its files in {target}",
        solution=[
            f"mkdir {target}",
            names.pick(
                [
                    f"for f in {home}/*; do tr {sets} < $f > {target}/${{f##*/}}; done",
                    f"for f in {home}/*; do tr {sets} < $f > {target}/$(basename $f); done",
                ]
            ),
        ],
        after=[fixture(f"{target}/{name}", text) for name, text in results.items()],
    )


def take_edge(names: Names) -> Unit:
    """The first or last lines of a file."""
    path, out = names.path(names.pick(["log", "txt"]), names.number(0, 1)), names.file("txt")
    lines, count = names.lines(names.number(6, 10)), names.number(2, 4)
    which, tool, result = names.pick([("first", "head", lines[:count]), ("last", "tail", lines[-count:])])
    return saved(
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
        other=f"how to cut {shown(path)} down to its {which} {count} lines in {shown(out)}",
        solution=[f"{tool} -n {count} {quote(path)} > {quote(out)}"],
    )


def take_middle(names: Names) -> Unit:
    """A range of lines."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    lines, start = names.lines(names.number(8, 10)), names.number(2, 4)
    end = start + names.number(1, 3)
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(lines[start - 1 : end]),
        asks=[
            f"Save lines {start} to {end} of {shown(path)} as {shown(out)}.",
            f"Write {shown(path)} from line {start} up to and including line {end} to {shown(out)}.",
            f"Only lines {start} through {end} of {shown(path)} are needed; put them into {shown(out)}.",
        ],
        other=f"how to print the range {start} to {end} of lines in {shown(path)} to {shown(out)}",
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
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        f"{lines[number - 1]}\n",
        asks=[
            f"Save line {number} of {shown(path)} as {shown(out)}.",
            f"Write just line number {number} of {shown(path)} to {shown(out)}.",
            f"What stands in line {number} of {shown(path)}? Put that line into {shown(out)}.",
        ],
        other=f"how to pick line {number} out of {shown(path)} for {shown(out)}",
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
    return saved(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(lines[skip:]),
        asks=[
            f"Save {shown(path)} without its first {what} as {shown(out)}.",
            f"Write all but the first {what} of {shown(path)} to {shown(out)}.",
            f"Skip the first {what} of {shown(path)}; the remaining lines go to {shown(out)}.",
        ],
        other=f"how to leave the first {what} out when copying {shown(path)} to {shown(out)}",
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
    return edited(
        [fixture(path, text_of(lines))],
        {path: text_of(result)},
        names.pick(
            [
                f"Take the {which} line off {shown(path)}, in the file itself.",
                f"Remove the {which} line of {shown(path)} and keep all other lines.",
                f"{shown(path)} has one line too many: delete its {which} line.",
            ]
        ),
        f"how to strip the {which} line from {shown(path)} with sed",
        [f"sed -i '{script}' {quote(path)}"],
    )


def take_of_each(names: Names) -> Unit:
    """The first or last line of each file of a directory."""
    home, out, ext = names.directory(), names.file("txt"), names.pick(["txt", "log"])
    texts = {f"{home}/{names.file(ext)}": names.lines(names.number(3, 5)) for _ in range(3)}
    which, tool, index = names.pick([("first", "head", 0), ("last", "tail", -1)])
    return saved(
        names,
        [fixture(path, text_of(lines)) for path, lines in texts.items()],
        out,
        text_of(texts[path][index] for path in sorted(texts)),
        asks=[
            f"Write the {which} line of each .{ext} file in {home}, in order of file name, to {shown(out)}.",
            f"Every .{ext} file of {home} gives its {which} line to {shown(out)}; go by file name, no headings.",
            f"Collect in {shown(out)} the {which} lines of all .{ext} files of {home}, sorted by file name.",
        ],
        other=f"how to gather the {which} line from every .{ext} in {home} with a loop to {shown(out)}",
        solution=[f'for f in {home}/*.{ext}; do {tool} -n 1 "$f"; done > {quote(out)}'],
    )


SHAPES: dict[str, list[Shape]] = {
    "replace_text": [
        replace_in_file, replace_into_copy, replace_in_directory, replace_in_tree, replace_once_per_line,
        replace_two_words,
    ],
    "sort_unique": [sort_plain, sort_numbers, sort_in_place, sort_several, repeated_lines],
    "change_case": [case_into_copy, case_in_place, swap_character, drop_character, case_of_directory],
    "take_lines": [take_edge, take_middle, take_single, take_rest, take_off_in_place, take_of_each],
}  # fmt: skip
