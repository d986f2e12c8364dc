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
checked: only its owner gets in. A job goes on when its caller leaves.
"""

import argparse
import contextlib
import io
import json
import os
import queue
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import eval as evaluation
import models
import sft
import stage
from schema import BadInputError

JOBS: dict[str, tuple[Callable[..., int], Callable[[], argparse.ArgumentParser]]] = {
    "fit": (sft.main, sft.parser),
    "evaluate": (evaluation.main, evaluation.parser),
}
OWN_FLAGS = ("--base", "--dtype", "--load-4bit")


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


class Server:
    """The base, the socket and a queue of jobs; jobs run in the thread that called `serve`."""

    def __init__(self, base: str, dtype: str, load_4bit: bool, path: Path) -> None:
        self.base, self.dtype, self.load_4bit, self.path = base, dtype, load_4bit, path
        self.jobs: queue.Queue[tuple[IO[str], dict[str, Any]] | None] = queue.Queue()
        self.busy: str | None = None
        self.done = 0
        self.started = time.time()

    def serve(self) -> int:
        """Bind, load, answer until `stop`."""
        with self.bound() as listener:
            models.hold(self.base, dtype=self.dtype, load_4bit=self.load_4bit)
            print(f"resident: {self.base} held, listening on {self.path}", file=sys.stderr, flush=True)
            threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
            while (job := self.jobs.get()) is not None:
                self.work(*job)
        stage.report({"base": self.base, "jobs": self.done, "seconds": round(time.time() - self.started, 1)})
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
        """Answer `status` and `stop` at once, queue the jobs."""
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            stream = connection.makefile("rw", encoding="utf-8")
            connection.close()
            line = stream.readline() if uid == os.getuid() else ""
            if not line:
                stream.close()
                continue
            request = json.loads(line)
            if request["command"] in JOBS:
                self.jobs.put((stream, request))
                continue
            reply = Channel(stream, "stdout")
            print(json.dumps(self.status(), sort_keys=True), file=reply)
            reply.send({"exit": stage.DONE})
            stream.close()
            if request["command"] == "stop":
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

    def work(self, stream: IO[str], request: dict[str, Any]) -> None:
        """Run one job with its output sent to the caller, then give the base back bare."""
        self.busy = " ".join([request["command"], *request["arguments"]])
        out, err = Channel(stream, "stdout"), Channel(stream, "stderr")
        main, parser = JOBS[request["command"]]
        own = ["--base", self.base, "--dtype", self.dtype, *(["--load-4bit"] if self.load_4bit else [])]
        code = stage.BAD_INPUT
        home = Path.cwd()
        try:
            os.chdir(request["cwd"])
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                stage.run(main, parser(), [*own, *request["arguments"]])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else stage.WORLD_FAILED
        except OSError as error:
            print(f"resident: {error}", file=err)
        finally:
            os.chdir(home)
            models.release()
            self.busy = None
            self.done += 1
        out.send({"exit": code})
        with contextlib.suppress(BrokenPipeError):
            stream.close()


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    commands = ("serve", "fit", "evaluate", "status", "stop")
    parser.add_argument("command", choices=commands, help="serve holds the base; the others talk to the server")
    parser.add_argument("--base", default=None, help="serve: base model to hold")
    parser.add_argument("--dtype", choices=models.DTYPES, default="auto", help="serve: dtype of the weights")
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
    stage.run(main, parser())
