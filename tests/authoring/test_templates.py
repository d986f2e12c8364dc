"""The offline author is deterministic, varied, keeps its secrets, and its worlds are solved by their solutions."""

import random
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from authoring import text_gate
from authoring.templates import (
    DOABLE,
    SHAPES,
    author,
    extraction,
    files,
    joins,
    lines,
    providers,
    search,
    tables,
    text,
    tidying,
)
from authoring.templates.providers import announcement, provider
from authoring.templates.words import WORDS
from authoring.templates.world import Names, Shape, checker_for, directory, fixture, link, masked, quote
from sandbox.session import session
from schema import HOME, Fixture, Scenario
from taxonomy import ANNOUNCEMENTS, ARCHETYPES, DIFFICULTIES, PROVIDERS, Combination, combinations

TEXT_GATES: list[Callable[[Scenario], None]] = [
    text_gate.check_shape,
    text_gate.check_paths,
    text_gate.check_announcement,
    text_gate.check_directives,
    text_gate.check_solution,
    text_gate.check_scaffold,
]
FAMILIES = (files, tidying, search, extraction, text, lines, tables, joins)
OWN = sorted({name for family in FAMILIES for name in family.SHAPES})
LEGAL = list(combinations())
NASTY = ['it\'s $HOME `id` \\n %s "x"; *', "back\\slash & 'quotes' | $(id) ~ #"]


def names_of(seed: object, awkward: bool = False) -> Names:
    return Names(random.Random(f"{seed}"), awkward)


def some(seed: object, **axes: str) -> Scenario:
    """A scenario with these axis values, the others drawn by the seed."""
    fitting = [c for c in LEGAL if all(getattr(c, axis) == value for axis, value in axes.items())]
    return author(random.Random(f"{seed}").choice(fitting), seed=f"{seed}", id="tried")


def every_shape() -> list[Shape]:
    return [shape for table in (SHAPES, DOABLE) for shapes in table.values() for shape in shapes]


@cache
def frames_of(shape: Shape) -> tuple[set[str], set[str], set[str]]:
    """The masked directives, instructions and whole solutions that a shape makes in 30 draws."""
    made = [shape(names_of(seed, awkward=seed % 2 == 1)) for seed in range(30)]
    return (
        {masked(unit.directive) for unit in made},
        {masked(unit.instruction) for unit in made},
        {masked(" ; ".join(unit.solution)) for unit in made},
    )


def in_directory(root: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script run by sh with `root` for the home."""
    return subprocess.run(
        [shutil.which("sh") or "sh", "-c", script.replace(HOME, str(root))],
        cwd=root, capture_output=True, text=True, check=False, env={"PATH": f"{root}/bin:/usr/bin:/bin", **environment},
    )  # fmt: skip


def test_the_same_seed_gives_the_same_scenario_and_another_seed_another() -> None:
    combination = next(combinations())
    one, again = (author(combination, seed="7", id="tried") for _ in range(2))
    assert one == again
    assert author(combination, seed="7", id="other").content_hash == one.content_hash
    assert author(combination, seed="8", id="tried").content_hash != one.content_hash


@pytest.mark.parametrize("archetype", sorted(ARCHETYPES))
def test_every_archetype_and_difficulty_passes_the_gates_that_need_no_container(archetype: str) -> None:
    for difficulty in DIFFICULTIES:
        if difficulty == "easy" and ARCHETYPES[archetype].terminal == "panic":
            continue
        for seed in range(8):
            scenario = some(f"{archetype}-{difficulty}-{seed}", task=archetype, difficulty=difficulty)
            for check in TEXT_GATES:
                check(scenario)
            assert len(scenario.directives) == DIFFICULTIES[difficulty].directives
            assert all(len(directive) <= 250 for directive in scenario.directives)
            assert all(len(command) <= 140 for command in scenario.reference_solution)
            assert len(scenario.announcement.text) <= 200


def test_every_combination_of_provider_depth_and_channel_is_authored() -> None:
    for combination in combinations():
        if combination.task == "copy_files" and combination.difficulty == "medium":
            scenario = author(combination, seed="axes", id="tried")
            assert scenario.combination() == combination
            assert scenario.announcement.channel in ANNOUNCEMENTS


def test_every_archetype_has_three_shapes_and_every_shape_three_phrasings() -> None:
    assert set(SHAPES) == set(ARCHETYPES)
    assert all(len(shapes) >= 3 for shapes in [*SHAPES.values(), *DOABLE.values()])
    for shape in every_shape():
        assert len(frames_of(shape)[0]) >= 3, shape


def test_at_least_150_solutions_stay_distinct_once_names_and_numbers_are_masked() -> None:
    """Configuration keys and extensions in sed scripts are no names to the mask: those families do not count here."""
    left_out = ("configuration", "renames")
    kept = [arch for arch in SHAPES if ARCHETYPES[arch].family not in left_out]
    masks = {mask for arch in kept for shape in SHAPES[arch] for mask in frames_of(shape)[2]}
    assert len(masks) >= 150


def test_no_instruction_shares_its_sentence_frame_with_any_directive() -> None:
    directives = {frame for shape in every_shape() for frame in frames_of(shape)[0]}
    instructions = {frame for shape in every_shape() for frame in frames_of(shape)[1]}
    assert directives
    assert instructions.isdisjoint(directives)


def test_blocked_archetypes_use_no_shape_of_another_archetype_for_their_doable_work() -> None:
    borrowed = {shape for shapes in SHAPES.values() for shape in shapes}
    assert set(DOABLE) == {name for name, archetype in ARCHETYPES.items() if archetype.terminal == "panic"}
    assert all(borrowed.isdisjoint(shapes) for shapes in DOABLE.values())
    own = [shape for shapes in DOABLE.values() for shape in shapes]
    assert len(own) == len(set(own))


def test_a_hard_world_draws_no_shape_twice() -> None:
    for archetype in OWN:
        scenario = some(archetype, task=archetype, difficulty="hard")
        assert len({masked(directive) for directive in scenario.directives}) == 3


def test_names_differ_from_seed_to_seed_and_never_repeat_in_a_world() -> None:
    words = names_of("w").words(300)
    assert len(set(words)) == 300
    worlds = [{entry.path for entry in some(seed, task="copy_files", difficulty="hard").fixtures} for seed in range(5)]
    assert all(one.isdisjoint(other) for one, other in pairwise(worlds))
    programs = {some(seed, task="copy_files").provider.path for seed in range(40)}
    assert len(programs) == 40


def test_fillers_are_never_given_out_as_words_and_keywords_are_part_of_no_word() -> None:
    names = names_of("f")
    fillers = {filler for _ in range(200) for filler in names.filler(5)}
    assert fillers.isdisjoint(names.words(300))
    assert not [word for word in [names_of(seed).keyword() for seed in range(50)] if sum(word in w for w in WORDS) > 1]


def test_awkward_names_come_in_hard_worlds_only() -> None:
    def awkward(scenario: Scenario) -> bool:
        return any(" " in entry.path or "/-" in entry.path for entry in scenario.fixtures)

    assert any(awkward(some(seed, task="copy_files", difficulty="hard")) for seed in range(5))
    for difficulty in ("easy", "medium"):
        assert not any(awkward(some(seed, difficulty=difficulty)) for seed in range(40))


def test_distractors_grow_with_difficulty() -> None:
    for difficulty, wanted in DIFFICULTIES.items():
        scenario = some("d", task="make_tree", difficulty=difficulty)
        asked = " ".join([*scenario.directives, *scenario.reference_solution])
        others = [entry for entry in scenario.fixtures if entry.path.rpartition("/")[2] not in asked]
        assert len(others) == wanted.distractors


@pytest.mark.parametrize("kind", sorted(PROVIDERS))
def test_a_provider_prints_no_directive_when_bare_and_all_of_them_when_asked(kind: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for depth in PROVIDERS[kind]:
        for seed in range(12):
            names = names_of(f"{kind}{depth}{seed}")
            made = provider(kind, depth, NASTY[: 1 + seed % 2], names, names.rng)
            program = tmp_path / "bin" / made.path.rpartition("/")[2]
            program.write_text(made.source)
            program.chmod(0o755)

            def call(command: str) -> str:
                done = in_directory(tmp_path, command)
                assert done.returncode == 0, (command, done)
                assert not done.stderr
                return done.stdout

            helps = [call(command) for command in made.help_commands]
            shown = [call(command) for command in made.directive_commands]
            told = {word for output in [*helps, shown[0]] for word in re.findall(r"[A-Za-z][\w-]*|\d+", output)}
            assert {
                word for asked in made.directive_commands for word in re.findall(r"[A-Za-z][\w-]*|\d+", asked)
            } <= told | {"echo"}
            assert made.help_commands[0] == program.name
            assert len(made.help_commands) == {"usage": 1, "help": 2}.get(depth, len(helps))
            assert helps[0].count("\n") == 1
            assert all(directive in "".join(shown) for directive in NASTY[: 1 + seed % 2])
            assert not any(directive in "".join(helps) for directive in NASTY)
            assert in_directory(tmp_path, f"{program.name} nonsense").returncode == 2


@pytest.mark.parametrize("channel", ANNOUNCEMENTS)
def test_announcements_vary_and_hold_no_word_that_names_or_contents_are_made_of(channel: str) -> None:
    names = names_of(channel)
    made = [announcement(channel, "PROGRAM", names.rng, names) for _ in range(200)]
    assert len({entry.text for entry in made}) >= 8
    assert all("PROGRAM" in entry.text for entry in made)
    words = {word.strip(".,:;*#[]-='").lower() for entry in made for word in entry.text.split()}
    assert words.isdisjoint(WORDS)
    assert words.isdisjoint(providers.ROLES)
    assert not any("/" in entry.text for entry in made)


def test_providers_and_words_are_told_apart() -> None:
    assert set(providers.ROLES).isdisjoint(WORDS)
    assert len(WORDS) == len(set(WORDS)) >= 500
    assert all(word.isascii() and word.islower() and 3 <= len(word) <= 9 for word in WORDS)


def test_quoted_paths_reach_a_program_as_one_word_that_is_no_option(tmp_path: Path) -> None:
    for path in ("plain.txt", "two words.txt", "-dash.txt", "-dash and words", "it's", "a/-b c"):
        done = in_directory(tmp_path, f"printf '%s.' {quote(path)}")
        assert done.stdout.removesuffix(".").removeprefix("./") == path
        assert not done.stdout.startswith("-")


def test_masking_leaves_the_frame_and_hides_the_names() -> None:
    one = "Copy amber-fox.txt to 'blue moon/-river.log' and keep line 12 of coral."
    other = "Copy lake.txt to wolf_owl.md and keep line 3 of '-sun oak'."
    assert masked(one) == masked(other) == "Copy N to N and keep line 0 of N."
    assert masked(one) != masked(other.replace("keep", "drop"))
    assert masked("sort -u ./-amber.txt > lake/fox.txt") == "sort -u N > N"


WORLD = [fixture("kept.txt", "kept\n"), fixture("old/-gone.txt", "gone\n"), fixture("changed.txt", "before\n")]
AFTER = [
    fixture("changed.txt", "after\n", mode=0o640), fixture("new dir/made.txt", "made\n"), directory("empty"),
    link("pointer", "kept.txt"),
]  # fmt: skip
SPOILT = {
    "kept edited": "echo x >> kept.txt", "kept gone": "rm kept.txt", "kept mode": "chmod 600 kept.txt",
    "gone back": "echo gone > old/-gone.txt", "changed back": "echo before > changed.txt",
    "mode": "chmod 644 changed.txt", "made empty": ": > 'new dir/made.txt'", "made gone": "rm 'new dir/made.txt'",
    "made a link": "mv 'new dir/made.txt' a; ln -s ../a 'new dir/made.txt'", "no directory": "rmdir empty",
    "a file for a directory": "rmdir empty; : > empty", "other link": "ln -sfn changed.txt pointer",
    "copy for a link": "rm pointer; cp kept.txt pointer",
}  # fmt: skip


def lay(root: Path, entries: list[Fixture]) -> None:
    for entry in entries:
        path = root / entry.path.removeprefix(f"{HOME}/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.type == "dir":
            path.mkdir()
        elif entry.type == "symlink":
            path.symlink_to(entry.target or "")
        else:
            path.write_bytes(entry.content())
            path.chmod(entry.mode)


@pytest.mark.parametrize("fault", sorted(SPOILT))
def test_a_checker_passes_the_expected_world_and_refuses_each_fault(fault: str, tmp_path: Path) -> None:
    checker = checker_for(WORLD, AFTER, ["old/-gone.txt"], checks=["grep -q made 'new dir/made.txt'"])
    lay(tmp_path, WORLD)
    assert in_directory(tmp_path, checker).returncode == 1
    lay(tmp_path, AFTER)
    (tmp_path / "old/-gone.txt").unlink()
    assert in_directory(tmp_path, checker).returncode == 0
    assert in_directory(tmp_path, SPOILT[fault]).returncode == 0
    assert in_directory(tmp_path, checker).returncode == 1


def test_a_strict_checker_allows_nothing_else_and_a_loose_one_does(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    lay(home, WORLD)
    strict, loose = (checker_for(WORLD, [], [], strict=strict) for strict in (True, False))
    assert [in_directory(home, checker).returncode for checker in (strict, loose)] == [0, 0]
    (home / "old" / "more").mkdir()
    assert [in_directory(home, checker).returncode for checker in (strict, loose)] == [1, 0]


def test_a_check_that_fails_is_seen(tmp_path: Path) -> None:
    assert in_directory(tmp_path, checker_for([], [], [], checks=["true", "[ 1 = 2 ]"])).returncode == 1


@pytest.mark.docker
@pytest.mark.parametrize("archetype", OWN)
def test_the_solution_solves_the_world_in_the_sandbox(archetype: str) -> None:
    combination = Combination(archetype, "subcommand", "file", "subhelp", "hard")
    scenario = author(combination, seed=f"sandbox-{archetype}", id="tried")
    program = (scenario.provider.path, scenario.provider.source)
    with session(scenario.world_fixtures(), provider=program) as shell:
        printed = [shell.step(command).output for command in scenario.provider.directive_commands]
        assert all(any(directive in output for output in printed) for directive in scenario.directives)
        for command in scenario.reference_solution:
            step = shell.step(command)
            assert step.exit_code == 0, step
        check = shell.verify(scenario.checker)
    assert check.passed, (check, scenario.reference_solution)


@pytest.mark.docker
def test_no_word_that_a_program_may_be_named_after_is_a_command_of_the_image() -> None:
    with session([]) as shell:
        for start in range(0, len(WORDS), 100):
            names = " ".join(WORDS[start : start + 100])
            assert shell.step(f"for name in {names}; do command -v $name; done; true").output == ""
