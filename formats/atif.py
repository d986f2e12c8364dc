"""Write a trajectory as ATIF, the Agent Trajectory Interchange Format, and read it back.

    document = to_atif(trajectory)
    from_atif(document) == trajectory

The orientation is a system step, the login a user step. Each command is an agent step with a call of the tool `shell`
and, as its observation, the output. The terminal is an agent step without a call. Recorded token ids and log-probs lie
in the metrics of their step. Labels, and what a step has besides its output, lie in the fields `extra`.

Source of the format: the models of the package `harbor`, version 0.26.0, harbor/models/trajectories.
"""

from itertools import groupby
from typing import Any

from pydantic import ValidationError

from formats.unfit import UnfitError
from model.render import after_step, start_prompt
from schema import Message, Trajectory

FORMAT = "ATIF-v1.8"
OURS = "sekft"  # the key of our fields in an `extra`
SHELL = {
    "type": "function",
    "function": {
        "name": "shell",
        "description": "Run one command in the session's dash shell.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
}
TOKENS = ("token_ids", "assistant_mask", "log_probs")


def to_atif(record: Trajectory) -> dict[str, Any]:
    """A trajectory as an ATIF document. Raises UnfitError where its messages do not follow from its steps."""
    document = _document(record, tokens_in_steps=True)
    if _read(document) != record:
        document = _document(record, tokens_in_steps=False)
        if _read(document) != record:
            raise UnfitError("messages", f"{record.id}: its messages do not follow from its steps")
    return document


def _document(record: Trajectory, *, tokens_in_steps: bool) -> dict[str, Any]:
    """The ATIF document; the token ids are in the metrics of the steps, or with our other fields."""
    rest = record.model_dump(mode="json", exclude_none=True, exclude={"messages", "steps", "operator"})
    metrics = _metrics_of(record) if tokens_in_steps else []
    if metrics:
        rest = {name: value for name, value in rest.items() if name not in TOKENS} | {"tokens_in_steps": True}
    steps: list[dict[str, Any]] = [
        {"source": message.role, "message": message.content} for message in record.messages[:2]
    ]
    for at, command in enumerate(record.commands):
        step: dict[str, Any] = {"source": "agent", "message": command, "llm_call_count": 1}
        if at < len(record.steps):
            ran = record.steps[at].model_dump(mode="json", exclude={"command", "output"})
            step["tool_calls"] = [
                {"tool_call_id": f"call-{at + 1}", "function_name": "shell", "arguments": {"command": command}}
            ]
            step["observation"] = {
                "results": [{"source_call_id": f"call-{at + 1}", "content": record.steps[at].output}]
            }
            step["extra"] = {OURS: ran}
        if metrics:
            step["metrics"] = metrics[at]
        steps.append(step)
    operator = record.operator.model_dump(mode="json", exclude_none=True)
    ended_at_prompt = bool(record.messages) and record.messages[-1].role != "assistant"
    return {
        "schema_version": FORMAT,
        "session_id": record.id,
        "trajectory_id": record.id,
        "agent": {
            "name": "sekft",
            "version": str(record.schema_version),
            **({"model_name": record.operator.model} if record.operator.model else {}),
            "tool_definitions": [SHELL],
            "extra": {OURS: operator},
        },
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": {"total_steps": len(steps), **_totals_of(record)},
        "extra": {OURS: {**rest, "ended_at_prompt": ended_at_prompt}},
    }


def _totals_of(record: Trajectory) -> dict[str, int]:
    """What the operator's calls read and wrote, where that was counted and not estimated."""
    usage = record.usage
    if usage is None or usage.estimated:
        return {}
    return {
        "total_prompt_tokens": usage.input_tokens + usage.cached_input_tokens,
        "total_cached_tokens": usage.cached_input_tokens,
        "total_completion_tokens": usage.output_tokens,
    }


def _metrics_of(record: Trajectory) -> list[dict[str, Any]]:
    """Per command the token ids before it, its own, and their log-probs.

    A turn that was cut off ends with ids that nobody sampled (its end marker): they are told apart. Empty where the
    steps cannot hold the ids: the mask has other turns, a log-prob is missing, or ids follow the last turn.
    """
    if record.token_ids is None or record.assistant_mask is None or record.log_probs is None:
        return []
    found: list[dict[str, Any]] = []
    start = 0
    for mark, run in groupby(record.assistant_mask):
        end = start + len(list(run))
        if mark:
            probs = record.log_probs[start:end]
            sampled = [one for one in probs if one is not None]
            if probs[: len(sampled)] != sampled:
                return []
            turn = record.token_ids[start:end]
            metrics: dict[str, Any] = {
                "prompt_tokens": start,
                "completion_tokens": len(sampled),
                "prompt_token_ids": record.token_ids[:start],
                "completion_token_ids": turn[: len(sampled)],
                "logprobs": sampled,
            }
            if appended := turn[len(sampled) :]:
                metrics["extra"] = {OURS: {"appended_token_ids": appended}}
            found.append(metrics)
        start = end
    return found if len(found) == len(record.commands) and record.assistant_mask[-1:] == [1] else []


def from_atif(document: Any) -> Trajectory:
    """The trajectory that a document of ours holds. Raises UnfitError where it is another's, or was changed."""
    extra = document.get("extra") if isinstance(document, dict) else None
    if not isinstance(extra, dict) or OURS not in extra:
        raise UnfitError("foreign", f"no extra.{OURS}: scenario, labels and exit codes are not told")
    try:
        return _read(document)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise UnfitError("record", f"lacks or misplaces {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise UnfitError("record", f"{'.'.join(map(str, first['loc'])) or 'record'}: {first['msg']}") from error
    except ValueError as error:
        raise UnfitError("record", f"extra.{OURS}: {error}") from error


def _read(document: dict[str, Any]) -> Trajectory:
    """The trajectory of a document; errors of any kind where it is not as `_document` writes it."""
    rest = dict(document["extra"][OURS])
    ended_at_prompt, tokens_in_steps = rest.pop("ended_at_prompt"), rest.pop("tokens_in_steps", False)
    opening = [step for step in document["steps"] if step["source"] != "agent"]
    turns = [step for step in document["steps"] if step["source"] == "agent"]
    messages = [Message(role=step["source"], content=step["message"]) for step in opening]
    messages += start_prompt() if messages else []
    steps = []
    for turn in turns:
        messages.append(Message(role="assistant", content=turn["message"]))
        output = None
        if "observation" in turn:
            output = turn["observation"]["results"][0]["content"]
            steps.append({"command": turn["message"], "output": output, **turn["extra"][OURS]})
        if output is not None and (ended_at_prompt or turn is not turns[-1]):
            messages += after_step(output)
    if tokens_in_steps:
        rest |= _tokens_of([turn["metrics"] for turn in turns])
    return Trajectory.model_validate(
        {**rest, "operator": document["agent"]["extra"][OURS], "messages": messages, "steps": steps}
    )


def _tokens_of(metrics: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Token ids, mask and log-probs of a session, from the metrics of its turns."""
    ids: list[int] = []
    mask: list[int] = []
    probs: list[float | None] = []
    for one in metrics:
        appended = one.get("extra", {}).get(OURS, {}).get("appended_token_ids", [])
        turn = [*one["completion_token_ids"], *appended]
        before = one["prompt_token_ids"][len(ids) :]
        ids = [*one["prompt_token_ids"], *turn]
        mask += [0] * len(before) + [1] * len(turn)
        probs += [None] * len(before) + one["logprobs"] + [None] * len(appended)
    return {"token_ids": ids, "assistant_mask": mask, "log_probs": probs}
