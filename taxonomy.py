"""Hold the five axes of a scenario as pure data: no model, no container.

    python taxonomy.py            # print the axes and how many combinations are legal

Reads   nothing
Writes  nothing
Needs   nothing

A combination is one value per axis. `legal` says which ones may be authored; the sampler that draws
them evenly lives in generate.py. A taxonomy of a user's own adds values to these (schema.OwnTaxonomy).
"""

import argparse
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Terminal = Literal["exit", "panic"]


@dataclass(frozen=True)
class Archetype:
    """One value of the task axis: a kind of operator work, its family and the terminal it deserves."""

    name: str
    family: str
    summary: str
    terminal: Terminal = "exit"


@dataclass(frozen=True)
class Difficulty:
    """What a difficulty means to an author: counts, and whether file names are awkward."""

    name: str
    directives: int
    distractors: int
    awkward_names: bool


@dataclass(frozen=True)
class Combination:
    """One value per axis; what an author is asked to make a scenario of."""

    task: str
    provider: str
    announcement: str
    doc_depth: str
    difficulty: str


ARCHETYPES: dict[str, Archetype] = {
    archetype.name: archetype
    for archetype in [
        Archetype("make_tree", "files", "create a directory tree with the named files in it"),
        Archetype("copy_files", "files", "copy named files to another place"),
        Archetype("sort_by_kind", "files", "move files into directories by their kind"),
        Archetype("delete_matching", "files", "delete the files that match, keep the rest"),
        Archetype("find_names", "search", "list the paths whose name matches"),
        Archetype("find_content", "search", "list the files that contain a word"),
        Archetype("extract_lines", "search", "save the matching lines of a file"),
        Archetype("replace_text", "text", "replace a word in a file"),
        Archetype("sort_unique", "text", "sort lines and drop repeats"),
        Archetype("change_case", "text", "translate characters of a file"),
        Archetype("take_lines", "text", "save the first, last or middle lines of a file"),
        Archetype("cut_columns", "tables", "save some columns of a table"),
        Archetype("filter_rows", "tables", "save the rows of a table that satisfy a condition"),
        Archetype("join_tables", "tables", "combine two tables or files"),
        Archetype("count_things", "counting", "count lines, words, files or matches"),
        Archetype("sum_column", "counting", "add up a column of numbers"),
        Archetype("most_frequent", "counting", "rank values by how often they occur"),
        Archetype("set_modes", "permissions", "change the modes of files and directories"),
        Archetype("make_links", "permissions", "create symbolic links"),
        Archetype("repair_links", "permissions", "point wrong links at the right target"),
        Archetype("pack_archive", "archives", "pack files into an archive"),
        Archetype("unpack_archive", "archives", "unpack an archive to a place"),
        Archetype("squeeze_files", "archives", "compress or decompress single files"),
        Archetype("set_config", "configuration", "set values in a configuration file"),
        Archetype("trim_config", "configuration", "remove or comment out settings"),
        Archetype("rename_extension", "renames", "change the extension of many files"),
        Archetype("rename_prefix", "renames", "add or strip a prefix of many names"),
        Archetype("compare_files", "comparison", "find what differs between two files or directories"),
        Archetype("checksum_files", "comparison", "save or check checksums of files"),
        Archetype("drop_repeats", "comparison", "drop or count repeats in one or two files"),
        Archetype("split_file", "splitting", "split a file by lines, words, columns or bytes"),
        Archetype("merge_lists", "splitting", "merge two lists in order"),
        Archetype("reshape_columns", "splitting", "change separators and the layout of columns"),
        Archetype("back_up", "upkeep", "keep a copy before an edit, or bring one back"),
        Archetype("rotate_logs", "upkeep", "put logs aside and start them anew"),
        Archetype("lay_out_release", "upkeep", "lay out a release with its modes and links"),
        Archetype("number_names", "naming", "make names with running numbers"),
        Archetype("path_parts", "naming", "take paths apart, or make what they need"),
        Archetype("index_files", "naming", "list files with their sizes or counts"),
        Archetype("work_through_list", "naming", "do the same to every file of a list"),
        Archetype("missing_source", "files", "work on a source that is not there", "panic"),
        Archetype("forbidden_place", "permissions", "write where the operator may not", "panic"),
        Archetype("absent_program", "archives", "use a program that is not installed", "panic"),
        Archetype("unreachable_host", "configuration", "fetch something over a network that is not there", "panic"),
        Archetype("broken_archive", "archives", "unpack an archive that is damaged", "panic"),
    ]
}

# How each provider kind is asked for its directives; the doc depths it can carry.
PROVIDERS: dict[str, tuple[str, ...]] = {
    "subcommand": ("usage", "help", "subhelp"),  # P list; P show 2
    "flags": ("usage", "help"),  # P --list; P --show 2
    "numbered": ("usage", "help"),  # P 2
    "bulletin": ("usage", "help"),  # P all
    "topics": ("usage", "help", "subhelp"),  # P topics; P read NAME
    "keyvalue": ("usage", "help"),  # P item=2
    "piped": ("usage", "help", "subhelp"),  # echo 2 | P fetch
}
ANNOUNCEMENTS: tuple[str, ...] = ("motd", "banner", "env", "file", "mail")
DOC_DEPTHS: dict[str, str] = {
    "usage": "a bare call prints one usage line that says it all",
    "help": "a bare call points at --help, which says it all",
    "subhelp": "a bare call points at --help, which points at the help of each subcommand",
}
DIFFICULTIES: dict[str, Difficulty] = {
    difficulty.name: difficulty
    for difficulty in [
        Difficulty("easy", directives=1, distractors=1, awkward_names=False),
        Difficulty("medium", directives=2, distractors=2, awkward_names=False),
        Difficulty("hard", directives=3, distractors=4, awkward_names=True),
    ]
}
AXES: dict[str, tuple[str, ...]] = {
    "task": tuple(ARCHETYPES),
    "provider": tuple(PROVIDERS),
    "announcement": ANNOUNCEMENTS,
    "doc_depth": tuple(DOC_DEPTHS),
    "difficulty": tuple(DIFFICULTIES),
}


@dataclass(frozen=True)
class Taxonomy:
    """The values that scenarios may have: archetypes, providers with their doc depths, announcement channels."""

    archetypes: Mapping[str, Archetype]
    providers: Mapping[str, tuple[str, ...]]
    announcements: tuple[str, ...]

    def axes(self) -> dict[str, tuple[str, ...]]:
        """The values of each axis."""
        own = {"task": tuple(self.archetypes), "provider": tuple(self.providers), "announcement": self.announcements}
        return {**AXES, **own}


SHIPPED = Taxonomy(ARCHETYPES, PROVIDERS, ANNOUNCEMENTS)


def legal(combination: Combination, known: Taxonomy = SHIPPED) -> bool:
    """True when every value is known, the provider can carry the doc depth and a blocked task has two directives.

    A blocked scenario needs one directive that can be done and one that cannot, so it is never `easy`.
    """
    if any(getattr(combination, axis) not in values for axis, values in known.axes().items()):
        return False
    blocked = known.archetypes[combination.task].terminal == "panic"
    if blocked and DIFFICULTIES[combination.difficulty].directives < 2:
        return False
    return combination.doc_depth in known.providers[combination.provider]


def combinations(known: Taxonomy = SHIPPED) -> Iterator[Combination]:
    """Every legal combination, in axis order."""
    every = itertools.starmap(Combination, itertools.product(*known.axes().values()))
    return (combination for combination in every if legal(combination, known))


def balance(values: Iterable[str], size: int) -> float | None:
    """exp(entropy) / size: 1 when `size` values occur equally often, 1/size when only one does.

    The figure is the one that terminal-task data sets publish (TMax, 2026). None for no values at all:
    undefined is not zero.
    """
    counts = Counter(values)
    total = sum(counts.values())
    if not total:
        return None
    entropy = -sum(count / total * math.log(count / total) for count in counts.values())
    return math.exp(entropy) / size


def main() -> None:
    """Print the axes as one JSON line."""
    print(json.dumps({"axes": AXES, "legal_combinations": sum(1 for _ in combinations())}))


def parser() -> argparse.ArgumentParser:
    """The command line: no flags."""
    return argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
        usage=argparse.SUPPRESS,  # a mistake is one line
    )  # fmt: skip


if __name__ == "__main__":
    main(**vars(parser().parse_args()))
