"""Shape the archive archetypes: pack files, unpack an archive, compress and decompress single files.

    from templates.archives import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing

The bytes of an archive depend on the tar that made it, so that a packed one is checked by its listing, by the content
of every member and by its end: nothing may follow. Only plain files are packed, since a directory's time would go in.
"""

import base64
import bz2
import gzip
import io
import lzma
import shlex
import struct
import tarfile
import zipfile
import zlib

from schema import HOME, Fixture, sha256
from templates.world import Names, Shape, Unit, directory, fixture, listed, quote, shown, text_of


def binary(path: str, content: bytes) -> Fixture:
    """A file fixture of arbitrary bytes at a path relative to the home."""
    return Fixture(path=f"{HOME}/{path}", base64=base64.b64encode(content).decode())


def tar_bytes(members: dict[str, str], *, compressed: bool = False) -> bytes:
    """A tar archive of text files, the same bytes each time; gzip around it where asked."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in members.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.uid, entry.gid = len(text.encode()), 0o644, 1000, 1000
            archive.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(stream.getvalue(), mtime=0) if compressed else stream.getvalue()


def zip_bytes(members: dict[str, str]) -> bytes:
    """A zip archive of text files, the same bytes each time."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)
    return stream.getvalue()


def holds_members(path: str, members: dict[str, str], *, compressed: bool) -> list[str]:
    """Checks that an archive holds these members, each with this text, and nothing behind them but tar's zeros."""
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
    """A check that a gzip file is sound and ends where its data end: the last four bytes are the size of the data."""
    file = quote(path)
    last = f"tail -c 4 {file} | od -t u1 | awk 'NR==1 {{print $2+256*($3+256*($4+256*$5))}}'"
    return f'gunzip -t < {file} && [ "$({last})" -eq "$(zcat < {file} | wc -c)" ]'


def holds_data(path: str, text: str) -> list[str]:
    """Checks that a gzip file holds this text, and nothing behind its end."""
    file, content = quote(path), text.encode()
    trailer = struct.pack("<II", zlib.crc32(content), len(content))
    return [
        f"[ -f {file} ] && [ ! -L {file} ]",
        f'gunzip -t < {file} && [ "$(zcat < {file} | sha256sum)" = "{sha256(content)}  -" ]',
        f'[ "$(tail -c 8 {file} | sha256sum)" = "{sha256(trailer)}  -" ]',
    ]


def _contents(names: Names, count: int, ext: str | None = None) -> dict[str, str]:
    """`count` plain file names with their texts, sorted by name."""
    files = [names.file(ext or names.pick(["txt", "log", "md", "csv"]), plain=True) for _ in range(count)]
    return {file: names.text(2, 4) for file in sorted(files)}


def _below(place: str, members: dict[str, str]) -> dict[str, str]:
    """The same texts at names below `place`."""
    return {f"{place}/{name}": text for name, text in members.items()}


def _files(members: dict[str, str]) -> list[Fixture]:
    """The members as files of the world."""
    return [fixture(name, text) for name, text in members.items()]


def _pack_named(names: Names) -> Unit:
    members, zipped = _contents(names, names.number(2, 3)), names.rng.random() < 0.4
    out = names.file(names.pick(["tgz", "tar.gz"]) if zipped else "tar")
    kind, flags = ("gzip-compressed tar archive", "-czf") if zipped else ("tar archive", "-cf")
    o, what = shown(out), listed(list(members))
    return Unit(
        fixtures=_files(members),
        directive=names.pick(
            [
                f"Pack {what} into the {kind} {o}.",
                f"Make a {kind} {o} of the files {what}.",
                f"Put the files {what} together into {o}, a {kind}.",
            ]
        ),
        instruction=names.pick(
            [f"I want {o} to be a {kind} with {what} in it.", f"{o} should be a {kind} that holds {what}."]
        ),
        solution=[f"tar {flags} {quote(out)} {' '.join(members)}"],
        after=[],
        checks=holds_members(out, members, compressed=zipped),
    )


def _pack_by_extension(names: Names) -> Unit:
    place, ext, zipped = names.directory(), names.pick(["log", "txt", "csv"]), names.rng.random() < 0.6
    members = _below(place, _contents(names, names.number(2, 4), ext))
    out = names.file(names.pick(["tgz", "tar.gz"]) if zipped else "tar")
    kind, flags = ("gzip-compressed tar archive", "-czf") if zipped else ("tar archive", "-cf")
    o = shown(out)
    return Unit(
        fixtures=[*_files(members), fixture(f"{place}/{names.file('bak')}", names.text())],
        directive=names.pick(
            [
                f"Pack every .{ext} file of {place} into the {kind} {o}, members named {place}/NAME.",
                f"Make a {kind} {o} of all {place}/*.{ext} files; they keep {place}/ in their member names.",
                f"Archive the .{ext} files in {place} as {o} ({kind}, with {place}/ in front of each name).",
            ]
        ),
        instruction=names.pick(
            [
                f"I want all .{ext} files from {place} in one {kind}, {o}, stored as {place}/NAME.",
                f"{o} should be a {kind} of whatever in {place} ends in .{ext}, directory name included.",
            ]
        ),
        solution=[f"tar {flags} {quote(out)} {place}/*.{ext}"],
        after=[],
        checks=holds_members(out, members, compressed=zipped),
    )


def _pack_bare_names(names: Names) -> Unit:
    place, members = names.directory(), _contents(names, names.number(2, 3))
    out, what = names.file("tar"), listed(list(members))
    o, inside = shown(out), " ".join(members)
    return Unit(
        fixtures=_files(_below(place, members)),
        directive=names.pick(
            [
                f"From the directory {place} pack {what} into the tar archive {o}; no {place}/ in the member names.",
                f"Make a tar archive {o} of {what}, which lie in {place}; members carry bare file names.",
                f"Archive {what} of {place} in {o} (plain tar) so that it lists just the file names, no directory.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want the files {what} from {place} in a tar archive {o}, stored under their bare names.",
                f"{o} should be a tar archive listing only {what}, taken out of {place}.",
            ]
        ),
        solution=[f"tar -cf {quote(out)} -C {place} {inside}"],
        after=[],
        checks=holds_members(out, members, compressed=False),
    )


def _pack_and_delete(names: Names) -> Unit:
    place, ext = names.directory(), names.pick(["log", "txt"])
    members = _below(place, _contents(names, names.number(2, 3), ext))
    out = names.file("tgz")
    o = shown(out)
    return Unit(
        fixtures=[*_files(members), fixture(f"{place}/{names.file('md')}", names.text())],
        directive=names.pick(
            [
                f"Pack all .{ext} files of {place} into the gzip-compressed tar archive {o} as {place}/NAME, then"
                " delete the originals.",
                f"Move the .{ext} files of {place} into a new tar archive {o}, gzip-compressed: store them as"
                f" {place}/NAME and remove the files.",
                f"Archive {place}/*.{ext} in {o} (tar with gzip, names with {place}/) and delete what was archived.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want the .{ext} files of {place} moved to {o}, a gzip-compressed tar archive, as {place}/NAME.",
                f"{o} should take over the .{ext} files of {place}: a gzip-compressed tar of them, the files gone.",
            ]
        ),
        solution=[f"tar -czf {quote(out)} {place}/*.{ext}", f"rm {place}/*.{ext}"],
        after=[],
        removed=list(members),
        checks=holds_members(out, members, compressed=True),
    )


def _pack_into_directory(names: Names) -> Unit:
    members, place = _contents(names, 2), names.directory()
    out, (first, second) = f"{place}/{names.file('tar')}", list(members)
    o = shown(out)
    return Unit(
        fixtures=_files(members),
        directive=names.pick(
            [
                f"Make the directory {place} and in it the tar archive {o} of {first} and {second}.",
                f"Pack {first} and {second} into the tar archive {o}; {place} does not exist yet.",
                f"Archive {first} with {second} as {o} (plain tar), creating the directory first.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want a new directory {place} with a tar archive of {first} and {second} in it, named {o}.",
                f"{o}, in a directory still to be made, should be a tar archive holding {first} and {second}.",
            ]
        ),
        solution=[f"mkdir {place}", f"tar -cf {quote(out)} {first} {second}"],
        after=[directory(place)],
        checks=holds_members(out, members, compressed=False),
    )


def _archive(names: Names, members: dict[str, str]) -> tuple[str, str, Fixture, str]:
    """A tar archive in the world: its name, how to say what it is, its fixture, and the letter that tar wants."""
    if names.rng.random() < 0.5:
        path = names.file(names.pick(["tgz", "tar.gz"]))
        return path, "compressed tar archive", binary(path, tar_bytes(members, compressed=True)), "z"
    path = names.file("tar")
    return path, "tar archive", binary(path, tar_bytes(members)), ""


def _unpack_into(names: Names) -> Unit:
    members, place, exists = _contents(names, names.number(2, 3)), names.directory(), names.rng.random() < 0.5
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
        instruction=names.pick(
            [
                f"I want everything from the {kind} {p} below {where} {place}.",
                f"{place}, {where[4:]}, should hold what the {kind} {p} holds.",
            ]
        ),
        solution=[*([] if exists else [f"mkdir {place}"]), f"tar -x{z}f {quote(path)} -C {place}"],
        after=[*([] if exists else [directory(place)]), *_files(_below(place, members))],
    )


def _unpack_here(names: Names) -> Unit:
    place = names.word()
    members = _below(place, _contents(names, names.number(2, 3)))
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
        instruction=names.pick(
            [
                f"I want what the {kind} {p} holds, the directory {place}, in my home"
                f"{', and the archive gone' if delete else ''}.",
                f"The home directory should get {place} out of the {kind} {p}"
                f"{', which can go afterwards' if delete else ''}.",
            ]
        ),
        solution=[f"tar -x{z}f {quote(path)}", *([f"rm {quote(path)}"] if delete else [])],
        after=_files(members),
        removed=[path] if delete else [],
    )


def _unpack_one(names: Names) -> Unit:
    members, place = _contents(names, 3), names.directory()
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
        instruction=names.pick(
            [
                f"I want just {wanted} from the {kind} {p}, placed in {place}.",
                f"{place} should get one member of the {kind} {p}, namely {wanted}.",
            ]
        ),
        solution=[f"tar -x{z}f {quote(path)} -C {place} {wanted}"],
        after=[fixture(f"{place}/{wanted}", members[wanted])],
    )


def _member_to_file(names: Names) -> Unit:
    members, out = _contents(names, names.number(2, 3)), names.file("txt")
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
        instruction=names.pick(
            [
                f"I want what {wanted} says inside the {kind} {p}, in a file called {o}.",
                f"{o} should equal the member {wanted} of the {kind} {p}.",
            ]
        ),
        solution=[f"tar -x{z}Of {quote(path)} {wanted} > {quote(out)}"],
        after=[fixture(out, members[wanted])],
    )


def _list_members(names: Names) -> Unit:
    members, out, place = _contents(names, names.number(3, 4)), names.file("list"), names.directory()
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
        instruction=names.pick(
            [
                f"I want the {kind} {p} unpacked below {place} and a sorted list of its members in {o}.",
                f"{o} should list the members of the {kind} {p} in order, and {place} should hold them.",
            ]
        ),
        solution=[f"tar -t{z}f {a} | sort > {quote(out)}", f"tar -x{z}f {a} -C {place}"],
        after=[fixture(out, text_of(members)), *_files(_below(place, members))],
    )


def _unzip(names: Names) -> Unit:
    members, place = _contents(names, names.number(2, 3)), names.directory()
    path = names.file("zip")
    return Unit(
        fixtures=[binary(path, zip_bytes(members)), directory(place)],
        directive=names.pick(
            [
                f"Unpack the zip archive {shown(path)} into the directory {place}.",
                f"Extract everything in {shown(path)}, a zip archive, to {place}.",
                f"Unzip {shown(path)} so that its files land in {place}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want the files of the zip archive {shown(path)} to be in {place}.",
                f"{place} should hold all that the zip archive {shown(path)} holds.",
            ]
        ),
        solution=[names.pick([f"unzip -q {quote(path)} -d {place}", f"unzip -q -d {place} {quote(path)}"])],
        after=_files(_below(place, members)),
    )


def _compress(names: Names) -> Unit:
    path, text = names.path(names.pick(["log", "txt", "csv"]), names.number(0, 1)), names.text(4, 8)
    p = shown(path)
    return Unit(
        fixtures=[fixture(path, text)],
        directive=names.pick(
            [
                f"Compress {p} with gzip; only {shown(path + '.gz')} stays.",
                f"Gzip the file {p} in place.",
                f"Replace {p} by its gzip-compressed form {shown(path + '.gz')}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {p} squeezed with gzip into {shown(path + '.gz')}, the plain file gone.",
                f"{p} should be stored gzip-compressed, under its name with .gz.",
            ]
        ),
        solution=[f"gzip {quote(path)}"],
        after=[],
        removed=[path],
        checks=holds_data(path + ".gz", text),
    )


def _compress_copy(names: Names) -> Unit:
    path, text = names.path(names.pick(["log", "txt", "csv"]), names.number(0, 1)), names.text(4, 8)
    out = names.file("gz")
    p, o = shown(path), shown(out)
    return Unit(
        fixtures=[fixture(path, text)],
        directive=names.pick(
            [
                f"Write a gzip-compressed copy of {p} to {o} and keep {p}.",
                f"Compress {p} with gzip into the new file {o}; the original stays.",
                f"Save {p} gzip-compressed as {o} without touching {p} itself.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want {o} to be {p} in gzip form, next to the plain file.",
                f"{o} should hold the gzip data of {p}, which remains.",
            ]
        ),
        solution=[names.pick([f"gzip -c {quote(path)} > {quote(out)}", f"gzip < {quote(path)} > {quote(out)}"])],
        after=[],
        checks=holds_data(out, text),
    )


def _compress_each(names: Names) -> Unit:
    place, ext = names.directory(), names.pick(["log", "txt"])
    files = {f"{place}/{names.file(ext)}": names.text(3, 6) for _ in range(names.number(2, 3))}
    return Unit(
        fixtures=[*_files(files), fixture(f"{place}/{names.file('md')}", names.text())],
        directive=names.pick(
            [
                f"Compress every .{ext} file in {place} with gzip, each on its own.",
                f"Gzip all .{ext} files of {place} one by one; other files stay.",
                f"Replace each .{ext} file of {place} by its gzip-compressed form, NAME.{ext}.gz.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want the .{ext} files below {place} squeezed with gzip, one .gz for each.",
                f"Whatever in {place} ends in .{ext} should become a .{ext}.gz of its own.",
            ]
        ),
        solution=[names.pick([f"gzip {place}/*.{ext}", f'for f in {place}/*.{ext}; do gzip "$f"; done'])],
        after=[],
        removed=list(files),
        checks=[check for path, text in files.items() for check in holds_data(path + ".gz", text)],
    )


def _packed(names: Names, text: str) -> tuple[str, Fixture, str, str]:
    """A compressed file: its name without the ending, fixture, ending, and the commands that undo it and show it."""
    path = names.path(names.pick(["log", "txt", "csv"]), names.number(0, 1))
    ext, data = names.pick(
        [
            (".gz", gzip.compress(text.encode(), mtime=0)),
            (".gz", gzip.compress(text.encode(), mtime=0)),
            (".bz2", bz2.compress(text.encode())),
            (".xz", lzma.compress(text.encode(), check=lzma.CHECK_CRC32)),
        ]
    )
    return path, binary(path + ext, data), ext, {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz"}[ext]


def _decompress(names: Names) -> Unit:
    text = names.text(4, 8)
    path, entry, ext, undo = _packed(names, text)
    p, c = shown(path), shown(path + ext)
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Decompress {c}; only {p} stays.",
                f"Uncompress the file {c} in place.",
                f"Turn {c} back into the plain file {p}.",
            ]
        ),
        instruction=names.pick(
            [f"I want {c} to be plain {p} again, the packed file gone.", f"{c} should give way to its plain form {p}."]
        ),
        solution=[f"{undo} {quote(path + ext)}"],
        after=[fixture(path, text)],
        removed=[path + ext],
    )


def _decompress_copy(names: Names) -> Unit:
    text, out = names.text(4, 8), names.file("txt")
    path, entry, ext, _ = _packed(names, text)
    show = {".gz": "zcat", ".bz2": "bzcat", ".xz": "xzcat"}[ext]
    c, o = shown(path + ext), shown(out)
    return Unit(
        fixtures=[entry],
        directive=names.pick(
            [
                f"Decompress {c} into the new file {o} and keep {c}.",
                f"Write the plain content of the compressed {c} to {o}; {c} stays.",
                f"Save what {c} holds, uncompressed, as {o} without removing {c}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want the text inside {c} in {o}, with the packed file left where it is.",
                f"{o} should hold the plain form of {c}, which remains packed.",
            ]
        ),
        solution=[f"{show} {quote(path + ext)} > {quote(out)}"],
        after=[fixture(out, text)],
    )


def _decompress_each(names: Names) -> Unit:
    place, ext = names.directory(), names.pick(["log", "txt"])
    files = {f"{place}/{names.file(ext)}": names.text(3, 6) for _ in range(names.number(2, 3))}
    return Unit(
        fixtures=[binary(path + ".gz", gzip.compress(text.encode(), mtime=0)) for path, text in files.items()],
        directive=names.pick(
            [
                f"Decompress every .gz file in {place} in place.",
                f"Gunzip all files of {place} that end in .gz.",
                f"Replace each .gz file of {place} by its plain form, without .gz.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want no .gz files in {place} any more but what was inside them.",
                f"Each .gz in {place} should turn into the file it was made from.",
            ]
        ),
        solution=[names.pick([f"gunzip {place}/*.gz", f'for f in {place}/*.gz; do gunzip "$f"; done'])],
        after=_files(files),
        removed=[path + ".gz" for path in files],
    )


def _search_packed(names: Names) -> Unit:
    path, out, word = names.path("log.gz", names.number(0, 1)), names.file("txt"), names.word()
    lines = names.lines(names.number(5, 8))
    hits = sorted(names.rng.sample(range(len(lines)), names.number(2, 3)))
    for index in hits:
        lines[index] = f"{lines[index]} {word}"
    p, o = shown(path), shown(out)
    return Unit(
        fixtures=[binary(path, gzip.compress(text_of(lines).encode(), mtime=0))],
        directive=names.pick(
            [
                f"From the gzip-compressed {p} save the lines with {word} in {o}; {p} stays as it is.",
                f"Read {p} without unpacking it on disk and write its lines that contain {word} to {o}.",
                f"Look through the compressed file {p} for {word} and store the matching lines in {o}.",
            ]
        ),
        instruction=names.pick(
            [
                f"I want the lines mentioning {word} of the compressed {p} in {o}.",
                f"{o} should list the lines with {word} that the gzip file {p} holds.",
            ]
        ),
        solution=[f"zcat {quote(path)} | grep {word} > {quote(out)}"],
        after=[fixture(out, text_of(line for line in lines if word in line))],
    )


SHAPES: dict[str, list[Shape]] = {
    "pack_archive": [_pack_named, _pack_by_extension, _pack_bare_names, _pack_and_delete, _pack_into_directory],
    "unpack_archive": [_unpack_into, _unpack_here, _unpack_one, _member_to_file, _list_members, _unzip],
    "squeeze_files": [
        _compress,
        _compress_copy,
        _compress_each,
        _decompress,
        _decompress_copy,
        _decompress_each,
        _search_packed,
    ],
}
