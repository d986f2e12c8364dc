"""Masks, losses and gradient norms equal those of TRL and transformers; fp16 runs under a gradient scaler."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from pipeline import stage
from model.loading import load_model
from model.render import Renderer, session_messages
from schema import BadInputError
from tests.helpers import tiny
from training import loop
from training.dataset import build
from training.settings import TrainingSettings

# Headers end in a special token, so that no merge crosses a turn's edge and whole texts tokenise as their segments do.
GENERATION = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '<|say|>' }}{% if m['role'] == 'assistant' %}"
    "{% generation %}{{ m['content'] + '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ m['content'] + '<|im_end|>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant<|say|>' }}{% endif %}"
)
COMMANDS = [
    "ls -la", "cat 'a b'.txt | sort | uniq", "printf '%s\\n' \"$x\" >out", " leading space", "](odd[", "echo ünïcödé ✓",
    "cat <<E\none\n\ntwo\nE", "\techo tab", "for f in *; do mv \"$f\" x; done", "exit", "panic the archive is damaged",
]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("training") / "base")


def settings(**changes: Any) -> TrainingSettings:
    """Settings with which a tiny base learns."""
    given: dict[str, Any] = {"dtype": "fp32", "lr": 1e-3, "epochs": 2}
    return TrainingSettings(**{**given, **changes})


def rows_of(count: int) -> list[dict[str, list[int]]]:
    renderer = Renderer.for_base(tiny.tokenizer("byte_level"))
    trajectories = [tiny.trajectory(f"r{index}-s0", steps=2 + index % 4) for index in range(count)]
    return [example.row() for example in build(trajectories, renderer, max_length_tokens=4096).examples]


def adapted(base: Path, flags: TrainingSettings) -> tuple[Any, Any]:
    import torch
    from transformers import set_seed

    torch.set_num_threads(1)
    set_seed(flags.seed)
    model, tokenizer = load_model(base, dtype=flags.dtype, load_4bit=flags.load_4bit)
    return loop.add_lora(model, flags), tokenizer


def our_log(base: Path, rows: list[dict[str, list[int]]], out: Path, flags: TrainingSettings) -> list[dict[str, float]]:
    """The entries of log_history.jsonl that our loop writes."""
    model, _ = adapted(base, flags)
    out.mkdir(parents=True, exist_ok=True)
    with stage.Progress(None, "train") as progress:
        trainer, log = loop.make_trainer(model, rows, out, flags, data_hash="", progress=progress, compact=True)
        trainer.args.train_sampling_strategy = "sequential"
        trainer.train()
    assert [json.loads(line) for line in (out / "log_history.jsonl").read_text().splitlines()] == log.entries
    entries: list[dict[str, float]] = log.entries
    return entries


def test_masks_equal_trls_assistant_masks(base: Path, tmp_path: Path) -> None:
    from datasets import Dataset
    from tokenizers import Tokenizer, pre_tokenizers, processors
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast
    from trl import SFTConfig, SFTTrainer

    backend = Tokenizer.from_str(tiny.tokenizer("byte_level").backend_tokenizer.to_str())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    # With trimmed offsets transformers finds no token at a command's leading space, and masks nothing after it.
    backend.post_processor = processors.ByteLevel(trim_offsets=False)
    fast = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|say|>"]})
    fast.chat_template = GENERATION
    draw = random.Random(0)
    trajectories = []
    for index in range(140):
        one = tiny.trajectory(f"m{index}-s0")
        outputs = ["", "out\n", "a [x](y)\n"]
        turns = [(draw.choice(COMMANDS), draw.choice(outputs)) for _ in range(draw.randint(4, 14))]
        messages = session_messages(tiny.scenario(), [*turns, ("exit", None)])
        trajectories.append(one.model_copy(update={"messages": messages}))
    ours = [example.row() for example in build(trajectories, Renderer(fast, "chat"), max_length_tokens=9999).examples]
    theirs = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base),
        args=SFTConfig(output_dir=str(tmp_path), assistant_only_loss=True, max_length=None, use_cpu=True, bf16=False),
        train_dataset=Dataset.from_list([{"messages": [m.model_dump() for m in t.messages]} for t in trajectories]),
        processing_class=fast,
    ).train_dataset
    assert sum(message.role == "assistant" for t in trajectories for message in t.messages) >= 1000
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine["input_ids"] == other["input_ids"]
        assert mine["labels"] == other["labels"]


@pytest.mark.parametrize(("batch", "accum"), [(1, 4), (2, 2)])
def test_loss_and_gradient_norm_equal_trl_and_trainer(base: Path, tmp_path: Path, batch: int, accum: int) -> None:
    from datasets import Dataset
    from transformers import DataCollatorForSeq2Seq, Trainer, TrainingArguments
    from trl import SFTConfig, SFTTrainer

    rows, flags = rows_of(8), settings(batch=batch, accum=accum)
    ours = our_log(base, rows, tmp_path / "ours", flags)
    arguments = loop.training_arguments(flags, len(ours), tmp_path / "theirs", on_cpu=True)
    arguments |= {"save_strategy": "no", "report_to": []}
    model, tokenizer = adapted(base, flags)
    plain = Trainer(
        model=model,
        args=TrainingArguments(**arguments),
        train_dataset=rows,
        data_collator=DataCollatorForSeq2Seq(tokenizer),  # with an attention mask, which ours does without
    )
    model, _ = adapted(base, flags)
    trl = SFTTrainer(
        model=model,
        args=SFTConfig(**arguments, max_length=None),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    for other in (plain, trl):
        other.args.train_sampling_strategy = "sequential"  # TRL draws random numbers before the order is drawn
        other.train()
        theirs = [entry for entry in other.state.log_history if "loss" in entry]
        assert len(theirs) == len(ours) == 4
        for mine, entry in zip(ours, theirs, strict=True):
            for name in ("loss", "grad_norm"):
                assert mine[name] == pytest.approx(entry[name], abs=1e-5), (type(other), name)


def test_accumulation_equals_the_full_batch(base: Path, tmp_path: Path) -> None:
    rows = rows_of(6)
    whole, parts = (
        our_log(base, rows, tmp_path / str(batch), settings(batch=batch, accum=6 // batch)) for batch in (6, 1)
    )
    assert len(whole) == len(parts) == 2
    for one, other in zip(whole, parts, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_one_of_several_devices_is_used(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import TrainingArguments

    real = TrainingArguments.__post_init__

    def two_seen(self: Any) -> None:
        real(self)
        self._n_gpu = 2

    monkeypatch.setattr(TrainingArguments, "__post_init__", two_seen)
    flags = settings(batch=2)
    trainer, _ = loop.make_trainer(
        adapted(base, flags)[0], rows_of(4), tmp_path, flags, data_hash="", progress=stage.Progress(None, "train"),
        compact=True,
    )  # fmt: skip
    assert trainer.args.n_gpu == 1
    assert trainer.args.train_batch_size == 2 * flags.accum  # the rows of a step, side by side


def fp16_trainer(base: Path, out: Path, epochs: int, overflows: int) -> tuple[Any, Any]:
    """A trainer of three rows whose gradient is infinite, whatever the scale, in its first `overflows` steps."""
    import torch
    from transformers import TrainerCallback

    flags = settings(dtype="fp16", accum=1, epochs=epochs)
    model, _ = adapted(base, flags)
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    assert all(parameter.dtype == torch.float32 for parameter in trainable)
    trainer, log = loop.make_trainer(
        model, rows_of(3), out, flags, data_hash="", progress=stage.Progress(None, "train"), compact=True
    )
    trainable[0].register_hook(lambda grad: grad * math.inf if trainer.state.global_step < overflows else grad)
    assert isinstance(trainer.accelerator.scaler, torch.amp.GradScaler)
    assert issubclass(type(log), TrainerCallback)
    return trainer, log


def test_fp16_log_survives_a_resume(base: Path, tmp_path: Path) -> None:
    trainer, log = fp16_trainer(base, tmp_path, epochs=3, overflows=2)
    trainer.train()
    assert [entry["skipped_steps"] for entry in log.entries] == [1, 2, 2, 2, 2, 2, 2, 2, 2]
    assert [entry["scale"] for entry in log.entries] == [2.0**15, *[2.0**14] * 8]
    assert [math.isfinite(entry["grad_norm"]) for entry in log.entries] == [False] * 2 + [True] * 7
    again, repeated = fp16_trainer(base, tmp_path, epochs=3, overflows=2)
    again.train(resume_from_checkpoint=str(tmp_path / "checkpoints" / "checkpoint-8"))
    assert repeated.entries[2:] == log.entries[2:]
    assert repeated.skipped == 2


def test_collapsed_scale_stops_the_run(base: Path, tmp_path: Path) -> None:
    trainer, log = fp16_trainer(base, tmp_path, epochs=7, overflows=99)
    with pytest.raises(BadInputError, match=r"17 steps were skipped up to step 17, .* lower --lr"):
        trainer.train()
    assert log.entries[-1]["scale"] == 0.5


def test_nan_loss_is_logged_and_stops_the_run(base: Path, tmp_path: Path) -> None:
    trainer, log = fp16_trainer(base, tmp_path, epochs=2, overflows=0)
    trainer.model.get_base_model().get_decoder().norm.weight.data.fill_(math.nan)
    with pytest.raises(BadInputError, match="loss is nan at step 1; lower --lr"):
        trainer.train()
    (line,) = (tmp_path / "log_history.jsonl").read_text().splitlines()
    assert math.isnan(json.loads(line)["loss"])
    assert len(log.entries) == 1
