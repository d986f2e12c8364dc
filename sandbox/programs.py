"""Read the shell and sed programs in sandbox/sh, without their comments.

    from sandbox.programs import read_program

    read_program("enter.sh")  # the text that runs in a container

The files are commented for readers. Comments and blank lines are left out of what runs: the step wrapper is part of
every trajectory's record by its hash, which a better comment must not change.
"""

from pathlib import Path

PROGRAMS = Path(__file__).parent / "sh"


def read_program(name: str) -> str:
    """The text of one program, without the lines that are blank or hold only a comment.

    Only whole lines are left out: a `#` after other text stays, whatever it is. No program has a line inside quotes or
    a heredoc that is blank or begins with `#`.
    """
    lines = (PROGRAMS / name).read_text().splitlines(keepends=True)
    return "".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))
