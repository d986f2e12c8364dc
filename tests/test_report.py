"""Rates, intervals and differences are right, and runs become a table and a picture."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from authoring import templates
from pipeline import stage
from pipeline.rates import behaviour_of, behaviour_table, paired, rate, rate_table, summarise, wilson
from pipeline.verdicts import clean_up, is_command
from report import gathered, hundredths, labelled, main, parser, print_table
from schema import Message, OperatorInfo, Scenario, Step, Trajectory, write_json
from taxonomy import Combination
from tests.helpers import ROOT


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


def binomial_quantile(share: float, n: int, p: float) -> int:
    below = 0.0
    for successes in range(n + 1):
        below += math.comb(n, successes) * p**successes * (1 - p) ** (n - successes)
        if below >= share:
            return successes
    return n


def test_the_bootstrap_interval_is_that_of_resampled_scenarios() -> None:
    record, n, better = scenario("copy_files", 0), 60, 20
    before = {f"s-{at}": episode(record, kept=False) for at in range(n)}
    after = {f"s-{at}": episode(record, kept=at < better) for at in range(n)}
    found = paired(before, after, seed=0)["clean"]
    exact = [binomial_quantile(share, n, better / n) / n for share in (0.025, 0.975)]
    assert found["difference"] == pytest.approx(better / n)
    assert found["interval"] == pytest.approx(exact, abs=1 / n + 1e-9)
    assert (found["only_after"], found["only_before"]) == (better, 0)
    turned = paired(after, before, seed=0)["clean"]
    assert turned["difference"] == pytest.approx(-better / n)
    assert turned["interval"] == pytest.approx([-exact[1], -exact[0]], abs=1 / n + 1e-9)


def written(place: Path, name: str, kept: int, rows: int, adapter: str | None = None) -> Path:
    """A finished eval run of an adapter trained on `rows` sessions, `kept` of 6 episodes clean; base: none."""
    records = [scenario("copy_files", index) for index in range(6)]
    subjects: dict[Any, dict[str, Trajectory]] = {
        "base": {record.id: episode(record, "max_steps", kept=False) for record in records},
        "adapter": {record.id: episode(record, kept=at < kept) for at, record in enumerate(records)},
    }
    directory = place / (adapter or f"adapter-{name}")
    write_json(directory / "sekft.json", {"trained_on": [{}] * rows})
    log = [{"step": step, "loss": 2 / step, "learning_rate": 1e-4} for step in range(1, 9)]
    (directory / "log_history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log))
    about = {"adapter": str(directory), "split_by": "scenario" if "scenarios" in name else "archetype", "seed": 0}
    result = {**about, **summarise(subjects, records, seed=0)}
    print_table(result)
    write_json(place / name / "report.json", result)
    write_json(place / name / "manifest.json", {"finished": True})
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


def test_runs_on_about_as_much_data_are_drawn_in_one_place() -> None:
    assert gathered([310, 100, 290, 300, 900]) == {100: 100, 290: 300, 300: 300, 310: 300, 900: 900}
    assert gathered([7]) == {7: 7}


def test_a_log_is_cut_into_hundredths_without_a_rest() -> None:
    """1,920 steps in blocks of 19 once left a last point of a single step in the picture."""
    blocks = hundredths(range(1920))
    assert [row for block in blocks for row in block] == list(range(1920))
    assert (len(blocks), {len(block) for block in blocks}) == (100, {19, 20})
    assert [list(block) for block in hundredths([1, 2])] == [[1], [2]]


def test_runs_and_adapters_of_equal_names_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    runs = [
        written(tmp_path, f"draw-{draw}/eval-{side}", draw, 30, f"draw-{draw}/adapter")
        for draw in (1, 2, 3)
        for side in ("archetypes", "scenarios")
    ]
    shared = {"directives": {"runs": 379, "shared": 295}, "commands": {"runs": 5, "shared": 4}}
    none = {"data": {part: {"runs": 9, "shared": 0} for part in shared}}
    write_json(runs[0] / "overlap.json", {"shared": none, "left_out": ["a-1", "b-2"]})
    write_json(runs[1] / "overlap.json", {"shared": {"data": shared}})
    done = run_report("--runs", *runs, "--table", tmp_path / "t.md", "--picture", tmp_path / "p.svg")
    assert done.returncode == 0, done.stderr
    text, picture = (tmp_path / "t.md").read_text(), (tmp_path / "p.svg").read_text()
    for draw in (1, 2, 3):
        assert f"| draw-{draw}/eval-archetypes | archetype | adapter |" in text
        assert picture.count(f"<!-- draw-{draw}/adapter -->") == 1  # the legend: matplotlib draws text as outlines
    assert "| draw-1/eval-scenarios | data | 4/5 | 295/379 |" in text
    assert text.count("are left out") == 1
    assert "draw-1/eval-archetypes: 2 held-out scenarios of which something was read are left out." in text
    assert text.count("masked directives also stand in the training data") == 1
    assert "draw-1/eval-scenarios: 295 of 379 masked directives also stand in the training data" in text
    assert labelled([tmp_path / "a", tmp_path / "b"]) == {"a": tmp_path / "a", "b": tmp_path / "b"}


RUN_P, RUN_T = ["--runs", "run", "--picture", "p.svg"], ["--runs", "run", "--table", "t.md"]


def change(path: str, text: str | None) -> Callable[[], object]:
    """Overwrite a file, or remove it."""
    return Path(path).unlink if text is None else lambda: Path(path).write_text(text)


def edit(**fields: object) -> Callable[[], object]:
    """Replace fields of run/report.json, or remove those that are None."""
    path = Path("run/report.json")
    return lambda: write_json(
        path, {key: value for key, value in {**json.loads(path.read_text()), **fields}.items() if value is not None}
    )


@pytest.mark.parametrize(
    ("spoil", "arguments", "words"),
    [
        (None, ["--table", "t.md", "--runs", "nowhere"], "nowhere: no report.json"),
        (None, ["--runs", "run"], "nothing to write"),
        (None, [*RUN_T, "--axes", "colour"], "'colour' is no axis of these runs; known: announcement,"),
        (None, ["--runs", "run", "./run", "--table", "t.md"], "named twice"),
        (None, ["--runs", "run", "--picture", "p.xyz"], "'p.xyz' is of no known kind"),
        (None, ["--runs", "run", "--table", "run/report.json/t.md"], "run/report.json/t.md: cannot be written"),
        (None, ["--runs", "run", "--picture", "run/report.json/p.svg"], "run/report.json/p.svg: cannot be written"),
        (change("adapter-run/log_history.jsonl", None), RUN_P, "log_history.jsonl: not there"),
        (change("adapter-run/log_history.jsonl", ""), RUN_P, "log_history.jsonl: holds no loss"),
        (change("adapter-run/log_history.jsonl", '{"step": 1, "lo'), RUN_P, "log_history.jsonl: a line is no logged"),
        (change("run/report.json", "[]"), RUN_T, "run/report.json: content: Input should be"),
        (change("run/overlap.json", '{"shared": 3}'), RUN_T, "run/overlap.json: shared: Input should be"),
        (change("run/manifest.json", '{"finished": false}'), RUN_T, "run/manifest.json: finished: false"),
        (edit(subjects=None), RUN_T, "run/report.json: subjects: Field required"),
        (edit(split_by=None), RUN_T, "run/report.json: split_by: Field required"),
        (edit(subjects={}), RUN_T, "run/report.json: subjects: Dictionary should have at least 1 item"),
        (edit(subjects={"adapter": {"rates": {}}}), RUN_T, "subjects.adapter.rates.operate: Field required"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    spoil: Callable[[], object] | None,
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "run", 1, 5)
    if spoil:
        spoil()
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        stage.run(main, parser(), arguments)
    told = capsys.readouterr().err.strip()
    assert end.value.code == 2, told
    assert words in told
    assert len(told.splitlines()) == 1


def test_a_run_without_a_manifest_is_taken_and_said_so(tmp_path: Path) -> None:
    run = written(tmp_path, "run", 1, 5)
    (run / "manifest.json").unlink()
    done = run_report("--runs", run, "--table", tmp_path / "t.md")
    assert done.returncode == 0
    assert "no manifest" in done.stderr
