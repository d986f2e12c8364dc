"""Write trajectories as a log of Inspect AI, and read them back.

    log = to_log(trajectories, task="trajectories", created="2026-11-25T04:00:00+00:00")
    from_log(log) == trajectories

A log has one model, so each operator gets a log of its own. A scenario is a sample, an episode of it an epoch. The
messages are the sample's messages; verified and clean are its scores; an episode that was voided has an error and no
score. Labels and steps lie in the sample's metadata.

Source of the format: the models of the package `inspect_ai`, version 0.3.285, inspect_ai.log.EvalLog.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from formats.unfit import UnfitError
from pipeline.rates import rate_of
from schema import VOIDED, Trajectory, canonical, sha256

FORMAT = 2  # `version` of a log
OURS = "sekft"  # the key of our fields in a `metadata`
CORRECT, INCORRECT = "C", "I"  # Inspect's values of a score
SCORES = {"verified": "verified", "clean": "kept"}  # score -> field of the trajectory
MAX_TOKENS_REACHED = "context_full"


def operator_of(record: Trajectory) -> str:
    """The name of the operator as Inspect names models: `local/base+1a2b3c4d`."""
    info = record.operator
    adapter = f"+{info.adapter_hash[:8]}" if info.adapter_hash else ""
    return f"{info.kind}/{info.model or info.kind}{adapter}"


def to_log(records: Sequence[Trajectory], *, task: str, created: str) -> dict[str, Any]:
    """The log of one operator's trajectories.

    Args:
        records: at least one; all of one operator.
        task: the name of the task, for example that of the directory.
        created: when the newest of them was recorded, ISO 8601.
    """
    epochs: Counter[str] = Counter()
    samples = []
    for record in records:
        epochs[record.scenario_id] += 1
        samples.append(_sample(record, epochs[record.scenario_id]))
    model = operator_of(records[0])
    key = sha256(canonical([task, model, [record.id for record in records]]))[:22]
    counted = [record for record in records if record.outcome not in VOIDED]
    return {
        "version": FORMAT,
        "status": "success",
        "eval": {
            "eval_id": key,
            "run_id": key,
            "task_id": key,
            "created": created,
            "task": task,
            "dataset": {"name": task, "samples": len(epochs), "sample_ids": sorted(epochs), "shuffled": False},
            "model": model,
            "config": {"epochs": max(epochs.values())},
            "metadata": {OURS: {"format": "trajectories"}},
        },
        "plan": {"name": "sekft", "steps": []},
        "results": {
            "total_samples": len(records),
            "completed_samples": len(counted),
            "scores": [_score(name, counted, len(records)) for name in SCORES],
        },
        "stats": {"started_at": created, "completed_at": created},
        "samples": samples,
    }


def _score(name: str, counted: Sequence[Trajectory], n: int) -> dict[str, Any]:
    """A rate over the episodes that were not voided; without any, no metric."""
    rate = rate_of([bool(getattr(record, SCORES[name])) for record in counted], n - len(counted))
    metrics = {} if rate.rate is None else {"accuracy": {"name": "accuracy", "value": rate.rate}}
    return {
        "name": name,
        "scorer": name,
        "scored_samples": len(counted),
        "unscored_samples": n - len(counted),
        "metrics": metrics,
    }


def _sample(record: Trajectory, epoch: int) -> dict[str, Any]:
    """One episode as a sample."""
    messages = [message.model_dump(mode="json") for message in record.messages]
    rest = record.model_dump(mode="json", exclude_none=True, exclude={"messages"})
    voided = record.outcome in VOIDED
    said = record.commands[-1:]
    stop = "max_tokens" if record.outcome == MAX_TOKENS_REACHED else "stop"
    choices = [{"message": {"role": "assistant", "content": text}, "stop_reason": stop} for text in said]
    sample: dict[str, Any] = {
        "id": record.scenario_id,
        "epoch": epoch,
        "input": messages[:2],
        "target": "the checker passes",
        "messages": messages,
        "output": {"model": operator_of(record), "choices": choices},
        "scores": {} if voided else {name: _value(record, name) for name in SCORES},
        "metadata": {OURS: rest, **record.axes},
        "uuid": record.id,
    }
    if record.outcome == "max_steps":
        sample["limit"] = {"type": "turn", "limit": len(record.commands)}
    if voided:
        text = record.error or record.outcome
        sample["error"] = {"message": f"{record.outcome}: {text}", "traceback": "", "traceback_ansi": ""}
    return sample


def _value(record: Trajectory, name: str) -> dict[str, Any]:
    passed = bool(getattr(record, SCORES[name]))
    return {
        "value": CORRECT if passed else INCORRECT,
        "answer": record.terminal or "",
        "explanation": "; ".join(record.reasons) or record.outcome,
    }


def from_log(log: Any) -> list[Trajectory]:
    """The trajectories of a log of ours, in its order. Raises UnfitError where it is another's, or was changed."""
    if not isinstance(log, dict) or not isinstance(log.get("samples"), list):
        raise UnfitError("record", "no samples; a log in the .eval format becomes JSON with `inspect log convert`")
    return [_trajectory(sample) for sample in log["samples"]]


def _trajectory(sample: Any) -> Trajectory:
    try:
        name = f"sample {sample['id']!r}, epoch {sample['epoch']}"
        rest = (sample.get("metadata") or {}).get(OURS)
        if rest is None:
            raise UnfitError("foreign", f"{name}: no metadata.{OURS}: scenario, labels and exit codes are not told")
        messages = [{"role": one["role"], "content": one["content"]} for one in sample["messages"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise UnfitError("record", f"a sample lacks or misplaces {error}") from error
    try:
        return Trajectory.model_validate({**rest, "messages": messages})
    except (ValidationError, TypeError) as error:
        what = (
            f"{'.'.join(map(str, error.errors()[0]['loc']))}: {error.errors()[0]['msg']}"
            if isinstance(error, ValidationError)
            else str(error)
        )
        raise UnfitError("record", f"{name}: {what}") from error
