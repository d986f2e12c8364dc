"""Worlds of the archetype pack_archive: files are packed into a tar archive.

The bytes of a packed archive depend on the tar that made it, so no hash can check it. The checks read its listing, the
content of every member and its end, behind which nothing may follow. Only plain files are packed: the listing of a
directory would hold a time.
"""

import base64
import gzip
import io
import shlex
import tarfile
import zipfile

from authoring.templates.world import Names, Shape, Unit, directory, fixture, listed, quote, shown
from schema import HOME, Fixture, sha256


def binary_file(path: str, content: bytes) -> Fixture:
    """A file fixture of arbitrary bytes at a path relative to the home."""
    return Fixture(path=f"{HOME}/{path}", base64=base64.b64encode(content).decode())


def tar_bytes(members: dict[str, str], *, compressed: bool = False) -> bytes:
    """A tar archive of text files, gzipped if `compressed`; the same members give the same bytes."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in members.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.uid, entry.gid = len(text.encode()), 0o644, 1000, 1000
            archive.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(stream.getvalue(), mtime=0) if compressed else stream.getvalue()


def zip_bytes(members: dict[str, str]) -> bytes:
    """A zip archive of text files; the same members give the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)
    return stream.getvalue()


def holds_members(path: str, members: dict[str, str], *, compressed: bool) -> list[str]:
    """Checks that an archive holds exactly these members with these texts, and after them only tar's zeros."""
    archive = quote(path)
    opened = f"zcat < {archive}" if compressed else f"cat < {archive}"
    names = "\n".join(sorted(members, key=str.encode))
    size = sum(512 + -(-len(text.encode()) // 512) * 512 for text in members.values())
    checks = [
        f"[ -f {archive} ] && [ ! -L {archive} ]",
        f"""[ "$({opened} | tar -tf - | sed 's|^[.]/||' | LC_ALL=C sort)" = {shlex.quote(names)} ]""",
        f'[ "$({opened} | tail -c +{size + 1} | tr -d "\\0" | wc -c)" -eq 0 ]',
    ]
    for name, text in members.items():
        either = f"{opened} | tar -xOf - {quote(name)} 2>/dev/null || {opened} | tar -xOf - {shlex.quote('./' + name)}"
        checks.append(f'[ "$({{ {either}; }} 2>/dev/null | sha256sum)" = "{sha256(text.encode())}  -" ]')
    return [*checks, _whole_gzip(path) if compressed else f"[ $(($(wc -c < {archive}) % 512)) -eq 0 ]"]


def _whole_gzip(path: str) -> str:
    """A check that a gzip file is sound and has nothing after its data: its last four bytes are their size."""
    file = quote(path)
    last = f"tail -c 4 {file} | od -t u1 | awk 'NR==1 {{print $2+256*($3+256*($4+256*$5))}}'"
    return f'gunzip -t < {file} && [ "$({last})" -eq "$(zcat < {file} | wc -c)" ]'


def named_texts(names: Names, count: int, ext: str | None = None) -> dict[str, str]:
    """`count` plain file names with their texts, sorted by name."""
    files = [names.file(ext or names.pick(["txt", "log", "md", "csv"]), plain=True) for _ in range(count)]
    return {file: names.text(2, 4) for file in sorted(files)}


def texts_below(place: str, members: dict[str, str]) -> dict[str, str]:
    """The same texts, with names below `place`."""
    return {f"{place}/{name}": text for name, text in members.items()}


def text_files(members: dict[str, str]) -> list[Fixture]:
    """The members as files of the world."""
    return [fixture(name, text) for name, text in members.items()]


def _pack_named(names: Names) -> Unit:
    members, zipped = named_texts(names, names.number(2, 3)), names.rng.random() < 0.4
    out = names.file(names.pick(["tgz", "tar.gz"]) if zipped else "tar")
    kind, flags = ("gzip-compressed tar archive", "-czf") if zipped else ("tar archive", "-cf")
    o, what = shown(out), listed(list(members))
    return Unit(
        fixtures=text_files(members),
        directive=names.pick(
            [
                f"Pack {what} into the {kind} {o}.",
                f"Make a {kind} {o} of the files {what}.",
                f"Put the files {what} together into {o}, a {kind}.",
            ]
        ),
        solution=[f"tar {flags} {quote(out)} {' '.join(members)}"],
        after=[],
        checks=holds_members(out, members, compressed=zipped),
    )


def _pack_by_extension(names: Names) -> Unit:
    place, ext, zipped = names.directory(), names.pick(["log", "txt", "csv"]), names.rng.random() < 0.6
    members = texts_below(place, named_texts(names, names.number(2, 4), ext))
    out = names.file(names.pick(["tgz", "tar.gz"]) if zipped else "tar")
    kind, flags = ("gzip-compressed tar archive", "-czf") if zipped else ("tar archive", "-cf")
    o = shown(out)
    return Unit(
        fixtures=[*text_files(members), fixture(f"{place}/{names.file('bak')}", names.text())],
        directive=names.pick(
            [
                f"Pack every .{ext} file of {place} into the {kind} {o}, members named {place}/NAME.",
                f"Make a {kind} {o} of all {place}/*.{ext} files; they keep {place}/ in their member names.",
                f"Archive the .{ext} files in {place} as {o} ({kind}, with {place}/ in front of each name).",
            ]
        ),
        solution=[f"tar {flags} {quote(out)} {place}/*.{ext}"],
        after=[],
        checks=holds_members(out, members, compressed=zipped),
    )


def _pack_bare_names(names: Names) -> Unit:
    place, members = names.directory(), named_texts(names, names.number(2, 3))
    out, what = names.file("tar"), listed(list(members))
    o, inside = shown(out), " ".join(members)
    return Unit(
        fixtures=text_files(texts_below(place, members)),
        directive=names.pick(
            [
                f"From the directory {place} pack {what} into the tar archive {o}; no {place}/ in the member names.",
                f"Make a tar archive {o} of {what}, which lie in {place}; members carry bare file names.",
                f"Archive {what} of {place} in {o} (plain tar) so that it lists just the file names, no directory.",
            ]
        ),
        solution=[f"tar -cf {quote(out)} -C {place} {inside}"],
        after=[],
        checks=holds_members(out, members, compressed=False),
    )


def _pack_and_delete(names: Names) -> Unit:
    place, ext = names.directory(), names.pick(["log", "txt"])
    members = texts_below(place, named_texts(names, names.number(2, 3), ext))
    out = names.file("tgz")
    o = shown(out)
    return Unit(
        fixtures=[*text_files(members), fixture(f"{place}/{names.file('md')}", names.text())],
        directive=names.pick(
            [
                f"Pack all .{ext} files of {place} into the gzip-compressed tar archive {o} as {place}/NAME, then"
                " delete the originals.",
                f"Move the .{ext} files of {place} into a new tar archive {o}, gzip-compressed: store them as"
                f" {place}/NAME and remove the files.",
                f"Archive {place}/*.{ext} in {o} (tar with gzip, names with {place}/) and delete what was archived.",
            ]
        ),
        solution=[f"tar -czf {quote(out)} {place}/*.{ext}", f"rm {place}/*.{ext}"],
        after=[],
        removed=list(members),
        checks=holds_members(out, members, compressed=True),
    )


def _pack_into_directory(names: Names) -> Unit:
    members, place = named_texts(names, 2), names.directory()
    out, (first, second) = f"{place}/{names.file('tar')}", list(members)
    o = shown(out)
    return Unit(
        fixtures=text_files(members),
        directive=names.pick(
            [
                f"Make the directory {place} and in it the tar archive {o} of {first} and {second}.",
                f"Pack {first} and {second} into the tar archive {o}; {place} does not exist yet.",
                f"Archive {first} with {second} as {o} (plain tar), creating the directory first.",
            ]
        ),
        solution=[f"mkdir {place}", f"tar -cf {quote(out)} {first} {second}"],
        after=[directory(place)],
        checks=holds_members(out, members, compressed=False),
    )


SHAPES: dict[str, list[Shape]] = {
    "pack_archive": [_pack_named, _pack_by_extension, _pack_bare_names, _pack_and_delete, _pack_into_directory],
}
