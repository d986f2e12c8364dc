"""Write hand-authored stub trajectories, to prove the trainer without a teacher or a container.

    python make_stubs.py --out stub_trajectories --copies 4

Reads   authoring/stubs/*.txt
Writes  <out>/*.json (schema.Trajectory, operator kind `stub`), <out>/manifest.json
Needs   nothing

The sessions in authoring/stubs/ were written by hand and never ran; no scenario belongs to them. They serve to check
the mask, the data path and an overfit. A model that was trained on them has learned nothing worth an evaluation.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

from pipeline import stage
from model.render import session_messages
from pipeline.files import write_record
from schema import HOME, Announcement, BadInputError, OperatorInfo, Step, Trajectory, canonical, sha256

STUBS = Path(__file__).parent / "authoring" / "stubs"
AXIS_NAMES = ("task", "provider", "announcement", "doc_depth", "difficulty")


@dataclass(frozen=True)
class Stub:
    """A session as one would see it on a terminal: lines that begin with `$ ` are commands, the rest is output."""

    name: str
    axes: str  # values of AXIS_NAMES
    announcement: Announcement
    session: str


def main(*, out: Path, copies: int, redo: bool) -> int:
    """Write every stub `copies` times."""
    if copies < 1:
        raise BadInputError(f"--copies is {copies}; write at least 1 of each")
    stubs = read_stubs()
    manifest = stage.begin(out, stage="make_stubs", flags={"copies": copies}, redo=redo)
    records = [trajectory(stub, copy) for stub in stubs for copy in range(copies)]
    for record in records:
        write_record(out, record)
    stage.finish(out, manifest, ids=[record.id for record in records], counts={"trajectories": len(records)})
    stage.print_summary({"out": str(out), "stubs": len(stubs), "copies": copies, "trajectories": len(records)})
    return stage.DONE


def read_stubs() -> list[Stub]:
    """The stubs in authoring/stubs: a head of `name: value` lines, an empty line, then the session.

    A name that comes twice has a value of two lines.
    """
    stubs = []
    for path in sorted(STUBS.glob("*.txt")):
        head, _, session = path.read_text(encoding="utf-8").partition("\n\n")
        values: dict[str, str] = {}
        for name, value in (line.split(": ", 1) for line in head.splitlines()):
            values[name] = f"{values[name]}\n{value}" if name in values else value
        announcement = Announcement(
            channel=values["axes"].split()[2], text=values["announcement"], place=values.get("place")
        )
        stubs.append(Stub(path.stem.partition("-")[2], values["axes"], announcement, session.rstrip("\n")))
    return stubs


def turns_of(session: str) -> list[tuple[str, str]]:
    """(command, output) pairs of a terminal transcript; an output ends in a newline unless it is empty."""
    turns: list[tuple[str, str]] = []
    for line in session.splitlines():
        if line.startswith("$ "):
            turns.append((line[2:], ""))
        else:
            command, output = turns[-1]
            turns[-1] = (command, f"{output}{line}\n")
    return turns


def trajectory(stub: Stub, copy: int) -> Trajectory:
    """The stub as a kept trajectory; its scenario id and hash are those of its own text."""
    axes = dict(zip(AXIS_NAMES, stub.axes.split(), strict=True))
    turns = turns_of(stub.session)
    terminal = turns[-1][0]
    return Trajectory(
        id=f"stub-{stub.name}-{copy}",
        scenario_id=f"stub-{stub.name}",
        scenario_hash=sha256(canonical([stub.axes, stub.announcement.text, stub.session])),
        axes=axes,
        operator=OperatorInfo(kind="stub", model="hand"),
        messages=session_messages(stub, [*turns[:-1], (terminal, None)]),
        steps=[
            Step(
                command=command,
                output=output,
                output_bytes=len(output.encode()),
                exit_code=0,
                cwd=HOME,
                duration_seconds=0.0,
            )
            for command, output in turns[:-1]
        ],
        terminal=terminal,
        verified=True,
        command_only=True,
        outcome="panic" if terminal.startswith("panic") else "exit",
        kept=True,
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--out", type=Path, required=True, help="directory for the trajectories")
    parser.add_argument("--copies", type=int, default=1, help="copies of each stub (default 1)")
    parser.add_argument("--redo", action="store_true", help="start over instead of comparing with the earlier run")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
