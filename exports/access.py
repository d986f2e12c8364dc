"""Say what a text does to a path: the record that the readers of shell and Python text share."""

import posixpath
import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["read", "write", "delete", "search", "run", "url", "define"]
MAX_ROUNDS = 200  # of all loops in a text; a loop beyond has one


@dataclass(frozen=True)
class Access:
    """One thing that a text does. `what` is a path, or the text of a search, a URL, or a name that is defined."""

    kind: Kind
    what: str
    by: str  # program or tool
    content: str = ""  # text that is written, where it is known: also the script of `sed -i`


def normal(path: str) -> str:
    """A path without `.`, `..` and repeated slashes where that can be known.

    A home counts as a directory right below `/`, as /root is: of the places that `~/..` may be, the one that withheld
    files and the system's lie in.
    """
    path = re.sub(r"^\$\{?HOME\}?(?=/|$)", "~", path)
    home, _, below = path.partition("/")
    if re.fullmatch(r"~\w*", home) and posixpath.normpath(below).split("/")[0] == "..":
        path = f"/home/{below}"
    return posixpath.normpath(path).replace("//", "/") if path else path
