"""export.py accounts for every row, guards in order, and writes what other trainers read."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from exports.rows import foreign_row
from pipeline.files import write_json, write_record
from schema import OperatorInfo, Trajectory
from tests.helpers import program, tiny
from tests.helpers.foreign import call, foreign, read_lines, trip, write_array, write_lines

ALL = ["--to", "openai", "trl", "axolotl", "unsloth"]


def export(*flags: Any, code: int = 0) -> tuple[dict[str, Any], str]:
    command = [*program("export.py"), *map(str, flags)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done
    return json.loads(done.stdout or "{}"), done.stderr


def headings(out: Path) -> dict[str, str]:
    """Name of each row without its archive -> heading."""
    return {line["name"].rpartition("/")[2]: line["heading"] for line in read_lines(out / "rows.jsonl")}


def test_every_row_stands_under_one_heading_in_the_order_of_the_guards(tmp_path: Path) -> None:
    hack = [trip(0, [call("bash", command="cat gold_patch.diff")])]
    long = [trip(0, [call("bash", command="ls")], "x" * 4000)]
    rows = [
        foreign("held", trips=hack),  # held out, though it is a hack too
        foreign("hack", trips=[*hack, *long]),  # a hack, though it is long too
        foreign("long", trips=long),
        foreign("empty", messages=[]),
        foreign("prompt-only", messages=[{"role": "user", "content": "Fix it."}]),
        foreign("good"),
        foreign("good"),
        foreign("good", resolved=False, sample=1),
        foreign("failed", resolved=False),
    ]
    archive, out = write_array(tmp_path / "runs.json", rows), tmp_path / "out"
    holdout = write_array(tmp_path / "held.json", ["held"])
    summary, _ = export("--archive", archive, "--holdout", holdout, "--out", out, "--max-length-tokens", 500, *ALL)
    names = ["held_out", "reward_hack", "over_length", "unusable", "unusable", "exported", "duplicate", "exported"]
    expected = {f"runs.json:{at}": heading for at, heading in enumerate([*names, "unused"], 1)}
    assert headings(out) == expected
    report = json.loads((out / "export-report.json").read_text())
    assert sum(report["headings"].values()) == report["read"] == summary["read"] == len(rows)
    assert (report["sft"], report["pairs"]) == (1, 1)
    reasons = {line["name"]: line.get("reason") for line in read_lines(out / "rows.jsonl")}
    assert all(reasons[line["name"]] for line in read_lines(out / "rows.jsonl") if line["heading"] != "exported")


def test_a_hack_is_seen_before_anything_is_cut_away(tmp_path: Path) -> None:
    early = trip(0, [call("read", path="gold_patch.diff")], "y" * 4000)
    archive = write_array(tmp_path / "a.json", [foreign("x", trips=[early, trip(1, [call("bash", command="ls")])])])
    export("--archive", archive, "--out", tmp_path / "out", "--max-length-tokens", 200, "--truncate")
    assert headings(tmp_path / "out") == {"a.json:1": "reward_hack"}


@pytest.mark.parametrize("content", ["", " \n"])
def test_an_empty_archive_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.jsonl").write_text(content)
    _, errors = export("--archive", tmp_path / "a.jsonl", "--out", tmp_path / "out", code=2)
    assert errors == f"export.py: error: {tmp_path / 'a.jsonl'}: is empty; name a JSON array or JSON Lines\n"


def test_lines_of_json_lines_and_of_an_array_give_the_same_files(tmp_path: Path) -> None:
    rows = [foreign(f"i{at}", sample=at) for at in range(3)]
    export("--archive", write_array(tmp_path / "a.json", rows), "--out", tmp_path / "array")
    export("--archive", write_lines(tmp_path / "a.jsonl", rows), "--out", tmp_path / "lines")
    array, lines = ((tmp_path / one / "sft.openai.jsonl").read_bytes() for one in ("array", "lines"))
    assert array == lines
    assert array.count(b"\n") == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"resolved": "false"}, "row 2: resolved: Input should be a valid boolean"),
        ({"tier": "Cheap"}, "row 2: tier"),
        ({"sample": "1"}, "row 2: sample"),
        ({"messages": None}, "row 2: messages"),
        ({"messages": [{"role": "robot", "content": ""}]}, "row 2: messages.0.role"),
        ({"messages": [{"role": "user", "tool_calls": [call("x")]}]}, "only an assistant turn may"),
        ({"instance_id": ""}, "row 2: instance_id"),
        ({"tools": [{"type": "function"}]}, "row 2: tools.0.function: Field required"),
    ],
)
@pytest.mark.parametrize("write", [write_array, write_lines])
def test_a_bad_row_is_named_before_anything_is_written(tmp_path: Path, write: Any, change: Any, words: str) -> None:
    archive = write(tmp_path / "a.json", [foreign("good"), foreign("bad") | change])
    _, errors = export("--archive", archive, "--out", tmp_path / "out", code=2)
    assert words in errors
    assert not (tmp_path / "out").exists()


def test_rows_that_no_form_can_hold_end_no_run(tmp_path: Path) -> None:
    def having(arguments: Any) -> dict[str, Any]:
        row = foreign("x")
        row["messages"][2]["tool_calls"][0]["function"]["arguments"] = arguments
        return row

    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"a": deep}
    unusable = [having('{"a":' * 5000), having('{"t": NaN}'), having(deep), having('{"t": 1e999}'), having("no JSON")]
    listed = having({"command": ["bash", "-lc", "ls"]})
    rows = [*unusable, listed, having({"command": "echo \ud800"}), having('{"command": "cat \\udc00"}')]
    limits = ["--base", tiny.base(tmp_path / "base"), "--max-length-tokens", 100_000]
    for name, write in (("a.json", write_array), ("a.jsonl", write_lines)):
        out = tmp_path / f"{name}-out"
        export("--archive", write(tmp_path / name, rows), "--out", out, *limits, *ALL)
        assert list(headings(out).values()) == ["unusable"] * 5 + ["exported"] * 3
        for form in ALL[1:]:
            for line in (out / f"sft.{form}.jsonl").read_text().splitlines():
                json.loads(line, parse_constant=pytest.fail)


def test_a_line_that_is_nested_too_deeply_is_named(tmp_path: Path) -> None:
    archive = tmp_path / "a.jsonl"
    archive.write_text(json.dumps(foreign("x")) + '\n{"a":' + "[" * 100_000 + "\n")
    _, errors = export("--archive", archive, "--out", tmp_path / "out", code=2)
    assert "row 2: not JSON" in errors
    assert len(errors.splitlines()) == 1


def test_a_failed_hack_is_no_side_of_a_pair(tmp_path: Path) -> None:
    hack = [trip(0, [call("bash", command="cat gold_patch.diff")], "the answer")]
    rows = [foreign("x"), foreign("x", trips=hack, resolved=False, sample=1)]
    out = tmp_path / "out"
    summary, _ = export("--archive", write_array(tmp_path / "a.json", rows), "--out", out)
    assert (summary["sft"], summary["pairs"]) == (1, 0)
    assert list(headings(out).values()) == ["exported", "reward_hack"]
    assert not any("the answer" in path.read_text() for path in out.glob("*.openai.jsonl"))


def test_contradicting_rows_are_seen_before_anything_is_cut_away(tmp_path: Path) -> None:
    trips = [trip(at, [call("bash", command="ls")], "y" * 2000) for at in range(3)]
    row = foreign("x", trips=trips)
    archive = write_array(tmp_path / "a.json", [row, row | {"resolved": False}])
    export("--archive", archive, "--out", tmp_path / "out", "--max-length-tokens", 700, "--truncate")
    assert headings(tmp_path / "out") == {"a.json:1": "unusable", "a.json:2": "unusable"}


@pytest.mark.parametrize(
    ("holdout", "words"),
    [
        ("id", "starts with"),
        ([], "names nothing"),
        ([" id "], "element 1"),
        ([{"instance_id": "id"}], "row 1: model"),
        ({"ids": ["id"]}, "row 1: instance_id"),
        (["id", foreign("x")], "mixes"),
        (None, "starts with"),
        ([3], "element 1"),
    ],
)
def test_a_malformed_holdout_is_refused(tmp_path: Path, holdout: Any, words: str) -> None:
    archive = write_array(tmp_path / "a.json", [foreign("id")])
    held = write_array(tmp_path / "h.json", holdout)
    _, errors = export("--archive", archive, "--holdout", held, "--out", tmp_path / "out", code=2)
    assert words in errors
    assert len(errors.splitlines()) == 1


def test_a_cut_row_that_serves_for_nothing_makes_no_other_a_duplicate(tmp_path: Path) -> None:
    short, trips = foreign("x"), [trip(0, [call("bash", command="ls")])]
    long = foreign("x", trips=[trip(1, [call("bash", command="ls")], "word " * 2000), *trips], resolved=False)
    long["messages"][-1] = short["messages"][-1]
    archive = write_array(tmp_path / "a.json", [long, short])
    export("--archive", archive, "--out", tmp_path / "out", "--max-length-tokens", 200, "--truncate")
    rows = read_lines(tmp_path / "out" / "rows.jsonl")
    assert {row["resolved"]: row["heading"] for row in rows} == {False: "unused", True: "exported"}


def test_a_holdout_counts_by_id_and_by_what_the_task_says(tmp_path: Path) -> None:
    renamed = foreign("other-name") | {"messages": foreign("held")["messages"]}
    archive = write_array(tmp_path / "a.json", [foreign("ID"), renamed, foreign("held"), foreign("good")])
    held = write_array(tmp_path / "h.json", [foreign("held", sample=9)])
    _, errors = export("--archive", archive, "--holdout", held, "--out", tmp_path / "out")
    assert list(headings(tmp_path / "out").values()) == ["exported", "held_out", "held_out", "exported"]
    ids = write_array(tmp_path / "ids.json", ["id", "good"])
    _, errors = export("--archive", archive, "--holdout", ids, "--out", tmp_path / "by-id")
    assert "1 of 2 ids are not in the archive, 'id' first; 'id' differs from 'ID' in case" in errors
    hashes = write_array(tmp_path / "hashes.json", [read_lines(tmp_path / "out" / "rows.jsonl")[-1]["content_hash"]])
    _, errors = export("--archive", archive, "--holdout", hashes, "--out", tmp_path / "by-hash")
    assert "not in the archive" not in errors
    assert list(headings(tmp_path / "by-hash").values())[-1] == "held_out"


def test_a_task_that_is_held_out_by_its_id_is_held_out_under_another_id(tmp_path: Path) -> None:
    renamed = foreign("renamed") | {"messages": foreign("held", sample=1)["messages"]}
    without = [foreign(name) | {"messages": foreign(name)["messages"][2:]} for name in ("held", "no-opening")]
    archive = write_array(tmp_path / "a.json", [renamed, foreign("held"), foreign("good"), *without])
    held = write_array(tmp_path / "ids.json", ["held"])
    export("--archive", archive, "--holdout", held, "--out", tmp_path / "out")
    assert list(headings(tmp_path / "out").values()) == ["held_out", "held_out", "exported", "held_out", "exported"]
    first = read_lines(tmp_path / "out" / "rows.jsonl")[0]
    assert first["reason"] == f"its task's content {first['content_hash'][:12]} is held out"


def own(directory: Path, id_: str, *, kept: bool, task: str = "copy_files", kind: Any = "local") -> Trajectory:
    base = tiny.trajectory(id_, kept=kept, task=task, steps=3 if kept else 2)
    record = base.model_copy(update={"operator": OperatorInfo(kind=kind, model="tiny", seed=0)})
    write_record(directory, record)
    return record


def test_our_trajectories_are_held_out_by_scenario_and_by_archetype(tmp_path: Path) -> None:
    data = tmp_path / "trajectories"
    own(data, "tiny-1-s0", kept=True)
    own(data, "tiny-1-s1", kept=False)
    own(data, "other-1-s0", kept=True, task="sum_column", kind="reference")
    own(data, "third-1-s0", kept=True, task="sort_unique")
    held = tmp_path / "held"
    write_record(held, tiny.scenario("tiny-9", task="sum_column"))
    write_json(held / "manifest.json", {"finished": True, "flags": {"by": "archetype"}})
    summary, errors = export("--archive", data, "--holdout", held, "--out", tmp_path / "out", *ALL)
    assert "not in the archive" not in errors  # no session of tiny-9 is; none should be
    assert {key: summary[key] for key in ("read", "held_out", "exported", "sft", "pairs")} == {
        "read": 4, "held_out": 1, "exported": 3, "sft": 2, "pairs": 1,
    }  # fmt: skip
    (line,) = [json.loads(text) for text in (tmp_path / "out" / "pairs.trl.jsonl").read_text().splitlines()]
    assert line["prompt"][-1] == {"role": "user", "content": "$ "}
    assert line["chosen"][0]["role"] == line["rejected"][0]["role"] == "assistant"
    assert line["chosen"] != line["rejected"]


def test_a_holdout_that_does_not_tell_its_split_is_told(tmp_path: Path) -> None:
    data, held, out = tmp_path / "trajectories", tmp_path / "held", tmp_path / "out"
    own(data, "tiny-1-s0", kept=True)
    write_record(held, tiny.scenario("tiny-9", task="copy_files"))  # of the same archetype
    told = f"{held}: does not say how it was split; comparing scenarios, not archetypes"
    summary, errors = export("--archive", data, "--holdout", held, "--out", out)
    assert (summary["exported"], told in errors) == (1, True)
    _, errors = export("--verify", out / "sft.openai.jsonl", "--holdout", held)
    assert told in errors


def test_a_second_run_changes_nothing_and_other_flags_are_refused(tmp_path: Path) -> None:
    archive = write_array(tmp_path / "a.json", [foreign("x")])
    first, _ = export("--archive", archive, "--out", tmp_path / "out")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    second, _ = export("--archive", archive, "--out", tmp_path / "out")
    assert first == second
    assert before == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    _, errors = export("--archive", archive, "--out", tmp_path / "out", "--truncate", code=2)
    assert "--truncate was False, is True" in errors


def hash_of(rows: list[dict[str, Any]], instance: str) -> str:
    """The content hash of a task, as a holdout may name it."""
    row = next(row for row in rows if row["instance_id"] == instance)
    return foreign_row(Path("a.json"), 1, row).content_hash


def test_exported_files_are_verified_against_archetypes_too(tmp_path: Path) -> None:
    data, held, out = tmp_path / "trajectories", tmp_path / "held", tmp_path / "out"
    own(data, "tiny-1-s0", kept=True)
    own(data, "third-1-s0", kept=True, task="sort_unique")
    export("--archive", data, "--out", out)
    write_record(held, tiny.scenario("tiny-9", task="copy_files"))  # another scenario of the archetype
    for by, code in (("scenario", 0), ("archetype", 2)):
        write_json(held / "manifest.json", {"finished": True, "flags": {"by": by}})
        _, errors = export("--verify", out / "sft.openai.jsonl", "--holdout", held, code=code)
        line = 1 + [line["name"] for line in read_lines(out / "rows.jsonl")].index(f"{data}/tiny-1-s0")
        assert (f"line {line}: {data}/tiny-1-s0: archetype copy_files is held out" in errors) == (by == "archetype")


def test_exported_files_are_verified_against_a_holdout(tmp_path: Path) -> None:
    rows = [foreign("x"), foreign("x", resolved=False, sample=1), foreign("y", model="opus", tier="frontier")]
    out = tmp_path / "out"
    export("--archive", write_array(tmp_path / "a.json", rows), "--out", out, *ALL)
    files = [out / f"{kind}.{form}.jsonl" for kind in ("sft", "pairs") for form in ("openai", "trl", "unsloth")]
    clean = write_array(tmp_path / "clean.json", ["z"])
    summary, _ = export("--verify", *files, "--holdout", clean)
    assert summary["lines"] == 9
    content = hash_of(rows, "x")
    for holdout, file, words in (
        ("y", files[0], "line 2: a.json:3: instance y is held out"),
        ("x", files[3], "line 1: a.json:1: instance x is held out"),
        (content, files[0], f"line 1: a.json:1: its task's content {content[:12]} is held out"),
    ):
        held = write_array(tmp_path / "held.json", [holdout])
        _, errors = export("--verify", file, "--holdout", held, code=2)
        assert f"{file}: {words.replace('a.json', str(tmp_path / 'a.json'))}" in errors
    files[0].write_text(files[0].read_text().replace("Done", "Gone"))
    _, errors = export("--verify", files[0], "--holdout", clean, code=2)
    assert "is not the line that sft.sidecar.jsonl describes" in errors


def test_ten_thousand_rows_pass_in_bounded_memory(tmp_path: Path) -> None:
    """Of each ten rows: eight successes, a failure beside the eighth (a pair), and a row that reads the solution."""
    shown, hack = ([trip(0, [call("bash", command=one)], "x" * 8000)] for one in ("ls", "cat gold_patch.diff"))
    rows = [foreign(f"AT-{at}", trips=shown) for at in range(8)]
    rows += [foreign("AT-7", trips=shown, resolved=False, sample=1), foreign("AT-9", trips=hack)]
    text = ",\n".join(map(json.dumps, rows))
    with (tmp_path / "a.json").open("w") as stream:
        for at in range(1_000):
            stream.write(("[" if at == 0 else ",\n") + text.replace("AT-", f"i{at}-"))
        stream.write("]")
    command = [*program("export.py"), "--archive", tmp_path / "a.json", "--out", tmp_path / "out"]
    code = f"import resource, subprocess, sys; subprocess.run({list(map(str, command))!r}, check=True, stderr=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"  # noqa: E501
    done = subprocess.run([program("x.py")[0], "-c", code], capture_output=True, text=True, check=True)
    summary, peak = done.stdout.splitlines()
    read = {"read": 10_000, "exported": 9_000, "reward_hack": 1_000, "sft": 8_000, "pairs": 1_000}
    assert json.loads(summary).items() >= read.items()
    assert (tmp_path / "a.json").stat().st_size > 80_000_000
    assert int(peak) * 1024 < (tmp_path / "a.json").stat().st_size
