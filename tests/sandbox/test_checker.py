"""A checker sees exactly the tree that was left or given, in an environment that nobody before it can change."""

import threading

import pytest

from sandbox.checker import verify, verify_each
from sandbox.containers import SandboxError, api
from sandbox.session import TAR_HOME, session
from sandbox.tree import tree_of
from schema import HOME, Fixture
from tests.helpers.worlds import WORLD

docker_needed = pytest.mark.docker


@docker_needed
def test_tree_read_and_unpacked_again_is_the_same() -> None:
    with session(WORLD) as shell:
        shell.step("mkfifo pipe; ln bytes hard; mkdir 'new\nline'; chmod 1755 deep; rm link")
        tree = shell.snapshot()
        assert {entry.path: entry.type for entry in tree}[f"{HOME}/pipe"] == "other"
        listing = "find . -type f -exec sha256sum {} + | sort; find . | sort; stat -c '%a %F' deep pipe closed out"
        first = shell.verify(listing).output
    assert verify(tree, listing).output == first


@docker_needed
def test_verify_unpacks_only_the_tree_read_only() -> None:
    tree = tree_of([Fixture(path=f"{HOME}/a", text="1\n")])
    assert verify(tree, 'test "$(ls -A)" = a && test "$(cat a)" = 1').passed
    assert not verify([], "test -e a").passed
    assert "Read-only" in verify(tree, "touch b").output


@docker_needed
def test_checker_has_one_capability_and_a_fixed_environment() -> None:
    with session([], environment={"LEAK": "1"}) as shell:
        shell.step("export OTHER=1")
        said = shell.verify("grep CapEff /proc/self/status; ls /sys/class/net; env | sort; pwd; ls /run/op").output
    assert said.splitlines()[:2] == ["CapEff:\t0000000000000002", "lo"]
    assert [line for line in said.splitlines() if "=" in line] == [
        f"HOME={HOME}",
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
        f"PWD={HOME}",
    ]


@docker_needed
def test_checker_cannot_affect_the_next_check() -> None:
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
def test_dead_checker_container_raises() -> None:
    with session([]) as shell:
        shell.verify("true")
        threading.Timer(0.5, lambda: api().remove_container(shell.checker_container, force=True)).start()
        with pytest.raises(SandboxError, match="has ended"):
            shell.verify("sleep 20")


@docker_needed
def test_verify_each_checks_every_tree_whole_and_alone() -> None:
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
def test_a_step_reads_the_tree_that_docker_reads() -> None:
    with session(WORLD) as shell:
        shell.step("mkfifo pipe; ln bytes hard; mkdir 'new\nline'; chmod 1755 deep; set -C; alias tar=false")
        shell.step("sleep 9 & alias busybox=false PATH=/nowhere; cd out; umask 777")
        assert shell.snapshot_by_step() == shell.snapshot()
        shell.step("chmod 755 ..; /bin/busybox chmod -R 755 ~; /bin/busybox rm -r ~/closed")
        assert shell.step(TAR_HOME).exit_code == 0
        assert shell.snapshot_by_step() == shell.snapshot()


@docker_needed
def test_verify_each_leaves_nothing_to_the_next_tree() -> None:
    tree = tree_of(WORLD)
    haunt = "while :; do touch /tmp/late; sleep 0.1; done & "
    alone = "sleep 0.4; [ ! -e /tmp/left ] && [ ! -e /tmp/late ]; code=$?; touch /tmp/left; " + haunt + "exit $code"
    assert [check.passed for check in verify_each([tree, [], tree], alone)] == [True, True, True]
    codes = [check.exit_code for check in verify_each([tree], "exit 7") + verify_each([[]], "kill -9 $$")]
    assert codes == [7, 137]
    late, next_one = verify_each([tree, []], "[ -e bytes ] || exit 1; sleep 9", timeout_seconds=3)
    assert (late.passed, next_one.passed) == (None, False)
    assert "past 3 s" in (late.error or "")
