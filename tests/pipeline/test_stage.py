"""A stage's directory says what made it; a rerun resumes, and one that differs is refused with the difference named."""

from pathlib import Path
from typing import Any

import pytest

from pipeline import stage
from pipeline.files import read_json, write_json
from schema import BadInputError


def test_a_manifest_is_unfinished_until_the_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    manifest = stage.begin(out, stage="rollout", flags={"seed": 1})
    assert read_json(out / "manifest.json")["finished"] is False
    stage.finish(out, manifest, ids=["b", "a"], counts={"n": 2})
    after = read_json(out / "manifest.json")
    assert (after["finished"], after["ids"], after["counts"]) == (True, ["a", "b"], {"n": 2})


def test_another_flag_input_image_or_stage_is_refused_and_named(tmp_path: Path) -> None:
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


def test_what_may_grow_may_grow_and_not_shrink(tmp_path: Path) -> None:
    stage.begin(tmp_path / "o", stage="generate", flags={"n": 3, "workers": 4})
    stage.begin(tmp_path / "o", stage="generate", flags={"n": 5, "workers": 2})
    with pytest.raises(BadInputError, match="--n was 5, is 4"):
        stage.begin(tmp_path / "o", stage="generate", flags={"n": 4, "workers": 2})


def test_redo_starts_over_but_never_on_a_directory_that_is_not_a_stages(tmp_path: Path) -> None:
    stage.begin(tmp_path / "o", stage="generate", flags={"seed": 1})
    (tmp_path / "o" / "old.json").write_text("{}")
    stage.begin(tmp_path / "o", stage="generate", flags={"seed": 2}, redo=True)
    assert not (tmp_path / "o" / "old.json").exists()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(BadInputError, match="not empty"):
        stage.begin(tmp_path / "home", stage="generate", flags={}, redo=True)
    assert (tmp_path / "home" / "letter.txt").exists()


def test_an_unwritable_out_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInputError, match="cannot be written"):
        stage.begin(tmp_path / "file" / "out", stage="generate", flags={})


def test_what_a_run_that_was_killed_had_half_written_is_gone(tmp_path: Path) -> None:
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

    parser = stage.command_line("doc")
    for main, code in ((bad, 2), (stopped, 130), (lambda: 1, 1)):
        with pytest.raises(SystemExit) as end:
            stage.run_script(main, parser, [])
        assert end.value.code == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "x.json: field: remedy" in captured.err
