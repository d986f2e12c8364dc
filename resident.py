"""Hold a base in memory and cycle adapters against it.

    python resident.py --base base serve &                           # pays the load once
    python resident.py fit --data trajectories --out ckpt-run1       # flags of sft.py
    python resident.py evaluate --adapter ckpt-run1 --scenarios holdout --n 20    # flags of eval.py
    python resident.py status
    python resident.py stop

Reads   what sft.py and eval.py read
Writes  what sft.py and eval.py write, and the socket
Needs   torch; a Docker engine for evaluate

Flags of resident.py stand before the command, flags of the job after it. The server runs the stages' own main
functions in its process with the held base in place of a load, one job at a time; output and exit code come back to
the caller, and relative paths are those of the caller's directory. The socket is mode 0600 and the peer's uid is
checked: only its owner gets in. A job goes on when its caller leaves. The server outlives a job that breaks: the
caller gets its traceback and exit code 1.
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
from pathlib import Path
from typing import IO, Any, Literal

from safetensors import SafetensorError

import eval as evaluation
import sft
from model import loading
from pipeline import stage
from schema import BadInputError, Record

JOBS: dict[str, tuple[Callable[..., int], Callable[[], argparse.ArgumentParser]]] = {
    "fit": (sft.main, sft.parser),
    "evaluate": (evaluation.main, evaluation.parser),
}
OWN_FLAGS = ("--base", "--dtype", "--load-4bit")
REQUEST_SECONDS = 5.0  # within which a caller has to say what it wants
# What a job may raise: out of memory and a failed reload check are RuntimeErrors, a damaged file can be nearly any.
FAILURES = (
    ArithmeticError, AssertionError, AttributeError, EOFError, ImportError, LookupError, MemoryError, OSError,
    RuntimeError, TypeError, ValueError, pickle.UnpicklingError, SafetensorError,
)  # fmt: skip


class Request(Record):
    """What a caller wants: one JSON line."""

    command: Literal["fit", "evaluate", "status", "stop"]
    arguments: list[str]
    cwd: str


def main(
    *, command: str, base: str | None, dtype: str, load_4bit: bool, socket_path: Path, arguments: list[str]
) -> int:
    """Serve, or send one command to the server and print what comes back."""
    if command not in JOBS and arguments:
        raise BadInputError(f"{arguments[0]}: {command} takes nothing; flags of resident.py stand before the command")
    if command == "serve":
        if base is None:
            raise BadInputError("serve needs --base, the model to hold: resident.py --base DIR serve")
        return Server(base, dtype, load_4bit, socket_path).serve()
    if taken := [flag for flag in arguments if flag.split("=")[0] in OWN_FLAGS]:
        raise BadInputError(f"{taken[0]} belongs to serve; leave it out, the held base is used")
    return ask(socket_path, {"command": command, "arguments": arguments, "cwd": str(Path.cwd())})


def ask(path: Path, request: dict[str, Any]) -> int:
    """Send a request, copy the answer's text to stdout and stderr, return its exit code."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(path))
        except OSError as error:
            raise BadInputError(
                f"{path}: no server answers ({error.strerror}); start one with `serve --base`"
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
    """A text stream whose writes go to a caller as JSON lines; a caller that left is written to no more."""

    def __init__(self, stream: IO[str], name: str) -> None:
        self.stream, self.name, self.open = stream, name, True

    def writable(self) -> bool:
        """Always: a text sink."""
        return True

    def write(self, text: str) -> int:
        """Send `text`, or drop it when nobody listens."""
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


def read_request(stream: IO[str]) -> Request:
    """The request on a caller's stream. Raises BadInputError where there is none."""
    try:
        return Request.model_validate(json.loads(stream.readline()))
    except OSError as error:
        raise BadInputError(f"no request came within {REQUEST_SECONDS:g} seconds") from error
    except (ValueError, RecursionError) as error:  # of JSON, of UTF-8, of the record; nested too deep
        raise BadInputError("not a request: wanted one JSON line with command, arguments and cwd") from error


class Server:
    """The base, the socket and a queue of jobs; jobs run in the thread that called `serve`."""

    def __init__(self, base: str, dtype: str, load_4bit: bool, path: Path) -> None:
        # Jobs run in the directories of their callers. Absolute, not resolved: a link keeps the name that fit records.
        self.base = str(Path(base).absolute()) if Path(base).is_dir() else base
        self.dtype, self.load_4bit, self.path = dtype, load_4bit, path
        self.jobs: queue.Queue[tuple[IO[str], Request] | None] = queue.Queue()
        self.busy: str | None = None
        self.done = 0
        self.started = time.time()

    def serve(self) -> int:
        """Bind, load, answer until `stop`."""
        with self.bound() as listener:
            loading.hold(self.base, dtype=self.dtype, load_4bit=self.load_4bit)
            print(f"resident: {self.base} held, listening on {self.path}", file=sys.stderr, flush=True)
            threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
            while (job := self.jobs.get()) is not None:
                self.work(*job)
        stage.print_summary({"base": self.base, "jobs": self.done, "seconds": round(time.time() - self.started, 1)})
        return stage.DONE

    @contextlib.contextmanager
    def bound(self) -> Iterator[socket.socket]:
        """The listening socket, mode 0600; a stale one is replaced, a served one refused."""
        with socket.socket(socket.AF_UNIX) as probe:
            if self.path.exists():
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
            raise BadInputError(f"{self.path}: cannot listen ({error.strerror}); name another --socket") from error
        finally:
            os.umask(mask)
        listener.listen()
        try:
            yield listener
        finally:
            listener.close()
            self.path.unlink(missing_ok=True)

    def accept(self, listener: socket.socket) -> None:
        """Give every caller a thread of its own, so that one that says nothing keeps nobody waiting."""
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection: socket.socket) -> None:
        """Queue a job, answer `status` and `stop` at once, and tell a caller without a request that it has none."""
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
        """What is held, what runs, and the memory of the process in bytes: resident, and on the CUDA device if any."""
        torch = sys.modules.get("torch")  # not there before the base is
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

    def work(self, stream: IO[str], request: Request) -> None:
        """Run one job with its output sent to the caller, then give the base back bare."""
        self.busy = " ".join([request.command, *request.arguments])
        home = Path.cwd()
        try:
            code = self.run(request, Channel(stream, "stdout"), Channel(stream, "stderr"))
        finally:
            os.chdir(home)
            loading.release()
            self.busy = None
            self.done += 1
        leave(stream, code)

    def run(self, request: Request, out: Channel, err: Channel) -> int:
        """The exit code of a job; one that breaks leaves its traceback on `err`."""
        main, parser = JOBS[request.command]
        own = ["--base", self.base, "--dtype", self.dtype, *(["--load-4bit"] if self.load_4bit else [])]
        try:
            os.chdir(request.cwd)
        except (OSError, ValueError) as error:
            print(f"resident: {error}", file=err)
            return stage.BAD_INPUT
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                stage.run_script(main, parser(), [*own, *request.arguments])
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else stage.WORLD_FAILED
        except FAILURES:
            traceback.print_exc(file=err)
            return stage.WORLD_FAILED


def leave(stream: IO[str], code: int) -> None:
    """Tell a caller its exit code and close; one that left before is nobody's loss."""
    Channel(stream, "stdout").send({"exit": code})
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.close()


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    commands = ("serve", "fit", "evaluate", "status", "stop")
    parser.add_argument("command", choices=commands, help="serve holds the base; the others talk to the server")
    parser.add_argument("--base", default=None, help="serve: base model to hold")
    parser.add_argument("--dtype", choices=loading.DTYPES, default="auto", help="serve: dtype of the weights")
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
