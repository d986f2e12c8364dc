"""Know shell programs by what they do with their arguments: the words of programs.txt, by kind."""

from pathlib import Path


def read_kinds(name: str) -> dict[str, frozenset[str]]:
    """The words of each kind in a file beside this one; a line is a kind and its words."""
    kinds: dict[str, set[str]] = {}
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        kind, *words = line.split()
        if kind != "#":
            kinds.setdefault(kind, set()).update(words)
    return {kind: frozenset(words) for kind, words in kinds.items()}


PROGRAMS = read_kinds("programs.txt")
WRAPPERS = PROGRAMS["wrappers"]
SHELLS = PROGRAMS["shells"]
LOGINS = PROGRAMS["logins"]
SPEAKS = PROGRAMS["speaks"]
LISTS = PROGRAMS["lists"]
SEARCHES = PROGRAMS["searches"]
DELETES = PROGRAMS["deletes"]
WRITES = PROGRAMS["writes"]
MARKS = PROGRAMS["marks"]
COPIES = PROGRAMS["copies"]
RUNS = PROGRAMS["runs"]
CONTAINERS = PROGRAMS["containers"]
CONTAINER_OPTIONS = PROGRAMS["container-options"]
SSH_OPTIONS = PROGRAMS["ssh-options"]  # that take a value
