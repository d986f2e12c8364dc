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
        instruction=names.wording(
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
                f"Pack {what} up as a {kind} under the name {o}.",
                f"Gather {what} in {o}, which has to be a {kind}; the files themselves remain.",
                f"Combine {what}: one {kind}, {o}, with each of them as a member.",
                f"Make {o}. It is a {kind}, and its members are {what}.",
                f"Wrap up {what} in a single {kind} named {o}, and keep the originals.",
                f"Assemble a new {kind} at {o} (members: {what}).",
                f"For safekeeping, put copies of {what} in the {kind} {o}.",
                f"{o} does not exist yet; produce it as a {kind} that contains {what}.",
                f"Once {o} is there, it is a {kind} whose only members are {what}.",
                f"The members of {o}, which is a new {kind}, are to be {what}.",
                f"Roll {what} into {o}; the format is that of a {kind}.",
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
        instruction=names.wording(
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
                f"Pack {place}/*.{ext} into the {kind} {o}, with {place}/ kept in every member name.",
                f"Gather each .{ext} file of {place} as member {place}/NAME of the new {kind} {o}.",
                f"Assemble {o}, a {kind}: its entries are all {place}/*.{ext}, directory part included.",
                f"Roll up the .{ext} files in {place} as a {kind} named {o}; keep {place}/ in front of their names.",
                f"Make a {kind} out of {place}/*.{ext}. Call it {o} and leave {place}/ in the member names.",
                f"Whatever matches {place}/*.{ext} is wanted in {o}, a {kind}, under that same path.",
                f"Other files aside, back up the .{ext} ones of {place} in the {kind} {o}, as {place}/NAME.",
                f"Wrap the files that match {place}/*.{ext} in one {kind}; it is {o}, with members like {place}/NAME.",
                f"Which files in {place} end in .{ext}? Enter them all, as {place}/NAME, in the new {kind} {o}.",
                f"The {kind} {o} must be made; in it are the .{ext} files of {place}, each as {place}/NAME.",
                f"Only .{ext} files count: place those of {place} in {o}, a {kind}, by the path {place}/NAME.",
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
        instruction=names.wording(
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
                f"Pack {what}, found in {place}, as the plain tar archive {o}; drop {place}/ from the member names.",
                f"Gather {what} out of {place} in an uncompressed tar archive called {o}, by bare file names.",
                f"Assemble {o}, an uncompressed tar archive: members {what}, read from {place} but without its name.",
                f"Strip {place}/ from the names as you archive {what} from that folder in the tar file {o}.",
                f"Make a tar archive {o} whose members are plainly {what}; the files are found in {place}.",
                f"Seen from inside {place}, put {what} in a new uncompressed tar archive, {o}, here at home.",
                f"When {o} is listed, it shows {what} and no folder. Create this tar file from the files in {place}.",
                f"Let {o} wrap up, as a tar file without compression or folder names, {what} as found in {place}.",
                f"{place} has the files {what}; they are wanted in the tar archive {o}, minus the {place}/ part.",
                f"Combine {what} from the folder {place} in one tar file, {o}, that does not mention {place}.",
                f"A plain tar archive, {o}, gets {what} from {place}; each entry is the file name only.",
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
        instruction=names.wording(
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
                f"Relocate all {place}/*.{ext} to the gzipped tar archive {o} as {place}/NAME; none is left on disk.",
                f"Pack {place}/*.{ext} as {o}, a gzipped tar with {place}/ in its names, then delete those files.",
                f"Archive the .{ext} files of {place} as {place}/NAME in {o} (tar plus gzip); purge them afterwards.",
                f"Clear {place} of .{ext} files, but first store them as {place}/NAME in a gzipped tar archive, {o}.",
                f"Gather the .{ext} files in {place} in a gzipped tar, {o}, as {place}/NAME. Discard the originals.",
                f"To free space, swap {place}/*.{ext} for {o}: a gzip-compressed tar of them, members {place}/NAME.",
                f"After {o}, a gzipped tar of all {place}/*.{ext} under those paths, is made, the files must go.",
                f"Make a gzip-compressed tar {o} of {place}/*.{ext}, paths included, and get rid of the originals.",
                f"Retire the .{ext} files of {place}: each is {place}/NAME in {o}, a gzipped tar, and gone from disk.",
                f"{place}/*.{ext} get packed in the gzipped tar archive {o} under these paths, then wiped from disk.",
                f"Compress the .{ext} files of {place} to one gzipped tar, {o} ({place}/NAME inside); keep no original",
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
        instruction=names.wording(
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
                f"Make {place}, then archive {first} and {second} in it as {o}, an uncompressed tar.",
                f"Add a directory {place}; pack {first} and {second} up there in the tar archive {o}.",
                f"Start a folder {place} and combine {first} with {second} as the plain tar file {o}.",
                f"Open up a new directory, {place}, for {o}: a tar archive, not compressed, of {first} and {second}.",
                f"Once {place} has been made, wrap {first} and {second} in the tar archive {o}.",
                f"Prepare {place} (a new folder) and put copies of {first} and {second} in the tar archive {o}.",
                f"As {place} is missing, create it; next, assemble {o}, a plain tar archive, from {first} and {second}",
                f"{first} and {second} are to be members of {o}, a new tar archive in a new directory {place}.",
                f"Pack the files {first} and {second} as {o}, a tar without compression, in {place}, which you make.",
                f"Two steps: a directory {place} is made, and a new tar archive there, {o}, gets {first} and {second}.",
                f"Establish {place} as a directory. Roll {first} and {second} into the uncompressed tar {o} there.",
            ]
        ),
        solution=[f"mkdir {place}", f"tar -cf {quote(out)} {first} {second}"],
        after=[directory(place)],
        checks=holds_members(out, members, compressed=False),
    )


SHAPES: dict[str, list[Shape]] = {
    "pack_archive": [_pack_named, _pack_by_extension, _pack_bare_names, _pack_and_delete, _pack_into_directory],
}
