"""An operator that makes its own sandbox unusable has an attempt that counts; one that only disturbs it goes on."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from authoring.gate import gate
from sandbox import containers
from sandbox.containers import api
from sandbox.session import session
from schema import VOIDED
from tests.helpers.hand_scenarios import BASE, hand
from tests.helpers.rollouts import Scripted, play

SOLUTION: list[str] = BASE["reference_solution"]
pytestmark = pytest.mark.docker
only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can steer the kernel")

KILLS = "(while :; do kill -9 -1; done) & sleep 0.1"
PROCESSES = [
    "while :; do (while :; do sleep 1; done) & done",
    "while :; do sleep 600 & done",
    "(sleep 0.3; bomb() { bomb | bomb & }; bomb) & sleep 1",
]


def memory() -> str:
    """The kernel kills the largest process; with this score it kills PID 1, and the whole container with it."""
    (found,) = api().containers(filters={"label": f"sekft.run={containers.RUN}"})
    pid = api().inspect_container(found["Id"])["State"]["Pid"]
    Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
    return "head -c 60000000 /dev/zero >a; head -c 60000000 /dev/zero >/tmp/a; tail /dev/zero"


@pytest.mark.parametrize(
    ("does", "why"),
    [
        (KILLS, "stopped or killed"),
        pytest.param(memory, "used up its memory", marks=only_root),
    ],
)
def test_operator_that_locks_itself_out_has_an_attempt_that_counts(does: str | Callable[[], str], why: str) -> None:
    operator = Scripted(*SOLUTION, does, *["true"] * 20)
    trajectory = play(operator, hand(), max_steps=20, timeout_seconds=5)
    assert (trajectory.outcome, trajectory.verified, trajectory.kept) == ("locked_out", False, False), trajectory.error
    assert why in (trajectory.error or "")
    assert trajectory.outcome not in VOIDED
    assert trajectory.reasons == ["not terminated: locked_out", "not verified"]


@pytest.mark.parametrize("does", PROCESSES)
def test_operator_that_used_up_its_processes_is_not_void(does: str) -> None:
    """Whether a later command finds a free process is chance."""
    trajectory = play(Scripted(*SOLUTION, does, *["true | true"] * 9), hand(), max_steps=9, timeout_seconds=5)
    assert trajectory.outcome in ("locked_out", "max_steps"), trajectory.error


@pytest.mark.parametrize("does", ["pkill -STOP -f 'dash channel'", "kill -STOP -1"])
def test_stopped_channel_is_replaced(does: str) -> None:
    with session([]) as shell:
        shell.step(f"X=kept; (sleep 0.3; {does}) &")
        time.sleep(1)
        began = time.monotonic()
        step = shell.step("echo $X")
        assert (step.output, step.exit_code) == ("kept\n", 0)
        assert time.monotonic() - began < 30


def test_gate_refuses_a_solution_that_locks_itself_out() -> None:
    result = gate(hand(reference_solution=[*SOLUTION[:-1], KILLS, SOLUTION[-1]]), timeout_seconds=5)
    assert (result.admitted, result.gate) == (False, "reference")
