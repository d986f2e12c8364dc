"""Make worlds of work on files and trees: making, copying, sorting into places, deleting.

    from templates.files import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing
"""

from templates.world import Names, Shape, Unit, directory, fixture, listed, quote, shown, text_of  # fmt: skip


def nested_note(names: Names) -> Unit:
    """A directory three deep with a file of one line in it."""
    place = "/".join(names.words(names.number(2, 3)))
    path, line = f"{place}/{names.file(names.pick(['txt', 'md', 'note']))}", names.line()
    return Unit(
        fixtures=[],
        directive=names.pick(
            [
                f"Make the directories {place} and write the line '{line}' to {shown(path)}.",
                f"The file {shown(path)} is needed, with the single line '{line}'; its directories do not exist yet.",
                f"Create {shown(path)} holding the one line '{line}'. Make {place} first.",
                f"Set up {place}, then store the line '{line}' in {shown(path)}.",
            ]
        ),
        instruction=f"how to create the nested directory {place} plus a file {shown(path)} that says {line}",
        solution=[f"mkdir -p {place}", f"echo '{line}' > {quote(path)}"],
        after=[directory(place), fixture(path, f"{line}\n")],
    )


def sibling_directories(names: Names) -> Unit:
    """Directories side by side, and a file that is moved into one of them."""
    top, parts = names.directory(), names.words(names.number(2, 3))
    source = names.file(names.pick(["txt", "md", "csv"]))
    text, chosen = names.text(), names.pick(parts)
    paths = [f"{top}/{part}" for part in parts]
    return Unit(
        fixtures=[fixture(source, text)],
        directive=names.pick(
            [
                f"Make the directories {listed(paths)}, then move {shown(source)} into {top}/{chosen}.",
                f"Below {top} we need the directories {listed(parts)}. The file {shown(source)} belongs in {chosen}.",
                f"Create {top} with the subdirectories {listed(parts)} and move {shown(source)} to {top}/{chosen}/.",
            ]
        ),
        instruction=f"how to make several directories {' '.join(paths)} and put {shown(source)} in {top}/{chosen}",
        solution=[f"mkdir -p {' '.join(paths)}", f"mv {quote(source)} {top}/{chosen}/"],
        after=[*(directory(path) for path in paths), fixture(f"{top}/{chosen}/{source}", text)],
        removed=[source],
    )


def directories_of_list(names: Names) -> Unit:
    """One directory for each line of a file."""
    source, top = names.file("list"), names.directory()
    paths = [f"{top}/{word}" for word in names.words(names.number(3, 5))]
    return Unit(
        fixtures=[fixture(source, text_of(paths))],
        directive=names.pick(
            [
                f"Make every directory that is named in {shown(source)}, one per line, with its parents.",
                f"Each line of {shown(source)} is the path of a directory. Create them all.",
                f"Read {shown(source)} and create each of the directories listed there, parents included.",
            ]
        ),
        instruction=f"how to create the directories whose paths stand in {shown(source)}",
        solution=[names.pick([f"xargs mkdir -p < {quote(source)}", f"mkdir -p $(cat {quote(source)})"])],
        after=[directory(path) for path in paths],
    )


def same_file_in_each(names: Names) -> Unit:
    """New directories, each with a copy of the same file."""
    source, parts = names.file(names.pick(["md", "txt", "cfg"])), names.words(names.number(2, 3))
    text, row = names.text(), " ".join(parts)
    return Unit(
        fixtures=[fixture(source, text)],
        directive=names.pick(
            [
                f"Make the directories {listed(parts)} and put a copy of {shown(source)} into each of them.",
                f"Every one of the new directories {listed(parts)} gets its own copy of {shown(source)}.",
                f"Create {listed(parts)} as directories; then copy {shown(source)} into all of them.",
            ]
        ),
        instruction=f"how to give each directory of {row} the same file {shown(source)} with a loop",
        solution=[
            f"mkdir {row}",
            names.pick(
                [
                    f"for d in {row}; do cp {quote(source)} $d/; done",
                    f"for d in {row}; do cp {quote(source)} $d; done",
                ]
            ),
        ],
        after=[entry for part in parts for entry in (directory(part), fixture(f"{part}/{source}", text))],
    )


def copy_one(names: Names) -> Unit:
    """One file under a second name."""
    ext = names.pick(["txt", "conf", "csv", "log"])
    source, target, text = (
        names.path(ext, names.number(0, 1)),
        names.file(names.pick([ext, "bak", "orig"])),
        names.text(),
    )
    return Unit(
        fixtures=[fixture(source, text)],
        directive=names.pick(
            [
                f"Copy {shown(source)} to {shown(target)}.",
                f"A copy of {shown(source)} is needed under the name {shown(target)}.",
                f"Duplicate {shown(source)} as {shown(target)} and leave the original alone.",
                f"Keep {shown(source)} and save a second copy of it as {shown(target)}.",
            ]
        ),
        instruction=f"how to make {shown(target)} a copy of the file {shown(source)}",
        solution=[f"cp {quote(source)} {quote(target)}"],
        after=[fixture(target, text)],
    )


def copy_named(names: Names) -> Unit:
    """Some named files of a directory into a new one."""
    home, target = names.directory(), names.directory()
    files = {names.file(names.pick(["txt", "md", "csv"])): names.text() for _ in range(names.number(3, 5))}
    chosen = sorted(names.rng.sample(sorted(files), 2))
    sources = [f"{home}/{name}" for name in chosen]
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in files.items()],
        directive=names.pick(
            [
                f"Make the directory {target} and copy {listed([shown(path) for path in sources])} into it.",
                f"The new directory {target} shall hold copies of {listed([shown(path) for path in sources])}.",
                f"From {home}, copy only {listed([shown(name) for name in chosen])} to a new directory {target}.",
            ]
        ),
        instruction=f"how to copy two files {' '.join(map(shown, sources))} to a fresh directory called {target}",
        solution=[f"mkdir {target}", f"cp {' '.join(map(quote, sources))} {target}/"],
        after=[fixture(f"{target}/{name}", files[name]) for name in chosen],
    )


def copy_by_extension(names: Names) -> Unit:
    """All files of one extension out of a mixed directory."""
    home, target = names.directory(), names.directory()
    ext, *others = names.rng.sample(["txt", "log", "md", "csv", "conf"], 3)
    files = {names.file(ext): names.text() for _ in range(names.number(2, 3))}
    rest = {names.file(other): names.text() for other in others}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in {**files, **rest}.items()],
        directive=names.pick(
            [
                f"Copy all .{ext} files of {home} into a new directory {target}.",
                f"Make {target} and copy every file of {home} that ends in .{ext} there.",
                f"A new directory {target} is wanted, with copies of the .{ext} files of {home} and of nothing else.",
            ]
        ),
        instruction=f"how to copy by extension: each .{ext} from {home} to {target}",
        solution=[f"mkdir {target}", f"cp {home}/*.{ext} {target}/"],
        after=[fixture(f"{target}/{name}", text) for name, text in files.items()],
    )


def copy_tree(names: Names) -> Unit:
    """A whole directory tree under a second name."""
    home, target = names.directory(), names.directory()
    files = {names.path(names.pick(["txt", "md"]), depth): names.text() for depth in (0, 1, names.number(1, 2))}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in files.items()],
        directive=names.pick(
            [
                f"Copy the whole directory {home} to {target}.",
                f"Make a full copy of {home}, with everything below it, named {target}.",
                f"The tree {home} is needed twice: copy it as {target}.",
            ]
        ),
        instruction=f"how to copy a directory recursively, {home} to the new name {target}",
        solution=[names.pick([f"cp -r {home} {target}", f"cp -R {home} {target}"])],
        after=[fixture(f"{target}/{name}", text) for name, text in files.items()],
    )


def copy_from_tree(names: Names) -> Unit:
    """Files of one extension, at any depth, into one flat directory."""
    home, target = names.directory(), names.directory()
    ext, other = names.rng.sample(["md", "txt", "log", "csv"], 2)
    files = {names.path(ext, depth): names.text() for depth in (0, 1, 2)}
    rest = {names.path(other, depth): names.text() for depth in (0, 1)}
    return Unit(
        fixtures=[fixture(f"{home}/{name}", text) for name, text in {**files, **rest}.items()],
        directive=names.pick(
            [
                f"Find every .{ext} file at any depth below {home} and copy it into the new directory {target}.",
                f"Gather copies of all .{ext} files under {home}, at any depth, in a new directory {target}.",
                f"Make {target}; into it go copies of the .{ext} files from the whole tree {home}.",
            ]
        ),
        instruction=f"how to search {home} for .{ext} files and copy each hit to {target} with find",
        solution=[f"mkdir {target}", f"find {home} -name '*.{ext}' -exec cp {{}} {target}/ \\;"],
        after=[fixture(f"{target}/{name.rpartition('/')[2]}", text) for name, text in files.items()],
    )


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
        instruction=f"how to sort {home} by extension into {home}/{first} and {home}/{second}",
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
        instruction=f"how to move only the .{ext} files of {home} into a directory {target} made for them",
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
        instruction=f"how to pull each .{ext} out of the tree {home} into {target} using find and mv",
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
        instruction=f"how to group the files of {home} by the prefixes {first} and {second} into directories",
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
        instruction=f"how to remove each .{ext} from the directory {home} and nothing more",
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
        instruction=f"how to find and delete .{ext} files in a tree such as {home}",
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
        instruction=f"how to get rid of empty files in the tree {home} with find",
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
        instruction=f"how to delete files by content, here those of {home} with {word} inside",
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
        instruction=f"how to delete what the list {shown(source)} enumerates",
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
        instruction=f"how to delete all files in {home} except the .{keep} ones",
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
    "make_tree": [nested_note, sibling_directories, directories_of_list, same_file_in_each],
    "copy_files": [copy_one, copy_named, copy_by_extension, copy_tree, copy_from_tree],
    "sort_by_kind": [sort_two_kinds, sort_one_kind, sort_from_tree, sort_by_prefix],
    "delete_matching": [
        delete_by_extension, delete_in_tree, delete_empty, delete_containing, delete_listed, delete_all_but,
    ],
}  # fmt: skip
