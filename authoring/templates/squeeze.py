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
