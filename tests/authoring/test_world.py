"""Names are fresh, masks hide names alone, and a checker sees every difference from the expected end state."""

from pathlib import Path

import pytest

from authoring.templates.words import WORDS
from authoring.templates.world import checker_for, directory, fixture, link, masked, quote
from sandbox.session import session
from schema import HOME, Fixture
from tests.helpers.templates import names_of, run_script


def test_fillers_and_keywords() -> None:
    names = names_of("f")
    fillers = {filler for _ in range(200) for filler in names.filler(5)}
    assert fillers.isdisjoint(names.words(300))
    assert not [word for word in [names_of(seed).keyword() for seed in range(50)] if sum(word in w for w in WORDS) > 1]


def test_quoted_paths(tmp_path: Path) -> None:
    for path in ("plain.txt", "two words.txt", "-dash.txt", "-dash and words", "it's", "a/-b c"):
        done = run_script(tmp_path, f"printf '%s.' {quote(path)}")
        assert done.stdout.removesuffix(".").removeprefix("./") == path
        assert not done.stdout.startswith("-")


def test_masking() -> None:
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


def unpack(root: Path, entries: list[Fixture]) -> None:
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
def test_a_checker_refuses_each_fault(fault: str, tmp_path: Path) -> None:
    checker = checker_for(WORLD, AFTER, ["old/-gone.txt"], checks=["grep -q made 'new dir/made.txt'"])
    unpack(tmp_path, WORLD)
    assert run_script(tmp_path, checker).returncode == 1
    unpack(tmp_path, AFTER)
    (tmp_path / "old/-gone.txt").unlink()
    assert run_script(tmp_path, checker).returncode == 0
    assert run_script(tmp_path, SPOILT[fault]).returncode == 0
    assert run_script(tmp_path, checker).returncode == 1


def test_a_strict_checker_refuses_extra_entries(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    unpack(home, WORLD)
    strict, loose = (checker_for(WORLD, [], [], strict=strict) for strict in (True, False))
    assert [run_script(home, checker).returncode for checker in (strict, loose)] == [0, 0]
    (home / "old" / "more").mkdir()
    assert [run_script(home, checker).returncode for checker in (strict, loose)] == [1, 0]


def test_a_failing_check_is_seen(tmp_path: Path) -> None:
    assert run_script(tmp_path, checker_for([], [], [], checks=["true", "[ 1 = 2 ]"])).returncode == 1


@pytest.mark.docker
def test_no_word_is_a_command() -> None:
    with session([]) as shell:
        for start in range(0, len(WORDS), 100):
            names = " ".join(WORDS[start : start + 100])
            assert shell.step(f"for name in {names}; do command -v $name; done; true").output == ""
