"""Shared fixtures: the image's id, and the check that this test run leaves no sandbox."""

import time
from collections.abc import Iterator

import pytest

from sandbox import containers


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
    """Containers and volumes of this process, and those made since `began` by processes that are dead now."""
    filters = {"label": "sekft.run"}
    found = [
        (item["Names"][0], item["Labels"], item["Created"])
        for item in containers.api().containers(all=True, filters=filters)
    ]
    found += [
        (item["Name"], item["Labels"], began) for item in containers.api().volumes(filters=filters)["Volumes"] or []
    ]
    return [
        name
        for name, labels, created in found
        if labels["sekft.run"] == containers.RUN or (created >= int(began) and containers.abandoned(labels))
    ]
