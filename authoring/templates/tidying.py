"""Worlds in which files and trees are tidied up: sorted into directories or deleted."""

from authoring.templates.world import Names, Shape, Unit, directory, fixture, quote, shown, text_of


def sort_two_kinds(names: Names) -> Unit:
    """A mixed directory sorted into one subdirectory for each extension."""
    home = names.directory()
    kinds = sorted(names.rng.sample(["txt", "log", "md", "csv", "jpg", "pdf"], 2))
    files = {names.file(ext): (ext, names.text()) for ext in [*kinds, *kinds]}
    first, second = kinds
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, (_, text) in files.items()],
        directive=names.pick(
            [
                f"Sort the files of {home}: .{first} files into {home}/{first}, .{second} files into {home}/{second}.",
                f"In {home}, make directories {first} and {second} and move each file into the one of its extension.",
                f"Move the .{first} files of {home} to {home}/{first} and the .{second} files to {home}/{second}.",
            ]
        ),
        solution=names.pick(
            [
                [
                    f"mkdir {home}/{first} {home}/{second}",
                    f"mv {home}/*.{first} {home}/{first}/",
                    f"mv {home}/*.{second} {home}/{second}/",
                ],
                [
                    f"mkdir {home}/{first} && mv {home}/*.{first} {home}/{first}/",
                    f"mkdir {home}/{second} && mv {home}/*.{second} {home}/{second}/",
                ],
            ]
        ),
        after=[fixture(f"{home}/{ext}/{name}", text) for name, (ext, text) in files.items()],
        removed=[f"{home}/{name}" for name in files],
    )


def sort_one_kind(names: Names) -> Unit:
    """The files of one extension moved out of a mixed directory."""
    home, target = names.directory(), names.directory()
    ext, other = names.rng.sample(["png", "jpg", "pdf", "txt", "log"], 2)
    files = {names.file(ext): names.text() for _ in range(names.number(2, 4))}
    rest = {names.file(other): names.text() for _ in range(2)}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in {**files, **rest}.items()],
        directive=names.pick(
            [
                f"Move all .{ext} files from {home} to a new directory {target}; the others stay.",
                f"Make {target} and move the .{ext} files of {home} there.",
                f"The .{ext} files do not belong in {home}: move them into {target}, which is still to be made.",
            ]
        ),
        solution=[f"mkdir {target}", f"mv {home}/*.{ext} {target}/"],
        after=[fixture(f"{target}/{name}", text) for name, text in files.items()],
        removed=[f"{home}/{name}" for name in files],
    )


def sort_from_tree(names: Names) -> Unit:
    """Files of one extension, at any depth, moved into one directory that is there already."""
    home, target = names.directory(), names.directory()
    ext, other = names.rng.sample(["log", "csv", "md", "dat"], 2)
    files = {names.path(ext, depth): names.text() for depth in (1, 1, 2)}
    rest = {names.path(other, depth): names.text() for depth in (0, 1)}
    return Unit(
        fixtures=[directory(target), *(fixture(f"{home}/{name}", text) for name, text in {**files, **rest}.items())],
        directive=names.pick(
            [
                f"Move every .{ext} file below {home}, at any depth, into the directory {target}.",
                f"All .{ext} files somewhere under {home} go to {target}, without their subdirectories.",
                f"Collect the .{ext} files of the tree {home} in {target} by moving them.",
            ]
        ),
        solution=[f"find {home} -name '*.{ext}' -exec mv {{}} {target}/ \\;"],
        after=[fixture(f"{target}/{name.rpartition('/')[2]}", text) for name, text in files.items()],
        removed=[f"{home}/{name}" for name in files],
    )


def sort_by_prefix(names: Names) -> Unit:
    """Files whose names start alike, each group moved to the directory of that name."""
    home, (first, second) = names.directory(), names.words(2)
    files = {f"{word}-{names.word()}.txt": (word, names.text()) for word in (first, first, second, second)}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, (_, text) in files.items()],
        directive=names.pick(
            [
                f"In {home}, files that start with {first}- move to {home}/{first}, with {second}- to {home}/{second}.",
                f"Files of {home} begin with {first}- or {second}-. Move them into new directories {home}/{first} "
                f"and {home}/{second} accordingly.",
                f"Split {home} by prefix: names with {first}- go to {home}/{first}, names with {second}- to "
                f"{home}/{second}.",
            ]
        ),
        solution=[
            f"mkdir {home}/{first} {home}/{second}",
            f"mv {home}/{first}-* {home}/{first}/",
            f"mv {home}/{second}-* {home}/{second}/",
        ],
        after=[fixture(f"{home}/{word}/{name}", text) for name, (word, text) in files.items()],
        removed=[f"{home}/{name}" for name in files],
    )


def delete_by_extension(names: Names) -> Unit:
    """Files of one extension in one directory."""
    home = names.directory()
    ext, other = names.pick(["tmp", "bak", "old", "out"]), names.pick(["txt", "md", "csv"])
    files = [f"{home}/{names.file(ext)}" for _ in range(names.number(2, 4))]
    rest = [f"{home}/{names.file(other)}" for _ in range(2)]
    return Unit(
        fixtures=[fixture(path, names.text()) for path in [*files, *rest]],
        directive=names.pick(
            [
                f"Delete all .{ext} files in {home}.",
                f"The .{ext} files of {home} are of no use any more; remove them and keep the rest.",
                f"Clean {home} of files ending in .{ext}.",
            ]
        ),
        solution=[names.pick([f"rm {home}/*.{ext}", f"rm -f {home}/*.{ext}"])],
        after=[],
        removed=files,
    )


def delete_in_tree(names: Names) -> Unit:
    """Files of one extension at any depth."""
    home = names.directory()
    ext, other = names.pick(["tmp", "bak", "old", "orig"]), names.pick(["txt", "md", "conf"])
    files = [f"{home}/{names.path(ext, depth)}" for depth in (0, 1, 2)]
    rest = [f"{home}/{names.path(other, depth)}" for depth in (0, 1, 1)]
    return Unit(
        fixtures=[fixture(path, names.text()) for path in [*files, *rest]],
        directive=names.pick(
            [
                f"Delete every .{ext} file below {home}, at any depth.",
                f"Remove the .{ext} files from {home} and all its subdirectories.",
                f"No .{ext} file may be left anywhere under {home}.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f"find {home} -name '*.{ext}' -exec rm {{}} \\;",
                    f"find {home} -name '*.{ext}' -exec rm {{}} +",
                    f"find {home} -type f -name '*.{ext}' -exec rm {{}} +",
                ]
            )
        ],
        after=[],
        removed=files,
    )


def delete_empty(names: Names) -> Unit:
    """Files of zero bytes."""
    home, ext = names.directory(), names.pick(["txt", "log", "dat"])
    files = [f"{home}/{names.path(ext, depth)}" for depth in (0, 0, 1)]
    rest = [f"{home}/{names.path(ext, depth)}" for depth in (0, 1)]
    return Unit(
        fixtures=[*(fixture(path, "") for path in files), *(fixture(path, names.text()) for path in rest)],
        directive=names.pick(
            [
                f"Delete the empty files below {home}.",
                f"Some files under {home} have no content at all. Remove those.",
                f"Remove every file of zero bytes from {home} and its subdirectories.",
            ]
        ),
        solution=[
            names.pick(
                [f"find {home} -type f -size 0 -exec rm {{}} \\;", f"find {home} -type f -empty -exec rm {{}} +"],
            )
        ],
        after=[],
        removed=files,
    )


def delete_containing(names: Names) -> Unit:
    """Files of one directory that contain a word."""
    home, word, ext = names.directory(), names.word(), names.pick(["txt", "md", "log"])
    files = [f"{home}/{names.file(ext, plain=True)}" for _ in range(2)]
    rest = [f"{home}/{names.file(ext, plain=True)}" for _ in range(2)]
    return Unit(
        fixtures=[
            *(fixture(path, f"{names.text(2, 3)}{names.line()} {word}\n{names.line()}\n") for path in files),
            *(fixture(path, names.text()) for path in rest),
        ],
        directive=names.pick(
            [
                f"Delete the files in {home} that contain the word {word}.",
                f"Every file of {home} in which {word} occurs must go; leave the others.",
                f"Look for {word} in the files of {home} and remove each file that has it.",
            ]
        ),
        solution=[names.pick([f"grep -l {word} {home}/* | xargs rm", f"rm $(grep -l {word} {home}/*)"])],
        after=[],
        removed=files,
    )


def delete_listed(names: Names) -> Unit:
    """Files that another file lists."""
    source, home = names.file("list"), names.directory()
    files = [f"{home}/{names.file(names.pick(['txt', 'log', 'csv']), plain=True)}" for _ in range(5)]
    gone = files[: names.number(2, 3)]
    return Unit(
        fixtures=[fixture(source, text_of(gone)), *(fixture(path, names.text()) for path in sorted(files))],
        directive=names.pick(
            [
                f"Delete the files whose paths are listed in {shown(source)}.",
                f"{shown(source)} names files, one path per line. Remove each of these files, but keep the list.",
                f"Remove every file that {shown(source)} lists.",
            ]
        ),
        solution=[names.pick([f"xargs rm < {quote(source)}", f"rm $(cat {quote(source)})"])],
        after=[],
        removed=gone,
    )


def delete_all_but(names: Names) -> Unit:
    """Everything in a tree but the files of one extension."""
    home = names.directory()
    keep, *others = names.rng.sample(["txt", "md", "csv", "conf"], 3)
    gone = [f"{home}/{names.path(ext, depth)}" for ext, depth in zip(others, (0, 1), strict=True)]
    rest = [f"{home}/{names.path(keep, depth)}" for depth in (0, 1)]
    return Unit(
        fixtures=[fixture(path, names.text()) for path in [*gone, *rest]],
        directive=names.pick(
            [
                f"Below {home}, keep only the .{keep} files; delete all other files.",
                f"Remove every file under {home} that does not end in .{keep}.",
                f"In {home} and its subdirectories nothing but .{keep} files shall stay.",
            ]
        ),
        solution=[
            names.pick(
                [
                    f"find {home} -type f ! -name '*.{keep}' -exec rm {{}} +",
                    f"find {home} -type f ! -name '*.{keep}' -exec rm {{}} \\;",
                ]
            )
        ],
        after=[],
        removed=gone,
    )


SHAPES: dict[str, list[Shape]] = {
    "sort_by_kind": [sort_two_kinds, sort_one_kind, sort_from_tree, sort_by_prefix],
    "delete_matching": [
        delete_by_extension, delete_in_tree, delete_empty, delete_containing, delete_listed, delete_all_but,
    ],
}  # fmt: skip
