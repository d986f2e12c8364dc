"""Check text = tokens = text and the mask on real tokenizers, with random sessions.

    pip install -r bench/requirements.txt
    python -m bench.tokenizers --base base/smollm2

Reads   the tokenizer of --base; those in the packages mistral-common (its data/) and llama-models (llama3/)
Writes  the figures as JSON to --out (default bench/tokenizers.json), a table to stdout
Needs   no torch, no Docker; two minutes

Sessions hold what tokenizers stumble over: runs of space, newlines at the edges, emoji, combining letters, control
characters, and every marker and special token spelled out. The packages carry no chat template. So the templates here
are the published ones; Llama 3's strips its contents, is refused for that, and is tried without its `| trim` too.
Characters that a tokenizer has no token for are left out of its sessions and counted.
"""

import argparse
import functools
import importlib.util
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline import stage
from model.render import Renderer, Wire, session_messages
from pipeline.files import write_json
from schema import Announcement, BadInputError, Message

SESSIONS = 500
PIECES = [
    " ", "  ", "   ", "\n", "\n\n", "\t", "$ ", "ls", " -la", "cat notes/amber.txt", "| sort -n", "](", "<", "|>", ">",
    "<|", "end", "<|end|>", "<|end|>\n", "<|assistant|>\n", "<|user|>\n", "<|system|>\n", "</s>", "<s>", "[INST] ",
    "[/INST]", "<|im_end|>", "<|im_start|>user\n", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "<0x0A>", "é",
    "e\u0301", "漢字", "🙂", "👩‍🔬", "\u200b", "\u00a0", "\ufffd", "\r\n", "\x1b[0m", "\x00", "'", '"', "0", "1234567",
    "exit", "panic no such file", "--help", "usage: tide list | show N\n", "total 12\n-rw-r--r--  1 operator",
]  # fmt: skip
MISTRAL = (  # mistralai/Mistral-7B-Instruct-v0.3, less its tools
    "{{ bos_token }}{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}{% if m['role'] == 'user' %}"
    "{{ '[INST] ' + m['content'] + '[/INST]' }}{% elif m['role'] == 'assistant' %}{{ ' ' + m['content'] + eos_token }}"
    "{% else %}{{ raise_exception('no system turn') }}{% endif %}{% endfor %}"
)
LLAMA3 = (  # meta-llama/Meta-Llama-3-8B-Instruct
    "{% for m in messages %}{% if loop.first %}{{ bos_token }}{% endif %}"
    "{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' + m['content'] | trim + '<|eot_id|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
LLAMA3_SPECIALS = [
    "<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>",
    "<|python_tag|>", "<|image|>",
]  # fmt: skip


def main(*, base: Path, sessions: int, seed: int, out: Path) -> int:
    """Check every tokenizer with every render, print the table, write the figures."""
    if sessions < 1:
        raise BadInputError(f"--sessions is {sessions}; it must be at least 1")
    rows = {}
    for name, tokenizer in real_tokenizers(base).items():
        for wire in ("markers", "chat"):
            rows[f"{name}, {wire}"] = row = try_tokenizer(tokenizer, wire, sessions, seed)
            print(f"{name:38} {wire:8} {told(row)}", flush=True)
    write_json(out, {"date": time.strftime("%Y-%m-%d"), "seed": seed, "sessions": sessions, "tokenizers": rows})
    return stage.WORLD_FAILED if any(row.get("violations") for row in rows.values()) else stage.DONE


def told(row: dict[str, Any]) -> str:
    """A row of the table."""
    if "refused" in row:
        return f"refused: {row['refused']}"
    lost = f"; has no token for {row['ascii_characters_lost']} ASCII characters" * (row["ascii_characters_lost"] > 0)
    return f"{row['violations'] or 'no violation'} in {row['sessions']} sessions of {row['tokens']:,} tokens{lost}"


def try_tokenizer(tokenizer: Any, wire: Wire, sessions: int, seed: int) -> dict[str, Any]:
    """Sessions, tokens, and the number of sessions that break each invariant; or why the renderer refuses."""
    try:
        renderer = Renderer.for_base(tokenizer, wire)
    except BadInputError as error:
        return {"refused": str(error).split(": ", 1)[1]}
    broken, tokens, writable = Counter[str](), 0, writable_with(renderer)
    for index in range(sessions):
        messages = random_session(random.Random(f"tokenizers/{seed}/{index}"), writable)
        tokens += len(renderer.encode(messages).token_ids)
        broken.update(violations(renderer, messages))
    lost = sum(not writable(chr(code)) for code in range(128))
    return {"sessions": sessions, "tokens": tokens, "violations": dict(broken), "ascii_characters_lost": lost}


def writable_with(renderer: Renderer) -> Callable[[str], bool]:
    """Whether a character comes back from the tokenizer. SmolLM2's has no token for 21 byte values, and drops them."""
    return functools.cache(lambda one: renderer.decode(renderer.operator_ids(one)) == one + renderer.end_text)


def random_session(rng: random.Random, writable: Callable[[str], bool]) -> list[Message]:
    """A session with one to six commands; texts are made of PIECES and `writable` letters of the whole of Unicode."""

    def text() -> str:
        return "".join(
            rng.choice(PIECES) if rng.random() < 0.85 else letter(rng, writable) for _ in range(rng.randint(0, 8))
        )

    turns: list[tuple[str, str | None]] = [(text(), text()) for _ in range(rng.randint(1, 6))]
    announcement = Announcement(channel="motd", text=text() or "none", place=None)
    return session_messages(_Login(announcement), [*turns[:-1], (turns[-1][0], None)])


def letter(rng: random.Random, writable: Callable[[str], bool]) -> str:
    """A writable character that is no surrogate and none that the template's placeholders are made of."""
    while True:
        code = rng.choice((rng.randint(0, 0x2FF), rng.randint(0, 0xFFFF), rng.randint(0, 0x10FFFF)))
        if not 0xD800 <= code <= 0xDFFF and code not in (0xE000, 0xE001) and writable(chr(code)):
            return chr(code)


class _Login:
    """What a session begins with."""

    def __init__(self, announcement: Announcement) -> None:
        self.announcement = announcement


def violations(renderer: Renderer, messages: list[Message]) -> list[str]:
    """The invariants that a session breaks.

    `text`: ids decode to the session's text; `mask`: 1 exactly on the tokens of commands and their end markers;
    `edge`: no token crosses the edge of a turn; `context`: what the operator reads before each command, and what it
    then writes, are the session's ids; `bos`: one BOS at most, and first.
    """
    encoded = renderer.encode(messages)
    ids, bos = encoded.token_ids, renderer.bos_id
    commands = [message.content for message in messages if message.role == "assistant"]
    edges = {edge for span in encoded.spans for edge in span}
    inside = [any(a <= start < end <= b for a, b in encoded.spans) for start, end in encoded.offsets]
    read: list[int] = []
    contexts, last = True, 0
    for index, message in enumerate(messages):
        if message.role == "assistant":
            read += renderer.environment_ids(messages[last + 1 : index]) if last else renderer.context(messages[:index])
            contexts &= read == renderer.context(messages[:index])
            read += renderer.operator_ids(message.content)
            contexts &= ids[: len(read)] == read
            last = index
    trained = renderer.decode([id_ for id_, on in zip(ids, encoded.mask, strict=True) if on])
    kept = {
        "text": renderer.decode(ids[bos is not None :]) == encoded.text,
        "mask": inside == [bool(on) for on in encoded.mask]
        and [encoded.text[a:b] for a, b in encoded.spans] == [command + renderer.end_text for command in commands]
        and trained == "".join(command + renderer.end_text for command in commands),
        "edge": not any(start < edge < end for start, end in encoded.offsets for edge in edges),
        "context": contexts and read == ids,
        "bos": bos is None or (ids.count(bos) == 1 and ids[0] == bos),
    }
    return [name for name, holds in kept.items() if not holds]


def real_tokenizers(base: Path) -> dict[str, Any]:
    """The tokenizers, by name. Raises BadInputError where a package or the base is missing."""
    from transformers import AutoTokenizer

    from model.loading import check_model, silence_transformers

    silence_transformers()
    check_model(base)
    mistral, llama = data_of("mistral_common") / "data", data_of("llama_models") / "llama3"
    found = {"SmolLM2-135M-Instruct": AutoTokenizer.from_pretrained(base)}
    for name in ("240216.model.v2", "240323.model.v3"):
        found[f"Mistral {name[-2:]} (7B-Instruct v0.{name[-1]})"] = sentencepiece(
            mistral / f"mistral_instruct_tokenizer_{name}"
        )
    found["Llama 3"] = tiktoken(llama / "tokenizer.model", LLAMA3)
    found["Llama 3, template without trim"] = tiktoken(llama / "tokenizer.model", LLAMA3.replace(" | trim", ""))
    return found


def data_of(package: str) -> Path:
    """The directory of an installed package, which is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise BadInputError(f"the package {package} is not installed; pip install -r bench/requirements.txt")
    return Path(spec.submodule_search_locations[0])


def sentencepiece(path: Path) -> Any:
    """The tokenizer of a sentencepiece file, with Mistral's chat template."""
    from transformers import LlamaTokenizerFast

    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "tokenizer.model").write_bytes(path.read_bytes())
        tokenizer = LlamaTokenizerFast.from_pretrained(directory)
    tokenizer.chat_template = MISTRAL
    tokenizer.name_or_path = path.name
    return tokenizer


def tiktoken(path: Path, template: str) -> Any:
    """The tokenizer of a file of ranks, with Llama 3's pattern, special tokens and a chat template."""
    from transformers import PreTrainedTokenizerFast
    from transformers.convert_slow_tokenizer import TikTokenConverter

    reserved = [f"<|reserved_special_token_{index}|>" for index in range(2, 256 - len(LLAMA3_SPECIALS) + 2)]
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+"
    )
    converted = TikTokenConverter(
        str(path), pattern=pattern, extra_special_tokens=LLAMA3_SPECIALS + reserved
    ).converted()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=converted, bos_token="<|begin_of_text|>", eos_token="<|eot_id|>",
        clean_up_tokenization_spaces=False,
    )  # fmt: skip
    tokenizer.chat_template = template
    tokenizer.name_or_path = "llama3"
    return tokenizer


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    stage.add_base_flag(parser, "base whose tokenizer is checked too")
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="random sessions each (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sessions (default 0)")
    parser.add_argument("--out", type=Path, default=Path("bench/tokenizers.json"), help="figures (default %(default)s)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
