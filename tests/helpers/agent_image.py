"""Have the image of an agent program at hand, built once where several processes want it at the same time.

build_agent_image("plain")
"""

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

from tests.helpers import ROOT


def build_agent_image(name: str, **environment: str) -> None:
    """Run the script that builds it, which does nothing where the image is there.

    Two builds at once would move the tag to another image in the middle of the runs on the first one. The engine is the
    machine's, so the lock is too.
    """
    with (Path(tempfile.gettempdir()) / f"sekft-agent-image-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(
            ["sh", "runs/agent_image.sh", name], cwd=ROOT, env={**os.environ, **environment}, check=True, timeout=1200
        )
