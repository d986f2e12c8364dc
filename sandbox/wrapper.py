"""Wrap every command that an operator runs: the programs around it in the container, and what they report.

    from sandbox.wrapper import StepReader, request

    request("a1b2", "c3d4", "echo hi", aliases=False)  # the bytes that the channel reads for one step

The programs themselves are in sandbox/sh: pid1_setup.sh and pid1.sh (PID 1), channel.sh (runs the steps), enter.sh and
save.sh (load and save the state around a step), kill.sh (ends a step at its time limit). WRAPPER_HASH is the hash of
all of them, and is in every trajectory.

Carried from one command to the next: cwd, exported and plain variables, unset, umask, aliases, the options a C f u.
Lost: functions, traps, descriptors, job names, every other option. The command reaches the shell on a pipe, byte for
byte, as the script that the shell reads: it is in no argv and in no file, and nothing of the wrapper shows in the
shell's error messages.
"""

import re
import shlex
from collections.abc import Mapping

from sandbox.programs import read_program
from schema import HOME, sha256

RAW_BYTES = 1 << 20  # of a step's output that are kept: the first and the last half
SEEN_BYTES = 4096  # of a step's output that the operator sees: the first and the last half
READ_BYTES = 8192  # texts up to this size are read by the shell's own `read`, which is faster than starting `dd`

PID1_SETUP = read_program("pid1_setup.sh")
PID1 = read_program("pid1.sh")
CHANNEL = read_program("channel.sh")
ENTER = read_program("enter.sh")
SAVE = read_program("save.sh")
QUOTES = read_program("quotes.sed")
ALIASES = read_program("aliases.sed")
KILL = read_program("kill.sh")
# Put before the operator's text, on its own first line, so that the shell counts lines as the operator does; on a line
# before it where aliases are carried over, because dash expands aliases when it reads a line.
PREAMBLE = "\\. /run/op/enter; "
PREAMBLE_ALIASES = "\\. /run/op/enter\n"
WRAPPER = "\n".join([PID1_SETUP, PID1, CHANNEL, PREAMBLE, PREAMBLE_ALIASES, ENTER, SAVE, QUOTES, ALIASES, KILL])
WRAPPER_HASH = sha256(WRAPPER.encode())
OWN_TRAP = b"trap -- '{ \\. /run/op/save; } 2>/dev/null' EXIT\n"  # what `trap` prints of the trap that enter.sh sets
LOGIN = {"HOME": HOME, "USER": "operator", "LOGNAME": "operator", "SHELL": "/bin/sh", "TERM": "dumb",
         "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}  # fmt: skip
START_CHANNEL = ["/usr/libexec/busybox", "env", "-i", "/usr/libexec/dash", "-c", read_program("start_channel.sh")]


def pid1_command(lifetime_seconds: float) -> list[str]:
    """The command of PID 1 of an operator's container."""
    texts = [CHANNEL, ENTER, SAVE, KILL, PID1, QUOTES, ALIASES]
    return ["/usr/bin/dash", "-c", PID1_SETUP, "init", f"{lifetime_seconds:.0f}", *texts]


def request(nonce: str, mark: str, command: str, *, aliases: bool) -> bytes:
    """What the channel reads for one step: a line about it, then the text that the inner shell runs.

    `nonce` tags this step's status messages, `mark` ends the output of the next step, `aliases` says that the state
    before it has aliases.
    """
    text = (PREAMBLE_ALIASES if aliases else PREAMBLE).encode() + command.encode(errors="surrogateescape")
    lines = text.count(b"\n") + 1 if text.isascii() and b"\0" not in text and len(text) <= READ_BYTES else 0
    return f"{nonce} {mark} {lines} {len(text)} {int('<<' in command)}\n".encode() + text + b"\n"[:lines]


def unpack_request(nonce: str, archive: bytes, commands: bytes) -> bytes:
    """What the channel reads to unpack a tar in HOME and to run commands after it."""
    return f"{nonce} lay 0 {len(archive)} {len(commands)}\n".encode() + archive + commands


def require_text(command: str) -> None:
    """Raise ValueError for a lone surrogate, which has no bytes that a shell could be given."""
    try:
        command.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError(f"a command holds a lone surrogate at {error.start}: {command[error.start]!r}") from error


def login_script(environment: Mapping[str, str]) -> bytes:
    """The state that the first step begins with, as a shell program: the login environment and more variables."""
    lines = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in {**LOGIN, **environment}.items())
    return f"cd {HOME}\nunset OLDPWD\n{lines}PPID=$1\n".encode()


class CappedOutput:
    """Counts bytes and keeps the first and the last `limit // 2` of them, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self.half, self.total = limit // 2, 0
        self.head, self.tail = bytearray(), bytearray()

    def add(self, chunk: bytes) -> None:
        """Add the next piece."""
        self.total += len(chunk)
        room = self.half - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        if len(self.tail) > 2 * self.half:
            del self.tail[: -self.half]

    def feed(self, stream: int, chunk: bytes) -> bool:
        """Add a piece of either stream, as `Stream.pump` hands it over; False: go on reading."""
        self.add(chunk)
        return False

    def kept(self) -> bytes:
        """The first and last bytes that were kept."""
        return bytes(self.head) + bytes(self.tail[-self.half :])

    def without(self, line: bytes) -> "CappedOutput":
        """The output without the lines that equal `line`, newline included; as it is where its middle is cut out."""
        if self.total > 2 * self.half:
            return self
        left = CappedOutput(2 * self.half)
        left.add(re.sub(b"^" + re.escape(line), b"", self.kept(), flags=re.MULTILINE))
        return left

    def text(self) -> str:
        """What an operator sees: the first and last SEEN_BYTES // 2, and between them how many bytes were left out.

        No UTF-8 character is cut in two; bytes that are not UTF-8 are replaced.
        """
        half = SEEN_BYTES // 2
        kept = self.kept()
        if self.total <= SEEN_BYTES:
            return kept.decode(errors="replace")
        head, tail = kept[:half], kept[-half:]
        while head and head[-1] & 0x80 and len(head) > half - 4 and not ends_whole(head):
            head = head[:-1]
        while tail and tail[0] & 0xC0 == 0x80 and len(tail) > half - 4:
            tail = tail[1:]
        out = self.total - len(head) - len(tail)
        return f"{head.decode(errors='replace')}\n[... {out} bytes left out ...]\n{tail.decode(errors='replace')}"


def ends_whole(data: bytes) -> bool:
    """True when `data` does not end inside a UTF-8 character."""
    try:
        data[-4:].lstrip(bytes(range(0x80, 0xC0))).decode()
    except UnicodeDecodeError:
        return False
    return True


CLOSING = re.compile(rb" (\d{1,3}) ([0-3]) ([01]) (\d{1,18}) ([\d.]{1,18}) (.*)", re.DOTALL)


class StepReader:
    """Splits the channel's stream into the two status messages of one step and the step's output.

    The closing message may come before the end of the output or in the middle of it, because both writers share the
    stream. Both messages hold the container's clock, which tells a long command from a late Docker. `drained` is True
    once the end mark has come: the step's own output is complete, and what follows is not this step's.
    """

    def __init__(self, nonce: str, mark: str) -> None:
        self.nonce, self.mark = b"\0" + nonce.encode(), b"\0" + mark.encode() + b"\0"
        self.output = CappedOutput(RAW_BYTES)
        # Id from which the step's sessions are numbered; the channel's session; clock.
        self.opening: list[bytes] | None = None
        self.closing: list[bytes] | None = None  # exit code, state, open heredoc, OOM kills, clock, cwd
        self.drained = False
        self.pending = b""

    def feed(self, stream: int, data: bytes) -> bool:
        """Add a piece of the stream; True when the step is complete."""
        self.pending += data
        if self.opening is None:  # background jobs of earlier steps may still have printed something before it
            at = self.pending.find(self.nonce + b" ")
            end = self.pending.find(b"\0", at + 1) if at >= 0 else -1
            if end < 0:
                self.pending = self.pending[at if at >= 0 else -len(self.nonce) :]
                return False
            self.opening, self.pending = self.pending[at:end].split()[1:], self.pending[end + 1 :]
        if self.closing is None and (at := self.pending.find(self.nonce + b" ")) >= 0:
            end = self.pending.find(self.nonce + b"\0", at + 1)
            if end < 0:
                return False
            fields = CLOSING.fullmatch(self.pending[at + len(self.nonce) : end])
            self.closing = list(fields.groups()) if fields else None
            self.pending = self.pending[:at] + self.pending[end + len(self.nonce) + 1 :]
        if self.drained:
            self.pending = b"" if self.closing is not None else self.pending[-len(self.nonce) :]
        elif (at := self.pending.find(self.mark)) >= 0:
            self.output.add(self.pending[:at])
            self.drained, self.pending = True, self.pending[at + len(self.mark) :]
        else:
            safe = max(0, len(self.pending) - len(self.nonce) - len(self.mark))
            self.output.add(self.pending[:safe])
            self.pending = self.pending[safe:]
        return self.drained and self.closing is not None

    def seconds(self) -> float | None:
        """How long the step ran, by the container's clock; None where its closing message has not come."""
        return float(self.closing[4]) - float(self.opening[2]) if self.closing and self.opening else None

    def end(self) -> None:
        """Nothing more will come: what has arrived and was held back is output."""
        if self.opening is not None and not self.drained:
            self.output.add(self.pending)
        self.pending = b""
