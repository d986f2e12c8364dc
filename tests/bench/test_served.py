"""bench.served takes the file of select_adapter.py as every --adapter does; what was not played is not equal."""

from pathlib import Path

import pytest

from bench import served
from model.loading import adapter_hash
from pipeline.files import write_json
from schema import BadInputError
from tests.helpers import run_directories as made


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


def test_rates_are_equal_only_where_every_scenario_was_played_in_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    records = {one.id: one for one in made.scenarios(8)}
    local = {key: made.session(one, "a\n") for key, one in records.items()}
    same = served.compare(local, dict(local), records, 1)
    assert (same["n"], same["missing"], same["same_commands"], same["equal_within_intervals"]) == (8, 0, 8, True)
    fewer = {key: local[key] for key in list(local)[:7]}
    short = served.compare(local, fewer, records, 1)
    assert (short["n"], short["missing"], short["equal_within_intervals"]) == (7, 1, False)
    worse = {key: made.session(one, "a\n", outcome="max_steps") for key, one in records.items()}
    other = served.compare(local, worse, records, 1)
    assert (other["missing"], other["equal_within_intervals"]) == (0, False)
    assert "terminate" in capsys.readouterr().err


def test_vllm_is_refused_where_it_is_not_installed_or_not_read() -> None:
    with pytest.raises(BadInputError, match="there is no such program"):
        served.refuse_unfit(None, "vllm", False, "no-such-program --flag 1")
    with pytest.raises(BadInputError, match="does not read it"):
        served.refuse_unfit(None, "transformers", False, "vllm --flag 1")
    served.refuse_unfit(None, "transformers", False, served.VLLM)
