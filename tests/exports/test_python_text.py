"""Paths and commands that stand in Python source as constants are found, in whatever call they stand."""

import pytest

from exports.commands import MAX_DEPTH
from exports.shell import python_accesses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("open('a/../b', mode='w')", {("write", "b")}),
        ("import os\nos.remove(os.path.join('a', 'b'))", {("delete", "a/b")}),
        ("for one in ['a', 'b']:\n    open(one)", {("read", "a"), ("read", "b")}),
        ("import os\nos.system('cat x > y')", {("run", "cat"), ("read", "x"), ("write", "y")}),
        ("import subprocess\nsubprocess.run(['rm', '-f', 'x'])", {("run", "rm"), ("delete", "x")}),
        ("no Python", set()),
        ("x = " + '"a" + ' * 1499 + '"a"', set()),
    ],
)
def test_python_source_is_read_for_what_it_does(source: str, expected: set[tuple[str, str]]) -> None:
    assert {(access.kind, access.what) for access in python_accesses(source)} == expected


def test_shells_in_shells_are_followed_as_far_as_the_limit() -> None:
    source = "import os\nos.system('rm x')"
    assert python_accesses(source, depth=MAX_DEPTH - 1)
    assert python_accesses(source, depth=MAX_DEPTH) == []
