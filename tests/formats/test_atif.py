"""A trajectory goes through ATIF and comes back equal; Harbor's own models read the document."""

import json
from pathlib import Path
from typing import Any

import pytest

from formats.atif import from_atif, to_atif
from formats.unfit import UnfitError
from pipeline.files import read_record, write_json
from schema import Message, Trajectory
from tests.helpers import ROOT
from tests.helpers.peers import HARBOR, peer
from tests.helpers.sessions import SESSIONS

OLD = ROOT / "tests" / "data" / "written_before_packages" / "trajectories"
READ = """
from pathlib import Path
from harbor.models.trajectories import Trajectory
found = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    read = Trajectory.model_validate_json(path.read_text())
    found[path.name] = json.loads(read.model_dump_json(exclude_none=True))
print(json.dumps(found))
"""


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_comes_back_equal(name: str) -> None:
    document = json.loads(json.dumps(to_atif(SESSIONS[name])))
    assert from_atif(document) == SESSIONS[name]


def test_recorded_sessions_come_back_equal() -> None:
    for path in OLD.glob("*-s*.json"):
        record = read_record(path, Trajectory)
        assert from_atif(to_atif(record)) == record


def test_token_ids_lie_in_the_steps() -> None:
    for name in ("tokens", "tokens of a turn that was cut off"):
        record = SESSIONS[name]
        document = to_atif(record)
        assert "token_ids" not in document["extra"]["sekft"]
        turns = [step["metrics"] for step in document["steps"] if step["source"] == "agent"]
        assert [len(one["logprobs"]) for one in turns] == [len(one["completion_token_ids"]) for one in turns]
        assert turns[-1]["prompt_token_ids"][: len(turns[0]["prompt_token_ids"])] == turns[0]["prompt_token_ids"]
    assert "token_ids" in to_atif(SESSIONS["tokens after the last turn"])["extra"]["sekft"]


def test_counted_tokens_are_the_totals() -> None:
    totals = to_atif(SESSIONS["usage"])["final_metrics"]
    assert totals == {
        "total_steps": 5, "total_prompt_tokens": 27, "total_cached_tokens": 20, "total_completion_tokens": 6,
    }  # fmt: skip
    assert to_atif(SESSIONS["plain"])["final_metrics"].keys() == {"total_steps"}


def test_harbor_itself_reads_the_documents(tmp_path: Path) -> None:
    documents = {f"{number}.json": to_atif(record) for number, record in enumerate(SESSIONS.values())}
    for name, document in documents.items():
        write_json(tmp_path / name, document)
    read = peer(HARBOR + READ, tmp_path)
    for name, record in zip(documents, SESSIONS.values(), strict=True):
        assert from_atif(read[name]) == record, name  # what Harbor wrote again holds everything too


def test_a_document_that_harbor_refuses_is_seen(tmp_path: Path) -> None:
    document = to_atif(SESSIONS["plain"])
    write_json(tmp_path / "a.json", {**document, "sekft": 1})
    with pytest.raises(AssertionError, match="Extra inputs"):
        peer(HARBOR + READ, tmp_path)


def test_messages_that_do_not_follow_from_the_steps_are_refused() -> None:
    record = SESSIONS["plain"]
    odd = record.model_copy(update={"messages": [*record.messages, Message(role="user", content="more")]})
    with pytest.raises(UnfitError, match="messages: "):
        to_atif(odd)


FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "another's": ("foreign", {"extra": {}}),
    "a number for extra": ("foreign", {"extra": 5}),
    "a list for ours": ("record", {"extra": {"sekft": ["abc"]}}),
    "no steps": ("record", {"steps": None}),
    "a step without a source": ("record", {"steps": [{}]}),
    "no operator": ("record", {"agent": {"name": "x"}}),
    "a bad label": ("record", {"extra": {"sekft": {"ended_at_prompt": False, "outcome": "won"}}}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_spoilt_document_is_refused_by_its_rule(fault: str) -> None:
    rule, changed = FAULTS[fault]
    with pytest.raises(UnfitError) as refused:
        from_atif({**to_atif(SESSIONS["plain"]), **changed})
    assert refused.value.rule == rule
