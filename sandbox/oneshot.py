r"""Run one script in a container of its own and return what it printed.

    from sandbox.oneshot import run

    run([], "echo hi").stdout  # b"hi\n"

For scripts of one's own: nothing of the step wrapper is around the script. What an operator does goes through
sandbox/session.py.
"""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from sandbox.checker import oom_kills
from sandbox.containers import (
    DEFAULTS,
    DOCKER_SECONDS,
    Process,
    SandboxError,
    SandboxOptions,
    api,
    await_end,
    docker_call,
    owned,
)
from sandbox.programs import read_program
from sandbox.session import root_files, start_operator
from sandbox.tree import archive_of, members_of, tar_of, tree_of
from sandbox.wrapper import LOGIN, RAW_BYTES, CappedOutput
from schema import HOME, Fixture

RUN_SCRIPT = read_program("run_script.sh")


@dataclass(frozen=True)
class RunResult:
    """What a one-shot script left: both streams apart, at most RAW_BYTES of each, and how it ended."""

    stdout: bytes
    stdout_bytes: int  # how much it printed; more than `stdout` holds where the middle was left out
    stderr: bytes
    stderr_bytes: int
    exit_code: int
    timed_out: bool
    oom: bool
    duration_seconds: float


def run(
    fixtures: Sequence[Fixture],
    script: str,
    *,
    stdin: bytes = b"",
    timeout_seconds: float = 30.0,
    environment: Mapping[str, str] | None = None,
    user: str = "operator",
    cwd: str = HOME,
    options: SandboxOptions = DEFAULTS,
) -> RunResult:
    """Run one script as a user of the image, in a fresh container, with stdout and stderr kept apart.

    `cwd` is absolute or starts at HOME. The container's lifetime follows from `timeout_seconds`, whatever `options`
    has. Raises SandboxError, LookupError for a user that the image does not have, and FileNotFoundError where `cwd` is
    not a directory that the user can enter.
    """
    out, err = CappedOutput(RAW_BYTES), CappedOutput(RAW_BYTES)
    where, refused = str(PurePosixPath(HOME, cwd)), secrets.token_hex(8)
    login = {**LOGIN, "USER": user, "LOGNAME": user, **(environment or {})}
    variables = [f"{key}={value}" for key, value in login.items()]
    command = ["/usr/bin/env", "-i", *variables, "/usr/bin/dash", "-c", RUN_SCRIPT, "sh", where, refused]
    with owned("container", "volume") as (name, volume):
        pid1 = start_operator(name, volume, replace(options, lifetime_seconds=timeout_seconds + DOCKER_SECONDS))
        with docker_call(f"run in {name}"):
            pid1.send(root_files(None, {}, script))
            pid1.flush(DOCKER_SECONDS)
            if fixtures and not api().put_archive(name, HOME, archive_of(tree_of(fixtures))):
                raise SandboxError(f"{name}: Docker did not take the fixtures")
            if user != "operator":
                require_user(user, name, options.image)
            started = time.monotonic()
            process = Process(name, command, user=user, workdir="/", stdin=stdin)
            try:
                streams = {1: out, 2: err}
                ended = process.pump(lambda stream, data: streams[stream].feed(stream, data), started + timeout_seconds)
                duration = time.monotonic() - started
                code = 124 if ended is None else process.exit_code()
            finally:
                process.close()
            oom = code != 0 and oom_kills(name) > 0
            pid1.close()
            await_end(name)
    if code is None:
        raise SandboxError(f"{name}: Docker lost the script")
    if code == 1 and out.kept() == f"{refused}\n".encode():
        raise FileNotFoundError(f"{where}: no directory that {user} can enter")
    return RunResult(out.kept(), out.total, err.kept(), err.total, code, ended is None, oom, duration)


def require_user(user: str, container: str, image: str) -> None:
    """Raise LookupError where the container has no such user: Docker's own message for that gets lost at times."""
    users = b"".join(content for _, content in members_of(tar_of(container, "/etc/passwd", RAW_BYTES)))
    if not any(line.startswith(f"{user}:".encode()) for line in users.splitlines()):
        raise LookupError(f"no user {user!r} in image {image!r}")
