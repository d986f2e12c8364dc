"""Worlds in which single files are compressed or decompressed.

The bytes of a compressed file depend on the program that made it. So the checks read the text that it holds and its
end, behind which nothing may follow.
"""

import bz2
import gzip
import lzma
import struct
import zlib

from authoring.templates.archives import binary_file, text_files
from authoring.templates.world import Names, Shape, Unit, fixture, quote, shown, text_of
from schema import Fixture, sha256


def holds_data(path: str, text: str) -> list[str]:
    """Checks that a gzip file holds this text, and nothing after its end."""
    file, content = quote(path), text.encode()
    trailer = struct.pack("<II", zlib.crc32(content), len(content))
    return [
        f"[ -f {file} ] && [ ! -L {file} ]",
        f'gunzip -t < {file} && [ "$(zcat < {file} | sha256sum)" = "{sha256(content)}  -" ]',
        f'[ "$(tail -c 8 {file} | sha256sum)" = "{sha256(trailer)}  -" ]',
    ]


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
        instruction=names.wording(
            [
                f"I want {p} squeezed with gzip into {shown(path + '.gz')}, the plain file gone.",
                f"{p} should be stored gzip-compressed, under its name with .gz.",
                f"Run gzip on {p}: the file {shown(path + '.gz')} takes its place.",
                f"The file {p} takes too much room; squeeze it with gzip and leave no uncompressed copy.",
                f"Could you gzip {p}? Afterwards there should be {shown(path + '.gz')} and no {p}.",
                f"Make {shown(path + '.gz')} out of {p} with gzip; the uncompressed file is not kept.",
                f"{shown(path + '.gz')} must take the place of {p}, which is to be compressed by gzip.",
                f"Store {p} in gzip form as {shown(path + '.gz')} and do not keep the uncompressed file.",
                f"Turn {p} into {shown(path + '.gz')} by gzip, without leaving the plain file behind.",
                f"Shrink {p} with gzip: {shown(path + '.gz')} is there afterwards and {p} is not.",
                f"From {p} make {shown(path + '.gz')} with gzip, then drop {p}.",
                f"Convert {p} to gzip format as {shown(path + '.gz')}; no plain copy of it remains.",
                f"Nothing but the gzip file {shown(path + '.gz')} remains of {p}: compress it.",
                f"Compress {p} with gzip to {shown(path + '.gz')} and remove the plain file.",
                f"Pack {p} in place: gzip format, name {shown(path + '.gz')}, no uncompressed file left.",
                f"Replace {p} by its gzip-compressed form, {shown(path + '.gz')}.",
                f"Reduce {p} to the gzip file {shown(path + '.gz')}; the original goes.",
                f"Condense {p} into {shown(path + '.gz')} (gzip) and discard the original.",
                f"Swap the plain {p} for a gzip version called {shown(path + '.gz')}.",
                f"Save disk space by packing {p} as gzip file {shown(path + '.gz')}, without keeping {p}.",
                f"Only {shown(path + '.gz')}, the gzip form of {p}, is kept; the uncompressed one goes.",
                f"Instead of {p} there has to be {shown(path + '.gz')}, the same data in gzip format.",
                f"Once {p} is packed by gzip as {shown(path + '.gz')}, the unpacked original is deleted.",
                f"To save room, {p} is replaced with {shown(path + '.gz')}, compressed in gzip format.",
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
        instruction=names.wording(
            [
                f"I want {o} to be {p} in gzip form, next to the plain file.",
                f"{o} should hold the gzip data of {p}, which remains.",
                f"Run gzip on {p} but send what it makes to {o}, so that {p} is still there afterwards.",
                f"Make {o} from {p} with gzip; {p} itself is not removed.",
                f"Could you put a compressed copy of {p}, made by gzip, in {o}? The uncompressed file is still needed.",
                f"In {o} store the text of {p} in gzip form; do not change or delete {p}.",
                f"Keep {p} as it is and create {o}, the same data compressed by gzip.",
                f"A gzip file {o} with the text of {p} is wanted, and {p} remains.",
                f"{p} must be compressed by gzip to another file, {o}, and stay there itself.",
                f"Put {p}, compressed with gzip, in {o}, and leave the uncompressed {p} untouched.",
                f"Send {p} as gzip data to {o}; do not delete {p} for that.",
                f"Make a second form of {p}, a gzip file called {o}. The plain one is still there afterwards.",
                f"Duplicate {p} as {o} in gzip format, so that both exist.",
                f"Both {p} and {o} are to exist in the end: produce {o}, the gzip form of {p}.",
                f"Compress {p} into {o} in gzip format and keep the original.",
                f"Pack a copy of {p} with gzip as {o}; the original stays unpacked.",
                f"Write a gzip version of {p} to {o} while retaining {p}.",
                f"Save the contents of {p}, gzip-compressed, under the name {o}, and preserve {p}.",
                f"Generate {o}, a gzip file, out of {p}; the plain file is not touched.",
                f"Back up {p} to {o} as gzip data, leaving {p} in place.",
                f"Retain {p}, and in addition store a gzip-compressed copy of it as {o}.",
                f"Besides {p}, which stays, there has to be {o} with the same contents in gzip format.",
                f"To have it in small form too, {p} is compressed with gzip to {o}; the plain file is kept.",
                f"What {p} contains is also needed as gzip file {o}, without losing {p}.",
                f"As gzip data, the contents of {p} go to {o}; the original file survives.",
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
        fixtures=[*text_files(files), fixture(f"{place}/{names.file('md')}", names.text())],
        directive=names.pick(
            [
                f"Compress every .{ext} file in {place} with gzip, each on its own.",
                f"Gzip all .{ext} files of {place} one by one; other files stay.",
                f"Replace each .{ext} file of {place} by its gzip-compressed form, NAME.{ext}.gz.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want the .{ext} files below {place} squeezed with gzip, one .gz for each.",
                f"Whatever in {place} ends in .{ext} should become a .{ext}.gz of its own.",
                f"Run gzip on the .{ext} files of the folder {place}, so that each NAME.{ext} is replaced by"
                f" NAME.{ext}.gz.",
                f"In the directory {place}, squeeze all files ending in .{ext} with gzip; leave the others alone.",
                f"Could you gzip whatever matches {place}/*.{ext}? Each file gets its own .gz in its place.",
                f"Every .{ext} file in the folder {place} must be compressed by gzip and not kept uncompressed.",
                f"The files of {place} with the extension .{ext} take too much room: use gzip on all of them, one .gz"
                " per file.",
                f"{place} should have a NAME.{ext}.gz in place of every NAME.{ext}; gzip makes them.",
                f"Turn every .{ext} file in {place} into a .{ext}.gz with gzip, one file at a time; nothing happens to"
                " the rest.",
                f"Go through {place} and gzip what ends in .{ext}; each such file is replaced by NAME.{ext}.gz, the"
                " rest is left alone.",
                f"Each .{ext} file of {place} shrinks to a gzip file NAME.{ext}.gz, without its plain form being left.",
                f"Shrink the .{ext} files in the folder {place} separately with gzip, NAME.{ext} to NAME.{ext}.gz.",
                f"No plain .{ext} file remains in {place}: gzip makes NAME.{ext}.gz out of each one.",
                f"Compress each .{ext} file in {place} by itself to NAME.{ext}.gz (gzip), removing the plain one.",
                f"Pack all {place}/*.{ext} one by one in gzip format, replacing every file with its .gz.",
                f"Replace every .{ext} file in {place} by its gzip form, .gz added to the name.",
                f"Reduce the .{ext} files of {place} to gzip files, one each, with .gz appended; keep no plain ones.",
                f"Condense what ends in .{ext} in {place} with gzip: one .{ext}.gz per file, originals gone.",
                f"Swap each plain .{ext} file in {place} for a gzip file NAME.{ext}.gz, and touch nothing else there.",
                f"Save room in {place} by packing its .{ext} files singly as gzip; only the .{ext}.gz files remain.",
                f"All .{ext} files in {place} are compressed one by one with gzip, in place, to .{ext}.gz.",
                f"If a file in {place} ends in .{ext}, its gzip version, with .gz added, replaces it.",
                f"To save space, .{ext} files in {place} are kept only as NAME.{ext}.gz, each packed in gzip format.",
                f"Only .{ext} files in {place} are affected: each becomes a gzip file with .gz behind its name.",
            ]
        ),
        solution=[names.pick([f"gzip {place}/*.{ext}", f'for f in {place}/*.{ext}; do gzip "$f"; done'])],
        after=[],
        removed=list(files),
        checks=[check for path, text in files.items() for check in holds_data(path + ".gz", text)],
    )


def _compressed_file(names: Names, text: str) -> tuple[str, Fixture, str, str]:
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
    return path, binary_file(path + ext, data), ext, {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz"}[ext]


def _decompress(names: Names) -> Unit:
    text = names.text(4, 8)
    path, entry, ext, undo = _compressed_file(names, text)
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
        instruction=names.wording(
            [
                f"I want {c} to be plain {p} again, the packed file gone.",
                f"{c} should give way to its plain form {p}.",
                f"Expand {c}: the file {p} takes its place.",
                f"The file {c} is wanted in uncompressed form, as {p}, and no longer compressed.",
                f"Could you decompress {c}? Afterwards there should be {p} and no {c}.",
                f"Make {p} out of {c} and do not keep the compressed file.",
                f"{p} must take the place of {c}, which is to be uncompressed.",
                f"Unpack the compressed file {c} to {p}, leaving no {ext} file behind.",
                f"Undo the compression of {c}, so that just {p} is left.",
                f"Restore {p} from {c} and drop the compressed file.",
                f"Unpack {c}; in its stead there is {p} afterwards.",
                f"From {c} recover the plain file {p}; {c} is gone afterwards.",
                f"In place of {c} there is to be what it was made from, {p}.",
                f"Open up the compressed file {c} as {p} and throw {c} out.",
                f"Decompress {c} to {p} and remove the packed file.",
                f"Replace {c} by the uncompressed {p}.",
                f"Extract {p} from {c}, then delete {c}.",
                f"Swap compressed {c} for its plain version {p}.",
                f"Inflate {c} in place; {p} remains and {c} does not.",
                f"Convert {c} back to {p}, discarding the compressed form.",
                f"Reverse the packing of {c}: keep {p} only.",
                f"Uncompress {c} under the name {p} without retaining {c}.",
                f"Instead of {c} the unpacked file {p} is needed; {c} goes away.",
                f"Once the data of {c} are unpacked to {p}, the {ext} file is deleted.",
                f"Only {p}, the uncompressed contents of {c}, is kept; the {ext} file disappears.",
            ]
        ),
        solution=[f"{undo} {quote(path + ext)}"],
        after=[fixture(path, text)],
        removed=[path + ext],
    )


def _decompress_copy(names: Names) -> Unit:
    text, out = names.text(4, 8), names.file("txt")
    path, entry, ext, _ = _compressed_file(names, text)
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
        instruction=names.wording(
            [
                f"I want the text inside {c} in {o}, with the packed file left where it is.",
                f"{o} should hold the plain form of {c}, which remains packed.",
                f"Expand {c} but send the text to {o}, so that {c} is still there afterwards.",
                f"Make {o} from {c} by decompressing; {c} itself is not removed.",
                f"Could you put the uncompressed text of {c} in {o}? The {ext} file is still needed.",
                f"In {o} store the text that is packed in {c}; do not change or delete {c}.",
                f"Without touching {c}, create {o} with the same text, uncompressed.",
                f"The compressed file {c} has some text that is wanted in {o}; {c} remains.",
                f"{c} must be decompressed to another file, {o}, and stay there itself.",
                f"Send the uncompressed text of {c} to {o}, while {c} stays packed.",
                f"Expand a copy of {c} into {o}; leave {c} compressed.",
                f"To {o} goes the plain text of {c}, and {c} remains on disk.",
                f"Read {c}, decompress it on the way, and put what comes out in {o}; nothing happens to {c}.",
                f"What text is packed in {c}? Put it in {o} and let {c} remain compressed.",
                f"Decompress {c} into {o} and keep {c}.",
                f"Unpack the contents of {c} to {o}, retaining the {ext} file.",
                f"Extract the text of {c} as {o}; preserve {c} unchanged.",
                f"Write what {c} contains, uncompressed, to {o}, leaving {c} in place.",
                f"Save an unpacked copy of {c} under the name {o}; do not remove {c}.",
                f"Print the decompressed {c} into {o} without altering {c}.",
                f"Retain {c}, and in addition store its text in plain form as {o}.",
                f"Besides {c}, which is kept, there has to be {o} with its text in uncompressed form.",
                f"The plain contents of {c} are needed as {o}; the {ext} file survives.",
                f"To be readable, the data in {c} are unpacked to {o}, and {c} stays as it is.",
                f"While {c} is left alone, {o} receives the text it has inside, decompressed.",
            ]
        ),
        solution=[f"{show} {quote(path + ext)} > {quote(out)}"],
        after=[fixture(out, text)],
    )


def _decompress_each(names: Names) -> Unit:
    place, ext = names.directory(), names.pick(["log", "txt"])
    files = {f"{place}/{names.file(ext)}": names.text(3, 6) for _ in range(names.number(2, 3))}
    return Unit(
        fixtures=[binary_file(path + ".gz", gzip.compress(text.encode(), mtime=0)) for path, text in files.items()],
        directive=names.pick(
            [
                f"Decompress every .gz file in {place} in place.",
                f"Gunzip all files of {place} that end in .gz.",
                f"Replace each .gz file of {place} by its plain form, without .gz.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want no .gz files in {place} any more but what was inside them.",
                f"Each .gz in {place} should turn into the file it was made from.",
                f"Expand every file in the folder {place} that ends in .gz, so that each NAME.gz is replaced by NAME.",
                f"The .gz files of the directory {place} are wanted in uncompressed form, and no longer compressed.",
                f"Could you run gunzip on {place}/*.gz? Each file keeps its name but loses the .gz.",
                f"In the directory {place}, decompress all that was packed with gzip; no .gz file should be left.",
                f"Use gunzip on all compressed files in {place}, which all end in .gz.",
                f"{place} should have each NAME in place of NAME.gz: decompress them all.",
                f"Turn the .gz files of {place} back into plain ones that lack the ending .gz.",
                f"Restore in {place} each NAME from its NAME.gz, and drop every NAME.gz.",
                f"From every NAME.gz in {place} recover NAME; no compressed file remains there.",
                f"Undo the gzip compression of all files in {place}, so that NAME.gz gives way to NAME.",
                f"No .gz file stays in {place}: gunzip turns NAME.gz into NAME.",
                f"Decompress each .gz file in {place} in place, dropping .gz from its name.",
                f"Unpack {place}/*.gz one by one and keep only the unpacked files, named without .gz.",
                f"Replace every NAME.gz in {place} by the plain NAME.",
                f"Inflate the gzip files of {place}; their names lose .gz and the packed versions go.",
                f"Extract what each NAME.gz in {place} contains to {place}/NAME, then delete the .gz file.",
                f"Swap all packed NAME.gz in {place} for uncompressed NAME.",
                f"Convert the contents of {place} from NAME.gz to plain NAME; retain no .gz file.",
                f"All .gz files in {place} are uncompressed there, each under its name minus .gz; none is kept.",
                f"If a file in {place} ends in .gz, its uncompressed version, without that ending, replaces it.",
                f"Only plain files are left in {place}: what was NAME.gz is unpacked as NAME.",
                f"To be readable again, the files {place}/NAME.gz become {place}/NAME, unpacked; no .gz is kept.",
            ]
        ),
        solution=[names.pick([f"gunzip {place}/*.gz", f'for f in {place}/*.gz; do gunzip "$f"; done'])],
        after=text_files(files),
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
        fixtures=[binary_file(path, gzip.compress(text_of(lines).encode(), mtime=0))],
        directive=names.pick(
            [
                f"From the gzip-compressed {p} save the lines with {word} in {o}; {p} stays as it is.",
                f"Read {p} without unpacking it on disk and write its lines that contain {word} to {o}.",
                f"Look through the compressed file {p} for {word} and store the matching lines in {o}.",
            ]
        ),
        instruction=names.wording(
            [
                f"I want the lines mentioning {word} of the compressed {p} in {o}.",
                f"{o} should list the lines with {word} that the gzip file {p} holds.",
                f"Search {p}, which is compressed with gzip, for {word} and put the lines found in {o}.",
                f"Which lines of the gzip file {p} contain {word}? Write them to {o} and leave {p} compressed.",
                f"Could you decompress {p} to a pipe, pick the lines with {word}, and keep them in {o}?",
                f"In {o} collect all lines of {p} that have {word} in them; {p} is compressed with gzip and stays so.",
                f"The lines with {word} inside {p}, a gzip file, belong in {o}; nothing else gets unpacked.",
                f"{p} is compressed: print it with zcat, keep the lines that contain {word}, and save them as {o}.",
                f"Create {o} from the compressed {p}, with just the lines in which {word} occurs.",
                f"Write to {o} every line with {word} from the gzip file {p}, which stays compressed.",
                f"Find {word} in {p}, which is a gzip file; the lines it is in go to {o}.",
                f"Collect all lines with {word} from {p}, a file in gzip format, in the new file {o}.",
                f"Every line of the gzip file {p} that mentions {word} goes to {o}; {p} is not unpacked.",
                f"Where does {word} occur in the gzip-compressed {p}? Put those lines, whole, in {o}.",
                f"Extract the lines with {word} from gzip file {p} to {o}, leaving {p} packed.",
                f"Filter the text in the gzip file {p} for {word}; save the matching lines as {o}.",
                f"Copy to {o} those lines of the gzip-compressed {p} that contain {word}.",
                f"Scan the gzip file {p} for {word} and list all matching lines in {o}.",
                f"Save as {o} only such lines of {p} (gzip-compressed, to be left so) as include {word}.",
                f"Pull every line that has {word} out of gzip file {p} into {o}, without changing {p}.",
                f"Retain {p} as a gzip file while its lines are searched and those with {word} end up in {o}.",
                f"Read the gzip file {p} without unpacking it on disk; its lines with {word} are stored in {o}.",
                f"If a line in the gzip file {p} contains {word}, it is copied to {o}; {p} is left as it is.",
                f"Only lines with {word} are needed in {o}; they come from {p}, packed by gzip, in the same order.",
                f"{o} receives, in their order, all lines of the gzip file {p} where {word} occurs.",
            ]
        ),
        solution=[f"zcat {quote(path)} | grep {word} > {quote(out)}"],
        after=[fixture(out, text_of(line for line in lines if word in line))],
    )


SHAPES: dict[str, list[Shape]] = {
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
