"""Attacks by an operator are refused or bounded; host, neighbours, channel and verdict are not affected.

Limits that honest commands meet too are conformance cases: C12, C13, F05, F06, F08 to F11, G01 to G08.
"""

import os
import resource
import shlex
import shutil
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox import containers, session as session_module
from sandbox.checker import verify_each
from sandbox.containers import HOME_INODES, MEMORY_BYTES, SandboxError, api
from sandbox.pool import POOL_SECONDS
from sandbox.session import PATH_BYTES, LockedOutError, Session, session
from sandbox.tree import TREE_BYTES, TreeEntry
from sandbox.wrapper import RAW_BYTES, SEEN_BYTES, request
from schema import HOME, VOIDED, Fixture, Step
from tests.helpers import ROOT
from tests.helpers.hand_scenarios import BASE, hand
from tests.helpers.rollouts import Scripted, play

pytestmark = pytest.mark.docker
MIB = 1 << 20


@dataclass(frozen=True)
class Attack:
    """An attack: what the operator types and what must hold of the step; `ends_it`: the sandbox may be given up."""

    name: str
    does: str
    holds: Callable[[Step], bool]
    seconds: float = 30
    ends_it: bool = False


def lacks(word: str) -> Callable[[Step], bool]:
    """The word is not in the output."""
    return lambda step: word not in step.output


def says(*words: str) -> Callable[[Step], bool]:
    """One of the words is in the output."""
    return lambda step: any(word in step.output for word in words)


PLACES = f"{HOME} /tmp /run/operator /run/op /usr/local/bin /run /dev /dev/mqueue /var/tmp /etc /"
BOUNDS = [
    Attack("fork bomb", "bomb() { bomb | bomb & }; bomb; sleep 9", says("Cannot fork"), seconds=5, ends_it=True),
    Attack("as many processes as there may be", "while :; do sleep 600 & done", says("Cannot fork"), ends_it=True),
    Attack("memory, in one process", "tail /dev/zero", lambda step: step.oom, seconds=60),
    Attack("memory, in many", "for i in 1 2 3 4; do tail /dev/zero & done; wait", lambda step: step.oom, seconds=120),
    Attack("disk, in every place", f"for d in {PLACES}; do dd if=/dev/zero of=$d/f bs=1M count=300; done 2>/dev/null; "
           f"for d in {PLACES}; do [ $d = / ] || [ $(du -sm $d | cut -f1) -le 64 ] || echo full; done",
           lacks("full"), seconds=120),
    Attack("inodes",
           f"for d in {HOME} /tmp /run/operator; do cd $d; touch $(seq 16500); ls | wc -l; done 2>/dev/null",
           lambda step: [int(count) <= HOME_INODES for count in step.output.split()] == [True] * 3, seconds=120),
    Attack("a file larger than one may be",
           "truncate -s 1000000000000 f; dd if=/dev/zero of=f bs=1M count=99; stat -c %s f",
           lambda step: int(step.output.split()[-1]) <= 64 * MIB),
    Attack("output without an end", "yes", lambda step: step.timed_out and step.output_bytes > MIB, seconds=1),
    Attack("1 GiB of output", "dd if=/dev/zero bs=1M count=1024 2>/dev/null",
           lambda step: step.timed_out or step.output_bytes == 1 << 30, seconds=60),
    Attack("more open files than it may have", "ulimit -n 4096 && echo done", lacks("done")),
    Attack("more than one core", "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2>/dev/null",
           says("100000")),
    Attack("3 MB of variables", "export X=$(head -c 3000000 /dev/zero | tr '\\0' x)", lambda step: step.state_stale),
]  # fmt: skip
TRIES = {  # each of these must fail
    "raw sockets": ["ping -c 1 -W 1 127.0.0.1", "traceroute 127.0.0.1", "arping -c 1 127.0.0.1"],
    "mounts": ["mount -t tmpfs none /tmp", "mount -o remount,rw /", "umount /proc", "mount --bind / /tmp",
               "mount -t proc none /tmp", "swapon /tmp", "losetup -f /tmp"],
    "device nodes": ["mknod b b 8 0", "mknod c c 1 1", "mknod /tmp/b b 8 0"],
    "other namespaces": ["unshare -r true", "unshare -m true", "chroot / true",
                         *(f"nsenter -t 1 --{kind} true" for kind in ("mount", "net", "pid", "ipc", "uts", "user"))],
    "PID 1": [*(f"cat /proc/1/{name}" for name in ("environ", "mem", "maps", "exe", "root", "fd/0", "fd/1", "stack")),
              "ls /proc/1/fd", "ls /proc/1/cwd/", "kill -9 1", "kill 1", "kill -STOP 1", "pkill -u root"],
    "the kernel's settings": [
        *(f": >>/proc/{name}" for name in ("sys/kernel/core_pattern", "sys/kernel/hostname", "sys/vm/drop_caches",
                                           "sys/net/ipv4/ip_forward", "sysrq-trigger", "irq/default_smp_affinity")),
        ": >>/sys/kernel/uevent_helper", ": >>/sys/fs/cgroup/memory/cgroup.procs", ": >>/sys/fs/cgroup/cgroup.procs",
        "echo -1000 >/proc/self/oom_score_adj", "hostname x", "ip link set lo down", "ip route add default dev lo",
        "dmesg >d && [ -s d ]", "renice -5 $$", "insmod x", "ulimit -n 4096",
    ],
    "the kernel's memory": [f"head -c 1 {name} | grep ." for name in ("/proc/kcore", "/dev/mem", "/dev/kmsg")],
    "root by a file's mode": ["cp /bin/busybox su; chmod 6755 su; ./su -c true", "su -c true", "chown 0 su",
                              "setpriv --reuid 0 true"],
    "the tools of the image": [
        f"{what} {name}" for what in ("rm -f", "mv -t .", "chmod 777", ": >")
        for name in ("/bin/sh", "/bin/busybox", "/usr/bin/dash", "/usr/libexec/dash", "/run/op/channel", "/run/op/sh")
    ],
    "new tools beside them": [f": >{place}/tar" for place in ("/bin", "/usr/bin", "/usr/local/bin", "/usr/libexec")],
    "what may only be executed": ["cat /usr/libexec/dash", "cp /usr/libexec/busybox b", "readlink /proc/$PPID/exe"],
}  # fmt: skip


@pytest.fixture(scope="module")
def neighbour() -> Iterator[Session]:
    """Another sandbox, which no attack may affect."""
    with session([]) as shell:
        shell.step("X=kept; echo untouched >file")
        yield shell


def available() -> int:
    """Bytes of memory that the host has left; its other processes change it too."""
    lines = Path("/proc/meminfo").read_text().splitlines() if Path("/proc/meminfo").exists() else []
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), 0)


def free_disk() -> int:
    """Bytes of disk that Docker has left on this host; other processes change it too."""
    root = Path(api().info()["DockerRootDir"])
    return shutil.disk_usage(root).free if root.exists() else 0


def require_untouched(shell: Session, neighbour: Session) -> None:
    """Fail unless the attack stayed in its container, and the container within its limits."""
    step = neighbour.step('echo "$X"; cat file; echo more >>log && rm log', timeout_seconds=60)
    assert (step.output, step.exit_code) == ("kept\nuntouched\n", 0)
    with suppress(SandboxError):
        shell._require_alive()
        assert not api().diff(shell.container)
        used = api().stats(shell.container, stream=False, one_shot=True)
        memory = used["memory_stats"]
        assert memory["limit"] == MEMORY_BYTES
        assert max(memory["usage"], memory.get("max_usage", 0)) <= MEMORY_BYTES
        assert used["pids_stats"]["current"] <= used["pids_stats"]["limit"] == 256


@pytest.mark.parametrize("attack", BOUNDS, ids=lambda attack: attack.name)
def test_attack_stays_in_its_sandbox(attack: Attack, neighbour: Session) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    disk, memory = played(attack, neighbour)
    for _ in range(2):  # the host's other processes write and grow too, hardly in each of three attacks
        if disk < 512 * MIB and memory < 2048 * MIB:
            break
        disk, memory = map(min, (disk, memory), played(attack, neighbour))
    assert disk < 512 * MIB
    assert memory < 2048 * MIB
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10 < 64 * MIB


def played(attack: Attack, neighbour: Session) -> tuple[int, int]:
    """How many bytes the host has less of disk and of memory after an attack, which must be bounded in its sandbox."""
    memory, disk = available(), free_disk()
    with session([]) as shell:
        step = shell.step(attack.does, timeout_seconds=attack.seconds)
        assert attack.holds(step), step
        require_untouched(shell, neighbour)
        disk -= free_disk()
        try:
            said = shell.step("echo on", timeout_seconds=60).output
            assert said == "on\n" or (attack.ends_it and said == "")
        except LockedOutError:
            assert attack.ends_it
        return disk, memory - available()


@pytest.mark.parametrize("what", TRIES)
def test_escape_is_refused(what: str, neighbour: Session) -> None:
    text = "\n".join(f"( {one} ) >/dev/null 2>&1 && echo {shlex.quote(one)}" for one in TRIES[what])
    with session([]) as shell:
        step = shell.step(text, timeout_seconds=60)
        assert (step.output, step.timed_out, step.state_stale) == ("", False, False)
        require_untouched(shell, neighbour)


def test_page_has_every_limit() -> None:
    page = (ROOT / "docs" / "sandbox.md").read_text()
    rows = {
        "swap": f"{MEMORY_BYTES >> 20} MiB; none",
        "home directory": f"{containers.HOME_BYTES >> 20} MiB, {HOME_INODES:,} inodes",
        "open files": f"{containers.OPEN_FILES}; {containers.FILE_BYTES >> 20} MiB; none",
        "queued signals": f"{containers.QUEUED_SIGNALS}; none",
        "lifetime": f"{containers.LIFETIME_SECONDS:,.0f} s; {POOL_SECONDS:g} s more from a pool",
        "output of a step": f"{RAW_BYTES >> 20} MiB; {SEEN_BYTES >> 10} KiB",
        "read back": f"{TREE_BYTES >> 20} MiB",
    }
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    assert [what for what, figure in rows.items() if not any(what in line and figure in line for line in lines)] == []


def test_signals_and_messages_that_the_kernel_queues_are_limited() -> None:
    with session([]) as shell:
        found = shell.step("grep -e pending -e msgqueue /proc/self/limits").output.split("\n")
    assert [line.split()[3:5] for line in found if line] == [[f"{containers.QUEUED_SIGNALS}"] * 2, ["0", "0"]]


def test_checker_container_has_the_same_limits() -> None:
    with session([]) as shell:
        shell.verify("true")
        found = api().inspect_container(shell.checker_container)
    host = found["HostConfig"]
    assert (host["Memory"], host["MemorySwap"], host["PidsLimit"], host["NanoCpus"]) == (MEMORY_BYTES,) * 2 + (
        256,
        10**9,
    )
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["CapDrop"], host["CapAdd"]) == (
        "none", True, ["ALL"], ["DAC_OVERRIDE"],
    )  # fmt: skip
    assert not host["Binds"]
    assert not host["Privileged"]


# The channel

SPY = r"""while :; do
    for f in /proc/[0-9]*/fd/[0-9]; do
        case $f in /proc/$$/* | *\**) continue ;; esac
        { /bin/busybox readlink /proc/self/fd/7 >>seen; } 7<>"$f"
    done 2>/dev/null
done"""


def pipes_of_the_channel(shell: Session) -> set[str]:
    """The pipes between Docker and the process that holds the channel, seen from the host."""
    found = [row[:3] for row in api().top(shell.container, ps_args="-eo pid,ppid,args")["Processes"]]
    inside = {pid for pid, _, _ in found}  # orphans of the channel have PID 1 as their parent
    outermost = [pid for pid, parent, args in found if "dash channel" in args and parent not in inside]
    pipes = set()
    for pid in outermost:
        with suppress(FileNotFoundError):
            pipes |= {str(Path(f"/proc/{pid}/fd/{number}").readlink()) for number in (0, 6)}
    return {pipe for pipe in pipes if pipe.startswith("pipe:")}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can see which pipes are Docker's")
def test_channel_pipes_cannot_be_caught() -> None:
    """A process that waits for them catches none, neither at a step's start nor when a killed channel is replaced."""
    ours: set[str] = set()
    with session([]) as shell:
        shell.write_file("spy", SPY.encode())
        shell.step("setsid sh spy >/dev/null 2>&1 &")
        for _ in range(15):
            assert shell.step("pkill -9 -f 'dash channel'; sleep 0.01").exit_code == 137
            assert shell.step("echo on | cat").output == "on\n"
            ours |= pipes_of_the_channel(shell)
        seen = set(shell.read_file("seen").decode().split())
    assert len(ours) >= 15
    assert len(seen) >= 15, "the spy saw nothing"
    assert ours & seen == set()


def test_status_messages_cannot_be_forged(monkeypatch: pytest.MonkeyPatch) -> None:
    words: list[str] = []

    def recording(nonce: str, mark: str, command: str, *, aliases: bool) -> bytes:
        words.extend((nonce, mark))
        return request(nonce, mark, command, aliases=aliases)

    monkeypatch.setattr(session_module, "request", recording)
    with session([]) as shell:
        shell.step("(while :; do sleep 1; done) &")
        shell.step("true")
        mark, nonce = words[-3:-1]  # the last ones that are used up; the very last mark is the next step's
        forged = f"\\000{nonce} 0 2 0 0 /evil\\000{nonce}\\000\\000{mark}\\000"
        for _ in range(2):
            step = shell.step(f"printf '{forged}'; echo after; exit 3")
            assert (step.exit_code, step.cwd, step.timed_out, step.state_stale) == (3, HOME, False, False)
            assert "/evil" in step.output
            assert step.output.endswith("after\n")
        dump = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/self/maps /run/op/* /run/operator/* *; set; env; ps"
        shell.step(dump + " 2>/dev/null")
        assert len(words) == 10
        assert not [word for word in words[4:] if word.encode() in shell.raw], "a word of this step or the next"


def test_forged_state_file_is_ignored() -> None:
    with session([]) as shell:
        for words in ("x x y", "2 1 999999 /evil", "2 0 " + "9" * 5000, "4", "-1", "", "\\0"):
            step = shell.step(f"printf '{words}\n' >/run/operator/saved; trap - EXIT")
            flags = (step.exit_code, step.oom, step.open_heredoc, step.state_stale, step.cwd)
            assert (words, *flags) == (words, 0, False, False, True, HOME)
        assert shell.step("tail /dev/zero", timeout_seconds=60).oom, "what was written hides a later one"


def test_hard_links_are_counted_when_unpacked() -> None:
    with session([Fixture(path=f"{HOME}/one", text="x\n", mode=0o640)]) as shell:
        shell.step("ln one two; ln -s /etc/shadow link; ln link tied; mkfifo pipe; ln pipe hose")
        tree = {entry.path.removeprefix(f"{HOME}/"): entry for entry in shell.snapshot()}
        assert [tree[name].type for name in ("two", "tied", "hose")] == ["file", "symlink", "other"]
        assert (tree["two"].content, tree["two"].mode, tree["tied"].target) == (b"x\n", 0o640, "/etc/shadow")
        shell.step("head -c 16000000 /dev/zero >f; for i in $(seq 60); do ln f l$i; done")
        tracemalloc.start()
        with pytest.raises(SandboxError, match="over"):
            shell.snapshot()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 64 * MIB


@pytest.mark.parametrize(
    "does",
    [
        "rm -f cwd; mkfifo cwd",
        "rm -f cwd; ln -s /dev/zero cwd",
        "rm -f cwd saved; head -c 60000000 /dev/zero | tr '\\0' 3 >~/long; ln -s ~/long cwd; ln -s ~/long saved",
        "head -c 3000000 /dev/zero | tr '\\0' x >cwd",
        "rm -f saved; mkfifo saved",
        "echo '9 9 9' >saved",
        "rm -f state; ln -s /dev/zero state",
        "rm -rf /run/operator/*; mkdir cwd saved even odd turn",
        "kill -STOP -1",
    ],
)
def test_damaged_state_files_do_not_hang_a_session(does: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "DOCKER_SECONDS", 5.0)
    with session([]) as shell:
        began = time.monotonic()
        with suppress(LockedOutError):
            for text in (f"cd /run/operator; trap : EXIT; {does}", "rm -rf /run/operator/*", "cd; echo on"):
                step = shell.step(text, timeout_seconds=2)
                assert len(step.cwd) <= PATH_BYTES
            assert step.output == "on\n"
        assert time.monotonic() - began < 60
        with suppress(SandboxError):
            assert shell.verify("exit 3").exit_code == 3


def test_state_behind_a_link_to_a_long_file_is_not_read() -> None:
    with session([]) as shell:
        shell.step("head -c 60000000 /dev/zero | tr '\\0' 3 >long; trap : EXIT; ln -sf ~/long /run/operator/cwd")
        step = shell.step("trap : EXIT; echo on", timeout_seconds=10)
    assert (step.output, step.exit_code, step.cwd) == ("on\n", 0, HOME)
    assert step.duration_seconds < 5


def test_killed_kill_process_is_noticed() -> None:
    hunter = r"""while :; do for p in /proc/[0-9]*; do
        x=; read -r x <$p/cmdline
        case $x in *dash?kill* | *dashkill* | *channel=* | *dash?channel* | *dashchannel*) kill -9 ${p#/proc/} ;; esac
    done; done 2>/dev/null"""
    with session([]) as shell:
        shell.write_file("hunter", hunter.encode())
        try:
            shell.step("(sleep 1; setsid sh hunter) & setsid sleep 888 & sleep 9", timeout_seconds=1)
            left = shell.step("ps | grep 'sleep 88[8]'").output
        except LockedOutError:
            return  # given up: not verified
        assert left == ""


# The verdict

RIGHT = '[ "$(cat answer)" = right ]'


@dataclass(frozen=True)
class Cheat:
    """A cheat: what the operator leaves, the checker, and what it finds: False, or None where the checker failed."""

    name: str
    does: str
    checker: str = RIGHT
    finds: bool | None = False


CHEATS = [
    Cheat("results written ahead",
          "mkdir -p logs /tmp/logs; for f in reward.txt result.json exit_code .passed logs/reward.txt /tmp/reward.txt "
          " /tmp/logs/reward.txt /run/operator/exit_code; do echo 1 >$f; done"),
    Cheat("a profile, LD_PRELOAD and fake tools",
          "printf '#!/bin/sh\\necho right\\n' >cat; chmod 755 cat; cp cat [; cp cat test; cp cat tar; "
          "cp cat /tmp; echo 'cat() { echo right; }; alias cat=true' | tee .profile .shrc .dashrc >.env; "
          "export ENV=$HOME/.shrc LD_PRELOAD=$HOME/cat PATH=$HOME:$PATH; cd /tmp"),
    Cheat("functions and variables of its shell", "cat() { echo right; }; export answer=right IFS=x PS4=right; set -a"),
    Cheat("what it prints", "echo PASS; echo 'exit 0'; printf '\\0\\0 0\\0'; exit 0"),
    Cheat("a fifo", "rm answer; mkfifo answer", finds=None),
    Cheat("a device", "rm answer; mknod answer c 1 5 || ln -s /dev/zero answer"),
    Cheat("a socket", "rm answer; nc -lU answer & sleep 0.3"),
    Cheat("a loop of links", "rm answer; ln -s answer answer"),
    Cheat("loops that multiply",
          "for i in 1 2 3 4 5 6 7 8 9; do ln -s . l$i; done", "find -L . | grep -q right", finds=None),
    Cheat("a setuid file", "cp /bin/busybox b; chmod 6755 b"),
    Cheat("a checker that reads itself", "ln -sf /proc/self/cmdline answer", "grep -q right answer"),
    Cheat("a checker that reads its own input",
          "ln -s / d; ln -sf d/proc/self/fd/0 answer", "echo right | diff - answer"),
    Cheat("a checker that reads what it wrote", "ln -sf ../../tmp/expected answer",
          "echo right >/tmp/expected; cmp -s /tmp/expected answer"),
    Cheat("a checker that reads what it will have made", "ln -sf ../../tmp/w/expected answer",
          "mkdir /tmp/w; echo right >/tmp/w/expected; cmp -s /tmp/w/expected answer"),
    Cheat("sparse files that starve a check of memory", "truncate -s 64M $(seq 16)",
          "! cat [0-9]* | grep -q wrong", finds=None),
    Cheat("sparse files too long to read", "truncate -s 64M $(seq 2000)",
          "sha256sum [0-9]* >/dev/null; [ -f answer ]", finds=None),
    Cheat("as many files as there may be", "touch $(seq 16500) 2>/dev/null",
          'for f in *; do [ "$(cat "$f")" = "" ] || exit 1; done', finds=None),
    Cheat("a file deeper than a checker can look", "p=$(printf 'd/%.0s' $(seq 1500)); mkdir -p $p; mv answer $p",
          '[ -z "$(find . -name answer)" ]', finds=None),
]  # fmt: skip


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda cheat: cheat.name)
def test_cheat_does_not_pass(cheat: Cheat) -> None:
    with session([Fixture(path=f"{HOME}/answer", text="wrong\n")]) as shell:
        shell.step(f"cd; {cheat.does}", timeout_seconds=120)
        began = time.monotonic()
        check = shell.verify(cheat.checker, timeout_seconds=3)
        assert time.monotonic() - began < 60
        assert check.passed is cheat.finds, check
        assert (check.error is None) == (cheat.finds is False)


HONEST: dict[str, str] = {
    "all files that there may be": "echo right >answer; touch $(seq 16500) 2>/dev/null",
    "sparse files": "echo right >answer; truncate -s 64M $(seq 16)",
    "links within the world, broken ones and one to nothing":
        "mkdir tmp dev; echo right >tmp/answer; ln -s tmp/answer answer; ln -s dev/x a; ln -s ../tmp dev/tmp; "
        f"ln -s b b; ln -s /dev/null n; "
        f"ln -s {HOME}/tmp t; ln -s t/missing m; ln -s /usr/bin/dash s; ln -s 'two\nlines' l",
    "an answer that nobody may read": "umask 777; echo right >answer; chmod 000 .",
    "fifos beside the answer": "echo right >answer; mkfifo p; mkfifo q",
    "a daemon that writes elsewhere": "echo right >answer; (while :; do date >beat; done) &",
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_honest_answer_passes(name: str) -> None:
    with session([]) as shell:
        shell.step(HONEST[name], timeout_seconds=120)
        check = shell.verify(RIGHT, timeout_seconds=30)
    assert check.passed, check


LEADS_OUT = [
    ["/tmp/x/y"], ["/./tmp/x/y"], ["//tmp//x"], ["../../tmp/x/y"], ["missing/../../../tmp/x"], ["/bin/../../tmp/x"],
    ["/proc/21/cmdline"], ["/./proc/21/cmdline"], ["../../proc/self/fd/0"], ["/etc/mtab"], ["/dev/zero"], ["/dev"],
    ["/run/operator/x"], ["/"], ["../.."], ["/", "0/tmp/x"], ["..", "0/..", "1/./proc/21/cmdline"], ["/tmp/../etc/x"],
    ["é\udcff\n/../../../tmp/x"], ["./" * 1000 + "../../tmp/x"], ["/tmp/x", *map(str, range(39))],
]  # fmt: skip
STAYS = [
    ["0"], ["1", "0"], ["gone/x"], ["/home/operator/gone"], ["tmp/x"], ["./proc/../tmp/./x"], ["..", "0/operator/x"],
    ["/dev/null"], ["/usr/bin/dash"], ["/bin/sh"], ["/etc/passwd"], ["/usr/../etc/gone"], ["/var/log/gone"],
    ["-> /tmp"], ["' -> '/tmp/x"], ["two\n' -> '/tmp/x'\n"], ["/home/operator/tmp/", "0/x"], ["é\udcff"],
    [*map(str, range(1, 60)), "x"],
]  # fmt: skip


def test_links_out_of_the_world_fail_the_check() -> None:
    """Each row is a world of links named 0, 1, 2, ...; the last two are links in a directory with an odd name."""
    odd = TreeEntry(f"{HOME}/a' -> 'b\n", "dir", 0o755)
    trees = [
        [odd, *(TreeEntry(f"{HOME}/{number}", "symlink", 0o777, target=to) for number, to in enumerate(links))]
        for links in [*LEADS_OUT, *STAYS]
    ]
    trees += [[odd, TreeEntry(f"{odd.path}/l", "symlink", 0o777, target="../../../tmp/x")]]
    trees += [[odd, TreeEntry(f"{odd.path}/l", "symlink", 0o777, target="../../tmp/x")]]
    found = [check.passed for check in verify_each(trees, "true")]
    wrong = [links for links, passed in zip(LEADS_OUT, found, strict=False) if passed is not False]
    wrong += [links for links, passed in zip(STAYS, found[len(LEADS_OUT) :], strict=False) if not passed]
    assert (wrong, found[-2:]) == ([], [False, True])


def test_many_links_are_checked_in_time() -> None:
    links = [TreeEntry(f"{HOME}/{n}", "symlink", 0o777, target=f"gone/{n}/../x") for n in range(HOME_INODES - 1)]
    assert verify_each([links], "true", timeout_seconds=10)[0].passed


def test_hanging_checker_is_not_verified_and_not_void() -> None:
    scenario = hand()
    commands = [*BASE["reference_solution"], "rm -f sorted.txt; mkfifo sorted.txt", "exit"]
    trajectory = play(Scripted(*commands), scenario, seed=0, max_steps=9, timeout_seconds=2)
    assert (trajectory.outcome, trajectory.verified, trajectory.kept) == ("checker_failed", False, False)
    assert trajectory.outcome not in VOIDED
    assert trajectory.error
