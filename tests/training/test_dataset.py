"""A row has a label where the mask is 1 and nowhere else, and every row of the input is counted once."""

from model.render import Renderer
from schema import Segment
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


def test_recorded_ids_are_used_only_where_they_are_those_of_the_session() -> None:
    renderer = Renderer.for_base(tokenizer("byte_level"))
    plain = trajectory("r-s0")
    encoded = renderer.encode(plain.messages)
    turn = encoded.mask.index(1)
    other = renderer.operator_ids("Z")[0]
    assert other not in encoded.token_ids[turn - 1 : turn + 1]
    # As they are; another text sampled; the sampled text after another one of the environment.
    for place, recorded in ((None, True), (turn, False), (turn - 1, False)):
        ids = [other if at == place else id_ for at, id_ in enumerate(encoded.token_ids)]
        update = {"token_ids": ids, "assistant_mask": encoded.mask, "log_probs": [None] * len(ids)}
        dataset = build([plain.model_copy(update=update)], renderer, max_length_tokens=4096)
        (example,) = dataset.examples
        assert (place, example.recorded) == (place, recorded)
        assert example.encoded.token_ids == encoded.token_ids
        assert dataset.retokenised == ([] if recorded else ["r-s0"])
    segment = Segment(token_ids=[other], assistant_mask=[1], log_probs=[-0.5])  # of an agent program
    assert build([plain.model_copy(update={"segments": [segment]})], renderer, max_length_tokens=4096).retokenised
