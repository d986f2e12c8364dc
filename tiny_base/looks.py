"""Answer the commands that only look at a world of fixtures, without running one.

    from tiny_base.looks import Step, World

Reads   nothing
Writes  nothing
Needs   nothing

The corpus of the tiny base is written with it: listings, contents and counts as busybox would print them.
"""

import random
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from authoring.templates.world import directory, quote
from schema import HOME, Fixture


class Step(NamedTuple):
    """A command and what came back."""

    command: str
    output: str


@dataclass
class World:
    """The home directory as fixtures, changed as the work goes on; answers the commands that only look."""

    entries: dict[str, Fixture] = field(default_factory=dict)

    def add(self, fixtures: list[Fixture]) -> None:
        """Lay the fixtures and the directories above them."""
        for entry in fixtures:
            path = entry.path.removeprefix(HOME + "/")
            for parent in PurePosixPath(path).parents:
                if str(parent) != "." and str(parent) not in self.entries:
                    self.entries[str(parent)] = directory(str(parent))
            self.entries[path] = entry

    def drop(self, paths: list[str]) -> None:
        """Remove the paths and what lies below them."""
        for path in paths:
            for known in [known for known in self.entries if known == path or known.startswith(path + "/")]:
                del self.entries[known]

    def listing(self, path: str = "") -> list[str]:
        """The names in a directory as `ls` sorts them; hidden ones left out."""
        parent = path or "."
        names = [PurePosixPath(entry).name for entry in self.entries if str(PurePosixPath(entry).parent) == parent]
        return sorted((name for name in names if not name.startswith(".")), key=str.encode)

    def long_listing(self) -> str:
        """What `ls -la` prints for the home directory."""
        rows = ["total 8", *(f"drwxr-xr-x    2 operator operator {40:9} Jan  1 00:00 {name}" for name in (".", ".."))]
        for name in self.listing():
            entry = self.entries[name]
            kind = {"dir": "d", "symlink": "l"}.get(entry.type, "-")
            mode = "".join(bit if entry.mode >> (8 - at) & 1 else "-" for at, bit in enumerate("rwxrwxrwx"))
            size = len(entry.content()) if kind == "-" else 40
            arrow = f" -> {entry.target}" if kind == "l" else ""
            rows.append(f"{kind}{mode}    1 operator operator {size:9} Jan  1 00:00 {name}{arrow}")
        return lines(rows)

    def home(self, rng: random.Random) -> Step:
        """A look at the home directory."""
        if rng.random() < 0.2:
            return Step("ls -la", self.long_listing())
        if rng.random() < 0.1:
            return Step("ls -a", lines([".", "..", *self.listing()]))
        return Step("ls", lines(self.listing()))

    def texts(self) -> list[str]:
        """The paths of the text files."""
        return [path for path, entry in self.entries.items() if entry.type == "file" and entry.text]

    def text(self, path: str) -> str:
        """The text of a file."""
        text = self.entries[path].text
        assert text is not None, path
        return text

    def looks(self, path: str) -> list[Step]:
        """What one may type to look at the entry, with the output."""
        entry, name = self.entries[path], quote(path)
        if entry.type == "dir":
            return [Step(f"ls {name}", lines(self.listing(path)))]
        if entry.type == "symlink":
            return [Step(f"readlink {name}", f"{entry.target}\n")]
        if not entry.text or len(entry.text) > 600:
            return [Step(f"ls {name}", f"{path}\n")]
        rows = entry.text.splitlines()
        return [
            Step(f"cat {name}", entry.text),
            Step(f"cat {name}", entry.text),
            Step(f"wc -l {name}", f"{len(rows)} {path}\n"),
            Step(f"wc -l < {name}", f"{len(rows)}\n"),
            Step(f"head -n 2 {name}", lines(rows[:2])),
            Step(f"tail -n 1 {name}", lines(rows[-1:])),
            Step(f"sort {name}", lines(sorted(rows, key=str.encode))),
            Step(f"stat -c %a {name}", f"{entry.mode:o}\n"),
        ]


def lines(rows: list[str]) -> str:
    """The rows, each ended by a newline."""
    return "".join(f"{row}\n" for row in rows)
