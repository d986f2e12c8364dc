"""Shape the archive archetypes: pack files, unpack an archive.

    from templates.archives import SHAPES

Reads   nothing
Writes  nothing
Needs   nothing

The bytes of an archive depend on the tar that made it, so that a packed one is checked by its listing, by the content
of every member and by its end: nothing may follow. Only plain files are packed, since a directory's time would go in.
"""

import base64
import gzip
import io
import shlex
import tarfile
import zipfile

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


def _contents(names: Names, count: int, ext: str | None = None) -> dict[str, str]:
    """`count` plain file names with their texts, sorted by name."""
    files = [names.file(ext or names.pick(["txt", "log", "md", "csv"]), plain=True) for _ in range(count)]
    return {file: names.text(2, 4) for file in sorted(files)}


def _below(place: str, members: dict[str, str]) -> dict[str, str]:
    """The same texts at names below `place`."""
    return {f"{place}/{name}": text for name, text in members.items()}


def text_files(members: dict[str, str]) -> list[Fixture]:
    """The members as files of the world."""
    return [fixture(name, text) for name, text in members.items()]


def _pack_named(names: Names) -> Unit:
    members, zipped = _contents(names, names.number(2, 3)), names.rng.random() < 0.4
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
        instruction=names.pick(
            [
                f"I want {o} to be a {kind} with {what} in it.",
                f"{o} should be a {kind} that holds {what}.",
                f"Create {o}, a {kind} with the members {what}.",
                f"Could you bundle {what} in one {kind}? Name it {o}.",
                f"The files {what} belong in one {kind} called {o}; leave the files themselves where they are.",
                f"A {kind} by the name of {o} is needed; its members are {what}.",
                f"Use tar to collect {what} in {o}{', compressed with gzip' if zipped else ', without compression'}.",
                f"{what} must be archived together; the result, a {kind}, is called {o}.",
                f"Save {what} as one {kind}, in the file {o}.",
                f"Write a {kind} of {what} to {o}.",
                f"Build {o} out of {what}; it has to be a {kind}.",
                f"Into a {kind} called {o} go {what}, which stay on disk as well.",
                f"Archive {what} together as {o} (a {kind}).",
                f"One {kind}, {o}, takes in {what} and nothing else.",
            ]
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
        fixtures=[*text_files(members), fixture(f"{place}/{names.file('bak')}", names.text())],
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
                f"Collect the .{ext} files that lie in {place} in {o}, a {kind}; each member is called {place}/NAME.",
                f"Bundle {place}/*.{ext} with tar{' and gzip' if zipped else ', uncompressed'}: the archive is {o},"
                f" its members start with {place}/.",
                f"Could you store the files of {place} with the extension .{ext} in one {kind}? Name it {o} and list"
                f" the members as {place}/NAME.",
                f"In {o}, a new {kind}, put the .{ext} files from the folder {place}, with the folder in each member's"
                " name.",
                f"The folder {place} has .{ext} files; create the {kind} {o} from them here, so that its names begin"
                f" with {place}/.",
                f"All files ending in .{ext} in {place} are to be archived in {o}. It is a {kind} whose entries read"
                f" {place}/NAME.",
                f"Save all the .{ext} files from {place} in {o}, a new {kind}, where they are called {place}/NAME.",
                f"Write a {kind} to {o}. It holds every {place}/*.{ext} by exactly that path, {place}/ included.",
                f"From {place} put each file whose name ends in .{ext} as {place}/NAME into {o}, a {kind}.",
                f"Every .{ext} file that lies in {place} goes into a {kind} called {o}, where it is listed as"
                f" {place}/NAME.",
                f"Produce {o} with tar{' and gzip' if zipped else ', without compression'}: its members are"
                f" {place}/NAME for each NAME in {place} that ends in .{ext}.",
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
        fixtures=text_files(_below(place, members)),
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
                f"Create the tar archive {o} from {what} in {place}; its members are called by file name alone,"
                f" without {place}/.",
                f"In the folder {place} there are {what}. Bundle them in {o}, uncompressed tar, with no folder in"
                " front of their names.",
                f"Could you archive {what} from inside {place}? The tar file is called {o} and its listing shows only"
                " file names.",
                f"{o} is needed in the home directory: a tar file of {what} from {place}, members without any"
                " directory part.",
                f"Let tar change into {place} and store {what} from there in the archive {o} here.",
                f"The files {what} lie in {place}; save them to the plain tar archive {o} as if they lay at the top.",
                f"Store {what} from {place} in the tar archive {o}, with nothing but the file name for each member.",
                f"Build a tar archive {o} of these files from {place}: {what}. Leave the directory out of their names.",
                f"Out of {place} take {what} and bundle them as {o}, an uncompressed tar whose entries have no"
                " directory in front.",
                f"Write {what}, which are in the directory {place}, to the tar archive {o}, listed there without"
                f" {place}/.",
                f"No path may stand before the member names of the tar archive {o}. Fill it with {what}, taken from"
                f" {place}.",
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
        instruction=names.pick(
            [
                f"I want the .{ext} files of {place} moved to {o}, a gzip-compressed tar archive, as {place}/NAME.",
                f"{o} should take over the .{ext} files of {place}: a gzip-compressed tar of them, the files gone.",
                f"Bundle all {place}/*.{ext} in the compressed archive {o} (tar and gzip, members {place}/NAME) and"
                " remove them once packed.",
                f"First create {o}, a gzip-compressed tar of the .{ext} files in {place} with {place}/ in the member"
                " names; then erase these files.",
                f"Could you archive the .{ext} files of the folder {place} in {o}, tar with gzip, members"
                f" {place}/NAME, and delete them on disk?",
                f"The .{ext} files in {place} are to be kept only inside {o}, a gzip-compressed tar archive whose"
                f" entries read {place}/NAME.",
                f"Save the files of {place} that end in .{ext} to the .tgz archive {o} as {place}/NAME; afterwards"
                f" remove these files from {place}.",
                f"No .{ext} file should be left in {place}: they all go into the tar archive {o}, compressed with"
                f" gzip, as {place}/NAME.",
                f"Rid {place} of its .{ext} files once they are in {o}, a gzip-compressed tar archive that lists them"
                f" as {place}/NAME.",
                f"Transfer every .{ext} file that {place} has to the gzip-compressed tar archive {o}, with entries like"
                f" {place}/NAME; none of these files stays on disk.",
                f"Into {o}, a tar archive with gzip compression, go the files {place}/*.{ext}, by names that start with"
                f" {place}/. Throw the files themselves out after that.",
                f"Write the .{ext} files from {place} as {place}/NAME to a gzip-compressed tar archive, {o}, and drop"
                " them from the disk.",
                f"Every .{ext} file of {place} exists only as the member {place}/NAME of {o} in the end. Create that"
                " archive, a gzip-compressed tar, and erase the files.",
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
        fixtures=text_files(members),
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
                f"Create a folder {place}, then bundle {first} and {second} there in the uncompressed tar file {o}.",
                f"Could you store {first} and {second} in one tar archive? It is called {o}, and its folder {place}"
                " has to be made.",
                f"A tar archive {o} with the members {first} and {second} is needed; first make {place} for it.",
                f"The files {first} and {second} are to be archived with tar in {o}. There is no {place} yet, so"
                " create it.",
                f"{place} is a folder to create, and {o} a plain tar archive to put there; its members are {first} and"
                f" {second}.",
                f"Run mkdir for {place} and save {first} together with {second} in the tar file {o}.",
                f"Set up {place}, a new directory. Write {first} and {second} to {o} there, a tar archive without"
                " compression.",
                f"Build the tar archive {o} out of {first} and {second}, after making its directory {place}.",
                f"Gather {first} and {second} in an uncompressed tar archive, {o}; its directory {place} is new and has"
                " to be made.",
                f"For the tar archive {o} a directory is missing, {place}. Add it and then collect {first} and {second}"
                " in that archive.",
                f"No directory {place} exists so far: set it up, and bundle {first} and {second} in it as {o}, a plain"
                " tar archive.",
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
                f"Extract the {kind} {p}; its files go in {where} {place}.",
                f"Everything in {p}, a {kind}, must be unpacked to {where} {place}.",
                f"Could you unpack {p} for me? It is a {kind}, and its members belong in {where} {place}.",
                f"In {where} {place}, expand the whole {kind} {p}.",
                f"Use tar to take all members out of {p} and leave them in {where} {place}.",
                f"The members of the {kind} {p} are wanted as files in {where} {place}.",
                f"{'Use' if exists else 'Create'} the folder {place} for everything that is inside the {kind} {p}.",
                f"Expand {p}, which is a {kind}, with {where} {place} as the target.",
                f"Restore in {where} {place} all that is packed in {p}, a {kind}.",
                f"Write to {where} {place} the files that the {kind} {p} is made of.",
                f"Into {where} {place} go all files of the {kind} {p}, unpacked.",
                f"Every file in {p} comes out of that {kind} and into {where} {place}.",
            ]
        ),
        solution=[*([] if exists else [f"mkdir {place}"]), f"tar -x{z}f {quote(path)} -C {place}"],
        after=[*([] if exists else [directory(place)]), *text_files(_below(place, members))],
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
                f"The home directory should get {place} from the {kind} {p}"
                f"{', which can go afterwards' if delete else ''}.",
                f"Expand the {kind} {p} where you are, in the home"
                f" directory{'; remove the archive then' if delete else '; the archive stays'}.",
                f"Could you extract all of {p} here at home? It is a"
                f" {kind}{' and is not needed any more afterwards: delete it' if delete else ''}.",
                f"Unpack {p} with tar in the current directory, which gets the folder"
                f" {place}{'. Then erase the archive' if delete else ''}.",
                f"Everything inside the {kind} {p} is wanted here as"
                f" {place}/NAME{', after which the archive is removed' if delete else ''}.",
                f"The files of {p}, a {kind}, must come out at home, below"
                f" {place}{'; then remove the archive file' if delete else ''}.",
                f"{'First extract' if delete else 'Extract'} the members of the {kind} {p} here, at"
                f" home{'; second, delete it' if delete else ''}.",
                f"Restore the directory {place} from the {kind} {p} here at"
                f" home{', then throw the archive out' if delete else ''}.",
                f"Open {p}, a {kind}, and write its files to the home directory, as"
                f" {place}/NAME{'; drop the archive afterwards' if delete else ''}.",
                f"Into the home directory goes all that {p} holds, a {kind} of the directory"
                f" {place}{'; the archive is then deleted' if delete else ''}.",
                f"Create {place} in the home directory by expanding the {kind}"
                f" {p}{', and erase the archive once that is done' if delete else ', which stays'}.",
                f"All members of {p}, which is a {kind}, come out right here at"
                f" home{'. Delete the archive then' if delete else ''}.",
            ]
        ),
        solution=[f"tar -x{z}f {quote(path)}", *([f"rm {quote(path)}"] if delete else [])],
        after=text_files(members),
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
                f"Extract the file {wanted}, and no other, from the {kind} {p}; it belongs in {place}.",
                f"Only {wanted} is needed of what the {kind} {p} contains; put it in the folder {place}.",
                f"Could you take {wanted} out of {p} and leave it in the directory {place}? {p} is a {kind} with other"
                " members, too.",
                f"In the directory {place}, restore {wanted} from the {kind} {p}, nothing else.",
                f"Use tar to unpack one file of the {kind} {p}: {wanted}, to the directory {place}.",
                f"The directory {place} needs {wanted}, which is a member of {p}, a {kind}; do not unpack the rest.",
                f"Restore {wanted}, one member of the {kind} {p}, in {place}; unpack no other.",
                f"Copy {wanted}, just this one file, to the directory {place}; it is packed in {p}, a {kind}.",
                f"Into {place} goes {wanted} from {p} ({kind}). All the other members remain in the archive only.",
                f"Pick {wanted} from all that the {kind} {p} holds and write that file alone to {place}.",
                f"Nothing but {wanted} is to come out of {p}, a {kind}: expand that member into {place}.",
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
                f"{o} should equal {wanted} as it is in the {kind} {p}.",
                f"Print the text of {wanted}, from inside the {kind} {p}, and redirect it to {o}.",
                f"In the {kind} {p} there is a file {wanted}; its text is wanted as {o} here, and nothing else gets"
                " unpacked.",
                f"Could you copy the text of {wanted} from inside {p}, a {kind}, to {o}?",
                f"Create {o} with the text of {wanted}, a member of the {kind} {p}.",
                f"Take {wanted} from the {kind} {p} but call it {o}; no file {wanted} should be left here.",
                f"The text of {wanted}, packed in {p} ({kind}), has to be in the new file {o}.",
                f"Let tar print {wanted} from {p} and store what it prints in {o}.",
                f"Write to {o} what is in {wanted}, a member of the {kind} {p}.",
                f"Copy {wanted}, which the {kind} {p} holds, to a file by another name, {o}; nothing else is"
                " extracted.",
                f"To {o} goes what {wanted} says, which you read from the {kind} {p} without unpacking anything.",
                f"Send the plain text of {wanted}, one of the files in {p} ({kind}), to {o}.",
                f"What does {wanted} say in the {kind} {p}? Save its text as {o}.",
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
                f"Put a sorted list of the members of {p}, a {kind}, in {o}; next extract all of them to the directory"
                f" {place}.",
                f"Which files are in the {kind} {p}? Write their sorted names to {o} and unpack them to the folder"
                f" {place}.",
                f"First {o}: the member names of the {kind} {p} in alphabetical order. Second, the members themselves:"
                f" extract them to {place}.",
                f"Use tar twice on {p}: store the listing, sorted, in {o} and expand the archive inside {place}.",
                f"The names of all members of {p} ({kind}) belong in {o}, sorted, and the members themselves in"
                f" {place}.",
                f"Could you list the {kind} {p}, sort the names, save them as {o}, and then unpack the archive to the"
                f" folder {place}?",
                f"Record the member names of the {kind} {p} in {o}, in sorted order and one on each line; also expand"
                f" the archive into {place}.",
                f"Sort into {o} the names of all members of {p} ({kind}). Then extract the members themselves into"
                f" {place}.",
                f"Into {place} go all files of the {kind} {p}, while their sorted names go to {o}.",
                f"Unpack the {kind} {p} below {place} and leave an alphabetical list of its member names in {o}.",
                f"For the {kind} {p}, create {o}: the names of all its files in sorted order. The files themselves are"
                f" extracted to {place}.",
            ]
        ),
        solution=[f"tar -t{z}f {a} | sort > {quote(out)}", f"tar -x{z}f {a} -C {place}"],
        after=[fixture(out, text_of(members)), *text_files(_below(place, members))],
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
                f"Expand the zip file {shown(path)} in the folder {place}.",
                f"Everything packed in {shown(path)} must be extracted with unzip; the target is {place}.",
                f"Could you unpack {shown(path)} for me? It is a zip file whose members belong in the directory"
                f" {place}.",
                f"In the directory {place}, extract all members of the zip file {shown(path)}.",
                f"Take the files out of {shown(path)}, which is a zip archive, and leave them in {place}.",
                f"The members of the zip archive {shown(path)} are wanted as files in the folder {place}.",
                f"Restore all files of the zip archive {shown(path)} in {place}.",
                f"Write every member of {shown(path)}, which is a zip file, to the directory {place}.",
                f"Into {place} goes all that is packed in the zip file {shown(path)}.",
                f"Open the zip archive {shown(path)} and put what it holds in {place}.",
                f"Every file of the zip archive {shown(path)} comes out into the folder {place}.",
            ]
        ),
        solution=[names.pick([f"unzip -q {quote(path)} -d {place}", f"unzip -q -d {place} {quote(path)}"])],
        after=text_files(_below(place, members)),
    )


SHAPES: dict[str, list[Shape]] = {
    "pack_archive": [_pack_named, _pack_by_extension, _pack_bare_names, _pack_and_delete, _pack_into_directory],
    "unpack_archive": [_unpack_into, _unpack_here, _unpack_one, _member_to_file, _list_members, _unzip],
}
