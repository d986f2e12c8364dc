"""Write the sessions that a local operator with an adapter would have recorded, for preference training on tiny bases.

adapter = start_adapter(base, tmp_path / "sft")
write_sessions(tmp_path / "pairs", adapter, scenarios=4)
"""

from pathlib import Path
from typing import Any

import sft
from model.loading import adapter_hash
from model.render import Renderer
from pipeline.files import write_json, write_record
from schema import OperatorInfo, Trajectory
from tests.helpers.tiny import tokenizer, trajectory
from tests.helpers.training import exit_code

QUICK = ["--lr", "5e-3", "--dtype", "fp32", "--no-reload"]


def start_adapter(base: Path, out: Path) -> Path:
    """A tiny adapter that sft.py trained on three sessions."""
    data = out.with_name(out.name + "-data")
    for index in range(3):
        write_record(data, trajectory(f"u{index}-s0", steps=2 + index))
    write_json(data / "manifest.json", {"finished": True})
    flags = ["--data", data, "--base", base, "--render", "markers", "--epochs", 1, "--lora-r", 4, *QUICK]
    code = exit_code(sft, *flags, "--out", out)
    assert code == 0
    return out


def recorded(row: Trajectory, digest: str, **changes: Any) -> Trajectory:
    """The session as a local operator with this adapter records it.

    One token of each turn was sampled letter by letter, so that training on text instead of ids is seen.
    """
    renderer = Renderer.for_base(tokenizer("byte_level"), "markers")
    turns = []
    for command in row.commands:
        ids = renderer.operator_ids(command)
        at = next(place for place, id_ in enumerate(ids) if len(renderer.decode([id_])) > 1)
        text = renderer.decode([ids[at]]).replace(" ", "Ġ")  # the byte-level name of a space
        letters = renderer.tokenizer.convert_tokens_to_ids(list(text))
        turns.append([*ids[:at], *letters, *ids[at + 1 :]])
        assert renderer.decode_turn(turns[-1]) == (command, True)
    encoded = renderer.encode(row.messages, turns)
    update = {
        "operator": OperatorInfo(
            kind="local", model="base", adapter_hash=digest, sampling={"temperature": 1.0}, seed=1
        ),
        "token_ids": encoded.token_ids,
        "assistant_mask": encoded.mask,
        "log_probs": [None] * len(encoded.mask),
    }
    return row.model_copy(update=update | changes)


def write_sessions(out: Path, adapter: Path, *, scenarios: int = 4, task: str = "copy_files") -> Path:
    """Three sessions of each scenario, one kept and two not, of different lengths; returns the directory."""
    digest = adapter_hash(adapter)
    for index in range(scenarios):
        for sample in range(3):
            row = trajectory(f"p{index}-s{sample}", kept=sample == 0, steps=2 + (index + 2 * sample) % 5, task=task)
            write_record(out, recorded(row, digest))
    write_json(out / "manifest.json", {"finished": True})
    return out
