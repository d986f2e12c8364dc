"""Have a script that runs as another process heed SIGINT, and find its sandboxes."""

import signal

from sandbox import containers


def heed_interrupts() -> None:
    """Give SIGINT its default action; for Popen's `preexec_fn`.

    A runner in the background (`nohup make test &` in a script) ignores SIGINT, and its children inherit that.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def sandboxes_of(pid: int) -> list[str]:
    """Containers and volumes that a process made and that are still there."""
    filters = {"label": "sekft.run"}
    found = [
        *containers.api().containers(all=True, filters=filters),
        *(containers.api().volumes(filters=filters)["Volumes"] or []),
    ]
    return [
        str(item.get("Names", item.get("Name"))) for item in found if item["Labels"]["sekft.pid"].split()[0] == str(pid)
    ]


def containers_of(pid: int) -> list[str]:
    """The ids of the containers that a process made and that run."""
    found = containers.api().containers(filters={"label": "sekft.run"})
    return [str(one["Id"]) for one in found if one["Labels"]["sekft.pid"].split()[0] == str(pid)]
