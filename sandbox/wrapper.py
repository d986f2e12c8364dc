"""Hold the one step wrapper: the shell text around every command, and the reading of what it reports.

    from sandbox.wrapper import Report, request

Reads   nothing
Writes  nothing
Needs   nothing

What a command leaves to the next one: cwd, exported and plain variables, unset, umask, aliases, the options a C f u.
Lost: functions, traps, descriptors, jobs' names. The text reaches the shell on a pipe, byte for byte, as the script
that it reads: it is in no argv, in no file, and the shell's own error messages show nothing around it.
"""

import re
import shlex
from collections.abc import Mapping

from schema import HOME, sha256

RAW_BYTES = 1 << 20  # of a step's output that are kept: first and last half
READ_BYTES = 8192  # of text that the shell's own `read` takes, byte by byte, sooner than another program starts
SEEN_BYTES = 4096  # of a step's output that the operator sees: first and last half

# PID 1 of an operator's container, root without capabilities: what it writes and what it is the operator can neither
# change nor signal. Its arguments are files to write; they are gone from its command line before a step starts. Its
# lifetime runs from then on. More files come on its input, each time a line with the size of a tar before it; a size of
# 0 ends them. Then it waits for one more line, which it repeats as a sign of life, or for the end of its input or of
# its lifetime, and ends, and with it the container.
LAY = r"""umask 022; cd /run/op || exit 1
printf %s "$2" >channel; printf %s "$3" >enter; printf %s "$4" >save; printf %s "$5" >kill
printf %s "$7" >quotes; printf %s "$8" >aliases
ln -s /proc/self/fd/3 sh; printf %s "$6" >init
exec /usr/bin/dash init "$1" 3<&0 </dev/null
"""
INIT = r"""sleep "$1" & lifetime=$!
{
    while read -r size <&3 && [ "$size" != 0 ]; do
        /bin/busybox dd bs="$size" count=1 iflag=fullblock <&3 2>/dev/null | /bin/busybox tar -x -o -C / || break
    done
    [ "$size" = 0 ] && : >ready && read -r last <&3 && printf '%s\n' "$last"
    kill $lifetime
} &
exec 3<&-
wait $lifetime
"""
# Runs one step after another as the operator, for as long as a session lasts. Its first line is the end mark of the
# first step; then, for each, a line says nonce, the end mark of the step after it, how long the text is (in lines where
# the shell's own `read` can take it, else 0; in bytes) and whether a heredoc may be open; the text follows. Before the
# first step, a line with `lay` for the mark brings a tar for HOME and commands to run there after it (their sizes are
# the last two words), answered by nonce and exit code. An inner shell in a session of its own runs a step's text (named
# `sh`, so that is how its errors begin). All that a step needs is started ahead, before its line comes. What it prints
# goes through a pipe of its own and a relay, so that the operator's
# processes never hold the channel; they can neither look into one that does (its program file may be executed but not
# read, which makes it non-dumpable) nor, once the relay is killed and a sink has its place, add to a later step.
# Said with the nonce, before: the id from which the step's sessions count, and the channel's own session; after: exit
# code, how the state stands (0 lost, 1 as it was, 2 saved, 3 saved with aliases), open heredoc, the cgroup's count of
# OOM kills, cwd. Only how the state stands and cwd come from files that the operator can write. Said through the relay,
# after all that the step printed: the end mark. A heredoc is open when dash's own parser, given the text and then a
# line that no shell text can hold, accepts it or misses something at the end: so the line was taken for the heredoc's.
CHANNEL = r"""exec 2>/dev/null 6>&1
take() { /usr/libexec/busybox dd bs="$1" count=1 iflag=fullblock; }
lay() {
    umask 0
    cd /home/operator || return
    take "$1" | /usr/libexec/busybox tar -x -o || return
    [ "$2" = 0 ] || take "$2" | /usr/libexec/dash -e
}
feed() {
    while read -r nonce mark lines bytes heredoc && [ "$mark" = lay ]; do
        (lay "$bytes" "$heredoc" >/dev/null 4>&- 6>&-)
        printf '\000%s %s\000' "$nonce" "$?" >&6
    done
    [ -n "$heredoc" ] || return
    until [ -e ready ]; do :; done
    echo "nonce=$nonce next=$mark" >&4
    [ -z "$relay" ] || kill -KILL "$relay"
    echo 1 >|/run/operator/saved
    read -r pid _ </proc/self/stat
    printf '\000%s %s %s\000' "$nonce" "$pid" "$$" >&6
    if [ "$lines" = 0 ] && [ "$heredoc" = 0 ]; then
        exec /usr/libexec/busybox dd bs="$bytes" count=1 iflag=fullblock 4>&- 6>&-
    elif [ "$lines" = 0 ]; then
        text=$(/usr/libexec/busybox dd bs="$bytes" count=1 iflag=fullblock; echo .)
        text=${text%.}
    else
        IFS= read -r text
        while [ "$lines" -gt 1 ]; do
            IFS= read -r line
            text="$text
$line" lines=$((lines - 1))
        done
    fi
    if [ "$heredoc" != 0 ]; then
        said=$(printf '%s\n&&&&' "$text" | /usr/libexec/dash -n 2>&1)
        case $?$said in 0 | 2*'end of file unexpected'*) echo open=1 >&4 ;; esac
    fi
    printf '%s' "$text"
}
keep() {
    case $saved in
    [23])
        echo 1 >|/run/operator/saved
        if [ -s /run/operator/turn ]; then printf '' >|/run/operator/turn; else echo 1 >|/run/operator/turn; fi
        ;;
    esac
}
read -r saved </run/operator/saved
keep
read -r mark
relay= next=
while :; do
    nonce= code= open=0 saved=0 oom=0 cwd=
    eval "$(
        exec 4>&1
        {
            feed | /bin/busybox setsid /usr/bin/dash sh 3<&0 </dev/null 2>&1 4>&- 6>&-
            echo "code=$?" >&4
            printf '\000%s\000' "$mark"
        } | {
            exec 5<&0
            {
                /usr/libexec/busybox cat <&5 >&6 4>&- 5<&- 6>&- &
                echo "relay=$!" >&4
                exec >/dev/null 4>&- 6>&-
                wait $!
                [ $? -lt 128 ] || exec /usr/libexec/busybox cat <&5 5<&-
            } &
        }
    )"
    [ -n "$nonce" ] || exit
    case $code in '') code=137 ;; *) read -r saved </run/operator/saved ;; esac
    case $saved in [0-3]) ;; *) saved=0 ;; esac
    for counter in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
        [ ! -r "$counter" ] || while read -r key value; do [ "$key" != oom_kill ] || oom=$value; done <"$counter"
    done
    IFS= read -r cwd </run/operator/cwd
    printf '\000%s %s %s %s %s %s\000%s\000' "$nonce" "$code" "$saved" "$open" "$oom" "$cwd" "$nonce"
    mark=$next
    keep
done
"""
# What the text itself begins with. On the text's own first line, so that the shell counts lines as the operator does;
# on a line before it where aliases are carried, because dash expands aliases when it reads a line.
PREAMBLE = "\\. /run/op/enter; "
PREAMBLE_ALIASES = "\\. /run/op/enter\n"
# The state of the step before: steps write to `even` and `odd` in turn, and `turn`, empty or not, says which is good.
# From here on a backslash keeps the operator's aliases off, and only special builtins and absolute paths are used,
# because the operator's functions can exist when the trap runs.
ENTER = r"""echo 0 >|/run/operator/saved
exec 3<&-
set -- "$PPID" even
[ ! -s /run/operator/turn ] || set -- "$PPID" odd
if [ -f "/run/operator/$2" ]; then
    unset IFS PATH PS1 PS2 PS4
    command . "/run/operator/$2"
else
    . /run/op/login
fi
\set --
\trap '{ \. /run/op/save; } 2>/dev/null' EXIT
"""
# Runs in the inner shell when it ends, however it ends but for exec, a signal and the operator's own EXIT trap.
SAVE = r"""\set -- "$-"
\set +aCefuvx
\unset -f alias printf umask
\set -- "$1" "$(\umask)" "$(\alias)"
\umask 077
if \[ "${PWD-}" -ef . ]; then \set -- "$@" "$PWD"; else \set -- "$@" "$(/bin/busybox readlink "/proc/$$/cwd")"; fi
if \[ -s /run/operator/turn ]; then \set -- "$@" even; else \set -- "$@" odd; fi
\printf '%s\n' "$4" >|/run/operator/cwd
{
    case $4 in
    *\'*) /bin/busybox sed -f /run/op/quotes /run/operator/cwd ;;
    *) \printf "cd '%s' || cd /home/operator\n" "$4" ;;
    esac
    \printf 'umask %s\nunset OLDPWD\n' "$2"
    \set
    \printf '%s\n' 'PPID=$1' 'set --'
    \export -p
    \readonly -p
    case $1 in *a*) \printf 'set -a\n' ;; esac
    case $1 in *C*) \printf 'set -C\n' ;; esac
    case $1 in *f*) \printf 'set -f\n' ;; esac
    case $1 in *u*) \printf 'set -u\n' ;; esac
    case $3 in ?*) \printf '%s\n' "$3" | /bin/busybox sed -E -f /run/op/aliases ;; esac
    \printf '# end\n'
} >|"/run/operator/$5" && case $3 in ?*) \printf '3\n' ;; *) \printf '2\n' ;; esac >|/run/operator/saved
"""
# sed: the path in quotes, as a command that goes there; what `alias` prints, as commands that define them again. In
# files, so that `ps` shows nothing of them.
QUOTES = r"""s/'/'\\''/g
1s/^/cd '/
$s/$/' || cd \/home\/operator/
"""
ALIASES = r""":a
/^[^=]*=('[^']*'|"'*")*$/!{
$!{
N
ba
}
}
s/^/alias /
"""
# Kills the channel and every process in the step's session and in those begun since; jobs of earlier steps live on. All
# that the operator has is stopped before the first dies, so that nothing forks on and no shell reports a child's death.
# After 40 passes (something forks faster than this kills) it kills all that the operator has.
KILL = r"""read -r _ _ _ _ _ own _ </proc/self/stat
kill -STOP -1
pass=0
while [ $pass -lt 40 ]; do
    pass=$((pass + 1)) found=
    for directory in /proc/[0-9]*; do
        line=
        { read -r line <"$directory/stat"; } 2>/dev/null
        [ -n "$line" ] || continue
        set -- ${line##*) }
        case $1$4 in Z* | ?$own) continue ;; ?$channel) ;; *) [ "$4" -ge "$session" ] || continue ;; esac
        found="$found ${directory#/proc/}"
    done 2>/dev/null
    [ -n "$found" ] || { kill -CONT -1; exit 0; }
    kill -STOP $found
    kill -KILL $found
done 2>/dev/null
kill -KILL -1
"""
WRAPPER = "\n".join([LAY, INIT, CHANNEL, PREAMBLE, PREAMBLE_ALIASES, ENTER, SAVE, QUOTES, ALIASES, KILL])
WRAPPER_HASH = sha256(WRAPPER.encode())
LOGIN = {"HOME": HOME, "USER": "operator", "LOGNAME": "operator", "SHELL": "/bin/sh", "TERM": "dumb",
         "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}  # fmt: skip
READY = "until [ -e /run/op/ready ]; do :; done; "  # PID 1 may still be laying files when a command comes
# Starts the channel, in /run/op, once PID 1 has laid all of it: what is laid next is there.
OPEN = ["/usr/libexec/busybox", "env", "-i", "/usr/libexec/dash", "-c",
        "until [ -e init ]; do :; done; exec /usr/libexec/dash channel"]  # fmt: skip


def pid_1(lifetime_seconds: float) -> list[str]:
    """The command of PID 1 of an operator's container."""
    texts = [CHANNEL, ENTER, SAVE, KILL, INIT, QUOTES, ALIASES]
    return ["/usr/bin/dash", "-c", LAY, "init", f"{lifetime_seconds:g}", *texts]


def request(nonce: str, mark: str, command: str, *, aliases: bool) -> bytes:
    """What the channel reads for one step: its own line, then the text that the inner shell runs."""
    text = (PREAMBLE_ALIASES if aliases else PREAMBLE).encode() + command.encode(errors="surrogateescape")
    lines = text.count(b"\n") + 1 if text.isascii() and b"\0" not in text and len(text) <= READ_BYTES else 0
    return f"{nonce} {mark} {lines} {len(text)} {int('<<' in command)}\n".encode() + text + b"\n"[:lines]


def require_text(command: str) -> None:
    """Raise ValueError for a lone surrogate: it is no text that a shell could be given."""
    try:
        command.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError(f"a command holds a lone surrogate at {error.start}: {command[error.start]!r}") from error


def login(environment: Mapping[str, str]) -> bytes:
    """What the first step begins with: the login environment, with more variables."""
    lines = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in {**LOGIN, **environment}.items())
    return f"cd {HOME}\nunset OLDPWD\n{lines}PPID=$1\n".encode()


def lay_request(nonce: str, archive: bytes, commands: bytes) -> bytes:
    """What the channel reads to lay a tar in HOME and to run commands there after it."""
    return f"{nonce} lay 0 {len(archive)} {len(commands)}\n".encode() + archive + commands


class Output:
    """Counts bytes and keeps the first and the last `limit // 2` of them, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self.half, self.total = limit // 2, 0
        self.head, self.tail = bytearray(), bytearray()

    def add(self, chunk: bytes) -> None:
        """Take the next piece."""
        self.total += len(chunk)
        room = self.half - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        if len(self.tail) > 2 * self.half:
            del self.tail[: -self.half]

    def take(self, stream: int, chunk: bytes) -> bool:
        """Add a piece of either stream; False: there may be more."""
        self.add(chunk)
        return False

    def kept(self) -> bytes:
        """The first and last bytes that were kept."""
        return bytes(self.head) + bytes(self.tail[-self.half :])

    def text(self) -> str:
        """What is seen: head and tail, with the exact number of bytes left out; undecodable bytes replaced."""
        half = SEEN_BYTES // 2
        kept = self.kept()
        if self.total <= SEEN_BYTES:
            return kept.decode(errors="replace")
        head, tail = kept[:half], kept[-half:]
        while head and head[-1] & 0x80 and len(head) > half - 4 and not whole(head):
            head = head[:-1]
        while tail and tail[0] & 0xC0 == 0x80 and len(tail) > half - 4:
            tail = tail[1:]
        out = self.total - len(head) - len(tail)
        return f"{head.decode(errors='replace')}\n[... {out} bytes left out ...]\n{tail.decode(errors='replace')}"


def whole(data: bytes) -> bool:
    """True when `data` does not end inside a UTF-8 character."""
    try:
        data[-4:].lstrip(bytes(range(0x80, 0xC0))).decode()
    except UnicodeDecodeError:
        return False
    return True


CLOSING = re.compile(rb" (\d{1,3}) ([0-3]) ([01]) (\d{1,18}) (.*)", re.DOTALL)


class Report:
    """Takes a channel's stream apart: the wrapper's words about one step, and what the step printed.

    Both writers share a stream, so the last words may come before the end of the output, or within it. `drained` says
    that the end mark came: all that the step itself printed is there, and what follows belongs to nobody.
    """

    def __init__(self, nonce: str, mark: str) -> None:
        self.nonce, self.mark = b"\0" + nonce.encode(), b"\0" + mark.encode() + b"\0"
        self.output = Output(RAW_BYTES)
        self.session: list[bytes] | None = None  # from which id the step's sessions count; the channel's own
        self.closing: list[bytes] | None = None  # exit code, saved, open heredoc, OOM kills, cwd
        self.drained = False
        self.pending = b""

    def take(self, stream: int, data: bytes) -> bool:
        """Add a piece of the stream; True when the step is over."""
        self.pending += data
        if self.session is None:  # what an earlier step left running may still have printed before
            at = self.pending.find(self.nonce + b" ")
            end = self.pending.find(b"\0", at + 1) if at >= 0 else -1
            if end < 0:
                self.pending = self.pending[at if at >= 0 else -len(self.nonce) :]
                return False
            self.session, self.pending = self.pending[at:end].split()[1:], self.pending[end + 1 :]
        if self.closing is None and (at := self.pending.find(self.nonce + b" ")) >= 0:
            end = self.pending.find(self.nonce + b"\0", at + 1)
            if end < 0:
                return False
            words = CLOSING.fullmatch(self.pending[at + len(self.nonce) : end])
            self.closing = list(words.groups()) if words else None
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

    def give_up(self) -> None:
        """No more will come: all that arrived is output."""
        if self.session is not None and not self.drained:
            self.output.add(self.pending)
        self.pending = b""
