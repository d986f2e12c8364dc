"""Each fault of a server fails the check of its name, and a server without faults passes all."""

import json
import random
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import serve_check
import sft
from model.decoder import Context, Decoder, Turn
from model.loading import load_model
from model.render import Renderer, session_messages
from pipeline.files import write_record
from serving.checks import CHECKS as NAMES
from tests.helpers import ROOT, tiny
from tests.helpers.chat_server import Behaviour, ChatServer, Request, fail, go_on, say
from tests.helpers.training import exit_code

CONTEXT = 1000  # more than the prompts, less than the long one


@dataclass
class TinyServer:
    """A server of the model in this process, with the faults that a test names; the script of a ChatServer."""

    tokenizer: Any
    renderer: Renderer
    decoder: Decoder
    template: Callable[[list[dict[str, str]]], list[dict[str, str]]] = lambda messages: messages
    more_ids: Sequence[int] = ()  # put before every prompt
    less_ids: int = 0  # first ids of every prompt that are left out
    window: int | None = None  # ids of a prompt that are read
    refused_over: int | None = None  # ids of a prompt that is refused
    end: str | None = None  # what is taken for the end of a turn, None: the real one
    loose: bool = False  # samples at temperature 0
    counts: bool = True  # reports usage

    def __call__(self, request: Request) -> Behaviour:
        """Answer a request."""
        if "prompt" in request.body:
            ids = self.tokenizer(request.body["prompt"], add_special_tokens=False)["input_ids"]
        else:
            ids = self.tokenizer.apply_chat_template(
                self.template(request.body["messages"]), add_generation_prompt=True, return_dict=True
            )["input_ids"]
        ids = [*self.more_ids, *ids[self.less_ids :]]
        if self.refused_over is not None and len(ids) > self.refused_over:
            return fail(400, message="the request exceeds the available context size")
        ids = ids[-self.window :] if self.window else ids
        text, count = self.generate(ids, request.body["max_tokens"])
        tokens = (len(ids), count) if self.counts else None
        return go_on(text, tokens=tokens) if "prompt" in request.body else say(text, tokens=tokens)

    def generate(self, ids: list[int], max_tokens: int) -> tuple[str, int]:
        """The text of a turn, and how many ids it has."""
        context, end = Context(), self.renderer.end_text if self.end is None else self.end
        context.ids = list(ids)  # the decoder appends to it
        turn = self.decoder.decode(
            Turn(
                context, ended=lambda ids: end in self.renderer.decode(ids), max_new_tokens=max_tokens, limit=4096,
                temperature=2.0 if self.loose else 0.0, generator=self.noise(), cancelled=threading.Event(),
            )
        )  # fmt: skip
        return self.renderer.decode(turn.token_ids).partition(end)[0], len(turn.token_ids)

    def noise(self) -> Any:
        """A generator that differs from request to request."""
        import torch

        return torch.Generator().manual_seed(random.SystemRandom().randrange(2**31))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base and two adapters that have learned to answer `ls` to everything, in both renders."""
    place = tmp_path_factory.mktemp("serve-check")
    tiny.base(place / "base")
    without_first_space(place / "base")
    for index in range(4):
        session = tiny.trajectory(f"t{index}-s0")
        messages = session_messages(tiny.scenario(f"t{index}"), [("ls", "a.txt\n"), ("ls", ""), ("ls", None)])
        write_record(place / "data", session.model_copy(update={"messages": messages, "steps": session.steps[:3]}))
    given: list[object] = ["--data", place / "data", "--base", place / "base", "--no-reload", "--dtype", "fp32"]
    for render in ("chat", "markers"):
        flags = ["--out", place / render, "--render", render, "--epochs", 12, "--accum", 1, "--lr", "1e-2"]
        assert exit_code(sft, *given, *flags) == 0
    return place


def without_first_space(base: Path) -> None:
    """Let the tokenizer put no space before a text, as those of served models; a server could not undo it."""
    from tokenizers import pre_tokenizers
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.save_pretrained(base)


def tiny_server(place: Path, adapter: str | None, **faults: Any) -> TinyServer:
    directory = place / adapter if adapter else None
    model, tokenizer = load_model(place / "base", directory, dtype="fp32", device="cpu")
    renderer = Renderer.for_adapter(directory, tokenizer) if directory else Renderer(tokenizer, "chat")
    return TinyServer(tokenizer, renderer, Decoder(model), **faults)


def checked(place: Path, server: TinyServer, capsys: pytest.CaptureFixture[str], how: str = "chat") -> dict[str, str]:
    """The result of each check, and that the exit code and the lines on stderr fit them."""
    adapter = place / ("markers" if how == "markers" else "chat")
    with ChatServer(server) as running:
        flags: list[object] = ["--url", running.url, "--model", "test", "--base", place / "base"]
        flags += ["--adapter", adapter, "--n", 4, "--max-new-tokens", 12, "--context-tokens", CONTEXT + 300]
        code = exit_code(serve_check, *flags, *(["--completions"] if how != "chat" else []))
    printed = capsys.readouterr()
    results: dict[str, Any] = json.loads(printed.out.splitlines()[-1])
    failed = [name for name, result in results.items() if result == "fail"]
    assert sorted(results["failed"]) == sorted(failed)
    assert code == (1 if failed else 0)
    lines = [line.split()[:2] for line in printed.err.splitlines() if line.split()[0] in NAMES]
    words = {"pass": "pass", "FAIL": "fail", "?": "unknown"}
    assert {name: words[word] for name, word in lines} == {name: results[name] for name in NAMES if name in results}
    return {name: result for name, result in results.items() if name in NAMES}


@pytest.mark.parametrize("how", ["chat", "completions"])
def test_a_server_without_faults_passes(place: Path, capsys: pytest.CaptureFixture[str], how: str) -> None:
    assert checked(place, tiny_server(place, "chat"), capsys, how) == dict.fromkeys(NAMES, "pass")


def test_a_model_that_ends_no_turn_leaves_stop_open(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = checked(place, tiny_server(place, "markers"), capsys, "markers")  # twelve epochs do not teach its marker
    assert results == {**dict.fromkeys(NAMES, "pass"), "stop": "unknown"}


def without_system(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    return [one for one in messages if one["role"] != "system"]


def stripped(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{**one, "content": one["content"].strip()} for one in messages]


def merged(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for one in messages:
        if found and found[-1]["role"] == one["role"]:
            found[-1] = {**one, "content": found[-1]["content"] + "\n" + one["content"]}
        else:
            found.append(one)
    return found


FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("bos", {"more_ids": [0]}, "chat"),
    ("bos", {"more_ids": [0]}, "completions"),
    ("bos", {"less_ids": 1}, "chat"),
    ("bos", {"less_ids": 1}, "completions"),
    ("template", {"template": without_system}, "chat"),
    ("template", {"template": stripped}, "chat"),
    ("template", {"template": merged}, "chat"),
    ("truncation", {"window": CONTEXT}, "chat"),
    ("truncation", {"refused_over": CONTEXT}, "markers"),
    ("stop", {"end": "<|never|>"}, "chat"),
    ("stop", {"end": "<|never|>"}, "completions"),
    ("steady", {"loose": True}, "chat"),
]


@pytest.mark.parametrize(("name", "faults", "how"), FAULTS)
def test_a_fault_fails_the_check_of_its_name(
    place: Path, capsys: pytest.CaptureFixture[str], name: str, faults: dict[str, Any], how: str
) -> None:
    adapter = "markers" if how == "markers" else "chat"
    results = checked(place, tiny_server(place, adapter, **faults), capsys, how)
    assert results[name] == "fail"
    others = {other for other, result in results.items() if result == "fail"} - {name}
    assert others <= {"steady": {"commands", "stop"}, "template": {"commands"}, "bos": {"commands"}}.get(name, set())


def test_a_server_without_the_adapter_fails_commands(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = checked(place, tiny_server(place, None), capsys)
    assert {name for name, result in results.items() if result == "fail"} <= {"commands", "stop"}
    assert results["commands"] == "fail"


def test_without_counts_the_commands_must_tell(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = checked(place, tiny_server(place, "chat", counts=False), capsys)
    assert {name for name, result in results.items() if result == "unknown"} == {"bos", "template", "truncation"}
    assert set(results.values()) == {"unknown", "pass"}


def test_every_check_is_in_the_help_and_on_the_page() -> None:
    page = (ROOT / "docs" / "serving.md").read_text().partition("| check | fails where |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)) == NAMES
    told = str(serve_check.__doc__).partition("check fails.\n\n")[2]
    assert tuple(line.split()[0] for line in told.splitlines()) == NAMES


@pytest.mark.parametrize("how", ["chat", "completions"])
@pytest.mark.parametrize("answers", [0, 2])  # how many requests it answers before it is gone
def test_a_server_that_is_not_there_is_not_reachable(
    place: Path, capsys: pytest.CaptureFixture[str], how: str, answers: int
) -> None:
    answer = say("ls") if how == "chat" else go_on("ls")
    with ChatServer([*[answer] * answers, fail(404)]) as running:
        flags: list[object] = ["--base", place / "base", "--adapter", place / "chat", "--n", 2, "--model", "test"]
        flags += ["--completions"] if how == "completions" else []
        assert exit_code(serve_check, "--url", running.url, *flags) == 1
    printed = capsys.readouterr()
    results = json.loads(printed.out)
    assert results["failed"] == ["reachable"]
    assert {name: results[name] for name in NAMES} == {**dict.fromkeys(NAMES, "unknown"), "reachable": "fail"}
    assert len(printed.err.splitlines()) == len(NAMES)


def test_a_dead_server_is_told_before_a_model_is_loaded(place: Path, tmp_path: Path) -> None:
    """The weights are cut off, so that to load them would be another error."""
    shutil.copytree(place / "base", tmp_path / "base")
    (tmp_path / "base" / "model.safetensors").write_bytes(b"")
    flags: list[object] = ["--base", tmp_path / "base", "--n", 1, "--model", "test"]
    assert exit_code(serve_check, "--url", "http://127.0.0.1:9/v1", *flags) == 1


def test_a_template_that_refuses_the_turns_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refusal = fail(400, message="Conversation roles must alternate user/assistant/user/assistant/...")
    with ChatServer([refusal]) as running:
        flags: list[object] = ["--base", place / "base", "--adapter", place / "chat", "--n", 1, "--model", "test"]
        assert exit_code(serve_check, "--url", running.url, *flags) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["failed"] == ["template"]
    assert "send the rendered prompt" in printed.err
