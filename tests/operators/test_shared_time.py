"""Calls at once share the seconds: their shares add up to the time that passed."""

import pytest

from operators.episode import SharedTime


def test_calls_at_once_share_the_time() -> None:
    now = [0.0]

    def passes(seconds: float) -> None:
        now[0] += seconds

    calls = SharedTime(lambda: now[0])
    passes(5)  # nobody calls
    with calls.one() as first:
        passes(1)
        with calls.one() as second:
            passes(4)
            assert (first(), second()) == (3, 2)
        passes(2)
        assert first() == 5
    passes(9)
    with calls.one() as third:
        passes(1.5)
        assert third() == pytest.approx(1.5)
