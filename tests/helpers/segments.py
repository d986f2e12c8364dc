"""Sampled segments of random ids, and episodes of them.

row = episode("a-s0", segment((5, 3), (2, 4)))  # reads 5 ids, samples 3, reads 2, samples 4
"""

import random
from typing import Any

from schema import OperatorInfo, Segment, Trajectory
from tests.helpers import tiny

VOCABULARY = 512


def episode(id_: str, *segments: Segment, temperature: float = 1.0, **changes: Any) -> Trajectory:
    row = tiny.trajectory(id_)
    operator = OperatorInfo(kind="local", model="base", sampling={"temperature": temperature})
    return row.model_copy(update={"operator": operator, "segments": list(segments)} | changes)


def segment(*turns: tuple[int, int], seed: int = 0, log_prob: float = -1.0) -> Segment:
    """A segment of turns, each some tokens that were read and some that were sampled."""
    draw, ids, mask = random.Random(seed), list[int](), list[int]()
    for read, sampled in turns:
        ids += [draw.randrange(1, VOCABULARY) for _ in range(read + sampled)]
        mask += [0] * read + [1] * sampled
    return Segment(token_ids=ids, assistant_mask=mask, log_probs=[log_prob if on else None for on in mask])
