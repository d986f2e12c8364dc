"""Find the sandboxes of a script that runs, or ran, as another process."""

import signal

from sandbox import containers


def sandboxes_of(pid: int) -> list[str]:
    """Containers and volumes that a process made and that are still there."""
    filters = {"label": "sekft.run"}
    found = [
        *containers.api().containers(all=True, filters=filters),
        *(containers.api().volumes(filters=filters)["Volumes"] or []),
    ]
    return [
        str(item.get("Names", item.get("Name")))
        for item in found
        if item["Labels"].get("sekft.pid", "").split()[:1] == [str(pid)]
    ]


def heed_signals() -> None:
    """For `preexec_fn`: undo that SIGINT is ignored where the tests run in a script's background."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
