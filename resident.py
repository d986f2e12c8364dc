"""Hold a base in memory and cycle adapters against it.

    python resident.py serve &                           # pays the load once
    python resident.py fit --data trajectories --out ckpt-run1       # flags of sft.py
    python resident.py evaluate --adapter ckpt-run1 --scenarios holdout --n 20    # flags of eval.py
    python resident.py status
    python resident.py stop

Reads   the inputs of sft.py and eval.py
Writes  the outputs of sft.py and eval.py, and the socket
Needs   torch; a Docker engine for evaluate

Flags of resident.py come before the command, flags of the job after it. The server runs one job at a time in its own
process, on the base that it holds. Output and exit code go to the caller, and relative paths start at the caller's
directory. Only the owner of the socket can use it: its mode is 0600, and the server checks the caller's uid. A job
continues when its caller leaves. A job that fails does not end the server; its caller gets the traceback and exit
code 1.
"""

import argparse
import contextlib
import io
import json
import os
import pickle
import queue
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from safetensors import SafetensorError

from pipeline import stage
from model.loading import DTYPES, HeldBase
from operators.evaluation import EvalSettings, add_flags, evaluate
from schema import BadInputError, Record
from training.run import fit, free_memory
from training.settings import FitSettings, add_training_flags


@dataclass(frozen=True)
class Job:
    """A job: its flags, the record of their values, and the function that runs it on the held base."""

    add_flags: Callable[[argparse.ArgumentParser], argparse.ArgumentParser]
    settings: Callable[..., Any]
    run: Callable[[Any, HeldBase], int]


JOBS = {
    "fit": Job(add_training_flags, FitSettings, fit),
    "evaluate": Job(add_flags, EvalSettings, evaluate),
}
OWN_FLAGS = ("--base", "--dtype", "--load-4bit")
REQUEST_SECONDS = 5.0  # a caller must send its request within this time
# Errors of a job: out of memory and a failed reload check are RuntimeErrors, a damaged file raises nearly any of these.
FAILURES = (
    ArithmeticError, AssertionError, AttributeError, EOFError, ImportError, LookupError, MemoryError, OSError,
    RuntimeError, TypeError, ValueError, pickle.UnpicklingError, SafetensorError,
)  # fmt: skip


class JobRequest(Record):
    """A caller's request: one JSON line."""

    command: Literal["fit", "evaluate", "status", "stop"]
    arguments: list[str]
    cwd: str


def main(*, command: str, base: str, dtype: str, load_4bit: bool, socket_path: Path, arguments: list[str]) -> int:
    """Serve, or send one command to the server and print its answer."""
    if command not in JOBS and arguments:
        raise BadInputError(f"{arguments[0]}: {command} takes nothing; flags of resident.py stand before the command")
    if command == "serve":
        return Server(base, dtype, load_4bit, socket_path).serve()
    if taken := [flag for flag in arguments if flag.split("=")[0] in OWN_FLAGS]:
        raise BadInputError(f"{taken[0]} belongs to serve; leave it out, the held base is used")
    return ask(socket_path, {"command": command, "arguments": arguments, "cwd": str(Path.cwd())})


def ask(path: Path, request: dict[str, Any]) -> int:
    """Send a request, copy the answer to stdout and stderr, return its exit code."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(path))
        except OSError as error:
            raise BadInputError(
                f"{path}: no server answers ({error.strerror or error}); start one with `serve --base`"
            ) from error
        with connection.makefile("rw", encoding="utf-8") as stream:
            stream.write(json.dumps(request) + "\n")
            stream.flush()
            for line in stream:
                message = json.loads(line)
                if "exit" in message:
                    return int(message["exit"])
                target = sys.stdout if message["stream"] == "stdout" else sys.stderr
                print(message["text"], end="", file=target, flush=True)
    print(f"{path}: the server went away before the job ended", file=sys.stderr)
    return stage.WORLD_FAILED


class Channel(io.TextIOBase):
    """A text stream that sends every write to a caller as a JSON line, until the caller leaves."""

    def __init__(self, stream: IO[str], name: str) -> None:
        self.stream, self.name, self.open = stream, name, True

    def writable(self) -> bool:
        """Always true."""
        return True

    def write(self, text: str) -> int:
        """Send `text`; drops it where the caller has left."""
        self.send({"stream": self.name, "text": text})
        return len(text)

    def send(self, message: dict[str, Any]) -> None:
        """Send one message line."""
        if self.open:
            try:
                self.stream.write(json.dumps(message) + "\n")
                self.stream.flush()
            except (BrokenPipeError, ConnectionResetError):
                self.open = False


def read_request(stream: IO[str]) -> JobRequest:
    """The request on a caller's stream. Raises BadInputError where none arrives, or it is malformed."""
    try:
        return JobRequest.model_validate(json.loads(stream.readline()))
    except OSError as error:
        raise BadInputError(f"no request came within {REQUEST_SECONDS:g} seconds") from error
    except (ValueError, RecursionError) as error:  # bad JSON, bad UTF-8, a bad record; or JSON nested too deeply
        raise BadInputError("not a request: wanted one JSON line with command, arguments and cwd") from error


class Server:
    """The held base, the socket and a queue of jobs. Jobs run in the thread that called `serve`."""

    def __init__(self, base: str, dtype: str, load_4bit: bool, path: Path) -> None:
        # Absolute, because jobs run in their callers' directories. Not resolved: fit records the name of a link.
        self.base = str(Path(base).absolute()) if Path(base).is_dir() else base
        self.dtype, self.load_4bit, self.path = dtype, load_4bit, path
        self.jobs: queue.Queue[tuple[IO[str], JobRequest] | None] = queue.Queue()
        self.busy: str | None = None
        self.done = 0
        self.started = time.time()

    def serve(self) -> int:
        """Bind the socket, load the base, run jobs until `stop`."""
        with self.bound() as listener:
            held = HeldBase(self.base, dtype=self.dtype, load_4bit=self.load_4bit)
            print(f"resident: {self.base} held, listening on {self.path}", file=sys.stderr, flush=True)
            threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
            while (job := self.jobs.get()) is not None:
                self.work(held, *job)
        stage.print_summary({"base": self.base, "jobs": self.done, "seconds": round(time.time() - self.started, 1)})
        return stage.DONE

    @contextlib.contextmanager
    def bound(self) -> Iterator[socket.socket]:
        """The listening socket, mode 0600. Replaces a stale one; raises BadInputError where a server uses it."""
        with socket.socket(socket.AF_UNIX) as probe:
            if self.path.exists():
                if not self.path.is_socket():
                    raise BadInputError(f"{self.path}: exists and is no socket; name another --socket")
                try:
                    probe.connect(str(self.path))
                except OSError:
                    self.path.unlink()
                else:
                    raise BadInputError(f"{self.path}: a server listens there; stop it or name another --socket")
        listener = socket.socket(socket.AF_UNIX)
        mask = os.umask(0o177)
        try:
            listener.bind(str(self.path))
        except OSError as error:
            raise BadInputError(
                f"{self.path}: cannot listen ({error.strerror or error}); name another --socket"
            ) from error
        finally:
            os.umask(mask)
        listener.listen()
        try:
            yield listener
        finally:
            listener.close()
            self.path.unlink(missing_ok=True)

    def accept(self, listener: socket.socket) -> None:
        """Answer every caller in its own thread, so that a silent one blocks nobody."""
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection: socket.socket) -> None:
        """Queue a job, answer `status` and `stop` at once, and refuse a malformed request."""
        with connection:
            _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid != os.getuid():
                return
            stream = connection.makefile("rw", encoding="utf-8")
            connection.settimeout(REQUEST_SECONDS)
            try:
                request = read_request(stream)
            except BadInputError as error:
                print(f"resident: {error}", file=Channel(stream, "stderr"))
                leave(stream, stage.BAD_INPUT)
                return
            connection.settimeout(None)
        if request.command in JOBS:
            self.jobs.put((stream, request))
            return
        print(json.dumps(self.status(), sort_keys=True), file=Channel(stream, "stdout"))
        leave(stream, stage.DONE)
        if request.command == "stop":
            self.jobs.put(None)

    def status(self) -> dict[str, Any]:
        """The held base, the running job, and the bytes of this process in memory and on the CUDA device, if any."""
        torch = sys.modules.get("torch")  # not imported before the base is loaded
        on_device = torch is not None and torch.cuda.is_available()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return {
            "base": self.base,
            "dtype": self.dtype,
            "load_4bit": self.load_4bit,
            "pid": os.getpid(),
            "busy": self.busy,
            "queued": self.jobs.qsize(),
            "jobs_done": self.done,
            "resident_bytes": pages * os.sysconf("SC_PAGE_SIZE"),
            "device_bytes": torch.cuda.memory_allocated() if torch is not None and on_device else None,
            "up_seconds": round(time.time() - self.started, 1),
        }

    def work(self, held: HeldBase, stream: IO[str], request: JobRequest) -> None:
        """Run one job, send its output to the caller, then take its adapter off the base."""
        self.busy = " ".join([request.command, *request.arguments])
        home = Path.cwd()
        try:
            code = self.run(held, request, Channel(stream, "stdout"), Channel(stream, "stderr"))
        finally:
            os.chdir(home)
            held.release()
            free_memory()
            self.busy = None
            self.done += 1
        leave(stream, code)

    def run(self, held: HeldBase, request: JobRequest, out: Channel, err: Channel) -> int:
        """Run a job and return its exit code; a job that fails prints its traceback to `err`."""
        job = JOBS[request.command]
        own = ["--base", self.base, "--dtype", self.dtype, *(["--load-4bit"] if self.load_4bit else [])]
        try:
            os.chdir(request.cwd)
        except (OSError, ValueError) as error:
            print(f"resident: {error}", file=err)
            return stage.BAD_INPUT
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                parser = job.add_flags(stage.command_line(f"Flags of {request.command}."))
                stage.run_script(
                    lambda **flags: job.run(job.settings(**flags), held), parser, [*own, *request.arguments]
                )
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else stage.WORLD_FAILED
        except FAILURES:
            traceback.print_exc(file=err)
            return stage.WORLD_FAILED


def leave(stream: IO[str], code: int) -> None:
    """Send a caller its exit code and close the stream; nothing happens where the caller has left."""
    Channel(stream, "stdout").send({"exit": code})
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.close()


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    commands = ("serve", "fit", "evaluate", "status", "stop")
    parser.add_argument("command", choices=commands, help="serve: hold the base; others: send a request")
    stage.add_base_flag(parser, "serve: base model to hold")
    parser.add_argument("--dtype", choices=DTYPES, default="auto", help="serve: dtype of the weights")
    parser.add_argument("--load-4bit", action="store_true", help="serve: hold the base in 4-bit NF4")
    parser.add_argument(
        "--socket",
        dest="socket_path",
        type=Path,
        default=Path.home() / ".sekft.sock",
        help="Unix socket of the server (default ~/.sekft.sock)",
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="fit: flags of sft.py; evaluate: flags of eval.py")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
