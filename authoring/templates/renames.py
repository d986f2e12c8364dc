"""Worlds in which the extension of many files changes.

The loops are plain POSIX sh: `mv` in a for loop over a glob, with `${f%.old}` and `${f#old-}`.
"""

from authoring.templates.world import Names, Shape, Unit, directory, fixture, listed, quote, shown

PAIRS: tuple[tuple[str, str], ...] = (
    ("txt", "md"),
    ("text", "txt"),
    ("log", "old"),
    ("dat", "csv"),
    ("htm", "html"),
    ("cfg", "conf"),
    ("jpeg", "jpg"),
    ("yaml", "yml"),
    ("TXT", "txt"),
)


def _files_named(names: Names, count: int, ext: str) -> dict[str, str]:
    """`count` file names of an extension with their texts."""
    return {names.file(ext): names.text(1, 3) for _ in range(count)}


def renaming_unit(
    place: str, before: dict[str, str], after: dict[str, str], *, rest: dict[str, str], **asks: object
) -> Unit:
    """A unit that renames the files of `before` in `place` to those of `after`; the files of `rest` stay."""
    return Unit(
        fixtures=[fixture(f"{place}/{name}", text) for name, text in sorted({**before, **rest}.items())],
        after=[fixture(f"{place}/{name}", text) for name, text in after.items()],
        removed=[f"{place}/{name}" for name in before],
        **asks,  # type: ignore[arg-type]
    )


def _swap_extension(names: Names) -> Unit:
    place, (old, new) = names.directory(), names.pick(PAIRS)
    files = _files_named(names, names.number(2, 4), old)
    return renaming_unit(
        place,
        files,
        {f"{name.removesuffix(old)}{new}": text for name, text in files.items()},
        rest=_files_named(names, 1, names.pick(["bak", "pdf", "tmp"])),
        directive=names.pick(
            [
                f"Rename every .{old} file in {place} to end in .{new} instead.",
                f"Change the extension of all .{old} files of {place} to .{new}.",
                f"In {place} turn each NAME.{old} into NAME.{new}.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f'for f in {place}/*.{old}; do mv "$f" "${{f%.{old}}}.{new}"; done',
                    f'for f in {place}/*.{old}; do mv "$f" "${{f%{old}}}{new}"; done',
                ]
            )
        ],
    )


def _strip_extension(names: Names) -> Unit:
    place, old = names.directory(), names.pick(["bak", "old", "orig", "tmp"])
    files = _files_named(names, names.number(2, 4), f"{names.pick(['txt', 'conf', 'log'])}.{old}")
    return renaming_unit(
        place,
        files,
        {name.removesuffix(f".{old}"): text for name, text in files.items()},
        rest=_files_named(names, 1, "md"),
        directive=names.pick(
            [
                f"Strip the ending .{old} from every file name in {place} that has it.",
                f"In {place} rename each NAME.{old} to NAME.",
                f"Take .{old} off the names of all .{old} files in {place}.",
            ]
        ),
        solution=[f'for f in {place}/*.{old}; do mv "$f" "${{f%.{old}}}"; done'],
    )


def _append_extension(names: Names) -> Unit:
    place, ext, new = names.directory(), names.pick(["txt", "log", "conf", ""]), names.pick(["bak", "old", "orig"])
    files = _files_named(names, names.number(2, 4), ext)
    pattern = f"*.{ext}" if ext else "*"
    what = f".{ext} file" if ext else "file"
    return renaming_unit(
        place,
        files,
        {f"{name}.{new}": text for name, text in files.items()},
        rest=_files_named(names, 1, "md") if ext else {},
        directive=names.pick(
            [
                f"Append .{new} to the name of every {what} in {place}.",
                f"Rename each {what} of {place}: its name gets .{new} added at the end.",
                f"In {place} every {what} NAME becomes NAME.{new}.",
            ]
        ),
        solution=[f'for f in {place}/{pattern}; do mv "$f" "$f.{new}"; done'],
    )


def _two_named(names: Names) -> Unit:
    old, new = names.pick(PAIRS)
    files = {names.path(old, names.number(0, 1)): names.text(1, 3) for _ in range(2)}
    after = {f"{path.removesuffix(old)}{new}": text for path, text in files.items()}
    what = listed([shown(path) for path in files])
    return Unit(
        fixtures=[fixture(*item) for item in files.items()],
        directive=names.pick(
            [
                f"Rename {what}: both get the extension .{new} instead of .{old}.",
                f"Change the extension of {what} to .{new}.",
                f"Give {what} the extension .{new}; the rest of their names stays.",
            ]
        ),
        solution=[f"mv {quote(a)} {quote(b)}" for a, b in zip(files, after, strict=True)],
        after=[fixture(*item) for item in after.items()],
        removed=list(files),
    )


def _swap_in_subdirectories(names: Names) -> Unit:
    place, (old, new) = names.directory(), names.pick(PAIRS)
    below = names.words(2)
    files = {f"{names.pick(below)}/{name}": text for name, text in _files_named(names, names.number(2, 3), old).items()}
    return renaming_unit(
        place,
        files,
        {f"{path.removesuffix(old)}{new}": text for path, text in files.items()},
        rest={f"{word}/{names.file('md')}": names.text(1, 2) for word in below},
        directive=names.pick(
            [
                f"In the subdirectories of {place} rename all .{old} files to .{new}.",
                f"Change .{old} to .{new} in the names of all files one level below {place}.",
                f"Every file {place}/*/NAME.{old} becomes NAME.{new} in the same subdirectory.",
            ]
        ),
        solution=[f'for f in {place}/*/*.{old}; do mv "$f" "${{f%.{old}}}.{new}"; done'],
    )


def _swap_and_move(names: Names) -> Unit:
    place, target, (old, new) = names.directory(), names.directory(), names.pick(PAIRS)
    files = _files_named(names, names.number(2, 3), old)
    after = {f"{target}/{name.removesuffix(old)}{new}": text for name, text in files.items()}
    return Unit(
        fixtures=[fixture(f"{place}/{name}", text) for name, text in files.items()],
        directive=names.pick(
            [
                f"Rename the .{old} files of {place} to .{new}, then move them into the new directory {target}.",
                f"Make {target} and bring every .{old} file of {place} there, its extension changed to .{new}.",
                f"All .{old} files in {place} become .{new} files in {target}, a directory that you create.",
            ]
        ),
        solution=names.pick(
            [
                [
                    f'for f in {place}/*.{old}; do mv "$f" "${{f%.{old}}}.{new}"; done',
                    f"mkdir {target}",
                    f"mv {place}/*.{new} {target}/",
                ],
                [
                    f"mkdir {target}",
                    f'for f in {place}/*.{old}; do mv "$f" "${{f%.{old}}}.{new}"; done',
                    f"mv {place}/*.{new} {target}/",
                ],
            ]
        ),
        after=[directory(target), *(fixture(*item) for item in after.items())],
        removed=[f"{place}/{name}" for name in files],
    )


SHAPES: dict[str, list[Shape]] = {
    "rename_extension": [
        _swap_extension,
        _strip_extension,
        _append_extension,
        _two_named,
        _swap_in_subdirectories,
        _swap_and_move,
    ],
}
