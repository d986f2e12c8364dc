"""A one-shot run has its files, input and environment, and none of its output is lost."""

import http.client
import time

import pytest

from sandbox.oneshot import run
from tests.helpers.worlds import WORLD

docker_needed = pytest.mark.docker


@docker_needed
def test_run_has_its_files_stdin_environment_and_exit_code() -> None:
    done = run(WORLD, "cat; cat -- '-dash name'; echo err >&2; echo $X; exit 3", stdin=b"in\n", environment={"X": "1"})
    assert (done.stdout, done.stderr, done.exit_code) == (b"in\ndash\n1\n", b"err\n", 3)
    assert (done.timed_out, done.oom) == (False, False)


@docker_needed
def test_output_sent_with_the_http_head_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A busy host reads the head late, when a short command has printed already."""
    begin = http.client.HTTPResponse.begin

    def late(response: http.client.HTTPResponse) -> None:
        time.sleep(0.5)
        begin(response)

    monkeypatch.setattr(http.client.HTTPResponse, "begin", late)
    assert run([], "echo here").stdout == b"here\n"
