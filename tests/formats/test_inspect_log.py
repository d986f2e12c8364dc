"""Trajectories go through a log of Inspect AI and come back equal; Inspect's own reader opens the log."""

import json
from pathlib import Path
from typing import Any

import pytest

from formats.inspect_log import from_log, to_log
from formats.unfit import UnfitError
from pipeline.files import write_json
from schema import VOIDED
from tests.helpers.peers import peer
from tests.helpers.sessions import SESSIONS

CREATED = "2026-11-25T04:00:00+00:00"
# By epoch and scenario, the order in which Inspect has samples.
RECORDS = sorted(SESSIONS.values(), key=lambda record: record.id.split("-s")[::-1])
READ = """
from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log
(listed,) = list_eval_logs(sys.argv[1])
head = read_eval_log(listed.name, header_only=True)
log = read_eval_log(listed.name)
assert (head.eval, head.results) == (log.eval, log.results)
write_eval_log(log, sys.argv[2])  # Inspect's own JSON
print(json.dumps({
    "model": log.eval.model, "status": log.status, "version": log.version,
    "samples": [[one.id, one.epoch, one.uuid, one.error is not None, len(one.messages)] for one in log.samples],
    "values": [{name: score.value for name, score in one.scores.items()} for one in log.samples],
    "rates": {one.name: {name: metric.value for name, metric in one.metrics.items()} for one in log.results.scores},
    "limits": [one.limit.limit for one in log.samples if one.limit],
}))
"""


def test_sessions_come_back_equal() -> None:
    assert from_log(json.loads(json.dumps(to_log(RECORDS, task="t", created=CREATED)))) == RECORDS


def test_inspect_itself_opens_the_log(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write_json(
        logs / "2026-11-25T04-00-00+00-00_t_abc.json", to_log(RECORDS, task="t", created=CREATED), sort_keys=False
    )
    write_json(logs / "manifest.json", {"finished": True})  # beside it, as export.py leaves it
    seen = peer(READ, logs, tmp_path / "again.json")
    counted = [record for record in RECORDS if record.outcome not in VOIDED]
    assert (seen["model"], seen["status"], seen["version"]) == ("reference/reference", "success", 2)
    assert [(one[0], one[2], one[3], one[4]) for one in seen["samples"]] == [
        (record.scenario_id, record.id, record.outcome in VOIDED, len(record.messages)) for record in RECORDS
    ]
    assert [one[1] for one in seen["samples"] if one[0] == "plain-1"] == [
        1,
        2,
    ]  # a second episode of a scenario is its second epoch
    assert [one.get("clean") for one in seen["values"]] == [
        None if record.outcome in VOIDED else "C" if record.kept else "I" for record in RECORDS
    ]
    assert seen["rates"]["clean"]["accuracy"] == pytest.approx(sum(record.kept for record in counted) / len(counted))
    assert seen["limits"] == [2]
    assert from_log(json.loads((tmp_path / "again.json").read_text())) == RECORDS  # Inspect's own copy holds everything


def test_a_log_that_inspect_refuses_is_seen(tmp_path: Path) -> None:
    log = to_log(RECORDS, task="t", created=CREATED)
    log["samples"][0]["messages"][0]["role"] = "narrator"
    write_json(tmp_path / "2026-11-25T04-00-00+00-00_t_abc.json", log, sort_keys=False)  # its head comes first
    with pytest.raises(AssertionError, match="narrator"):
        peer(READ, tmp_path, tmp_path / "again.json")


def test_no_rate_is_told_where_every_episode_was_voided() -> None:
    log = to_log([SESSIONS["the sandbox broke"]], task="t", created=CREATED)
    assert [one["metrics"] for one in log["results"]["scores"]] == [{}, {}]


FAULTS: dict[str, tuple[str, Any]] = {
    "no log": ("record", []),
    "no samples": ("record", {"samples": None}),
    "a sample that is none": ("record", {"samples": [3]}),
    "another's": ("foreign", {"samples": [{"id": 1, "epoch": 1, "messages": [], "metadata": {}}]}),
    "a bad label": ("record", {"samples": [{"id": 1, "epoch": 1, "messages": [], "metadata": {"sekft": {"id": 3}}}]}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_spoilt_log_is_refused_by_its_rule(fault: str) -> None:
    rule, log = FAULTS[fault]
    with pytest.raises(UnfitError) as refused:
        from_log(log)
    assert refused.value.rule == rule
