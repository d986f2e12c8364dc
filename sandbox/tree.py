"""Represent the files below HOME as a tree: read one out of a container, and make the tar that writes one.

    from sandbox.tree import tree_of

    tree_of([Fixture(path=f"{HOME}/a", text="1")])  # [TreeEntry(path="/home/operator/a", type="file", mode=420, ...)]

A tar from a sandbox is hostile input: it is read in memory, up to a limit, and nothing of it is unpacked on the host.
"""

import contextlib
import copy
import io
import shlex
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal

from sandbox.containers import OPERATOR_UID, SandboxError, api, docker_call
from schema import HOME, Change, Changes, Fixture

MAX_CHANGES = 200  # entries of one record
TREE_BYTES = 160 << 20  # limit for a tree that is read back; only sparse files can make one larger


@dataclass(frozen=True, order=True)
class TreeEntry:
    """One entry below HOME. `content` for files, `target` for symlinks; times are left out on purpose."""

    path: str
    type: Literal["file", "dir", "symlink", "other"]
    mode: int
    content: bytes | None = None
    target: str | None = None


def tar_of(container: str, path: str, limit: int) -> bytes:
    """Docker's tar of a path. Raises ValueError beyond `limit` bytes."""
    stream, _ = api().get_archive(container, path)
    taken = bytearray()
    with contextlib.closing(stream):  # closed at once: until then Docker keeps the volume busy
        for chunk in stream:
            taken += chunk
            if len(taken) > limit:
                raise ValueError(f"{path}: over {limit} bytes")
    return bytes(taken)


def members_of(archive: bytes) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """The entries of a tar with their contents.

    A hard link becomes an entry of its own with the content of its target, shared in memory: a tree takes no more
    memory than its tar.
    """
    found: dict[str, tuple[tarfile.TarInfo, bytes]] = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:", errors="surrogateescape") as tar:
        for member in tar:
            if member.islnk():
                if member.linkname not in found:
                    raise tarfile.TarError(f"{member.name}: a hard link to nothing")
                first, content = found[member.linkname]
                entry = copy.copy(first), content
                entry[0].name = member.name
            else:
                file = tar.extractfile(member) if member.isreg() else None
                entry = member, file.read() if file else b""
            found[member.name] = entry
            yield entry


def read_tree(container: str) -> list[TreeEntry]:
    """Every entry below HOME, sorted by path. Raises SandboxError over TREE_BYTES, each hard link counted."""
    with docker_call(f"read the tree of {container}"):
        try:
            members = list(members_of(tar_of(container, HOME, TREE_BYTES)))
        except (ValueError, tarfile.TarError) as error:
            raise SandboxError(f"the tree of {container}: {error}") from error
    if sum(len(content) for _, content in members) > TREE_BYTES:  # unpacked, hard links no longer share it
        raise SandboxError(f"the tree of {container}: unpacked, it would be over {TREE_BYTES} bytes")
    return entries_of(members)


def entries_of(members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> list[TreeEntry]:
    """The entries of a tar of HOME, sorted by path. The first part of each name stands for HOME."""
    entries = []
    for member, content in members:
        relative = PurePosixPath(member.name).parts[1:]
        if not relative:
            continue
        path, mode = str(PurePosixPath(HOME, *relative)), member.mode & 0o7777
        if member.isdir():
            entries.append(TreeEntry(path, "dir", mode))
        elif member.issym():
            entries.append(TreeEntry(path, "symlink", mode, target=member.linkname))
        elif member.isreg():
            entries.append(TreeEntry(path, "file", mode, content=content))
        else:
            entries.append(TreeEntry(path, "other", mode))
    return sorted(entries, key=lambda entry: entry.path)


def tree_of(fixtures: Sequence[Fixture]) -> list[TreeEntry]:
    """The tree of a fresh world with these fixtures. Parents that no fixture names get mode 755."""
    entries: dict[str, TreeEntry] = {}
    for fixture in fixtures:
        for parent in PurePosixPath(fixture.path).relative_to(HOME).parents:
            if parent.parts:
                entries.setdefault(f"{HOME}/{parent}", TreeEntry(f"{HOME}/{parent}", "dir", 0o755))
    for fixture in fixtures:
        content = fixture.content() if fixture.type == "file" else None
        mode = 0o777 if fixture.type == "symlink" else fixture.mode
        entries[fixture.path] = TreeEntry(fixture.path, fixture.type, mode, content, fixture.target)
    return sorted(entries.values(), key=lambda entry: entry.path)


def changes_between(before: Sequence[TreeEntry], after: Sequence[TreeEntry]) -> Changes:
    """What a session created, changed and removed: the first MAX_CHANGES entries by path, and how many more."""
    old, new = {entry.path: entry for entry in before}, {entry.path: entry for entry in after}
    paths = sorted(path for path in {*old, *new} if old.get(path) != new.get(path))
    listed = paths[:MAX_CHANGES]

    def told(wanted: Iterable[str]) -> list[Change]:
        return [_change_of(new[path]) for path in wanted]

    return Changes(
        created=told(path for path in listed if path not in old),
        changed=told(path for path in listed if path in old and path in new),
        removed=[_printable(path) for path in listed if path not in new],
        more=len(paths) - len(listed),
    )


def _change_of(entry: TreeEntry) -> Change:
    size = len(entry.content) if entry.content is not None else None
    target = _printable(entry.target) if entry.target is not None else None
    return Change(path=_printable(entry.path), type=entry.type, mode=entry.mode, size_bytes=size, target=target)


def _printable(path: str) -> str:
    """At most 1,000 characters of a path, each byte that is not UTF-8 in hexadecimal."""
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")[:1000]


def archive_of(tree: Sequence[TreeEntry]) -> bytes:
    """The tree as a tar for HOME: the operator owns everything, every time is the epoch."""
    return _tar(sorted(tree, key=lambda entry: entry.path))


def unpacking_of(tree: Sequence[TreeEntry]) -> tuple[bytes, bytes]:
    """A tar, and commands to run after it, with which the operator itself can unpack the tree, whatever its modes.

    A directory comes twice in the tar, the second time after its contents, to set its time. One that its owner may not
    write to gets more rights in the tar; the commands take them away again, the deepest directory first. The commands
    also set the times of symlinks, which tar does not.
    """
    entries = sorted(tree, key=lambda entry: entry.path)
    folders = [entry for entry in reversed(entries) if entry.type == "dir"]
    restricted = [entry for entry in folders if entry.mode & 0o700 != 0o700]
    opened = [replace(entry, mode=entry.mode | 0o700) if entry in restricted else entry for entry in entries]
    links = [entry for entry in entries if entry.type == "symlink"]
    if not restricted and not links:
        return _tar([*opened, *folders]), b""
    names = [shlex.quote(entry.path) for entry in [*links, *folders]]
    commands = [f"/bin/busybox touch -h -d @0 {' '.join(names[at : at + 50])}" for at in range(0, len(names), 50)]
    commands += [f"/bin/busybox chmod {entry.mode:o} {shlex.quote(entry.path)}" for entry in restricted]
    return _tar(opened), "\n".join(commands).encode(errors="surrogateescape")


def root_archive(files: Mapping[str, tuple[bytes, int]]) -> bytes:
    """Files that root will own, by absolute path with content and mode, as a tar for /."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, (content, mode) in files.items():
            member = tarfile.TarInfo(path.lstrip("/"))
            member.mode, member.size = mode, len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _tar(entries: Sequence[TreeEntry]) -> bytes:
    """A tar of entries below HOME, in the order given."""
    types = {"file": tarfile.REGTYPE, "dir": tarfile.DIRTYPE, "symlink": tarfile.SYMTYPE, "other": tarfile.FIFOTYPE}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        for entry in entries:
            if ".." in PurePosixPath(entry.path).parts:
                raise ValueError(f"{entry.path}: not a path below {HOME}")
            member = tarfile.TarInfo(str(PurePosixPath(entry.path).relative_to(HOME)))
            member.type, member.mode, member.linkname = types[entry.type], entry.mode, entry.target or ""
            member.uid = member.gid = OPERATOR_UID
            member.size = len(entry.content or b"")
            tar.addfile(member, io.BytesIO(entry.content or b""))
    return buffer.getvalue()
