"""The tiny base loads and generates; a run resumes; the corpus has no directive, provider text or terminal."""

import json
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import make_stubs
from authoring import templates
from authoring.templates.words import WORDS
from authoring.templates.world import Names, masked
from model.loading import matmul_precision
from model.render import Renderer
from pipeline.verdicts import terminal_of
from schema import Message, Scenario, sha256
from taxonomy import ARCHETYPES, combinations
from tests.helpers import ROOT
from tiny_base import corpus
from tiny_base import make as making
from tiny_base.make import CHAT_TEMPLATE, END_OF_TEXT, MARKERS, PAD, new_model

BASE = ROOT / "base"
DOCUMENTS = 1200
MINIATURE = ["--tokens", "12000", "--hidden", "64", "--layers", "2", "--batch-tokens", "2048", "--eval-documents", "1"]


def make(out: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tiny_base.make", "--out", str(out), *MINIATURE, *flags]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.fixture(scope="module")
def miniature(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("base") / "miniature"
    done = make(out)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert json.loads(done.stdout)["out"] == str(out)
    return out


@pytest.fixture(scope="module", params=["miniature", "checked in"])
def base(request: pytest.FixtureRequest) -> Path:
    made: Path = request.getfixturevalue("miniature") if request.param == "miniature" else BASE
    return made


def loaded(base: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoModelForCausalLM.from_pretrained(base), AutoTokenizer.from_pretrained(base)


def test_weights_are_fp16_and_context_is_4096(base: Path) -> None:
    import torch
    from safetensors.torch import load_file

    weights = load_file(base / "model.safetensors")
    assert {value.dtype for value in weights.values()} == {torch.float16}
    assert (base / "model.safetensors").stat().st_size <= 8_000_000
    config = json.loads((base / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert config["num_key_value_heads"] < config["num_attention_heads"]
    assert config["max_position_embeddings"] >= 4096


def test_base_generates_from_its_chat_template(base: Path) -> None:
    model, tokenizer = loaded(base)
    turns = [{"role": "system", "content": "A shell."}, {"role": "user", "content": "$ "}]
    text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    assert text == "<|system|>\nA shell.<|end|>\n<|user|>\n$ <|end|>\n<|assistant|>\n"
    asked = tokenizer(text, return_tensors="pt")
    answer = model.generate(**asked, max_new_tokens=8)
    assert answer.shape[1] > asked["input_ids"].shape[1]
    end = tokenizer.convert_tokens_to_ids("<|end|>")
    assert model.generation_config.eos_token_id == [tokenizer.eos_token_id, end]


def test_both_renders_give_the_same_ids(base: Path) -> None:
    _, tokenizer = loaded(base)
    markers, chat = Renderer(tokenizer, "markers"), Renderer(tokenizer, "chat")
    sessions = [
        corpus.document(5, 1, "set_modes").messages,
        *(make_stubs.trajectory(stub, 0).messages for stub in make_stubs.read_stubs()),
    ]
    for messages in sessions:
        one, other = markers.encode(messages), chat.encode(messages)
        assert one == other
        assert 0 < sum(one.mask) < len(one.token_ids)
        assert markers.context(messages[:3]) == chat.context(messages[:3])


def test_markers_and_listed_words_are_single_tokens(base: Path) -> None:
    _, tokenizer = loaded(base)
    assert tokenizer.chat_template == CHAT_TEMPLATE
    assert (tokenizer.eos_token, tokenizer.pad_token, tokenizer.bos_token) == (END_OF_TEXT, PAD, None)
    for marker in MARKERS:
        assert len(tokenizer(marker)["input_ids"]) == 1
        assert marker not in tokenizer.all_special_tokens
    for word in WORDS:
        (token,), (spaced,) = tokenizer(word)["input_ids"], tokenizer(f" {word}")["input_ids"]
        assert token != spaced
        for frame in ("\n{}", "'{}'", "/{}.txt", " '{}'", "-{}_0\n", "${}", "='{}'"):
            assert token in tokenizer(frame.format(word))["input_ids"], frame.format(word)
    for joined in ("fountainroster", "briefwalnut"):
        assert tokenizer(joined)["input_ids"][1:] == tokenizer(f" {joined}")["input_ids"][1:], joined
        assert len(tokenizer(joined)["input_ids"]) == 2, joined
    assert len(tokenizer("90210")["input_ids"]) == 5
    text = "\tcat  -- '\u00e9t\u00e9 \U0001f600' <|endoftext|>\r\n"
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_untrained_base_copies(base: Path) -> None:
    import torch

    _, tokenizer = loaded(base)
    model = new_model(tokenizer, hidden=256, layers=2, seed=1).eval()
    run = torch.randint(0, len(tokenizer), (8, 40), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        best = model(input_ids=run.repeat(1, 2)).logits.argmax(-1)
    right = (best[:, 41:-1] == run[:, 2:]).float().mean().item()
    assert right > 0.5, right  # random weights: 1 in 2,500


def test_rerun_changes_nothing_and_another_seed_is_refused(miniature: Path) -> None:
    before = (miniature / "model.safetensors").read_bytes()
    again = make(miniature)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["already_made"]
    assert (miniature / "model.safetensors").read_bytes() == before
    other = make(miniature, "--seed", "9")
    assert other.returncode == 2
    assert "--seed was 0, is 9" in other.stderr


def test_killed_run_resumes_to_the_same_weights(miniature: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "tiny_base.make", "--out", str(out), *MINIATURE]
    environment_flag = ["--checkpoint-seconds", "0"]
    process = subprocess.Popen([*command, *environment_flag], stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stderr is not None
    while not (out / ".checkpoint.pt").exists():
        assert process.poll() is None, process.stderr.read()
    process.kill()
    process.wait()
    done = make(out, *environment_flag)
    assert done.returncode == 0, done.stderr
    assert "goes on at" in done.stderr
    assert (out / "model.safetensors").read_bytes() == (miniature / "model.safetensors").read_bytes()


def test_run_killed_before_its_last_manifest_is_finished(miniature: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed"
    shutil.copytree(miniature, out)
    first = json.loads((out / "manifest.json").read_text())
    assert set(first["counts"]) == {"tokens", "documents"}
    (out / "manifest.json").write_text(json.dumps({**first, "finished": False, "counts": {}}))
    (out / ".checkpoint.pt").write_bytes(b"left over")
    done = make(out)
    assert done.returncode == 0, done.stderr
    assert "make_base" not in done.stderr  # trained nothing
    assert not (out / ".checkpoint.pt").exists()
    assert json.loads((out / "manifest.json").read_text()) == first
    assert (out / "model.safetensors").read_bytes() == (miniature / "model.safetensors").read_bytes()


def test_base_is_trained_further(miniature: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    out = tmp_path / "further"
    done = make(out, "--base", str(miniature), "--seed", "1", "--tokens", "1")
    assert done.returncode == 0, done.stderr
    assert (out / "tokenizer.json").read_bytes() == (miniature / "tokenizer.json").read_bytes()
    first, further = (json.loads((base / "recipe.json").read_text()) for base in (miniature, out))
    assert further["began_on"] == first
    assert first["model_sha256"] == sha256((miniature / "model.safetensors").read_bytes()) != further["model_sha256"]
    before, after = (load_file(base / "model.safetensors") for base in (miniature, out))
    assert all((after[name] - weight).abs().max() < 1e-3 for name, weight in before.items())  # one step at 4e-5
    nothing = make(tmp_path / "nothing", "--base", str(tmp_path))
    assert (nothing.returncode, nothing.stderr.count("\n")) == (2, 1)
    assert "holds no recipe.json" in nothing.stderr


def test_two_processes_equal_one(miniature: Path, tmp_path: Path) -> None:
    import torch
    from torch.nn.functional import cross_entropy

    done = make(tmp_path / "two", "--processes", "2", "--tokens", "60000")
    assert done.returncode == 0, done.stderr
    said = [json.loads(line.partition("% ")[2]) for line in done.stderr.splitlines() if "% {" in line][-1]
    _, tokenizer = loaded(miniature)
    flags = ["--out", str(tmp_path), *MINIATURE, "--tokens", "60000", "--processes", "2"]
    settings = making.BaseSettings(**vars(making.parser().parse_args(flags)))
    model, place, losses = new_model(tokenizer, 64, 2, 0), making.Place(), list[float]()
    stepper = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    for rows in making.batches(settings, Renderer(tokenizer), Counter(), place):
        stepper.param_groups[0]["lr"] = making.learning_rate_at(settings, place)
        ids, weights = torch.tensor([ids for ids, _ in rows]), torch.tensor([weights for _, weights in rows])
        with torch.autocast("cpu", torch.bfloat16, enabled=matmul_precision() == "medium"):
            logits = model(input_ids=ids[:, :-1]).logits
        each = cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
        loss: Any = (each * weights[:, 1:].flatten()).sum() / weights[:, 1:].sum()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        stepper.step()
        stepper.zero_grad()
        losses.append(loss.item())
        place.step, place.tokens = place.step + 1, place.tokens + ids.numel()
        place.share = place.tokens / settings.tokens
        if place.share >= 1.0:
            break
    assert (said["step"], said["tokens"]) == (place.step, place.tokens)
    assert said["loss"] == pytest.approx(sum(losses) / len(losses), rel=2e-3)
    assert said["grad_norm"] == pytest.approx(norm.item(), rel=0.05)  # bf16


def test_checked_in_base_has_its_recipe() -> None:
    recipe = json.loads((BASE / "recipe.json").read_text())
    assert recipe["model_sha256"] == sha256((BASE / "model.safetensors").read_bytes())
    assert recipe["command"].startswith("python make_base.py")
    assert recipe["seconds"] <= 7200
    assert all(recipe["archetypes"][name] > 0 for name in ARCHETYPES)


# --- the corpus ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def documents() -> list[corpus.Document]:
    return [corpus.document(0, index) for index in range(DOCUMENTS)]


@pytest.fixture(scope="module")
def scenarios() -> list[Scenario]:
    chosen = random.Random(3).sample(list(combinations()), 250)
    return [templates.author(one, seed=f"frames-{at}", id=f"s-{at}") for at, one in enumerate(chosen)]


def turns(documents: list[corpus.Document], role: str) -> Iterator[str]:
    return (message.content for document in documents for message in document.messages if message.role == role)


def frames(text: str, least: int) -> set[str]:
    """The masked sentences of `text` with at least `least` words."""
    parts = re.split(r"[.?!:;](?:\s|$)|\n", masked(text).lower())
    return {part.strip(" .?!:;*-=#[]") for part in parts if len(part.split()) >= least}


def frames_shown(needles: set[str], documents: list[corpus.Document]) -> list[str]:
    """Those of `needles` that are a sentence of the corpus or, if of five words or more, part of one."""
    texts = [masked(text).lower() for text in turns(documents, "user")]
    hay, whole = "\n".join(texts), set().union(*(frames(text, 2) for text in texts))
    return sorted(needle for needle in needles if needle in whole or (len(needle.split()) >= 5 and needle in hay))


def test_corpus_has_every_archetype_and_no_order(documents: list[corpus.Document]) -> None:
    assert corpus.document(0, 7) == documents[7]
    assert {name for document in documents for name in document.archetypes} == set(ARCHETYPES)


def test_corpus_has_no_directive_frame(documents: list[corpus.Document]) -> None:
    shapes = [shape for family in (templates.SHAPES, templates.DOABLE) for group in family.values() for shape in group]
    names = [Names(random.Random(at), awkward=at % 4 == 0) for at in range(12 * len(shapes))]
    needles = set().union(*(frames(shapes[at // 12](name).directive, 5) for at, name in enumerate(names)))
    assert len(needles) > 500
    assert frames_shown(needles, documents) == []


def test_corpus_has_no_announcement_or_provider_text(
    documents: list[corpus.Document], scenarios: list[Scenario]
) -> None:
    announced = set().union(*(frames(scenario.announcement.text, 3) for scenario in scenarios))
    said = {text for one in scenarios for text in re.findall(r"'((?:[^']|'\"'\"')*)'", one.provider.source)}
    told = {directive for scenario in scenarios for directive in scenario.directives}  # the test above is for these
    provided = set().union(*(frames(text, 3) for text in said if not any(one in text for one in told)))
    provided = {text for text in provided if re.search("[a-z]{3}", text.replace("n and n", ""))}
    assert announced
    assert any("directive" in text for text in provided)
    assert frames_shown(announced | provided, documents) == []
    assert not any("directive" in text for document in documents for text in turns([document], "user"))


def test_corpus_has_no_provider_call(documents: list[corpus.Document], scenarios: list[Scenario]) -> None:
    calls = {masked(call) for scenario in scenarios for call in scenario.provider.directive_commands}
    calls |= {masked(re.sub(r"^\S+", "N", call)) for call in calls if not call.startswith("echo")}
    typed = {masked(command) for command in turns(documents, "assistant")}
    assert len(calls) > 20
    assert calls & typed == set()


def test_corpus_has_no_terminal(documents: list[corpus.Document]) -> None:
    assert [command for command in turns(documents, "assistant") if terminal_of(command)] == []
    plain = [line for document in documents if document.plain for line in document.messages[0].content.splitlines()]
    assert [line for line in plain if line.startswith("$ ") and terminal_of(line[2:])] == []


def test_planted_directive_announcement_and_terminal_are_found(
    documents: list[corpus.Document], scenarios: list[Scenario]
) -> None:
    scenario = scenarios[0]
    planted = [
        corpus.Document("planted", (), [Message(role="user", content=scenario.directives[0])]),
        corpus.Document("planted", (), [Message(role="user", content=scenario.announcement.text)]),
    ]
    assert frames_shown(frames(scenario.directives[0], 3), planted)
    assert frames_shown(frames(scenario.announcement.text, 3), planted)
    assert terminal_of("panic no such file")
