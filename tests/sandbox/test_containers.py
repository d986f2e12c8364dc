"""Containers carry their owner's labels, end with their owner, and only abandoned ones are reaped."""

import os
import subprocess
import sys
import time

import pytest

from sandbox import containers
from sandbox.conformance import sandboxes_of
from sandbox.containers import RUN, SandboxError, abandoned, api, identity, require_image
from sandbox.session import session
from schema import BadInputError
from tests.helpers import ROOT

docker_needed = pytest.mark.docker


@docker_needed
def test_require_image_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert require_image().startswith("sha256:")
    with pytest.raises(BadInputError, match="make image"):
        require_image("sekft-no-such-image")
    api().import_image_from_data(bytes(1024), repository="sekft-test-old")
    try:
        with pytest.raises(BadInputError, match="another user id"):
            require_image("sekft-test-old")
    finally:
        api().remove_image("sekft-test-old")


@docker_needed
def test_remove_all_removes_open_sessions() -> None:
    with session([]) as shell:
        containers.remove_all()
        assert sandboxes_of(RUN) == []
        with pytest.raises(SandboxError):
            shell.step("echo gone")


@docker_needed
def test_containers_and_volumes_are_labelled() -> None:
    with session([]) as shell:
        container = api().inspect_container(shell.container)["Config"]["Labels"]
        volume = api().inspect_volume(shell.volume)["Labels"]
    for labels in (container, volume):
        assert {key: labels[key] for key in identity()} == identity()
        assert 3000 < float(labels["sekft.deadline"]) - time.time() < 4000
    assert set(identity()) == {"sekft.run", "sekft.host", "sekft.boot", "sekft.pid"}
    assert identity()["sekft.pid"].split()[0] == str(os.getpid())


def test_abandoned_means_overdue_or_owner_dead() -> None:
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


@docker_needed
def test_container_ends_when_its_owner_is_killed() -> None:
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
