"""Rates, intervals and differences are right, and runs become a table and a picture."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import templates
from report import behaviour_of, behaviour_table, paired, print_table, rate, rate_table, summarise, wilson
from schema import Message, OperatorInfo, Scenario, Step, Trajectory, write_json
from taxonomy import Combination
from verdicts import clean_up, is_command

ROOT = Path(__file__).parent.parent


def scenario(task: str, index: int, difficulty: str = "medium") -> Scenario:
    combination = Combination(task, "flags", "motd", "help", difficulty)
    return templates.author(combination, seed=f"{task}/{index}", id=f"{task}-{index}")


def episode(record: Scenario, outcome: str = "exit", kept: bool = True) -> Trajectory:
    return Trajectory.model_validate(
        {
            "id": f"{record.id}-s0",
            "scenario_id": record.id,
            "scenario_hash": record.content_hash,
            "axes": record.axes(),
            "operator": OperatorInfo(kind="local"),
            "messages": [],
            "steps": [
                Step(command="ls", output="", output_bytes=0, exit_code=0, cwd="/", duration_seconds=0).model_dump()
            ],
            "terminal": "exit" if outcome == "exit" else None,
            "verified": kept,
            "command_only": True,
            "outcome": outcome,
            "kept": kept,
            "reasons": [] if kept else ["not verified"],
        }
    )


def test_the_wilson_interval_is_the_published_one() -> None:
    low, high = wilson(9, 16) or (0.0, 0.0)  # scipy.stats.binomtest(9, 16).proportion_ci(method="wilson")
    assert (round(low, 4), round(high, 4)) == (0.3318, 0.7690)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(0, 0) is None


def test_no_episode_gives_no_rate_rather_than_zero() -> None:
    assert rate([], 0)["rate"] is None
    assert rate([], 3) == {"successes": 0, "n": 0, "rate": None, "interval": None, "rate_voided_as_failures": 0.0}


def test_voided_episodes_are_apart_and_also_counted_as_failures() -> None:
    records = [scenario("copy_files", index) for index in range(4)]
    rows = [episode(record) for record in records[:3]] + [episode(records[3], "sandbox_failed", kept=False)]
    clean = rate_table(rows)["clean"]
    assert (clean["successes"], clean["n"], clean["rate"]) == (3, 3, 1.0)
    assert clean["rate_voided_as_failures"] == 0.75


def test_paired_differences_count_only_scenarios_that_both_finished() -> None:
    records = [scenario("copy_files", index) for index in range(6)]
    before = {record.id: episode(record, "max_steps", kept=False) for record in records}
    after = {record.id: episode(record) for record in records}
    after[records[0].id] = episode(records[0], "sandbox_failed", kept=False)
    result = paired(before, after, seed=0)
    assert result["n"] == 5
    assert result["terminate"]["difference"] == 1.0
    assert result["terminate"]["only_after"] == 5
    assert result["operate"]["difference"] == 0.0


def acted(record: Scenario, outcome: str, *commands: str, open_heredoc: bool = False) -> Trajectory:
    """An episode that consists of these commands."""
    step = Step(command="ls", output="", output_bytes=0, exit_code=0, cwd="/", duration_seconds=0)
    return episode(record, outcome, kept=False).model_copy(
        update={
            "messages": [Message(role="assistant", content=command) for command in commands],
            "steps": [step.model_copy(update={"open_heredoc": open_heredoc})],
        }
    )


@pytest.mark.parametrize(
    ("commands", "outcome", "loops"),
    [
        (["ls"] * 5, "max_steps", True),
        (["help", "ls", "ls -l", "ls", "ls -l", "ls"], "max_steps", True),
        (["ls"] * 5, "context_full", True),
        (["ls"] * 5 + ["exit"], "exit", False),  # it got out
        (["ls", "cat a", "cat b", "ls", "cat a"], "max_steps", False),
        (["ls"] * 4, "max_steps", False),  # too short to tell
    ],
)
def test_a_loop_is_the_same_commands_up_to_a_limit(commands: list[str], outcome: str, loops: bool) -> None:
    assert behaviour_of(acted(scenario("copy_files", 0), outcome, *commands), blocked=False)["loop"] is loops


def test_panic_has_a_precision_over_its_uses_and_a_recall_over_blocked_scenarios() -> None:
    ordinary = [scenario("copy_files", index) for index in range(4)]
    blocked = [scenario("missing_source", index) for index in range(3)]
    rows = [
        acted(ordinary[0], "panic", "panic lost"), acted(ordinary[1], "exit", "exit"),
        acted(ordinary[2], "max_steps", "cat << E", open_heredoc=True), acted(ordinary[3], "sandbox_failed"),
        acted(blocked[0], "panic", "panic no such file"), acted(blocked[1], "panic", "panic"),
        acted(blocked[2], "exit", "exit"),
    ]  # fmt: skip
    assert {record.terminal for record in blocked} == {"panic"}
    table = behaviour_table(rows, {record.id for record in blocked})
    counts = {name: (entry["successes"], entry["n"]) for name, entry in table.items()}
    assert counts == {"loop": (0, 6), "open_heredoc": (1, 6), "panic_precision": (2, 3), "panic_recall": (2, 3)}
    none = behaviour_table([acted(ordinary[1], "exit", "exit")], set())
    assert none["panic_recall"]["rate"] is none["panic_precision"]["rate"] is None


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("ls -la", "ls -la"),
        ("Let me look around.\n```sh\nls -la\ncat notes\n```\nThat lists the files.", "ls -la\ncat notes"),
        ("```bash\nls", "ls"),
        ("First I will list the files:\n$ ls -l\nNow let me read one.", "ls -l"),
        ("`exit`", "exit"),
        ("Here it is:\n```\ncat > a << E\nLet me say this.\nE\n```", "cat > a << E\nLet me say this.\nE"),
        ("cat << E\nLet me say this.\nE", "cat << E\nLet me say this.\nE"),  # a command stays as it is
        ("I cannot do that.", "I cannot do that."),
    ],
)
def test_clean_up_finds_the_commands_in_fences_and_prose(text: str, typed: str) -> None:
    assert clean_up(text) == typed
    assert is_command(clean_up(text)) or clean_up(text) == text


def written(place: Path, name: str, kept: int, rows: int) -> Path:
    """A finished eval run of an adapter trained on `rows` sessions, `kept` of 6 episodes clean; base: none."""
    records = [scenario("copy_files", index) for index in range(6)]
    subjects: dict[Any, dict[str, Trajectory]] = {
        "base": {record.id: episode(record, "max_steps", kept=False) for record in records},
        "adapter": {record.id: episode(record, kept=at < kept) for at, record in enumerate(records)},
    }
    adapter = place / f"adapter-{name}"
    write_json(adapter / "sekft.json", {"trained_on": [{}] * rows})
    log = [{"step": step, "loss": 2 / step, "learning_rate": 1e-4} for step in range(1, 9)]
    (adapter / "log_history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log))
    about = {"adapter": str(adapter), "split_by": "archetype", "seed": 0}
    result = {**about, **summarise(subjects, records, seed=0)}
    print_table(result)
    write_json(place / name / "report.json", result)
    return place / name


def run_report(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "report.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_one_command_makes_the_table_and_the_picture_from_run_directories(tmp_path: Path) -> None:
    runs = [written(tmp_path, "small", 2, 30), written(tmp_path, "large", 5, 90)]
    table, picture = tmp_path / "out" / "rates.md", tmp_path / "out" / "curve.svg"
    done = run_report("--runs", *runs, "--table", table, "--picture", picture, "--axes", "task")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"runs": 2, "table": str(table), "picture": str(picture)}
    text = table.read_text()
    none, all_, most = "0/6 0% [0-39]", "6/6 100% [61-100]", "5/6 83% [44-97]"
    assert f"| large | archetype | adapter | {none} | {all_} | {most} | {most} | 0 |" in text
    assert "| small | adapter - base | 6 | +0 [+0,+0] | +100 [+100,+100] | +33 [" in text
    assert "| small | base | copy_files |" in text
    assert text.index("| base |") < text.index("| adapter |")
    assert "<svg" in picture.read_text()[:1000]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--table", "t.md", "--runs", "nowhere"], "nowhere: no report.json"),
        (["--runs", "old", "--table", "t.md"], "behaviour: missing"),
        (["--runs", "run"], "nothing to write"),
        (["--runs", "run", "--table", "t.md", "--axes", "colour"], "'colour' is no axis"),
        (["--runs", "run", "sub/run", "--table", "t.md"], "same name"),
        (["--runs", "run", "--picture", "p.svg"], "log_history.jsonl: not there"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = written(tmp_path, "run", 1, 5)
    (tmp_path / "adapter-run" / "log_history.jsonl").unlink()
    write_json(tmp_path / "sub" / "run" / "report.json", json.loads((run / "report.json").read_text()))
    write_json(tmp_path / "old" / "report.json", {"subjects": {"adapter": {"rates": {}}}, "paired": None})
    done = run_report(*arguments)
    assert done.returncode == 2, done
    assert words in done.stderr.strip()
    assert len(done.stderr.strip().splitlines()) == 1
