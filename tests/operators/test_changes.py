"""A trajectory records what its episode created, changed and removed, whoever did it and however."""

import pytest

from operators.episode import Episode, EpisodeLimits, run_episode
from sandbox.tree import MAX_CHANGES, TreeEntry, changes_between
from schema import HOME, Changes, Fixture
from tests.helpers import tiny
from tests.helpers.rollouts import Scripted


@pytest.mark.docker
def test_an_episode_records_its_changes() -> None:
    fixtures = [
        Fixture(path=f"{HOME}/{name}", text=f"{name}\n") for name in ("same.txt", "edited.txt", "gone.txt", "mode.txt")
    ]
    world = tiny.scenario(channel="file").model_copy(update={"fixtures": fixtures})
    hidden = "echo ZWNobyB4ID4gY29uZnRlc3QucHkK | base64 -d | sh"
    commands = ["echo more >> edited.txt", "rm gone.txt; chmod 600 mode.txt", hidden, "ln -s /etc/passwd out", "exit"]
    record = run_episode(Scripted(*commands), Episode(world), seed=0, limits=EpisodeLimits(9, 30.0))
    assert record.outcome == "exit", record
    assert record.changes is not None
    assert [(one.path, one.type, one.target) for one in record.changes.created] == [
        (f"{HOME}/conftest.py", "file", None), (f"{HOME}/out", "symlink", "/etc/passwd"),
    ]  # fmt: skip
    assert [(one.path, one.mode) for one in record.changes.changed] == [
        (f"{HOME}/edited.txt", 0o644), (f"{HOME}/mode.txt", 0o600),
    ]  # fmt: skip
    assert record.changes.removed == [f"{HOME}/gone.txt"]
    idle = run_episode(Scripted("ls", "exit"), Episode(world), seed=0, limits=EpisodeLimits(9, 30.0))
    assert idle.changes == Changes()


def test_a_record_of_changes_is_bounded() -> None:
    many = [TreeEntry(f"{HOME}/{'x' * 4000}{at:04}", "file", 0o644, b"") for at in range(MAX_CHANGES + 50)]
    changes = changes_between([], many)
    assert (len(changes.created), changes.more) == (MAX_CHANGES, 50)
    assert max(len(one.path) for one in changes.created) == 1000


def test_a_name_that_is_no_text_is_recorded_as_one() -> None:
    changes = changes_between([], [TreeEntry(f"{HOME}/\udcff", "file", 0o644, b"")])
    assert changes.model_dump_json()
    assert changes.created[0].path == f"{HOME}/\\xff"
