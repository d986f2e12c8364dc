"""A scenario that is held out is not trained on, nor an archetype where the split is by archetype."""

from pathlib import Path

import pytest

from pipeline.files import write_json
from pipeline.holdout import refuse_overlap
from schema import BadInputError, Scenario, TrainedSession
from tests.helpers.recorded import scenario


def test_held_out_scenarios_are_refused(tmp_path: Path) -> None:
    seen, other, fresh = scenario("copy_files", 0), scenario("copy_files", 1), scenario("find_names", 0)
    held = tmp_path / "holdout"
    trained_on = [
        TrainedSession(scenario_id=seen.id, content_hash=seen.content_hash, archetype=seen.task, trajectory_id="t")
    ]

    def refuse(*records: Scenario) -> None:
        refuse_overlap(trained_on, held, records, trained="the adapter was trained on", remedy="take others")

    write_json(held / "manifest.json", {"finished": True, "flags": {"by": "scenario"}})
    with pytest.raises(
        BadInputError,
        match="the adapter was trained on 1 sessions whose scenario is held out here, t first; take others",
    ):
        refuse(fresh, seen)
    with pytest.raises(
        BadInputError,
        match="the adapter was trained on 1 sessions whose scenario is held out here, t first; take others",
    ):
        refuse(seen.model_copy(update={"id": "renamed"}))
    with pytest.raises(BadInputError, match="whose scenario is held out here"):
        refuse(seen.model_copy(update={"content_hash": other.content_hash}))
    refuse(fresh, other)
    write_json(held / "manifest.json", {"finished": True, "flags": {"by": "archetype"}})
    with pytest.raises(BadInputError, match="whose archetype is held out here"):
        refuse(fresh, other)
    refuse(fresh)
    write_json(held / "manifest.json", {"finished": True, "flags": {"by": "archetype", "side": "train"}})
    for records, kind in (((seen,), "scenario"), ((other,), "archetype")):
        with pytest.raises(BadInputError, match=f"whose {kind} lies in this training side of a split, t first"):
            refuse(*records)
