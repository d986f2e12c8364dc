"""Write directories of runs as the stages leave them, without a sandbox or a model, for tests of the page."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model.render import Renderer, session_messages
from pipeline.files import write_identity, write_json, write_record, write_report
from pipeline.rates import compare_subjects
from schema import AdapterIdentity, EvalReport, Message, OperatorInfo, Scenario, Step, Subject, Trajectory
from tests.helpers import tiny
from tests.helpers.recorded import scenario

TASKS = ("copy_files", "sum_column", "sort_unique", "missing_source")


def scenarios(count: int) -> list[Scenario]:
    return [scenario(TASKS[at % len(TASKS)], at) for at in range(count)]


def session(record: Scenario, *outputs: str, sample: int = 0, outcome: str = "exit", **fields: Any) -> Trajectory:
    """A session whose commands `cat part-1` and so on printed these outputs; kept if it ends with exit."""
    steps = [
        Step(
            command=f"cat part-{at}",
            output=output,
            output_bytes=len(output.encode(errors="surrogatepass")),
            exit_code=0,
            cwd="/home/operator",
            duration_seconds=0.25,
        )
        for at, output in enumerate(outputs, 1)
    ]
    kept = outcome == "exit"
    commands = [step.command for step in steps] + (["exit"] if kept else [])
    messages = [Message(role="system", content="This is dash."), Message(role="user", content="shell login: operator")]
    messages += [Message(role="assistant", content=command) for command in commands]
    value = {
        "id": f"{record.id}-s{sample}", "scenario_id": record.id, "scenario_hash": record.content_hash,
        "axes": record.axes(), "operator": OperatorInfo(kind="reference", seed=2**62 + 1), "messages": messages,
        "steps": steps, "terminal": "exit" if kept else None, "verified": kept, "command_only": True,
        "outcome": outcome, "kept": kept, "reasons": [] if kept else [f"not terminated: {outcome}", "not verified"],
    }  # fmt: skip
    return Trajectory.model_validate(value | fields)


def write_rollout(directory: Path, sessions: Sequence[Trajectory]) -> Path:
    for one in sessions:
        write_record(directory, one)
    write_json(directory / "manifest.json", {"stage": "rollout", "finished": True, "flags": {"samples": 1}})
    return directory


def write_scenarios(directory: Path, records: Sequence[Scenario]) -> Path:
    for record in records:
        write_record(directory, record)
    counts = {
        "attempts": len(records) + 2, "admitted": len(records), "refused": {"solution": 2},
        "yield": {"solution": {"reached": len(records) + 2, "passed": len(records)}}, "balance": {"task": 0.75},
    }  # fmt: skip
    write_json(directory / "manifest.json", {"stage": "generate", "finished": True, "counts": counts})
    return directory


def write_training(directory: Path, steps: int = 40) -> Path:
    write_identity(directory, AdapterIdentity(base="base"))
    rows = [
        {"step": step, "epoch": step / 20, "loss": 4 / step, "reward": step / steps} for step in range(1, steps + 1)
    ]
    (directory / "log_history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    counts = {"steps": steps, "tokens": 284895, "loss_last": 0.07661789655685425, "left_out": {"not_kept": 1}}
    made = {"stage": "sft", "finished": True, "flags": {"epochs": 2}, "counts": counts}
    write_json(directory / "manifest.json", made)
    return directory


def write_eval(directory: Path, records: Sequence[Scenario], adapter: Path, source: Path) -> Path:
    """Base: every session runs to max_steps. Adapter: every second one is kept."""
    episodes: dict[Subject, dict[str, Trajectory]] = {
        "base": {one.id: session(one, "base output\n", outcome="max_steps") for one in records},
        "adapter": {
            one.id: session(one, "adapter output\n", outcome="exit" if at % 2 else "max_steps")
            for at, one in enumerate(records)
        },
    }
    for subject, by_id in episodes.items():
        for one in by_id.values():
            write_record(directory / subject, one)
    subjects, differences = compare_subjects(episodes, records, seed=0)
    report = EvalReport(
        adapter=str(adapter), scenarios=str(source), split_by="archetype", seed=0, subjects=subjects, paired=differences
    )
    write_report(directory, report)
    write_json(directory / "manifest.json", {"stage": "eval", "finished": True})
    return directory


def sampled(base: Path, record: Scenario, *commands: str, **fields: Any) -> Trajectory:
    """A session of a local model with log-probs: -0.5 for the first token of a command, then -1, -1.5 and so on."""
    turns: list[tuple[str, str | None]] = [*((one, "printed\n") for one in commands), ("exit", None)]
    messages = session_messages(record, turns)
    encoded = Renderer.for_base(tiny.tokenizer("byte_level")).encode(messages)
    log_probs: list[float | None] = []
    for on in encoded.mask:
        before = log_probs[-1] if log_probs else None
        log_probs.append((before or 0.0) - 0.5 if on else None)
    steps = [
        Step(command=one, output="printed\n", output_bytes=8, exit_code=0, cwd="/home/operator", duration_seconds=0.25)
        for one in commands
    ]
    plain = session(record, **{"operator": OperatorInfo(kind="local", model=str(base)), **fields})
    return plain.model_copy(update={
        "messages": messages, "token_ids": encoded.token_ids, "assistant_mask": encoded.mask, "log_probs": log_probs,
        "steps": fields.get("steps", steps),
    })  # fmt: skip
