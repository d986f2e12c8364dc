"""What each agent program writes of a command's result is read as its output and its exit code."""

import json

import pytest

from agents.known import CLAUDE_CODE, MINI_SWE_AGENT, PLAIN, AgentProgram


@pytest.mark.parametrize(
    ("program", "text", "result"),
    [
        (MINI_SWE_AGENT, json.dumps({"returncode": 0, "output": "a\n"}), ("a\n", 0)),
        (MINI_SWE_AGENT, json.dumps({"returncode": 2, "output_head": "a", "output_tail": "z"}), ("az", 2)),
        (MINI_SWE_AGENT, "a traceback", ("a traceback", None)),
        (MINI_SWE_AGENT, json.dumps({"output": "a"}), (json.dumps({"output": "a"}), None)),
        (MINI_SWE_AGENT, '{"output": "x", "returncode": 1e999}', ('{"output": "x", "returncode": 1e999}', None)),
        (MINI_SWE_AGENT, "[" * 5000, ("[" * 5000, None)),
        (CLAUDE_CODE, "a.txt", ("a.txt", None)),
        (CLAUDE_CODE, "(Bash completed with no output)", ("", 0)),
        (CLAUDE_CODE, "Exit code 1\nls: x: No such file\nmore", ("ls: x: No such file\nmore", 1)),
        (CLAUDE_CODE, "Exit code 3", ("", 3)),
        (CLAUDE_CODE, "grep said: Exit code 3", ("grep said: Exit code 3", None)),
        (PLAIN, "Exit code 1\nx", ("Exit code 1\nx", None)),
    ],
)
def test_a_result_is_read_as_its_program_writes_it(
    program: AgentProgram, text: str, result: tuple[str, int | None]
) -> None:
    assert program.read_result(text) == result
