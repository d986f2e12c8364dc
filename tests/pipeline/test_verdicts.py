"""Turns are classified as in a labelled set, and a session is kept exactly when its verdict has no reasons."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from pipeline.verdicts import Ending, is_command, is_terminal, terminal_of, verdict_of
from tests.helpers import ROOT

HERE = Path(__file__).parent


def labelled() -> list[tuple[str, str]]:
    rows = []
    for line in (HERE / "labelled_lines.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, turn = line.split(" | ", 1)
            rows.append((kind, turn.replace("⏎", "\n").replace("⇥", "\t")))
    return rows


def kind_of(turn: str) -> str:
    return "terminal" if is_terminal(turn) else "command" if is_command(turn) else "prose"


def test_labelled_set_is_large_and_distinct() -> None:
    rows = labelled()
    assert len({turn for _, turn in rows}) == len(rows) >= 150
    counts = {kind: sum(row[0] == kind for row in rows) for kind in ("command", "terminal", "prose")}
    assert counts["command"] >= 75
    assert counts["prose"] >= 75
    assert sum(counts.values()) == len(rows)


def test_labelled_lines_get_their_labels() -> None:
    wrong = [(kind, kind_of(turn), turn) for kind, turn in labelled() if kind_of(turn) != kind]
    assert not wrong


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        ("exit", Ending("exit")),
        (" exit 0\n", Ending("exit")),
        ("exit 7", Ending("exit", code=7)),
        ("exit 123456789", Ending("exit", code=123456789)),
        ("exit 1234567890", None),  # the shell refuses it
        ("exit " + "1" * 5000, None),
        ("panic", Ending("panic")),
        ("panic no such file: a.txt", Ending("panic", reason="no such file: a.txt")),
        ("exit; ls", None),
        ("exit;", None),
        ("ls; exit", None),
        ("panicking", None),
        ("exited", None),
        ("EXIT", None),
        ("panic a | tee log", None),
        ("", None),
    ],
)
def test_only_whole_commands_are_terminals(command: str, ending: Ending | None) -> None:
    assert terminal_of(command) == ending


@given(st.text())
def test_any_text_is_classified_twice_alike(text: str) -> None:
    assert is_command(text) == is_command(text)
    assert terminal_of(text) == terminal_of(text)


@given(st.text(alphabet=st.characters(exclude_characters="'\0")))
def test_quoted_text_does_not_matter(text: str) -> None:
    assert is_command(f"printf '%s' '{text}' > out.txt")


@given(st.text(alphabet=st.characters(exclude_characters="\0\r")))
def test_text_in_a_heredoc_does_not_matter(text: str) -> None:
    body = "\n".join(line for line in text.split("\n") if line != "END_OF_TEXT")
    assert is_command(f"cat > out.txt <<'END_OF_TEXT'\n{body}\nEND_OF_TEXT\nls -l out.txt")
    assert not is_command(f"cat > out.txt <<'END_OF_TEXT'\n{body}\nEND_OF_TEXT\nThis shows the file.")


def test_good_session_is_kept() -> None:
    verdict = verdict_of(expected="exit", commands=["ls", "exit"], outcome="exit", verified=True)
    assert verdict.kept
    assert verdict.reasons == ()
    assert verdict.operated
    assert verdict.terminated


@pytest.mark.parametrize(
    ("expected", "commands", "outcome", "verified", "reason"),
    [
        ("exit", ["ls", "exit"], "exit", False, "not verified"),
        ("exit", ["ls", "exit 1"], "exit", True, "wrong terminal"),
        ("exit", ["ls", "panic no file"], "panic", True, "wrong terminal"),
        ("panic", ["ls", "exit"], "exit", True, "wrong terminal"),
        ("exit", ["Let me look.", "exit"], "exit", True, "prose"),
        ("exit", ["```sh\nls\n```", "exit"], "exit", True, "prose"),
        ("exit", ["ls", "ls"], "max_steps", True, "not terminated: max_steps"),
        ("exit", ["ls"], "context_full", True, "not terminated: context_full"),
        ("exit", ["ls"], "operator_failed", False, "voided: operator_failed"),
        ("exit", ["ls"], "sandbox_failed", False, "voided: sandbox_failed"),
        ("exit", ["ls", "exit"], "checker_failed", True, "checker failed"),
    ],
)
def test_rejected_sessions_have_reasons(
    expected: str, commands: list[str], outcome: str, verified: bool, reason: str
) -> None:
    verdict = verdict_of(expected=expected, commands=commands, outcome=outcome, verified=verified)  # type: ignore[arg-type]
    assert not verdict.kept
    assert any(reason in given for given in verdict.reasons), verdict.reasons


def test_blocked_scenario_is_kept_with_a_panic() -> None:
    assert verdict_of(expected="panic", commands=["ls", "panic no x"], outcome="panic", verified=True).kept


def test_terminal_alone_is_not_operating() -> None:
    assert not verdict_of(expected="exit", commands=["exit"], outcome="exit", verified=False).operated


def test_session_with_prose_is_not_operating() -> None:
    assert not verdict_of(expected="exit", commands=["ls", "I look", "exit"], outcome="exit", verified=True).operated


def test_script_classifies_lines_of_stdin() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.verdicts"],
        input="ls\nexit\nLet me see\n", text=True, capture_output=True, check=True,
        cwd=ROOT,
    )  # fmt: skip
    assert done.stdout == '{"command": 1, "prose": 1, "terminal": 1, "turns": 3}\n'
    assert [line.split()[0] for line in done.stderr.splitlines()] == ["command", "terminal", "prose"]


def test_failed_checker_never_verifies() -> None:
    verdict = verdict_of(expected="exit", commands=["ls", "exit"], outcome="checker_failed", verified=True)
    assert (verdict.verified, verdict.kept, verdict.reasons) == (False, False, ("checker failed",))
