"""Run Python in the environment of the tools whose formats we write (`make peers`), and return what it prints."""

import json
import subprocess
from typing import Any

from tests.helpers import ROOT

PYTHON = ROOT / ".venv-peers" / "bin" / "python"
# Harbor asks for Python 3.12. Its models need no more of it than this name.
HARBOR = "import typing, typing_extensions; typing.override = typing_extensions.override\n"


def peer(code: str, *arguments: object) -> Any:
    """The JSON value that `code` prints last; `sys.argv[1:]` are the arguments."""
    assert PYTHON.exists(), f"{PYTHON} is missing: run `make peers`"
    done = subprocess.run(
        [str(PYTHON), "-W", "ignore", "-c", f"import json, sys\n{code}", *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])
