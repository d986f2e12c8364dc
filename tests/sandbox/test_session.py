"""Sandboxes give back exactly what was laid and done in them, tell their own death apart, and leave nothing behind."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import containers, wrapper
from sandbox.checker import verify, verify_each
from sandbox.containers import RUN, SandboxError, abandoned, api, identity, preflight
from sandbox.session import Pool, Session, run, session
from sandbox.tree import TreeEntry, tree_of
from sandbox.wrapper import CHANNEL, SEEN_BYTES, Output, Report
from schema import HOME, BadInputError, Fixture
from tests.helpers import ROOT

docker_needed = pytest.mark.docker
WORLD = [
    Fixture(path=f"{HOME}/deep/er/none", text="unreadable\n", mode=0o000),
    Fixture(path=f"{HOME}/closed", type="dir", mode=0o000),
    Fixture(path=f"{HOME}/closed/in", text="x", mode=0o640),
    Fixture(path=f"{HOME}/-dash name", text="dash\n", mode=0o777),
    Fixture.of(f"{HOME}/bytes", bytes(range(256)), 0o400),
    Fixture(path=f"{HOME}/empty", text=""),
    Fixture(path=f"{HOME}/link", type="symlink", target="deep/er/none"),
    Fixture(path=f"{HOME}/loop", type="symlink", target="loop"),
    Fixture(path=f"{HOME}/out", type="symlink", target="/etc/passwd"),
]


def names_of(run_label: str) -> list[str]:
    """Containers and volumes of one run."""
    filters = {"label": f"sekft.run={run_label}"}
    boxes = [found["Names"][0] for found in containers.api().containers(all=True, filters=filters)]
    return boxes + [found["Name"] for found in containers.api().volumes(filters=filters)["Volumes"] or []]


# Trees


@docker_needed
def test_fixtures_arrive_with_every_mode_and_byte_and_are_read_back_the_same() -> None:
    with session(WORLD) as shell:
        assert shell.snapshot() == tree_of(WORLD)
        owners = shell.step("stat -c '%U %a %Y' -- '-dash name' deep deep/er bytes").output.splitlines()
        assert owners == ["operator 777 0", "operator 755 0", "operator 755 0", "operator 400 0"]
        assert shell.verify("test -f closed/in").passed
        assert shell.final_tree() == tree_of(WORLD)


@docker_needed
def test_fixtures_of_every_mode_are_laid_in_directories_of_every_mode_at_the_epoch() -> None:
    world = [Fixture(path=f"{HOME}/f{mode:03o}", text=f"{mode}", mode=mode) for mode in range(0o1000)]
    for mode in range(0, 0o1000, 9):
        world += [
            Fixture(path=f"{HOME}/d{mode:03o}", type="dir", mode=mode),
            Fixture(path=f"{HOME}/d{mode:03o}/a/d", type="dir", mode=mode),
            Fixture(path=f"{HOME}/d{mode:03o}/a/d/'\"$x\nin", text="in", mode=mode),
        ]
    out = [Fixture(path=f"{HOME}/d555/a/d/up", type="symlink", target="../../../..")]
    for fixtures in (world, world + out):
        with session(fixtures) as shell:
            assert shell.snapshot() == tree_of(fixtures)
            times = "find . -mindepth 1 -exec stat -c '%U %Y' {} + | sort | uniq -c"
            assert shell.verify(times).output.split() == [str(len(tree_of(fixtures))), "operator", "0"]


@docker_needed
def test_modes_000_to_777_and_contents_reach_the_verifier_unchanged() -> None:
    with session([]) as shell:
        loop = "for a in 0 1 2 3 4 5 6 7; do for b in 0 1 2 3 4 5 6 7; do for c in 0 1 2 3 4 5 6 7"
        shell.step(
            f"umask 0; {loop}; do echo $a$b$c >f$a$b$c; mkdir d$a$b$c; echo in >d$a$b$c/in; done; done; done",
            timeout_seconds=60,
        )
        step = shell.step(
            "for f in f*; do chmod ${f#f} $f; done; for d in d*; do chmod ${d#d} $d; done", timeout_seconds=60
        )
        assert step.exit_code == 0
        checker = """for f in f*; do
            [ "$(stat -c %a $f)" = "$(printf %o 0${f#f})" ] && [ "$(cat $f)" = ${f#f} ] || exit 1
            d=d${f#f}; [ "$(stat -c %a $d)" = "$(printf %o 0${f#f})" ] && [ "$(cat $d/in)" = in ] || exit 1
        done; [ "$(ls | wc -l)" = 1024 ]"""
        assert shell.verify(checker, timeout_seconds=120).passed
        tree = {entry.path: entry for entry in shell.final_tree()}
    assert len(tree) == 1024 + 512
    for mode in range(0o1000):
        path = f"{HOME}/f{mode:03o}"
        assert tree[path] == TreeEntry(path, "file", mode, f"{mode:03o}\n".encode())
        assert tree[f"{HOME}/d{mode:03o}"].mode == mode


@docker_needed
def test_a_tree_laid_anew_is_the_tree_that_was_read() -> None:
    with session(WORLD) as shell:
        shell.step("mkfifo pipe; ln bytes hard; mkdir 'new\nline'; chmod 1755 deep; rm link")
        tree = shell.snapshot()
        assert {entry.path: entry.type for entry in tree}[f"{HOME}/pipe"] == "other"
        listing = "find . -type f -exec sha256sum {} + | sort; find . | sort; stat -c '%a %F' deep pipe closed out"
        first = shell.verify(listing).output
    assert verify(tree, listing).output == first


@docker_needed
def test_verify_lays_nothing_but_the_tree_and_shows_it_read_only() -> None:
    tree = tree_of([Fixture(path=f"{HOME}/a", text="1\n")])
    assert verify(tree, 'test "$(ls -A)" = a && test "$(cat a)" = 1').passed
    assert not verify([], "test -e a").passed
    assert "Read-only" in verify(tree, "touch b").output


@docker_needed
def test_a_checker_has_one_capability_no_network_and_a_fixed_environment() -> None:
    with session([], environment={"LEAK": "1"}) as shell:
        shell.step("export OTHER=1")
        said = shell.verify("grep CapEff /proc/self/status; ls /sys/class/net; env | sort; pwd; ls /run/op").output
    assert said.splitlines()[:2] == ["CapEff:\t0000000000000002", "lo"]
    assert [line for line in said.splitlines() if "=" in line] == [
        f"HOME={HOME}",
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
        f"PWD={HOME}",
    ]


# The world of an operator


@docker_needed
def test_the_provider_is_roots_and_runs_and_the_environment_is_exact() -> None:
    source = '#!/bin/sh\necho "it\'s $1"\n'
    text = "see `x` $HOME 'q' \"d\"\nnext"
    with session([], provider=("/usr/local/bin/duty", source), environment={"NOTE": text}) as shell:
        assert shell.step('duty 1; printf %s "$NOTE"').output == f"it's 1\n{text}"
        assert shell.step("stat -c '%U %a' /usr/local/bin/duty").output == "root 755\n"
        assert shell.step("rm -f /usr/local/bin/duty; echo x >/usr/local/bin/duty").exit_code == 2
        assert shell.step("pwd; id -un; hostname; umask").output == f"{HOME}\noperator\nsandbox\n0022\n"
        names = {line.split("=")[0] for line in shell.step("env").output.splitlines() if "=" in line}
    assert names == {"HOME", "USER", "LOGNAME", "SHELL", "TERM", "PATH", "PWD", "NOTE"}


@docker_needed
def test_no_zombies_are_left_to_use_up_the_process_limit() -> None:
    with session([]) as shell:
        shell.step("i=0; while [ $i -lt 100 ]; do (sleep 0.1 &); i=$((i + 1)); done", timeout_seconds=60)
        assert int(shell.step("sleep 0.5; ps -o stat | grep -c Z").output) == 0


@docker_needed
def test_run_has_its_world_stdin_environment_and_code() -> None:
    done = run(WORLD, "cat; cat -- '-dash name'; echo err >&2; echo $X; exit 3", stdin=b"in\n", environment={"X": "1"})
    assert (done.stdout, done.stderr, done.exit_code) == (b"in\ndash\n1\n", b"err\n", 3)
    assert (done.timed_out, done.oom) == (False, False)


# Death


@docker_needed
def test_a_dead_sandbox_raises_and_is_never_an_output() -> None:
    with session([]) as shell:
        threading.Timer(1.0, lambda: containers.api().remove_container(shell.container, force=True)).start()
        with pytest.raises(SandboxError):
            shell.step("echo before; sleep 20")
        for _ in range(2):
            with pytest.raises(SandboxError):
                shell.step("echo again")
        with pytest.raises(SandboxError):
            shell.verify("true")
        with pytest.raises(SandboxError):
            shell.snapshot()


@docker_needed
def test_nothing_is_left_after_an_exception_inside_a_session() -> None:
    def break_off() -> None:
        with session([]) as shell:
            shell.step("sleep 60 &")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert names_of(containers.RUN) == []


@docker_needed
def test_nothing_is_left_when_booting_fails() -> None:
    with pytest.raises(SandboxError), session([], image="sekft-no-such-image"):
        pass
    file_and_parent = [Fixture(path=f"{HOME}/a", text=""), Fixture(path=f"{HOME}/a/b", text="")]
    with pytest.raises(SandboxError), session(file_and_parent):
        pass
    assert names_of(containers.RUN) == []


@docker_needed
def test_output_that_comes_together_with_the_head_of_the_engines_answer_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A busy host reads the head late, when a short command has printed already."""
    begin = http.client.HTTPResponse.begin

    def late(response: http.client.HTTPResponse) -> None:
        time.sleep(0.5)
        begin(response)

    monkeypatch.setattr(http.client.HTTPResponse, "begin", late)
    assert run([], "echo here").stdout == b"here\n"


@docker_needed
@pytest.mark.parametrize("before", ["umask", 'printf %s "$8"', "ln -s"])
def test_a_pid_1_that_is_slow_is_waited_for(before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrapper, "LAY", wrapper.LAY.replace(before, f"/bin/busybox sleep 1; {before}", 1))
    with session([Fixture(path=f"{HOME}/a", text="x\n")], environment={"B": "y"}) as shell:
        assert shell.step('cat a; echo "$B"').output == "x\ny\n"
    assert run([], "echo z").stdout == b"z\n"


@docker_needed
def test_sandboxes_end_at_once_when_their_process_is_killed() -> None:
    code = "import time, dashdocker\nwith dashdocker.session([]) as shell:\n"
    code += "    shell.step('sleep 99 &'); print(shell.container, flush=True); time.sleep(99)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert api().inspect_container(name)["State"]["Running"]
        process.kill()
    deadline = time.monotonic() + 20
    while api().containers(all=True, filters={"name": name}) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert api().containers(all=True, filters={"name": name}) == []
    assert containers.reap() >= 1, "the volume is left, and reaped"


@docker_needed
def test_a_checker_can_end_no_judge_and_leaves_nothing_to_the_next_one() -> None:
    with session([Fixture(path=f"{HOME}/a", text="1")]) as shell:
        assert shell.verify("sleep 9", timeout_seconds=0.5).error == "the checker ran past 0.5 s"
        left = "touch /tmp/left; (while :; do touch /tmp/late; done) & kill 1; kill -9 1; exit 3"
        assert shell.verify(left).exit_code == 3
        assert shell.verify("cat; ls /tmp; exit 4").output == ""
        assert shell.verify("kill -9 $$").exit_code == 137
        flood = shell.verify("head -c 9000000 /dev/zero; echo; printf '\\000%s 0\\000' x; exit 5")
        assert (flood.passed, flood.exit_code) == (False, 5)
        assert shell.verify(f'# {"x" * 100_000}\n[ "$(cat a)" = 1 ]').passed


@docker_needed
def test_a_judge_that_dies_is_no_verdict() -> None:
    with session([]) as shell:
        shell.verify("true")
        threading.Timer(0.5, lambda: containers.api().remove_container(shell.clean, force=True)).start()
        with pytest.raises(SandboxError, match="has ended"):
            shell.verify("sleep 20")


@docker_needed
def test_verify_each_lays_every_tree_whole_and_alone_and_reads_codes_as_verify_does() -> None:
    modes = [Fixture(path=f"{HOME}/m{mode:03o}", text=f"{mode}", mode=mode) for mode in range(0o1000)]
    sees = "".join(
        f'[ "$(stat -c %a m{mode:03o}) $(cat m{mode:03o})" = "{mode:o} {mode}" ] || exit 1\n' for mode in range(512)
    )
    assert [check.passed for check in verify_each([tree_of(modes), [], tree_of(modes)], sees)] == [True, False, True]
    same = (
        "stat -c '%n %a' -- * */* */*/*; find . | sort; sha256sum < bytes; readlink link loop out; cat -- '-dash name'"
    )
    with session(WORLD) as shell:
        there = shell.verify(same)
        assert verify_each([shell.final_tree()], same) == [there]


@docker_needed
def test_verify_each_leaves_no_file_and_no_process_to_the_next_tree() -> None:
    tree = tree_of(WORLD)
    haunt = "while :; do touch /tmp/late; sleep 0.1; done & "
    alone = "sleep 0.4; [ ! -e /tmp/left ] && [ ! -e /tmp/late ]; code=$?; touch /tmp/left; " + haunt + "exit $code"
    assert [check.passed for check in verify_each([tree, [], tree], alone)] == [True, True, True]
    codes = [check.exit_code for check in verify_each([tree], "exit 7") + verify_each([[]], "kill -9 $$")]
    assert codes == [7, 137]
    late, next_one = verify_each([tree, []], "[ -e bytes ] || exit 1; sleep 9", timeout_seconds=1)
    assert (late.passed, next_one.passed) == (None, False)
    assert "past 1 s" in (late.error or "")


@docker_needed
def test_remove_all_ends_what_this_process_has_open() -> None:
    with session([]) as shell:
        containers.remove_all()
        assert names_of(containers.RUN) == []
        with pytest.raises(SandboxError):
            shell.step("echo gone")


@docker_needed
def test_labels_are_on_containers_and_volumes() -> None:
    with session([]) as shell:
        container = containers.api().inspect_container(shell.container)["Config"]["Labels"]
        volume = containers.api().inspect_volume(shell.volume)["Labels"]
    for labels in (container, volume):
        assert {key: labels[key] for key in identity()} == identity()
        assert 3000 < float(labels["sekft.deadline"]) - time.time() < 4000
    assert set(identity()) == {"sekft.run", "sekft.host", "sekft.boot", "sekft.pid"}
    assert identity()["sekft.pid"].split()[0] == str(os.getpid())


def test_only_the_overdue_and_the_orphans_of_this_machine_are_abandoned() -> None:
    now = time.time()
    mine = {**identity(), "sekft.deadline": str(now + 100)}
    dead = {**mine, "sekft.pid": "4194304 1"}
    reused = {**mine, "sekft.pid": f"{os.getpid()} 1"}
    assert not abandoned(mine)
    assert abandoned(dead)
    assert abandoned(reused)
    assert not abandoned({**dead, "sekft.host": "elsewhere"})
    assert not abandoned({**dead, "sekft.boot": "another"})
    assert abandoned({**mine, "sekft.host": "elsewhere", "sekft.deadline": str(now - 1)})


# What is said to a user


@docker_needed
def test_preflight_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert preflight().startswith("sha256:")
    with pytest.raises(BadInputError, match="make image"):
        preflight("sekft-no-such-image")


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "dashdocker.py", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip


@docker_needed
def test_reap_as_a_command_twice() -> None:
    for _ in range(2):
        done = command("reap")
        assert done.returncode == 0, done.stderr
        assert '"action": "reap"' in done.stdout


def test_no_engine_is_one_line_and_exit_2() -> None:
    done = command("reap", DOCKER_HOST="unix:///nonexistent/docker.sock")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no Docker engine answers" in done.stderr


def test_no_permission_on_the_socket_says_so(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    tmp_path.chmod(0o700)
    script = (
        f"import os, sys; sys.path.insert(0, {str(ROOT)!r}); import docker, requests, schema, dashdocker\n"
        "os.setuid(65534)\n"
        "try:\n    dashdocker.preflight()\nexcept schema.BadInputError as error:\n    print(error)"
    )
    environment = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/docker.sock"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert "no permission on the Docker socket" in done.stdout, done.stderr


def test_help_is_fast_and_loads_no_docker() -> None:
    began = time.monotonic()
    assert command("--help").returncode == 0
    assert time.monotonic() - began < 5
    code = "import sys, dashdocker; print([m for m in ('docker', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


# The engine's own script


@pytest.fixture
def own_engine() -> Iterator[dict[str, str]]:
    """Where an engine of the test's own may live, with what a killed one leaves there; ended afterwards."""
    if os.getuid() != 0:
        pytest.skip("only root can start an engine")
    with tempfile.TemporaryDirectory(prefix="sekft-", dir="/tmp") as name:
        place = Path(name)
        names = {"SOCKET": "s", "PID_FILE": "pid", "DATA_ROOT": "data", "EXEC_ROOT": "exec", "LOG": "log"}
        environment = {key: str(place / value) for key, value in names.items()}
        (place / "pid").write_text("4194303\n")
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(environment["SOCKET"])
        yield environment
        with contextlib.suppress(OSError, ValueError):
            pid = int((place / "pid").read_text())
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + 20
            while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
                time.sleep(0.1)


@docker_needed
def test_engine_script_starts_one_past_stale_files_and_uses_it_the_second_time(own_engine: dict[str, str]) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "DOCKER_HOST"} | own_engine
    command = [str(ROOT / "runs" / "engine.sh"), "--bridge=none", "--iptables=false"]
    first = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert first.returncode == 0, first.stderr
    assert "removing the stale pid file" in first.stderr
    assert "removing the socket" in first.stderr
    second = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (second.returncode, second.stderr) == (0, f"== engine: one answers at unix://{own_engine['SOCKET']}\n")


def test_engine_script_never_starts_one_in_place_of_the_one_that_was_named() -> None:
    environment = {**os.environ, "DOCKER_HOST": "unix:///nonexistent.sock"}
    done = subprocess.run([ROOT / "runs" / "engine.sh"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("engine.sh: no engine answers at DOCKER_HOST=")


# The pool


@docker_needed
def test_a_pool_hands_each_sandbox_out_once_and_leaves_none() -> None:
    used = []
    with Pool(2, most=5) as pool:
        for number in range(5):
            while number < 3 and not pool.full():
                time.sleep(0.05)
            with session([], environment={"N": str(number)}) as shell:
                assert shell.step("echo $N; ls -A; : >mine").output == f"{number}\n"
                used.append(shell.container)
    assert len(set(used)) == 5
    assert api().containers(all=True, filters={"label": f"sekft.run={RUN}"}) == []
    assert not pool.full()


@docker_needed
def test_a_sandbox_that_waits_in_a_pool_uses_no_processor_time() -> None:
    with Pool(1, most=1) as pool:
        while not pool.full():
            time.sleep(0.05)
        (name,) = [found["Id"] for found in api().containers(filters={"label": f"sekft.run={RUN}"})]

        def used() -> int:
            return int(api().stats(name, stream=False, one_shot=True)["cpu_stats"]["cpu_usage"]["total_usage"])

        time.sleep(0.5)
        before = used()
        time.sleep(1)
        assert used() - before < 50_000_000  # nanoseconds


def test_whatever_inherits_the_channel_can_be_executed_but_not_read() -> None:
    """Only the step's own shell, which has none of it, comes from a program file that `/proc` then shows."""
    readable = re.findall(r"(?<!libexec)(?:/usr)?/bin/\S+.*", CHANNEL)
    assert len(readable) == 1
    assert readable[0].endswith("setsid /usr/bin/dash sh 3<&0 </dev/null 2>&1 4>&- 6>&-")


@docker_needed
def test_a_sandbox_whose_host_hangs_ends_by_itself_before_its_world_is_laid() -> None:
    worlds = [Session(containers.IMAGE, 2.0) for _ in range(2)]
    try:
        assert worlds[1]._pid_1 is not None
        worlds[1]._pid_1.send(b"100000\nhalf a tar")
        worlds[1]._pid_1.flush(5.0)
        deadline = time.monotonic() + 30
        alive = {f"/{world.container}" for world in worlds}
        assert alive <= set(names_of(RUN))
        while alive & set(names_of(RUN)):
            assert time.monotonic() < deadline
            time.sleep(0.2)
    finally:
        for world in worlds:
            world.end()


@docker_needed
def test_a_sandbox_from_a_pool_has_as_much_more_as_it_may_have_waited() -> None:
    with session([], lifetime_seconds=50.0) as shell:
        assert "sleep 50\n" in shell.step("ps").output
    with Pool(1, lifetime_seconds=50.0) as pool:
        while not pool.full():
            time.sleep(0.05)
        with session([], lifetime_seconds=50.0) as shell:
            assert "sleep 350\n" in shell.step("ps").output


@docker_needed
def test_a_lone_surrogate_is_refused_and_costs_nothing_and_an_escaped_byte_arrives() -> None:
    with session([]) as shell:
        for text in ("echo \ud800", "echo a", "echo \udfff", "echo b"):
            if text.isascii():
                assert shell.step(text).exit_code == 0
            else:
                with pytest.raises(ValueError, match="lone surrogate at 5"):
                    shell.step(text)
        assert shell.step("printf '\udcff'").exit_code == 0
        assert shell.raw == b"\xff"


HEREDOCS = {
    "cat <<E\nx": True, "cat <<E\nx\\": True, "cat <<E\nx\n)": True, "cat <<A <<B\nx\nA\ny": True, "(a <<E": True,
    "cat <<-E\nx\n E": True, "if true; then cat <<E\nx\n": True, "{ cat <<E\nx\n}": True, "echo $(cat <<E\nx\n)": True,
    "cat <<-E\nx\n\tE": False, "if true; then cat <<E\nx\nE\nfi": False, "echo '<<' \\": False,
    "echo $((1 << 2))": False, "if true; then (echo '<<'": False, "echo '<<": False, "case '<<' in a) echo;;": False,
    "echo $((1 <<": False, "for i in '<<'; do": False, ")\ncat <<E\nx": False, "echo '<<' |": False, "cat <<": False,
    "eval 'cat <<E\nx'": False, "echo `cat <<E\nx`": False,  # these are texts of their own
}  # fmt: skip


@docker_needed
def test_a_heredoc_is_open_wherever_the_shell_itself_takes_the_rest_of_the_text_for_it() -> None:
    with session([]) as shell:
        assert {text: shell.step(text).open_heredoc for text in HEREDOCS} == HEREDOCS


# Reading the stream


@pytest.mark.parametrize("at", [0, 7, 11, 12])
def test_a_report_is_read_the_same_however_the_stream_is_cut(at: int) -> None:
    printed, closing, mark = b"out\0put \0ab", b"\0abc 3 1 0 0 /a b\0abc\0", b"\0xyz\0"
    marked = printed + mark if at < 12 else printed  # the last words may come first, within, or last
    rest = marked[:at] + closing + marked[at:] if at < 12 else printed + mark + b"late" + closing
    stream = b"of an earlier step \0abc\0" + b"\0abc 7 5\0" + rest
    for size in range(1, len(stream) + 1):
        report = Report("abc", "xyz")
        done = [report.take(1, stream[at : at + size]) for at in range(0, len(stream), size)]
        assert done[-1]
        assert not any(done[:-1])
        assert (report.session, report.closing) == ([b"7", b"5"], [b"3", b"1", b"0", b"0", b"/a b"])
        assert report.output.kept() == printed


@pytest.mark.parametrize(
    "words", ["x 2 0 0 /", "0 9 0 0 /", "0 2 2 0 /", "0 2 0 y /", "0 2 0", "0 2 0 " + "9" * 5000 + " /"]
)
def test_last_words_that_mean_nothing_are_none(words: str) -> None:
    report = Report("abc", "xyz")
    assert not report.take(1, f"\0abc 7 5\0out\0xyz\0\0abc {words}\0abc\0".encode())
    assert (report.closing, report.output.kept()) == (None, b"out")


@pytest.mark.parametrize("size", [0, 1, SEEN_BYTES, SEEN_BYTES + 1, SEEN_BYTES * 3, 100_000])
def test_output_counts_exactly_and_keeps_both_ends(size: int) -> None:
    data = bytes(65 + number % 26 for number in range(size))
    output = Output(SEEN_BYTES * 4)
    for at in range(0, size, 777):
        output.add(data[at : at + 777])
    assert output.total == size
    kept = output.kept()
    assert len(kept) == min(size, SEEN_BYTES * 4)
    half = SEEN_BYTES // 2
    if size <= SEEN_BYTES:
        assert output.text() == data.decode()
    else:
        left_out = size - 2 * half
        assert output.text() == f"{data[:half].decode()}\n[... {left_out} bytes left out ...]\n{data[-half:].decode()}"
