"""Worlds in which a prefix is added to many names, or stripped from them."""

from authoring.templates.renames import renaming_unit
from authoring.templates.world import Names, Shape, Unit, directory, fixture, listed


def _plain_files(names: Names, count: int, ext: str, prefix: str = "") -> dict[str, str]:
    """`count` file names with texts. No name begins with a dash or has a space, so that a prefix can be added."""
    return {f"{prefix}{names.file(ext, plain=True)}": names.text(1, 3) for _ in range(count)}


def _add_prefix(names: Names) -> Unit:
    place, prefix, ext = names.directory(), f"{names.word()}{names.pick(['-', '_'])}", names.pick(["log", "txt", "jpg"])
    files = _plain_files(names, names.number(2, 4), ext)
    return renaming_unit(
        place,
        files,
        {f"{prefix}{name}": text for name, text in files.items()},
        rest=_plain_files(names, 1, "md"),
        directive=names.pick(
            [
                f"Put the prefix {prefix} before the name of every .{ext} file in {place}.",
                f"Rename all .{ext} files of {place} so that {prefix} comes first, then the old name.",
                f"In {place} each .{ext} file NAME becomes {prefix}NAME.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f'(cd {place} && for f in *.{ext}; do mv "$f" "{prefix}$f"; done)',
                    f'for f in {place}/*.{ext}; do mv "$f" "{place}/{prefix}${{f##*/}}"; done',
                ]
            )
        ],
    )


def _strip_prefix(names: Names) -> Unit:
    place, prefix = names.directory(), f"{names.word()}{names.pick(['-', '_'])}"
    ext = names.pick(["log", "txt", "csv"])
    files = _plain_files(names, names.number(2, 4), ext, prefix)
    return renaming_unit(
        place,
        files,
        {name.removeprefix(prefix): text for name, text in files.items()},
        rest=_plain_files(names, 1, ext),
        directive=names.pick(
            [
                f"Strip the prefix {prefix} from the names of all files in {place} that have it.",
                f"In {place} rename every {prefix}NAME to NAME.",
                f"Take {prefix} off the front of each file name in {place} that starts with it.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f'(cd {place} && for f in {prefix}*; do mv "$f" "${{f#{prefix}}}"; done)',
                    f'for f in {place}/{prefix}*; do mv "$f" "{place}/${{f#{place}/{prefix}}}"; done',
                ]
            )
        ],
    )


def _swap_prefix(names: Names) -> Unit:
    place, mark = names.directory(), names.pick(["-", "_"])
    old, new = (f"{word}{mark}" for word in names.words(2))
    files = _plain_files(names, names.number(2, 4), names.pick(["log", "txt", "png"]), old)
    return renaming_unit(
        place,
        files,
        {f"{new}{name.removeprefix(old)}": text for name, text in files.items()},
        rest=_plain_files(names, 1, "md"),
        directive=names.pick(
            [
                f"Replace the prefix {old} by {new} in all file names of {place} that start with it.",
                f"In {place} rename each {old}NAME to {new}NAME.",
                f"File names in {place} that begin with {old} must begin with {new} instead.",
            ]
        ),
        solution=[f'(cd {place} && for f in {old}*; do mv "$f" "{new}${{f#{old}}}"; done)'],
    )


def _prefix_two_named(names: Names) -> Unit:
    prefix = f"{names.word()}{names.pick(['-', '_'])}"
    files = _plain_files(names, 2, names.pick(["txt", "md", "csv"]))
    what = listed(list(files))
    return Unit(
        fixtures=[fixture(*item) for item in files.items()],
        directive=names.pick(
            [
                f"Rename {what} by putting {prefix} before each name.",
                f"Give the files {what} the prefix {prefix}.",
                f"Put {prefix} at the front of two names: {what}.",
            ]
        ),
        solution=[f"mv {name} {prefix}{name}" for name in files],
        after=[fixture(f"{prefix}{name}", text) for name, text in files.items()],
        removed=list(files),
    )


def _prefix_with_directory(names: Names) -> Unit:
    place, target = names.directory(), names.directory()
    ext = names.pick(["txt", "log", "csv"])
    files = _plain_files(names, names.number(2, 3), ext)
    return Unit(
        fixtures=[*(fixture(f"{place}/{name}", text) for name, text in files.items()), directory(target)],
        directive=names.pick(
            [
                f"Move every .{ext} file of {place} into {target}, with {place}- put before its name.",
                f"Bring the .{ext} files from {place} to {target}; NAME is called {place}-NAME there.",
                f"Each {place}/NAME.{ext} becomes {target}/{place}-NAME.{ext}.",
            ]
        ),
        solution=[f'for f in {place}/*.{ext}; do mv "$f" "{target}/{place}-${{f##*/}}"; done'],
        after=[fixture(f"{target}/{place}-{name}", text) for name, text in files.items()],
        removed=[f"{place}/{name}" for name in files],
    )


SHAPES: dict[str, list[Shape]] = {
    "rename_prefix": [_add_prefix, _strip_prefix, _swap_prefix, _prefix_two_named, _prefix_with_directory],
}
