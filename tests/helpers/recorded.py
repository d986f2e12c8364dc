"""Make scenarios, and records of episodes that never ran, for tests of rates and reports."""

from authoring import templates
from schema import Message, OperatorInfo, Scenario, Step, Trajectory
from taxonomy import Combination


def scenario(task: str, index: int, difficulty: str = "medium") -> Scenario:
    combination = Combination(task, "flags", "motd", "help", difficulty)
    return templates.author(combination, seed=f"{task}/{index}", id=f"{task}-{index}")


def episode(record: Scenario, outcome: str = "exit", kept: bool = True) -> Trajectory:
    return Trajectory.model_validate(
        {
            "id": f"{record.id}-s0",
            "scenario_id": record.id,
            "scenario_hash": record.content_hash,
            "axes": record.axes(),
            "operator": OperatorInfo(kind="local"),
            "messages": [],
            "steps": [
                Step(command="ls", output="", output_bytes=0, exit_code=0, cwd="/", duration_seconds=0).model_dump()
            ],
            "terminal": "exit" if outcome == "exit" else None,
            "verified": kept,
            "command_only": True,
            "outcome": outcome,
            "kept": kept,
            "reasons": [] if kept else ["not verified"],
        }
    )


def acted(record: Scenario, outcome: str, *commands: str, open_heredoc: bool = False) -> Trajectory:
    """An episode that consists of these commands."""
    step = Step(command="ls", output="", output_bytes=0, exit_code=0, cwd="/", duration_seconds=0)
    return episode(record, outcome, kept=False).model_copy(
        update={
            "messages": [Message(role="assistant", content=command) for command in commands],
            "steps": [step.model_copy(update={"open_heredoc": open_heredoc})],
        }
    )
