"""Count the 13-grams of held-out scenarios that an adapter has read.

    python contamination.py --holdout split/holdout --data trajectories --out eval/run/overlap.json
    python contamination.py --holdout split/holdout --data trajectories --unread unread/holdout

Reads   <holdout>/*.json and <scenarios>/*.json (schema.Scenario), <data>/*.json (schema.Trajectory)
Writes  --out, which report.py shows beside that run's rates; --unread: the held-out scenarios with no text in what was
        read
Needs   nothing

A 13-gram is 13 words in a row (GPT-3, Brown et al. 2020, appendix C); a shorter text counts as a whole. Names, paths
and numbers are masked first, because new names would hide a copied sentence. A 13-gram with fewer than four words left
is not counted.

A scenario was read if a session of --data holds a 13-gram of its directives, its announcement, its provider's texts or
its commands. What the base was trained on is not known, so it is not counted.

Commands are counted a second time, each as a whole and however short: `rm N` has no 13-gram, but a session may hold
it. This count leaves no scenario out. Without --data the reference solutions of --scenarios stand for the sessions, and
only this count is made.
"""

import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline import stage
from authoring.templates.words import WORDS
from authoring.templates.world import masked
from pipeline.files import read_scenarios, read_trajectories, write_json, write_record
from pipeline.hidden import as_text
from records.overlap import CountedSessions
from schema import BadInputError, Scenario

GRAM_WORDS, LEAST_WORDS = 13, 4
EXAMPLES = 3
MASKED = WORDS[0]  # any name that masking knows
SEPARATOR = re.compile(r"\s*(&&|\|\||;)\s*")  # between two commands of one turn
COMPOUND = re.compile(r"\b(?:[a-z]+[-_])+N\b|\bN(?:[-_][a-z]+)+\b")  # a word and a name, as in names of programs
Grams = dict[str, set[tuple[str, ...]]]  # part of a scenario -> its 13-grams


def main(
    *,
    holdout: Path,
    data: Path | None,
    scenarios: Path | None,
    out: Path | None,
    unread: Path | None,
    partial: bool,
    redo: bool,
) -> int:
    """Count, print a table and one JSON line, and write the scenarios of which nothing was read."""
    if not (data or scenarios):
        raise BadInputError("--data: missing; name trajectories, or name scenarios with --scenarios")
    if unread and not data:
        raise BadInputError("--unread: needs the trajectories of --data")
    records = read_scenarios(holdout, partial=partial)
    wanted = {record.id: grams_of(record) for record in records}
    everything = union_of(wanted.values())
    figures: dict[str, Any] = {"holdout": str(holdout), "run_words": GRAM_WORDS, "shared": {}}
    left_out: set[str] = set()
    if data:
        rows = [row for row in read_trajectories(data, partial=partial, scenarios=scenarios) if row.kept]
        typed = [command for row in rows for command in row.commands]
        figures["sessions"] = CountedSessions.of((row.id, row.scenario_hash) for row in rows).model_dump()
        found = found_in(everything, (turn.content for row in rows for turn in row.messages))
        left_out = {name for name, grams in wanted.items() if unread and was_read(grams, found)}
        left = union_of(grams for name, grams in wanted.items() if name not in left_out)
        figures["shared"] = {"data": shared(left, found)}
    else:
        assert scenarios
        typed = [one for record in read_scenarios(scenarios, partial=partial) for one in record.reference_solution]
    kept = [record for record in records if record.id not in left_out]
    if unread:
        write_unread(unread, kept, holdout=holdout, redo=redo)
        print(f"{unread}: {len(kept)} of {len(records)} scenarios; of these", file=sys.stderr)
        figures |= {"left_out": sorted(left_out), "shared_by_all": {"data": shared(everything, found)}}
    figures["whole_commands"] = whole_commands(kept, typed)
    if out:
        try:
            write_json(out, figures)
        except OSError as error:
            if error.errno in stage.DISK_FULL:
                raise
            raise BadInputError(f"--out {out}: cannot be written ({error.strerror}); name another file") from error
    print_grams(figures["shared"])
    print_whole_commands(figures["whole_commands"])
    stage.print_summary(figures)
    return stage.DONE


def grams_of(scenario: Scenario) -> Grams:
    """The 13-grams of a scenario's parts, with the provider's name masked in them."""
    name = PurePosixPath(scenario.provider.path).name
    quoted = re.findall(r"'((?:[^']|'\"'\"')*)'", scenario.provider.source)
    said = [text.replace("'\"'\"'", "'") for text in quoted]
    around = [text.replace(name, MASKED) for text in said if not any(one in text for one in scenario.directives)]
    return {
        "directives": set().union(*map(grams_in, scenario.directives)),
        "announcements": grams_in(scenario.announcement.text.replace(name, MASKED)),
        "providers": set().union(*map(grams_in, around)),
        "commands": set().union(*map(grams_in, scenario.reference_solution)),
    }


def union_of(scenarios: Iterable[Grams]) -> Grams:
    """The 13-grams of several scenarios, by part."""
    parts: Grams = {"directives": set(), "announcements": set(), "providers": set(), "commands": set()}
    for grams in scenarios:
        for part, those in grams.items():
            parts[part] |= those
    return parts


def was_read(grams: Grams, found: set[tuple[str, ...]]) -> bool:
    """True if one of the 13-grams was found."""
    return any(those & found for those in grams.values())


def words_of(text: str) -> list[str]:
    """The words of the text, masked, in lower case, without punctuation around them."""
    text = COMPOUND.sub("N", masked(text)).lower()
    return [word for part in text.split() if (word := part.strip(".,;:?!'\"()[]*#=-"))]


def grams_in(text: str) -> set[tuple[str, ...]]:
    """Each 13-gram of a text, or all its words where there are fewer; none with fewer than four unmasked words."""
    words = words_of(text)
    grams = {tuple(words[at : at + GRAM_WORDS]) for at in range(max(1, len(words) - GRAM_WORDS + 1))}
    return {gram for gram in grams if len([word for word in gram if word not in ("n", "0")]) >= LEAST_WORDS}


def found_in(wanted: Grams, texts: Iterable[str]) -> set[tuple[str, ...]]:
    """The wanted 13-grams that occur in `texts`."""
    missing = set().union(*wanted.values())
    lengths, all_of_them = sorted({len(gram) for gram in missing}), set(missing)
    for text in texts:
        words = words_of(text)
        for length in lengths:
            missing.difference_update(tuple(words[at : at + length]) for at in range(len(words) - length + 1))
    return all_of_them - missing


def shared(wanted: Grams, found: set[tuple[str, ...]]) -> dict[str, dict[str, Any]]:
    """For each part: how many 13-grams it has, how many of them were found, and examples."""
    return {
        part: {
            "runs": len(grams),
            "shared": len(grams & found),
            "examples": [" ".join(gram) for gram in sorted(grams & found)[:EXAMPLES]],
        }
        for part, grams in wanted.items()
    }


def whole_commands(records: Sequence[Scenario], typed: Iterable[str]) -> dict[str, Any]:
    """How many commands of the records' solutions `typed` holds as wholes, masked, of any length.

    Returns counts of distinct commands, of those without a 13-gram, and of solutions; and the mean share of a solution.
    """
    seen = set().union(*(runs_of(turn) for turn in set(typed)))
    solutions = [[whole(command) for command in record.reference_solution] for record in records]
    shares = [sum(one in seen for one in solution) / len(solution) for solution in solutions]
    distinct = {one for solution in solutions for one in solution}
    short = {whole(one) for record in records for one in record.reference_solution if not grams_in(one)}
    return {
        "distinct": len(distinct),
        "distinct_read": len(distinct & seen),
        "distinct_short": len(short),
        "distinct_short_read": len(short & seen),
        "solutions": len(solutions),
        "solutions_none_read": shares.count(0.0),
        "solutions_all_read": shares.count(1.0),
        "mean_share_of_a_solution": round(sum(shares) / len(shares), 4) if shares else None,
    }


def print_grams(counts: dict[str, Any]) -> None:
    """Print what `shared` counted as a table on stderr; nothing where there is nothing."""
    for name, parts in counts.items():
        print(f"{'read by':10s}{'part':16s}{'13-grams':>10s}{'read':>8s}", file=sys.stderr)
        for part, row in parts.items():
            line = f"{name:10s}{part:16s}{row['runs']:10d}{row['shared']:8d}  {row['examples'] or ''}"
            print(as_text(line), file=sys.stderr)


def print_whole_commands(counts: dict[str, Any]) -> None:
    """Print what `whole_commands` counted as two lines on stderr."""
    print("commands of solutions, whole and of any length, that a session holds:", file=sys.stderr)
    print(
        "  {distinct_read} of {distinct} distinct ones ({distinct_short_read} of {distinct_short} without a 13-gram); "
        "every command of {solutions_all_read} and none of {solutions_none_read} of {solutions} solutions; "
        "mean share of a solution: {mean_share_of_a_solution}".format(**counts),
        file=sys.stderr,
    )


def runs_of(turn: str) -> set[str]:
    """Each command of a turn and each run of them, masked: `a; b` gives `a`, `b` and `a;b`."""
    parts = _parts(turn)
    ends = range(1, len(parts) + 1, 2)
    return {"".join(parts[start:end]) for start in range(0, len(parts), 2) for end in ends if end > start}


def whole(command: str) -> str:
    """A command as `runs_of` writes it."""
    return "".join(_parts(command))


def _parts(turn: str) -> list[str]:
    """The masked commands of a turn, and in every second place what separates them."""
    return SEPARATOR.split(masked(re.sub(r"\s*\n\s*", ";", turn.strip())))


def write_unread(out: Path, unread: list[Scenario], *, holdout: Path, redo: bool) -> None:
    """Write the unread scenarios of `holdout`. Raises BadInputError where there is none."""
    if not unread:
        raise BadInputError(f"{holdout}: something of every scenario was read before; hold out others")
    ids = [record.id for record in unread]
    flags = {"by": stage.split_kind(holdout), "unread": ids}
    manifest = stage.begin(out, stage="contamination", flags=flags, inputs=[holdout], redo=redo)
    for record in unread:
        write_record(out, record)
    stage.finish(out, manifest, ids=ids, counts={"scenarios": len(ids)})


def parser() -> ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--holdout", type=Path, required=True, help="held-out scenarios (split.py)")
    parser.add_argument("--data", type=Path, help="trajectories that an adapter is trained on")
    parser.add_argument(
        "--scenarios",
        type=Path,
        help="use only the sessions of --data in these (default all), or these solutions alone",
    )
    parser.add_argument("--out", type=Path, help="JSON file to write (default none)")
    parser.add_argument(
        "--unread", type=Path, help="directory for the held-out scenarios with no text in what was read (default none)"
    )
    parser.add_argument("--partial", action="store_true", help="take unfinished input directories")
    parser.add_argument("--redo", action="store_true", help="start over with --unread instead of comparing")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
