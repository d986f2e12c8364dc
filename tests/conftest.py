"""Shared fixtures: the image's id, and the check that this test run leaves no sandbox."""

import time
from collections.abc import Iterator

import pytest

from sandbox import containers

OTHERS_SECONDS = 60.0  # for what other processes have left to go away


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test that needs Docker the image, and with it the check for leftovers."""
    for item in items:
        if item.get_closest_marker("docker"):
            item.add_marker(pytest.mark.usefixtures("image"))


@pytest.fixture(scope="session")
def image() -> Iterator[str]:
    """The image's id. Fails, never skips, where Docker does not answer or the image is missing."""
    digest = containers.require_image()
    containers.reap()
    began = time.time()
    yield digest
    left = leftovers(began)
    containers.reap()
    containers.remove_all()
    assert not left, f"sandboxes of this test run are left: {left}"


def leftovers(began: float) -> list[str]:
    """Containers and volumes of this process, and those made since `began` by processes that are dead now.

    Tests that run beside this one kill owners too, and need a while to remove what those leave.
    """
    own, others = found_since(began)
    deadline = time.monotonic() + OTHERS_SECONDS
    while others and time.monotonic() < deadline:
        time.sleep(1)
        others &= found_since(began)[1]
    return sorted(own | others)


def found_since(began: float) -> tuple[set[str], set[str]]:
    """The names of what this process has made, and of what dead ones have made since `began`."""
    filters = {"label": containers.LABEL}
    found = [
        (item["Names"][0], item["Labels"], item["Created"])
        for item in containers.api().containers(all=True, filters=filters)
    ]
    found += [
        (item["Name"], item["Labels"], began) for item in containers.api().volumes(filters=filters)["Volumes"] or []
    ]
    own = {name for name, labels, _ in found if labels[containers.LABEL] == containers.RUN}
    return own, {name for name, labels, created in found if created >= int(began) and is_abandoned(labels)} - own


def is_abandoned(labels: dict[str, str]) -> bool:
    """As `containers.abandoned`; False for labels that cannot be read, which no sandbox has."""
    try:
        return containers.abandoned(labels)
    except (KeyError, ValueError, OverflowError):
        return False
