"""Worlds in which words of a text are replaced."""

from authoring.templates.world import Names, Shape, Unit, editing_unit, fixture, quote, saving_unit, shown, text_of


def _text_with_word(names: Names, word: str, *, twice: bool = False) -> str:
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
    text = _text_with_word(names, old, twice=True)
    return editing_unit(
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
        [f"sed -i 's/{old}/{new}/g' {quote(path)}"],
    )


def replace_into_copy(names: Names) -> Unit:
    """The changed text in a new file; the original stays."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    old, new = names.keyword(), names.word()
    text = _text_with_word(names, old, twice=True)
    return saving_unit(
        names,
        [fixture(path, text)],
        out,
        text.replace(old, new),
        asks=[
            f"Write {shown(path)} with every {old} replaced by {new} to {shown(out)}; leave {shown(path)} as it is.",
            f"{shown(out)} shall be a copy of {shown(path)} in which {new} stands wherever {old} stood.",
            f"Save a version of {shown(path)} as {shown(out)} that says {new} instead of {old} everywhere.",
        ],
        solution=[f"sed 's/{old}/{new}/g' {quote(path)} > {quote(out)}"],
    )


def replace_in_directory(names: Names) -> Unit:
    """A word in all files of one extension of a directory."""
    home, old, new = names.directory(), names.keyword(), names.word()
    ext, other = names.rng.sample(["txt", "conf", "md"], 2)
    texts = {f"{home}/{names.file(ext)}": _text_with_word(names, old, twice=True) for _ in range(names.number(2, 3))}
    rest = fixture(f"{home}/{names.file(other)}", _text_with_word(names, old))
    return editing_unit(
        [*(fixture(path, text) for path, text in texts.items()), rest],
        {path: text.replace(old, new) for path, text in texts.items()},
        names.pick(
            [
                f"Replace {old} by {new} in all .{ext} files of {home}, every time it occurs.",
                f"In every .{ext} file of the directory {home}, {old} must become {new}; other files stay as they are.",
                f"The .{ext} files of {home} say {old}. Make that {new} in all of them.",
            ]
        ),
        [f"sed -i 's/{old}/{new}/g' {home}/*.{ext}"],
    )


def replace_in_tree(names: Names) -> Unit:
    """A word in all files of a tree."""
    home, old, new = names.directory(), names.keyword(), names.word()
    texts = {f"{home}/{names.path('txt', depth, plain=True)}": _text_with_word(names, old) for depth in (0, 1, 2)}
    rest = [fixture(f"{home}/{names.path('txt', depth, plain=True)}", names.text()) for depth in (0, 1)]
    return editing_unit(
        [*(fixture(path, text) for path, text in texts.items()), *rest],
        {path: text.replace(old, new) for path, text in texts.items()},
        names.pick(
            [
                f"Change {old} to {new} in every file below {home}, at any depth.",
                f"Wherever a file in the tree {home} says {old}, it should say {new}.",
                f"{old} has a new name: {new}. Correct all files under {home}, subdirectories included.",
            ]
        ),
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
    return editing_unit(
        [fixture(path, text_of(lines))],
        {path: text_of(line.replace(old, new, 1) for line in lines)},
        names.pick(
            [
                f"In {shown(path)}, replace only the first {old} of each line by {new}.",
                f"Lines of {shown(path)} hold {old} more than once; change just the first one on every line to {new}.",
                f"On each line of {shown(path)} the first {old} becomes {new}, any later one stays.",
            ]
        ),
        [f"sed -i 's/{old}/{new}/' {quote(path)}"],
    )


def replace_two_words(names: Names) -> Unit:
    """Two words in one file."""
    path, first, second = names.path("md", names.number(0, 1)), names.keyword(), names.keyword()
    one, two = names.words(2)
    text = text_of([names.line(), f"{names.line()} {first}", f"{second} {names.line()}", f"{first} {second}"])
    return editing_unit(
        [fixture(path, text)],
        {path: text.replace(first, one).replace(second, two)},
        names.pick(
            [
                f"In {shown(path)}, replace {first} by {one} and {second} by {two}, everywhere.",
                f"Two words of {shown(path)} change: {first} becomes {one}, {second} becomes {two}.",
                f"Edit {shown(path)} so that it says {one} for {first} and {two} for {second}.",
            ]
        ),
        names.pick(
            [
                [f"sed -i 's/{first}/{one}/g; s/{second}/{two}/g' {quote(path)}"],
                [f"sed -i 's/{first}/{one}/g' {quote(path)}", f"sed -i 's/{second}/{two}/g' {quote(path)}"],
            ]
        ),
    )


SHAPES: dict[str, list[Shape]] = {
    "replace_text": [
        replace_in_file,
        replace_into_copy,
        replace_in_directory,
        replace_in_tree,
        replace_once_per_line,
        replace_two_words,
    ],
}
