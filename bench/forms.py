"""Read exported files with axolotl's and unsloth's own data code, and show what each makes of them.

    python -m bench.forms --exported exported --base base/smollm2

Neither package fits this project's pinned versions, and unsloth itself wants a GPU; their data code needs neither. So
this runs in an environment of its own that sees the project's packages and has those two without their dependencies:

    python3 -m venv /tmp/forms && echo "$PWD/.venv/lib/python3.11/site-packages" \
        > /tmp/forms/lib/python3.11/site-packages/project.pth
    /tmp/forms/bin/pip install --no-deps -r bench/requirements-forms.txt
    /tmp/forms/bin/python -m bench.forms --exported exported --base base/smollm2

TRL's SFTTrainer and DPOTrainer take a step on their form in tests/exports/test_forms.py. No code of unsloth's reads
pairs.unsloth.jsonl here: it has the lines of pairs.trl.jsonl, because a DPO run with unsloth uses TRL's DPOTrainer.
"""

import argparse
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pipeline import stage


def main(*, exported: Path, base: str) -> int:
    """Load both forms; the summary has the rows and tokens that each trainer would train on."""
    from datasets import load_dataset
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(base)

    def data(name: str) -> Any:
        return load_dataset("json", data_files=str(exported / name), split="train")

    stage.print_summary({
        "axolotl sft": axolotl_sft(data("sft.axolotl.jsonl"), tokenizer),
        "axolotl pairs": axolotl_pairs(data("pairs.axolotl.jsonl"), tokenizer),
        "unsloth sft": unsloth_sft(data("sft.unsloth.jsonl"), tokenizer),
    })  # fmt: skip
    return stage.DONE


def axolotl_sft(rows: Any, tokenizer: Any) -> dict[str, int]:
    """Rows, tokens and trained tokens by axolotl's `type: chat_template`."""
    from axolotl.prompt_strategies import chat_template
    from axolotl.utils.dict import DictDefault

    cfg = DictDefault({"sequence_len": 8192, "chat_template": "tokenizer_default", "train_on_inputs": False})
    strategy = chat_template.StrategyLoader()(tokenizer, cfg, {"chat_template": "tokenizer_default"})
    found = [strategy.tokenize_prompt(row) for row in rows]
    return {
        "rows": len(found),
        "tokens": sum(len(one["input_ids"]) for one in found),
        "trained": sum(label != -100 for one in found for label in one["labels"]),
    }


def axolotl_pairs(rows: Any, tokenizer: Any) -> dict[str, int]:
    """Pairs and tokens by axolotl's `type: passthrough.default`, which leaves them to TRL's DPOTrainer."""
    from axolotl.prompt_strategies.dpo import passthrough

    found = [passthrough.default({"datasets": [{}]})(row, tokenizer=tokenizer) for row in rows]
    sides = [
        tokenizer.apply_chat_template(row["prompt"] + row[side]) for row in found for side in ("chosen", "rejected")
    ]
    return {"rows": len(found), "tokens": sum(len(side["input_ids"]) for side in sides)}


def unsloth_sft(rows: Any, tokenizer: Any) -> dict[str, int]:
    """Rows and tokens by the function that unsloth puts in the place of TRL's data preparation."""
    os.environ["UNSLOTH_IS_PRESENT"] = "1"
    from unsloth_zoo.dataset_utils import sft_prepare_dataset

    trainer = SimpleNamespace(model=None, max_seq_length=8192, chat_template=None, data_collator=None)
    settings = SimpleNamespace(max_length=8192, dataset_text_field="text", dataset_num_proc=1)
    made = sft_prepare_dataset(trainer, rows, tokenizer, settings, False, None, "train")
    return {"rows": len(made), "tokens": sum(len(row["input_ids"]) for row in made)}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--exported", type=Path, required=True, help="--out of export.py --to axolotl unsloth")
    parser.add_argument("--base", default=stage.DEFAULT_BASE, help="whose chat template renders (default %(default)s)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
