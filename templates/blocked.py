"""Shape the blocked archetypes: one directive that cannot be done in the sandbox, beside simple work that can.

    from templates.blocked import DOABLE, SHAPES

Reads   nothing
Writes  nothing
Needs   nothing

Who tries such work with the usual command sees it fail and leave nothing. DOABLE, from doable.py, stands beside it.
"""

from collections.abc import Sequence

from schema import HOME, Fixture
from templates.archives import binary
from templates.doable import DOABLE
from templates.world import Names, Shape, Unit, directory, fixture, shown

__all__ = ["DOABLE", "SHAPES"]

NOT_INSTALLED: dict[str, str] = {"zstd": "zst", "7z": "7z", "rar": "rar", "lz4": "lz4", "brotli": "br", "zip": "zip"}
READ_ONLY: tuple[str, ...] = ("/etc", "/usr/share", "/usr/lib", "/opt", "/srv", "/root", "/var/lib")


def _cannot(
    names: Names,
    *,
    fixtures: Sequence[Fixture] = (),
    asks: Sequence[str],
    others: Sequence[str],
    outputs: Sequence[str],
) -> Unit:
    """A unit without a solution; `outputs` are relative to the home."""
    return Unit(
        fixtures=list(fixtures),
        directive=names.pick(asks),
        instruction=names.pick(others),
        solution=[],
        after=[],
        blocked_outputs=[f"{HOME}/{path}" for path in outputs],
    )


def _copy_missing(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "csv", "log"]), names.number(0, 1)), names.file("txt")
    s, o = shown(source), shown(out)
    return _cannot(
        names,
        asks=[
            f"Copy {s} to {o}.",
            f"Make a copy of {s} under the name {o}.",
            f"Duplicate {s} as {o}.",
        ],
        others=[f"I want {o} to be a copy of {s}.", f"{o} should equal {s}."],
        outputs=[out],
    )


def _move_missing(names: Names) -> Unit:
    source, place = names.file(names.pick(["txt", "csv", "log"])), names.directory()
    s = shown(source)
    return _cannot(
        names,
        fixtures=[directory(place)],
        asks=[
            f"Move {s} into the directory {place}.",
            f"Put the file {s} away in {place}.",
            f"Take {s} from the home directory to {place}.",
        ],
        others=[f"I want {s} to lie in {place}.", f"{place} should take in {s}."],
        outputs=[f"{place}/{source}"],
    )


def _sort_missing(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "list"]), 1), names.file("txt")
    s, o = shown(source), shown(out)
    return _cannot(
        names,
        asks=[
            f"Sort the lines of {s} and save them as {o}.",
            f"Write {s} in sorted order to {o}.",
            f"Put a sorted version of {s} into {o}.",
        ],
        others=[f"I want the lines of {s} in order in {o}.", f"{o} should be {s}, but sorted."],
        outputs=[out],
    )


def _edit_missing(names: Names) -> Unit:
    source, (old, new) = names.path(names.pick(["txt", "conf"]), names.number(0, 1)), names.words(2)
    s = shown(source)
    return _cannot(
        names,
        asks=[
            f"In {s} replace {old} by {new} everywhere.",
            f"Change every {old} in {s} to {new}.",
            f"Edit {s}: the word {old} becomes {new}.",
        ],
        others=[f"I want {new} where {s} says {old}.", f"{s} should say {new}, not {old}."],
        outputs=[source],
    )


def _install(names: Names) -> Unit:
    source, place = names.file(names.pick(["conf", "txt", "sh"]), plain=True), names.pick(READ_ONLY)
    return _cannot(
        names,
        fixtures=[fixture(source, names.text())],
        asks=[
            f"Copy {source} to {place}/{source}.",
            f"Install {source} in the directory {place} of the system.",
            f"Put a copy of {source} into {place}.",
        ],
        others=[f"I want {source} to be in {place}, too.", f"{place} should have its own {source}."],
        outputs=[f"{place[1:]}/{source}"],
    )


def _system_directory(names: Names) -> Unit:
    place, name = names.pick(READ_ONLY), names.word()
    return _cannot(
        names,
        asks=[
            f"Create the directory {place}/{name}.",
            f"Make a new directory {name} in {place}.",
            f"Set up {place}/{name} as an empty directory.",
        ],
        others=[f"I want there to be a directory {name} under {place}.", f"{place} should hold a directory {name}."],
        outputs=[f"{place[1:]}/{name}/.keep"],
    )


def _system_file(names: Names) -> Unit:
    target, line = names.pick(["/etc/hosts", "/etc/passwd", "/etc/profile", "/etc/group"]), names.line(2, 3)
    return _cannot(
        names,
        asks=[
            f"Append the line '{line}' to {target}.",
            f"Add '{line}' at the end of the system file {target}.",
            f"The file {target} must get one more line: {line}.",
        ],
        others=[f"I want {target} to end with '{line}'.", f"'{line}' should be the last line of {target}."],
        outputs=[target[1:]],
    )


def _move_out(names: Names) -> Unit:
    source, place, name = names.path("log", names.number(0, 1)), names.pick(READ_ONLY), names.word()
    return _cannot(
        names,
        fixtures=[fixture(source, names.text())],
        asks=[
            f"Move {shown(source)} to {place}/{name}.log.",
            f"File {shown(source)} away as {place}/{name}.log.",
            f"Take {shown(source)} out of the home directory and to {place}/{name}.log.",
        ],
        others=[
            f"I want {shown(source)} to live at {place}/{name}.log from now on.",
            f"{place}/{name}.log should be where {shown(source)} went.",
        ],
        outputs=[f"{place[1:]}/{name}.log"],
    )


def _compress_with_absent(names: Names) -> Unit:
    program = names.pick(["zstd", "lz4", "brotli"])
    source = names.path(names.pick(["log", "txt"]), names.number(0, 1))
    out = f"{source}.{NOT_INSTALLED[program]}"
    s, o = shown(source), shown(out)
    return _cannot(
        names,
        fixtures=[fixture(source, names.text())],
        asks=[
            f"Compress {s} with {program} to {o}.",
            f"Use {program} to make {o} from {s}.",
            f"Run {program} on {s}; the result is {o}.",
        ],
        others=[f"I want a {program} version of {s} called {o}.", f"{o} should be what {program} makes of {s}."],
        outputs=[out],
    )


def _archive_with_absent(names: Names) -> Unit:
    program = names.pick(["7z", "rar", "zip"])
    members, out = [names.file("txt", plain=True) for _ in range(2)], names.file(NOT_INSTALLED[program], plain=True)
    what = " and ".join(members)
    return _cannot(
        names,
        fixtures=[fixture(path, names.text()) for path in members],
        asks=[
            f"Pack {what} into the {program} archive {out}.",
            f"Make the archive {out} of {what} with {program}.",
            f"Put {what} into {out}, using the program {program}.",
        ],
        others=[
            f"I want {what} in a {program} archive named {out}.",
            f"{out} should be a {program} archive of {what}.",
        ],
        outputs=[out],
    )


def _unpack_with_absent(names: Names) -> Unit:
    program, magic, command = names.pick(
        [
            ("7z", b"7z\xbc\xaf\x27\x1c\x00\x04", "7z x"),
            ("rar", b"Rar!\x1a\x07\x01\x00", "unrar x"),
            ("zstd", b"\x28\xb5\x2f\xfd\x24", "zstd -d"),
        ]
    )
    stem = names.stem(plain=True)
    path = f"{stem}.txt.{NOT_INSTALLED[program]}"
    return _cannot(
        names,
        fixtures=[binary(path, magic + names.rng.randbytes(names.number(60, 120)))],
        asks=[
            f"Unpack {path}, made with {program}, so that {stem}.txt lies beside it.",
            f"Extract {stem}.txt from {path} with {command.split()[0]}.",
            f"Get {stem}.txt back out of the {program} file {path}.",
        ],
        others=[f"I want the {stem}.txt that {program} put into {path}.", f"{path} should yield {stem}.txt."],
        outputs=[f"{stem}.txt"],
    )


def _url(names: Names, file: str) -> str:
    """The address of a file on a host that is not there."""
    host = names.pick(
        [
            f"{names.word()}.example.org",
            f"{names.word()}.example.net",
            f"{names.word()}.internal",
            f"10.{names.number(1, 250)}.{names.number(1, 250)}.{names.number(2, 250)}",
        ]
    )
    return f"http://{host}/{names.pick(['', names.word() + '/'])}{file}"


def _download(names: Names) -> Unit:
    out = names.path(names.pick(["conf", "txt", "json", "list"]), 0, plain=True)
    url = _url(names, out)
    return _cannot(
        names,
        asks=[
            f"Download {url} and save it as {out}.",
            f"Fetch {url} into the file {out}.",
            f"Get {url} from the network; store it under the name {out}.",
        ],
        others=[f"I want what is at {url} in {out}.", f"{out} should hold the content of {url}."],
        outputs=[out],
    )


def _refresh(names: Names) -> Unit:
    path = names.path(names.pick(["conf", "list", "txt"]), names.number(0, 1), plain=True)
    url = _url(names, path.rpartition("/")[2])
    return _cannot(
        names,
        fixtures=[fixture(path, names.text())],
        asks=[
            f"Replace {path} by the current version at {url}.",
            f"Update {path} from {url}.",
            f"{path} is out of date; overwrite it with {url}.",
        ],
        others=[f"I want {path} to be as fresh as {url}.", f"{path} should equal what {url} has now."],
        outputs=[path],
    )


def _upload(names: Names) -> Unit:
    path, out = names.path("conf", names.number(0, 1), plain=True), names.file("txt", plain=True)
    url = _url(names, names.word())
    return _cannot(
        names,
        fixtures=[fixture(path, names.text())],
        asks=[
            f"Post {path} to {url} and save the reply as {out}.",
            f"Send the file {path} to {url}; the answer goes to {out}.",
            f"Upload {path} to {url} and keep in {out} what the server says.",
        ],
        others=[
            f"I want {url} to receive {path}, its reply in {out}.",
            f"{out} should hold what {url} says to {path}.",
        ],
        outputs=[out],
    )


def _download_and_unpack(names: Names) -> Unit:
    place, archive = names.directory(), names.file("tgz", plain=True)
    url = _url(names, archive)
    return _cannot(
        names,
        fixtures=[directory(place)],
        asks=[
            f"Download {url} as {archive} and unpack it into {place}.",
            f"Fetch {archive} from {url}, then extract it in {place}.",
            f"The archive at {url} is wanted as {archive}, unpacked into {place}.",
        ],
        others=[f"I want {url} saved as {archive} and its files in {place}."],
        outputs=[archive, f"{place}/{names.file(plain=True)}"],
    )


def _garbage(names: Names, head: bytes = b"") -> bytes:
    """Bytes that begin right and hold nothing: in a gzip stream 7 opens a block of a kind that does not exist."""
    return head + b"\x07" + names.rng.randbytes(names.number(600, 900))


def _broken_tar(names: Names) -> Unit:
    place, member = names.directory(), names.file("txt", plain=True)
    zipped = names.rng.random() < 0.7
    path = names.file(names.pick(["tgz", "tar.gz"]) if zipped else "tar")
    data = _garbage(names, b"\x1f\x8b\x08\0\0\0\0\0\0\x03" if zipped else b"")
    p, kind = shown(path), "compressed tar archive" if zipped else "tar archive"
    return _cannot(
        names,
        fixtures=[binary(path, data), directory(place)],
        asks=[
            f"Unpack the {kind} {p} into {place}; {place}/{member} must be there afterwards.",
            f"Extract {member} and whatever else is in {p} (a {kind}) to the directory {place}.",
            f"Put the content of the {kind} {p}, {member} above all, into {place}.",
        ],
        others=[
            f"I want {place} to hold {member} and all else from the {kind} {p}.",
            f"{place} should get what is in the {kind} {p}, {member} for one.",
        ],
        outputs=[f"{place}/{member}"],
    )


def _broken_single(names: Names) -> Unit:
    path = names.path(names.pick(["log", "txt", "csv"]), names.number(0, 1))
    ext, data = names.pick(
        [
            (".gz", _garbage(names, b"\x1f\x8b\x08\0\0\0\0\0\0\x03")),
            (".gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"),
            (".bz2", _garbage(names, b"BZh9")),
        ]
    )
    p, c = shown(path), shown(path + ext)
    return _cannot(
        names,
        fixtures=[binary(path + ext, data)],
        asks=[
            f"Decompress {c} to {p}.",
            f"Restore {p} from the compressed file {c}.",
            f"Unpack {c} so that {p} is back.",
        ],
        others=[f"I want {p}, of which only {c} is left.", f"{c} should become {p} again."],
        outputs=[path],
    )


def _broken_zip(names: Names) -> Unit:
    place, member, path = names.directory(), names.file("md", plain=True), names.file("zip")
    p = shown(path)
    return _cannot(
        names,
        fixtures=[binary(path, _garbage(names)), directory(place)],
        asks=[
            f"Unzip {p} into {place}; it brings {member}.",
            f"Extract {member} from the zip archive {p} into {place}.",
            f"From {p}, a zip archive, get {member} into the directory {place}.",
        ],
        others=[
            f"I want {member} of the zip archive {p} in {place}.",
            f"{place} should get {member} out of {p}, a zip.",
        ],
        outputs=[f"{place}/{member}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "missing_source": [_copy_missing, _move_missing, _sort_missing, _edit_missing],
    "forbidden_place": [_install, _system_directory, _system_file, _move_out],
    "absent_program": [_compress_with_absent, _archive_with_absent, _unpack_with_absent],
    "unreachable_host": [_download, _refresh, _upload, _download_and_unpack],
    "broken_archive": [_broken_tar, _broken_single, _broken_zip],
}
