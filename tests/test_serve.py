"""serve.py serves a base over HTTP until it is interrupted, and refuses what it cannot serve in one line."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import serve
from agents.backend import DecoderBackend
from agents.templates import ChatTemplate
from model.decoder import Decoder
from model.loading import load_model
from pipeline.files import write_record
from schema import BadInputError, WorldError
from tests.helpers import ROOT, ids_server, program, tiny
from tests.helpers.processes import heed_signals
from tests.helpers.training import fit_settings
from training.run import fit

ASKED: dict[str, Any] = {"model": "any", "messages": [{"role": "user", "content": "$ "}], "max_tokens": 8}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("serve") / "base")


@contextmanager
def serving(*flags: str) -> Iterator[dict[str, Any]]:
    """serve.py in a process of its own, and its line on stdout; it is interrupted at the end."""
    dtype = () if "--url" in flags else ("--dtype", "fp32")  # in bf16, which some CPUs choose, batches change tokens
    process = subprocess.Popen(
        [*program("serve.py"), *flags, *dtype, "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, preexec_fn=heed_signals, env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=100)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            raise AssertionError(f"it did not end: {process.communicate()[1]}") from None
    assert process.returncode == 130
    assert "Traceback" not in said


def test_a_base_is_served_until_it_is_interrupted(base: Path) -> None:
    from openai import OpenAI

    with serving("--base", str(base)) as told:
        assert (told["model"], told["context_tokens"]) == ("base", 4096)
        client = OpenAI(base_url=f"{told['url']}/v1", api_key="none", timeout=100)
        replies = [client.chat.completions.create(**ASKED).choices[0].message.content for _ in range(2)]
        assert replies[0] == replies[1]
        streamed = client.chat.completions.create(**ASKED, stream=True)
        assert "".join(one.choices[0].delta.content or "" for one in streamed) == replies[0]
    host, _, port = told["url"].removeprefix("http://").partition(":")
    with pytest.raises(ConnectionRefusedError), socket.create_connection((host, int(port)), timeout=10):
        pass


def test_an_interrupt_while_it_starts_leaves_no_socket(base: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.socket"
    process = subprocess.Popen(
        [*program("serve.py"), "--base", str(base), "--uds", str(path)],
        cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals,
    )  # fmt: skip
    while not path.exists() and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=100)
    assert (process.returncode, path.exists()) == (130, False), said


def test_another_server_can_sample(base: Path) -> None:
    import httpx2

    loaded, tokenizer = load_model(base, dtype="fp32")
    template = ChatTemplate.of(tokenizer)
    backend = DecoderBackend("tiny", Decoder(loaded), end_ids=template.end_ids, decode=template.decode)
    with ids_server.running(backend) as other:
        with serving("--base", str(base), "--url", other.url, "--model", "tiny") as told:
            reply = httpx2.post(f"{told['url']}/v1/chat/completions", json=ASKED, timeout=100)
        assert reply.status_code == 200
        assert reply.json()["usage"]["prompt_tokens"] == len(other.bodies[0]["prompt"])


def refusal(base: Path, **flags: Any) -> str:
    """What serve.py says when it refuses these flags."""
    given = vars(serve.parser().parse_args(["--base", str(base), "--port", "0"]))
    with pytest.raises(BadInputError) as refused:
        serve.main(**{**given, **flags})
    return str(refused.value)


def test_a_template_without_a_known_form_of_calls_is_refused(tmp_path: Path) -> None:
    tiny.base(tmp_path / "base")
    (tmp_path / "base" / "chat_template.jinja").write_text(tiny.SPACED)
    assert "no known form of tool calls" in refusal(tmp_path / "base")


def test_what_cannot_be_served_is_refused(base: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port {port}: cannot listen there" in refusal(base, port=port)
    assert "--url http://127.0.0.1:9/v1" in refusal(base, url="http://127.0.0.1:9/v1", model="m")
    assert "--url, --model: name both or neither" in refusal(base, url="http://127.0.0.1:9/v1")
    assert "--port 70000: cannot listen there" in refusal(base, port=70_000)
    assert "--temperature 3.0: must lie between 0 and 2" in refusal(base, temperature=3.0)


@pytest.mark.parametrize("started", [True, False])
def test_a_server_that_ends_by_itself_ends_the_script(
    base: Path, started: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import uvicorn

    def end(server: uvicorn.Server, sockets: Any) -> None:
        server.started = started

    monkeypatch.setattr(uvicorn.Server, "run", end)
    path = tmp_path / "model.socket"
    given = vars(serve.parser().parse_args(["--base", str(base), "--uds", str(path)]))
    with pytest.raises(WorldError, match="has ended by itself" if started else "has ended before it answered"):
        serve.main(**given)
    assert not path.exists()


def test_an_adapter_answers_every_client_and_not_as_its_base(base: Path, tmp_path: Path) -> None:
    from anthropic import Anthropic
    from openai import OpenAI

    adapter = fit_tiny(base, tmp_path, render="chat", epochs=20, accum=1, lr=2e-2)
    said = []
    for subject in ([], ["--adapter", str(adapter)]):
        with serving("--base", str(base), *subject) as told:
            client = OpenAI(base_url=f"{told['url']}/v1", api_key="none", timeout=100)
            said.append(client.chat.completions.create(**ASKED).choices[0].message.content)
            if subject:
                other = Anthropic(base_url=told["url"], api_key="none", timeout=100).messages.create(**ASKED)
                said.append("".join(part.text for part in other.content if part.type == "text"))
                address = f"{told['url']}/v1/chat/completions"
                command = ["curl", "-s", address, "-H", "Content-Type: application/json", "-d", json.dumps(ASKED)]
                answer = subprocess.run(command, capture_output=True, check=True, timeout=100).stdout
                said.append(json.loads(answer)["choices"][0]["message"]["content"])
    assert said[0] != said[1] == said[2] == said[3]


def test_an_adapter_that_reads_markers_is_refused(base: Path, tmp_path: Path) -> None:
    adapter = fit_tiny(base, tmp_path, render="markers", epochs=1)
    assert "trained with --render markers" in refusal(base, adapter=adapter)


def fit_tiny(base: Path, place: Path, **changes: Any) -> Path:
    """An adapter of two sessions."""
    for index in range(2):
        write_record(place / "data", tiny.trajectory(f"t{index}-s0"))
    fit(fit_settings(base=str(base), data=place / "data", out=place / "adapter", dtype="fp32", **changes))
    return place / "adapter"
