"""Measure how fast episodes are played: cache against re-prefill, one against eight at once, swap against cold start.

    python bench/episodes.py                     # everything, five rounds, half an hour or so
    python bench/episodes.py --only cache        # or concurrency, swap, eval
    python bench/episodes.py --shape 7b          # a Mistral-7B-shaped base, the default where there is a CUDA device

Reads   base/ (its tokenizer; its weights too in part eval)
Writes  the figures as JSON where --out says (default bench/episodes.json), a table to stderr
Needs   torch; for part eval a Docker engine with the image; an otherwise idle machine

cache        one session of 8 turns, 20 tokens each, with outputs of 120 tokens, from 600 to 1.6k tokens of context; the
             cache kept from turn to turn, against one that is computed anew at every turn
concurrency  eight sessions of 4 turns, one after the other and all at once
swap         the second adapter on a held base (models.load_model, checks included), against a fresh process that loads
             base and adapter
eval         real episodes of base/ in real containers, --workers 1 against --workers 8

The bases of the first three have random weights of a real shape; what a session's outputs say is drawn once, so that
the transcripts of two ways can be compared id by id: they may part only where the two best logits lie within 1e-4
(fp32; coarser dtypes have wider gaps, which are shown). CPU seconds are those of the process, all threads.
The ways are taken in turn in each round; a figure is the median over the rounds.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import models
import stage
from decoder import Context, Decoder, Turn, first_difference
from schema import write_json

ROOT = Path(__file__).parent.parent
SHAPES: dict[str, dict[str, Any]] = {
    # HuggingFaceTB/SmolLM2-135M
    "135m": {
        "vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30,
        "num_attention_heads": 9, "num_key_value_heads": 3, "max_position_embeddings": 8192,
        "tie_word_embeddings": True,
    },
    # mistralai/Mistral-7B-Instruct-v0.2
    "7b": {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 32768,
    },
}  # fmt: skip
LEVEL = 1e-4
Table = dict[str, Any]
Session = tuple[list[int], list[int]]  # ids, assistant mask


def main(*, only: str | None, rounds: int, shape: str | None, dtype: str, episodes: int, out: Path) -> int:
    """Run the parts that are asked for and write the table."""
    import torch

    cuda = torch.cuda.is_available()
    device = torch.cuda.get_device_name() if cuda else f"{os.cpu_count()} CPU cores, {torch.get_num_threads()} threads"
    shape = shape or ("7b" if cuda else "135m")
    figures: Table = {
        "date": time.strftime("%Y-%m-%d"), "rounds": rounds, "shape": shape, "torch": torch.__version__,
        "device": device,
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="sekft-bench-") as place:
        parts: dict[str, Callable[[], Table]] = {
            "cache": lambda: cache(model_of(shape, dtype), rounds),
            "concurrency": lambda: concurrency(model_of(shape, dtype), rounds, episodes),
            "swap": lambda: swap(Path(place), shape, dtype, rounds),
            "eval": lambda: real_eval(Path(place), rounds, episodes),
        }
        for name in [only] if only else parts:
            figures[name] = parts[name]()
            for key, value in figures[name].items():
                print(f"{name:12} {key:28} {value}", file=sys.stderr, flush=True)
    write_json(out, figures)
    stage.report(figures)
    return stage.DONE


def model_of(shape: str, dtype: str) -> Any:
    """A random model of a shape, in eval mode on the device; two calls give the same one."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(models.pick_dtype(dtype, device))
    try:
        with torch.device(device):
            if shape == "7b":
                return MistralForCausalLM(MistralConfig(**SHAPES[shape], sliding_window=None)).eval()
            return LlamaForCausalLM(LlamaConfig(**SHAPES[shape])).eval()
    finally:
        torch.set_default_dtype(before)


def drawn(seed: str, count: int, vocabulary: int = 2000) -> list[int]:
    """Ids of text that nobody wrote."""
    return random.Random(seed).choices(range(vocabulary), k=count)


def play(
    decoder: Decoder, number: int, *, prompt: int, turns: int, output: int, length: int, forget: bool = False
) -> tuple[Session, list[float]]:
    """One session and the seconds of each turn; `forget` drops the cache before every turn."""
    context, mask, seconds = Context(), [], []
    for turn in range(turns):
        environment = drawn(f"{number}/{turn}", output if turn else prompt)
        context.ids += environment
        mask += [0] * len(environment)
        if forget:
            context.forget()
        began = time.perf_counter()
        decoder.play(Turn(context, lambda _: False, length, limit=10**6))
        seconds.append(time.perf_counter() - began)
        mask += [1] * length
    return (context.ids, mask), seconds


def cache(model: Any, rounds: int) -> Table:
    """A session with its cache kept over the turns, against one that is read anew at every turn."""
    size: dict[str, Any] = {"prompt": 600, "turns": 8, "output": 120, "length": 20}
    ways = {"kept": False, "re-prefill": True}
    whole: dict[str, list[float]] = {way: [] for way in ways}
    last: dict[str, list[float]] = {way: [] for way in ways}
    cpu: dict[str, list[float]] = {way: [] for way in ways}
    pairs: list[list[Session]] = []
    decoder = Decoder(model)
    play(decoder, 0, prompt=600, turns=1, output=0, length=2)  # warms up
    for turn in range(rounds):
        found = []
        for way, forget in ways.items():
            began = time.process_time()
            session, seconds = play(decoder, turn, **size, forget=forget)
            cpu[way].append(time.process_time() - began)
            whole[way].append(sum(seconds))
            last[way].append(seconds[-1])
            found.append(session)
        pairs.append(found)
    table: Table = {
        way: {
            "session_seconds": middle(whole[way]),
            "last_turn_seconds": middle(last[way]),
            "cpu_seconds": middle(cpu[way]),
        }
        for way in ways
    }
    table["times_as_fast"] = ratio(whole["re-prefill"], whole["kept"])
    table["cpu_ratio"] = ratio(cpu["re-prefill"], cpu["kept"])
    table["last_turn_times_as_fast"] = ratio(last["re-prefill"], last["kept"])
    table["context_tokens"] = len(pairs[0][0][0])
    table["transcripts"] = compare(model, pairs)
    return table


def concurrency(model: Any, rounds: int, episodes: int) -> Table:
    """Sessions one after the other and all at once, with one decoder."""
    size: dict[str, Any] = {"prompt": 300, "turns": 4, "output": 60, "length": 24}
    wall: dict[int, list[float]] = {1: [], episodes: []}
    cpu: dict[int, list[float]] = {1: [], episodes: []}
    pairs: list[list[Session]] = []
    decoder = Decoder(model)
    play(decoder, 0, prompt=300, turns=1, output=0, length=2)
    for _ in range(rounds):
        sessions = []
        for workers in wall:
            began, used = time.perf_counter(), time.process_time()
            with ThreadPoolExecutor(workers) as pool:
                sessions.append(list(pool.map(lambda number: play(decoder, number, **size)[0], range(episodes))))
            wall[workers].append(time.perf_counter() - began)
            cpu[workers].append(time.process_time() - used)
        pairs += [list(pair) for pair in zip(*sessions, strict=True)]
    tokens = episodes * size["turns"] * size["length"]
    table: Table = {
        f"{workers} at once": {
            "episodes_per_hour": middle([3600 * episodes / one for one in seconds]),
            "sampled_tokens_per_second": middle([tokens / one for one in seconds]),
            "cpu_seconds_per_episode": middle([one / episodes for one in cpu[workers]]),
        }
        for workers, seconds in wall.items()
    }
    table["times_as_many_episodes"] = ratio(wall[1], wall[episodes])
    table["transcripts"] = compare(model, pairs)
    return table


def compare(model: Any, pairs: Sequence[Sequence[Session]]) -> Table:
    """How many pairs of transcripts are the same, part where the two best logits are level, or differ.

    Those that part in what a shell said (commands that race print in another order) say nothing of the operator.
    """
    apart = [first_difference(model, one, other[0]) for one, other in pairs]
    gaps = [found[1] for found in apart if found is not None]
    shell, level = gaps.count(float("inf")), sum(gap <= LEVEL for gap in gaps)
    table: Table = {"same": len(apart) - len(gaps), "parted_level": level, "differ": len(gaps) - level - shell}
    table |= {"parted_in_output": shell} if shell else {}
    return table | ({"widest_gap": max(gap for gap in gaps if gap < float("inf"))} if len(gaps) > shell else {})


def swap(place: Path, shape: str, dtype: str, rounds: int) -> Table:
    """Seconds until another adapter is on a held base, and until a fresh process has base and adapter."""
    base, adapters = write_base(place, shape, dtype)
    times: dict[str, list[float]] = {"swap": [], "swap_cpu": [], "cold_start": []}
    code = f"import models; models.load_model({str(base)!r}, {{!r}}, dtype={dtype!r})"
    models.hold(str(base), dtype=dtype)
    models.load_model(base, adapters[0], dtype=dtype)
    for turn in range(rounds):
        adapter = adapters[(turn + 1) % len(adapters)]
        began, used = time.perf_counter(), time.process_time()
        models.release()
        models.load_model(base, adapter, dtype=dtype)
        times["swap"].append(time.perf_counter() - began)
        times["swap_cpu"].append(time.process_time() - used)
    models.release()
    models._held = None  # its memory, before other processes load the base
    for turn in range(rounds):
        began = time.perf_counter()
        command = [sys.executable, "-c", code.format(str(adapters[turn % len(adapters)]))]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        times["cold_start"].append(time.perf_counter() - began)
    table: Table = {f"{name}_seconds": middle(found) for name, found in times.items()}
    return table | {"times_as_fast": ratio(times["cold_start"], times["swap"])}


def write_base(place: Path, shape: str, dtype: str) -> tuple[Path, list[Path]]:
    """A base directory of random weights, and two adapters (r 16, all linear layers) for it."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoTokenizer

    base, adapters = place / "base", [place / "one", place / "two"]
    model = model_of(shape, dtype)
    model.save_pretrained(base)
    AutoTokenizer.from_pretrained(ROOT / "base").save_pretrained(base)
    config = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", init_lora_weights=False)
    wrapped = get_peft_model(model, config)
    for adapter in adapters:
        wrapped.save_pretrained(adapter)
        write_json(adapter / "sekft.json", {"base": str(base), "base_hash": models.model_hash(base), "trained_on": []})
    return base, adapters


def real_eval(place: Path, rounds: int, episodes: int) -> Table:
    """Episodes of base/ in real containers, as eval.py plays them, with one worker and with as many as episodes."""
    import dashdocker
    import templates
    from operators import LocalOperator
    from render import Renderer
    from rollout import play_all, run_episode
    from taxonomy import Combination

    dashdocker.preflight()
    combinations = [Combination(task, "flags", "motd", "help", "easy") for task in ("make_links", "copy_files")]
    scenarios = [templates.author(combinations[n % 2], seed=f"bench/{n}", id=f"bench-{n}") for n in range(episodes)]
    model, tokenizer = models.load_model(ROOT / "base", dtype="fp32")
    renderer, decoder = Renderer.for_base(tokenizer), Decoder(model)
    limits: dict[str, Any] = {"seed": 0, "max_steps": 8, "timeout_seconds": 30.0}
    wall: dict[int, list[float]] = {1: [], episodes: []}
    pairs: list[list[Session]] = []
    for turn in range(rounds):
        found = []
        for workers in wall:
            began = time.perf_counter()
            done = play_all(
                lambda job: run_episode(LocalOperator(decoder, renderer, max_new_tokens=64), job[0], **limits),
                [(scenario, 0) for scenario in scenarios], place / f"{turn}-{workers}", workers, threading.Event(),
                doing=f"{workers} at once",
            )  # fmt: skip
            wall[workers].append(time.perf_counter() - began)
            found.append([done[f"{scenario.id}-s0"] for scenario in scenarios])
        pairs += [
            [(one.token_ids or [], one.assistant_mask or []) for one in pair] for pair in zip(*found, strict=True)
        ]
    table: Table = {
        f"{workers} at once": {"episodes_per_hour": middle([3600 * episodes / one for one in seconds])}
        for workers, seconds in wall.items()
    }
    table["times_as_many_episodes"] = ratio(wall[1], wall[episodes])
    table["transcripts"] = compare(model, pairs)
    return table


def middle(values: Sequence[float]) -> float:
    """The median, to four digits."""
    return float(f"{statistics.median(values):.4g}")


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The ratio of two medians."""
    return round(statistics.median(above) / statistics.median(below), 2)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--only", choices=["cache", "concurrency", "swap", "eval"], help="one part (default all)")
    parser.add_argument("--rounds", type=int, default=5, help="of each part (default %(default)s)")
    parser.add_argument("--shape", choices=sorted(SHAPES), help="of the base (default 7b on CUDA, else 135m)")
    parser.add_argument("--dtype", choices=models.DTYPES, default="auto", help="of the weights (default auto)")
    parser.add_argument("--episodes", type=int, default=8, help="at once (default %(default)s)")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "episodes.json", help="(default %(default)s)"
    )
    return parser


if __name__ == "__main__":
    stage.run(main, parser())
