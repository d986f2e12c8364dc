"""Build tokenizers of three families, a tiny base, scenarios and trajectories, without a network.

    from tests.helpers.tiny import base, tokenizer

    base(tmp_path / "base")

The tokenizers are trained on a page of shell text, so that they merge across the edges of words, newlines and markers
as real ones do. The base is a Llama with grouped-query heads and random weights, which depend only on the seed.
"""

import functools
from pathlib import Path
from typing import Any

from schema import (
    Announcement,
    Message,
    OperatorInfo,
    Provenance,
    Provider,
    Scenario,
    Step,
    Trajectory,
    sha256,
)

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# Mistral-7B-Instruct-v0.2 as first published: no system turn, strict alternation, its own BOS, a space before answers.
MISTRAL = (
    "{{ bos_token }}{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% if m['role'] == 'user' %}{{ '[INST] ' + m['content'] + ' [/INST]' }}"
    "{% elif m['role'] == 'assistant' %}{{ m['content'] + eos_token}}"
    "{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}"
)
# Opens every exchange with BOS and puts spaces around answers, as Llama 2's does.
SPACED = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %}{{ ' ' + m['content'] + ' ' + eos_token }}"
    "{% elif m['role'] == 'user' %}{{ bos_token + '[INST] ' + m['content'] + ' [/INST]' }}"
    "{% else %}{{ '<<SYS>>\n' + m['content'] + '\n<</SYS>>\n\n' }}{% endif %}{% endfor %}"
)
TEMPLATES = {"chatml": CHATML, "mistral": MISTRAL, "spaced": SPACED}
FAMILIES = ("byte_level", "metaspace", "metaspace_legacy", "wordpiece")

_CORPUS = """
<|system|>
This is dash, a POSIX shell, on a Linux machine with a busybox userland and no network. The user is operator.
<|end|>
<|user|>
$ <|end|>
<|assistant|>
ls -la<|end|>
<|assistant|>
cat notes/amber.txt | sort | uniq > out.txt<|end|>
<|user|>
total 12
-rw-r--r--    1 operator operator      14 Jan  1 00:00 amber.txt
drwxr-xr-x    2 operator operator      40 Jan  1 00:00 notes
[INST] grep -n 'word' *.txt [/INST] exit</s> panic the archive is damaged
for f in *.log; do mv "$f" "${f%.log}.txt"; done; echo "done" && printf '%s\\n' a b c
find . -name "*.csv" -exec cut -d, -f2 {} \\; sed -i 's/red/blue/g' config.ini; chmod 640 river.txt
tidebook list; tidebook show 2; tidebook --help; usage: tidebook list | show N; The program tidebook knows
mkdir -p a/b/c; touch a/b/c/d.txt; cp -r a e; tar -xzf pack.tgz; wc -l < lines.txt > count.txt; 0 1 2 3 4 5 6 7 8 9
"""


def _corpus() -> list[str]:
    lines = _CORPUS.splitlines(keepends=True)
    pairs = ["".join(lines[start : start + 3]) for start in range(len(lines))]
    return [*lines, *pairs, *["\n\n\n"] * 50] * 3


@functools.cache
def tokenizer(family: str, template: str = "chatml", vocabulary: int = 512) -> Any:
    """A fast tokenizer of `family` with the chat template of that name. The same object for the same arguments."""
    from transformers import PreTrainedTokenizerFast

    backend, special = {
        "byte_level": _byte_level,
        "metaspace": _metaspace,
        "metaspace_legacy": _metaspace,
        "wordpiece": _wordpiece,
    }[family](vocabulary, legacy=family.endswith("legacy"))
    fast = PreTrainedTokenizerFast(tokenizer_object=backend, clean_up_tokenization_spaces=False, **special)
    fast.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    fast.chat_template = TEMPLATES[template]
    fast.name_or_path = f"tiny-{family}"
    return fast


def _byte_level(vocabulary: int, *, legacy: bool) -> tuple[Any, dict[str, str]]:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.ByteLevel(trim_offsets=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(_corpus(), trainer)
    return backend, {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"}


def _metaspace(vocabulary: int, *, legacy: bool) -> tuple[Any, dict[str, str]]:
    """The kind of Mistral: byte fallback, BOS at the start. With `legacy` the normalizer inserts the space."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    backend = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    bytes_ = [f"<0x{value:02X}>" for value in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=["<unk>", "<s>", "</s>", *bytes_], show_progress=False
    )
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    backend.train_from_iterator(_corpus(), trainer)
    if legacy:
        backend.pre_tokenizer = None
        backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return _plain_bytes(backend, bytes_), {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}


def _plain_bytes(backend: Any, names: list[str]) -> Any:
    """The byte pieces are vocabulary, not special tokens: a trainer knows no other way to put them in."""
    import json

    from tokenizers import Tokenizer

    parts = json.loads(backend.to_str())
    parts["added_tokens"] = [token for token in parts["added_tokens"] if token["content"] not in names]
    return Tokenizer.from_str(json.dumps(parts))


def _wordpiece(vocabulary: int, *, legacy: bool) -> tuple[Any, dict[str, str]]:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False
    )
    backend.train_from_iterator(_corpus(), trainer)
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(name, backend.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return backend, {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def base(
    directory: Path,
    *,
    family: str = "byte_level",
    hidden: int = 64,
    layers: int = 2,
    vocabulary: int = 512,
    seed: int = 0,
) -> Path:
    """Write a base directory (config, fp16 weights, tokenizer) and return it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    fast = tokenizer(family, vocabulary=vocabulary)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(fast), hidden_size=hidden, intermediate_size=hidden * 3, num_hidden_layers=layers,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=4096, tie_word_embeddings=True,
        initializer_range=0.2, bos_token_id=fast.bos_token_id, eos_token_id=fast.eos_token_id,
        pad_token_id=fast.pad_token_id,
    )  # fmt: skip
    LlamaForCausalLM(config).to(torch.float16).save_pretrained(directory)
    fast.save_pretrained(directory)
    return directory


def scenario(
    id_: str = "tiny-1", *, channel: str = "motd", task: str = "copy_files", terminal: Any = "exit"
) -> Scenario:
    """A valid scenario whose content depends on its id. Its checker is not meant to run."""
    place = {"env": "NOTE", "file": "/home/operator/NOTE.txt", "mail": "/home/operator/mbox"}.get(channel)
    return Scenario(
        id=id_,
        task=task,
        provider_kind="subcommand",
        announcement_channel=channel,
        doc_depth="usage",
        difficulty="easy" if terminal == "exit" else "medium",
        provider=Provider(
            path="/usr/local/bin/tidebook",
            source="#!/bin/sh\necho usage\n",
            help_commands=["tidebook"],
            directive_commands=["tidebook show 1"],
        ),
        announcement=Announcement(channel=channel, text=f"The program tidebook of {id_} knows more.", place=place),
        directives=[f"Copy {id_}.txt to copy.txt."],
        fixtures=[],
        checker="test -f copy.txt",
        reference_solution=[f"cp {id_}.txt copy.txt"],
        terminal=terminal,
        provenance=Provenance(author="hand", request_hash=sha256(id_.encode())),
    )


def trajectory(id_: str = "tiny-1-s0", *, task: str = "copy_files", kept: bool = True, steps: int = 3) -> Trajectory:
    """A session of a few steps that ends in `exit`; the same for the same id."""
    from model.render import session_messages

    world = scenario(id_.rsplit("-s", 1)[0], task=task)
    turns: list[tuple[str, str | None]] = [("tidebook", "usage: tidebook show N\n")]
    turns += [(f"cp {world.id}.txt copy{index}.txt", "" if index % 2 else "copied\n") for index in range(steps - 1)]
    return Trajectory(
        id=id_,
        scenario_id=world.id,
        scenario_hash=world.content_hash,
        axes=world.axes(),
        operator=OperatorInfo(kind="reference", seed=0),
        messages=session_messages(world, [*turns, ("exit", None)]),
        steps=[
            Step(
                command=command,
                output=output or "",
                output_bytes=len(output or ""),
                exit_code=0,
                cwd="/home/operator",
                duration_seconds=0.1,
            )
            for command, output in turns
        ],
        terminal="exit",
        verified=kept,
        command_only=True,
        outcome="exit",
        kept=kept,
        reasons=[] if kept else ["not verified"],
    )


def messages_of(*contents: str) -> list[Message]:
    """A short session from texts: system, user, then assistant and user in turn."""
    roles = ["system", "user", *["assistant", "user"] * len(contents)]
    return [
        Message(role=role, content=content)  # type: ignore[arg-type]
        for role, content in zip(roles, contents, strict=False)
    ]
