"""Worlds in which paths are found by name, or files by content."""

from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of
from schema import Fixture


def _tree(names: Names, ext: str, other: str) -> tuple[str, list[str], list[str]]:
    """A directory name, paths below it with the extension at depths 0 to 2, and paths with another one."""
    home = names.directory()
    hits = [f"{home}/{names.path(ext, depth)}" for depth in (0, 1, names.number(1, 2))]
    return home, hits, [f"{home}/{names.path(other, depth)}" for depth in (0, 1)]


def _files(names: Names, paths: list[str]) -> list[Fixture]:
    """Files with contents at the paths, in random order."""
    return [fixture(path, names.text(2, 4)) for path in names.rng.sample(paths, len(paths))]


def lines_some_with(names: Names, word: str, count: int) -> tuple[list[str], list[str]]:
    """`count` lines, of which two to four have the word at the start, inside or at the end; and a list of those."""
    lines = names.lines(count)
    for index in names.rng.sample(range(count), names.number(2, min(4, count - 1))):
        first, *rest = lines[index].split()
        lines[index] = " ".join(names.pick([[word, first, *rest], [first, word, *rest], [first, *rest, word]]))
    return lines, [line for line in lines if word in line.split()]


def names_by_extension(names: Names) -> Unit:
    """Paths of one extension in a tree."""
    ext, other = names.rng.sample(["txt", "log", "md", "conf", "csv"], 2)
    home, hits, rest = _tree(names, ext, other)
    out = names.file("list")
    return saving_unit(
        names,
        _files(names, hits + rest),
        out,
        text_of(sorted(hits)),
        asks=[
            f"List the paths of all .{ext} files below {home}, sorted, in {shown(out)}.",
            f"Find every .{ext} file under {home} and save the sorted paths as {shown(out)}, one per line.",
            f"{shown(out)} shall hold the sorted paths ({home}/...) of all .{ext} files in the tree {home}.",
        ],
        solution=[
            names.pick(
                [
                    f"find {home} -name '*.{ext}' | sort > {quote(out)}",
                    f"find {home} -type f -name '*.{ext}' | sort > {quote(out)}",
                ]
            )
        ],
    )


def names_by_word(names: Names) -> Unit:
    """Paths of files whose name holds or starts with a word."""
    home, word, out = names.directory(), names.keyword(), names.file("list")
    starts = names.number(0, 1)
    hits = [f"{home}/{word}-{names.word()}.txt", f"{home}/{names.word()}/{word}_{names.word()}.md"]
    hits += [] if starts else [f"{home}/{names.word()}-{word}.csv"]
    rest = [f"{home}/{names.path('txt', depth)}" for depth in (0, 0, 1)]
    how, pattern = ("starts with", f"{word}*") if starts else ("contains", f"*{word}*")
    return saving_unit(
        names,
        _files(names, hits + rest),
        out,
        text_of(sorted(hits)),
        asks=[
            f"Find the files below {home} whose name {how} {word}; write their sorted paths to {shown(out)}.",
            f"Every file under {home} with a name that {how} {word} is to be listed by path in {shown(out)}, sorted.",
            f"Put the sorted paths of files in {home}, at any depth, whose name {how} {word}, into {shown(out)}.",
        ],
        solution=[f"find {home} -type f -name '{pattern}' | sort > {quote(out)}"],
    )


def names_in_directory(names: Names) -> Unit:
    """Bare names of one extension in one flat directory."""
    home, out = names.directory(), names.file("list")
    ext, other = names.rng.sample(["txt", "log", "md", "jpg", "csv"], 2)
    hits = [names.file(ext) for _ in range(names.number(2, 4))]
    rest = [names.file(other) for _ in range(2)]
    return saving_unit(
        names,
        _files(names, [f"{home}/{name}" for name in hits + rest]),
        out,
        text_of(sorted(hits)),
        asks=[
            f"Write the names (not the paths) of the .{ext} files in {home} to {shown(out)}, sorted, one per line.",
            f"Which .{ext} files lie in {home}? Save their bare names in {shown(out)} in alphabetical order.",
            f"List {home}, keep only names ending in .{ext}, and store the list as {shown(out)}.",
        ],
        solution=[f"ls {home} | grep '\\.{ext}$' > {quote(out)}"],
    )


def names_of_directories(names: Names) -> Unit:
    """The directories of a tree."""
    home, out = names.directory(), names.file("list")
    parts = names.words(3)
    paths = [f"{home}/{parts[0]}", f"{home}/{parts[1]}", f"{home}/{parts[1]}/{parts[2]}"]
    return saving_unit(
        names,
        _files(names, [f"{path}/{names.file('txt')}" for path in paths] + [f"{home}/{names.file('md')}"]),
        out,
        text_of(sorted([home, *paths])),
        asks=[
            f"Write the sorted paths of all directories in the tree {home}, {home} itself included, to {shown(out)}.",
            f"List every directory from {home} downwards, {home} first, sorted by path, in {shown(out)}.",
            f"{shown(out)} needs a sorted list of directories only: {home} and all those below it.",
        ],
        solution=[f"find {home} -type d | sort > {quote(out)}"],
    )


def content_flat(names: Names) -> Unit:
    """Files of one directory that contain a word, or that do not."""
    home, word, out = names.directory(), names.keyword(), names.file("list")
    ext, missing = names.pick(["txt", "log", "md"]), names.number(0, 1)
    hits, rest = ([f"{home}/{names.file(ext)}" for _ in range(count)] for count in (2, names.number(2, 3)))
    found = [fixture(path, text_of(lines_some_with(names, word, 4)[0])) for path in hits]
    does, flag = ("do not contain", "-L") if missing else ("contain", "-l")
    return saving_unit(
        names,
        found + _files(names, rest),
        out,
        text_of(sorted(rest if missing else hits)),
        asks=[
            f"Write the sorted paths of the files in {home} that {does} the word {word} to {shown(out)}.",
            f"Search the files of {home} for {word}; list the paths of those that {does} it in {shown(out)}, sorted.",
            f"Some files in {home} {does} the word {word}. Save their paths, sorted, as {shown(out)}.",
        ],
        solution=[f"grep {flag} {word} {home}/* > {quote(out)}"],
    )


def content_tree(names: Names) -> Unit:
    """Files at any depth that contain a word."""
    word, out = names.keyword(), names.file("list")
    home, hits, rest = _tree(names, names.pick(["txt", "md", "conf"]), "log")
    found = [fixture(path, text_of(lines_some_with(names, word, names.number(3, 5))[0])) for path in hits]
    return saving_unit(
        names,
        found + _files(names, rest),
        out,
        text_of(sorted(hits)),
        asks=[
            f"Find all files below {home} that contain {word} and write their sorted paths to {shown(out)}.",
            f"Search {home} and its subdirectories for {word}; the sorted paths of the files go to {shown(out)}.",
            f"In which files under {home}, at any depth, does {word} occur? Save the paths, sorted, in {shown(out)}.",
        ],
        solution=[
            names.pick(
                [
                    f"grep -rl {word} {home} | sort > {quote(out)}",
                    f"grep -r -l {word} {home} | sort > {quote(out)}",
                ]
            )
        ],
    )


def content_any_case(names: Names) -> Unit:
    """Files that contain a word in upper or lower case."""
    home, word, out = names.directory(), names.keyword(), names.file("list")
    forms = [word, word.upper(), word.capitalize()]
    hits, rest = ([f"{home}/{names.file('txt')}" for _ in range(count)] for count in (3, 2))
    found = [
        fixture(path, text_of([*names.lines(2), f"{names.line()} {form}"]))
        for path, form in zip(hits, forms, strict=True)
    ]
    return saving_unit(
        names,
        found + _files(names, rest),
        out,
        text_of(sorted(hits)),
        asks=[
            f"List the files of {home} that contain {word}, in upper or lower case, by path in {shown(out)}, sorted.",
            f"Save in {shown(out)} the sorted paths of those files in {home} that mention {word}; ignore case.",
            f"Search the files of {home} for {word}, whatever its case; the sorted paths go into {shown(out)}.",
        ],
        solution=[f"grep -il {word} {home}/* > {quote(out)}"],
    )


def content_copied(names: Names) -> Unit:
    """Copies of the files that contain a word."""
    home, word, target = names.directory(), names.keyword(), names.directory()
    hits, rest = ([names.file("txt", plain=True) for _ in range(2)] for _ in range(2))
    texts = {name: text_of(lines_some_with(names, word, 4)[0]) for name in hits}
    fixtures = [fixture(f"{home}/{name}", text) for name, text in texts.items()]
    return Unit(
        fixtures=fixtures + _files(names, [f"{home}/{name}" for name in rest]),
        directive=names.pick(
            [
                f"Copy the files of {home} that contain the word {word} into the new directory {target}.",
                f"Make {target} and put copies of those files there that have {word} in them; look in {home}.",
                f"All files of {home} with {word} inside are needed a second time, in a new directory {target}.",
            ]
        ),
        solution=[f"mkdir {target}", f"cp $(grep -l {word} {home}/*) {target}/"],
        after=[fixture(f"{target}/{name}", text) for name, text in texts.items()],
    )


SHAPES: dict[str, list[Shape]] = {
    "find_names": [names_by_extension, names_by_word, names_in_directory, names_of_directories],
    "find_content": [content_flat, content_tree, content_any_case, content_copied],
}
