"""Worlds in which names are numbered, paths are taken apart, directories are listed, and lists are worked through."""

import hashlib

from authoring.templates.world import Names, Shape, Unit, directory, fixture, link, quote, saving_unit, shown, text_of
from schema import HOME


def numbered_directories(names: Names) -> Unit:
    """Directories with a running number."""
    base, high = names.word(), names.number(3, 6)
    made = [f"{base}-{number}" for number in range(1, high + 1)]
    return Unit(
        fixtures=[],
        directive=names.pick(
            [
                f"Make the {high} directories {made[0]} to {made[-1]}, numbered by one.",
                f"Create directories named {base}- and a number, for every number from 1 to {high}.",
                f"We need {made[0]}, {made[1]} and so on up to {made[-1]} as empty directories.",
            ]
        ),
        solution=[f"for i in $(seq 1 {high}); do mkdir {base}-$i; done"],
        after=[directory(path) for path in made],
    )


def numbered_files(names: Names) -> Unit:
    """Empty files with a running number in a new directory."""
    place, base, low, ext = names.directory(), names.word(), names.number(1, 20), names.pick(["txt", "log", "csv"])
    high = low + names.number(2, 4)
    return Unit(
        fixtures=[],
        directive=names.pick(
            [
                f"Make {place} with the empty files {base}{low}.{ext} to {base}{high}.{ext} in it.",
                f"Create {place}; in it, one empty {base}N.{ext} for each number N from {low} to {high}.",
                f"The new directory {place} gets empty files {base}{low}.{ext}, and so on to {base}{high}.{ext}.",
            ]
        ),
        solution=[f"mkdir {place}", f"for i in $(seq {low} {high}); do touch {place}/{base}$i.{ext}; done"],
        after=[directory(place), *(fixture(f"{place}/{base}{n}.{ext}", "") for n in range(low, high + 1))],
    )


def numbered_lines(names: Names) -> Unit:
    """A list of numbered names."""
    out, base, low = names.file("list"), names.word(), names.number(1, 30)
    high = low + names.number(3, 7)
    o = shown(out)
    return saving_unit(
        names,
        [],
        out,
        text_of(f"{base}-{number}" for number in range(low, high + 1)),
        asks=[
            f"Write the names {base}-{low} to {base}-{high} to {o}, one per line.",
            f"Fill {o} with a line {base}-N for each number N from {low} to {high}.",
            f"{o} lists {base}-{low}, {base}-{low + 1} and so on up to {base}-{high}, a line each.",
        ],
        solution=[
            names.pick(
                [
                    f"printf '{base}-%s\\n' $(seq {low} {high}) > {quote(out)}",
                    f"seq {low} {high} | sed 's/^/{base}-/' > {quote(out)}",
                ]
            )
        ],
    )


def _paths(names: Names, count: int) -> list[str]:
    places = [f"{names.word()}/{names.word()}" for _ in range(2)]
    return [f"{places[index % 2]}/{names.file('txt', plain=True)}" for index in range(count)]


def last_parts(names: Names) -> Unit:
    """The file names of a list of paths."""
    source, out, paths = names.file("list"), names.file("txt"), _paths(names, names.number(3, 5))
    p, s, o = quote(source), shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(paths))],
        out,
        text_of(path.rpartition("/")[2] for path in paths),
        asks=[
            f"{s} lists paths. Write their last parts, the bare file names, in that order to {o}.",
            f"Strip the directories from the paths in {s} and save what is left as {o}.",
            f"{o} gets the file name alone of each path in {s}.",
        ],
        solution=[
            names.pick(
                [
                    f"xargs -n 1 basename < {p} > {quote(out)}",
                    f"for f in $(cat {p}); do basename $f; done > {quote(out)}",
                ]
            )
        ],
    )


def first_parts(names: Names) -> Unit:
    """The directories of a list of paths, each once."""
    source, out, paths = names.file("list"), names.file("txt"), _paths(names, names.number(3, 6))
    s, o = shown(source), shown(out)
    return saving_unit(
        names,
        [fixture(source, text_of(paths))],
        out,
        text_of(sorted({path.rpartition("/")[0] for path in paths})),
        asks=[
            f"{s} lists paths. Write the directories they lie in, sorted and each once, to {o}.",
            f"Take the file names off the paths in {s}; the directories go to {o}, sorted, without repeats.",
            f"{o} names every directory that a path of {s} is in, one per line, sorted, no repeats.",
        ],
        solution=[f"xargs -n 1 dirname < {quote(source)} | sort -u > {quote(out)}"],
    )


def bare_stems(names: Names) -> Unit:
    """The names of the files of a directory without their extension."""
    place, out, ext = names.directory(), names.file("list"), names.pick(["txt", "csv", "conf"])
    files = sorted(names.file(ext, plain=True) for _ in range(names.number(2, 4)))
    return saving_unit(
        names,
        [fixture(f"{place}/{file}", names.text(1, 2)) for file in files],
        out,
        text_of(file.removesuffix(f".{ext}") for file in files),
        asks=[
            f"List the .{ext} files of {place} by name in {shown(out)}, without directory and without .{ext}.",
            f"Write the names of the .{ext} files in {place} to {shown(out)}, in order, leaving out the ending.",
            f"{shown(out)} gets the name of each .{ext} file in {place}, in order of name, but no .{ext}.",
        ],
        solution=[f"for f in {place}/*.{ext}; do basename $f .{ext}; done > {quote(out)}"],
    )


def parents_of_path(names: Names) -> Unit:
    """The directories above a path are made, and a file is moved there."""
    source, text = names.file("txt"), names.text()
    path = f"{names.word()}/{names.word()}/{names.file('txt')}"
    s, t = shown(source), shown(path)
    return Unit(
        fixtures=[fixture(source, text)],
        directive=names.pick(
            [
                f"Make the directories above {t} and move {s} there under that name.",
                f"{s} becomes {t}; what is missing of its directories is to be made.",
                f"Move {s} to {t} after creating the directories of that path.",
            ]
        ),
        solution=[f'mkdir -p "$(dirname {quote(path)})"', f"mv {quote(source)} {quote(path)}"],
        after=[directory(path.rpartition("/")[0]), fixture(path, text)],
        removed=[source],
    )


def sizes_of_files(names: Names) -> Unit:
    """The size and name of each file of a directory."""
    place, out, ext = names.directory(), names.file("txt"), names.pick(["txt", "dat", "log"])
    texts = {f"{place}/{names.file(ext)}": names.text(1, 4) for _ in range(names.number(2, 4))}
    return saving_unit(
        names,
        [fixture(path, text) for path, text in texts.items()],
        out,
        text_of(f"{path} {len(texts[path])}" for path in sorted(texts)),
        asks=[
            f"Write each .{ext} file of {place} as {place}/NAME, a space and its byte size to {shown(out)}, by name.",
            f"Make an index {shown(out)} of {place}/*.{ext}: path, a space, bytes, a line for each file, by name.",
            f"{shown(out)} lists the .{ext} files of {place} in order of name: {place}/NAME, a space, the byte size.",
        ],
        solution=[f"stat -c '%n %s' {place}/*.{ext} > {quote(out)}"],
    )


def lines_of_each(names: Names) -> Unit:
    """The name and line count of each file of a directory."""
    place, out, ext = names.directory(), names.file("txt"), names.pick(["txt", "log"])
    lines = {names.file(ext, plain=True): names.number(1, 6) for _ in range(names.number(2, 3))}
    return saving_unit(
        names,
        [fixture(f"{place}/{file}", text_of(names.lines(count))) for file, count in lines.items()],
        out,
        text_of(f"{file} {lines[file]}" for file in sorted(lines)),
        asks=[
            f"Write the bare name of each .{ext} file of {place}, a space and its line count to {shown(out)}, by name.",
            f"Index {place} in {shown(out)}: for every .{ext} file, in order, NAME, a space, its number of lines.",
            f"{shown(out)} gets a line 'NAME COUNT' per .{ext} file of {place}, by name; COUNT is its lines.",
        ],
        solution=[
            f'for f in {place}/*.{ext}; do echo "$(basename $f) $(wc -l < $f)"; done > {quote(out)}',
        ],
    )


def listing_and_count(names: Names) -> Unit:
    """The sorted names of a directory and how many there are."""
    place, out, count = names.directory(), names.file("list"), names.file("txt")
    files = sorted(names.file(names.pick(["txt", "md"])) for _ in range(names.number(3, 6)))
    o, c = shown(out), shown(count)
    return Unit(
        fixtures=[fixture(f"{place}/{file}", names.text(1, 2)) for file in files],
        directive=names.pick(
            [
                f"Write the sorted names of the files in {place} to {o} and their number to {c}.",
                f"List {place} in {o}, one name per line, sorted; {c} gets how many names that are.",
                f"{o} holds the sorted file names of {place}, {c} the bare number of them.",
            ]
        ),
        solution=names.pick(
            [
                [f"ls {place} | sort | tee {quote(out)} | wc -l > {quote(count)}"],
                [f"ls {place} | sort > {quote(out)}", f"wc -l < {quote(out)} > {quote(count)}"],
            ]
        ),
        after=[fixture(out, text_of(files)), fixture(count, f"{len(files)}\n")],
    )


def _listed_files(names: Names) -> tuple[str, dict[str, str], list[str]]:
    """The name of a list, the texts of some files, and those that the list names."""
    texts = {names.path("txt", 1, plain=True): names.text() for _ in range(names.number(4, 5))}
    return names.file("list"), texts, names.rng.sample(list(texts), 2)


def modes_of_listed(names: Names) -> Unit:
    """The modes of the files that a list names."""
    lines, texts, chosen = _listed_files(names)
    mode, s = names.pick([0o600, 0o640, 0o660, 0o400]), shown(lines)
    return Unit(
        fixtures=[fixture(lines, text_of(chosen)), *(fixture(path, text, 0o644) for path, text in texts.items())],
        directive=names.pick(
            [
                f"Set every file that {s} lists to mode {mode:o}.",
                f"The files named in {s}, one per line, get mode {mode:o}; others keep theirs.",
                f"Read {s} and give each file in it the permissions {mode:o}.",
            ]
        ),
        solution=[names.pick([f"xargs chmod {mode:o} < {quote(lines)}", f"chmod {mode:o} $(cat {quote(lines)})"])],
        after=[fixture(path, texts[path], mode) for path in chosen],
    )


def copy_listed(names: Names) -> Unit:
    """Copies of the files that a list names in a new directory."""
    lines, texts, chosen = _listed_files(names)
    place, s = names.directory(), shown(lines)
    return Unit(
        fixtures=[fixture(lines, text_of(chosen)), *(fixture(path, text) for path, text in texts.items())],
        directive=names.pick(
            [
                f"Copy every file that {s} lists into the new directory {place}.",
                f"Make {place} and put copies of the files named in {s}, one per line, into it.",
                f"The paths in {s} are files; the new directory {place} gets a copy of each.",
            ]
        ),
        solution=[f"mkdir {place}", f"cp $(cat {quote(lines)}) {place}/"],
        after=[directory(place), *(fixture(f"{place}/{path.rpartition('/')[2]}", texts[path]) for path in chosen)],
    )


def stack_listed(names: Names) -> Unit:
    """The contents of the files that a list names, one after the other."""
    lines, texts, chosen = _listed_files(names)
    out, s = names.file("txt"), shown(lines)
    return saving_unit(
        names,
        [fixture(lines, text_of(chosen)), *(fixture(path, text) for path, text in texts.items())],
        out,
        "".join(texts[path] for path in chosen),
        asks=[
            f"Write the contents of the files that {s} lists, in its order, to {shown(out)}.",
            f"{s} names files, one per line. Join them in that order as {shown(out)}.",
            f"{shown(out)} gets one after another the files named in {s}.",
        ],
        solution=[f"xargs cat < {quote(lines)} > {quote(out)}"],
    )


def link_listed(names: Names) -> Unit:
    """Links in a directory to the files that a list names."""
    lines, texts, chosen = _listed_files(names)
    place, s = names.directory(), shown(lines)
    return Unit(
        fixtures=[
            fixture(lines, text_of(chosen)), directory(place), *(fixture(path, text) for path, text in texts.items()),
        ],
        directive=names.pick(
            [
                f"For every path in {s} make a symbolic link of its file name in {place}; targets are {HOME}/PATH.",
                f"{place} gets a symlink NAME for each file listed in {s}, with the absolute target {HOME}/PATH.",
                f"Link the files of the list {s} symbolically into {place}, same names, targets in full from {HOME}/.",
            ]
        ),
        solution=[f"for f in $(cat {quote(lines)}); do ln -s {HOME}/$f {place}/$(basename $f); done"],
        after=[link(f"{place}/{path.rpartition('/')[2]}", f"{HOME}/{path}") for path in chosen],
    )  # fmt: skip


def sums_by_hash(names: Names) -> Unit:
    """The checksum lines of a directory, ordered by hash."""
    place, out, kind = names.directory(), names.file("list"), names.pick(["md5", "sha256"])
    texts = {f"{place}/{names.file('dat', plain=True)}": names.text(1, 3) for _ in range(names.number(2, 4))}
    rows = [
        f"{hashlib.new(kind, text.encode(), usedforsecurity=False).hexdigest()}  {path}" for path, text in texts.items()
    ]
    return saving_unit(
        names,
        [fixture(path, text) for path, text in texts.items()],
        out,
        text_of(sorted(rows)),
        asks=[
            f"Index the .dat files of {place} in {shown(out)} by {kind} sum: hash and {place}/NAME, sorted.",
            f"Write the sorted {kind}sum lines of {place}/*.dat to {shown(out)}.",
            f"{shown(out)} lists {kind} hash, two spaces and {place}/NAME of each .dat file there, sorted by hash.",
        ],
        solution=[f"{kind}sum {place}/*.dat | sort > {quote(out)}"],
    )


def copy_listed_deep(names: Names) -> Unit:
    """Copies of listed files below a directory, with their paths."""
    lines, texts, chosen = _listed_files(names)
    place, s = names.directory(), shown(lines)
    return Unit(
        fixtures=[fixture(lines, text_of(chosen)), *(fixture(path, text) for path, text in texts.items())],
        directive=names.pick(
            [
                f"Copy each file that {s} lists to the same path below {place}; make all directories.",
                f"{place}/PATH shall be a copy of PATH for every path in {s}; no directory of it is there yet.",
                f"Repeat the files of the list {s} below the new directory {place}, with their directories.",
            ]
        ),
        solution=[
            f"for f in $(cat {quote(lines)}); do mkdir -p {place}/$(dirname $f); done",
            f"for f in $(cat {quote(lines)}); do cp $f {place}/$f; done",
        ],
        after=[fixture(f"{place}/{path}", texts[path]) for path in chosen],
    )


def names_in_row(names: Names) -> Unit:
    """The names in a directory as one row."""
    place, out = names.directory(), names.file("txt")
    kind, separator = names.pick([("comma", ","), ("colon", ":")])
    files = sorted(names.file(names.pick(["txt", "md"])) for _ in range(names.number(3, 5)))
    return saving_unit(
        names,
        [fixture(f"{place}/{file}", names.text(1, 2)) for file in files],
        out,
        separator.join(files) + "\n",
        asks=[
            f"Write the sorted file names of {place} to {shown(out)} as one line, a {kind} between names.",
            f"{shown(out)} gets a single line: the names in {place}, sorted, each but the last with a {kind} after it.",
            f"Index {place} in one row, {shown(out)}: all names, sorted, with a {kind} between them.",
        ],
        solution=[f"ls {place} | sort | paste -s -d {separator} - > {quote(out)}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "number_names": [numbered_directories, numbered_files, numbered_lines],
    "path_parts": [last_parts, first_parts, bare_stems, parents_of_path],
    "index_files": [names_in_row, sums_by_hash, sizes_of_files, lines_of_each, listing_and_count],
    "work_through_list": [copy_listed_deep, modes_of_listed, copy_listed, stack_listed, link_listed],
}
