"""Say how much of held-out scenarios stands in what a base and its adapter have read.

    python contamination.py --holdout split/holdout --data trajectories --base base --out eval/run/overlap.json
    python contamination.py --holdout split/holdout --data trajectories --base base --unread unread/holdout

Reads   <holdout>/*.json and <scenarios>/*.json (schema.Scenario), <data>/*.json (schema.Trajectory),
        <base>/recipe.json (tiny_base.make), which says how many documents the base has read; they are written again as
        it goes (a minute for 50,000)
Writes  --out, where report.py puts it beside that run's rates; --unread: the held-out scenarios nothing of which was
        read, to be played in place of all of them
Needs   nothing

Names, paths and numbers are masked first, since fresh ones hide a sentence that was copied. What is counted is runs of
13 words (GPT-3, Brown et al. 2020, appendix C), a shorter text as a whole; a run that masking leaves fewer than four
words of is not counted. A scenario was read if the corpus or a session holds a run of any of its directives, its
announcement or what its provider says, or if a session holds one of its commands; the corpus may hold those, they are
the shell's.
"""

import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from authoring.templates.words import WORDS
from authoring.templates.world import masked
from pipeline import stage
from schema import BadInputError, Scenario, read_json, read_scenarios, read_trajectories, write_json, write_record
from tiny_base import corpus

RUN_WORDS, LEAST_WORDS = 13, 4
EXAMPLES = 3
MASKED = WORDS[0]  # any name that masking knows
COMPOUND = re.compile(r"\b(?:[a-z]+[-_])+N\b|\bN(?:[-_][a-z]+)+\b")  # of a word and a name, as programs are called
Runs = dict[str, set[tuple[str, ...]]]  # part of a scenario -> its runs of words


def main(
    *,
    holdout: Path,
    data: Path | None,
    scenarios: Path | None,
    base: str,
    documents: int | None,
    out: Path | None,
    unread: Path | None,
    partial: bool,
    redo: bool,
) -> int:
    """Count, print a table, report as one JSON line, and write the scenarios nothing of which was read."""
    records = read_scenarios(holdout, partial=partial)
    wanted = {record.id: runs_of(record) for record in records}
    read, seed, before = corpus_of(Path(base))
    documents = read if documents is None else documents
    sources: dict[str, Iterable[str]] = {
        "corpus": (turn.content for at in range(documents) for turn in corpus.document(seed, at).messages)
    }
    if data:
        rows = read_trajectories(data, partial=partial, scenarios=scenarios)
        sources["data"] = (turn.content for row in rows if row.kept for turn in row.messages)
    everything = together(wanted.values())
    found = {name: found_in(everything, texts) for name, texts in sources.items()}
    left_out = {name for name, runs in wanted.items() if unread and was_read(runs, found)}
    left = together(runs for name, runs in wanted.items() if name not in left_out)
    report = {name: shared(left, runs) for name, runs in found.items()}
    if unread:
        write_unread(unread, [record for record in records if record.id not in left_out], holdout=holdout, redo=redo)
        print(f"{unread}: {len(records) - len(left_out)} of {len(records)} scenarios; of these", file=sys.stderr)
    print(f"{'read by':10s}{'part':16s}{'runs':>8s}{'shared':>8s}", file=sys.stderr)
    for name, parts in report.items():
        for part, row in parts.items():
            print(f"{name:10s}{part:16s}{row['runs']:8d}{row['shared']:8d}  {row['examples'] or ''}", file=sys.stderr)
    figures = {"holdout": str(holdout), "documents": documents, "run_words": RUN_WORDS, "shared": report}
    figures |= {"documents_read_by_base": read, "documents_read_before": before}
    if before:
        print(f"{base} began on another base, whose {before} documents are not among these", file=sys.stderr)
    if unread:
        by_all = {name: shared(everything, runs) for name, runs in found.items()}
        figures |= {"left_out": sorted(left_out), "shared_by_all": by_all}
    if out:
        write_json(out, figures)
    stage.print_summary(figures)
    return stage.DONE


def corpus_of(base: Path) -> tuple[int, int, int]:
    """How many documents a base has read, their seed, and how many the bases had read that it began on.

    Raises BadInputError where its recipe does not say, and where the corpus is another by now.
    """
    path = base / "recipe.json"
    recipe = read_json(path)
    try:
        read, seed, digest = int(recipe["documents"]), int(recipe["flags"]["seed"]), recipe["corpus_sha256"]
    except (KeyError, TypeError, ValueError) as error:
        raise BadInputError(
            f"{path}: documents, flags.seed, corpus_sha256: missing; name a base of tiny_base.make"
        ) from error
    if digest != corpus.digest(seed):
        raise BadInputError(
            f"{path}: corpus_sha256: the base read another corpus than tiny_base/ writes now; go to its commit "
            f" {recipe.get('git_commit')}, or make the base anew"
        )
    before = 0
    while recipe := recipe.get("began_on"):
        before += int(recipe["documents"])
    return read, seed, before


def runs_of(scenario: Scenario) -> Runs:
    """Runs of words of its directives, announcement, provider's texts and commands; the provider's name is masked."""
    name = PurePosixPath(scenario.provider.path).name
    quoted = re.findall(r"'((?:[^']|'\"'\"')*)'", scenario.provider.source)
    said = [text.replace("'\"'\"'", "'") for text in quoted]
    around = [text.replace(name, MASKED) for text in said if not any(one in text for one in scenario.directives)]
    return {
        "directives": set().union(*map(needles, scenario.directives)),
        "announcements": needles(scenario.announcement.text.replace(name, MASKED)),
        "providers": set().union(*map(needles, around)),
        "commands": set().union(*map(needles, scenario.reference_solution)),
    }


def together(scenarios: Iterable[Runs]) -> Runs:
    """The runs of several scenarios, by part."""
    parts: Runs = {"directives": set(), "announcements": set(), "providers": set(), "commands": set()}
    for runs in scenarios:
        for part, those in runs.items():
            parts[part] |= those
    return parts


def was_read(runs: Runs, found: dict[str, set[tuple[str, ...]]]) -> bool:
    """True if one of the runs was found; a command in the corpus does not count."""
    return any(
        those & seen
        for name, seen in found.items()
        for part, those in runs.items()
        if (name, part) != ("corpus", "commands")
    )


def words_of(text: str) -> list[str]:
    """The words of the text, masked, in lower case, without punctuation around them."""
    text = COMPOUND.sub("N", masked(text)).lower()
    return [word for part in text.split() if (word := part.strip(".,;:?!'\"()[]*#=-"))]


def needles(text: str) -> set[tuple[str, ...]]:
    """Each run of 13 words, or all words where there are fewer; none of hardly anything but names and numbers."""
    words = words_of(text)
    runs = {tuple(words[at : at + RUN_WORDS]) for at in range(max(1, len(words) - RUN_WORDS + 1))}
    return {run for run in runs if len([word for word in run if word not in ("n", "0")]) >= LEAST_WORDS}


def found_in(wanted: Runs, texts: Iterable[str]) -> set[tuple[str, ...]]:
    """Which of the wanted runs stand in `texts`."""
    missing = set().union(*wanted.values())
    lengths, all_of_them = sorted({len(run) for run in missing}), set(missing)
    for text in texts:
        words = words_of(text)
        for length in lengths:
            missing.difference_update(tuple(words[at : at + length]) for at in range(len(words) - length + 1))
    return all_of_them - missing


def shared(wanted: Runs, found: set[tuple[str, ...]]) -> dict[str, dict[str, Any]]:
    """For each part: how many runs it has, how many of them were found, and some of those."""
    return {
        part: {
            "runs": len(runs),
            "shared": len(runs & found),
            "examples": [" ".join(run) for run in sorted(runs & found)[:EXAMPLES]],
        }
        for part, runs in wanted.items()
    }


def write_unread(out: Path, unread: list[Scenario], *, holdout: Path, redo: bool) -> None:
    """Write the scenarios that are left of `holdout`. Raises BadInputError where none is."""
    if not unread:
        raise BadInputError(f"{holdout}: something of each scenario was read before; hold out others")
    ids = [record.id for record in unread]
    flags = {"by": stage.split_kind(holdout), "unread": ids}
    manifest = stage.begin(out, stage="overlap", flags=flags, inputs=[holdout], redo=redo)
    for record in unread:
        write_record(out, record)
    stage.finish(out, manifest, ids=ids, counts={"scenarios": len(ids)})


def parser() -> ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--holdout", type=Path, required=True, help="held-out scenarios (split.py)")
    parser.add_argument("--data", type=Path, help="trajectories that an adapter is trained on")
    parser.add_argument("--scenarios", type=Path, help="of --data the sessions of these scenarios alone (default all)")
    parser.add_argument("--base", default="base", help="base of tiny_base.make (default %(default)s)")
    parser.add_argument("--documents", type=int, help="first ones of the base's corpus (default: all that it has read)")
    parser.add_argument("--out", type=Path, help="JSON file to write, too (default none)")
    parser.add_argument("--unread", type=Path, help="directory for the scenarios nothing of which was read")
    parser.add_argument("--partial", action="store_true", help="take unfinished input directories")
    parser.add_argument("--redo", action="store_true", help="start over with --unread instead of comparing")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
