"""Check what commands in the sandbox return: the conformance cases A to D.

Each function is a case: its name is the case's name, its docstring the claim. A: running commands; B: state from step
to step; C: time limits and background jobs; D: output.
"""

import re
import shlex
import time
from concurrent.futures import ThreadPoolExecutor

from sandbox.conformance import Testbed, case, documented, gives, holds, host_memory, in_session, raises, same, within
from sandbox.session import LockedOutError, Session
from sandbox.wrapper import WRAPPER
from schema import HOME, Fixture

MIB = 1 << 20

# A: running commands


@case
def A01(testbed: Testbed) -> None:
    """A step and a run of `echo 'hello world'` print exactly that line."""
    with testbed.session() as shell:
        gives(shell, "echo 'hello world'", "hello world\n")
    done = testbed.run("echo 'hello world'")
    same((done.stdout, done.stderr, done.exit_code), (b"hello world\n", b"", 0))


@in_session
def A02(shell: Session) -> None:
    """`echo ''` prints a newline, `echo -n x` prints none."""
    gives(shell, "echo ''", "\n")
    gives(shell, "echo -n x", "x")


@in_session
def A03(shell: Session) -> None:
    """Newlines before and after an output are kept exactly."""
    gives(shell, r"printf '\n\nx\n\n\n'", "\n\nx\n\n\n")


@in_session
def A04(shell: Session) -> None:
    """Leading blanks are kept."""
    gives(shell, "printf '  x'", "  x")


@case
def A05(testbed: Testbed) -> None:
    """A run keeps stdout and stderr apart; a step merges them in order."""
    done = testbed.run("echo lost >&2")
    same((done.stdout, done.stderr), (b"", b"lost\n"))
    with testbed.session() as shell:
        text = "for i in 1 2 3; do echo out$i; echo err$i >&2; done"
        gives(shell, text, "out1\nerr1\nout2\nerr2\nout3\nerr3\n")


@case
def A06(testbed: Testbed) -> None:
    """Exit codes 70, 42 and 1 are reported as they are."""
    with testbed.session() as shell:
        for code in (70, 42, 1):
            gives(shell, f"exit {code}", "", code)
    same(testbed.run("exit 70").exit_code, 70)


@in_session
def A07(shell: Session) -> None:
    """An unknown program gives 127, a file that is not executable 126, each with the shell's own message."""
    gives(shell, "doesntexit", "sh: 1: doesntexit: not found\n", 127)
    gives(shell, "echo x >plain; ./plain", "sh: 1: ./plain: Permission denied\n", 126)


@in_session
def A08(shell: Session) -> None:
    """Chains of `&&`, `||` and `;` give the exit code of the last command that ran."""
    gives(shell, "false && true", "", 1)
    gives(shell, "false || true", "", 0)
    gives(shell, "echo a; echo b && echo c", "a\nb\nc\n")
    gives(shell, "; echo a", 'sh: 1: Syntax error: ";" unexpected\n', 2)


@in_session
def A09(shell: Session) -> None:
    """An empty text, newlines and comments do nothing, print nothing and change no state."""
    shell.step("cd /usr; X=1")
    for text in ("", "\n", "# a comment", "   ", "\n\n# two\n"):
        step = gives(shell, text, "")
        same((step.cwd, step.state_stale), ("/usr", False))
    gives(shell, 'echo "$X"', "1\n")


@in_session
def A10(shell: Session) -> None:
    """A syntax error has the shell's own message and exit code 2."""
    gives(shell, "(a", 'sh: 1: Syntax error: end of file unexpected (expecting ")")\n', 2)


@in_session
def A11(shell: Session) -> None:
    """Loops, ifs, blank lines, continued lines and `find -exec` may span lines; error messages count lines as typed."""
    gives(shell, "for i in 1 2\ndo\n  if [ $i = 2 ]\n  then\n    echo two\n  fi\ndone", "two\n")
    gives(shell, "echo a\n\n\necho b", "a\nb\n")
    gives(shell, "echo a \\\n  b", "a b\n")
    gives(shell, "mkdir -p t/u; touch t/u/f; find t -type f -exec echo {} \\;", "t/u/f\n")
    gives(shell, "echo one\nnosuch\n", "one\nsh: 2: nosuch: not found\n", 127)


@in_session
def A12(shell: Session) -> None:
    """Pipes, substitutions and quotes of both kinds arrive unchanged."""
    gives(shell, "printf 'b\\na\\n' | sort | head -n 1", "a\n")
    gives(shell, "echo $(echo in $(echo side))", "in side\n")
    gives(shell, """echo "it's" 'a "b"' \\$x `echo tick`""", """it's a "b" $x tick\n""")


@in_session
def A12b(shell: Session) -> None:
    """Groups may span several lines, and a text may end in `;` or `&`."""
    gives(shell, "{ echo a\n echo b\n}", "a\nb\n")
    gives(shell, "{ echo a; echo b; }", "a\nb\n")
    gives(shell, "echo a;", "a\n")
    gives(shell, "echo a >file &", "")
    gives(shell, "echo a & wait", "a\n")


@in_session
def A12c(shell: Session) -> None:
    """`. /missing` ends the step with exit code 2 and keeps the state; after `cd /nope` the shell goes on."""
    shell.step("cd /usr; export KEEP=1")
    step = gives(shell, ". /missing; echo not reached", "sh: 1: .: cannot open /missing: No such file\n", 2)
    same(step.cwd, "/usr")
    gives(shell, "cd /nope; echo rc $?", "sh: 1: cd: can't cd to /nope\nrc 2\n")
    gives(shell, "cd /nope", "sh: 1: cd: can't cd to /nope\n", 2)
    gives(shell, 'pwd; echo "$KEEP"', "/usr\n1\n")


@in_session
def A13(shell: Session) -> None:
    """Heredocs arrive byte for byte: one, two, quoted delimiter, stripped tabs; `<<` in arithmetic is no heredoc."""
    shell.step("V=seen")
    gives(shell, "cat >h <<EOF\n a $V\n\nEOF", "")
    same(shell.read_file("h"), b" a seen\n\n")
    gives(shell, "cat <<A; cat <<'B'\n$V\nA\n$V\nB\n", "seen\n$V\n")
    gives(shell, "cat <<-X\n\ttabs\n\tX\necho after", "tabs\nafter\n")
    gives(shell, "echo $((1 << 2))", "4\n")


@in_session
def A14(shell: Session) -> None:
    """UTF-8 arrives whole on both streams, from escapes or typed."""
    octal = r"caf\303\251 \342\202\254100 \344\270\255\346\226\207 \360\237\230\200"
    gives(shell, f"printf '{octal}\\n'; printf '{octal}\\n' >&2", "café €100 中文 😀\n" * 2)
    gives(shell, "echo 'café 😀'", "café 😀\n")


@in_session
def A15(shell: Session) -> None:
    """Invalid UTF-8 is replaced in the text that the operator sees and kept in the raw output."""
    gives(shell, r"printf '\303\050'", "�(")
    same(shell.raw, b"\xc3(")


@in_session
def A16(shell: Session) -> None:
    """A step's standard input is empty."""
    gives(shell, 'read a; echo "[$a]"', "[]\n", timeout_seconds=5)
    gives(shell, "cat; wc -c", "0\n", timeout_seconds=5)


@case
def A17(testbed: Testbed) -> None:
    """A run's standard input arrives byte for byte: shell special characters, NULs, 50 MiB."""
    odd = b"$HOME `id` $(id) \"'\\\n\0\xff;&|<>*?\r\n\n"
    same(testbed.run("cat", stdin=odd).stdout, odd)
    same(testbed.run("wc -c", stdin=bytes(50 * MIB)).stdout.strip(), str(50 * MIB).encode())


@case
def A18(testbed: Testbed) -> None:
    """A command of 300 kB runs, and 1 MiB of arguments in 16 parts arrives unchanged."""
    parts = " ".join("'" + f"{number:x}$" * 32_768 + "'" for number in range(16))
    with testbed.session() as shell:
        gives(shell, f"x='{'y' * 300_000}'; echo ${{#x}}", "300000\n")
        same(shell.step(f"/usr/bin/env printf %s {parts}").output_bytes, MIB)
        same(shell.raw, parts.replace("'", "").replace(" ", "").encode())
    same(testbed.run(f"# {'x' * 300_000}\n/usr/bin/env printf %s {parts} | wc -c").stdout.strip(), str(MIB).encode())


@case
def A20(testbed: Testbed) -> None:
    """A run can name its user; an unknown user raises an error that names it."""
    same(testbed.run('id -un; echo "$USER"', user="nobody").stdout, b"nobody\nnobody\n")
    same(testbed.run("id -un").stdout, b"operator\n")
    with raises(LookupError, "'nosuch'"):
        testbed.run("id", user="nosuch")


@case
def A21(testbed: Testbed) -> None:
    """A run starts in the home directory or in a given one; a missing directory raises an error that names it."""
    world = [Fixture(path=f"{HOME}/a/b c/-d", type="dir"), Fixture(path=f"{HOME}/file", text="")]
    for cwd, found in ((None, HOME), ("a/b c", f"{HOME}/a/b c"), ("a/b c/-d", f"{HOME}/a/b c/-d"), ("/usr", "/usr")):
        done = testbed.run("pwd", world, **({} if cwd is None else {"cwd": cwd}))
        same(done.stdout, f"{found}\n".encode())
    for cwd in ("missing", "file", "/nope"):
        with raises(FileNotFoundError, cwd):
            testbed.run("pwd", world, cwd=cwd)


# B: state from step to step


@in_session
def B01(shell: Session) -> None:
    """The working directory carries over, whatever its name."""
    same(shell.step("cd /usr").cwd, "/usr")
    gives(shell, "pwd", "/usr\n")
    for name in ("it's", "-dash", "two\nlines", 'q"uote', " space ", "$HOME", "end\n"):
        shell.step(f"cd; mkdir -- {shlex.quote(name)}; cd ./{shlex.quote(name)}")
        gives(shell, 'printf "[%s]" "$PWD"', f"[{HOME}/{name}]")


@in_session
def B02(shell: Session) -> None:
    """Variables carry over exactly, exported or not; plain ones stay plain."""
    shell.step('export X="a b\'c\nd"; Y=\'plain "two"\n\n\'')
    gives(shell, 'printf %s "$X"; printf "[%s]" "$Y"; env | grep -c ^Y=', 'a b\'c\nd[plain "two"\n\n]0\n', 1)


@in_session
def B03(shell: Session) -> None:
    """A variable that was unset stays unset, also one of the login environment."""
    shell.step("export X=1; unset HOME PATH")
    shell.step("unset X")
    gives(shell, 'echo "[${X-gone}] [${HOME-gone}] [${PATH-gone}]"', "[gone] [gone] [gone]\n")


@in_session
def B04(shell: Session) -> None:
    """After `exit 6` the exit code is 6 and the state is saved."""
    gives(shell, "cd /usr; X=7; exit 6", "", 6)
    gives(shell, 'pwd; echo "$X"', "/usr\n7\n")


@documented
@in_session
def B05(shell: Session) -> None:
    """State survives `set -e`; the option itself does not carry over."""
    gives(shell, "set -e; cd /tmp; false; echo no", "", 1)
    gives(shell, "false; pwd", "/tmp\n")


@documented
@in_session
def B06(shell: Session) -> None:
    """An open heredoc is flagged, and no text of the wrapper is in the file or in the output."""
    step = shell.step("cat >f <<EOF\nline\n\n")
    same((step.output, step.exit_code, step.open_heredoc), ("", 0, True))
    same(shell.read_file("f"), b"line\n\n")
    step = shell.step("cat <<EOF\n)")
    same((step.output, step.open_heredoc), (")", True))
    for closed in ("cat <<EOF\nx\nEOF", "cat <<EOF\nx\nEOF\n", "echo '<<EOF'", "(a '<<EOF'", "echo x # <<EOF"):
        same((closed, shell.step(closed).open_heredoc), (closed, False))


@in_session
def B07(shell: Session) -> None:
    """A syntax error keeps the state, with the effects of the lines before it."""
    for text, where in (("cd /tmp; (", "/usr"), ("cd /tmp\n(a", "/tmp")):
        shell.step("cd /usr; X=1")
        same(shell.step(text).exit_code, 2)
        gives(shell, 'pwd; echo "$X"', f"{where}\n1\n")


@documented
@in_session
def B08(shell: Session) -> None:
    """If the working directory is gone, the next step starts in the home directory and says so, once."""
    shell.step("mkdir d; cd d; rmdir ../d")
    step = shell.step("pwd")
    holds(step.output.startswith("sh: 1: cd: can't cd to ") and step.output.endswith(f"\n{HOME}\n"), step)
    gives(shell, "pwd", f"{HOME}\n")


@in_session
def B09(shell: Session) -> None:
    """If the state files are removed or unwritable, the step is stale and the next one starts as at login."""
    shell.step("cd /usr; X=1")
    holds(
        shell.step("rm -rf /run/operator/* /run/operator; mkdir /run/operator/even /run/operator/odd").state_stale,
        "no stale flag",
    )
    gives(shell, "pwd; echo [$X]; rmdir /run/operator/even /run/operator/odd", f"{HOME}\n[]\n")
    holds(shell.step("chmod 000 /run/operator").state_stale, "no stale flag")
    holds(not shell.step("chmod 700 /run/operator").timed_out, "a step that hangs")
    holds(not shell.step("true").state_stale, "a state that stays stale")


@in_session
def B10(shell: Session) -> None:
    """Redefined builtins, aliases, PATH, IFS and PWD do not spoil the state."""
    evil = "pwd() { echo evil; }; printf() { :; }; umask() { :; }; alias() { :; }; command() { :; }; mv() { :; }"
    step = shell.step(f"{evil}; PATH=/nope; IFS=/; readonly S=1; PWD=/evil; unset OLDPWD; cd /usr/bin; PWD=/evil")
    same((step.state_stale, step.cwd), (False, "/usr/bin"))
    gives(shell, "pwd; echo $PATH", "/usr/bin\n nope\n")
    shell.step("IFS=' '; PATH=/bin:/usr/bin; alias cd=false set=false printf=false export=false case=false exec=false")
    step = shell.step("\\cd /tmp")
    same((step.cwd, step.state_stale), ("/tmp", False))


@in_session
def B12(shell: Session) -> None:
    """`exec`, kill -9, an EXIT trap and a time-out keep the state of the step before, and the step is flagged stale."""
    shell.step("cd /usr; X=1")
    for text in ("exec true", "kill -9 $$", "trap : EXIT", "sleep 9"):
        step = shell.step(f"cd /tmp; X=2; {text}", timeout_seconds=1)
        same((text, step.state_stale, step.cwd), (text, True, "/usr"))
    gives(shell, "pwd; echo $X", "/usr\n1\n")


@documented
@in_session
def B13(shell: Session) -> None:
    """The path stays logical through a symlink while $PWD names the same directory; else it is the physical one."""
    shell.step("mkdir real; ln -s real link")
    same(shell.step("cd link").cwd, f"{HOME}/link")
    gives(shell, "pwd; pwd -P", f"{HOME}/link\n{HOME}/real\n")
    same(shell.step("PWD=/usr").cwd, f"{HOME}/real")
    gives(shell, "pwd", f"{HOME}/real\n")


@documented
@in_session
def B14(shell: Session) -> None:
    """Umask, aliases and the options a C f u carry over; functions and the options v x e do not."""
    shell.step("umask 027; alias ll='ls -d'; alias two='echo 1\necho 2'; set -a -f -u -C; f() { echo f; }")
    gives(shell, "umask; ll /usr; two; echo *", "0027\n/usr\n1\n2\n*\n")
    same(shell.step("f").exit_code, 127)
    same(shell.step("echo $nothing").exit_code, 2)
    shell.step("set -v -x -e")
    gives(shell, "false; echo on", "on\n")
    shell.step("unalias -a; set +a +f +u +C; umask 777; X=5")
    gives(shell, "echo $X $(umask); nosuch", "5 0777\nsh: 1: nosuch: not found\n", 127)


@in_session
def B15(shell: Session) -> None:
    """`pkill -f` does not find a word that is only in the command's text."""
    gives(shell, "pkill -f MARKER_IN_TEXT; echo alive", "alive\n")


@documented
@in_session
def B16(shell: Session) -> None:
    """Neither the wrapper's text nor a state file shows where an operator looks; its programs show by their names."""
    names = {"dash", "init", "channel", "libexec", "busybox", "sleep", "proc", "home", "operator", "export"}
    names |= {"quotes", "aliases", "setsid"}  # two files that sed reads, and a program
    words = set(re.findall("[a-z_]{4,}", WRAPPER)) - names
    lines = "cat /proc/[0-9]*/cmdline 2>/dev/null"  # cat's messages about processes that end meanwhile would name them
    looks = ("ps", "ps -o args", lines, "ls -a / /tmp", "set", "env", "export -p", "alias", "trap")
    for text in looks:
        seen = shell.step(text).output
        same((text, words & set(re.findall("[a-z_]+", seen))), (text, set()))
    gives(shell, "trap", "")
    gives(shell, "trap 'echo bye' INT; trap; echo on", "trap -- 'echo bye' INT\non\n")
    gives(shell, "x=7; trap; echo $x", "7\n")
    gives(shell, "echo $x", "7\n")
    shell.step("alias l='ls'; mkdir -p \"it's\"; cd \"it's\"; (while ps -o args >>~/seen; do :; done) & job=$!")
    for _ in range(8):
        shell.step(":")
    seen = shell.step("kill $job; sort -u ~/seen").output
    same(("in the background", words & set(re.findall("[a-z_]+", seen))), ("in the background", set()))
    holds(
        "dash init" in shell.step("ps").output and "dash channel" in shell.step("ps").output, "names that are not there"
    )
    gives(shell, 'echo "$0 $# $*"', "sh 0 \n")


@case
def B18(testbed: Testbed) -> None:
    """Sandboxes that work at the same time do not mix."""

    def work(number: int) -> str:
        with testbed.session([Fixture(path=f"{HOME}/n", text=f"{number}\n")]) as shell:
            shell.step(f"export X={number}; cd /usr")
            return shell.step(f"cat {HOME}/n; echo $X; pwd").output

    with ThreadPoolExecutor(8) as pool:
        same(list(pool.map(work, range(8))), [f"{number}\n{number}\n/usr\n" for number in range(8)])


# C: time limits, background jobs, signals


@in_session
def C01(shell: Session) -> None:
    """At its time limit a step ends at once, with exit code 124 and the flag `timed_out`."""
    began = time.monotonic()
    step = shell.step("sleep 30", timeout_seconds=0.5)
    ended = time.monotonic()
    shell.write_file("file", b"")
    shell.step("true")
    pace = time.monotonic() - ended  # how fast this machine is just now; ending a step starts a process too
    holds(ended - began < max(2, 0.5 + 4 * pace), f"{ended - began:.1f} s, at a pace of {pace:.1f} s")
    same((step.exit_code, step.timed_out, step.state_stale), (124, True, True))


@case
def C02(testbed: Testbed) -> None:
    """Output from before the time limit is kept."""
    with testbed.session() as shell:
        same(shell.step("echo a; sleep 30", timeout_seconds=2).output, "a\n")
    done = testbed.run("echo a; sleep 30", timeout_seconds=10)  # counted from when Docker is asked for the process
    same((done.stdout, done.exit_code, done.timed_out), (b"a\n", 124, True))


@in_session
def C03(shell: Session) -> None:
    """No process of a step outlives its time limit: no parent, no child, no job in a session of its own."""
    shell.step("sleep 501 & setsid sleep 502 & (sleep 503; sleep 504) & sleep 505", timeout_seconds=0.5)
    gives(shell, "ps | grep 'slee[p] 5'", "", 1)


@in_session
def C04(shell: Session) -> None:
    """A child that ignores TERM is killed."""
    text = "trap '' TERM INT HUP; sh -c 'trap \"\" TERM; while :; do sleep 701; done'"
    holds(shell.step(text, timeout_seconds=0.5).timed_out, "no time-out")
    gives(shell, "ps | grep '70[1]'", "", 1)


@in_session
def C06(shell: Session) -> None:
    """The step after a time-out shows only its own output."""
    shell.step("echo before; sleep 10; echo late", timeout_seconds=0.5)
    gives(shell, "echo asdf", "asdf\n")


@documented
@in_session
def C07(shell: Session) -> None:
    """A background job does not hold up its step, lives on into the next one, and survives a later step's time-out."""
    shell.step("true")
    for text, output in (("(sleep 10) &", ""), ("sleep 60 & echo hi", "hi\n")):
        with within(1):
            gives(shell, text, output)
    holds(shell.step("sleep 61", timeout_seconds=0.5).timed_out, "no time-out")
    gives(shell, "ps -o args | grep 'slee[p] 6'", "sleep 60\n")


@in_session
def C09(shell: Session) -> None:
    """Endless output is capped and costs the host no memory."""
    for text, seconds, printed in (("yes | head -c 32m", 60.0, 32 * MIB), ("yes", 1.0, None)):
        with host_memory(8 * MIB):
            step = shell.step(text, timeout_seconds=seconds)
        same(step.timed_out, printed is None)
        holds(step.output_bytes > 0 if printed is None else step.output_bytes == printed, step.output_bytes)
        holds(len(shell.raw) <= MIB and len(step.output) < 5000, (len(shell.raw), len(step.output)))


@in_session
def C10(shell: Session) -> None:
    """Programs that want a terminal return or run into the time limit, and the sandbox goes on."""
    texts = ("less /etc/passwd", "vi /etc/passwd", "vi", "ed", "bc", "watch true", "top", "cat /dev/tty", "sh -i")
    for text in texts:
        step = shell.step(text, timeout_seconds=0.5)
        holds(step.exit_code != 127, f"no program for {text}")
        gives(shell, "echo on", "on\n")


@in_session
def C11(shell: Session) -> None:
    """`read -p` finds its input empty and shows no prompt."""
    gives(shell, "read -p 'name? ' a; echo \"$? [$a]\"", "1 []\n", timeout_seconds=5)


@case
def C12(testbed: Testbed) -> str | None:
    """A fork bomb meets the limit on processes and the step's time limit, or its sandbox is given up; others go on."""
    said = None
    with testbed.session() as other, testbed.session() as shell:
        try:
            step = shell.step("bomb() { bomb | bomb & }; bomb; sleep 9", timeout_seconds=5)
            holds("Cannot fork" in step.output, "no limit on processes")
            if step.timed_out:  # else its shell met the limit on processes and ended; the rest is background jobs
                gives(shell, "echo on", "on\n")
        except LockedOutError as error:
            said = f"given up: {error}"
        gives(other, "echo on", "on\n")
    return said


@in_session
def C13(shell: Session) -> None:
    """Fake `timeout`, `sh` and `tar` on PATH change nothing, and `chmod 000 /bin/sh` is refused."""
    shell.step("mkdir b; printf '#!/usr/bin/dash\\necho fake\\n' >b/sh; chmod 755 b/sh; export PATH=$HOME/b:$PATH")
    gives(shell, "for name in timeout dash env cat tar busybox; do cp b/sh b/$name; done; sh; tar", "fake\nfake\n")
    holds(shell.step("sleep 9", timeout_seconds=0.5).timed_out, "no time-out")
    gives(shell, "pwd", f"{HOME}\n")
    holds(shell.step("chmod 000 /bin/sh /usr/bin/dash; : >/bin/sh").exit_code != 0, "a shell that can be changed")
    gives(shell, "echo on", "on\n")
    shell.write_file("d/file", b"x")
    same((shell.read_file("d/file"), len(shell.snapshot())), (b"x", 10))
    holds(shell.verify("sh -c true && tar -c b | tar -t | grep -q b/tar").passed is True, "a checker that fails")


# D: output


@in_session
def D01(shell: Session) -> None:
    """Of 5,000 lines all are kept; head and tail are seen, with the exact count between; no character is cut."""
    whole = "".join(f"{number}\n" for number in range(1, 5001))
    step = shell.step("seq 5000")
    same((step.output_bytes, shell.raw), (len(whole), whole.encode()))
    head, _, rest = step.output.partition("\n[... ")
    note, _, tail = rest.partition(" ...]\n")
    holds(bool(head) and whole.startswith(head) and bool(tail) and whole.endswith(tail), step.output)
    same(note, f"{len(whole) - len(head) - len(tail)} bytes left out")
    for lead in range(4):
        step = shell.step(f"printf '%{lead}s' ''; i=0; while [ $i -lt 3000 ]; do printf '€'; i=$((i + 1)); done")
        same((lead, "�" in step.output), (lead, False))


@in_session
def D02(shell: Session) -> None:
    """A line of 1 MiB without a newline arrives whole."""
    step = shell.step("head -c 1048576 /dev/zero | tr '\\0' x")
    same((step.output_bytes, step.exit_code, shell.raw), (MIB, 0, b"x" * MIB))


@documented
@case
def D03(testbed: Testbed) -> None:
    """Of 50 MiB the first and last half MiB are kept; the exact size tells how much there was."""
    text = "head -c 52428800 /dev/zero | tr '\\0' x; echo END"
    with testbed.session() as shell:
        step = shell.step(text, timeout_seconds=60)
        same((step.exit_code, step.output_bytes, len(shell.raw)), (0, 50 * MIB + 4, MIB))
        holds(shell.raw.endswith(b"xxEND\n") and step.output.endswith("xxEND\n"), step.output[-50:])
        holds("bytes left out" in step.output, step.output[:50])
    done = testbed.run(f"echo err >&2; {text}", timeout_seconds=60)
    same((done.exit_code, len(done.stdout), done.stdout[-5:]), (0, MIB, b"xEND\n"))
    same((done.stdout_bytes, done.stderr, done.stderr_bytes), (50 * MIB + 4, b"err\n", 4))


@documented
@in_session
def D06(shell: Session) -> None:
    """A command without output gives the empty string, as in a shell."""
    step = gives(shell, "true", "")
    same((step.output_bytes, shell.raw), (0, b""))
