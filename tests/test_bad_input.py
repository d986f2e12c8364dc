"""Every script answers bad input with one line and exit code 2."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from model.loading import adapter_hash, model_hash
from pipeline.files import read_json, write_json, write_record
from tests.helpers import ROOT, program, tiny
from tests.helpers.foreign import foreign

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
    "rl.py": ["--base", BASE, "--adapter", "other", "--scenarios", "{records}", "--out", "out"],
    "contamination.py": ["--scenarios", "good", "--holdout", "{records}"],
    "export.py": ["--archive", "{records}", "--out", "out", "--holdout", "good"],
}
# What a taxonomy file can be, and the words that name it.
TAXONOMIES = {
    "nowhere": "nowhere.json: cannot be read",
    "huge": "huge.json: is over",
    "deep": "deep.json: not JSON",
    "number": "number.json: not JSON",
    "list": "list.json: content",
    "empty": "archetypes: none",
    "field": "extra_field",
    "type": "archetypes.0.summary",
    "shipped": "'copy_files' is a shipped value",
    "twice": "'mine' occurs twice",
    "path": "archetypes.0.name",
    "bidi": "archetypes.0.summary",
    "terminal": "archetypes.0.terminal",
    "like": "announcements.0.like",
}
PLAY = [
    "play", "--cheap", "reference", "--frontier", "reference", "--scenarios", "good", "--prices", "prices.json",
    "--out", "o",
]  # fmt: skip
SELECT = ["--base", BASE, "--candidates", "own", "--scenarios", "good", "--holdout", "apart", "--out", "o"]
# Script, flags, environment, words.
ROWS: list[tuple[str, list[str], dict[str, str], str]] = [
    ("get_base.py", ["--out", "file/out"], {}, "cannot be written"),
    ("generate.py", ["--author", "template", "--n", "2", "--out", "file/out"], {}, "cannot be written"),
    ("generate.py", ["--author", "template", "--n", "2", "--out", "out"], NO_DOCKER, "no Docker engine answers"),
    ("generate.py", ["--author", "template", "--n", "0", "--out", "out"], {}, "--n"),
    ("generate.py", ["--author", "nobody", "--n", "2", "--out", "out"], {}, "invalid choice"),
    *(
        ("generate.py", ["--author", "teacher", "--out", "o", "--taxonomy", f"taxonomies/{name}.json"], {}, words)
        for name, words in TAXONOMIES.items()
    ),
    (
        "generate.py",
        ["--out", "o", "--author", "template", "--taxonomy", "taxonomies/good.json"],
        {},
        "--author teacher",
    ),
    ("generate.py", ["--out", "o", "--author", "template", "--image", "no"], {}, "'no' is not in"),
    ("generate.py", [], {}, "--out: missing"),
    ("generate.py", ["--check", "good", "--out", "o"], {}, "--out: --check does not read it"),
    ("generate.py", ["--check", "nowhere"], {}, "no such directory"),
    ("generate.py", ["--check", "good", "--workers", "0"], {}, "--workers 0"),
    *(
        ("generate.py", ["--check", "good", *flags], {}, f"{flags[0]}: --check does not read it")
        for flags in (
            ["--difficulties", "easy"],
            ["--redo"],
            ["--n", "2"],
            ["--seed", "7"],
            ["--seed", "1"],  # its default
            ["--repairs", "0"],
            ["--max-total-tokens", "9"],
            ["--tasks", "copy_files"],
            ["--ray", "auto"],
        )
    ),
    (
        "rollout.py",
        ["--operator", "reference", "--scenarios", "good", "--out", "o", "--image", "no"],
        {},
        "'no' is not",
    ),
    ("rollout.py", ["--operator", "reference", "--scenarios", "elsewhere", "--out", "o"], {}, "pass --image my-tools"),
    ("eval.py", ["--base", BASE, "--scenarios", "elsewhere", "--out", "out"], {}, "pass --image my-tools"),
    ("eval.py", ["--base", BASE, "--scenarios", "good", "--out", "out", "--image", "no"], {}, "'no' is not in"),
    ("authoring.gate", ["good/tiny-1.json", "--image", "no"], {}, "'no' is not in"),
    ("dashdocker.py", ["self-check", "--image", "no"], {}, "'no' is not in"),
    *(
        ("dashdocker.py", ["self-check", "--image", name], {}, "is no name of an image")
        for name in ("", "A b", "-x; y")
    ),
    ("dashdocker.py", ["reap", "--image", "no"], {}, "belong to self-check"),
    ("split.py", ["--scenarios", "two", "--by", "scenario", "--fraction", "0.5", "--out", "o"], {}, "something else"),
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
    ("report.py", ["--table", "rates.md"], {}, "--runs: missing"),
    ("report.py", ["--runs", "good"], {}, "nothing to write"),
    ("report.py", ["--runs", "nowhere", "--html", "page.html"], {}, "nowhere: no such directory"),
    ("report.py", ["--runs", "bare", "--html", "page.html"], {}, "bare: holds no report.json"),
    ("report.py", ["--runs", "good", "--html", "file/page.html"], {}, "file/page.html: cannot be written"),
    ("report.py", ["--runs", "trajectory/unfinished", "--html", "page.html"], {}, "--partial"),
    ("report.py", ["--runs", "trajectory/axis", "--html", "page.html"], {}, "one known value per axis"),
    ("report.py", ["--runs", "scenario/not_json", "--html", "page.html"], {}, "a.json: not JSON"),
    ("report.py", ["--watch", "nowhere"], {}, "nowhere: no manifest.json"),
    ("report.py", ["--watch", "good", "--html", "page.html"], {}, "--watch shows something alone"),
    ("report.py", ["--show", "x", "nowhere"], {}, "nowhere: no such directory"),
    ("report.py", ["--show", "x", "sessions"], {}, "sessions: no session 'x'; there are 1"),
    ("report.py", ["--show", "tiny-1-s0", "sessions", "--mask", "--base", "bare"], {}, "tokenizer"),
    ("report.py", ["--runs", "good", "--html", "page.html", "--mask"], {}, "--mask belongs to --show"),
    ("report.py", ["--runs", "good", "--html", "page.html", "--render", "chat"], {}, "--render belongs to --mask"),
    ("report.py", ["--runs", "good", "--html", "page.html", "--axes", "task"], {}, "--axes belongs to --table"),
    ("report.py", ["--runs", "good", "--html", "x", "--table", "./x"], {}, "two of them name one file"),
    ("report.py", ["--runs", "sessions", "--html", "sessions/tiny-1-s0.json"], {}, "lies in the run sessions"),
    ("report.py", ["--show", "tiny-1", "good"], {}, "tiny-1.json: holds a scenario; name a directory of trajectories"),
    ("report.py", ["--show", "manifest", "sessions"], {}, "no session 'manifest'; there are 1"),
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
    ("serve.py", ["--base", "nowhere"], {}, "no such base"),
    ("serve.py", ["--base", BASE, "--slots", "0"], {}, "--slots"),
    ("serve.py", ["--base", BASE, "--port", "70000"], {}, "--port"),
    ("serve.py", ["--base", BASE, "--url", "http://127.0.0.1:9/v1"], {}, "--model"),
    ("serve.py", ["--base", BASE, "--model", "m"], {}, "--url"),
    ("serve.py", ["--base", BASE, "--url", "x", "--model", "m", "--name", "n"], {}, "--name"),
    ("serve.py", ["--base", BASE, "--max-new-tokens", "0"], {}, "--max-new-tokens"),
    ("serve.py", ["--base", "nowhere", "--uds", "nowhere/x"], {}, "--uds nowhere/x: nowhere is no directory"),
    ("serve.py", ["--base", BASE, "--uds", "file"], {}, "--uds file: exists already"),
    ("serve.py", ["--base", BASE, "--uds", "x" * 108], {}, "at most 107 bytes"),
    *(
        ("serve.py", ["--base", BASE, "--url", "x", "--model", "m", *flags], {}, f"{flags[0]} does not belong to --url")
        for flags in (["--dtype", "fp32"], ["--load-4bit"], ["--slots", "2"])
    ),
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
    (
        "rollout.py",
        ["--operator", "local", "--base", BASE, "--temperature", "-1", "--scenarios", "good", "--out", "o"],
        {},
        "--temperature",
    ),
    (
        "rollout.py",
        [
            "--operator",
            "agent",
            "--agent",
            "plain",
            "--base",
            BASE,
            "--adapter",
            "own",
            "--scenarios",
            "good",
            "--out",
            "o",
        ],
        {},
        "train an adapter with --render chat",
    ),
    *(
        ("rollout.py", ["--scenarios", "good", "--out", "o", "--operator", *flags], {}, words)
        for flags, words in (
            (["agent", "--agent", "plain", "--ray", "local"], "--ray does not belong to --operator agent"),
            (["reference", "--answers", "reference"], "--answers belongs to --operator agent"),
            (["agent", "--agent", "plain", "--answers", "reference", "--adapter", "own"], "--adapter belongs to"),
            (["reference", "--ray", "127.0.0.1:9"], "--ray 127.0.0.1:9: nothing answers there"),
            (["reference", "--ray", "127.0.0.1:70000"], "--ray 127.0.0.1:70000: nothing answers there"),
            (["reference", "--ray", "head:port"], "--ray head:port: 'port' is no port"),
        )
    ),
    ("make_stubs.py", ["--out", "file/out"], {}, "cannot be written"),
    ("make_stubs.py", ["--out", "out", "--copies", "0"], {}, "--copies"),
    ("contamination.py", ["--holdout", "good"], {}, "--data: missing"),
    ("contamination.py", ["--holdout", "good", "--scenarios", "good", "--unread", "o"], {}, "--unread: needs"),
    ("export.py", ["--out", "o"], {}, "--archive: missing"),
    ("export.py", ["--archive", "good"], {}, "--out: missing"),
    ("export.py", ["--archive", "file", "file", "--out", "o"], {}, "named twice"),
    ("export.py", ["--archive", "nowhere", "--out", "o"], {}, "nowhere: no such directory"),
    ("export.py", ["--archive", "sessions", "--out", "file/o"], {}, "cannot be written"),
    ("export.py", ["--archive", "sessions", "--out", "o", "--max-length-tokens", "0"], {}, "--max-length-tokens"),
    ("export.py", ["--archive", "sessions", "--out", "o", "--holdout", "nowhere"], {}, "nowhere: cannot be read"),
    ("export.py", ["--archive", "sessions", "--out", "o", "--base", "bare"], {}, "tokenizer"),
    ("export.py", ["--archive", "sessions", "--out", "o", "--to", "parquet"], {}, "invalid choice"),
    ("export.py", ["--verify", "file"], {}, "--verify: needs --holdout"),
    ("export.py", ["--verify", "file", "--holdout", "good"], {}, "no file.sidecar.jsonl beside it"),
    (
        "export.py",
        ["--archive", "sessions", "--out", "o", "--per-scenario", "0"],
        {},
        "--per-scenario 0: must be at least 1",
    ),
    ("export.py", ["--verify", "spoilt/sft.trl.jsonl", "--holdout", "good"], {}, "spoilt/sft.sidecar.jsonl: line 1: "),
    ("export.py", ["--verify", "spoilt/pairs.trl.jsonl", "--holdout", "good"], {}, "pairs.sidecar.jsonl: cannot be"),
    ("export.py", ["--archive", "tools.json", "--out", "o"], {}, "tools.json: row 1: tools.0.function: Field required"),
    ("cascade.py", ["play"], {}, "--scenarios: missing"),
    ("cascade.py", ["play", "--scenarios", "good", "--out", "o"], {}, "--prices: missing"),
    ("cascade.py", ["play", "--scenarios", "good", "--out", "o", "--prices", "file"], {}, "file: not JSON"),
    ("cascade.py", ["compare"], {}, "--before, --after: missing"),
    ("cascade.py", ["compare", "--before", "nowhere", "--after", "file"], {}, "nowhere: cannot be read"),
    ("cascade.py", ["compare", "--before", "nowhere", "--after", "file", "--workers", "0"], {}, "--workers: compare"),
    ("cascade.py", ["compare", "--before", "BAD", "--after", "file", "--escalate-on", "luck"], {}, "invalid choice"),
    (
        "select_adapter.py",
        ["--base", BASE, "--candidates", "other", "--scenarios", "good", "--out", "o", "--holdout", "good"],
        {},
        "select on other scenarios",
    ),
    (
        "select_adapter.py",
        ["--base", BASE, "--candidates", "other", "--scenarios", "good", "--out", "o", "--holdout", "apart"],
        {},
        "'another'",
    ),
    ("rollout.py", ["--operator", "local", "--adapter", "file", "--scenarios", "good", "--out", "o"], {}, "not JSON"),
    ("dpo.py", ["--base", BASE, "--adapter", "none.json", "--data", "sessions"], {}, "no adapter is selected"),
    (
        "rollout.py",
        ["--scenarios", "good", "--out", "o"],
        {"SEKFT_OP_MODEL": "any", "SEKFT_OP_URL": "http://localhost:abc/v1"},
        "is no address of an endpoint",
    ),
    (
        "rollout.py",
        ["--scenarios", "good", "--out", "o"],
        {"SEKFT_OP_MODEL": "any", "SEKFT_OP_URL": "http://localhost:9/v1", "SEKFT_OP_KEY": "schlüssel"},
        "no HTTP header can carry",
    ),
    ("contamination.py", ["--data", "sessions", "--holdout", "good", "--out", "good"], {}, "cannot be written"),
    ("training.reload", ["--base", BASE, "--adapter", "none.json"], {}, "none is selected"),
    ("eval.py", ["--adapter", "chosen.json", "--scenarios", "good"], {}, "gone is no adapter's directory"),
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
    ("export.py", ["--to", "harbor", "--archive", "good", "--out", "file/out"], {}, "cannot be written"),
    ("export.py", ["--to", "harbor", "atif", "--archive", "good", "--out", "out"], {}, "one at a time"),
    *(
        (
            "export.py",
            ["--archive", "good", "--out", "out", *form, *flags],
            {},
            f"{flags[0]}: {' '.join(form)} does not",
        )
        for form, flags in (
            (["--to", "atif"], ["--base", "b"]),
            (["--to", "atif"], ["--max-length-tokens", "9"]),
            (["--to", "harbor"], ["--archetype", "copy_files"]),
            (["--to", "openai"], ["--archetype", "copy_files"]),
            (["--from", "atif"], ["--archetype", "copy_files"]),
            (["--from", "inspect"], ["--archetype", "copy_files"]),
            (["--from", "atif"], ["--partial"]),
            (["--from", "harbor"], ["--to", "trl"]),
        )
    ),
    ("export.py", ["--verify", "file", "--holdout", "good", "--redo"], {}, "--redo: --verify does not read it"),
    ("export.py", ["--to", "atif", "--archive", "good", "--out", "out"], {}, "name a directory of trajectories"),
    ("export.py", ["--to", "harbor", "--archive", "sessions", "--out", "out"], {}, "name a directory of scenarios"),
    *(
        (
            "export.py",
            ["--from", "harbor", "--archetype", name, "--archive", "good", "--out", "out"],
            {},
            f"{name!r} is",
        )
        for name in ("nope", "missing_source")
    ),
    ("export.py", ["--from", "harbor", "--archive", "nowhere", "--out", "out"], {}, "nowhere: no such"),
    ("export.py", ["--from", "harbor", "--archive", "good", "--out", "out"], {}, "has the format harbor"),
    ("publish.py", ["--out", "out"], {}, "--scenarios, --adapter"),
    ("publish.py", ["--scenarios", "good", "--licence", "", "--out", "out"], {}, "--licence: name it"),
    ("publish.py", ["--scenarios", "good", "--licence", "mit\nx: y", "--out", "out"], {}, "--licence: name it"),
    ("publish.py", ["--adapter", "other", "--base-model", "a b/<c>", "--out", "out"], {}, "no OWNER/NAME"),
    ("publish.py", ["--scenarios", "good", "--out", "file/out"], {}, "cannot be written"),
    ("publish.py", ["--adapter", "other", "--out", "out"], {}, "no adapter_config.json"),
    ("publish.py", ["--adapter", "other", "--holdout", "good", "--out", "out"], {}, "--holdout: does not belong"),
    ("publish.py", ["--scenarios", "good", "--base-model", "a/b", "--out", "out"], {}, "--base-model: does not"),
    ("publish.py", ["--scenarios", "good", "--holdout", "apart", "--out", "out"], {}, "'tiny-3' is not in --scenarios"),
    ("publish.py", ["--scenarios", "good", "--holdout", "./good", "--out", "o"], {}, "is the directory of --scenarios"),
    ("publish.py", ["--scenarios", "good", "--holdout", "nowhere", "--out", "out"], {}, "nowhere: cannot be read"),
    ("dashdocker.py", ["reap"], NO_DOCKER, "no Docker engine answers"),
    ("dashdocker.py", ["self-check", "--only", "Z99"], {}, "Z99"),
    ("taxonomy.py", ["--n", "3"], {}, "unrecognized arguments: --n 3"),
    ("schema.py", ["--out", "file/out"], {}, "cannot be written"),
    ("schema.py", [], {}, "--out"),
    ("pipeline.verdicts", ["--n", "3"], {}, "unrecognized arguments: --n 3"),
    ("pipeline.records_page", ["--out", "file/out"], {}, "cannot be written"),
    ("sandbox.tables", ["--page", "nowhere.md"], {}, "nowhere.md: cannot be read"),
    ("sandbox.tables", ["--page", "file"], {}, "marker comments"),
    ("sft.py", ["--base", BASE, "--data", "sessions", "--out", "o", "--usd-per-hour", "nan"], {}, "--usd-per-hour"),
    ("sft.py", ["--base", "bare", "--data", "sessions", "--plan"], {}, "tokenizer"),
    ("dpo.py", ["--base", BASE, "--data", "sessions", "--adapter", "nowhere", "--plan"], {}, "no adapter_model"),
    ("dpo.py", ["--base", BASE, "--data", "nowhere", "--adapter", "other", "--inspect"], {}, "no such directory"),
    ("dpo.py", ["--base", BASE, "--data", "sessions", "--adapter", "other"], {}, "--out is missing"),
    ("dpo.py", ["--base", BASE, "--data", "sessions", "--adapter", "other", "--out", "o"], {}, "flags: no render"),
    ("dpo.py", ["--base", BASE, "--data", "sessions", "--adapter", "other", "--beta", "nan"], {}, "--beta"),
    ("dpo.py", ["--data", "sessions"], {}, "--adapter"),
    *(
        ("cascade.py", [*PLAY, *flags], {}, words)
        for flags, words in (
            (["--n", "0"], "--n is 0"),
            (["--before", "one.json"], "--before: play does not read it"),
            (["--load-4bit"], "--load-4bit: --cheap reference does not read it"),
            (["--dtype=auto"], "--dtype: --cheap reference does not read it"),
            (["--workers", "0"], "--workers 0: must be at least 1"),
            (["--max-steps", "0"], "--max-steps 0: must be at least 1"),
            (["--timeout-seconds", "nan"], "--timeout-seconds nan"),
            (["--timeout-seconds", "0"], "--timeout-seconds 0"),
            (["--temperature", "nan"], "--temperature nan: must lie between 0 and 10"),
            (["--temperature", "-1"], "--temperature -1"),
            (["--adapter", "own"], "--adapter: --cheap reference does not read it"),
            (["--cheap", "local", "--base", BASE, "--adapter", "own", "--render", "chat"], "drop the flag"),
            (["--scenarios", "scenario/unfinished"], "--partial"),
            (["--scenarios", "elsewhere"], "passed the gate on image 'my-tools', this run is on 'sekft-dash'"),
            (["--image", "sekft-nowhere"], "image 'sekft-nowhere' is not in"),
            (["--prices", "other-prices.json"], "frontier: Value error, give input and output"),
            (["--prices", "text-prices.json"], "cheap.per_hour: Input should be a valid number; correct the prices"),
            (["--cheap", "local", "--base", BASE, "--adapter", "picked.json"], "own was selected on 1 sessions"),
            (["--cheap", "local", "--base", "seen"], "seen was trained on 1 sessions whose scenario is held out here"),
        )
    ),
    ("cascade.py", ["compare", "--before", "one.json", "--after", "two.json"], {}, "'b' and 0 more are in one run"),
    ("cascade.py", ["compare", "--before", "one.json", "--after", "text.json"], {}, "costUsd: Input should be a valid"),
    *(
        ("select_adapter.py", [*SELECT, *flags], {}, words)
        for flags, words in (
            (["--scenarios", "elsewhere"], "passed the gate on image 'my-tools', this run is on 'sekft-dash'"),
            (["--image", "sekft-nowhere"], "image 'sekft-nowhere' is not in"),
            (["--n", "0"], "--n is 0"),
            (["--workers", "0"], "--workers 0: must be at least 1"),
            (["--timeout-seconds", "inf"], "--timeout-seconds inf"),
            (["--scenarios", "scenario/unfinished"], "--partial"),
            (["--holdout", "scenario/unfinished"], "--partial"),
            (["--base", "seen"], "seen was trained on 1 sessions whose scenario is held out here"),
            (["--candidates", "read"], "read was trained on 1 sessions whose scenario is held out here"),
        )
    ),
    ("eval.py", ["--base", "seen", "--scenarios", "good", "--out", "o"], {}, "seen was trained on 1 sessions"),
    (
        "eval.py",
        ["--base", BASE, "--adapter", "picked.json", "--scenarios", "good", "--out", "o"],
        {},
        "own was selected on 1 sessions whose scenario is held out here, tiny-1-s0 first; evaluate held-out scenarios",
    ),
    (
        "eval.py",
        ["--base", BASE, "--scenarios", "good", "--out", "o", "--temperature", "nan"],
        {},
        "--temperature nan: must lie between 0 and 10",
    ),
]


def spoilt_taxonomies(place: Path) -> None:
    """One file per row of TAXONOMIES, and a good one."""
    mine = {"name": "mine", "family": "text", "summary": "do what is mine"}
    write_json(place / "good.json", {"name": "own", "archetypes": [mine]})
    write_json(place / "huge.json", {"name": "own", "archetypes": [mine] * 5000})
    (place / "deep.json").write_text("[" * 100_000)
    (place / "number.json").write_text('{"name": ' + "1" * 10_000 + "}")
    write_json(place / "list.json", [mine])
    write_json(place / "empty.json", {"name": "own"})
    write_json(place / "field.json", {"name": "own", "archetypes": [mine], "extra_field": 1})
    write_json(place / "twice.json", {"name": "own", "archetypes": [mine, mine]})
    write_json(place / "like.json", {"name": "own", "announcements": [{**mine, "like": "smoke"}]})
    spoilt: dict[str, dict[str, Any]] = {
        "type": {"summary": 7}, "shipped": {"name": "copy_files"}, "path": {"name": "../../etc/x"},
        "bidi": {"summary": "do \u202e this\nand that"}, "terminal": {"terminal": "stop"},
    }  # fmt: skip
    for name, change in spoilt.items():
        write_json(place / f"{name}.json", {"name": "own", "archetypes": [{**mine, **change}]})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with good records, spoilt ones, a base without a tokenizer and an adapter of another base."""
    place = tmp_path_factory.mktemp("bad")
    write_record(place / "good", tiny.scenario())
    write_record(place / "good", tiny.scenario("tiny-2", task="sum_column"))
    write_record(place / "sessions", tiny.trajectory())
    spoilt_taxonomies(place / "taxonomies")
    gated = tiny.scenario().provenance.model_copy(update={"gates": {"image": "my-tools"}})
    write_record(place / "elsewhere", tiny.scenario().model_copy(update={"provenance": gated}))
    for number, summary in enumerate(("sort it", "count it"), 1):
        own = {"name": "own", "archetypes": [{"name": "mine", "family": "text", "summary": summary}]}
        record = json.loads(tiny.scenario(f"tiny-{number}").model_dump_json(exclude_none=True))
        write_json(
            place / "two" / f"tiny-{number}.json", {**record, "task": "mine", "taxonomy": own, "content_hash": ""}
        )
    for directory in ("good", "sessions", "elsewhere", "two"):
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
    for kind in ("sft", "pairs"):  # exported files whose sidecar is spoilt
        write_json(place / "spoilt" / f"{kind}.trl.jsonl", {})
        (place / "spoilt" / f"{kind}.sidecar.jsonl").write_bytes(b"{" if kind == "sft" else b"\xff")
    write_json(place / "tools.json", [foreign("x", tools=[{"type": "function"}])])
    write_record(place / "apart", tiny.scenario("tiny-3"))
    write_json(place / "apart" / "manifest.json", FINISHED)
    rate = {"successes": 0, "n": 1, "rate": 0.0, "interval": [0.0, 1.0]}
    chosen = {
        "selected": "gone",
        "adapter_hash": None,
        "base": BASE,
        "why": "",
        "scenarios": "good",
        "n": 1,
        "base_clean_rate": rate,
    }
    write_json(place / "chosen.json", {**chosen, "candidates": []})
    write_json(place / "none.json", {**chosen, "selected": "none", "candidates": []})
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
    cascade_inputs(place)
    return place


def cascade_inputs(place: Path) -> None:
    """A base, an adapter and a selection that used a scenario of `good`; prices and outcomes, good and bad."""
    seen = {
        "scenario_id": "tiny-1", "content_hash": "0" * 64, "archetype": "copy_files", "trajectory_id": "tiny-1-s0"
    }  # fmt: skip
    identity = {"base": BASE, "base_hash": model_hash(place / BASE), "trained_on": [seen]}
    for name, behind in (("seen", BASE), ("read", "own")):
        shutil.copytree(place / behind, place / name)
        write_json(place / name / "sekft.json", identity)
    chosen = {**read_json(place / "chosen.json"), "selected": "own", "adapter_hash": adapter_hash(place / "own")}
    write_json(place / "picked.json", {**chosen, "selected_on": [seen]})
    by_token = {"input": 3, "output": 15}
    write_json(place / "prices.json", {"cheap": {"per_hour": 0.1}, "frontier": by_token})
    write_json(place / "other-prices.json", {"cheap": {"per_hour": 0.1}, "frontier": {"input": 3}})
    write_json(place / "text-prices.json", {"cheap": {"per_hour": "0.1"}, "frontier": by_token})
    one = {"instance_id": "a", "cheapResolved": True, "escalated": False, "resolved": True, "costUsd": 0.5}
    write_json(place / "one.json", [one])
    write_json(place / "two.json", [one, {**one, "instance_id": "b"}])
    write_json(place / "text.json", [{**one, "costUsd": "0.5"}])


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
    kind = "trajectory" if name in ("sft.py", "export.py") else "scenario"
    words = "one known value per axis" if (kind, what) == ("trajectory", "axis") else RECORDS[what]
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
