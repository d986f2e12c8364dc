"""A run of rl.py does not hold more memory with every step."""

import threading
from pathlib import Path

import pytest

from model.render import Renderer
from schema import AdapterIdentity, Trajectory
from tests.helpers import ROOT, tiny
from tests.helpers.real_base import real_base
from tests.helpers.segments import episode, segment
from training.policy_gradient import Group
from training.rl_run import PolicyRun, RlState, StepGroups
from training.rl_settings import RlSettings
from training.run import load_tokenizer

STEPS = 5


def in_memory() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def play() -> None:
    """Threads at once, as those that play the episodes of a step: each takes a heap that an update has freed."""
    together = threading.Barrier(32)

    def one() -> None:
        bytearray(1000)
        together.wait()

    threads = [threading.Thread(target=one) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def no_identity(_: RlState) -> AdapterIdentity:
    raise AssertionError("no adapter is saved here")


def test_memory_does_not_grow_with_the_steps(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    base, adapter = real_base(tmp_path_factory), ROOT / "examples" / "adapter"
    flags = RlSettings(base=str(base), adapter=adapter, scenarios=tmp_path, dtype="fp32", lr=1e-4, save_every=STEPS + 1)
    renderer = Renderer.for_adapter(adapter, load_tokenizer(str(base)))
    run = PolicyRun(flags, tmp_path, [tiny.scenario("a")], renderer, no_identity)
    episodes: list[Trajectory] = [episode(f"a-s{at}", segment((400, 80), seed=at), scenario_id="a") for at in range(4)]
    held = []
    for _ in range(STEPS):
        run.step(StepGroups([Group("a", episodes, [1.0, 0.0, 1.0, 0.0])]))
        play()
        held.append(in_memory())
    assert held[-1] < 1.1 * held[0], held
