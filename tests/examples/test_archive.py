"""The archive in examples/ gives what docs/preference_and_cost.md shows of it."""

import json
import shlex
import subprocess
from pathlib import Path

from tests.helpers import program

ROOT = Path(__file__).parents[2]


def shown() -> list[tuple[str, str]]:
    """(command, output) of the page's block about the archive, both with their lines joined."""
    page = (ROOT / "docs" / "preference_and_cost.md").read_text()
    (block,) = [part for part in page.split("```") if "export.py --archive examples/archive" in part]
    parts = [part.replace("\\\n", "") for part in block.split("\n$ ")[1:]]
    return [(command, "".join(output.splitlines())) for command, _, output in (one.partition("\n") for one in parts)]


def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command, output in shown():
        words = shlex.split(command)
        if words[0] != "python":
            subprocess.run(command, shell=True, cwd=tmp_path, check=True)
            continue
        run = [*program(words[1]), *words[2:]]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
        progress, brace, summary = output.partition("{")
        assert "".join(done.stderr.splitlines()) == progress
        assert json.loads(done.stdout or "{}") == json.loads(brace + summary or "{}")
