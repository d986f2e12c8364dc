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
        others=[
            f"I want {o} to be a copy of {s}.",
            f"{o} should equal {s}.",
            f"Could you copy the file {s} so that there is a {o} with the same content?",
            f"Save a copy of the file {s} as {o}.",
            f"We need {s} a second time, as {o}.",
            f"{s} has to be copied; call the copy {o}.",
            f"Take {s} and copy it to a new file {o}.",
            f"Produce {o}, which has exactly the text of {s}.",
            f"The content of {s} is wanted in {o} as well; leave {s} where it is.",
        ],
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
        others=[
            f"I want {s} to lie in {place}.",
            f"{place} should take in {s}.",
            f"Could you move the file {s} to the directory {place}?",
            f"The right place for {s} is in {place}, not in the home directory.",
            f"Bring {s} over to the folder {place}.",
            f"Put {s} into {place} and leave no copy of it outside.",
            f"We need {s} moved into {place}, under the same name.",
            f"{s} has to go into the directory called {place}.",
        ],
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
        others=[
            f"I want the lines of {s} in order in {o}.",
            f"{o} should be {s}, but sorted.",
            f"Could you sort {s} and store the outcome in {o}?",
            f"Produce {o} with the same lines as {s}, in alphabetical order.",
            f"Arrange the lines of the file {s} alphabetically and put them into {o}.",
            f"The sorted content of {s} belongs in {o}.",
            f"We need the lines of {s} sorted; {o} is the file for that.",
            f"Run sort on {s} and keep what it prints in {o}.",
        ],
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
        others=[
            f"I want {new} where {s} says {old}.",
            f"{s} should say {new}, not {old}.",
            f"Could you exchange the word {old} for {new} throughout {s}?",
            f"Wherever {s} has {old}, it has to say {new}.",
            f"Substitute {new} for {old} in the whole of {s}.",
            f"All occurrences of {old} in the file {s} are to be replaced with {new}.",
            f"We need {s} changed in place: {new} instead of {old}.",
            f"Rewrite {s} with {new} in every spot that has {old} now.",
        ],
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
        others=[
            f"I want {source} to be in {place}, too.",
            f"{place} should have its own {source}.",
            f"Could you copy the file {source} into the system directory {place}?",
            f"We need a copy of {source} in {place}, under the same name.",
            f"{source} has to be installed as {place}/{source}.",
            f"Save {source} to {place} too, and leave the one in the home directory.",
            f"The directory {place} lacks {source}; copy it there.",
            f"Place a second {source} in {place}.",
        ],
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
        others=[
            f"I want there to be a directory {name} under {place}.",
            f"{place} should hold a directory {name}.",
            f"Could you create a folder {name} inside {place}?",
            f"We need an empty directory called {name} in {place}.",
            f"Run mkdir so that {place}/{name} exists.",
            f"There is no {place}/{name} yet; make that directory.",
            f"In {place}, add a directory with the name {name}.",
            f"{place}/{name} has to exist as a directory.",
        ],
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
        others=[
            f"I want {target} to end with '{line}'.",
            f"'{line}' should be the last line of {target}.",
            f"Could you append '{line}' to the file {target}?",
            f"We need one more line in {target}, namely '{line}', below all others.",
            f"Extend {target} by a final line that reads '{line}'.",
            f"Write '{line}' after the last line of {target}.",
            f"{target} lacks '{line}'; put it at the bottom of the file.",
            f"Leave {target} as it is but for a new line '{line}' at its end.",
        ],
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
            f"Could you move the log {shown(source)} to {place}/{name}.log?",
            f"We need {shown(source)} in another place: {place}/{name}.log.",
            f"{shown(source)} has to be moved, its new path is {place}/{name}.log.",
            f"Bring the file {shown(source)} over to {place}/{name}.log; no copy stays at home.",
            f"Relocate {shown(source)}: from now on it is {place}/{name}.log.",
            f"The log {shown(source)} belongs outside the home, at {place}/{name}.log.",
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
        others=[
            f"I want a {program} version of {s} called {o}.",
            f"{o} should be what {program} makes of {s}.",
            f"Could you run {program} over {s} and save the compressed file as {o}?",
            f"Produce {o} by compressing {s} with {program}.",
            f"We need {s} squeezed by {program} into {o}.",
            f"Make {s} smaller with {program}; call the compressed file {o}.",
            f"Pack the single file {s} with {program}, so that {o} is there.",
            f"The program {program} has to turn {s} into {o}.",
        ],
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
            f"Could you archive {what} with {program} as {out}?",
            f"Use {program} to bundle {what} in one archive, {out}.",
            f"We need {out}, a {program} archive with the files {what} in it.",
            f"{what} have to go into {out}; {program} is the program for it.",
            f"Run {program} so that {out} holds {what}.",
            f"Collect the files {what} in the new {program} archive {out}.",
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
        others=[
            f"I want the {stem}.txt that {program} put into {path}.",
            f"{path} should yield {stem}.txt.",
            f"Could you unpack {path} with {program}? It holds {stem}.txt.",
            f"{stem}.txt is inside {path}; take it out with {program}.",
            f"Use {program} to restore {stem}.txt from {path}.",
            f"We need {stem}.txt again, which was packed into {path} by {program}.",
            f"Expand the {program} file {path} so that {stem}.txt is here in the home directory.",
            f"Run {program} on {path} to bring back {stem}.txt.",
        ],
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
        others=[
            f"I want what is at {url} in {out}.",
            f"{out} should hold the content of {url}.",
            f"Could you download {url} to a file called {out}?",
            f"Load the file at {url} and keep it as {out}.",
            f"We need the text behind {url}; {out} is where it belongs.",
            f"Retrieve {url} with wget and name the file {out}.",
            f"Pull {url} from the web into {out}.",
            f"A download of {url} is wanted here as {out}.",
        ],
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
        others=[
            f"I want {path} to be as fresh as {url}.",
            f"{path} should equal what {url} has now.",
            f"Could you bring {path} up to date with the file from {url}?",
            f"Overwrite {path} with a fresh download of {url}.",
            f"Get the newest {path} from {url} and let it take the place of the old one.",
            f"We need the current text of {url} in {path}, the old text goes.",
            f"{path} is old; download {url} over it.",
            f"What {url} offers now has to stand in {path}.",
        ],
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
            f"Could you send {path} to {url} with a POST and store the answer as {out}?",
            f"POST the content of {path} to {url}; what comes back belongs in {out}.",
            f"Submit {path} to the server at {url} and save its response under the name {out}.",
            f"We need {path} uploaded to {url}, and {out} with the response.",
            f"Transfer {path} to {url}. The reply of the server has to be kept as {out}.",
            f"Let {url} have the file {path} and write the response to {out}.",
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
        others=[
            f"I want {url} saved as {archive} and its files in {place}.",
            f"Could you load {url}, keep it as {archive} and expand it in {place}?",
            f"Get {archive} from {url} and put the files it holds into {place}.",
            f"Load the archive {url} under the name {archive}. What is in it belongs in {place}.",
            f"We need the members of {url} in {place}; the download itself stays here as {archive}.",
            f"Retrieve {url}, name it {archive}, and open it with tar inside {place}.",
            f"{place} has to be filled from {archive}, a download of {url}.",
            f"Pull {archive} down from {url} with wget; then let tar unpack it to {place}.",
        ],
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
            f"Could you unpack {p}, a {kind}, to {place}? We need {member} there.",
            f"Open the {kind} {p} and place all its members, such as {member}, in {place}.",
            f"The files of the {kind} {p} belong in {place}; one of them is {member}.",
            f"Expand {p} inside the directory {place}. It is a {kind} with {member} in it.",
            f"We need all that is packed in {p}, a {kind}, in {place}, {member} included.",
            f"From the {kind} {p} take {member} and all the rest, and leave it in {place}.",
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
        others=[
            f"I want {p}, of which only {c} is left.",
            f"{c} should become {p} again.",
            f"Could you uncompress {c}, so that we have {p} again?",
            f"Expand {c}; its text belongs in {p}.",
            f"Bring back {p}, which was compressed to {c}.",
            f"We need {p} in plain form, and all there is of it is {c}.",
            f"Undo the compression of {c} and leave {p} in its place.",
            f"{p} has to be recovered from {c}.",
        ],
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
            f"Could you open the zip file {p} and put {member} into {place}?",
            f"{member} is inside {p}, a zip archive; unpack it to {place}.",
            f"Expand the zip {p} in the directory {place}, so that {member} is there.",
            f"We need {member} in {place}; it comes out of the zip file {p}.",
            f"Use unzip on {p} to bring {member} into {place}.",
            f"The content of the zip archive {p}, {member} for example, belongs below {place}.",
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
