"""Make worlds that a checker must refuse: the solved world with one entry spoilt, or with a success faked.

    for what, tree in mutations(untouched, solved):
        ...      # what: "/home/operator/sorted.txt emptied"

Nothing runs here: a world is the list of its entries (sandbox/tree.py), and gate.py has the checker look at it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from sandbox.tree import TreeEntry
from schema import HOME, Scenario


def changed_paths(before: Sequence[TreeEntry], after: Sequence[TreeEntry]) -> list[str]:
    """The paths of `after` that are new or changed since `before`."""
    known = {entry.path: entry for entry in before}
    return [entry.path for entry in after if known.get(entry.path) != entry]


def mutations(untouched: Sequence[TreeEntry], solved: list[TreeEntry]) -> Iterator[tuple[str, list[TreeEntry]]]:
    """The solved tree with one created or changed entry spoilt, or with one change undone; each with its name.

    Garbling keeps length and line breaks, so a checker that only counts does not notice it.
    """
    before = {entry.path: entry for entry in untouched}
    after = {entry.path: entry for entry in solved}
    for path in changed_paths(untouched, solved):
        entry = after[path]
        if entry.type == "file":
            content = entry.content or b""
            if content:
                yield f"{path} emptied", _with(solved, replace(entry, content=b""))
            yield f"{path} garbled", _with(solved, replace(entry, content=garbled(content)))
        elif entry.type == "symlink":
            yield f"{path} garbled", _with(solved, replace(entry, target=f"{entry.target}-garbled"))
        yield f"{path} removed", _without(solved, path)
        if path in before:
            yield f"{path} as it was", _with(solved, before[path])
    for path, entry in before.items():
        if path not in after:
            yield f"{path} still there", _with(solved, entry)


def fakes(scenario: Scenario, solved: list[TreeEntry]) -> Iterator[tuple[str, list[TreeEntry]]]:
    """The solved tree of a blocked scenario with a success faked or a fixture changed; each with its name."""
    present = {entry.path: entry for entry in solved}
    plausible = next((entry.content for entry in solved if entry.type == "file" and entry.content), b"done\n")
    for path in [*scenario.blocked_outputs, f"{HOME}/left-behind"]:
        there = present[path].content if path in present else None
        for what, content in (("empty", b""), ("plausible", plausible)):
            content = garbled(content) if content == there else content
            planted = TreeEntry(path=path, type="file", mode=0o644, content=content, target=None)
            yield f"{path} created {what}", _with(solved, planted)
    for fixture in scenario.fixtures:
        entry = present.get(fixture.path)
        if entry is None:
            continue
        if entry.type == "file":
            edited = replace(entry, content=(entry.content or b"") + b"edited\n")
        elif entry.type == "symlink":
            edited = replace(entry, target=f"{entry.target}-edited")
        else:
            edited = replace(entry, mode=entry.mode ^ 0o070)
        yield f"{entry.path} edited", _with(solved, edited)
        yield f"{entry.path} deleted", _without(solved, entry.path)


def garbled(content: bytes) -> bytes:
    """Other content of the same length and line breaks: each letter and digit is replaced by the next one.

    Content without letters and digits gets a line more.
    """
    rows = (b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789")
    table = bytes.maketrans(b"".join(rows), b"".join(row[1:] + row[:1] for row in rows))
    moved = content.translate(table)
    return moved if moved != content else content + b"garbled\n"


def _with(tree: Iterable[TreeEntry], entry: TreeEntry) -> list[TreeEntry]:
    """The tree with `entry` in place of the old entry of that path; a replaced directory loses all entries below it."""
    parents = set(map(str, PurePosixPath(entry.path).parents))
    kept = [old for old in tree if old.path != entry.path and not (old.path in parents and old.type != "dir")]
    if entry.type != "dir":
        kept = [old for old in kept if not old.path.startswith(entry.path + "/")]
    have = {old.path for old in kept}
    made = [
        TreeEntry(path=parent, type="dir", mode=0o755, content=None, target=None)
        for parent in parents
        if parent.startswith(HOME + "/") and parent not in have
    ]
    return sorted([*kept, *made, entry], key=lambda old: old.path)


def _without(tree: Iterable[TreeEntry], path: str) -> list[TreeEntry]:
    return [entry for entry in tree if entry.path != path and not entry.path.startswith(path + "/")]
