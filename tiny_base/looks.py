"""Compute the output of commands that only read a world of fixtures, without running a command.

    home = HomeView()
    home.add(unit.fixtures)
    home.home(rng).output

The corpus of the tiny base gets its listings, contents and counts from here, as busybox would print them.
"""

import random
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from authoring.templates.world import directory, quote
from schema import HOME, Fixture


class Look(NamedTuple):
    """A command and its output."""

    command: str
    output: str


@dataclass
class HomeView:
    """The home directory as fixtures; computes the output of commands that only read."""

    entries: dict[str, Fixture] = field(default_factory=dict)

    def add(self, fixtures: list[Fixture]) -> None:
        """Add the fixtures and the directories above them."""
        for entry in fixtures:
            path = entry.path.removeprefix(HOME + "/")
            for parent in PurePosixPath(path).parents:
                if str(parent) != "." and str(parent) not in self.entries:
                    self.entries[str(parent)] = directory(str(parent))
            self.entries[path] = entry

    def drop(self, paths: list[str]) -> None:
        """Remove the paths and everything below them."""
        for path in paths:
            for known in [known for known in self.entries if known == path or known.startswith(path + "/")]:
                del self.entries[known]

    def listing(self, path: str = "") -> list[str]:
        """The names in a directory, sorted as by `ls`, without hidden ones."""
        parent = path or "."
        names = [PurePosixPath(entry).name for entry in self.entries if str(PurePosixPath(entry).parent) == parent]
        return sorted((name for name in names if not name.startswith(".")), key=str.encode)

    def long_listing(self) -> str:
        """The output of `ls -la` in the home directory."""
        rows = ["total 8", *(f"drwxr-xr-x    2 operator operator {40:9} Jan  1 00:00 {name}" for name in (".", ".."))]
        for name in self.listing():
            entry = self.entries[name]
            kind = {"dir": "d", "symlink": "l"}.get(entry.type, "-")
            mode = "".join(bit if entry.mode >> (8 - at) & 1 else "-" for at, bit in enumerate("rwxrwxrwx"))
            size = len(entry.content()) if kind == "-" else 40
            arrow = f" -> {entry.target}" if kind == "l" else ""
            rows.append(f"{kind}{mode}    1 operator operator {size:9} Jan  1 00:00 {name}{arrow}")
        return lines(rows)

    def home(self, rng: random.Random) -> Look:
        """An `ls` of the home directory, sometimes with options."""
        if rng.random() < 0.2:
            return Look("ls -la", self.long_listing())
        if rng.random() < 0.1:
            return Look("ls -a", lines([".", "..", *self.listing()]))
        return Look("ls", lines(self.listing()))

    def texts(self) -> list[str]:
        """The paths of the text files."""
        return [path for path, entry in self.entries.items() if entry.type == "file" and entry.text]

    def text(self, path: str) -> str:
        """The text of a file."""
        text = self.entries[path].text
        assert text is not None, path
        return text

    def looks(self, path: str) -> list[Look]:
        """Commands that show the entry, with their outputs."""
        entry, name = self.entries[path], quote(path)
        if entry.type == "dir":
            return [Look(f"ls {name}", lines(self.listing(path)))]
        if entry.type == "symlink":
            return [Look(f"readlink {name}", f"{entry.target}\n")]
        if not entry.text or len(entry.text) > 600:
            return [Look(f"ls {name}", f"{path}\n")]
        rows = entry.text.splitlines()
        return [
            Look(f"cat {name}", entry.text),
            Look(f"cat {name}", entry.text),
            Look(f"wc -l {name}", f"{len(rows)} {path}\n"),
            Look(f"wc -l < {name}", f"{len(rows)}\n"),
            Look(f"head -n 2 {name}", lines(rows[:2])),
            Look(f"tail -n 1 {name}", lines(rows[-1:])),
            Look(f"sort {name}", lines(sorted(rows, key=str.encode))),
            Look(f"stat -c %a {name}", f"{entry.mode:o}\n"),
        ]


def lines(rows: list[str]) -> str:
    """The rows, each ended by a newline."""
    return "".join(f"{row}\n" for row in rows)
