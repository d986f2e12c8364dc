"""Each form keeps tool calls structured, and TRL's trainers take a step on theirs."""

import json
from pathlib import Path
from typing import Any

import pytest

from exports.chat import tools_of
from exports.forms import FORMS, Pair
from exports.rows import Row, foreign_row, own_row
from tests.helpers import tiny
from tests.helpers.foreign import call, foreign, read_lines, trip

# A template that renders calls and tools, and fails where arguments are text: TRL hands them on as they are.
TOOL_TEMPLATE = (
    "{% if tools %}{{ '<|im_start|>tools\n' + tools | tojson + '<|im_end|>\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content }}"
    "{% for c in m.tool_calls or [] %}{{ c.function.name }}"
    "{% for key, value in c.function.arguments.items() %}{% if value is not none %}{{ ' ' + key + '=' + value }}"
    "{% endif %}{% endfor %}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def rows() -> list[Row]:
    """Two policies' successes with different tools, and a failure of the first policy."""
    some = [trip(0, [call("bash", command="ls"), call("read", path="a.py")], "out")]
    other = [trip(0, [call("write", path="b.py", content="x")], "written")]
    values = [
        foreign("one", trips=some), foreign("one", trips=some, resolved=False, sample=1),
        foreign("two", trips=other, model="opus", tier="frontier"),
    ]  # fmt: skip
    return [
        *(foreign_row(Path("a.json"), at, value) for at, value in enumerate(values)),
        own_row(Path("t"), tiny.trajectory()),
    ]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A directory with every form of these rows and one pair."""
    every = rows()
    for form in FORMS.values():
        made = form(tmp_path)
        for row in every:
            made.add(row)
        made.add_pair(Pair(every[0], every[1]))
        made.close()
    return tmp_path


@pytest.mark.parametrize("form", ["openai", "trl", "axolotl", "unsloth"])
def test_tool_calls_and_results_stay_structured(written: Path, form: str) -> None:
    lines = read_lines(written / f"sft.{form}.jsonl")
    assert len(lines) == 3
    messages = lines[0]["messages"]
    (calls,) = [message["tool_calls"] for message in messages if "tool_calls" in message]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert [one["id"] for one in calls] == results
    arguments = calls[0]["function"]["arguments"]
    assert (json.loads(arguments) if form in ("openai", "axolotl") else arguments) == {"command": "ls"}
    tools = lines[0]["tools"]
    named = [tool["function"]["name"] for tool in (json.loads(tools) if isinstance(tools, str) else tools)]
    assert named == ["bash", "read"]


def test_tools_are_the_recorded_ones_where_there_are_any() -> None:
    schema = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
    assert tools_of(foreign_row(Path("a"), 1, foreign("x", tools=schema))) == schema
    assert tools_of(own_row(Path("t"), tiny.trajectory())) == []


def test_the_sides_of_a_pair_begin_after_the_same_opening(written: Path) -> None:
    (pair,) = read_lines(written / "pairs.trl.jsonl")
    assert [message["role"] for message in pair["prompt"]] == ["system", "user"]
    assert pair["chosen"][0]["role"] == pair["rejected"][0]["role"] == "assistant"


def test_the_openai_pairs_have_the_shape_of_its_preference_fine_tuning(written: Path) -> None:
    (pair,) = read_lines(written / "pairs.openai.jsonl")
    assert set(pair) == {"input", "preferred_output", "non_preferred_output"}
    assert [message["role"] for message in pair["input"]["messages"]] == ["system", "user"]
    assert [tool["function"]["name"] for tool in pair["input"]["tools"]] == ["bash", "read"]
    for side, last in (("preferred_output", "Done, sample 0."), ("non_preferred_output", "Done, sample 1, I think.")):
        assert [message["role"] for message in pair[side]] == ["assistant", "tool", "tool", "assistant"]
        assert json.loads(pair[side][0]["tool_calls"][0]["function"]["arguments"]) == {"command": "ls"}
        assert pair[side][-1]["content"] == last


def test_unsloths_pairs_are_those_that_trl_reads(written: Path) -> None:
    unsloth, trl = ((written / f"pairs.{form}.jsonl").read_bytes() for form in ("unsloth", "trl"))
    assert unsloth == trl != b""


def tool_tokenizer(base: Path) -> Any:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.chat_template = TOOL_TEMPLATE
    return tokenizer


@pytest.mark.slow
def test_trl_trains_a_step_on_the_sft_file_and_on_the_pairs(written: Path, tmp_path: Path) -> None:
    from datasets import load_dataset
    from transformers import AutoModelForCausalLM
    from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

    base = tiny.base(tmp_path / "base", hidden=16, layers=1)
    tokenizer = tool_tokenizer(base)
    common: dict[str, Any] = {
        "output_dir": str(tmp_path / "run"), "max_steps": 1, "per_device_train_batch_size": 1, "report_to": "none",
        "use_cpu": True, "bf16": False, "save_strategy": "no", "max_length": 2048, "logging_steps": 1,
    }  # fmt: skip
    for kind in ("sft", "pairs"):
        data = load_dataset(
            "json", data_files=str(written / f"{kind}.trl.jsonl"), split="train", cache_dir=str(tmp_path / "cache")
        )
        model = AutoModelForCausalLM.from_pretrained(base, dtype="float32")
        trainer: Any = (
            SFTTrainer(model, SFTConfig(**common), train_dataset=data, processing_class=tokenizer)
            if kind == "sft"
            else DPOTrainer(model, args=DPOConfig(**common), train_dataset=data, processing_class=tokenizer)
        )
        column = "input_ids" if kind == "sft" else "chosen_ids"
        text = tokenizer.decode(trainer.train_dataset[0][column])
        assert "bash command=ls" in text.replace("read path=a.py", "")
        assert trainer.train().global_step == 1
