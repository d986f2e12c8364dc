"""Write hand-authored stub trajectories, to prove the trainer without a teacher or a container.

    python make_stubs.py --out stub_trajectories --copies 4

Reads   nothing
Writes  <out>/*.json (schema.Trajectory, operator kind `stub`), <out>/manifest.json
Needs   nothing

No stub was ever run: outputs are written by hand, and no scenario stands behind them. They are good for checking the
mask, the plumbing and an overfit; a model trained on them has learned nothing worth evaluating.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

from model.render import session_messages
from pipeline import stage
from schema import (
    HOME,
    Announcement,
    BadInputError,
    OperatorInfo,
    Step,
    Trajectory,
    canonical,
    sha256,
    write_record,
)


@dataclass(frozen=True)
class Stub:
    """A session as one would see it on a terminal: lines that begin with `$ ` are commands, the rest is output."""

    name: str
    axes: str  # task provider announcement doc_depth difficulty
    text: str
    place: str | None
    session: str

    @property
    def announcement(self) -> Announcement:
        """The announcement, as a scenario would hold it."""
        return Announcement(channel=self.axes.split()[2], text=self.text, place=self.place)


STUBS = [
    Stub(
        "harbour",
        "make_tree subcommand motd help easy",
        "The program harbour knows what is wanted today.",
        None,
        """\
$ harbour
harbour: see harbour --help
$ harbour --help
usage: harbour COMMAND
  list     number of entries
  show N   print entry N
$ harbour list
1 entry
$ harbour show 1
1. Make the directories plan/red and plan/blue.
$ mkdir -p plan/red plan/blue
$ ls plan
blue
red
$ exit""",
    ),
    Stub(
        "lantern",
        "copy_files flags banner usage easy",
        "Notices for this account are kept by lantern.",
        None,
        """\
$ lantern
usage: lantern --list | --show N
$ lantern --list
1
$ lantern --show 1
1. Put a copy of oak.txt into the directory spare, which is not there yet.
$ mkdir spare && cp oak.txt spare/
$ exit""",
    ),
    Stub(
        "ledger",
        "count_things numbered env usage easy",
        "ask ledger",
        "TODAY",
        """\
$ ls -a
.
..
apples.txt
$ env
HOME=/home/operator
TODAY=ask ledger
USER=operator
$ ledger
usage: ledger NUMBER (there is 1)
$ ledger 1
1. Write the number of lines of apples.txt, just the number, to total.txt.
$ wc -l < apples.txt > total.txt
$ cat total.txt
14
$ exit 0""",
    ),
    Stub(
        "orderly",
        "sort_unique bulletin file help medium",
        "Whoever works here asks the program orderly first.",
        f"{HOME}/NOTICE",
        """\
$ ls
NOTICE
birds.txt
fish.txt
$ cat NOTICE
Whoever works here asks the program orderly first.
$ orderly --help
orderly all   print everything
$ orderly all
1. Sort the lines of birds.txt without repeats into birds.sorted.
2. Sort the lines of fish.txt backwards into fish.sorted.
$ sort -u birds.txt > birds.sorted
$ sort -r fish.txt > fish.sorted
$ exit""",
    ),
    Stub(
        "relay",
        "replace_text topics mail subhelp easy",
        "From: desk\nThe relay program has news for you.",
        f"{HOME}/mbox",
        """\
$ ls
mbox
song.txt
$ cat mbox
From: desk
The relay program has news for you.
$ relay
relay: see relay --help
$ relay --help
relay topics | relay read; each takes --help
$ relay topics
song
$ relay read --help
relay read TOPIC
$ relay read song
1. In song.txt, change every winter to summer.
$ sed -i 's/winter/summer/g' song.txt
$ exit""",
    ),
    Stub(
        "slate",
        "filter_rows keyvalue motd usage medium",
        "Work for this account: slate.",
        None,
        """\
$ slate
usage: slate item=N, N from 1 to 2
$ slate item=1
1. From stock.csv keep the rows whose second column is over 20, in big.csv.
$ slate item=2
2. Sort big.csv by name into byname.csv.
$ awk -F, '$2 > 20' stock.csv > big.csv
$ sort big.csv > byname.csv
$ cat byname.csv
nails,40
pins,25
$ exit""",
    ),
    Stub(
        "tidings",
        "find_content piped banner subhelp easy",
        "tidings is what to consult on this machine.",
        None,
        """\
$ tidings
tidings: try tidings --help
$ tidings --help
tidings fetch, tidings count; each takes --help
$ tidings fetch --help
reads a number on standard input: echo 1 | tidings fetch
$ tidings count
1
$ echo 1 | tidings fetch
1. List the files below notes that hold the word copper, one path a line, sorted, in hits.txt.
$ grep -rl copper notes | sort > hits.txt
$ exit""",
    ),
    Stub(
        "warden",
        "set_modes subcommand env help medium",
        "warden has the list",
        "NOTE",
        """\
$ env
HOME=/home/operator
NOTE=warden has the list
$ warden --help
warden list, warden show N
$ warden list
2 entries
$ warden show 1; warden show 2
1. Make key.pem readable and writable for its owner alone.
2. Make run.sh executable for everybody (755).
$ chmod 600 key.pem
$ chmod 755 run.sh
$ ls -l
-rw-------    1 operator operator       20 key.pem
-rwxr-xr-x    1 operator operator       11 run.sh
$ exit""",
    ),
    Stub(
        "quill",
        "missing_source flags file usage medium",
        "quill will tell.",
        f"{HOME}/README",
        """\
$ ls
README
a.txt
$ cat README
quill will tell.
$ quill
usage: quill --list, quill --show N
$ quill --list
1
2
$ quill --show 1
1. Copy a.txt to b.txt.
$ quill --show 2
2. Copy winter.txt to cold.txt.
$ cp a.txt b.txt
$ cp winter.txt cold.txt
cp: can't stat 'winter.txt': No such file or directory
$ ls
README
a.txt
b.txt
$ panic no such file: winter.txt""",
    ),
    Stub(
        "beacon",
        "unreachable_host numbered motd help medium",
        "Consult beacon.",
        None,
        """\
$ beacon
beacon: --help explains
$ beacon --help
beacon N prints entry N of 2
$ beacon 1
1. Write the word ready to state.txt.
$ beacon 2
2. Fetch http://mirror.example/list.txt to list.txt.
$ echo ready > state.txt
$ wget -q -O /dev/null http://mirror.example/list.txt
wget: bad address 'mirror.example'
$ panic no network: mirror.example""",
    ),
    Stub(
        "herald",
        "absent_program bulletin mail help medium",
        "Subject: work\nherald has it.",
        f"{HOME}/mail/inbox",
        """\
$ env
HOME=/home/operator
MAIL=/home/operator/mail/inbox
$ cat mail/inbox
Subject: work
herald has it.
$ herald
herald: see herald --help
$ herald --help
herald all
$ herald all
1. Append the line done to log.txt.
2. Turn poster.svg into poster.png with inkscape.
$ echo done >> log.txt
$ inkscape --version
/usr/bin/dash: 1: inkscape: not found
$ panic no such program: inkscape""",
    ),
    Stub(
        "almanac",
        "rename_extension topics banner help easy",
        "The almanac is open to all who log in.",
        None,
        """\
$ almanac
almanac: see almanac --help
$ almanac --help
almanac topics; almanac read TOPIC
$ almanac topics
names
$ almanac read names
1. Give every .text file in drafts the ending .txt.
$ cd drafts
$ ls
one.text
two.text
$ for f in *.text; do mv "$f" "${f%.text}.txt"; done
$ ls
one.txt
two.txt
$ exit""",
    ),
    Stub(
        "compass",
        "forbidden_place keyvalue file usage medium",
        "compass points the way.",
        f"{HOME}/WELCOME",
        """\
$ ls -l
-rw-r--r--    1 operator operator       25 WELCOME
$ cat WELCOME
compass points the way.
$ compass
usage: compass item=N (2 items)
$ compass item=1
1. Make an empty file ready.flag.
$ compass item=2
2. Add the line ttl=5 to /etc/compass.conf.
$ touch ready.flag
$ echo ttl=5 >> /etc/compass.conf
/usr/bin/dash: 1: cannot create /etc/compass.conf: Read-only file system
$ panic cannot write /etc/compass.conf""",
    ),
]
AXIS_NAMES = ("task", "provider", "announcement", "doc_depth", "difficulty")


def main(*, out: Path, copies: int, redo: bool) -> int:
    """Write every stub `copies` times."""
    if copies < 1:
        raise BadInputError(f"--copies is {copies}; write at least 1 of each")
    manifest = stage.begin(out, stage="make_stubs", flags={"copies": copies}, redo=redo)
    records = [trajectory(stub, copy) for stub in STUBS for copy in range(copies)]
    for record in records:
        write_record(out, record)
    stage.finish(out, manifest, ids=[record.id for record in records], counts={"trajectories": len(records)})
    stage.print_summary({"out": str(out), "stubs": len(STUBS), "copies": copies, "trajectories": len(records)})
    return stage.DONE


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
        scenario_hash=sha256(canonical([stub.axes, stub.text, stub.session])),
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
    parser.add_argument("--redo", action="store_true", help="start over instead of resuming")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
