"""bench/train.py measures one and the same training: rows, losses, real tokens; a GPU's cases run on a tiny base."""

import pytest

import preflight
from bench import train

SHAPE = {
    "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2,
    "num_hidden_layers": 2, "vocab_size": 4096,
}  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(train.random_base(tmp_path_factory.mktemp("bench") / "base", SHAPE))


def test_rows_have_the_share_of_labels_that_is_asked_for() -> None:
    for share in train.SHARES:
        (row,) = train.rows_of([2048], share, 600)
        assert len(row["input_ids"]) == 2048
        assert sum(label != -100 for label in row["labels"]) / 2048 == pytest.approx(share, abs=0.02)


def test_the_trainers_that_are_compared_train_the_same(base: str) -> None:
    _, changes = train.cases(on_gpu=False)[0]
    spec = {"base": base, "share": 0.4, "epochs": 1, **changes, "lengths": [90, 120, 64, 100]}
    runs = {trainer: train.work({**spec, "trainer": trainer}) for trainer in train.TRAINERS}
    for found in runs.values():
        assert found["losses"] == pytest.approx(runs["sekft"]["losses"], abs=1e-5)
        assert found["norms"] == pytest.approx(runs["sekft"]["norms"], abs=1e-5)
        assert found["tokens_per_second"] > 0
        assert found["cpu_seconds"] > 0


def test_mfu_leaves_out_what_checkpointing_computes_again(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "PEAK_FLOPS", {"CPU": 1e8})
    _, changes = train.cases(on_gpu=True)[0]
    spec = {"base": base, "share": 0.4, "epochs": 1, **changes, "lengths": [96] * 4, "dtype": "fp32"}
    once, again = (train.work({**spec, "trainer": "sekft", "gradient_checkpointing": on}) for on in (False, True))
    assert once["mfu"] == once["hfu"] > 0
    assert 1.2 < again["hfu"] / again["mfu"] < 1.5


@pytest.mark.parametrize("case", [0, 1])
def test_what_a_gpu_would_measure_runs_on_a_tiny_base(base: str, case: int) -> None:
    _, changes = train.cases(on_gpu=True)[case]
    spec = {"base": base, "share": 0.4, "epochs": 1, **changes, "lengths": [96] * 4}
    found = train.work({**spec, "trainer": "sekft"})
    assert len(found["losses"]) == 1
    assert found["flops_per_second"] > 0
