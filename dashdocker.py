"""Run commands in disposable dash containers: run(), session() and verify().

    python dashdocker.py reap            # remove what dead runs left behind
    python dashdocker.py self-check      # every case of sandbox/cases.py, on this engine: what holds and what does not

Reads   nothing
Writes  nothing
Needs   a Docker engine, or another one that speaks its API (DOCKER_HOST=unix:///run/podman/podman.sock, say); the
        image sekft-dash in it (make image)

An operator acts in one container, through the wrapper of sandbox/wrapper.py; what it leaves is judged in a second,
clean one that no process of the first can reach. How a container is closed off is in sandbox/containers.py.
"""

import argparse
from typing import Literal

from pipeline import stage
from sandbox.checker import Check, verify, verify_each
from sandbox.containers import SandboxError, preflight, reap, use_runtime
from sandbox.session import RunResult, Session, run, session
from schema import BadInputError

__all__ = [
    "Check",
    "RunResult",
    "SandboxError",
    "Session",
    "preflight",
    "reap",
    "run",
    "session",
    "verify",
    "verify_each",
]


def main(*, action: Literal["reap", "self-check"], runtime: str | None, only: str | None) -> int:
    """Do the one thing or the other, and report it; 1 where a case does not hold."""
    if action == "self-check":
        from sandbox import cases

        preflight()
        use_runtime(runtime)
        reap()
        return cases.check(only)
    if runtime or only:
        raise BadInputError("--runtime and --only belong to self-check")
    try:
        removed = reap()
    except SandboxError as error:
        raise BadInputError(f"no Docker engine answers ({error}); start one, or run `sh runs/engine.sh`") from error
    stage.print_summary({"action": action, "removed": removed})
    return stage.DONE


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    actions = ["reap", "self-check"]
    parser.add_argument("action", choices=actions, help="reap what dead runs left behind, or check this engine")
    parser.add_argument("--runtime", metavar="NAME", help="self-check: OCI runtime, say runsc (default: the engine's)")
    parser.add_argument("--only", metavar="A01,B02", help="self-check: these cases (default: all)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
