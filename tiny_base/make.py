"""Make a tiny base model with its own tokenizer, offline. It knows shell commands, but no session of this project.

    python -m tiny_base.make --out /tmp/base --tokens 200000

Reads   nothing (tiny_base/corpus.py writes the corpus on the fly), or the base to train further
Writes  <out>/config.json, model.safetensors (fp16), tokenizer.json, tokenizer_config.json, generation_config.json,
        recipe.json, manifest.json; <out>/.checkpoint.pt and <out>/.meeting while it runs
Needs   one core and a minute for a miniature; two hours at most for the base that is checked in

The model is a Llama with grouped-query attention, trained from random weights on `corpus.documents`. It is trained by
--processes of one thread each, which sum their gradients: at this size that is faster than threads of one process. A
killed run continues from its last checkpoint. The same flags give the same weights on the same machine, unless
--max-seconds shortened the schedule. A long run gets slower as glibc fragments its memory; preload tcmalloc against
that (LD_PRELOAD=…/libtcmalloc_minimal.so.4). The markers `<|system|>` `<|user|>` `<|assistant|>` `<|end|>` are ordinary
tokens and the chat template writes them, so that both renders give this base the same text. There is no BOS token;
`<|endoftext|>` separates documents.
"""

import json
import math
import os
import random
import re
import shlex
import signal
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline import stage
from authoring import templates
from authoring.templates.words import CALLED, CALLS, WORDS
from model.loading import matmul_precision
from model.render import Renderer
from pipeline.files import read_json, write_json
from schema import BadInputError, Message, sha256
from taxonomy import ARCHETYPES
from tiny_base import corpus
from tiny_base.induction import QUIET, ROPE_THETA, write_embeddings, write_induction_heads, write_previous_id_heads

MARKERS = ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>")
END_OF_TEXT, PAD = "<|endoftext|>", "<|pad|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
# GPT-2's pattern without contractions and with digits one by one. Each listed word is one token, with and without a
# space before it. With the space as a token of its own, every word would be two positions after the word before it, and
# copying, which attends one position back, is then not learned in a run of this length. For the same reason a name made
# of two listed words is cut between them: smaller pieces would differ after a space.
LISTED = "|".join(sorted((*WORDS, *CALLED), key=len, reverse=True))
PIECES = rf" ?(?:{LISTED})(?=(?:{LISTED})?(?![A-Za-z]))"
PIECES += r"| ?[A-Za-z]+|\d| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+|[^\sA-Za-z]+"
NAME = re.compile("(?<![A-Za-z]) ?(?:" + "|".join(sorted(WORDS, key=len, reverse=True)) + ")(?![A-Za-z])")
WHOLE_WORDS = tuple(f"{space}{word}" for word in (*WORDS, *CALLED, *CALLS, "exit", "panic") for space in ("", "\u0120"))

ROW_TOKENS, PACKED_FROM = 1536, 0.8  # length of a packed row; share of the run after which rows are packed
DECAY_FROM = 0.35  # share of the run; the learning rate is constant until then
LENGTH_STEP = 16  # rows are padded to a multiple: every new shape compiles kernels and fragments memory
BLOCK_DOCUMENTS = 256  # documents whose batches are shuffled together
ENVIRONMENT_WEIGHT = 0.1  # loss weight of tokens of the shell and the user
TOKENIZER_DOCUMENTS = 3000
EVAL_SEED = 1_000_003  # corpus seed of the report's held-out documents


@dataclass(frozen=True)
class BaseSettings:
    """The flags."""

    out: Path
    base: str | None
    tokens: int
    max_seconds: float | None
    seed: int
    processes: int
    vocab_size: int
    hidden: int
    layers: int
    batch_tokens: int
    lr: float
    eval_documents: int
    checkpoint_seconds: float
    redo: bool

    @property
    def checkpoint(self) -> Path:
        """The checkpoint's file."""
        return self.out / ".checkpoint.pt"

    def deciding_flags(self) -> dict[str, Any]:
        """The flags that decide the weights and their evaluation, for the manifest."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("out", "base", "checkpoint_seconds", "redo")
        }  # fmt: skip


def main(settings: BaseSettings) -> int:
    """Train, evaluate and write the base."""
    out, before = settings.out, Path(settings.base) if settings.base else None
    if before and not (before / "recipe.json").is_file():
        raise BadInputError(f"{before}: holds no recipe.json; --base is a directory that tiny_base.make wrote")
    flags = settings.deciding_flags()
    manifest = stage.begin(
        out, stage="make_base", flags=flags, inputs=[before] if before else [], redo=settings.redo
    )  # fmt: skip
    if manifest.finished:
        stage.print_summary({"out": str(out), "already_made": True, **manifest.counts})
        return stage.DONE
    recipe_path = out / "recipe.json"
    if recipe_path.exists():  # the run was killed after this file was written and before the manifest was
        recipe = read_json(recipe_path)
    else:
        recipe = make_base(settings, before, manifest.git_commit)
        write_json(recipe_path, recipe)
    settings.checkpoint.unlink(missing_ok=True)
    stage.finish(out, manifest, ids=[], counts={"tokens": recipe["tokens"], "documents": recipe["documents"]})
    exact = recipe["exact_commands"]["all"]["rate"]
    stage.print_summary({"out": str(out), "exact_commands": exact, "seconds": recipe["seconds"], **flags})
    return stage.DONE


def make_base(settings: BaseSettings, before: Path | None, git_commit: str | None) -> dict[str, Any]:
    """Train the base, write its weights and tokenizer, evaluate it; returns the recipe.

    `git_commit` is the commit at which the run started; the files may have changed since.
    """
    out = settings.out
    if not (out / "tokenizer.json").exists():
        tokenizer = tokenizer_of(before) if before else make_tokenizer(settings.seed, settings.vocab_size)
        tokenizer.save_pretrained(out)
    corpus_sha256 = corpus.digest(settings.seed)
    with peers(settings) as meeting:
        model, tokenizer, seen = train_base(settings, 0, meeting)
    model.half().save_pretrained(out)
    return {
        "command": shlex.join(["python", *sys.argv]),
        "git_commit": git_commit,
        "corpus_sha256": corpus_sha256,
        "flags": settings.deciding_flags(),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "model_sha256": sha256((out / "model.safetensors").read_bytes()),
        "exact_commands": count_exact_commands(model.float(), tokenizer, settings.eval_documents),
        **seen,
        **({"began_on": read_json(before / "recipe.json")} if before else {}),
    }


# --- tokenizer -----------------------------------------------------------------------------------------------------


def make_tokenizer(seed: int, vocab_size: int) -> Any:
    """A byte-level BPE tokenizer for the corpus; each digit and each listed word is one token.

    With `ignore_merges` a piece that is in the vocabulary is one token, even if no merges lead to it.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(WHOLE_WORDS) - len(MARKERS) - 2,
        min_frequency=8,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    documents = (corpus.document(seed, index) for index in range(TOKENIZER_DOCUMENTS))
    texts = (message.content for one in documents if one.kind not in ("drill", "echo") for message in one.messages)
    backend.train_from_iterator((NAME.sub("0", text) for text in texts), trainer)
    parts = json.loads(backend.to_str())
    vocabulary = parts["model"]["vocab"]
    for word in WHOLE_WORDS:
        vocabulary.setdefault(word, len(vocabulary))
    parts["model"]["ignore_merges"] = True
    backend = Tokenizer.from_str(json.dumps(parts))
    backend.add_tokens([AddedToken(marker, special=False, normalized=False) for marker in MARKERS])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token=END_OF_TEXT, pad_token=PAD, clean_up_tokenization_spaces=False,
        model_max_length=4096,
    )  # fmt: skip
    fast.chat_template = CHAT_TEMPLATE
    return fast


def tokenizer_of(base: Path) -> Any:
    """The tokenizer of a base that this program wrote."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast.from_pretrained(base)


# --- corpus to rows ------------------------------------------------------------------------------------------------


def encode(document: corpus.Document, renderer: Renderer) -> tuple[list[int], list[float]]:
    """The ids of a document with its end of text, and the loss weight of each id."""
    if document.plain:
        ids = list(renderer.tokenizer(document.messages[0].content)["input_ids"])
        weights = [document.weight] * len(ids)
    else:
        encoded = renderer.encode(document.messages)
        ids = encoded.token_ids
        weights = [document.weight if mask else ENVIRONMENT_WEIGHT for mask in encoded.mask]
    return [*ids, renderer.tokenizer.eos_token_id], [*weights, ENVIRONMENT_WEIGHT]


Row = tuple[list[int], list[float]]


def grouped(
    seed: int,
    block: int,
    batch_tokens: int,
    *,
    processes: int = 1,
    packed: bool,
    renderer: Renderer,
    counts: Counter[str],
) -> list[list[Row]]:
    """The batches of a block in a shuffled order: rows of (ids, weights), padded to one length with weight 0.

    A batch holds at most `batch_tokens` per process, and the same number of rows for each. If not packed, each row is
    one document, and a batch has documents of similar length. If packed, each document, longest first, goes into the
    fullest row of ROW_TOKENS with room for it. Documents longer than ROW_TOKENS are cut.
    """
    rows: list[Row] = []
    for index in range(block * BLOCK_DOCUMENTS, (block + 1) * BLOCK_DOCUMENTS):
        document = corpus.document(seed, index)
        ids, weights = encode(document, renderer)
        if len(ids) > 1:  # a row of one token predicts nothing
            rows.append((ids[:ROW_TOKENS], weights[:ROW_TOKENS]))
        counts.update([document.kind, "documents", *document.archetypes])
        counts["cut"] += len(ids) > ROW_TOKENS
    rows = sorted(rows, key=lambda row: -len(row[0]))
    rows = pack(rows) if packed else rows
    groups: list[list[Row]] = []
    for row in rows:
        if not groups or len(groups[-1]) == processes * max(1, batch_tokens // len(groups[-1][0][0])):
            groups.append([])
        longest = len(groups[-1][0][0]) if groups[-1] else -(-len(row[0]) // LENGTH_STEP) * LENGTH_STEP
        missing = longest - len(row[0])
        groups[-1].append((row[0] + [renderer.tokenizer.pad_token_id] * missing, row[1] + [0.0] * missing))
    random.Random(f"groups/{seed}/{block}").shuffle(groups)
    return groups


def pack(documents: list[Row]) -> list[Row]:
    """Pack documents, sorted by length, into rows of at most ROW_TOKENS; returns the longest row first."""
    rows: list[Row] = []
    for ids, weights in documents:
        fitting = [row for row in rows if len(row[0]) + len(ids) <= ROW_TOKENS]
        if fitting:
            row = max(fitting, key=lambda row: len(row[0]))
            row[0].extend(ids)
            row[1].extend(weights)
        else:
            rows.append((list(ids), list(weights)))
    return sorted(rows, key=lambda row: -len(row[0]))


@dataclass
class Place:
    """Progress of a run, enough to resume. `share` is the fraction of the schedule done."""

    tokens: int = 0
    step: int = 0
    seconds: float = 0.0
    share: float = 0.0
    block: int = 0
    batch: int = 0
    packed: bool = False


def batches(settings: BaseSettings, renderer: Renderer, counts: Counter[str], place: Place) -> Iterator[list[Row]]:
    """Yield batches, the rows of all processes, from `place`, and advance it."""
    while True:
        if place.batch == 0:
            place.packed = place.share >= PACKED_FROM
        seen = Counter[str]()
        groups = grouped(
            settings.seed, place.block, settings.batch_tokens,
            processes=settings.processes, packed=place.packed, renderer=renderer, counts=seen,
        )  # fmt: skip
        if place.batch == 0:
            counts.update(seen)
        while place.batch < len(groups):
            place.batch += 1
            yield groups[place.batch - 1]
        place.block, place.batch = place.block + 1, 0


# --- training ------------------------------------------------------------------------------------------------------


def new_model(tokenizer: Any, hidden: int, layers: int, seed: int) -> Any:
    """A Llama of random weights, with induction heads written into its first two layers, so that it copies.

    Four query heads on two key-value heads, tied embeddings, context 4096.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=hidden * 37 // 16,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        rope_parameters={"rope_type": "default", "rope_theta": ROPE_THETA},
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(seed)
    model = LlamaForCausalLM(config)
    for block in model.model.layers:
        block.self_attn.o_proj.weight.data *= QUIET
        block.mlp.down_proj.weight.data *= QUIET
    write_embeddings(model.model.embed_tokens.weight.data, tokenizer)
    write_previous_id_heads(model.model.layers[0].self_attn)
    write_induction_heads(model.model.layers[1].self_attn)
    ends = [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<|end|>")]
    model.generation_config.update(eos_token_id=ends, pad_token_id=tokenizer.pad_token_id, do_sample=False)
    return model


@dataclass
class TrainState:
    """The state that a checkpoint holds: weights, optimizer, progress, and documents read by kind and archetype."""

    model: Any
    optimizer: Any
    place: Place
    counts: Counter[str]

    def save(self, path: Path) -> None:
        """Write the checkpoint, renamed into place."""
        import torch

        state = {"place": asdict(self.place), "counts": dict(self.counts)}
        half = path.with_suffix(".tmp")
        torch.save({**state, "model": self.model.state_dict(), "stepper": self.optimizer.state_dict()}, half)
        half.replace(path)

    def restore(self, path: Path) -> None:
        """Restore a checkpoint."""
        import torch

        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["stepper"])
        self.counts.update(state["counts"])
        self.place = Place(**state["place"])


@contextmanager
def peers(settings: BaseSettings) -> Iterator[str]:
    """Start ranks 1 and up as processes; yields the rendezvous file. This process is rank 0."""
    import torch.multiprocessing

    meeting = settings.out.absolute() / ".meeting"
    meeting.unlink(missing_ok=True)  # of a run that was killed
    spawn = torch.multiprocessing.get_context("spawn")
    others = [
        spawn.Process(target=train_base, args=(settings, rank, str(meeting)), daemon=True)
        for rank in range(1, settings.processes)
    ]
    for other in others:
        other.start()
    yield str(meeting)
    for other in others:
        other.join()
    meeting.unlink(missing_ok=True)


def train_base(settings: BaseSettings, rank: int, meeting: str) -> tuple[Any, Any, dict[str, Any]]:
    """Train this process's share of each batch; returns model, tokenizer, counts.

    Starts from `settings.base` if given. Resumes from <out>/.checkpoint.pt, which rank 0 writes every
    `checkpoint_seconds`. The schedule follows the share of tokens or of rank 0's seconds, whichever is greater.

    Raises: RuntimeError when another process ended early.
    """
    import torch
    from torch import distributed
    from transformers import LlamaForCausalLM

    if rank > 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 ends the run
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision(matmul_precision())
    if settings.processes > 1:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        distributed.init_process_group(
            "gloo", init_method=f"file://{meeting}", rank=rank, world_size=settings.processes
        )  # fmt: skip
    tokenizer = tokenizer_of(settings.out)
    if settings.base:
        model = LlamaForCausalLM.from_pretrained(settings.base, dtype=torch.float32).train()
    else:
        model = new_model(tokenizer, settings.hidden, settings.layers, settings.seed).train()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=settings.lr, betas=(0.9, 0.95), weight_decay=0.0, fused=True
    )  # fmt: skip
    state = TrainState(model, optimizer, Place(), Counter())
    if settings.checkpoint.exists():
        state.restore(settings.checkpoint)
        if rank == 0:
            at = f"{state.place.tokens} tokens, {state.place.seconds:.0f} s"
            print(f"make_base goes on at {at}", file=sys.stderr, flush=True)
    take_steps(settings, rank, state, batches(settings, Renderer(tokenizer), state.counts, state.place))
    if settings.processes > 1:
        distributed.destroy_process_group()
    place, counts = state.place, state.counts
    counted = {key: counts.pop(key) for key in ("documents", "cut")}
    kinds = {kind: counts.pop(kind, 0) for kind in corpus.KINDS}
    return model, tokenizer, {
        "tokens": place.tokens, "steps": place.step, "seconds": round(place.seconds, 1), **counted,
        "kinds": kinds, "archetypes": {name: counts[name] for name in ARCHETYPES},
    }  # fmt: skip


def take_steps(settings: BaseSettings, rank: int, state: TrainState, batches: Iterator[list[Row]]) -> None:
    """Train from `state.place` to the end of the schedule.

    The loss is the weighted mean over the whole batch, whose rows the processes share.
    """
    import torch

    model, optimizer, place = state.model, state.optimizer, state.place
    parameters, recent = list(model.parameters()), list[float]()
    began = saved_at = time.monotonic()
    before = place.seconds
    for rows in batches:
        lr = optimizer.param_groups[0]["lr"] = learning_rate_at(settings, place)
        loss, weight = weighted_loss(model, rows[rank :: settings.processes])
        loss.backward()
        seconds = before + time.monotonic() - began if rank == 0 else 0.0
        mean, place.seconds = sum_gradients(parameters, [loss.item(), weight, seconds], settings.processes)
        norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        place.step, place.tokens = place.step + 1, place.tokens + sum(len(ids) for ids, _ in rows)
        place.share = max(place.tokens / settings.tokens, place.seconds / (settings.max_seconds or math.inf))
        recent.append(mean)
        if rank == 0 and (place.step % 20 == 0 or place.share >= 1.0):
            row = {
                "step": place.step, "tokens": place.tokens, "loss": round(sum(recent) / len(recent), 4),
                "lr": lr, "grad_norm": round(float(norm), 3), "seconds": round(place.seconds, 1),
                "row_tokens": len(rows[0][0]),
            }  # fmt: skip
            print(f"make_base {place.share:.1%} {json.dumps(row)}", file=sys.stderr, flush=True)
            recent.clear()
        if place.share >= 1.0:
            break
        if rank == 0 and time.monotonic() - saved_at > settings.checkpoint_seconds:
            state.save(settings.checkpoint)
            saved_at = time.monotonic()


def weighted_loss(model: Any, rows: list[Row]) -> tuple[Any, float]:
    """The weighted sum of the rows' losses, and the sum of their weights. Both are 0 where there are no rows."""
    import torch
    from torch.nn.functional import cross_entropy

    rows = rows or [([0, 0], [0.0, 0.0])]
    ids: Any = torch.tensor([ids for ids, _ in rows])  # (B, T)
    weight: Any = torch.tensor([weights for _, weights in rows])[:, 1:].flatten()
    with torch.autocast("cpu", torch.bfloat16, enabled=matmul_precision() == "medium"):
        logits = model(input_ids=ids[:, :-1], use_cache=False).logits  # (B, T - 1, V)
    losses = cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    return (losses * weight).sum(), weight.sum().item()


def learning_rate_at(settings: BaseSettings, place: Place) -> float:
    """The learning rate of a step: 25 steps of warm-up, constant, then a cosine decay to a thirtieth."""
    decay = max(0.0, (place.share - DECAY_FROM) / (1 - DECAY_FROM))
    warm = settings.lr * min(1.0, (place.step + 1) / 25)
    return warm * (1 / 30 + (1 - 1 / 30) * 0.5 * (1 + math.cos(math.pi * decay)))


def sum_gradients(parameters: list[Any], own: list[float], processes: int) -> tuple[float, float]:
    """Sum gradients over processes; returns the mean loss and rank 0's seconds.

    The gradients become those of the whole batch's weighted mean loss. `own` is this process's weighted sum of losses,
    its sum of weights, and its seconds (0 except on rank 0).
    """
    import torch
    from torch import distributed

    sums: Any = torch.cat([torch.tensor(own), *(parameter.grad.flatten() for parameter in parameters)])
    if processes > 1:
        distributed.all_reduce(sums)
    loss, weight, seconds = sums[:3].tolist()
    gradients = sums[3:].split([parameter.numel() for parameter in parameters])
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.view_as(parameter) / weight
    return loss / weight, seconds


# --- evaluation ----------------------------------------------------------------------------------------------------


def count_exact_commands(model: Any, tokenizer: Any, documents: int) -> dict[str, Any]:
    """Count exact commands on held-out documents: n, exact and rate (None where n is 0), by archetype and overall.

    Extra commands that only read files are not counted.
    """
    renderer = Renderer(tokenizer)
    table: dict[str, dict[str, Any]] = {}
    model.eval()
    for archetype in [name for name in ARCHETYPES if name in templates.SHAPES]:
        hits = total = 0
        for index in range(documents):
            document = corpus.document(EVAL_SEED, index, archetype)
            if not document.solutions:
                continue
            for command, right in commands_known(model, renderer, document.messages):
                if command in document.solutions:
                    total, hits = total + 1, hits + right
        table[archetype] = {"n": total, "exact": hits, "rate": round(hits / total, 3) if total else None}
    total, hits = sum(row["n"] for row in table.values()), sum(row["exact"] for row in table.values())
    return {"all": {"n": total, "exact": hits, "rate": round(hits / total, 3) if total else None}, **table}


def commands_known(model: Any, renderer: Renderer, messages: list[Message]) -> list[tuple[str, bool]]:
    """Each command of the session, and whether greedy decoding writes it, given the turns before it.

    It does if the likeliest token is the right one at each position of the command and of its end marker.
    """
    import torch

    encoded = renderer.encode(messages)
    ids = torch.tensor([encoded.token_ids])
    with torch.inference_mode():
        best = model(input_ids=ids, use_cache=False).logits[0].argmax(-1)
    right: list[bool] = (best[:-1] == ids[0, 1:]).tolist()
    known = []
    commands = [message.content for message in messages if message.role == "assistant"]
    for command, (start, end) in zip(commands, encoded.spans, strict=True):
        inside = [at for at, (a, b) in enumerate(encoded.offsets) if start <= a and b <= end and b > a]
        known.append((command, all(right[at - 1] for at in inside)))
    return known


def parser() -> ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--out", type=Path, required=True, help="directory of the base")
    parser.add_argument(
        "--base", help="base to train further; keeps its shape and tokenizer (default: random weights)"
    )  # fmt: skip
    parser.add_argument("--tokens", type=int, default=10_000_000, help="tokens to train on (default %(default)s)")
    parser.add_argument(
        "--max-seconds", type=float,
        help="shorten the schedule to end within this many seconds (default: no limit)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed of corpus and weights (default %(default)s)")
    parser.add_argument(
        "--processes", type=int, default=1, help="training processes; use one per core (default %(default)s)"
    )
    parser.add_argument("--vocab-size", type=int, default=2816, help="maximum vocabulary size (default %(default)s)")
    parser.add_argument("--hidden", type=int, default=256, help="hidden size (default %(default)s)")
    parser.add_argument("--layers", type=int, default=5, help="transformer layers (default %(default)s)")
    parser.add_argument(
        "--batch-tokens", type=int, default=2048, help="tokens per step and process (default %(default)s)"
    )
    parser.add_argument("--lr", type=float, default=1e-3, help="peak learning rate of AdamW (default %(default)s)")
    parser.add_argument(
        "--eval-documents", type=int, default=6,
        help="held-out documents per archetype for the final evaluation (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--checkpoint-seconds", type=float, default=120.0, help="seconds between checkpoints (default %(default)s)"
    )
    parser.add_argument("--redo", action="store_true", help="empty --out and start over")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
