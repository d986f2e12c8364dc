"""Hold the one step wrapper: the shell text around every command, and the reading of what it reports.

    from wrapper import STEP, Report, request

Reads   nothing
Writes  nothing
Needs   nothing

What a command leaves to the next one: cwd, exported and plain variables, unset, umask, aliases, the options a C f u.
Lost: functions, traps, descriptors, jobs' names. The text reaches the shell on a pipe, byte for byte, as the script
that it reads: it is in no argv, in no file, and the shell's own error messages show nothing around it.
"""

from schema import sha256

RAW_BYTES = 1 << 20  # of a step's output that are kept: first and last half
SEEN_BYTES = 4096  # of a step's output that the operator sees: first and last half

# PID 1 of an operator's container, root without capabilities: what it writes and what it is the operator can neither
# change nor signal. Its arguments are the files to write; they are gone from its command line before a step starts.
LAY = r"""umask 022; cd /run/op || exit 1
printf %s "$2" >step; printf %s "$3" >enter; printf %s "$4" >save; printf %s "$5" >kill; printf %s "$6" >login
[ -z "$7" ] || { printf %s "$8" >"$7"; chmod 755 "$7"; }
life=$1; shift 8; printf %s "$@" >script
ln -s /proc/self/fd/3 sh; printf 'sleep "$1" & wait' >init; : >ready
exec /usr/bin/dash init "$life"
"""
# The outer shell of a step. It reads a nonce, says which session it leads, has an inner shell run the operator's text
# (named `sh`, so that is how its errors begin) and reports: exit code, how the state stands, open heredoc, the cgroup's
# count of OOM kills, cwd. A heredoc is open when dash's own parser accepts the text, and still accepts it with a stray
# `)` on a line of its own behind it.
STEP = r"""exec 2>/dev/null
read -r nonce heredoc
printf '\000%s %s\000' "$nonce" "$$"
echo 1 >|/run/operator/saved
open=0
if [ "$heredoc" = 1 ]; then
    text=$(/bin/busybox cat; echo .)
    text=${text%.}
    printf '%s' "$text" | /usr/bin/dash -n && printf '%s\n)' "$text" | /usr/bin/dash -n && open=1
    printf '%s' "$text" | /usr/bin/dash sh 3<&0 </dev/null 2>&1
else
    /usr/bin/dash sh 3<&0 </dev/null 2>&1
fi
code=$? saved=0 oom=0 cwd=
read -r saved </run/operator/saved
for counter in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ ! -r "$counter" ] || while read -r key value; do [ "$key" != oom_kill ] || oom=$value; done <"$counter"
done
IFS= read -r cwd </run/operator/cwd
printf '\000%s %s %s %s %s %s\000%s\000' "$nonce" "$code" "${saved:-0}" "$open" "$oom" "$cwd" "$nonce"
"""
# What the text itself begins with. On the text's own first line, so that the shell counts lines as the operator does;
# on a line before it where aliases are carried, because dash expands aliases when it reads a line.
PREAMBLE = "\\. /run/op/enter; "
PREAMBLE_ALIASES = "\\. /run/op/enter\n"
# The state of the step before. From here on a backslash keeps the operator's aliases off, and only special builtins
# and absolute paths are used, because the operator's functions can exist when the trap runs.
ENTER = r"""echo 0 >|/run/operator/saved
exec 3<&-
set -- "$PPID"
if [ -f /run/operator/state ]; then
    unset IFS PATH PS1 PS2 PS4
    command . /run/operator/state
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
case ${PWD-} in
/*) if \[ "$PWD" -ef . ]; then \printf '%s\n' "$PWD"; else /bin/busybox readlink "/proc/$$/cwd"; fi ;;
*) /bin/busybox readlink "/proc/$$/cwd" ;;
esac >|/run/operator/cwd
{
    /bin/busybox sed "s/'/'\\\\''/g; 1s/^/cd '/; \$s/\$/' || cd \/home\/operator/" /run/operator/cwd
    \printf 'umask %s\nunset OLDPWD\n' "$2"
    \set
    \printf '%s\n' 'PPID=$1' 'set --'
    \export -p
    \readonly -p
    case $1 in *a*) \printf 'set -a\n' ;; esac
    case $1 in *C*) \printf 'set -C\n' ;; esac
    case $1 in *f*) \printf 'set -f\n' ;; esac
    case $1 in *u*) \printf 'set -u\n' ;; esac
    case $3 in ?*) \printf '%s\n' "$3" | /bin/busybox sed -E -e ':a' \
        -e "/^[^=]*=('[^']*'|\"'*\")*\$/!{" -e '$!{' -e N -e ba -e '}' -e '}' -e 's/^/alias /' ;; esac
    \printf '# end\n'
} >|/run/operator/state.new &&
    /bin/busybox mv -f /run/operator/state.new /run/operator/state &&
    case $3 in ?*) \printf '2\n' ;; *) \printf '1\n' ;; esac >|/run/operator/saved
"""
# Kills every process in the step's session and in every session begun since; jobs of earlier steps live on. All are
# stopped before the first dies, so that no shell reports the death of its child. After 40 passes (something forks
# faster than this kills) it kills all that the operator has.
KILL = r"""read -r _ _ _ _ _ own _ </proc/self/stat
pass=0
while [ $pass -lt 40 ]; do
    pass=$((pass + 1)) found=
    for directory in /proc/[0-9]*; do
        line=
        { read -r line <"$directory/stat"; } 2>/dev/null
        [ -n "$line" ] || continue
        set -- ${line##*) }
        [ "$1" != Z ] && [ "$4" -ge "$session" ] && [ "$4" -ne "$own" ] || continue
        found="$found ${directory#/proc/}"
    done 2>/dev/null
    [ -n "$found" ] || exit 0
    kill -STOP $found
    kill -KILL $found
done 2>/dev/null
kill -KILL -1
"""
WRAPPER = "\n".join([LAY, STEP, PREAMBLE, PREAMBLE_ALIASES, ENTER, SAVE, KILL])
WRAPPER_HASH = sha256(WRAPPER.encode())
READY = "until [ -e /run/op/ready ]; do :; done; "  # PID 1 may still be laying files when the first command comes


def request(nonce: str, command: str, *, aliases: bool) -> bytes:
    """What a step's outer shell reads: its own line, then the text that the inner one runs."""
    head = f"{nonce} {int('<<' in command)}\n{PREAMBLE_ALIASES if aliases else PREAMBLE}"
    return head.encode() + command.encode(errors="surrogateescape")


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


class Report:
    """Takes a step's stream apart: the wrapper's first words, the operator's output, the wrapper's last words."""

    def __init__(self, nonce: str) -> None:
        self.nonce = b"\0" + nonce.encode()
        self.output = Output(RAW_BYTES)
        self.session: int | None = None  # the step's session id inside the container
        self.closing: list[bytes] | None = None  # exit code, saved, open heredoc, OOM kills, cwd
        self.pending = b""

    def take(self, stream: int, data: bytes) -> bool:
        """Add a piece of the stream; True when the step is over. What comes after that belongs to nobody."""
        if self.closing is not None:
            return True
        self.pending += data
        if self.session is None:
            first, found, rest = self.pending[1:].partition(b"\0")
            if not (found and self.pending.startswith(self.nonce + b" ")):
                return False
            self.session, self.pending = int(first.split()[1]), rest
        at = self.pending.find(self.nonce + b" ")
        safe = at if at >= 0 else max(0, len(self.pending) - len(self.nonce))
        self.output.add(self.pending[:safe])
        self.pending = self.pending[safe:]
        end = self.pending.find(self.nonce + b"\0", 1) if at >= 0 else -1
        if end >= 0:
            self.closing = self.pending[:end].split(b" ", 5)[1:]
        return end >= 0

    def give_up(self) -> None:
        """The last words will not come: all that arrived is output."""
        if self.session is not None and self.closing is None:
            self.output.add(self.pending)
        self.pending = b""
