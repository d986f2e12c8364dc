"""One browser and one directory for each file of page tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browser import browser


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")
