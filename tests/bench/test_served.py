"""bench.served takes the file of select_adapter.py as every --adapter does; `none` is the bare base."""

from pathlib import Path

from bench import served
from model.loading import adapter_hash
from pipeline.files import write_json


def adapter_of(*flags: object) -> Path | None:
    given = ["--scenarios", "held", "--out", "out", *map(str, flags)]
    return vars(served.parser().parse_args(given))["adapter"]  # type: ignore[no-any-return]


def test_a_selected_file_names_the_adapter(tmp_path: Path) -> None:
    (tmp_path / "sft").mkdir()
    (tmp_path / "sft" / "adapter_model.safetensors").write_bytes(b"weights")
    rate = {"successes": 0, "n": 1, "rate": 0.0, "interval": [0.0, 1.0]}
    chosen = {
        "selected": "sft", "adapter_hash": adapter_hash(tmp_path / "sft"), "base": "b", "why": "", "scenarios": "s",
        "n": 1, "base_clean_rate": rate, "candidates": [],
    }  # fmt: skip
    write_json(tmp_path / "selected.json", chosen)
    write_json(tmp_path / "none.json", {**chosen, "selected": "none"})
    found = adapter_of("--adapter", tmp_path / "selected.json")
    assert found is not None
    assert found.resolve() == (tmp_path / "sft").resolve()
    assert adapter_of("--adapter", tmp_path / "none.json") is None
    assert adapter_of("--adapter", tmp_path / "sft") == tmp_path / "sft"
