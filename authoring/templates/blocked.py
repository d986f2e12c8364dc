"""Worlds of the blocked archetypes: one directive that cannot be carried out in the sandbox.

Whoever tries it with the usual command sees an error, and the world stays as it was. DOABLE is the work that stands
beside it (doable.py). The archetypes absent_program and broken_archive are in unpackable.py.
"""

from authoring.templates import unpackable
from authoring.templates.doable import DOABLE
from authoring.templates.unpackable import blocked_unit
from authoring.templates.world import Names, Shape, Unit, directory, fixture, quote, shown

__all__ = ["DOABLE", "SHAPES"]

READ_ONLY: tuple[str, ...] = ("/etc", "/usr/share", "/usr/lib", "/opt", "/srv", "/root", "/var/lib")


def _copy_missing(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "csv", "log"]), names.number(0, 1)), names.file("txt")
    s, o = shown(source), shown(out)
    return blocked_unit(
        names,
        asks=[
            f"Copy {s} to {o}.",
            f"Make a copy of {s} under the name {o}.",
            f"Duplicate {s} as {o}.",
        ],
        outputs=[out],
        attempt=[f"cp {quote(source)} {quote(out)}"],
    )


def _move_missing(names: Names) -> Unit:
    source, place = names.file(names.pick(["txt", "csv", "log"])), names.directory()
    s = shown(source)
    return blocked_unit(
        names,
        fixtures=[directory(place)],
        asks=[
            f"Move {s} into the directory {place}.",
            f"Put the file {s} away in {place}.",
            f"Take {s} from the home directory to {place}.",
        ],
        outputs=[f"{place}/{source}"],
        attempt=[f"mv {quote(source)} {quote(place)}/"],
    )


def _sort_missing(names: Names) -> Unit:
    source, out = names.path(names.pick(["txt", "list"]), 1), names.file("txt")
    s, o = shown(source), shown(out)
    return blocked_unit(
        names,
        asks=[
            f"Sort the lines of {s} and save them as {o}.",
            f"Write {s} in sorted order to {o}.",
            f"Put a sorted version of {s} into {o}.",
        ],
        outputs=[out],
        attempt=[f"sort -o {quote(out)} {quote(source)}"],
    )


def _edit_missing(names: Names) -> Unit:
    source, (old, new) = names.path(names.pick(["txt", "conf"]), names.number(0, 1)), names.words(2)
    s = shown(source)
    return blocked_unit(
        names,
        asks=[
            f"In {s} replace {old} by {new} everywhere.",
            f"Change every {old} in {s} to {new}.",
            f"Edit {s}: the word {old} becomes {new}.",
        ],
        outputs=[source],
        attempt=[f"sed -i 's/{old}/{new}/g' {quote(source)}"],
    )


def _install(names: Names) -> Unit:
    source, place = names.file(names.pick(["conf", "txt", "sh"]), plain=True), names.pick(READ_ONLY)
    return blocked_unit(
        names,
        fixtures=[fixture(source, names.text())],
        asks=[
            f"Copy {source} to {place}/{source}.",
            f"Install {source} in the directory {place} of the system.",
            f"Put a copy of {source} into {place}.",
        ],
        outputs=[f"{place[1:]}/{source}"],
        attempt=[f"cp {source} {place}/{source}"],
    )


def _system_directory(names: Names) -> Unit:
    place, name = names.pick(READ_ONLY), names.word()
    return blocked_unit(
        names,
        asks=[
            f"Create the directory {place}/{name}.",
            f"Make a new directory {name} in {place}.",
            f"Set up {place}/{name} as an empty directory.",
        ],
        outputs=[f"{place[1:]}/{name}/.keep"],
        attempt=[f"mkdir {place}/{name}"],
    )


def _system_file(names: Names) -> Unit:
    target, line = names.pick(["/etc/hosts", "/etc/passwd", "/etc/profile", "/etc/group"]), names.line(2, 3)
    return blocked_unit(
        names,
        asks=[
            f"Append the line '{line}' to {target}.",
            f"Add '{line}' at the end of the system file {target}.",
            f"The file {target} must get one more line: {line}.",
        ],
        outputs=[target[1:]],
        attempt=[f"echo '{line}' >> {target}"],
    )


def _move_out(names: Names) -> Unit:
    source, place, name = names.path("log", names.number(0, 1)), names.pick(READ_ONLY), names.word()
    return blocked_unit(
        names,
        fixtures=[fixture(source, names.text())],
        asks=[
            f"Move {shown(source)} to {place}/{name}.log.",
            f"File {shown(source)} away as {place}/{name}.log.",
            f"Take {shown(source)} out of the home directory and to {place}/{name}.log.",
        ],
        outputs=[f"{place[1:]}/{name}.log"],
        attempt=[f"mv {quote(source)} {place}/{name}.log"],
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
    return blocked_unit(
        names,
        asks=[
            f"Download {url} and save it as {out}.",
            f"Fetch {url} into the file {out}.",
            f"Get {url} from the network; store it under the name {out}.",
        ],
        outputs=[out],
        attempt=[f"wget -q -O {out} {url}"],
    )


def _refresh(names: Names) -> Unit:
    path = names.path(names.pick(["conf", "list", "txt"]), names.number(0, 1), plain=True)
    url = _url(names, path.rpartition("/")[2])
    return blocked_unit(
        names,
        fixtures=[fixture(path, names.text())],
        asks=[
            f"Replace {path} by the current version at {url}.",
            f"Update {path} from {url}.",
            f"{path} is out of date; overwrite it with {url}.",
        ],
        outputs=[path],
        attempt=[f"wget -q -O {path} {url}"],
    )


def _upload(names: Names) -> Unit:
    path, out = names.path("conf", names.number(0, 1), plain=True), names.file("txt", plain=True)
    url = _url(names, names.word())
    return blocked_unit(
        names,
        fixtures=[fixture(path, names.text())],
        asks=[
            f"Post {path} to {url} and save the reply as {out}.",
            f"Send the file {path} to {url}; the answer goes to {out}.",
            f"Upload {path} to {url} and keep in {out} what the server says.",
        ],
        outputs=[out],
        attempt=[f"wget -q --post-file={path} -O {out} {url}"],
    )


def _download_and_unpack(names: Names) -> Unit:
    place, archive = names.directory(), names.file("tgz", plain=True)
    url = _url(names, archive)
    return blocked_unit(
        names,
        fixtures=[directory(place)],
        asks=[
            f"Download {url} as {archive} and unpack it into {place}.",
            f"Fetch {archive} from {url}, then extract it in {place}.",
            f"The archive at {url} is wanted as {archive}, unpacked into {place}.",
        ],
        outputs=[archive, f"{place}/{names.file(plain=True)}"],
        attempt=[f"wget -q -O {archive} {url}", f"tar -xzf {archive} -C {place}"],
    )


SHAPES: dict[str, list[Shape]] = {
    "missing_source": [_copy_missing, _move_missing, _sort_missing, _edit_missing],
    "forbidden_place": [_install, _system_directory, _system_file, _move_out],
    "absent_program": unpackable.SHAPES["absent_program"],
    "unreachable_host": [_download, _refresh, _upload, _download_and_unpack],
    "broken_archive": unpackable.SHAPES["broken_archive"],
}
