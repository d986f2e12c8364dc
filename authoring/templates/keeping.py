"""Worlds in which files are backed up before an edit, logs are rotated, and releases are laid out."""

import gzip
import hashlib

from authoring.templates.archives import binary_file, named_texts, tar_bytes, text_files, texts_below
from authoring.templates.squeeze import holds_data
from authoring.templates.world import Names, Shape, Unit, directory, fixture, link, quote, shown, text_of


def _settings(names: Names) -> tuple[str, str, str, str]:
    """A key, its new value, a text with another value, and the text with the new one."""
    key, (old, new) = names.word(), map(str, names.numbers(2, 2, 999))
    lines = [f"{word}={names.number(1, 99)}" for word in names.words(3)]
    return key, new, text_of([f"{key}={old}", *lines]), text_of([f"{key}={new}", *lines])


def back_up_file(names: Names) -> Unit:
    """A copy of a file, then an edit of it."""
    path, ending = names.path("conf", names.number(0, 1)), names.pick(["bak", "orig", "old"])
    key, new, before, wanted = _settings(names)
    copy = f"{path}.{ending}"
    s, c = shown(path), shown(copy)
    return Unit(
        fixtures=[fixture(path, before)],
        directive=names.pick(
            [
                f"Keep a copy of {s} as {c}, then set {key} in {s} to {new}.",
                f"Back {s} up to {c}; after that {key} in {s} becomes {new}.",
                f"Set {key} to {new} in {s}, but first save the old state as {c}.",
            ]
        ),
        solution=[f"cp {quote(path)} {quote(copy)}", f"sed -i 's/^{key}=.*/{key}={new}/' {quote(path)}"],
        after=[fixture(copy, before), fixture(path, wanted)],
    )


def back_up_packed(names: Names) -> Unit:
    """A compressed copy of a file, which is then emptied of a setting's line."""
    path = names.path("conf", names.number(0, 1))
    key, _, before, _ = _settings(names)
    wanted = before.partition("\n")[2]
    s, c = shown(path), shown(path + ".gz")
    return Unit(
        fixtures=[fixture(path, before)],
        directive=names.pick(
            [
                f"Save a gzip-compressed copy of {s} as {c}, then delete the {key} line of {s}.",
                f"Back {s} up, compressed, as {c}; then remove the line of {key} from {s}.",
                f"Remove the setting {key} from {s}, but keep the old state gzip-compressed in {c}.",
            ]
        ),
        solution=[f"gzip -c {quote(path)} > {quote(path + '.gz')}", f"sed -i '/^{key}=/d' {quote(path)}"],
        after=[fixture(path, wanted)],
        checks=holds_data(path + ".gz", before),
    )


def back_up_private(names: Names) -> Unit:
    """A directory of copies that only the owner may read."""
    place, target, ext = names.directory(), names.directory(), names.pick(["conf", "txt"])
    files = {names.file(ext): names.text() for _ in range(names.number(2, 3))}
    mode = names.pick([0o600, 0o640, 0o400])
    return Unit(
        fixtures=[fixture(f"{place}/{file}", text, 0o644) for file, text in files.items()],
        directive=names.pick(
            [
                f"Copy the .{ext} files of {place} to the new directory {target}; the copies get mode {mode:o}.",
                f"Back up {place}/*.{ext} into {target}, which is to be made, and set the copies to {mode:o}.",
                f"Make {target} with a copy of every .{ext} file in {place}, each copy with mode {mode:o}.",
            ]
        ),
        solution=[f"mkdir {target}", f"cp {place}/*.{ext} {target}/", f"chmod {mode:o} {target}/*"],
        after=[directory(target), *(fixture(f"{target}/{file}", text, mode) for file, text in files.items())],
    )


def restore_packed(names: Names) -> Unit:
    """A file brought back from its compressed copy."""
    path, text = names.path("txt", names.number(0, 1)), names.text()
    s, c = shown(path), shown(path + ".gz")
    p, z = quote(path), quote(path + ".gz")
    packed = binary_file(path + ".gz", gzip.compress(text.encode(), mtime=0))
    return Unit(
        fixtures=[fixture(path, names.text()), packed],
        directive=names.pick(
            [
                f"Restore {s} from its compressed backup {c}; the backup stays.",
                f"{c} is the good state of {s}, compressed. Bring it back over {s} and keep {c}.",
                f"Overwrite {s} with what {c} holds; {c} itself stays.",
            ]
        ),
        solution=[names.pick([f"zcat {z} > {p}", f"gunzip -c {z} > {p}"])],
        after=[fixture(path, text)],
    )


def rotate_once(names: Names) -> Unit:
    """A log put aside, and an empty one in its place."""
    path, text = names.path("log", names.number(0, 1)), names.text()
    aside = f"{path}.{names.number(1, 3)}"
    s, a = shown(path), shown(aside)
    return Unit(
        fixtures=[fixture(path, text)],
        directive=names.pick(
            [
                f"Rotate {s}: it becomes {a}, and a new empty {s} takes its place.",
                f"Rename {s} to {a}, then make {s} anew, empty.",
                f"Put {s} aside as {a} and leave an empty {s} behind.",
            ]
        ),
        solution=[f"mv {quote(path)} {quote(aside)}", f"touch {quote(path)}"],
        after=[fixture(aside, text), fixture(path, "")],
    )


def rotate_twice(names: Names) -> Unit:
    """A log and its predecessor, each put one further."""
    path, one, two = names.path("log", names.number(0, 1)), names.text(), names.text()
    s, a, b = (shown(f"{path}{ending}") for ending in ("", ".1", ".2"))
    p, x, y = (quote(f"{path}{ending}") for ending in ("", ".1", ".2"))
    return Unit(
        fixtures=[fixture(path, one), fixture(f"{path}.1", two)],
        directive=names.pick(
            [
                f"Rotate the logs: {a} becomes {b}, {s} becomes {a}, and a new empty {s} is made.",
                f"Move {a} on to {b} and {s} to {a}; then create {s} again without content.",
                f"Shift {s} to {a}, after {a} has gone to {b}, and start an empty {s}.",
            ]
        ),
        solution=[f"mv {x} {y}", f"mv {p} {x}", f"touch {p}"],
        after=[fixture(f"{path}.2", two), fixture(f"{path}.1", one), fixture(path, "")],
    )


def rotate_packed(names: Names) -> Unit:
    """The older log compressed, the newer one put aside."""
    path, one, two = names.path("log", names.number(0, 1)), names.text(), names.text()
    s, a = shown(path), shown(f"{path}.1")
    return Unit(
        fixtures=[fixture(path, one), fixture(f"{path}.1", two)],
        directive=names.pick(
            [
                f"Compress {a} with gzip to {shown(path + '.1.gz')}, then rename {s} to {a}.",
                f"Gzip the old log {a} in place; after that {s} becomes {a}.",
                f"Rotate {s} to {a}, once the former {a} is gzip-compressed under its name with .gz.",
            ]
        ),
        solution=[f"gzip {quote(path + '.1')}", f"mv {quote(path)} {quote(path + '.1')}"],
        after=[fixture(f"{path}.1", one)],
        removed=[path],
        checks=holds_data(f"{path}.1.gz", two),
    )


def keep_last_lines(names: Names) -> Unit:
    """A log cut down to its last lines, the whole of it kept elsewhere."""
    path, old = names.path("log", names.number(0, 1)), names.file("old")
    lines = names.lines(names.number(7, 11))
    count = names.number(2, 5)
    s, o = shown(path), shown(old)
    return Unit(
        fixtures=[fixture(path, text_of(lines))],
        directive=names.pick(
            [
                f"Move {s} to {o} and make {s} anew with only the last {count} lines of it.",
                f"Keep the whole log {s} as {o}; {s} itself shrinks to its last {count} lines.",
                f"Rename {s} to {o}, then write the last {count} lines of {o} to {s}.",
            ]
        ),
        solution=[f"mv {quote(path)} {quote(old)}", f"tail -n {count} {quote(old)} > {quote(path)}"],
        after=[fixture(old, text_of(lines)), fixture(path, text_of(lines[-count:]))],
    )


def release_and_point(names: Names) -> Unit:
    """A packed release unpacked in a new directory, with a link to it."""
    members, place, current = named_texts(names, names.number(2, 3)), names.directory(), names.stem(plain=True)
    path = names.file(names.pick(["tgz", "tar.gz"]))
    p = shown(path)
    return Unit(
        fixtures=[binary_file(path, tar_bytes(members, compressed=True))],
        directive=names.pick(
            [
                f"Unpack {p} into the new directory {place} and make a symbolic link {current} to {place}.",
                f"Make {place}, extract the compressed tar {p} there, and link {current} symbolically to {place}.",
                f"The release in {p} goes into {place}, which is new; the symlink {current} points to {place}.",
            ]
        ),
        solution=[f"mkdir {place}", f"tar -xzf {quote(path)} -C {place}", f"ln -s {place} {current}"],
        after=[directory(place), *text_files(texts_below(place, members)), link(current, place)],
    )


def release_script(names: Names) -> Unit:
    """A script copied into a place for programs, made executable, and linked by a short name."""
    source, place, short = names.file("sh"), names.directory(), names.stem(plain=True)
    text, mode = names.text(), names.pick([0o755, 0o750, 0o700])
    s, target = shown(source), f"{place}/{source}"
    return Unit(
        fixtures=[fixture(source, text, 0o644), directory(place)],
        directive=names.pick(
            [
                f"Copy {s} into {place} with mode {mode:o}, and make a symbolic link {short} to {shown(target)}.",
                f"Copy {s} into {place}, set that to {mode:o} and let the symlink {short} point to {shown(target)}.",
                f"{place} gets a copy of {s}, mode {mode:o}; the symbolic link {short} has the target {shown(target)}.",
            ]
        ),
        solution=[
            f"cp {quote(source)} {place}/",
            f"chmod {mode:o} {quote(target)}",
            f"ln -s {quote(target)} {short}",
        ],
        after=[fixture(target, text, mode), link(short, target)],
    )


def release_with_version(names: Names) -> Unit:
    """A copy of a release under the next version, with its number written into it."""
    base, low = names.word(), names.number(1, 8)
    files = {names.file("txt"): names.text() for _ in range(2)}
    one, two = f"{base}-{low}", f"{base}-{low + 1}"
    version = f"{low + 1}.{names.number(0, 9)}"
    return Unit(
        fixtures=[fixture(f"{one}/{file}", text) for file, text in files.items()],
        directive=names.pick(
            [
                f"Copy the directory {one} to {two} and write the one line {version} to {two}/VERSION.",
                f"Make {two} as a copy of the whole of {one}; the file {two}/VERSION then holds {version}.",
                f"{two} starts as a copy of {one}, with a new file {two}/VERSION of the line {version}.",
            ]
        ),
        solution=[
            f"cp -r {one} {two}",
            names.pick([f"echo {version} > {two}/VERSION", f"printf '{version}\\n' > {two}/VERSION"]),
        ],
        after=[
            directory(two),
            *(fixture(f"{two}/{file}", text) for file, text in files.items()),
            fixture(f"{two}/VERSION", f"{version}\n"),
        ],
    )


def back_up_with_changes(names: Names) -> Unit:
    """A copy, an edit, and the line that is new since."""
    path, out = names.file("conf"), names.file("txt")
    key, new, before, wanted = _settings(names)
    s, c, o = shown(path), shown(f"{path}.orig"), shown(out)
    p, x = quote(path), quote(f"{path}.orig")
    return Unit(
        fixtures=[fixture(path, before)],
        directive=names.pick(
            [
                f"Keep {s} as {c}, set {key} in {s} to {new}, and save the line only the new {s} has in {o}.",
                f"Copy {s} to {c} and change {key} in {s} to {new}; {o} gets the line that differs, as it now reads.",
                f"After a backup of {s} as {c}, {key} in {s} becomes {new}. Write the changed line, new form, to {o}.",
            ]
        ),
        solution=[
            f"cp {p} {x}",
            f"sed -i 's/^{key}=.*/{key}={new}/' {p}",
            f"diff {x} {p} | grep '^+[^+]' | cut -c 2- > {quote(out)}",
        ],
        after=[fixture(f"{path}.orig", before), fixture(path, wanted), fixture(out, f"{key}={new}\n")],
    )


def back_up_with_sum(names: Names) -> Unit:
    """A copy with its checksum beside it."""
    path, kind = names.path("dat", names.number(0, 1), plain=True), names.pick(["md5", "sha256"])
    text = names.text()
    digest = hashlib.new(kind, text.encode(), usedforsecurity=False).hexdigest()
    return Unit(
        fixtures=[fixture(path, text)],
        directive=names.pick(
            [
                f"Copy {path} to {path}.bak and save the {kind}sum line of {path}.bak in {path}.{kind}.",
                f"Back up {path} as {path}.bak; {path}.{kind} gets what {kind}sum prints for the copy.",
                f"Keep a copy {path}.bak of {path}, with its {kind} sum (hash and path) in {path}.{kind}.",
            ]
        ),
        solution=[f"cp {path} {path}.bak", f"{kind}sum {path}.bak > {path}.{kind}"],
        after=[fixture(f"{path}.bak", text), fixture(f"{path}.{kind}", f"{digest}  {path}.bak\n")],
    )


def new_since_rotation(names: Names) -> Unit:
    """The lines that a log has gained since its older state."""
    path, out, lines = names.path("log", names.number(0, 1)), names.file("txt"), names.lines(names.number(5, 8))
    old = lines[: names.number(2, 4)]
    s, a, o = shown(path), shown(f"{path}.1"), shown(out)
    return Unit(
        fixtures=[fixture(path, text_of(lines)), fixture(f"{path}.1", text_of(old))],
        directive=names.pick(
            [
                f"{a} is an older state of {s}. Save the lines that {s} has gained in {o}, then delete {a}.",
                f"Write what {s} has and {a} has not to {o}, as lines; after that {a} goes.",
                f"Compare {a} with {s}: lines only in {s} go to {o}. Remove {a} at the end.",
            ]
        ),
        solution=[
            f"diff {quote(path + '.1')} {quote(path)} | grep '^+[^+]' | cut -c 2- > {quote(out)}",
            f"rm {quote(path + '.1')}",
        ],
        after=[fixture(out, text_of(lines[len(old) :]))],
        removed=[f"{path}.1"],
    )


def join_rotated(names: Names) -> Unit:
    """A compressed older log decompressed, and both as one."""
    path, out, one, two = names.path("log", names.number(0, 1)), names.file("txt"), names.text(), names.text()
    s, z, o = shown(path), shown(f"{path}.1.gz"), shown(out)
    return Unit(
        fixtures=[fixture(path, two), binary_file(f"{path}.1.gz", gzip.compress(one.encode(), mtime=0))],
        directive=names.pick(
            [
                f"Decompress {z} in place, then write it and after it {s} to {o}.",
                f"Restore {shown(path + '.1')} from {z}; {o} gets its lines and below them those of {s}.",
                f"Gunzip {z}. Then join the result and {s}, in this order, as {o}.",
            ]
        ),
        solution=[f"gunzip {quote(path + '.1.gz')}", f"cat {quote(path + '.1')} {quote(path)} > {quote(out)}"],
        after=[fixture(f"{path}.1", one), fixture(out, one + two)],
        removed=[f"{path}.1.gz"],
    )


SHAPES: dict[str, list[Shape]] = {
    "back_up": [back_up_with_changes, back_up_with_sum, back_up_file, back_up_packed, back_up_private, restore_packed],
    "rotate_logs": [new_since_rotation, join_rotated, rotate_once, rotate_twice, rotate_packed, keep_last_lines],
    "lay_out_release": [release_and_point, release_script, release_with_version],
}
