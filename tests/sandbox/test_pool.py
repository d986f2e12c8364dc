"""A pool hands out each sandbox once, costs nothing while it waits, and leaves none."""

import time

import pytest

from sandbox.containers import RUN, SandboxOptions, api
from sandbox.pool import Pool
from sandbox.session import session

docker_needed = pytest.mark.docker


@docker_needed
def test_pool_hands_each_sandbox_out_once() -> None:
    used = []
    with Pool(2, most=5) as pool:
        for number in range(5):
            while number < 3 and not pool.full():
                time.sleep(0.05)
            with session([], environment={"N": str(number)}, pool=pool) as shell:
                assert shell.step("echo $N; ls -A; : >mine").output == f"{number}\n"
                used.append(shell.container)
    assert len(set(used)) == 5
    assert api().containers(all=True, filters={"label": f"sekft.run={RUN}"}) == []
    assert not pool.full()


@docker_needed
def test_waiting_sandbox_uses_no_cpu() -> None:
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


@docker_needed
def test_pooled_sandbox_lives_longer_by_its_waiting_time() -> None:
    with session([], options=SandboxOptions(lifetime_seconds=50.0)) as shell:
        assert "sleep 50\n" in shell.step("ps").output
    with Pool(1, options=SandboxOptions(lifetime_seconds=50.0)) as pool:
        while not pool.full():
            time.sleep(0.05)
        with session([], pool=pool) as shell:
            assert "sleep 350\n" in shell.step("ps").output
