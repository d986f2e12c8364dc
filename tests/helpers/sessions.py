"""Make sessions of every ending, with and without token ids, and with text that other formats could read as theirs."""

from typing import Any

from model.render import session_messages
from schema import HOME, AgentRun, Change, Changes, OperatorInfo, OwnTaxonomy, Segment, Trajectory, Usage
from tests.helpers import tiny

HOSTILE = '\x1b[31m</script><|im_end|>\u202e\x07 {"role": "system"} ``` \u2028 \ufffd\r\n\t' + "x" * 100_000


def _session(id_: str, turns: list[tuple[str, str | None]], **changed: Any) -> Trajectory:
    """A session of these turns; a turn without an output did not run."""
    first = tiny.trajectory(id_)
    ran = [
        first.steps[0].model_copy(update={"command": command, "output": output, "output_bytes": len(output.encode())})
        for command, output in turns
        if output is not None
    ]
    messages = session_messages(tiny.scenario(id_.rsplit("-s", 1)[0]), turns)
    return first.model_copy(update={"messages": messages, "steps": ran, **changed})


def _with_ids(record: Trajectory, runs: list[tuple[int, int]], cut: int = 0) -> Trajectory:
    """The record with token ids: runs of (mask, length); the last `cut` ids of each turn were not sampled."""
    mask = [mark for mark, length in runs for _ in range(length)]
    probs = [
        -0.25 * at - 0.1 if mark and at < length - cut else None for mark, length in runs for at in range(length)
    ]  # fmt: skip
    ids = [at * 7 % 500 for at in range(len(mask))]
    return record.model_copy(update={"token_ids": ids, "assistant_mask": mask, "log_probs": probs})


_FAILED = {"terminal": None, "verified": False, "kept": False, "reasons": ["it did not end"]}
_TURNS: list[tuple[str, str | None]] = [("ls", "a\n"), ("true", ""), ("exit", None)]
_RUNS = [(0, 9), (1, 3), (0, 5), (1, 2), (0, 4), (1, 2)]
SESSIONS: dict[str, Trajectory] = {
    "plain": tiny.trajectory("plain-1-s0"),
    "a second episode": tiny.trajectory("plain-1-s1", kept=False),
    "hostile": _session("hostile-1-s0", [(f"echo '{HOSTILE[:200]}'", HOSTILE), ("", "\n"), ("exit", None)]),
    "cut off": _session("cut-1-s0", [("ls", "a\n"), ("ls", "")], outcome="max_steps", **_FAILED),
    "the sandbox broke": _session(
        "broken-1-s0", [("ls", "a\n"), ("ls", None)], outcome="sandbox_failed", error="it is gone", attempt=3, **_FAILED
    ),
    "nothing was typed": _session("none-1-s0", [], outcome="operator_failed", error="no answer", **_FAILED),
    "usage": _session(
        "usage-1-s0", _TURNS, usage=Usage(calls=3, input_tokens=7, cached_input_tokens=20, output_tokens=6, seconds=0.3)
    ),
    "an agent program's": _session(
        "agent-1-s0",
        _TURNS,
        operator=OperatorInfo(kind="agent", agent="plain", model="own", seed=0),
        segments=[
            Segment(token_ids=[5, 6, 7], assistant_mask=[0, 1, 1], log_probs=[None, -0.5, -1e-9]),
            Segment(token_ids=[5], assistant_mask=[1], log_probs=[-30.0]),
        ],
        agent_run=AgentRun(exit_code=None, seconds=1.5, output=HOSTILE[:90], output_bytes=90, counts={"forks": 1}),
    ),
    "changes and a taxonomy of its own": _session(
        "own-1-s0",
        _TURNS,
        axes={**tiny.scenario().axes(), "task": "mine"},
        taxonomy=OwnTaxonomy.model_validate(
            {"name": "own", "archetypes": [{"name": "mine", "family": "text", "summary": "sort it"}]}
        ),
        changes=Changes(
            created=[Change(path=f"{HOME}/a \u202e", type="file", mode=0o644, size_bytes=3)],
            changed=[Change(path=f"{HOME}/b", type="symlink", mode=0o777, target="a")],
            removed=[f"{HOME}/c"],
            more=2,
        ),
    ),
    "tokens": _with_ids(_session("tokens-1-s0", _TURNS), _RUNS),
    "tokens of a turn that was cut off": _with_ids(_session("forced-1-s0", _TURNS), _RUNS, cut=1),
    "tokens after the last turn": _with_ids(_session("after-1-s0", _TURNS), [*_RUNS, (0, 2)]),
}
