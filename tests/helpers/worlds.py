"""Fixtures for sandbox tests: modes, names and types that are easily lost."""

from schema import HOME, Fixture

WORLD = [
    Fixture(path=f"{HOME}/deep/er/none", text="unreadable\n", mode=0o000),
    Fixture(path=f"{HOME}/closed", type="dir", mode=0o000),
    Fixture(path=f"{HOME}/closed/in", text="x", mode=0o640),
    Fixture(path=f"{HOME}/-dash name", text="dash\n", mode=0o777),
    Fixture.of(f"{HOME}/bytes", bytes(range(256)), 0o400),
    Fixture(path=f"{HOME}/empty", text=""),
    Fixture(path=f"{HOME}/link", type="symlink", target="deep/er/none"),
    Fixture(path=f"{HOME}/loop", type="symlink", target="loop"),
    Fixture(path=f"{HOME}/out", type="symlink", target="/etc/passwd"),
]
