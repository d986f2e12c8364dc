"""Run commands in disposable dash containers: run(), session() and verify().

    python dashdocker.py reap                          # remove what killed runs left behind
    python dashdocker.py self-check                    # check here all that docs/sandbox.md promises
    python dashdocker.py self-check --only A01,F08     # only these cases
    python dashdocker.py self-check --runtime runsc    # under another OCI runtime
    python dashdocker.py self-check --image my-tools   # on an image of your own

Reads   nothing
Writes  nothing
Needs   a Docker engine (DOCKER_HOST where it is not at the default socket); for self-check the image (make image)

From Python:

    from dashdocker import run, session, verify

    run([], "echo hi").stdout                      # one script in a container of its own
    with session([]) as shell:                     # an operator's session, one command at a time
        shell.step("echo 42 >answer")
        shell.verify('test "$(cat answer)" = 42')  # in a second container, after the first is gone

self-check prints a line per case and exits 1 where one does not hold; all 80 take minutes. docs/sandbox.md has the
limits, the costs and what a container does not protect against.
"""

import argparse
from typing import Literal

from pipeline import stage
from sandbox.checker import Check, verify, verify_each
from sandbox.containers import (
    IMAGE,
    SandboxError,
    SandboxOptions,
    image_tools,
    reap,
    require_image,
    require_runtime,
)
from sandbox.oneshot import RunResult, run
from sandbox.pool import Pool
from sandbox.session import Session, session
from schema import BadInputError

__all__ = [
    "Check",
    "Pool",
    "RunResult",
    "SandboxError",
    "SandboxOptions",
    "Session",
    "reap",
    "require_image",
    "run",
    "session",
    "verify",
    "verify_each",
]


def main(*, action: Literal["reap", "self-check"], runtime: str | None, only: str | None, image: str | None) -> int:
    """Reap, or check the sandbox; 1 where a case does not hold."""
    if action == "self-check":
        from sandbox import cases

        image = IMAGE if image is None else image
        require_image(image)
        if runtime:
            require_runtime(runtime)
        reap()
        require_tools(image)
        return cases.run_cases(only, SandboxOptions(image=image, runtime=runtime))
    if runtime is not None or only is not None or image is not None:
        raise BadInputError("--runtime, --only and --image belong to self-check")
    try:
        removed = reap()
    except SandboxError as error:
        raise BadInputError(f"no Docker engine answers ({error}); start one, or run `sh runs/engine.sh`") from error
    stage.print_summary({"action": action, "removed": removed})
    return stage.DONE


def require_tools(image: str) -> None:
    """Raise BadInputError where the operator's shell does not find a command that the image's label names."""
    if not (tools := image_tools(image)):
        return
    with session([], options=SandboxOptions(image=image)) as shell:
        missing = [tool for tool in tools if shell.step(f"command -v {tool}").exit_code]
    if missing:
        raise BadInputError(
            f"image {image!r}: label sekft.tools: the shell does not find {missing[0]!r}; install it or drop its name"
        )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    actions = ["reap", "self-check"]
    parser.add_argument("action", choices=actions, help="remove what killed runs left, or check the sandbox here")
    parser.add_argument("--runtime", metavar="NAME", help="self-check: OCI runtime, e.g. runsc (default: Docker's own)")
    parser.add_argument("--image", metavar="NAME", help=f"self-check: an image of your own (default {IMAGE})")
    parser.add_argument("--only", metavar="A01,B02", help="self-check: run only these cases (default: all)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
