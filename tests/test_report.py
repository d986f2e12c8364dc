"""report.py writes a table and a picture of eval runs, and names bad input in one line."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import stage
from pages.picture import labels_of, mean_blocks, merge_close
from pipeline.files import write_identity, write_json, write_report
from pipeline.rates import compare_subjects
from pipeline.tables import print_table
from report import main, parser
from schema import AdapterIdentity, EvalReport, Subject, TrainedSession, Trajectory
from tests.helpers import ROOT
from tests.helpers.recorded import episode, scenario


def written(place: Path, name: str, kept: int, rows: int, adapter: str | None = None) -> Path:
    """A finished eval run of an adapter trained on `rows` sessions, `kept` of 6 episodes clean; base: none."""
    records = [scenario("copy_files", index) for index in range(6)]
    episodes: dict[Subject, dict[str, Trajectory]] = {
        "base": {record.id: episode(record, "max_steps", kept=False) for record in records},
        "adapter": {record.id: episode(record, kept=at < kept) for at, record in enumerate(records)},
    }
    directory = place / (adapter or f"adapter-{name}")
    session = TrainedSession(scenario_id="s", content_hash="h", archetype="copy_files", trajectory_id="t")
    write_identity(directory, AdapterIdentity(base="base", trained_on=[session] * rows))
    log = [{"step": step, "loss": 2 / step, "learning_rate": 1e-4} for step in range(1, 9)]
    (directory / "log_history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log))
    subjects, differences = compare_subjects(episodes, records, seed=0)
    split_by = "scenario" if "scenarios" in name else "archetype"
    result = EvalReport(adapter=str(directory), split_by=split_by, seed=0, subjects=subjects, paired=differences)
    print_table(result)
    write_report(place / name, result)
    write_json(place / name / "manifest.json", {"finished": True})
    return place / name


def run_report(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "report.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_table_and_picture_are_written(tmp_path: Path) -> None:
    runs = [written(tmp_path, "small", 2, 30), written(tmp_path, "large", 5, 90)]
    table, picture = tmp_path / "out" / "rates.md", tmp_path / "out" / "curve.svg"
    done = run_report("--runs", *runs, "--table", table, "--picture", picture, "--axes", "task")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"runs": 2, "table": str(table), "picture": str(picture)}
    text = table.read_text()
    none, all_, most = "0/6 0% [0-39]", "6/6 100% [61-100]", "5/6 83% [44-97]"
    assert f"| large | archetype | adapter | {none} | {none} | {all_} | {most} | {most} | 0 |" in text
    assert "| small | adapter - base | 6 | +0 [+0,+0] | +0 [+0,+0] | +100 [+100,+100] | +33 [" in text
    assert (
        "| run | split by | row | operate_rate | discover_rate | terminate_rate | verified_rate | clean_rate | voided |"
        in text
    )
    assert "| run | row | exit | max_steps |\n" in text
    assert "| small | base | 0 | 6 |\n" in text
    assert "| small | base | copy_files |" in text
    assert text.index("| base |") < text.index("| adapter |")
    assert "<svg" in picture.read_text()[:1000]


def test_close_data_sizes_are_drawn_together() -> None:
    assert merge_close([310, 100, 290, 300, 900]) == {100: 100, 290: 300, 300: 300, 310: 300, 900: 900}
    assert merge_close([7]) == {7: 7}


def test_log_blocks_cover_every_step() -> None:
    """1,920 steps in blocks of 19 once left a last point of a single step in the picture."""
    blocks = mean_blocks(range(1920))
    assert [row for block in blocks for row in block] == list(range(1920))
    assert (len(blocks), {len(block) for block in blocks}) == (100, {19, 20})
    assert [list(block) for block in mean_blocks([1, 2])] == [[1], [2]]


def test_equal_names_are_told_apart_by_path(tmp_path: Path) -> None:
    runs = [
        written(tmp_path, f"split-{seed}/eval-{side}", seed, 30, f"split-{seed}/adapter")
        for seed in (1, 2, 3)
        for side in ("archetypes", "scenarios")
    ]
    shared = {"directives": {"runs": 379, "shared": 295}, "commands": {"runs": 5, "shared": 4}}
    none = {"data": {part: {"runs": 9, "shared": 0} for part in shared}}
    write_json(runs[0] / "overlap.json", {"shared": none, "left_out": ["a-1", "b-2"]})
    write_json(runs[1] / "overlap.json", {"shared": {"data": shared}})
    done = run_report("--runs", *runs, "--table", tmp_path / "t.md", "--picture", tmp_path / "p.svg")
    assert done.returncode == 0, done.stderr
    text, picture = (tmp_path / "t.md").read_text(), (tmp_path / "p.svg").read_text()
    for seed in (1, 2, 3):
        assert f"| split-{seed}/eval-archetypes | archetype | adapter |" in text
        assert picture.count(f"<!-- split-{seed}/adapter -->") == 1  # the legend: matplotlib draws text as outlines
    assert "| split-1/eval-scenarios | data | 4/5 | 295/379 |" in text
    assert text.count("are left out") == 1
    assert "split-1/eval-archetypes: 2 held-out scenarios of which something was read are left out." in text
    assert text.count("masked directives also stand in the training data") == 1
    assert "split-1/eval-scenarios: 295 of 379 masked directives also stand in the training data" in text
    assert labels_of([tmp_path / "a", tmp_path / "b"]) == {"a": tmp_path / "a", "b": tmp_path / "b"}


def test_table_is_made_again_from_the_evidence_of_a_run(tmp_path: Path) -> None:
    """runs/evidence.sh keeps enough for the table, and the hashes of what was counted."""
    run = written(tmp_path, "draw-1/eval-archetypes", 2, 30)
    adapter = Path(json.loads((run / "report.json").read_text())["adapter"])
    for path in (adapter / "adapter_model.safetensors", adapter / "render.json", run / "adapter" / "copy_files-1.json"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(path.name)
    parts = {part: {"runs": 9, "shared": 4} for part in ("directives", "commands")}
    whole = {"distinct": 80, "distinct_read": 9, "solutions": 600, "solutions_all_read": 55}
    write_json(run / "overlap.json", {"shared": {"data": parts}, "whole_commands": whole})
    kept = tmp_path / "kept" / "draw-1" / "eval-archetypes"
    subprocess.run([ROOT / "runs" / "evidence.sh", run, adapter, kept], check=True)
    assert {path.name for path in kept.iterdir()} == {"report.json", "manifest.json", "overlap.json", "sha256"}
    tables = {}
    for name, directory in (("whole", run), ("kept", kept)):
        done = run_report("--runs", directory, "--table", tmp_path / f"{name}.md", "--axes", "task")
        assert done.returncode == 0, done.stderr
        tables[name] = (tmp_path / f"{name}.md").read_text()
    assert tables["whole"] == tables["kept"]
    assert "| 4/9 |" in tables["kept"]
    assert "sessions hold 9 of 80 distinct commands" in tables["kept"]
    assert "every command of 55 of 600 solutions" in tables["kept"]
    check = ["sha256sum", "-c", "--quiet", str(kept / "sha256")]
    assert subprocess.run(check, check=False).returncode == 0
    (run / "adapter" / "copy_files-1.json").write_text("another")
    assert subprocess.run(check, check=False, capture_output=True).returncode == 1


RUN_P, RUN_T = ["--runs", "run", "--picture", "p.svg"], ["--runs", "run", "--table", "t.md"]
RUN_H = ["--runs", "adapter-run", "--html", "p.html"]


def change(path: str, content: str | bytes | None) -> Callable[[], object]:
    """Overwrite a file, or remove it."""
    if content is None:
        return Path(path).unlink
    return lambda: Path(path).write_bytes(content.encode() if isinstance(content, str) else content)


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
        *(
            (None, ["--runs", "run", flag, f"adapter-run/sekft.json/{name}"], f"{name}: cannot be written")
            for flag, name in (("--table", "t.md"), ("--picture", "p.svg"))
        ),
        (None, ["--runs", "run", "--table", "run/report.json"], "run/report.json: lies in the run run; name a file"),
        (change("adapter-run/log_history.jsonl", None), RUN_P, "log_history.jsonl: not there"),
        (change("adapter-run/log_history.jsonl", ""), RUN_P, "log_history.jsonl: holds no loss"),
        (change("adapter-run/log_history.jsonl", '{"step": 1, "lo'), RUN_P, "log_history.jsonl: a line is no logged"),
        (
            change("adapter-run/log_history.jsonl", '{"step": 1, "loss": "low"}'),
            RUN_P,
            "log_history.jsonl: holds no loss",
        ),
        (
            change("adapter-run/log_history.jsonl", b"\xff\n"),
            RUN_P,
            "log_history.jsonl: a line is no logged step (line 1",
        ),
        (
            change("adapter-run/log_history.jsonl", b"\xff\n"),
            RUN_H,
            "log_history.jsonl: a line is no logged step (line 1",
        ),
        (change("adapter-run/log_history.jsonl", '{"step": Infinity}'), RUN_H, "(line 1: step is 'inf', not a whole"),
        (change("adapter-run/log_history.jsonl", '{"step": "1"}'), RUN_H, "(line 1: step is '1', not a whole number)"),
        (change("adapter-run/log_history.jsonl", '{"step": true}'), RUN_H, "(line 1: step is 'True', not a whole"),
        (change("adapter-run/log_history.jsonl", "7\n\n"), RUN_H, "(line 1: step is 'None', not a whole number)"),
        (
            change("adapter-run/log_history.jsonl", '{"step": 1}\n\n'),
            RUN_H,
            "a line is no logged step (line 2: Expecting",
        ),
        (change("run/report.json", "[]"), RUN_T, "run/report.json: content: Input should be"),
        (change("run/overlap.json", '{"shared": 3}'), RUN_T, "run/overlap.json: shared: Input should be"),
        (change("run/manifest.json", '{"finished": false}'), RUN_T, "run/manifest.json: finished: false"),
        (edit(subjects=None), RUN_T, "run/report.json: subjects: Field required"),
        (edit(split_by=None), RUN_T, "run/report.json: split_by: Field required"),
        (edit(subjects={}), RUN_T, "run/report.json: subjects: Dictionary should have at least 1 item"),
        (edit(subjects={"adapter": {"rates": {}}}), RUN_T, "subjects.adapter.rates.operate_rate: Field required"),
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
        stage.run_script(main, parser(), arguments)
    told = capsys.readouterr().err.strip()
    assert end.value.code == 2, told
    assert words in told
    assert len([line for line in told.splitlines() if not line.startswith("read ")]) == 1  # progress of --html


def test_a_figure_beyond_a_float_is_left_out(tmp_path: Path) -> None:
    """Python reads an integer of 400 digits, which no float holds."""
    run = written(tmp_path, "run", 1, 5)
    rows = [{"step": 1, "loss": 2.0}, {"step": 2, "loss": 10**400}, {"step": 3, "loss": 1.0}]
    (tmp_path / "adapter-run" / "log_history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run_report("--runs", run, "--picture", tmp_path / "p.svg")
    assert done.returncode == 0, done.stderr
    done = run_report("--runs", tmp_path / "adapter-run", "--html", tmp_path / "p.html")
    assert done.returncode == 0, done.stderr


def test_run_without_a_manifest_is_noted(tmp_path: Path) -> None:
    run = written(tmp_path, "run", 1, 5)
    (run / "manifest.json").unlink()
    done = run_report("--runs", run, "--table", tmp_path / "t.md")
    assert done.returncode == 0
    assert "no manifest" in done.stderr
