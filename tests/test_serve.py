"""serve.py serves a base over HTTP until it is interrupted, and refuses what it cannot serve in one line."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.backend import DecoderBackend
from agents.templates import ChatTemplate
from model.decoder import Decoder
from model.loading import load_model
from tests.helpers import ROOT, ids_server, program, tiny
from tests.helpers.processes import heed_signals

ASKED = {"model": "any", "messages": [{"role": "user", "content": "$ "}], "max_tokens": 8}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("serve") / "base")


@contextmanager
def serving(*flags: str) -> Iterator[dict[str, Any]]:
    """serve.py in a process of its own, and its line on stdout; it is interrupted at the end."""
    process = subprocess.Popen(
        [*program("serve.py"), *flags, "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, preexec_fn=heed_signals,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in said


def test_a_base_is_served_until_it_is_interrupted(base: Path) -> None:
    from openai import OpenAI

    with serving("--base", str(base)) as told:
        assert (told["model"], told["context_tokens"]) == ("base", 4096)
        client = OpenAI(base_url=f"{told['url']}/v1", api_key="none", timeout=300)
        replies = [client.chat.completions.create(**ASKED).choices[0].message.content for _ in range(2)]
        assert replies[0] == replies[1]
        streamed = client.chat.completions.create(**ASKED, stream=True)
        assert "".join(one.choices[0].delta.content or "" for one in streamed) == replies[0]
    host, _, port = told["url"].removeprefix("http://").partition(":")
    with pytest.raises(ConnectionRefusedError), socket.create_connection((host, int(port)), timeout=10):
        pass


def test_another_server_can_sample(base: Path) -> None:
    import httpx2

    loaded, tokenizer = load_model(base, dtype="fp32")
    template = ChatTemplate.of(tokenizer)
    backend = DecoderBackend("tiny", Decoder(loaded), end_ids=template.end_ids, decode=template.decode)
    with ids_server.running(backend) as other:
        with serving("--base", str(base), "--url", other.url, "--model", "tiny") as told:
            reply = httpx2.post(f"{told['url']}/v1/chat/completions", json=ASKED, timeout=300)
        assert reply.status_code == 200
        assert reply.json()["usage"]["prompt_tokens"] == len(other.bodies[0]["prompt"])


def refusal(*flags: str) -> str:
    """The one line with which serve.py refuses these flags."""
    done = subprocess.run([*program("serve.py"), *flags], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    return done.stderr.splitlines()[-1]


def test_a_template_without_a_known_form_of_calls_is_refused(tmp_path: Path) -> None:
    tiny.base(tmp_path / "base")
    (tmp_path / "base" / "chat_template.jinja").write_text(tiny.SPACED)
    assert "no known form of tool calls" in refusal("--base", str(tmp_path / "base"))


def test_a_taken_port_is_refused(base: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"--port {port}: cannot listen there" in refusal("--base", str(base), "--port", port)


def test_a_server_that_is_not_there_is_refused(base: Path) -> None:
    assert "--url http://127.0.0.1:9/v1" in refusal(
        "--base", str(base), "--url", "http://127.0.0.1:9/v1", "--model", "m"
    )
    assert "--temperature: between 0 and 2" in refusal("--base", str(base), "--temperature", "3")
