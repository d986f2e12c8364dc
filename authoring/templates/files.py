"""Worlds in which files and trees are made or copied."""

from authoring.templates.world import Names, Shape, Unit, directory, fixture, listed, quote, shown, text_of


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
        solution=[f"mkdir {target}", f"find {home} -name '*.{ext}' -exec cp {{}} {target}/ \\;"],
        after=[fixture(f"{target}/{name.rpartition('/')[2]}", text) for name, text in files.items()],
    )


def numbered_tree(names: Names) -> Unit:
    """Numbered directories below a new one, each with an empty file."""
    top, base, high, file = names.directory(), names.word(), names.number(2, 4), names.file("txt", plain=True)
    parts = [f"{top}/{base}{number}" for number in range(1, high + 1)]
    return Unit(
        fixtures=[],
        directive=names.pick(
            [
                f"Make the directories {listed(parts)}, each with an empty file {file}.",
                f"Below {top} create {base}1 up to {base}{high}, numbered by one; each holds an empty {file}.",
                f"Each of the new directories {parts[0]} to {parts[-1]} gets an empty file {file}.",
            ]
        ),
        solution=[
            f"for i in $(seq 1 {high}); do mkdir -p {top}/{base}$i; done",
            f"for i in $(seq 1 {high}); do touch {top}/{base}$i/{file}; done",
        ],
        after=[entry for part in parts for entry in (directory(part), fixture(f"{part}/{file}", ""))],
    )


def copy_deep(names: Names) -> Unit:
    """A copy at a path whose directories are missing."""
    source, text = names.path("txt", names.number(0, 1)), names.text()
    path = f"{names.word()}/{names.word()}/{names.file('txt')}"
    s, t = shown(source), shown(path)
    return Unit(
        fixtures=[fixture(source, text)],
        directive=names.pick(
            [
                f"Copy {s} to {t}, whose directories are not there yet.",
                f"A copy of {s} is wanted as {t}; make the directories above it.",
                f"Create what {t} lacks of directories and copy {s} there.",
            ]
        ),
        solution=[f'mkdir -p "$(dirname {quote(path)})"', f"cp {quote(source)} {quote(path)}"],
        after=[directory(path.rpartition("/")[0]), fixture(path, text)],
    )


SHAPES: dict[str, list[Shape]] = {
    "make_tree": [numbered_tree, nested_note, sibling_directories, directories_of_list, same_file_in_each],
    "copy_files": [copy_deep, copy_one, copy_named, copy_by_extension, copy_tree, copy_from_tree],
}
