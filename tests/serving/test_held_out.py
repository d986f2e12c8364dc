"""Held-out sessions are the same for the same adapter, and hold nothing that it has read."""

import math
from pathlib import Path

import pytest
import torch

from model.render import Renderer
from pipeline.files import write_identity, write_record
from schema import AdapterIdentity, BadInputError, TrainedSession
from serving.held_out import SESSIONS, Probe, compare_probes, held_out_sessions, last_context, new_scenarios, probes
from tests.helpers import tiny


def adapter_of(directory: Path, *rows: TrainedSession) -> Path:
    directory.mkdir()
    write_identity(directory, AdapterIdentity(base="base", trained_on=list(rows)))
    return directory


def read(scenario_id: str, content_hash: str) -> TrainedSession:
    return TrainedSession(scenario_id=scenario_id, content_hash=content_hash, archetype="x", trajectory_id="x-s0")


def test_new_sessions_are_the_same_each_time_and_leave_out_what_was_read(tmp_path: Path) -> None:
    sessions = held_out_sessions("base", None, None)
    assert len(sessions) == SESSIONS == len({str(one) for one in sessions})
    assert held_out_sessions("base", adapter_of(tmp_path / "other", read("a", "0" * 64)), None) == sessions
    first = new_scenarios(2 * SESSIONS)[0]
    without = held_out_sessions("base", adapter_of(tmp_path / "reader", read("a", first.content_hash)), None)
    assert without[: SESSIONS - 1] == sessions[1:]
    assert len(without) == SESSIONS
    merged = adapter_of(tmp_path / "merged", read("a", first.content_hash))  # a model of merge.py has an identity too
    assert held_out_sessions(str(merged), None, None) == without


def test_scenarios_that_were_read_are_refused(tmp_path: Path) -> None:
    world = tiny.scenario("t0")
    write_record(tmp_path / "held", world)
    assert len(held_out_sessions("base", adapter_of(tmp_path / "a", read("n0", "0" * 64)), tmp_path / "held")) == 1
    with pytest.raises(BadInputError, match="b was trained on 1 sessions whose scenario is held out"):
        held_out_sessions("base", adapter_of(tmp_path / "b", read("n0", world.content_hash)), tmp_path / "held")


def test_positions_are_those_before_the_operators_tokens() -> None:
    renderer = Renderer(tiny.tokenizer("byte_level"), "markers")
    messages = tiny.trajectory().messages
    (whole,) = probes(renderer, [messages], lambda ids, positions: torch.zeros(len(positions), 4))
    encoded = renderer.encode(messages)
    assert whole.positions
    assert all(encoded.mask[position + 1] for position in whole.positions)
    (end,) = probes(renderer, [last_context(messages)], lambda ids, positions: torch.zeros(len(positions), 4))
    assert end.positions == [len(end.token_ids) - 1]
    assert end.token_ids == renderer.context(messages[:-1])


def test_a_difference_is_the_largest_and_nan_is_none_that_passes() -> None:
    expected = [Probe([1, 2], [0, 1], torch.tensor([[1.0, 2.0], [3.0, -8.0]]))]
    found = compare_probes(expected, lambda ids, positions: torch.tensor([[1.0, 2.5], [3.0, 4.0]]))
    assert (found.largest, found.same_best_token, found.largest_logit) == (12.0, 0.5, 8.0)
    broken = compare_probes(expected, lambda ids, positions: torch.tensor([[1.0, math.nan], [3.0, -8.0]]))
    assert not broken.largest <= 1e9
