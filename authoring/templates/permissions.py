"""Worlds of the archetype set_modes: the modes of one file, of some files by name, type or mode, or of a tree.

Contents stay as they are; only modes change.
"""

from collections.abc import Callable

from authoring.templates.world import Names, Shape, Unit, directory, fixture, quote, shown
from schema import Fixture

SYMBOLIC: dict[str, tuple[str, Callable[[int], int]]] = {
    "u+x": ("executable for its owner", lambda mode: mode | 0o100),
    "a+x": ("executable for everybody", lambda mode: mode | 0o111),
    "go-r": ("unreadable for group and others", lambda mode: mode & ~0o044),
    "a-w": ("read-only for everybody, the owner too", lambda mode: mode & ~0o222),
    "g+w": ("writable for its group", lambda mode: mode | 0o020),
    "o-r": ("unreadable for others", lambda mode: mode & ~0o004),
}


def _with_mode(entry: Fixture, mode: int) -> Fixture:
    """The entry as it is after chmod."""
    return entry.model_copy(update={"mode": mode})


def _octal(names: Names, *without: int) -> int:
    """A mode for files that is none of `without`."""
    return names.pick([mode for mode in (0o600, 0o640, 0o644, 0o660, 0o664, 0o440, 0o400) if mode not in without])


def _mode_of_file(names: Names) -> Unit:
    entry = fixture(path := names.path(names.pick(["txt", "sh", "conf"]), names.number(0, 1)), names.text(), 0o644)
    mode = names.pick([0o600, 0o640, 0o660, 0o664, 0o400, 0o444, 0o700, 0o750, 0o755])
    s = shown(path)
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Set the mode of {s} to {mode:o}.",
                f"Change the permissions of {s} to {mode:o}.",
                f"Give {s} the mode {mode:o}.",
                f"The file {s} must have mode {mode:o}; see to it.",
            ]
        ),
        solution=[f"chmod {mode:o} {quote(path)}"],
        after=[_with_mode(entry, mode)],
    )


def _mode_in_words(names: Names) -> Unit:
    before = names.pick([0o644, 0o664, 0o600])
    entry = fixture(path := names.path(names.pick(["txt", "sh", "log"]), names.number(0, 1)), names.text(), before)
    change, (words, become) = names.pick([item for item in SYMBOLIC.items() if item[1][1](before) != before])
    s = shown(path)
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Make {s} {words} and leave its other permission bits alone.",
                f"Without touching the other bits, make {s} {words}.",
                f"See to it that {s} is {words}; the rest of its mode stays.",
            ]
        ),
        solution=[f"chmod {change} {quote(path)}"],
        after=[_with_mode(entry, become(before))],
    )


def _modes_by_extension(names: Names) -> Unit:
    place = names.directory()
    ext, other = names.pick([("sh", "txt"), ("py", "md"), ("conf", "log"), ("log", "txt")])
    mode = names.pick([0o755, 0o750, 0o700]) if ext in ("sh", "py") else names.pick([0o600, 0o640, 0o660])
    matching = [fixture(f"{place}/{names.file(ext)}", names.text(1, 3), 0o644) for _ in range(names.number(2, 4))]
    rest = [fixture(f"{place}/{names.file(other)}", names.text(1, 3), 0o644) for _ in range(names.number(1, 2))]
    return Unit(
        fixtures=names.rng.sample(matching + rest, len(matching + rest)),
        directive=names.pick(
            [
                f"Set the mode of every .{ext} file in {place} to {mode:o}; other files keep theirs.",
                f"All .{ext} files of {place} get mode {mode:o}.",
                f"Change the permissions of the .{ext} files in {place} to {mode:o} and of nothing else.",
            ]
        ),
        solution=[f"chmod {mode:o} {place}/*.{ext}"],
        after=[_with_mode(entry, mode) for entry in matching],
    )


def _private_directory(names: Names) -> Unit:
    place = names.directory()
    outer, inner = names.pick([0o700, 0o750, 0o711]), names.pick([0o600, 0o640])
    entry = directory(place, 0o755)
    inside = [fixture(f"{place}/{names.file()}", names.text(1, 3), 0o644) for _ in range(names.number(2, 3))]
    return Unit(
        fixtures=[entry, *inside],
        directive=names.pick(
            [
                f"Give the files in {place} mode {inner:o} and the directory {place} itself mode {outer:o}.",
                f"Set every file of {place} to {inner:o}, then the directory to {outer:o}.",
                f"Close {place} down: mode {inner:o} for the files in it, mode {outer:o} for the directory.",
            ]
        ),
        solution=[f"chmod {inner:o} {place}/*", f"chmod {outer:o} {place}"],
        after=[_with_mode(entry, outer), *(_with_mode(file, inner) for file in inside)],
    )


def _tree_by_type(names: Names) -> Unit:
    place, below = names.directory(), names.word()
    for_files, for_directories = names.pick([0o600, 0o640, 0o660]), names.pick([0o700, 0o750, 0o770])
    directories = [directory(place, 0o755), directory(f"{place}/{below}", 0o755)]
    files = [fixture(f"{place}/{names.file()}", names.text(1, 3), 0o644)]
    files += [fixture(f"{place}/{below}/{names.file()}", names.text(1, 3), 0o644) for _ in range(names.number(1, 2))]
    return Unit(
        fixtures=directories + files,
        directive=names.pick(
            [
                f"In the tree {place}, set all files to mode {for_files:o} and all directories, {place} included, to"
                f" {for_directories:o}.",
                f"Files anywhere below {place} get mode {for_files:o}, directories from {place} down get"
                f" {for_directories:o}.",
                f"Go through {place} with its subdirectories: mode {for_files:o} on files, mode {for_directories:o} on"
                f" every directory and on {place}.",
            ]
        ),
        solution=[
            f"find {place} -type f -exec chmod {for_files:o} {{}} +",
            f"find {place} -type d -exec chmod {for_directories:o} {{}} +",
        ],
        after=[_with_mode(entry, for_files) for entry in files]
        + [_with_mode(entry, for_directories) for entry in directories],
    )


def _two_modes(names: Names) -> Unit:
    first, second = names.path("txt", names.number(0, 1)), names.path("conf", names.number(0, 1))
    one = _octal(names, 0o644)
    two = _octal(names, 0o644, one)
    entries = [fixture(first, names.text(), 0o644), fixture(second, names.text(), 0o644)]
    a, b = shown(first), shown(second)
    return Unit(
        fixtures=entries,
        directive=names.pick(
            [
                f"Set {a} to mode {one:o} and {b} to mode {two:o}.",
                f"Change two modes: {a} becomes {one:o}, {b} becomes {two:o}.",
                f"Give {a} the permissions {one:o}; {b} gets {two:o}.",
            ]
        ),
        solution=[f"chmod {one:o} {quote(first)}", f"chmod {two:o} {quote(second)}"],
        after=[_with_mode(entries[0], one), _with_mode(entries[1], two)],
    )


def _modes_by_mode(names: Names) -> Unit:
    place, below = names.directory(), names.word()
    wrong = names.pick([0o666, 0o777])
    right = names.pick([0o644, 0o640, 0o600])
    bad = [
        fixture(f"{place}/{names.file()}", names.text(1, 2), wrong),
        fixture(f"{place}/{below}/{names.file()}", "x\n", wrong),
    ]
    good = [fixture(f"{place}/{names.file()}", names.text(1, 2), 0o444) for _ in range(2)]
    return Unit(
        fixtures=bad + good,
        directive=names.pick(
            [
                f"Find the files below {place} that have mode {wrong:o} and set them to {right:o}.",
                f"Every file in the tree {place} with mode {wrong:o} gets mode {right:o}; the others stay.",
                f"Change mode {wrong:o} to {right:o} on all files under {place} that have it.",
            ]
        ),
        solution=[f"find {place} -type f -perm {wrong:o} -exec chmod {right:o} {{}} +"],
        after=[_with_mode(entry, right) for entry in bad],
    )


SHAPES: dict[str, list[Shape]] = {
    "set_modes": [
        _mode_of_file,
        _mode_in_words,
        _modes_by_extension,
        _private_directory,
        _tree_by_type,
        _two_modes,
        _modes_by_mode,
    ],
}
