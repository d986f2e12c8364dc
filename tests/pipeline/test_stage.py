"""A stage resumes in its directory with the same flags, and refuses others by name."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from pipeline import stage
from pipeline.files import read_json, read_manifest, write_json
from schema import BadInputError, WorldError


def test_manifest_is_unfinished_until_the_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    manifest = stage.begin(out, stage="rollout", flags={"seed": 1})
    assert read_json(out / "manifest.json")["finished"] is False
    stage.finish(out, manifest, ids=["b", "a"], counts={"n": 2})
    after = read_json(out / "manifest.json")
    assert (after["finished"], after["ids"], after["counts"]) == (True, ["a", "b"], {"n": 2})


def test_changed_flags_inputs_and_images_are_refused(tmp_path: Path) -> None:
    out, source = tmp_path / "out", tmp_path / "in"
    write_json(source / "a.json", {"x": 1})
    begin: dict[str, Any] = {"stage": "rollout", "flags": {"seed": 1, "n": 3}, "inputs": [source], "image_digest": "i1"}
    stage.begin(out, **begin)
    stage.begin(out, **begin)
    with pytest.raises(BadInputError, match="--seed was 1, is 2"):
        stage.begin(out, **begin | {"flags": {"seed": 2, "n": 3}})
    with pytest.raises(BadInputError, match="image was i1, is i2"):
        stage.begin(out, **begin | {"image_digest": "i2"})
    with pytest.raises(BadInputError, match="stage 'rollout'"):
        stage.begin(out, **begin | {"stage": "sft"})
    write_json(source / "a.json", {"x": 2})
    with pytest.raises(BadInputError, match="input 'in'"):
        stage.begin(out, **begin)


def test_two_inputs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    inputs = [tmp_path / "a" / "in", tmp_path / "b" / "in"]
    for source in inputs:
        write_json(source / "a.json", {"x": 1})
    begin: dict[str, Any] = {"stage": "export", "flags": {}, "inputs": inputs}
    assert sorted(stage.begin(tmp_path / "out", **begin).inputs) == ["in", "in (2)"]
    for source in inputs:
        write_json(source / "a.json", {"x": 2})
        with pytest.raises(BadInputError, match="input 'in"):
            stage.begin(tmp_path / "out", **begin)
        write_json(source / "a.json", {"x": 1})


def test_growing_flags_cannot_shrink(tmp_path: Path) -> None:
    stage.begin(tmp_path / "o", stage="generate", flags={"n": 3, "workers": 4})
    stage.begin(tmp_path / "o", stage="generate", flags={"n": 5, "workers": 2})
    with pytest.raises(BadInputError, match="--n was 5, is 4"):
        stage.begin(tmp_path / "o", stage="generate", flags={"n": 4, "workers": 2})


def test_finished_run_is_returned_unchanged(tmp_path: Path) -> None:
    out, source = tmp_path / "out", tmp_path / "in"
    write_json(source / "a.json", {"x": 1})
    begin: dict[str, Any] = {"stage": "rollout", "inputs": [source], "image_digest": "i1"}
    manifest = stage.begin(out, **begin, flags={"seed": 1, "n": 3})
    stage.finish(out, manifest, ids=["a"], counts={"n": 3})
    finished, written = read_manifest(out), (out / "manifest.json").stat()
    again = stage.begin(out, **begin, flags={"seed": 1, "n": 3})
    assert again == finished
    assert (again.finished, again.ids, again.counts) == (True, ["a"], {"n": 3})
    now = (out / "manifest.json").stat()
    assert (now.st_mtime_ns, now.st_ino) == (written.st_mtime_ns, written.st_ino)
    grown = stage.begin(out, **begin, flags={"seed": 1, "n": 4})
    assert not grown.finished
    assert read_manifest(out) == grown
    assert grown.flags["n"] == 4


def test_redo_empties_stage_directories_only(tmp_path: Path) -> None:
    stage.begin(tmp_path / "o", stage="generate", flags={"seed": 1})
    (tmp_path / "o" / "old.json").write_text("{}")
    stage.begin(tmp_path / "o", stage="generate", flags={"seed": 2}, redo=True)
    assert not (tmp_path / "o" / "old.json").exists()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(BadInputError, match="not empty"):
        stage.begin(tmp_path / "home", stage="generate", flags={}, redo=True)
    assert (tmp_path / "home" / "letter.txt").exists()


def test_unwritable_out_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInputError, match="cannot be written"):
        stage.begin(tmp_path / "file" / "out", stage="generate", flags={})


def test_weights_are_as_readable_as_the_manifest(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "base.safetensors"
    manifest = stage.begin(out, stage="merge", flags={})
    (out / "deeper").mkdir()
    weights = [out / "model.safetensors", out / "deeper" / "adapter_model.safetensors", elsewhere]
    for path in weights:
        path.write_bytes(b"")
        path.chmod(0o600)
    (out / "base.safetensors").symlink_to(elsewhere)
    (out / "manifest.json").chmod(0o640)  # as with umask 027
    stage.finish(out, manifest, ids=[], counts={})
    assert [stat.S_IMODE(path.stat().st_mode) for path in weights] == [0o640, 0o640, 0o600]


def test_half_written_files_are_removed(tmp_path: Path) -> None:
    for half in (".manifest.json.12.tmp", "raw/.a.json.3.tmp"):
        (tmp_path / "out" / half).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / half).write_text("{")
        stage.begin(tmp_path / "out", stage="rollout", flags={"seed": 1})
        assert not (tmp_path / "out" / half).exists()


def test_exit_codes_and_streams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def bad() -> int:
        raise BadInputError("x.json: field: remedy")

    def stopped() -> int:
        raise KeyboardInterrupt

    def broken() -> int:
        raise WorldError("reap: no answer")

    parser = stage.command_line("doc")
    for main, code in ((bad, 2), (broken, 1), (stopped, 130), (lambda: 1, 1)):
        with pytest.raises(SystemExit) as end:
            stage.run_script(main, parser, [])
        assert end.value.code == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "x.json: field: remedy" in captured.err
    assert "error: reap: no answer; rerun the same command" in captured.err


def test_nothing_that_others_wrote_reaches_the_terminal_as_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hostile = "a\x1b]0;t\x07\u202e\x9b"

    def fail() -> int:
        raise BadInputError(hostile)

    with pytest.raises(SystemExit, match="2"):
        stage.run_script(fail, stage.command_line("Fail."), [])
    with stage.Progress(1, "read") as bar:
        bar.record(hostile, "refused:\nwhy")
    stage.print_summary({"id": hostile})
    printed = capsys.readouterr()
    assert [line.partition("error: ")[2] or line for line in printed.err.splitlines()] == [
        "a«ESC»]0;t«BEL»«U+202E»«U+009B»", "read 1/1 a«ESC»]0;t«BEL»«U+202E»«U+009B» refused: why",
    ]  # fmt: skip
    assert printed.out.rstrip("\n").isprintable()
    assert json.loads(printed.out) == {"id": hostile}
