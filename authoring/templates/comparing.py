"""Worlds in which files are compared, checked against sums, or freed of repeats.

The diff of busybox prints the unified form alone: a gained line begins with one +.
"""

import hashlib

from authoring.templates.world import Names, Shape, Unit, fixture, quote, saving_unit, shown, text_of


def added_lines(names: Names) -> Unit:
    """The lines that the newer of two files has gained."""
    old, new, out = names.file("txt"), names.file("txt"), names.file("txt")
    lines = names.lines(7)
    gone = names.rng.sample(range(1, 6), names.number(2, 3))
    kept = [line for index, line in enumerate(lines) if index not in gone]
    s, t, o = shown(old), shown(new), shown(out)
    sign, first, second = names.pick([("+", kept, lines), ("-", lines, kept)])
    only, other = (t, s) if sign == "+" else (s, t)
    return saving_unit(
        names,
        [fixture(old, text_of(first)), fixture(new, text_of(second))],
        out,
        text_of(lines[index] for index in sorted(gone)),
        asks=[
            f"Compare {s} with {t} and write the lines that only {only} has to {o}.",
            f"Which lines stand in {only} but not in {other}? Save them, as they are, in {o}.",
            f"{s} and {t} are two versions of a text. Put the lines found only in {only} into {o}.",
        ],
        solution=[f"diff {quote(old)} {quote(new)} | grep '^{sign}[^{sign}]' | cut -c 2- > {quote(out)}"],
    )


def differing_files(names: Names) -> Unit:
    """The names of the files that differ between two directories."""
    one, two, out = names.directory(), names.directory(), names.file("list")
    files = sorted(names.file(names.pick(["txt", "conf"]), plain=True) for _ in range(names.number(3, 4)))
    changed = sorted(names.rng.sample(files, 2))
    texts = {file: names.text() for file in files}
    return saving_unit(
        names,
        [
            *(fixture(f"{one}/{file}", text) for file, text in texts.items()),
            *(fixture(f"{two}/{file}", names.text() if file in changed else text) for file, text in texts.items()),
        ],
        out,
        text_of(changed),
        asks=[
            f"{one} and {two} hold files of the same names. Write the differing names, sorted, to {shown(out)}.",
            f"Compare the directories {one} and {two}: {shown(out)} lists the bare names of differing files, sorted.",
            f"Save in {shown(out)}, one per line and sorted, which file names of {one} have another content in {two}.",
        ],
        solution=[f"diff -rq {one} {two} | cut -d ' ' -f 2 | xargs -n 1 basename | sort > {quote(out)}"],
    )


def names_in_one(names: Names) -> Unit:
    """Two listings, and the names that only the second directory has."""
    one, two = names.directory(), names.directory()
    lists = [names.file("list") for _ in range(3)]
    files = sorted(names.file("txt") for _ in range(5))
    left = [file for index, file in enumerate(files) if index not in (1, 3)]
    a, b, c = map(shown, lists)
    x, y, z = map(quote, lists)
    return Unit(
        fixtures=[fixture(f"{place}/{f}", names.text(1, 2)) for place, fs in ((one, left), (two, files)) for f in fs],
        directive=names.pick(
            [
                f"List the names in {one} as {a} and those in {two} as {b}, sorted; names only in {b} go to {c}.",
                f"Write sorted name lists of {one} to {a} and of {two} to {b}, then save what {a} lacks of {b} as {c}.",
                f"Save the sorted file names of {one} ({a}) and {two} ({b}), and in {c} those that {one} lacks.",
            ]
        ),
        solution=[f"ls {one} | sort > {x}", f"ls {two} | sort > {y}", f"grep -vxFf {x} {y} > {z}"],
        after=[
            fixture(lists[0], text_of(sorted(left))),
            fixture(lists[1], text_of(files)),
            fixture(lists[2], text_of(sorted(set(files) - set(left)))),
        ],
    )


def shared_lines(names: Names) -> Unit:
    """The lines that two files share, sorted."""
    first, second, out = names.file("txt"), names.file("txt"), names.file("txt")
    lines = names.filler(8)
    left, right = names.rng.sample(lines[:5], 5), names.rng.sample(lines[3:], 5)
    option, what, kept = names.pick(
        [
            ("-d", "that stand in both", lines[3:5]),
            ("-u", "that stand in only one of them", lines[:3] + lines[5:]),
        ]
    )
    a, b, o = shown(first), shown(second), shown(out)
    return saving_unit(
        names,
        [fixture(first, text_of(left)), fixture(second, text_of(right))],
        out,
        text_of(sorted(kept)),
        asks=[
            f"Neither {a} nor {b} repeats a line. Write the lines {what}, sorted, to {o}.",
            f"Compare {a} and {b}, which have no repeats, and save the lines {what} in {o}, sorted.",
            f"Make {o}, a sorted list of the lines of {a} and {b} {what}; each file has a line once.",
        ],
        solution=names.pick(
            [
                [f"sort {quote(first)} {quote(second)} | uniq {option} > {quote(out)}"],
                [f"cat {quote(first)} {quote(second)} | sort | uniq {option} > {quote(out)}"],
            ]
        ),
    )


def _digest(kind: str, text: str) -> str:
    return hashlib.new(kind, text.encode(), usedforsecurity=False).hexdigest()


def sums_of_directory(names: Names) -> Unit:
    """The checksum lines of all files of one kind."""
    place, out = names.directory(), names.file(names.pick(["txt", "list"]))
    kind, ext = names.pick(["sha256", "md5"]), names.pick(["txt", "dat", "conf"])
    texts = {f"{place}/{names.file(ext)}": names.text(1, 3) for _ in range(names.number(2, 4))}
    return saving_unit(
        names,
        [*(fixture(path, text) for path, text in texts.items()), fixture(f"{place}/{names.file('md')}", names.text())],
        out,
        text_of(f"{_digest(kind, texts[path])}  {path}" for path in sorted(texts)),
        asks=[
            f"Save the {kind} checksum lines of all .{ext} files of {place} as {shown(out)}, by name, with {place}/.",
            f"Write to {shown(out)} what {kind}sum prints for each .{ext} file in {place}, as {place}/NAME, by name.",
            f"{shown(out)} holds the {kind} sums of the .{ext} files in {place}, in {kind}sum's form with {place}/.",
        ],
        solution=[f"{kind}sum {place}/*.{ext} > {quote(out)}"],
    )


def bare_sum(names: Names) -> Unit:
    """The checksum of a file without its name."""
    path, out, text = names.path(names.pick(["dat", "txt"]), names.number(0, 1)), names.file("txt"), names.text()
    kind = names.pick(["sha256", "md5", "sha1"])
    s, o = shown(path), shown(out)
    p = quote(path)
    return saving_unit(
        names,
        [fixture(path, text)],
        out,
        f"{_digest(kind, text)}\n",
        asks=[
            f"Write the {kind} checksum of {s} to {o}, the hex digits alone.",
            f"Save the {kind} sum of {s} in {o} without the file name.",
            f"{o} gets one line: the {kind} hash of {s} and nothing else.",
        ],
        solution=[
            names.pick(
                [
                    f"{kind}sum {p} | cut -d ' ' -f 1 > {quote(out)}",
                    f"{kind}sum {p} | awk '{{print $1}}' > {quote(out)}",
                ]
            )
        ],
    )


def failing_sums(names: Names) -> Unit:
    """The files that do not agree with a list of checksums."""
    lines, out, kind = names.file("list"), names.file("txt"), names.pick(["sha256", "md5"])
    texts = {names.path("txt", 1, plain=True): names.text() for _ in range(names.number(3, 5))}
    bad = names.rng.sample(list(texts), 2)
    listing = [f"{_digest(kind, names.text() if path in bad else text)}  {path}" for path, text in texts.items()]
    return saving_unit(
        names,
        [fixture(lines, text_of(listing)), *(fixture(path, text) for path, text in texts.items())],
        out,
        text_of(sorted(bad)),
        asks=[
            f"Check the files against the {kind} sums in {shown(lines)}; write failing paths, sorted, to {shown(out)}.",
            f"{shown(lines)} holds {kind} sums. Save the paths of files that no longer match, sorted, in {shown(out)}.",
            f"Which files listed in {shown(lines)} fail their {kind} check? Their paths go to {shown(out)}, sorted.",
        ],
        solution=[f"{kind}sum -c {quote(lines)} 2>/dev/null | grep FAILED | cut -d : -f 1 | sort > {quote(out)}"],
    )


def first_of_repeats(names: Names) -> Unit:
    """A file without repeats, in its order."""
    path, out = names.path("txt", names.number(0, 1)), names.file("txt")
    once = names.filler(5)
    lines = [*once, *names.rng.sample(once, 3)]
    s, o = shown(path), shown(out)
    return saving_unit(
        names,
        [fixture(path, text_of(lines))],
        out,
        text_of(once),
        asks=[
            f"Write {s} to {o} with each line only where it stands first; the order stays.",
            f"Drop repeated lines of {s} without sorting and save the rest as {o}.",
            f"{o} shall hold the lines of {s}, in their order, every line just once.",
        ],
        solution=[f"awk '!seen[$0]++' {quote(path)} > {quote(out)}"],
    )


def drop_known_lines(names: Names) -> Unit:
    """Lines of one file that another holds are dropped from it."""
    known, path = names.file("txt"), names.file("txt")
    lines = names.filler(8)
    have = lines[:4]
    new = names.rng.sample(lines[2:], 6)
    temporary = f"{names.word()}.tmp"
    return Unit(
        fixtures=[fixture(known, text_of(have)), fixture(path, text_of(new))],
        directive=names.pick(
            [
                f"Remove from {shown(path)} every line that {shown(known)} has already.",
                f"Take the lines of {shown(known)} out of {shown(path)}; the order of the others stays.",
                f"{shown(path)} must keep only lines that are not in {shown(known)}.",
            ]
        ),
        solution=[
            f"grep -vxFf {quote(known)} {quote(path)} > {temporary}",
            f"mv {temporary} {quote(path)}",
        ],
        after=[fixture(path, text_of(line for line in new if line not in have))],
    )


def neighbours(names: Names) -> Unit:
    """Repeats that follow each other, once or counted over two files."""
    first, second, out = names.file("log"), names.file("log"), names.file("txt")
    lines = names.filler(4)
    left, right = names.rng.choices(lines, k=5), names.rng.choices(lines, k=4)
    a, b, o = shown(first), shown(second), shown(out)
    return saving_unit(
        names,
        [fixture(first, text_of(left)), fixture(second, text_of(right))],
        out,
        f"{len(set(left + right))}\n",
        asks=[
            f"How many different lines do {a} and {b} have together? Write the number to {o}.",
            f"Count the lines of {a} and {b} without repeats, over both, and save the number in {o}.",
            f"Put into {o} how many distinct lines there are in {a} and {b} taken as one.",
        ],
        solution=[
            names.pick(
                [
                    f"sort -u {quote(first)} {quote(second)} | wc -l > {quote(out)}",
                    f"cat {quote(first)} {quote(second)} | sort | uniq | wc -l > {quote(out)}",
                ]
            )
        ],
    )


def union_and_count(names: Names) -> Unit:
    """The distinct lines of two files, and their number."""
    first, second, out, count = names.file("txt"), names.file("txt"), names.file("txt"), names.file("txt")
    lines = names.filler(7)
    a, b, o, c = shown(first), shown(second), shown(out), shown(count)
    return Unit(
        fixtures=[fixture(first, text_of(lines[:4])), fixture(second, text_of(lines[3:]))],
        directive=names.pick(
            [
                f"Write the lines of {a} and {b}, sorted and without repeats, to {o} and their number to {c}.",
                f"Make {o} of {a} and {b}: sorted, each line once. {c} gets the bare line count of {o}.",
                f"{o} holds every line of {a} or {b} once, sorted; {c} says how many that are.",
            ]
        ),
        solution=[f"sort -u {quote(first)} {quote(second)} | tee {quote(out)} | wc -l > {quote(count)}"],
        after=[fixture(out, text_of(sorted(lines))), fixture(count, "7\n")],
    )


SHAPES: dict[str, list[Shape]] = {
    "compare_files": [added_lines, differing_files, names_in_one, shared_lines],
    "checksum_files": [sums_of_directory, bare_sum, failing_sums],
    "drop_repeats": [union_and_count, first_of_repeats, drop_known_lines, neighbours],
}
