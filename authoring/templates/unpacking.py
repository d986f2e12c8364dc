"""Worlds in which archives are unpacked: all of an archive, a part of it, or its listing."""

from authoring.templates.archives import binary_file, named_texts, tar_bytes, text_files, texts_below, zip_bytes
from authoring.templates.world import Names, Shape, Unit, directory, fixture, quote, shown, text_of
from schema import Fixture


def _archive(names: Names, members: dict[str, str]) -> tuple[str, str, Fixture, str]:
    """A tar archive: its name, the words for its kind, its fixture, and the letter of tar's option for it."""
    if names.rng.random() < 0.5:
        path = names.file(names.pick(["tgz", "tar.gz"]))
        return path, "compressed tar archive", binary_file(path, tar_bytes(members, compressed=True)), "z"
    path = names.file("tar")
    return path, "tar archive", binary_file(path, tar_bytes(members)), ""


def _unpack_into(names: Names) -> Unit:
    members, place, exists = named_texts(names, names.number(2, 3)), names.directory(), names.rng.random() < 0.5
    path, kind, entry, z = _archive(names, members)
    p, where = shown(path), "the directory" if exists else "the new directory"
    return Unit(
        fixtures=[entry, *([directory(place)] if exists else [])],
        directive=names.pick(
            [
                f"Unpack the {kind} {p} into {where} {place}.",
                f"Extract all of {p} (a {kind}) into {where} {place}.",
                f"Put the content of the {kind} {p} into {where} {place}.",
            ]
        ),
        solution=[*([] if exists else [f"mkdir {place}"]), f"tar -x{z}f {quote(path)} -C {place}"],
        after=[*([] if exists else [directory(place)]), *text_files(texts_below(place, members))],
    )


def _unpack_here(names: Names) -> Unit:
    place = names.word()
    members = texts_below(place, named_texts(names, names.number(2, 3)))
    path, kind, entry, z = _archive(names, members)
    delete, p = names.rng.random() < 0.5, shown(path)
    then = " and delete the archive" if delete else ""
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Unpack the {kind} {p} right in the home directory{then}.",
                f"Extract {p}, a {kind}, here in the home directory{then}.",
                f"The {kind} {p} holds a directory {place}; unpack it at home{then}.",
            ]
        ),
        solution=[f"tar -x{z}f {quote(path)}", *([f"rm {quote(path)}"] if delete else [])],
        after=text_files(members),
        removed=[path] if delete else [],
    )


def _unpack_one(names: Names) -> Unit:
    members, place = named_texts(names, 3), names.directory()
    path, kind, entry, z = _archive(names, members)
    wanted, p = names.pick(list(members)), shown(path)
    return Unit(
        fixtures=[entry, directory(place)],
        directive=names.pick(
            [
                f"From the {kind} {p} extract only {wanted} into the directory {place}.",
                f"Unpack the single member {wanted} of {p}, a {kind}, into {place}.",
                f"Get {wanted} out of the {kind} {p} and into {place}; leave the other members packed.",
            ]
        ),
        solution=[f"tar -x{z}f {quote(path)} -C {place} {wanted}"],
        after=[fixture(f"{place}/{wanted}", members[wanted])],
    )


def _member_to_file(names: Names) -> Unit:
    members, out = named_texts(names, names.number(2, 3)), names.file("txt")
    path, kind, entry, z = _archive(names, members)
    wanted, p, o = names.pick(list(members)), shown(path), shown(out)
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Write the content of the member {wanted} of the {kind} {p} to the file {o}.",
                f"Read {wanted} out of {p} ({kind}) and save its content under the name {o}.",
                f"Extract the member {wanted} of the {kind} {p} as {o}, not under its own name.",
            ]
        ),
        solution=[f"tar -x{z}Of {quote(path)} {wanted} > {quote(out)}"],
        after=[fixture(out, members[wanted])],
    )


def _list_members(names: Names) -> Unit:
    members, out, place = named_texts(names, names.number(3, 4)), names.file("list"), names.directory()
    path, kind, entry, z = _archive(names, members)
    p, o, a = shown(path), shown(out), quote(path)
    return Unit(
        fixtures=[entry, directory(place)],
        directive=names.pick(
            [
                f"Save the sorted member list of the {kind} {p} as {o}, then unpack it into {place}.",
                f"List {p} ({kind}) into {o}, one name per line and sorted, and extract everything into {place}.",
                f"Write the names in the {kind} {p}, sorted, to {o}; after that unpack it in the directory {place}.",
            ]
        ),
        solution=[f"tar -t{z}f {a} | sort > {quote(out)}", f"tar -x{z}f {a} -C {place}"],
        after=[fixture(out, text_of(members)), *text_files(texts_below(place, members))],
    )


def _unzip(names: Names) -> Unit:
    members, place = named_texts(names, names.number(2, 3)), names.directory()
    path = names.file("zip")
    return Unit(
        fixtures=[binary_file(path, zip_bytes(members)), directory(place)],
        directive=names.pick(
            [
                f"Unpack the zip archive {shown(path)} into the directory {place}.",
                f"Extract everything in {shown(path)}, a zip archive, to {place}.",
                f"Unzip {shown(path)} so that its files land in {place}.",
            ]
        ),
        solution=[names.pick([f"unzip -q {quote(path)} -d {place}", f"unzip -q -d {place} {quote(path)}"])],
        after=text_files(texts_below(place, members)),
    )


SHAPES: dict[str, list[Shape]] = {
    "unpack_archive": [_unpack_into, _unpack_here, _unpack_one, _member_to_file, _list_members, _unzip],
}
