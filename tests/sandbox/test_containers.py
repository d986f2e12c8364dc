"""Containers carry their owner's labels, end with their owner, and only abandoned ones are reaped."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time

import docker
import pytest

from sandbox import containers
from sandbox.conformance import sandboxes_of
from sandbox.containers import RUN, SandboxError, abandoned, api, identity, require_image
from sandbox.session import session
from schema import BadInputError
from tests.helpers import ROOT
from tests.helpers.processes import heed_signals

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
        assert 3000 < float(labels["sekft.uptime"]) - time.clock_gettime(time.CLOCK_BOOTTIME) < 4000
    assert set(identity()) == {"sekft.run", "sekft.host", "sekft.boot", "sekft.pid"}
    assert identity()["sekft.pid"].split()[0] == str(os.getpid())


def test_abandoned_means_owner_dead() -> None:
    mine = identity()
    assert not abandoned(mine)
    assert abandoned({**mine, "sekft.pid": "4194304 1"})
    assert abandoned({**mine, "sekft.pid": f"{os.getpid()} 1"}), "another process has got its id"
    assert not abandoned({**mine, "sekft.pid": str(os.getpid())}), "its start time is unknown"


def test_no_clock_removes_what_a_living_owner_has() -> None:
    assert not abandoned({**identity(), "sekft.deadline": "0", "sekft.uptime": "0"})


DAY = 86_400


@pytest.mark.parametrize(
    ("change", "wall", "uptime", "removed"),
    [
        ({"sekft.boot": "another"}, -DAY + 60, 0, False),
        ({"sekft.boot": "another"}, -DAY - 60, 0, True),
        ({"sekft.host": "elsewhere"}, -DAY - 60, -DAY - 60, True),
        ({"sekft.host": "elsewhere"}, -DAY - 60, 0, False),  # the wall clock was set ahead
        ({"sekft.host": "elsewhere"}, 0, -DAY - 60, False),  # a time namespace has another uptime
    ],
)
def test_an_owner_that_cannot_be_seen_has_a_day(
    change: dict[str, str], wall: float, uptime: float, removed: bool
) -> None:
    clocks = {
        "sekft.deadline": str(time.time() + wall),
        "sekft.uptime": str(time.clock_gettime(time.CLOCK_BOOTTIME) + uptime),
    }
    assert abandoned({**identity(), "sekft.pid": "4194304 1", **clocks, **change}) is removed


PLACES = {
    "hidepid": ["unshare", "--mount", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc; exec "$@"', "sh",
                "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
    "pid namespace": ["unshare", "--pid", "--fork", "--mount-proc"],
    "time namespace": ["unshare", "--time", "--boottime=100000", "--fork"],
}  # fmt: skip


@pytest.mark.skipif(os.getuid() != 0, reason="namespaces need root")
@pytest.mark.parametrize("place", PLACES)
def test_a_living_owner_keeps_its_sandboxes_from(place: str) -> None:
    code = "import json, sys; from sandbox.containers import abandoned; print(abandoned(json.loads(sys.argv[1])))"
    deadline = str(time.time() + 600)
    labels = json.dumps({**identity(), "sekft.deadline": deadline, "sekft.uptime": deadline})
    done = subprocess.run(
        [*PLACES[place], sys.executable, "-Bc", code, labels], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == "False\n", done.stderr


@pytest.fixture
def own_label(monkeypatch: pytest.MonkeyPatch) -> str:
    """A label by which this process's `reap`, and no other test's, finds what a test plants."""
    identity()  # cached with the label that everything else has
    label = f"sekft.test.{secrets.token_hex(6)}"
    monkeypatch.setattr(containers, "LABEL", label)
    return label


@docker_needed
@pytest.mark.parametrize("labels", [{}, {"sekft.pid": "x 1"}, {"sekft.pid": "-1 1"}, {"sekft.pid": f"{10**30} 1"}])
def test_a_malformed_label_is_one_line(
    labels: dict[str, str], own_label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = {key: value for key, value in identity().items() if key not in ("sekft.run", "sekft.pid")}
    name = f"sekft-test-{secrets.token_hex(6)}"
    api().create_volume(name, labels={**mine, **labels, own_label: ""})
    try:
        containers.reap()
        assert api().inspect_volume(name)
    finally:
        api().remove_volume(name)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if name in line]
    assert "missing or malformed label" in line


@docker_needed
def test_one_removal_that_fails_does_not_keep_reap_from_the_others(
    own_label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = {key: value for key, value in identity().items() if key != "sekft.run"}
    names = [f"sekft-test-{place}-{secrets.token_hex(6)}" for place in "ab"]
    for name in names:
        api().create_volume(name, labels={**mine, "sekft.pid": "4194304 1", own_label: ""})
    mount = api().create_host_config(binds=[f"{names[0]}:/mnt"])
    user = api().create_container(containers.IMAGE, ["true"], host_config=mount)["Id"]  # without labels: no sandbox
    try:
        containers.reap()
        with pytest.raises(docker.errors.NotFound):
            api().inspect_volume(names[1])
    finally:
        api().remove_container(user)
        containers.reap()
    (line,) = [line for line in capsys.readouterr().err.splitlines() if names[0] in line]
    assert line == f"reap: remove volume {names[0]}: still there; the next reap tries again"


@docker_needed
def test_reap_removes_what_a_killed_owner_had_created_and_not_started() -> None:
    code = (
        "import os, signal; from sandbox import containers as c\nwith c.owned('container', 'volume') as (name, home):\n"
    )
    code += "    mount = c.volume_mount(home, '/home/op', read_only=False, lifetime_seconds=60)\n"
    code += "    c.create(name, ['true'], c.DEFAULTS, mounts=[mount], for_checker=False)\n"
    code += "    print(name, home, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    name, home = done.stdout.split()
    containers.reap()
    deadline = time.monotonic() + 20  # another process's reap may be at it
    while sandboxes_named(name, home) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sandboxes_named(name, home) == []


@docker_needed
def test_an_interrupt_in_the_middle_of_a_removal_leaves_nothing() -> None:
    code = "from pipeline import stage\nfrom sandbox import containers as c\nfrom sandbox.session import session\n"
    code += "def main():\n  for _ in range(99):\n    with session([]): print(c.RUN, flush=True)\n"
    code += "stage.run_script(main, stage.command_line('doc'), [])"
    for at in range(12):
        with subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=heed_signals
        ) as process:
            assert process.stdout is not None
            run = process.stdout.readline().strip()
            time.sleep(0.02 * at)  # a session takes some 300 ms
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=120)
        assert (at, process.returncode, sandboxes_of(run)) == (at, 143, [])


# Sets `asked` right before Docker is asked to create a container, which takes it some 50 ms, and leaves the block in
# which signals are held back only when `go_on` is set. Looking at `_making` meanwhile can miss it on a busy machine.
LATCH = """
import contextlib, threading
from sandbox import containers as c
asked, go_on, being_made = threading.Event(), threading.Event(), c._being_made
@contextlib.contextmanager
def latched(name):
    with being_made(name):
        asked.set()
        yield
        assert go_on.wait(60)
c._being_made = latched
"""


@docker_needed
@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.02])
def test_an_interrupt_while_docker_creates_a_container_leaves_nothing(seconds: float) -> None:
    code = f"{LATCH}import os, signal, time\nfrom pipeline import stage\nfrom sandbox.session import session\n"
    code += f"def interrupt():\n  asked.wait()\n  time.sleep({seconds}); os.kill(os.getpid(), signal.SIGTERM)\n"
    code += "  go_on.set()\ndef main():\n  print(c.RUN, flush=True)\n"
    code += "  c.image_id(c.IMAGE)\n  threading.Thread(target=interrupt, daemon=True).start()\n"
    code += "  with session([]): print('not reached')\nstage.run_script(main, stage.command_line('doc'), [])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, preexec_fn=heed_signals, stdout=subprocess.PIPE, text=True, check=False,
        timeout=120,
    )  # fmt: skip
    run, _, rest = done.stdout.partition("\n")
    assert (done.returncode, rest, sandboxes_of(run)) == (143, "", [])


@docker_needed
def test_what_a_thread_is_having_created_is_removed_too() -> None:
    code = f"{LATCH}import time\nfrom sandbox.session import session\ngo_on.set()\n"
    code += "print(c.RUN, flush=True)\nc.image_id(c.IMAGE)\ndef use():\n  with session([]): time.sleep(99)\n"
    code += "threading.Thread(target=use, daemon=True).start()\nasked.wait()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    assert sandboxes_of(done.stdout.strip()) == []


def sandboxes_named(*names: str) -> list[str]:
    """Those of the containers and volumes that are there."""
    found = [one["Names"][0].lstrip("/") for one in api().containers(all=True) if one["Names"]]
    found += [one["Name"] for one in api().volumes()["Volumes"] or []]
    return sorted({*found} & {*names})


@docker_needed
def test_container_ends_when_its_owner_is_killed() -> None:
    code = "import time, dashdocker\nwith dashdocker.session([]) as shell:\n"
    code += "    shell.step('sleep 99 &'); print(shell.container, shell.volume, flush=True); time.sleep(99)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        name, volume = process.stdout.readline().split()
        assert api().inspect_container(name)["State"]["Running"]
        process.kill()
    deadline = time.monotonic() + 20
    while sandboxes_named(name) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sandboxes_named(name) == []
    containers.reap()  # or that of another process, which may still be at it
    while sandboxes_named(volume) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sandboxes_named(volume) == [], "the volume is left, and reaped"
