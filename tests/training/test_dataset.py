"""A row has a label where the mask is 1 and nowhere else, and every row of the input is counted once."""

from model.render import Renderer
from tests.helpers.tiny import tokenizer, trajectory
from training.dataset import IGNORED, build


def test_labels_are_the_ids_under_the_mask() -> None:
    (example,) = build([trajectory()], Renderer.for_base(tokenizer("byte_level")), max_length_tokens=4096).examples
    row, mask = example.row(), example.encoded.mask
    assert row["input_ids"] == example.encoded.token_ids
    assert {0, 1} == set(mask)
    for id_, label, on in zip(row["input_ids"], row["labels"], mask, strict=True):
        assert label == (id_ if on else IGNORED)


def test_every_row_counts_once() -> None:
    malformed = trajectory("bad-s0").model_copy(update={"messages": trajectory().messages[::-1]})
    rows = [
        trajectory("used-s0"), trajectory("refused-s0", kept=False), trajectory("long-s0", steps=30),
        trajectory("empty-s0").model_copy(update={"messages": trajectory().messages[:2]}), malformed,
        trajectory("late-s0"),
    ]  # fmt: skip
    dataset = build(rows, Renderer.for_base(tokenizer("byte_level")), max_length_tokens=600, limit=5)
    left_out = [id_ for ids in dataset.left_out.values() for id_ in ids]
    counted = [*left_out, *(example.id for example in dataset.examples)]
    assert sorted(counted) == sorted(row.id for row in rows)
    assert dataset.left_out["not_kept"] == ["refused-s0"]
