"""Paths, scenarios, operators, a tiny base and a chat server, shared by several test files."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent  # of the checkout


def program(name: str) -> list[str]:
    """The command of a script (`sft.py`) or of a module that can be run (`training.reload`)."""
    return [sys.executable, str(ROOT / name)] if name.endswith(".py") else [sys.executable, "-m", name]
