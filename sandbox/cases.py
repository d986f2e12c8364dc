"""Check that the sandbox does what it promises: all conformance cases, for pytest and for `dashdocker.py self-check`.

    from sandbox.cases import run_cases

    run_cases("A01,F05", SandboxOptions(runtime="runsc"))

Each function is a case: its name is the case's name, its docstring the claim. Cases A to D are in command_cases.py; E
(files), F (life cycle and isolation) and G (verification) are here. Missing numbers are no cases. F12 (the
same on every Docker engine and runtime) is the self-check itself. docs/sandbox.md lists all claims.
"""

import hashlib
import shutil
import signal
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from pipeline import stage
from sandbox import command_cases
from sandbox.conformance import (
    CASES,
    Testbed,
    case,
    documented,
    gives,
    holds,
    host_memory,
    in_session,
    raises,
    same,
    sandboxes_of,
    self_check,
    within,
)
from sandbox.containers import OPERATOR_UID, RUN, SandboxError, SandboxOptions, api, docker_call, reap
from sandbox.session import Session
from sandbox.tree import TREE_BYTES, TreeEntry
from schema import HOME, Fixture

__all__ = ["CASES", "run_cases"]

MIB = command_cases.MIB


def run_cases(only: str | None, options: SandboxOptions) -> int:
    """Run the cases named in `only`, separated by commas, or all, and print the counts; 1 where one does not hold."""
    summary = self_check(Testbed(options), only.split(",") if only else [])
    stage.print_summary({"action": "self-check", **summary})
    return stage.WORLD_FAILED if summary["failed"] else stage.DONE


# E: files


@case
def E01(testbed: Testbed) -> None:
    """Text, bytes and 50 MiB can be written and read back unchanged."""
    big = bytes(range(256)) * (50 * MIB // 256)
    with testbed.session() as shell:
        for content in ("café\n".encode(), bytes(range(256)), b"\r\n\0", big):
            shell.write_file("file", content)
            same(shell.read_file("file") == content, True)
        gives(shell, "sha256sum <file", f"{hashlib.sha256(big).hexdigest()}  -\n")


@in_session
def E02(shell: Session) -> None:
    """`write_file` creates parent directories, for relative and absolute paths."""
    shell.write_file("a/b/c", b"1")
    shell.write_file(f"{HOME}/d/e/f", b"2")
    shell.write_file("/tmp/g/h", b"3")
    same([shell.read_file(path) for path in (f"{HOME}/a/b/c", "d/e/f")], [b"1", b"2"])
    gives(shell, "cat /tmp/g/h; stat -c '%U %a' a a/b a/b/c", "3operator 755\noperator 755\noperator 644\n")


@in_session
def E03(shell: Session) -> None:
    """File names may hold blanks, newlines, quotes and leading dashes."""
    for name in (" a b ", "two\nlines", "-n", "--help", "it's", "$HOME", "dir\n/-x"):
        shell.write_file(name, name.encode())
        same(shell.read_file(name), name.encode())
    gives(shell, "cat -- -n ' a b '", "-n a b ")


@in_session
def E04(shell: Session) -> None:
    """A file may be empty."""
    shell.write_file("empty", b"")
    same(shell.read_file("empty"), b"")
    gives(shell, "stat -c %s empty", "0\n")


@documented
@in_session
def E05(shell: Session) -> None:
    """An overwritten file keeps its mode and may get shorter; a new one gets 644 whatever the shell's umask is."""
    shell.step("umask 077; echo longer >file; chmod 751 file")
    shell.write_file("file", b"1")
    shell.write_file("new", b"2")
    gives(shell, "stat -c '%a %s' file new", "751 1\n644 1\n")


@documented
@in_session
def E06(shell: Session) -> None:
    """A file that cannot be read or written raises Python's own error with the path; no mode hides a file."""
    shell.step("mkdir dir; echo secret >closed; chmod 000 closed; echo x >file")
    for path in ("missing", "missing/file", "/nope"):
        with raises(FileNotFoundError, path):
            shell.read_file(path)
    same(shell.read_file("closed"), b"secret\n")
    for path, kind in (("dir", IsADirectoryError), ("closed", PermissionError), ("file/x", NotADirectoryError)):
        with raises(kind, path):
            shell.write_file(path, b"")
    for path, says in (("/etc/x", "Read-only"), ("/root/x/y", ""), ("/proc/1/environ", "")):
        with raises(OSError, says):
            shell.write_file(path, b"")
    for path in ("dir", "/", "."):
        with raises(IsADirectoryError, path):
            shell.read_file(path)


@in_session
def E07(shell: Session) -> None:
    """Content over a limit raises an error and is never cut short."""
    shell.write_file("ten", b"0123456789")
    same(shell.read_file("ten", limit_bytes=10), b"0123456789")
    with raises(ValueError, "ten"):
        shell.read_file("ten", limit_bytes=9)
    shell.step("truncate -s 60000000 sparse")
    with raises(ValueError, "sparse"):
        shell.read_file("sparse", limit_bytes=50 * MIB)
    with raises(ValueError, "huge"):
        shell.write_file("huge", bytes(64 * MIB + 1))
    with raises(OSError, "No space left"):
        shell.write_file("full", bytes(64 * MIB))


@case
def E08(testbed: Testbed) -> None:
    """Fifos, sockets, devices and links are refused without waiting, and no name leads out of the sandbox."""
    with testbed.session() as shell:
        shell.step("mkfifo pipe; ln -s /etc/shadow link; ln -s /etc etc; ln -s pipe topipe; nc -lU sock & sleep 0.3")
        with within(20):
            for path in ("pipe", "link", "topipe", "/dev/zero", "/dev/null", "/proc/1/environ", "/proc/kcore"):
                with raises((ValueError, FileNotFoundError), path):
                    shell.read_file(path)
            for path in ("pipe", "topipe", "/dev/full", "/proc/self/mem"):
                with raises((ValueError, OSError), path):
                    shell.write_file(path, b"x")
            own = shell.step("cat /etc/passwd").output.encode()
            for path in ("etc/passwd", "../../etc/passwd", "../../../../../../../etc/passwd", "etc/../etc/passwd"):
                same(shell.read_file(path), own)
        same(shell.snapshot()[-1], TreeEntry(f"{HOME}/topipe", "symlink", 0o777, target="pipe"))
    for path in (f"{HOME}/a/../../../tmp/x", f"{HOME}/..", "/etc/passwd"):
        with raises(ValueError, path):
            testbed.verify([TreeEntry(path, "file", 0o644, b"x")], "true")


@documented
@case
def E09(testbed: Testbed) -> None:
    """A tree of loops, hard links, setuid and sparse files reads the same twice; one too large is refused in time."""
    with testbed.session() as shell:
        shell.step("mkdir d; ln -s ../d d/up; ln -s me me; echo x >one; ln one two; chmod 6755 one; mkfifo p")
        many = "mkdir many; cd many; i=0; while [ $i -lt 100000 ]; do : >$i; i=$((i + 1)); done"
        step = shell.step(many, timeout_seconds=120)
        holds("No space left" in step.output, step.output)
        gives(shell, "rm 1; cd; truncate -s 60000000 sparse; stat -c %s sparse", "60000000\n")
        tree = shell.snapshot()
        same(tree == shell.snapshot(), True)
    entries = {entry.path.removeprefix(f"{HOME}/"): entry for entry in tree}
    same((entries["one"].mode, entries["one"].content, entries["two"].content), (0o6755, b"x\n", b"x\n"))
    same((entries["d/up"].target, entries["me"].target, entries["p"].type), ("../d", "me", "other"))
    same(entries["sparse"].content == bytes(60_000_000), True)
    holds(10_000 < len(entries) < 20_000, len(entries))
    with within(20), raises(SandboxError, "over"), testbed.session() as shell:
        shell.step("for i in 1 2 3 4; do truncate -s 60000000 $i; done")
        shell.snapshot()
    with within(20), host_memory(2 * TREE_BYTES), testbed.session() as shell:
        gives(shell, "truncate -s 16000000 1; for i in $(seq 2 60); do ln 1 $i; done; ls | wc -l", "60\n")
        with suppress(SandboxError):  # either is bounded: refused, or read once
            same(len(shell.snapshot()), 60)


# F: life cycle and isolation


@documented
@case
def F01(testbed: Testbed) -> None:
    """A session that was verified or has ended says so and leaves nothing; a verified one can be checked again."""
    with testbed.session() as shell:
        gives(shell, "echo alive", "alive\n")
        same((shell.verify("true").passed, shell.verify("false").passed), (True, False))
        with raises(SandboxError, "session is over"):
            shell.step("echo again")
        with raises(SandboxError, "session is over"):
            shell.snapshot()
        shell.end()
    with testbed.session() as other:
        gives(other, "echo alive", "alive\n")
        other.end()
    for gone in (shell, other):
        gone.end()
        uses = (
            ["step", "x"],
            ["verify", "x"],
            ["read_file", "x"],
            ["write_file", "x", b""],
            ["snapshot"],
            ["final_tree"],
        )
        for use, *arguments in uses:
            with raises(SandboxError):
                getattr(gone, str(use))(*arguments)
        stem = gone.container.rpartition("-")[0]
        same([name for name in sandboxes_of(RUN) if stem in name], [])


@case
def F02(testbed: Testbed) -> None:
    """A container lives no longer than its lifetime, whatever runs in it."""
    with testbed.session(lifetime_seconds=8) as shell:  # a busy machine needs seconds for the start and the first step
        gives(shell, "trap '' TERM; (while :; do sleep 1; done) & echo alive", "alive\n")
        deadline = time.monotonic() + 60
        while any(shell.container in name for name in sandboxes_of(RUN)) and time.monotonic() < deadline:
            time.sleep(0.2)
        holds(not any(shell.container in name for name in sandboxes_of(RUN)), sandboxes_of(RUN))
        with raises(SandboxError):
            shell.step("echo dead")


@case
def F03(testbed: Testbed) -> None:
    """After kill -9 of the host process its containers end; only then reap removes volumes and a stuck container."""
    with testbed.process([3600, 3600]) as (process, label):
        reap()
        containers = [name for name in sandboxes_of(label) if name.startswith("/")]
        same(len(containers), 2)
        stuck, ends = containers
        with docker_call(f"stop PID 1 of {stuck}"):
            api().kill(stuck.lstrip("/"), "SIGSTOP")
        process.kill()
        process.wait()
        deadline = time.monotonic() + 20
        while ends in sandboxes_of(label) and time.monotonic() < deadline:
            time.sleep(0.2)
        holds(ends not in sandboxes_of(label), sandboxes_of(label))
        reap()
        same(sandboxes_of(label), [])


@case
def F04(testbed: Testbed) -> None:
    """Ctrl-C during 8 parallel sessions, half of them being checked, leaves no container and no volume."""
    with testbed.process([3600] * 8, checks=4) as (process, label):
        time.sleep(0.5)
        found = api().containers(all=True, filters={"label": f"sekft.run={label}"})
        holds(len(found) >= 8, sandboxes_of(label))
        same({one["HostConfig"]["NetworkMode"] for one in found}, {"none"})
        process.send_signal(signal.SIGINT)
        process.wait(120)
        same(sandboxes_of(label), [])


@in_session
def F05(shell: Session) -> None:
    """Killing every visible process costs a step its state, removing the tools is refused, and the session goes on."""
    deadly = ("kill -9 -1", "kill -9 $PPID", "kill -9 $$", "pkill -9 dash", "pkill -9 -P 1; kill -9 $$", "exec sleep 0")
    for text in deadly:
        step = shell.step(text, timeout_seconds=5)
        same((text, step.state_stale), (text, True))
        gives(shell, "echo on", "on\n")
    for text in ("rm -rf /bin /usr/bin /lib", "rm -rf /usr/local/bin /run/op/*", "kill -9 1; kill 1; kill -STOP 1"):
        holds(shell.step(text).exit_code != 0, text)
        gives(shell, "echo on | cat", "on\n")
    same(shell.verify("true").passed, True)


@case
def F06(testbed: Testbed) -> None:
    """A command that is killed for memory is flagged `oom`; the next one is not."""
    text = "x=$(head -c 1000000000 /dev/zero | tr '\\0' x); echo no"
    with testbed.session() as shell:
        step = shell.step(text, timeout_seconds=60)
        holds(step.oom and step.exit_code != 0, (step.oom, step.exit_code))
        gives(shell, "echo fine", "fine\n")
    done = testbed.run(text, timeout_seconds=60)
    holds(done.oom and done.exit_code != 0, done)


@in_session
def F08(shell: Session) -> None:
    """There is no network: TCP, UDP, netlink and name lookups fail at once, and the only interface is loopback."""
    shell.step("true")
    no_socket = "not supported by protocol"
    for text, why in (("nc -w 3 1.1.1.1 80", no_socket), ("nslookup -timeout=3 example.com 1.1.1.1", no_socket),
                      ("nc -w 3 127.0.0.1 80", no_socket), ("nc -l -w 3 -p 8080", no_socket), ("ip a", no_socket),
                      ("nc -w 3 example.com 80", "bad address"), ("ping -c 1 example.com", "bad address")):  # fmt: skip
        for _ in range(3):  # a busy machine may need longer once
            began = time.monotonic()
            step = shell.step(text)
            took = time.monotonic() - began
            if took < 1:
                break
        holds(took < 1, f"{text}: {took:.1f} s")
        holds(step.exit_code == 1 and why in step.output, (text, step.exit_code, step.output))
    gives(
        shell, "ls /sys/class/net; tail -n +2 /proc/net/route; tail -n +3 /proc/net/dev | cut -d: -f1", "lo\n    lo\n"
    )
    own, host = shell.step("readlink /proc/self/ns/net").output.strip(), Path("/proc/self/ns/net").readlink()
    holds(own != str(host), own)


@in_session
def F09(shell: Session) -> None:
    """No Docker socket, host mount, root, capability or new privileges; seccomp is on; PID 1 is out of reach."""
    status = shell.step("cat /proc/self/status; id -u; ls /var/run/docker.sock /run/docker.sock 2>&1").output
    none = [f"Cap{which}:\t0000000000000000\n" for which in ("Inh", "Prm", "Eff", "Bnd", "Amb")]
    for line in (*none, "NoNewPrivs:\t1\n", "Seccomp:\t2\n", f"\n{OPERATOR_UID}\n"):
        holds(line in status, (line, status))
    same(status.count("No such file"), 2)
    mounts = shell.step("grep -v -e ' /proc' -e ' /sys' -e ' /dev' /proc/mounts | cut -d' ' -f2,3").output.split("\n")
    own = {"/", HOME, "/tmp", "/run/op", "/run/operator", "/usr/local/bin"}
    by_docker = {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"}
    same({line.split()[0] for line in mounts if line} - own - by_docker, set())
    same(shell.step("echo x >/proc/sys/kernel/hostname").exit_code, 2)
    holds("sleep" in shell.step("kill -9 1 2>&1; pkill -9 -u root; ps").output, "no PID 1")


@in_session
def F10(shell: Session) -> None:
    """The root file system is read-only; all that can be written is limited in size and not on the host's disk."""
    disk = Path(api().info()["DockerRootDir"])  # it is elsewhere where Docker is on another machine

    def free() -> int:
        return shutil.disk_usage(disk).free if disk.exists() else 0

    gives(shell, "ulimit -f; ulimit -n; ulimit -c", "131072\n256\n0\n")
    for place in ("/", "/etc", "/usr/bin", "/usr/local/bin", "/run", "/run/op", "/var/tmp", "/dev/shm"):
        same((place, shell.step(f": >{place}/x").exit_code), (place, 2))
    grown: list[int] = []
    while len(grown) < 3 and (not grown or min(grown) >= 100 * MIB):  # other processes write to the host's disk too
        before = free()
        for place in (HOME, "/tmp"):
            fill = f"head -c 16777216 /dev/zero >{place}/b$i 2>/dev/null"
            count = int(shell.step(f"i=0; while {fill} && [ $i -lt 9 ]; do i=$((i + 1)); done; echo $i").output)
            holds(count < 5, f"{count} times 16 MiB in {place}")
            holds("No space left" in shell.step(f"cat /etc/passwd >{place}/more").output, f"room in {place}")
        grown.append(before - free())
        gives(shell, f"stat -f -c %T {HOME} /tmp /run/operator; rm ~/b* /tmp/b*", "tmpfs\n" * 3)
    holds(min(grown) < 100 * MIB, f"{grown} bytes of the host's disk for 128 MiB written, time after time")
    same(api().diff(shell.container) or [], [])
    shell.step("head -c 70000000 /dev/zero >big")
    holds(int(shell.step("stat -c %s big").output) <= 64 * MIB, "a file of 70 MB")
    step = shell.step("mkdir i && cd i && i=0; while : >$i; do i=$((i + 1)); done; echo $i", timeout_seconds=60)
    holds("No space left" in step.output, step.output)
    gives(shell, "cd; rm -r i big; echo ok >ok; cat ok", "ok\n")


@case
def F11(testbed: Testbed) -> None:
    """The memory limit is per container: one that fills its memory and file systems does not affect another."""
    with testbed.session() as greedy, testbed.session() as other:
        other.step("X=1; echo kept >file")
        fill = "head -c 64000000 /dev/zero >~/a; head -c 64000000 /dev/zero >/tmp/a; x=$(yes); :"
        holds(greedy.step(fill, timeout_seconds=60).oom, "no oom flag")
        gives(other, 'echo "$X"; cat file', "1\nkept\n")


@case
def F13(testbed: Testbed) -> str:
    """64 sessions in parallel with 20 commands each: no failure of the sandbox, no wrong output."""

    def work(number: int) -> list[float]:
        seconds = []
        with testbed.session() as shell:
            for index in range(testbed.commands):
                began = time.monotonic()
                gives(shell, f"echo {number} {index}", f"{number} {index}\n", timeout_seconds=120)
                seconds.append(time.monotonic() - began)
        return seconds

    with ThreadPoolExecutor(testbed.parallel) as pool:
        seconds = sorted(second for some in pool.map(work, range(testbed.parallel)) for second in some)
    same(len(seconds), testbed.parallel * testbed.commands)
    p50, p99 = statistics.median(seconds), seconds[int(0.99 * len(seconds))]
    return f"{testbed.parallel} sessions, {len(seconds)} commands, per command p50 {p50:.3f} s, p99 {p99:.3f} s"


# G: verification


@case
def G01(testbed: Testbed) -> None:
    """The checker never exists in the operator's container."""
    with testbed.session() as shell:
        shell.step("(while :; do ps >>ps.txt; ls -a / /tmp /run /run/* >>ls.txt 2>&1; sleep 0.05; done) &")
        time.sleep(0.3)
        same(shell.verify("test -s ps.txt && : CHECKER_MARKER").passed, True)
        seen = b"".join(entry.content or b"" for entry in shell.final_tree())
    holds(b"CHECKER_MARKER" not in seen and b"sleep" in seen, seen[-500:])


@case
def G02(testbed: Testbed) -> None:
    """A daemon that the operator leaves behind can rewrite nothing, and neither can the checker."""
    with testbed.session() as shell:
        shell.step("echo wrong >answer; (while :; do echo right >answer; echo wrong >answer; done) & ")
        shell.step("setsid sh -c 'while :; do date >>beat; sleep 0.02; done' &")
        time.sleep(0.3)
        first = shell.verify("cat answer; cksum beat").output
        holds(first != "", "no output")
        same([shell.verify("cat answer; cksum beat").output for _ in range(3)], [first] * 3)
        same(shell.verify("echo x >answer").passed, False)


@case
def G03(testbed: Testbed) -> None:
    """Planted tools, profiles, variables and modules do not affect a checker."""
    # LD_PRELOAD need not name a real shared object: no variable of the operator's reaches a checker, whatever it says.
    fake = "#!/bin/sh\nexit 0\n"
    names = ("cat", "grep", "test", "dash", ".profile", "conftest.py", "sitecustomize.py")
    with testbed.session([Fixture(path=f"{HOME}/{name}", text=fake, mode=0o755) for name in names]) as shell:
        shell.step("echo 'exit 0' >.shrc; export ENV=$HOME/.shrc PATH=$HOME:$PATH LD_PRELOAD=$HOME/cat CDPATH=/tmp")
        shell.step("cp cat /usr/local/bin/cat; alias grep=true; echo wrong >answer; mkdir /tmp/bin; cp cat /tmp/bin")
        same(shell.verify("cat answer | grep -q right").passed, False)
        said = shell.verify("env | sort; ls -A /usr/local/bin /tmp; cat /etc/ld.so.preload").output
    same(said.split("\n")[:3], [f"HOME={HOME}", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", f"PWD={HOME}"])
    same(
        said.split("\n")[3:7],
        ["/tmp:", "", "/usr/local/bin:", "cat: can't open '/etc/ld.so.preload': No such file or directory"],
    )


@documented
@case
def G05(testbed: Testbed) -> None:
    """A checker that crashes or runs out of time neither passes nor fails; what it prints decides nothing."""
    broken = {"kill -9 $$": 137, "nosuchtool": 127, "exit 200": 200, "sleep 9": None}
    with testbed.session() as shell:
        for checker, code in broken.items():
            check = shell.verify(checker, timeout_seconds=3)
            same((checker, check.passed, check.exit_code), (checker, None, code))
            holds(bool(check.error), "no reason")
        for says in ("", "echo", "echo NaN", "echo PASS", "echo FAIL", "printf '\\000137\\000'"):
            verdicts = [shell.verify(f"{says}\nexit {code}").passed for code in (0, 1)]
            same((says, verdicts), (says, [True, False]))


@case
def G06(testbed: Testbed) -> None:
    """An honest solution loses nothing on the way to the checker: modes, links, odd names and bytes, twice over."""
    world = [
        Fixture(path=f"{HOME}/closed", type="dir", mode=0o000),
        Fixture(path=f"{HOME}/closed/in", text="x\n", mode=0o000),
        Fixture.of(f"{HOME}/-a b", bytes(range(256)), 0o640),
        Fixture(path=f"{HOME}/link", type="symlink", target="closed/in"),
    ]
    checker = """[ "$(stat -c %a closed)" = 0 ] && [ "$(cat closed/in)" = x ] && [ "$(stat -c %a -- '-a b')" = 640 ] &&
        [ "$(readlink link)" = closed/in ] && [ "$(wc -c <'-a b')" = 256 ] && cmp -- '-a b' out && [ -x run ] &&
        [ "$(stat -c %a locked)" = 311 ] && [ "$(stat -c %a locked/s)" = 4711 ] && [ "$(cat 'new
line')" = y ]"""
    with testbed.session(world) as shell:
        same(shell.verify(checker).passed, False)
    with testbed.session(world) as shell:
        shell.step("cat -- '-a b' >out; : >run; chmod +x run; mkdir locked; echo >locked/s; chmod 4711 locked/s")
        gives(shell, "chmod 311 locked; echo y >'new\nline'", "")
        check = shell.verify(checker)
        holds(check.passed is True, check)
        check = testbed.verify(shell.final_tree(), checker)
        holds(check.passed is True, check)


@case
def G07(testbed: Testbed) -> None:
    """An untouched world does not pass."""
    with testbed.session([Fixture(path=f"{HOME}/in", text="x\n")]) as shell:
        check = shell.verify("test -f out")
    same((check.passed, check.exit_code), (False, 1))


@case
def G08(testbed: Testbed) -> None:
    """The same check repeated finds the same."""
    with testbed.session([Fixture(path=f"{HOME}/in", text="x\n")]) as shell:
        shell.step("tr x y <in >out")
        same(len({shell.verify("sha256sum in out; stat -c '%a %n' *; test -s out") for _ in range(3)}), 1)
