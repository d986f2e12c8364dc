"""Training on a real tiny base: loss, accounting of rows, resume, and the identity of an adapter."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import sft
from model import hardware
from model.render import Renderer, Wire
from pipeline.files import read_scenarios, write_json, write_record
from tests.helpers import ROOT
from tests.helpers.tiny import base as build_base, scenario, tokenizer, trajectory
from tests.helpers.training import exit_code, fit_settings
from training import inspection, loop, run as run_of
from training.dataset import IGNORED, build
from training.inspection import inspect
from training.settings import TrainingSettings

QUICK = ["--lr", "5e-3", "--lora-targets", "all-linear", "--dtype", "fp32"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_base(tmp_path_factory.mktemp("sft") / "base")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve sessions of different lengths, one of them not kept."""
    directory = tmp_path_factory.mktemp("sft") / "data"
    for index in range(12):
        write_record(directory, trajectory(f"t{index}-s0", kept=index != 5, steps=2 + index % 3))
    return directory


def command(*arguments: Any) -> list[str]:
    return [sys.executable, str(ROOT / "sft.py"), "--no-reload", *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **more}


def run(*arguments: Any, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, env=environment(**more), check=False)


def in_process(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    """The same command line in this process, which saves importing torch: exit code, stdout, stderr."""
    capsys.readouterr()
    code = exit_code(sft, "--no-reload", *arguments)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def train_here(capsys: pytest.CaptureFixture[str], *arguments: Any) -> dict[str, Any]:
    code, out, err = in_process(capsys, *arguments)
    assert code == 0, err
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def summary(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    parsed: dict[str, Any] = json.loads(line)
    return parsed


def hashes(directory: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(directory.iterdir())}


def history(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / "log_history.jsonl").read_text().splitlines()]


def renderer(wire: Wire | None = None) -> Renderer:
    return Renderer.for_base(tokenizer("byte_level"), wire)


@pytest.fixture(scope="module")
def trained(base: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """An adapter trained in one go, with its summary; the base must come out as it went in."""
    out = tmp_path_factory.mktemp("sft") / "adapter"
    before = hashes(base)
    result = summary(run("--data", data, "--base", base, "--out", out, "--epochs", 4, "--accum", 2, *QUICK))
    assert hashes(base) == before
    return out, result


def test_adapter_directory_is_complete(trained: tuple[Path, dict[str, Any]], base: Path, data: Path) -> None:
    out, result = trained
    assert {path.name for path in out.iterdir()} == {
        "adapter_model.safetensors", "adapter_config.json", "render.json", "sekft.json", "log_history.jsonl",
        "manifest.json", "runs", "checkpoints", "probe.safetensors",
    }  # fmt: skip
    identity = json.loads((out / "sekft.json").read_text())
    rows = {row["trajectory_id"]: row for row in identity["trained_on"]}
    assert set(rows) == {f"t{index}-s0" for index in range(12) if index != 5}
    assert rows["t3-s0"] == {
        "trajectory_id": "t3-s0",
        "scenario_id": "t3",
        "content_hash": scenario("t3").content_hash,
        "archetype": "copy_files",
    }
    assert identity["base_hash"]
    assert identity["flags"]["lora_r"] == 16
    assert json.loads((out / "render.json").read_text()) == renderer().describe()
    assert list((out / "runs").glob("events*"))
    assert json.loads((out / "manifest.json").read_text())["finished"] is True
    entries = history(out)
    assert [entry["step"] for entry in entries] == list(range(1, result["steps"] + 1))
    assert set(entries[0]) == {"step", "epoch", "loss", "lr", "grad_norm"}
    assert result["loss_last"] < result["loss_first"]


def test_default_learning_rate_follows_the_width(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = in_process(capsys, "--data", data, "--base", base, "--out", tmp_path / "out", "--limit", 3)
    assert code == 0
    assert f"learning rate 0.013, by the width of {base}; --lr sets another" in err.splitlines()  # 64 wide
    assert re.search(r"^adapter: rank 16 on all-linear, [\d,]+ parameters, render chat$", err, re.M)
    assert max(entry["lr"] for entry in history(tmp_path / "out")) == 0.013
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["flags"]["lr"] == 0.013


def test_every_row_is_counted_once(trained: tuple[Path, dict[str, Any]]) -> None:
    _, result = trained
    assert result["read"] == 12
    assert result["used"] + sum(result["left_out"].values()) == 12
    none = dict.fromkeys(("beyond_limit", "malformed", "end_in_command", "over_length", "no_labels"), 0)
    assert result["left_out"] == {"not_kept": 1, **none}


def test_finished_run_returns_at_once_or_adds_epochs(
    trained: tuple[Path, dict[str, Any]], base: Path, data: Path, tmp_path: Path
) -> None:
    out, result = trained
    before = (out / "adapter_model.safetensors").read_bytes()
    flags = ["--data", data, "--base", base, "--out", out, "--accum", 2, *QUICK]
    (tmp_path / "torch.py").write_text("raise RuntimeError('torch was imported')")
    again = run(*flags, "--epochs", 4, PYTHONPATH=str(tmp_path))
    assert summary(again)["steps"] == result["steps"]
    assert "nothing to do" in again.stderr
    assert (out / "adapter_model.safetensors").read_bytes() == before
    other = run(*flags, "--epochs", 4, "--lora-r", 8)
    assert other.returncode == 2
    assert "--lora-r was 16, is 8" in other.stderr
    more = summary(run(*flags, "--epochs", 5))
    assert more["resumed_from"] == result["steps"]
    assert more["steps"] == result["steps"] * 5 // 4
    assert [entry["step"] for entry in history(out)] == list(range(1, more["steps"] + 1))


def test_saved_adapter_changes_the_base(trained: tuple[Path, dict[str, Any]], base: Path) -> None:
    import torch
    from safetensors.torch import load_file

    from model.loading import load_model

    out, _ = trained
    weights = load_file(out / "adapter_model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.float32}
    assert all(tensor.abs().max() > 0 for tensor in weights.values())
    assert len(weights) == 2 * 7 * 2  # layers, linears, A and B
    model, fast = load_model(base, out, dtype="fp32")
    encoded = renderer().encode(trajectory("t0-s0").messages)
    ids = torch.tensor([encoded.token_ids])
    with torch.no_grad(), model.disable_adapter():
        bare = model(ids).logits
    with torch.no_grad():
        assert (model(ids).logits - bare).abs().max() > 0.1
    assert fast.vocab_size > 0


@pytest.mark.parametrize("batch", [1, 2])
def test_killed_run_resumes_to_the_same_adapter(batch: int, base: Path, data: Path, tmp_path: Path) -> None:
    flags = ["--data", data, "--base", base, "--epochs", 12 * batch, "--accum", 2, "--batch", batch, *QUICK]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    summary(run(*flags, "--out", whole))
    process = subprocess.Popen(
        command(*flags, "--out", cut), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    steps = len(history(whole))
    last = random.randrange(1, steps // 3)  # enough is left for a kill that comes late
    print(f"killed after {last} of {steps} steps")
    deadline = time.monotonic() + 120
    while not (cut / "log_history.jsonl").exists() or len(history(cut)) < last:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (cut / "adapter_model.safetensors").exists(), last
    (cut / "checkpoints" / "checkpoint-9999").mkdir()  # left by a kill during a save
    resumed = summary(run(*flags, "--out", cut))
    assert last <= steps // 10 or resumed["resumed_from"] > 0  # a tenth of the steps lies between checkpoints
    assert (cut / "adapter_model.safetensors").read_bytes() == (whole / "adapter_model.safetensors").read_bytes()
    assert history(cut) == history(whole)


def test_overfit_reaches_zero_or_fails(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--data", data, "--base", base, "--overfit", 2]
    reached = train_here(capsys, *flags, "--out", tmp_path / "good", *QUICK)
    assert reached["loss_last"] < loop.OVERFIT_LOSS
    assert reached["used"] == 2
    assert reached["used"] + sum(reached["left_out"].values()) == reached["read"]
    code, _, err = in_process(capsys, *flags, "--out", tmp_path / "bad", "--lr", "1e-6", "--epochs", 2)
    assert code == 2
    assert "wanted under 0.05; raise --lr" in err.splitlines()[-1]


@pytest.fixture(scope="module")
def model(base: Path) -> Any:
    from model.loading import load_model

    loaded, _ = load_model(base, dtype="fp32")
    return loop.add_lora(loaded, TrainingSettings(lora_r=4, lora_alpha=8))


def rows(count: int = 3) -> list[dict[str, list[int]]]:
    return [
        example.row()
        for example in build(
            [trajectory(f"r{index}-s0", steps=2 + index) for index in range(count)], renderer(), max_length_tokens=4096
        ).examples
    ]


def test_compact_loss_equals_the_stock_loss(model: Any) -> None:
    import torch

    for batch_rows in (rows(1), rows(3)):
        batch = loop.collate(batch_rows)
        labels = int((batch["labels"] != IGNORED).sum())
        results = []
        for compact in (True, False):
            model.zero_grad()
            loss = loop.compact_loss(model, batch) / labels if compact else model(**batch).loss
            torch.autograd.backward(loss)
            norm = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters() if p.grad is not None))
            results.append((loss.item(), norm.item()))
        assert results[0] == pytest.approx(results[1], rel=1e-5)


def test_every_step_equals_the_plain_trainer(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--data", data, "--base", base, "--epochs", 2, "--batch", 1, "--accum", 6, *QUICK]
    train_here(capsys, *flags, "--out", tmp_path / "ours")
    monkeypatch.setattr(run_of, "head_is_plain", lambda model, row: False)  # Trainer's own loss
    plain = train_here(capsys, *flags, "--out", tmp_path / "plain")
    assert plain["loss_on_labelled_positions_only"] is False
    for ours, theirs in zip(history(tmp_path / "ours"), history(tmp_path / "plain"), strict=True):
        theirs["epoch"] = ours["epoch"]  # of a step that lacks rows: counted in rows by one, in steps by the other
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-5)


def test_padding_does_not_change_the_loss(model: Any) -> None:
    together = float(loop.compact_loss(model, loop.collate(rows(3))).detach())
    alone = sum(float(loop.compact_loss(model, loop.collate([row])).detach()) for row in rows(3))
    assert together == pytest.approx(alone, rel=1e-5)
    assert set(loop.collate(rows(3))) == {"input_ids", "labels"}  # no mask: SDPA keeps its causal kernels


def test_gradients_pass_through_a_4bit_base_after_eval(base: Path) -> None:
    import torch

    from model.loading import load_model

    norms = []
    for evaluated in (False, True):
        torch.manual_seed(0)
        loaded, _ = load_model(base, dtype="fp32", load_4bit=True)
        adapted = loop.add_lora(loaded, TrainingSettings(lora_r=4, lora_alpha=8))
        batch = loop.collate(rows(1))
        if evaluated:
            with torch.no_grad():
                adapted.eval()(**batch)
        loop.unpack_4bit(adapted)
        loop.head_is_plain(adapted, rows(1)[0])
        torch.autograd.backward(loop.compact_loss(adapted.train(), batch))
        norms.append({name: float(p.grad.norm()) for name, p in adapted.named_parameters() if p.grad is not None})
    assert norms[0] == pytest.approx(norms[1], rel=2e-2)  # repacking rounds the scales to bf16
    assert sum(norms[0].values()) > 0


def test_scaled_logits_are_noticed(model: Any) -> None:
    assert loop.head_is_plain(model, rows(1)[0])
    stock = type(model.get_base_model()).forward
    try:
        type(model.get_base_model()).forward = lambda self, *a, **k: _halved(stock(self, *a, **k))
        assert not loop.head_is_plain(model, rows(1)[0])
    finally:
        type(model.get_base_model()).forward = stock


def _halved(output: Any) -> Any:
    output.loss = output.loss / 2
    return output


def test_only_fp32_adapter_weights_are_trained(base: Path) -> None:
    import torch

    from model.loading import load_model

    for dtype in ("fp16", "bf16", "fp32"):
        loaded, _ = load_model(base, dtype=dtype)
        adapted = loop.add_lora(loaded, TrainingSettings(lora_targets="q_proj,v_proj", lora_r=4, lora_alpha=8))
        trainable = {name: p.dtype for name, p in adapted.named_parameters() if p.requires_grad}
        assert trainable
        assert all("lora_" in name and kind == torch.float32 for name, kind in trainable.items())


def test_grad_scaler_refuses_half_precision_weights() -> None:
    import torch

    scaler = torch.amp.GradScaler("cpu")
    for dtype, accepted in ((torch.float32, True), (torch.float16, False)):
        weight = torch.nn.Parameter(torch.ones(2, dtype=dtype))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        torch.autograd.backward(scaler.scale((weight * 2).sum()))
        if accepted:
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
        else:
            with pytest.raises(ValueError, match="unscale FP16"):
                scaler.unscale_(optimizer)


@pytest.mark.parametrize(
    ("targets", "parameters"),
    [([], 41_943_040), (["--lora-targets", "q_proj,k_proj,v_proj,o_proj"], 13_631_488)],
)
def test_adapter_size_on_mistral_7b(targets: list[str], parameters: int) -> None:
    import torch
    from transformers import MistralConfig, MistralForCausalLM

    with torch.device("meta"):
        bare = MistralForCausalLM(MistralConfig())
    bare.requires_grad_(False)
    adapted = loop.add_lora(bare, fit_settings(*targets))
    assert sum(p.numel() for p in adapted.parameters() if p.requires_grad) == parameters


@pytest.mark.parametrize("flags", [["--dtype", "fp16"], ["--dtype", "bf16"], ["--load-4bit", "--dtype", "fp32"]])
def test_half_precision_and_4bit_train_on_cpu(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    flags = [*flags, "--lr", "5e-3", "--lora-targets", "all-linear", "--limit", "3", "--gradient-checkpointing"]
    result = train_here(
        capsys, "--data", data, "--base", base, "--out", tmp_path / "out", "--epochs", 4, "--accum", 1, *flags
    )
    assert result["loss_last"] < result["loss_first"]
    assert result["left_out"]["beyond_limit"] == 9


def test_chat_render_is_recorded_in_the_adapter(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    flags = ["--data", data, "--base", base, "--out", out, "--render", "chat", "--epochs", 1, "--batch", 4]
    train_here(capsys, *flags, *QUICK)
    assert json.loads((out / "render.json").read_text())["wire"] == "chat"


def test_inspect_needs_no_weights(base: Path, data: Path, tmp_path: Path) -> None:
    bare = tmp_path / "base"
    bare.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        (bare / name).write_bytes((base / name).read_bytes())
    done = run("--data", data, "--base", bare, "--inspect", "--show", 1, "--batch", 4, "--render", "markers")
    result = summary(done)
    assert result["used"] == 11
    assert [finding["check"] for finding in result["findings"]] == ["near_duplicates"]  # they differ only in numbers
    assert result["estimate"] is None
    assert "no config.json; no estimate" in done.stderr
    assert result["same_commands"] == 0
    assert result["markers"]["after_a_turn"] == {"ids": renderer("markers").operator_ids(""), "special": 0}
    assert 0.05 < result["per_row"]["labelled_share"][0] < result["per_row"]["labelled_share"][-1] < 0.5
    assert result["labelled_share"] == pytest.approx(result["labelled_tokens"] / result["tokens"], abs=1e-4)
    assert result["opening"].startswith("<|system|>\nSYSTEM<|end|>\n<|user|>\nLOGIN<|end|>\n<|user|>\n$ ")
    assert result["steps_estimate"] == 3 * 1
    assert "⟦exit<|end|>⟧" in done.stderr
    assert not (tmp_path / "out").exists()


def test_inspect_estimates_the_costs(
    base: Path, data: Path, capsys: pytest.CaptureFixture[str], trained: tuple[Path, dict[str, Any]]
) -> None:
    flags = ["--data", data, "--base", base, "--inspect", "--epochs", 4, "--accum", 2, *QUICK]
    result = train_here(capsys, *flags)
    estimate = result["estimate"]
    assert result["steps_estimate"] == trained[1]["steps"]
    assert estimate["trainable_parameters"] == trained[1]["trainable_parameters"]
    expected = estimate["flops"] / trained[1]["train_seconds"] / hardware.product_flops_here()
    assert expected / 20 < trained[1]["share_of_matrix_product"] < 20 * expected  # other work slows either one
    assert estimate["memory_bytes"]["weights"] == 4 * estimate["parameters"]
    assert estimate["hours"]["this CPU"] > estimate["hours"]["V100"] > 0
    again = train_here(capsys, *flags, "--epochs", 8)["estimate"]
    assert again["flops"] == pytest.approx(2 * estimate["flops"])
    assert train_here(capsys, *flags, "--epochs", 8, "--overfit", 2, "--show", 9)["steps_estimate"] == 2 * 8


def test_inspect_names_held_out_rows(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    holdout = tmp_path / "holdout"
    write_record(holdout, scenario("t7"))
    code, _, err = in_process(capsys, "--data", data, "--base", base, "--inspect", "--holdout", holdout)
    assert code == 2
    assert "ERROR holdout_scenario: 1 rows that are held out: t7-s0" in err


def test_training_can_be_limited_to_scenarios(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = tmp_path / data.name  # two inputs of one name
    write_record(some, scenario("t3"))
    write_record(some, scenario("t7"))
    flags = ["--data", data, "--base", base, "--scenarios", some, "--out", tmp_path / "out", *QUICK]
    result = train_here(capsys, *flags, "--epochs", 1)
    rows = json.loads((tmp_path / "out" / "sekft.json").read_text())["trained_on"]
    assert [row["trajectory_id"] for row in rows] == ["t3-s0", "t7-s0"]
    assert (result["read"], result["used"], result["left_out"].get("other_scenario")) == (12, 2, 10)
    assert sum(result["left_out"].values()) == 10
    more = shutil.copytree(data, tmp_path / "more" / data.name)
    write_record(more, trajectory("t13-s0"))
    code, _, err = in_process(capsys, "--data", more, *flags[2:], "--epochs", 1)
    assert (code, "input" in err and "other content" in err) == (2, True), err
    write_record(some, scenario("t99"))
    code, _, err = in_process(capsys, *flags, "--epochs", 1)
    assert code == 2
    assert "no trajectory of 1 scenarios" in err
    assert "t99 first" in err


@pytest.mark.parametrize(
    ("by", "other", "message"),
    [
        ("scenario", scenario("t7"), "1 sessions whose scenario is held out here, t7-s0 first"),
        ("archetype", scenario("t7", task="sort_by_kind"), "1 sessions whose scenario is held out"),
        ("archetype", scenario("fresh"), "11 sessions whose archetype is held out"),
    ],
)
def test_training_on_held_out_data_is_refused(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], by: str, other: Any, message: str
) -> None:
    write_record(tmp_path / "holdout", other)
    write_json(tmp_path / "holdout" / "manifest.json", {"finished": True, "flags": {"by": by}})
    flags = ["--data", data, "--base", base, "--out", tmp_path / "out", "--holdout", tmp_path / "holdout"]
    code, _, err = in_process(capsys, *flags)
    assert code == 2
    (line,) = [line for line in err.splitlines() if "no manifest, taking" not in line]
    assert message in line
    assert not (tmp_path / "out").exists()


def test_renamed_scenario_is_held_out_too(data: Path, tmp_path: Path) -> None:
    from pipeline.holdout import overlap, session_of

    write_record(tmp_path, scenario("t7").model_copy(update={"id": "renamed"}))
    kept = [session_of(trajectory("t7-s0")), session_of(trajectory("t8-s0"))]
    assert overlap(kept, tmp_path, read_scenarios(tmp_path)) == {"scenario": ["t7-s0"], "archetype": []}


def test_long_and_untrained_rows_are_left_out_and_named() -> None:
    empty = trajectory("empty-s0").model_copy(update={"messages": trajectory().messages[:2]})
    long = trajectory("long-s0", steps=30)
    dataset = build([trajectory("a-s0"), empty, long], renderer(), max_length_tokens=600)
    left_out = {name: rows for name, rows in dataset.counts()["left_out_ids"].items() if rows}
    assert left_out == {"over_length": ["long-s0"], "no_labels": ["empty-s0"]}
    assert [example.id for example in dataset.examples] == ["a-s0"]
    levels = {finding.check: finding.level for finding in inspect(dataset, renderer())}
    assert levels["no_labels"] == "ERROR"
    assert levels["over_length"] == "WARN"
    (cut,) = [finding for finding in inspect(dataset, renderer()) if finding.check == "over_length"]
    (row,) = dataset.long
    assert f"a cut would take {sum(row.encoded.mask[600:])} of their {sum(row.encoded.mask)} trained" in cut.text


def test_sampled_ids_are_trained_on_unchanged() -> None:
    r, plain = renderer(), trajectory("rec-s0")
    encoded = r.encode(plain.messages)
    first = next(at for at, (a, b) in enumerate(encoded.offsets) if encoded.mask[at] and b - a > 1)
    text = r.decode(encoded.token_ids[first : first + 1])
    pieces = [r.operator_ids(letter)[0] for letter in text]  # the same text, sampled letter by letter
    ids = encoded.token_ids[:first] + pieces + encoded.token_ids[first + 1 :]
    mask = encoded.mask[:first] + [1] * len(pieces) + encoded.mask[first + 1 :]
    assert len(pieces) > 1
    update = {"token_ids": ids, "assistant_mask": mask, "log_probs": [None] * len(ids)}
    dataset = build([plain.model_copy(update=update)], r, max_length_tokens=4096)
    assert dataset.examples[0].encoded.token_ids == ids
    assert dataset.examples[0].encoded.mask == mask
    assert dataset.counts()["recorded_ids"] == 1
    assert all(finding.level == "OK" for finding in inspect(dataset, r))
    assert inspection.statistics_of(dataset, r)["recorded_as_text"] == 0
    foreign = plain.model_copy(update={**update, "token_ids": [id_ + 1 for id_ in ids]})
    dataset = build([foreign], r, max_length_tokens=4096)
    assert dataset.examples[0].encoded.token_ids == encoded.token_ids
    assert dataset.counts()["retokenised"] == 1


def test_low_rate_and_little_memory_are_warned_of(
    base: Path, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ["--data", data, "--base", base, "--inspect", "--render", "markers"]  # chat's end marker is not its eos
    slow = train_here(capsys, *flags, "--lr", "1e-5")["findings"]
    assert [finding["check"] for finding in slow] == ["near_duplicates", "lr"]
    monkeypatch.setattr(hardware, "free_bytes_here", lambda: 2**20)
    _, found = train_here(capsys, *flags)["findings"]
    assert found["check"] == "memory"
    assert "0.0 GiB are free; lower --batch" in found["text"]


BAD_INPUT = {
    "no data": (["--data", "{tmp}/none", "--base", "{base}", "--out", "{tmp}/o"], "none: no such directory"),
    "empty data": (["--data", "{tmp}/empty", "--base", "{base}", "--out", "{tmp}/o"], "holds no records"),
    "not json": (["--data", "{tmp}/broken", "--base", "{base}", "--out", "{tmp}/o"], "bad.json: not JSON"),
    "schema": (["--data", "{tmp}/future", "--base", "{base}", "--out", "{tmp}/o"], "schema_version 99 is unknown"),
    "axis": (["--data", "{tmp}/axis", "--base", "{base}", "--out", "{tmp}/o"], "not one known value per axis"),
    "unfinished": (["--data", "{tmp}/half", "--base", "{base}", "--out", "{tmp}/o"], "pass --partial"),
    "none kept": (["--data", "{tmp}/lost", "--base", "{base}", "--out", "{tmp}/o"], "no row is left to train on"),
    "no base": (["--data", "{data}", "--base", "{tmp}/none", "--out", "{tmp}/o"], "no such base directory"),
    "no tokenizer": (["--data", "{data}", "--base", "{tmp}/bare", "--out", "{tmp}/o"], "no tokenizer.json"),
    "no tokenizer, inspect": (["--data", "{data}", "--base", "{tmp}/bare", "--inspect"], "no tokenizer.json"),
    "no out": (["--data", "{data}", "--base", "{base}"], "--out is missing"),
    "out is a file": (["--data", "{data}", "--base", "{base}", "--out", "{tmp}/file"], "cannot be written"),
    "out of another": (["--data", "{data}", "--base", "{base}", "--out", "{base}"], "is not empty"),
    "lr": (["--data", "{data}", "--base", "{base}", "--out", "{tmp}/o", "--lr", "0"], "--lr is 0.0"),
    "rank": (["--data", "{data}", "--base", "{base}", "--out", "{tmp}/o", "--lora-r", "0"], "--lora-r 0: must"),
    "targets": (["--data", "{data}", "--base", "{base}", "--out", "{tmp}/t", "--lora-targets", "w"], "q_proj"),
    "no holdout": (["--data", "{data}", "--base", "{base}", "--out", "{tmp}/o", "--holdout", "{tmp}/none"], "no such"),
    "targets, inspect": (["--data", "{data}", "--base", "{base}", "--inspect", "--lora-targets", "w,q_proj"], "['w']"),
    "template": (["--data", "{data}", "--base", "{tmp}/plain", "--out", "{tmp}/o", "--render", "chat"], "no chat"),
    "show": (["--data", "{data}", "--base", "{base}", "--inspect", "--show", "-1"], "--show is -1"),
    "abbreviation": (["--data", "{data}", "--base", "{base}", "--out", "{tmp}/o", "--epoch", "1"], "unrecognized"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_one_line_and_exit_2(
    name: str, base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for directory in ("empty", "broken", "future", "axis", "half", "lost", "bare"):
        (tmp_path / directory).mkdir()
    record = json.loads((data / "t1-s0.json").read_text())
    (tmp_path / "broken" / "bad.json").write_text("{")
    write_json(tmp_path / "future" / "a.json", {**record, "schema_version": 99})
    write_json(tmp_path / "axis" / "a.json", {**record, "axes": {**record["axes"], "task": "juggle"}})
    write_json(tmp_path / "half" / "manifest.json", {"finished": False})
    write_record(tmp_path / "lost", trajectory("lost-s0", kept=False))
    write_json(tmp_path / "bare" / "config.json", {})
    (tmp_path / "file").write_text("")
    shutil.copytree(base, tmp_path / "plain", ignore=shutil.ignore_patterns("chat_template*"))
    arguments, message = BAD_INPUT[name]
    given = (argument.format(tmp=tmp_path, base=base, data=data) for argument in arguments)
    code, out, err = in_process(capsys, *given)
    assert (code, out) == (2, "")
    (line,) = [line for line in err.splitlines() if "no manifest, taking" not in line]
    assert message in line
    assert name == "none kept" or not (tmp_path / "o").exists()


def test_more_than_one_process_is_refused(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    code, _, err = in_process(capsys, "--data", data, "--base", base, "--out", tmp_path / "out")
    assert code == 2
    assert "WORLD_SIZE is 2" in err.splitlines()[-1]


def test_help_needs_no_torch() -> None:
    code = (
        "import runpy, sys; sys.argv = ['sft.py', '--help']\n"
        "try: runpy.run_path('sft.py', run_name='__main__')\n"
        "except SystemExit as end: print(end.code, sorted({'torch', 'transformers', 'peft'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--lora-targets" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 []"
