"""Have a script that runs as another process heed signals, and find its sandboxes."""

import signal

from sandbox import containers


def heed_signals() -> None:
    """Give SIGINT, SIGTERM and SIGHUP their default action; for Popen's `preexec_fn`.

    A runner in the background (`nohup make test &` in a script) ignores some of them, and its children inherit that.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


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


def containers_of(pid: int) -> list[str]:
    """The ids of the containers that a process made and that run."""
    found = containers.api().containers(filters={"label": "sekft.run"})
    return [str(one["Id"]) for one in found if one["Labels"]["sekft.pid"].split()[0] == str(pid)]
