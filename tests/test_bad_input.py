"""Every script answers bad input with one line and exit code 2."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from model.loading import model_hash
from pipeline.files import write_json, write_record
from tests.helpers import ROOT, program, tiny

BASE = "tiny"  # a base of random weights, in the place of the test
FINISHED = {"finished": True, "flags": {"by": "scenario"}}  # without a manifest a note would come before the error
NO_DOCKER = {"DOCKER_HOST": "unix:///nowhere.sock"}

# What a directory of records can be, and the words that name it.
RECORDS = {
    "missing": "no such directory",
    "empty": "holds no records",
    "not_json": "a.json: not JSON",
    "version": "schema_version 99",
    "axis": "juggling",
    "unfinished": "--partial",
}
READERS = {
    "split.py": ["--scenarios", "{records}", "--by", "archetype", "--k", "1", "--out", "out"],
    "rollout.py": ["--operator", "reference", "--scenarios", "{records}", "--out", "out"],
    "eval.py": ["--base", BASE, "--scenarios", "{records}", "--out", "out"],
    "sft.py": ["--base", BASE, "--data", "{records}", "--out", "out"],
    "contamination.py": ["--scenarios", "good", "--holdout", "{records}"],
}
# Script, flags, environment, words.
ROWS: list[tuple[str, list[str], dict[str, str], str]] = [
    ("get_base.py", ["--out", "file/out"], {}, "cannot be written"),
    ("generate.py", ["--author", "template", "--n", "2", "--out", "file/out"], {}, "cannot be written"),
    ("generate.py", ["--author", "template", "--n", "2", "--out", "out"], NO_DOCKER, "no Docker engine answers"),
    ("generate.py", ["--author", "template", "--n", "0", "--out", "out"], {}, "--n"),
    ("generate.py", ["--author", "nobody", "--n", "2", "--out", "out"], {}, "invalid choice"),
    ("authoring.gate", ["nowhere.json"], {}, "nowhere.json"),
    ("authoring.gate", ["good/tiny-1.json"], NO_DOCKER, "no Docker engine answers"),
    ("split.py", ["--scenarios", "good", "--by", "archetype", "--k", "1", "--out", "file/o"], {}, "cannot be written"),
    ("rollout.py", ["--operator", "reference", "--scenarios", "good", "--out", "out"], NO_DOCKER, "no Docker engine"),
    ("rollout.py", ["--operator", "reference", "--scenarios", "good", "--out", "file/out"], {}, "cannot be written"),
    ("rollout.py", ["--operator", "local", "--base", "bare", "--scenarios", "good", "--out", "o"], {}, "tokenizer"),
    ("eval.py", ["--base", BASE, "--scenarios", "good", "--out", "out"], NO_DOCKER, "no Docker engine answers"),
    ("eval.py", ["--base", BASE, "--scenarios", "good", "--out", "file/out"], {}, "cannot be written"),
    ("eval.py", ["--base", "bare", "--scenarios", "good", "--out", "out"], {}, "tokenizer"),
    ("eval.py", ["--base", BASE, "--adapter", "other", "--scenarios", "good", "--out", "o"], {}, "'another'"),
    ("report.py", ["--runs", "good", "--table", "rates.md"], {}, "no report.json"),
    ("sft.py", ["--base", "bare", "--data", "sessions", "--out", "out"], {}, "tokenizer"),
    ("sft.py", ["--base", BASE, "--lr", "1e-3", "--data", "sessions", "--out", "file/out"], {}, "cannot be written"),
    ("training.reload", ["--base", BASE, "--adapter", "nowhere"], {}, "no probe.safetensors"),
    ("average.py", ["--base", BASE, "--adapters", "other", "--out", "o"], {}, "at least two"),
    ("average.py", ["--base", BASE, "--adapters", "nowhere", "other", "--out", "o"], {}, "nowhere: no adapter_model"),
    ("average.py", ["--base", BASE, "--adapters", "other", "other", "--out", "o"], {}, "'another'"),
    ("merge.py", ["--base", BASE, "--adapter", "nowhere", "--out", "o"], {}, "nowhere: no adapter_model"),
    ("merge.py", ["--base", BASE, "--adapter", "other", "--out", "o"], {}, "'another'"),
    ("merge.py", ["--base", BASE, "--adapter", "own", "--out", BASE], {}, "is the base"),
    ("merge.py", ["--base", BASE, "--adapter", "own", "--out", "file/out"], {}, "cannot be written"),
    ("merge.py", ["--base", BASE, "--adapter", "own", "--out", "o", "--dtype", "int8"], {}, "invalid choice"),
    ("gguf_adapter.py", ["--base", BASE, "--adapter", "own", "--out", BASE], {}, "is the base"),
    ("gguf_adapter.py", ["--base", BASE, "--adapter", "own", "--out", "o", "--llama-cpp", "good"], {}, "a checkout of"),
    ("serve_check.py", ["--base", BASE], {}, "--url"),
    ("serve_check.py", ["--base", BASE, "--url", "http://[::1]:1/v1"], {}, "--model"),
    ("serve_check.py", ["--base", BASE, "--url", "x", "--model", "m", "--n", "0"], {}, "--n"),
    (
        "serve_check.py",
        ["--base", BASE, "--adapter", "own", "--render", "chat", "--url", "x", "--model", "m"],
        {},
        "--rend",
    ),
    ("serve_check.py", ["--base", BASE, "--adapter", "own", "--url", "x", "--model", "m"], {}, "pass --completions"),
    (
        "rollout.py",
        ["--operator", "reference", "--completions", "--scenarios", "good", "--out", "o"],
        {},
        "--completions",
    ),
    ("make_stubs.py", ["--out", "file/out"], {}, "cannot be written"),
    ("make_stubs.py", ["--out", "out", "--copies", "0"], {}, "--copies"),
    ("contamination.py", ["--holdout", "good"], {}, "--data: missing"),
    ("contamination.py", ["--holdout", "good", "--scenarios", "good", "--unread", "o"], {}, "--unread: needs"),
    ("resident.py", ["--base", "bare", "--socket", "s", "serve"], {}, "tokenizer"),
    ("resident.py", ["--base", "nowhere", "--socket", "s", "serve"], {}, "no such base"),
    ("resident.py", ["--socket", "nobody-there", "status"], {}, "nobody-there"),
    *(
        (name, [*flags, "--timeout-seconds", seconds], {}, "--timeout-seconds")
        for seconds in ("nan", "inf", "0", "-1")
        for name, flags in {
            "generate.py": ["--n", "1", "--author", "template", "--out", "o"],
            "rollout.py": ["--scenarios", "good", "--out", "o", "--operator", "reference"],
            "eval.py": ["--base", "bare", "--scenarios", "good", "--out", "o"],
            "authoring.gate": ["good/tiny-1.json"],
        }.items()
    ),
    ("dashdocker.py", ["reap"], NO_DOCKER, "no Docker engine answers"),
    ("dashdocker.py", ["self-check", "--only", "Z99"], {}, "Z99"),
    ("taxonomy.py", ["--n", "3"], {}, "unrecognized arguments: --n 3"),
    ("schema.py", ["--out", "file/out"], {}, "cannot be written"),
    ("schema.py", [], {}, "--out"),
    ("pipeline.verdicts", ["--n", "3"], {}, "unrecognized arguments: --n 3"),
    ("pipeline.records_page", ["--out", "file/out"], {}, "cannot be written"),
    ("sandbox.tables", ["--page", "nowhere.md"], {}, "nowhere.md: cannot be read"),
    ("sandbox.tables", ["--page", "file"], {}, "marker comments"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with good records, spoilt ones, a base without a tokenizer and an adapter of another base."""
    place = tmp_path_factory.mktemp("bad")
    write_record(place / "good", tiny.scenario())
    write_record(place / "good", tiny.scenario("tiny-2", task="sum_column"))
    write_record(place / "sessions", tiny.trajectory())
    for directory in ("good", "sessions"):
        write_json(place / directory / "manifest.json", FINISHED)
    spoilt: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "scenario": ({"task": "juggling", "content_hash": ""}, json.loads(tiny.scenario().model_dump_json())),
        "trajectory": ({"axes": {"task": "juggling"}}, json.loads(tiny.trajectory().model_dump_json())),
    }
    for kind, (axis, record) in spoilt.items():
        for what in RECORDS:
            if what != "missing":
                write_json(place / kind / what / "manifest.json", {**FINISHED, "finished": what != "unfinished"})
        (place / kind / "not_json" / "a.json").write_text("{")
        write_json(place / kind / "version" / "a.json", {**record, "schema_version": 99})
        write_json(place / kind / "axis" / "a.json", {**record, **axis})
    (place / "file").write_text("")
    tiny.base(place / BASE)
    (place / "bare").mkdir()
    write_json(place / "bare" / "config.json", {"model_type": "llama"})
    (place / "other").mkdir()
    (place / "other" / "adapter_model.safetensors").write_bytes(b"")
    write_json(place / "other" / "sekft.json", {"base": "another", "base_hash": "0" * 64})
    (place / "own").mkdir()
    (place / "own" / "adapter_model.safetensors").write_bytes(b"")
    write_json(place / "own" / "sekft.json", {"base": BASE, "base_hash": model_hash(place / BASE)})
    write_json(place / "own" / "render.json", {"wire": "markers"})
    return place


def refused(place: Path, name: str, flags: list[str], environment: dict[str, str], words: str) -> None:
    command = [*program(name), *flags]
    keep = {key: value for key, value in os.environ.items() if not key.startswith("SEKFT_")}
    done = subprocess.run(
        command,
        cwd=place,
        capture_output=True,
        text=True,
        env={**keep, "PYTHONPATH": str(ROOT), **environment},
        check=False,
        timeout=120,
    )
    assert done.returncode == 2, done
    (line,) = done.stderr.splitlines()  # no note, no usage, no traceback
    assert words in line
    assert done.stdout == ""


@pytest.mark.docker
@pytest.mark.parametrize("what", RECORDS)
@pytest.mark.parametrize("name", READERS)
def test_unusable_records_are_named(name: str, what: str, place: Path) -> None:
    kind = "trajectory" if name == "sft.py" else "scenario"
    words = "one known value per axis" if (name, what) == ("sft.py", "axis") else RECORDS[what]
    refused(place, name, [flag.format(records=f"{kind}/{what}") for flag in READERS[name]], {}, words)


@pytest.mark.docker
@pytest.mark.parametrize(("name", "flags", "environment", "words"), ROWS)
def test_mistakes_are_one_line(
    name: str, flags: list[str], environment: dict[str, str], words: str, place: Path
) -> None:
    refused(place, name, flags, environment, words)


def test_every_program_has_a_row() -> None:
    named = {*READERS, *(row[0] for row in ROWS)}
    assert {path.name for path in ROOT.glob("*.py")} <= named
    modules = [path.relative_to(ROOT) for path in ROOT.glob("*/*.py") if "\ndef parser(" in path.read_text()]
    assert {".".join(path.with_suffix("").parts) for path in modules if path.parts[0] not in ("bench", "dev")} <= named
