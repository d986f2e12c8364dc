"""A session runs commands on exactly the files that it was given, reports a dead sandbox, and leaves nothing."""

import threading
import time
from contextlib import ExitStack

import pytest

from sandbox import wrapper
from sandbox.conformance import sandboxes_of
from sandbox.containers import RUN, SandboxError, SandboxOptions, api
from sandbox.oneshot import run
from sandbox.session import Session, session
from sandbox.tree import TreeEntry, tree_of
from schema import HOME, Fixture
from tests.helpers.worlds import WORLD

docker_needed = pytest.mark.docker
# Trees


@docker_needed
def test_fixtures_are_read_back_unchanged() -> None:
    with session(WORLD) as shell:
        assert shell.snapshot() == tree_of(WORLD)
        owners = shell.step("stat -c '%U %a %Y' -- '-dash name' deep deep/er bytes").output.splitlines()
        assert owners == ["operator 777 0", "operator 755 0", "operator 755 0", "operator 400 0"]
        assert shell.verify("test -f closed/in").passed
        assert shell.final_tree() == tree_of(WORLD)


@docker_needed
def test_fixtures_of_every_mode_are_written() -> None:
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
def test_checker_sees_every_mode_and_content() -> None:
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


# The world of an operator


@docker_needed
def test_provider_belongs_to_root_and_environment_is_exact() -> None:
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
def test_zombies_are_reaped() -> None:
    with session([]) as shell:
        shell.step("i=0; while [ $i -lt 100 ]; do (sleep 0.1 &); i=$((i + 1)); done", timeout_seconds=60)
        deadline = time.monotonic() + 10
        while left := int(shell.step("ps -o stat,args | grep -c -e '^Z' -e 'sleep 0[.]1'").output):
            assert time.monotonic() < deadline, f"{left} are zombies or still run"
            time.sleep(0.1)


# Death


@docker_needed
def test_dead_sandbox_raises() -> None:
    with session([]) as shell:
        threading.Timer(1.0, lambda: api().remove_container(shell.container, force=True)).start()
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
def test_exception_in_a_session_leaves_nothing() -> None:
    def break_off() -> None:
        with session([]) as shell:
            shell.step("sleep 60 &")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert sandboxes_of(RUN) == []


@docker_needed
def test_failed_start_leaves_nothing() -> None:
    with pytest.raises(SandboxError), session([], options=SandboxOptions(image="sekft-no-such-image")):
        pass
    file_and_parent = [Fixture(path=f"{HOME}/a", text=""), Fixture(path=f"{HOME}/a/b", text="")]
    with pytest.raises(SandboxError), session(file_and_parent):
        pass
    assert sandboxes_of(RUN) == []


@docker_needed
def test_lifetime_ends_a_sandbox_that_is_never_prepared() -> None:
    with ExitStack() as ends:
        alive = set()
        for sent in (b"", b"100000\nhalf a tar"):
            world = Session(SandboxOptions(lifetime_seconds=8.0))  # a busy machine needs seconds to start one
            ends.callback(world.end)
            assert world._pid1 is not None
            world._pid1.send(sent)
            world._pid1.flush(5.0)
            assert f"/{world.container}" in sandboxes_of(RUN)
            alive.add(f"/{world.container}")
        deadline = time.monotonic() + 60
        while alive & set(sandboxes_of(RUN)):
            assert time.monotonic() < deadline
            time.sleep(0.2)


@docker_needed
@pytest.mark.parametrize("before", ["umask", 'printf %s "$8"', "ln -s"])
def test_slow_pid1_is_waited_for(before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrapper, "PID1_SETUP", wrapper.PID1_SETUP.replace(before, f"/bin/busybox sleep 1; {before}", 1))
    with session([Fixture(path=f"{HOME}/a", text="x\n")], environment={"B": "y"}) as shell:
        assert shell.step('cat a; echo "$B"').output == "x\ny\n"
    assert run([], "echo z").stdout == b"z\n"


@docker_needed
def test_lone_surrogate_is_refused() -> None:
    with session([]) as shell:
        for text in ("echo \ud800", "echo a", "echo \udfff", "echo b"):
            if text.isascii():
                assert shell.step(text).exit_code == 0
            else:
                with pytest.raises(ValueError, match="lone surrogate at 5"):
                    shell.step(text)
        assert shell.step("printf '\udcff'").exit_code == 0
        assert shell.raw == b"\xff"
