"""Measure the speed of episodes: cache against re-prefill, one against eight at once, swap against cold start.

    python -m bench.episodes                     # everything, five rounds, over half an hour on 2 cores
    python -m bench.episodes --only cache        # or concurrency, swap, eval, eval-shape, into the same file
    python -m bench.episodes --shape 7b          # a Mistral-7B-shaped base, the default where there is a CUDA device

Reads   base/smollm2 (its tokenizer, in part eval its weights); the figures of earlier commands where --out has some
Writes  the figures as JSON to --out (default bench/episodes.json) after every part, a table to stderr
Needs   torch; for eval and eval-shape a Docker engine with the image; an otherwise idle machine

cache        one session of 8 turns, 20 tokens each, with outputs of 120 tokens, from 600 to 1.6k tokens of context; the
             cache is kept from turn to turn, or computed anew at every turn
concurrency  eight sessions of 4 turns, one after the other or all at once
swap         the second adapter on a held base (model.loading.HeldBase, checks included), or a fresh process that loads
             base and adapter
eval         real episodes of base/smollm2 in real containers, with --workers 1 or --workers 8
eval-shape   the same, but shorter, with a base of the chosen shape that has its vocabulary and random weights

The base of the first three parts has random weights. Their outputs are random, but the same in both ways, so that
transcripts can be compared id by id: they may part only where the two best logits differ by less than 1e-4 (fp32;
coarser dtypes have wider gaps, which are shown). CPU seconds count all threads of the process.

The ways run in turn in each round, but for swap (all swaps, then all cold starts); a figure is the median over the
rounds. Peak memory is given above the memory that the process held before, which is given too (by the allocator on
CUDA); for a cold start it is the memory of the whole process. Tokens per second count sampled tokens. On a CUDA device
the first three parts are measured in fp16 and in 4-bit, with shares of the GPU's peak: MFU counts each id that is read
once, HFU also counts ids that are read again.
"""

import argparse
import gc
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

from pipeline import stage
from bench.figures import add, device_name, failures, open_figures, resident, utilisation
from model import loading
from model.decoder import Context, Decoder, Turn, compare_transcripts
from model.hardware import ModelShape, shape_of
from model.loading import HeldBase
from pipeline.files import write_identity
from schema import VOIDED, AdapterIdentity, BadInputError

ROOT = Path(__file__).parent.parent
BASE = ROOT / "base" / "smollm2"  # get_base.py
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
PARTS = ("cache", "concurrency", "swap", "eval", "eval-shape")
Table = dict[str, Any]
Load = dict[str, Any]  # how a base is loaded
Session = tuple[list[int], list[int]]  # ids, assistant mask


def main(
    *,
    only: list[str] | None,
    weights: list[str] | None,
    rounds: int,
    shape: str | None,
    dtype: str | None,
    episodes: int,
    out: Path,
) -> int:
    """Run the chosen parts and write the figures after each."""
    import torch

    cuda = torch.cuda.is_available()
    device = device_name() if cuda else f"{os.cpu_count()} CPU cores, {torch.get_num_threads()} threads"
    shape, dtype = shape or ("7b" if cuda else "135m"), dtype or ("fp16" if cuda else "auto")
    if cuda:
        loading.check_gpu_here(str(BASE), dtype)
    chosen, failed = set(only or PARTS), []
    figures = open_figures(out, {"shape": shape, "dtype": dtype, "torch": torch.__version__, "device": device})

    def put(label: str, table: Table) -> None:
        add(out, figures, label, table, rounds)
        failed.extend(failures(table))
        for key, value in table.items():
            print(f"{label:18} {key:28} {value}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="sekft-bench-") as directory:
        place = Path(directory)
        kinds = weights or (["plain", "4bit"] if cuda else ["plain"])
        if {"cache", "concurrency", "swap"} & chosen:
            base, adapters = write_base(place, shape, dtype)
            form = shape_of(str(base))
            for load_4bit in (kind == "4bit" for kind in kinds):
                load: Load = {"dtype": dtype, "load_4bit": load_4bit}
                of = ", 4-bit" if load_4bit else ""
                if {"cache", "concurrency"} & chosen:
                    model = loading.load_model(base, **load)[0]
                    if "cache" in chosen:
                        put(f"cache{of}", cache(model, form, rounds))
                    if "concurrency" in chosen:
                        put(f"concurrency{of}", concurrency(model, form, rounds, episodes))
                    del model
                    settle()
                if "swap" in chosen:
                    put(f"swap{of}", swap(base, adapters, load, rounds))
        if "eval" in chosen:
            put("eval", real_eval(loading.load_model(BASE, dtype="fp32")[0], place / "own", rounds, episodes))
        if "eval-shape" in chosen:
            vocabulary = shape_of(str(BASE)).vocabulary  # so that every sampled id has a text
            size: dict[str, Any] = {"waves": 2, "steps": 4, "length": 24}
            model = model_of(shape, dtype, vocab_size=vocabulary)
            put("eval-shape", real_eval(model, place / "shape", rounds, episodes, **size))
    stage.print_summary(figures)
    return stage.WORLD_FAILED if failed else stage.DONE


def model_of(shape: str, dtype: str, **changes: Any) -> Any:
    """A random model of a shape with `changes`, in eval mode on the device; the same on every call."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(loading.pick_dtype(dtype, device))
    try:
        with torch.device(device):
            if shape == "7b":
                return MistralForCausalLM(MistralConfig(**SHAPES[shape] | changes, sliding_window=None)).eval()
            return LlamaForCausalLM(LlamaConfig(**SHAPES[shape] | changes)).eval()
    finally:
        torch.set_default_dtype(before)


def random_ids(seed: str, count: int, vocabulary: int = 2000) -> list[int]:
    """Random ids, the same for the same seed."""
    return random.Random(seed).choices(range(vocabulary), k=count)


def play(
    decoder: Decoder, number: int, *, prompt: int, turns: int, output: int, length: int, forget: bool = False
) -> tuple[Session, list[float]]:
    """Decode one session; returns it and the seconds of each turn. `forget` drops the cache before every turn."""
    context, mask, seconds = Context(), [], []
    for turn in range(turns):
        environment = random_ids(f"{number}/{turn}", output if turn else prompt)
        context.ids += environment
        mask += [0] * len(environment)
        if forget:
            context.forget()
        began = time.perf_counter()
        decoder.decode(Turn(context, lambda _: False, length, limit=10**6))
        seconds.append(time.perf_counter() - began)
        mask += [1] * length
    return (context.ids, mask), seconds


class Spent:
    """Wall and CPU seconds of a `with` block, and its peak memory above the memory at its start."""

    wall = cpu = 0.0
    held = peak_bytes = 0

    def __enter__(self) -> Self:
        import torch

        gc.collect()
        self.cuda = torch.cuda.is_available()
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
        else:
            Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
        self.held = torch.cuda.memory_allocated() if self.cuda else resident("VmRSS")
        self.began, self.used = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        import torch

        self.wall, self.cpu = time.perf_counter() - self.began, time.process_time() - self.used
        peak = torch.cuda.max_memory_allocated() if self.cuda else resident("VmHWM")
        self.peak_bytes = max(0, peak - self.held)


def forward_operations(shape: ModelShape, spans: Sequence[tuple[int, int]], sampled: int) -> float:
    """Floating-point operations of reading the ids `begin` to `end` of each span, and of sampling `sampled` ids.

    Counted as in model.hardware.flops: two per weight, half the square for causal attention, the head for sampled ids
    only.
    """
    body = 2 * shape.linear_parameters * sum(end - begin for begin, end in spans)
    attention = 2 * shape.layers * shape.attention * sum(end**2 - begin**2 for begin, end in spans)
    return float(body + attention + 2 * shape.hidden * shape.vocabulary * sampled)


def speed(rows: Sequence[Spent], sampled: int, needed: float, done: float) -> Table:
    """Sampled tokens per second over the rounds of one way; MFU and HFU where the GPU's peak is known."""
    seconds = statistics.median(one.wall for one in rows)
    return {"tokens_per_second": middle([sampled / one.wall for one in rows])} | utilisation(
        needed, done, seconds, device_name()
    )


def cache(
    model: Any, shape: ModelShape, rounds: int, *,
    prompt: int = 600, turns: int = 8, output: int = 120, length: int = 20,
) -> Table:  # fmt: skip
    """Compare a session whose cache is kept with one that reads its context again at every turn."""
    size: dict[str, Any] = {"prompt": prompt, "turns": turns, "output": output, "length": length}
    spent: dict[str, list[Spent]] = {"kept": [], "re-prefill": []}
    last: dict[str, list[float]] = {way: [] for way in spent}
    pairs: list[list[Session]] = []
    decoder = Decoder(model)
    play(decoder, 0, prompt=prompt, turns=1, output=0, length=2)  # warms up
    for turn in range(rounds):
        found = []
        for way in spent:
            with Spent() as one:
                session, seconds = play(decoder, turn, **size, forget=way == "re-prefill")
            spent[way].append(one)
            last[way].append(seconds[-1])
            found.append(session)
        pairs.append(found)
    ends = [
        prompt + turn * (output + length) + length - 1 for turn in range(turns)
    ]  # a turn's last id is read in the next
    sampled = turns * length
    needed = forward_operations(shape, [(0, ends[-1])], sampled)
    done = {"kept": needed, "re-prefill": forward_operations(shape, [(0, end) for end in ends], sampled)}
    table: Table = {
        way: {**median_costs(rows), "last_turn_seconds": middle(last[way]), **speed(rows, sampled, needed, done[way])}
        for way, rows in spent.items()
    }
    kept, anew = spent["kept"], spent["re-prefill"]
    table["times_as_fast"] = ratio([one.wall for one in anew], [one.wall for one in kept])
    table["cpu_ratio"] = ratio([one.cpu for one in anew], [one.cpu for one in kept])
    table["last_turn_times_as_fast"] = ratio(last["re-prefill"], last["kept"])
    table["context_tokens"] = len(pairs[0][0][0])
    table["transcripts"] = transcripts(model, pairs)
    return table


def concurrency(
    model: Any, shape: ModelShape, rounds: int, episodes: int, *, prompt: int = 300, turns: int = 4, length: int = 24
) -> Table:
    """Compare sessions one after the other with all at once, on one decoder."""
    size: dict[str, Any] = {"prompt": prompt, "turns": turns, "output": 60, "length": length}
    spent: dict[int, list[Spent]] = {1: [], episodes: []}
    pairs: list[list[Session]] = []
    decoder = Decoder(model)
    play(decoder, 0, prompt=prompt, turns=1, output=0, length=2)
    for _ in range(rounds):
        sessions = []
        for workers in spent:
            with Spent() as one, ThreadPoolExecutor(workers) as pool:
                sessions.append(list(pool.map(lambda number: play(decoder, number, **size)[0], range(episodes))))
            spent[workers].append(one)
        pairs += [list(pair) for pair in zip(*sessions, strict=True)]
    table = costs_by_workers(spent, episodes)
    sampled, end = episodes * turns * length, prompt + (turns - 1) * (60 + length) + length - 1
    needed = forward_operations(shape, [(0, end)] * episodes, sampled)
    for workers, rows in spent.items():
        table[f"{workers} at once"] |= speed(rows, sampled, needed, needed)
    return table | {"transcripts": transcripts(model, pairs)}


def costs_by_workers(spent: dict[int, list[Spent]], episodes: int) -> Table:
    """The costs of the rounds, by the number of episodes at once: one and more."""
    table: Table = {
        f"{workers} at once": {
            **median_costs(rows),
            "episodes_per_hour": middle([3600 * episodes / one.wall for one in rows]),
        }
        for workers, rows in spent.items()
    }
    table["times_as_many_episodes"] = ratio(*([one.wall for one in spent[count]] for count in (1, max(spent))))
    return table


def median_costs(rows: Sequence[Spent]) -> Table:
    """The medians of the rounds of one way."""
    return {
        "seconds": middle([one.wall for one in rows]),
        "cpu_seconds": middle([one.cpu for one in rows]),
        "held_megabytes": middle([one.held / 1e6 for one in rows]),
        "peak_megabytes_above": middle([one.peak_bytes / 1e6 for one in rows]),
    }


def transcripts(model: Any, pairs: Sequence[Sequence[Session]]) -> dict[str, int | float]:
    """Counts of transcripts of two ways that are equal, part at a tie, or differ."""
    return compare_transcripts(model, [(one, other[0]) for one, other in pairs])


def settle() -> None:
    """Free the memory of models that are no longer used."""
    import torch

    for thread in threading.enumerate():
        if thread.name == "decoder":  # it holds its model until it has been idle for a while
            thread.join()
    gc.collect()
    torch.cuda.empty_cache()


def swap(base: Path, adapters: Sequence[Path], load: Load, rounds: int) -> Table:
    """Compare putting another adapter on a held base with loading base and adapter in a fresh process."""
    swaps: list[Spent] = []
    colds: list[Spent] = []
    held = HeldBase(str(base), **load)
    loading.load_model(base, adapters[0], **load, held=held)
    for turn in range(rounds):
        with Spent() as one:
            held.release()
            loading.load_model(base, adapters[(turn + 1) % len(adapters)], **load, held=held)
        swaps.append(one)
    del held
    settle()
    for turn in range(rounds):
        colds.append(cold_start(base, adapters[turn % len(adapters)], load))
    table: Table = {"swap": median_costs(swaps), "cold_start": median_costs(colds)}
    return table | {"times_as_fast": ratio([one.wall for one in colds], [one.wall for one in swaps])}


def cold_start(base: Path, adapter: Path, load: Load) -> Spent:
    """The costs of a fresh process that loads base and adapter; its peak is that of the whole process, on the host."""
    options = ", ".join(f"{name}={value!r}" for name, value in load.items())
    code = f"from model import loading; loading.load_model({str(base)!r}, {str(adapter)!r}, {options})"
    one, began = Spent(), time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, code
    one.wall, one.cpu = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
    one.peak_bytes = usage.ru_maxrss * 1024
    return one


def write_base(place: Path, shape: str, dtype: str) -> tuple[Path, list[Path]]:
    """Write a base of random weights and two adapters (rank 16, all linear layers); returns their directories."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoTokenizer

    base, adapters = place / "base", [place / "one", place / "two"]
    model = model_of(shape, dtype)
    model.save_pretrained(base)
    AutoTokenizer.from_pretrained(BASE).save_pretrained(base)
    config = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", init_lora_weights=False)
    wrapped = get_peft_model(model, config)
    for adapter in adapters:
        wrapped.save_pretrained(adapter)
        write_identity(adapter, AdapterIdentity(base=str(base), base_hash=loading.model_hash(base)))
    del model, wrapped
    settle()
    return base, adapters


def real_eval(
    model: Any, place: Path, rounds: int, episodes: int, *, waves: int = 4, steps: int = 8, length: int = 64
) -> Table:
    """Compare one episode at a time with `episodes` at once, in real containers as in eval.py.

    Each way plays `waves` times `episodes`; in a single wave, its start and end would weigh too much.
    """
    from transformers import AutoTokenizer

    from authoring import templates
    from model.render import Renderer
    from operators.episode import Episode, EpisodeLimits
    from operators.local import LocalOperator
    from operators.rollouts import RolloutPlan, run_episodes
    from sandbox.containers import require_image
    from taxonomy import Combination

    try:
        require_image()
    except BadInputError as error:
        return {"failed": str(error)}
    combinations = [Combination(task, "flags", "motd", "help", "easy") for task in ("make_links", "copy_files")]
    scenarios = [
        templates.author(combinations[n % 2], seed=f"bench/{n}", id=f"bench-{n}") for n in range(waves * episodes)
    ]
    renderer, decoder = Renderer.for_base(AutoTokenizer.from_pretrained(BASE)), Decoder(model)
    limits = EpisodeLimits(steps, 30.0)
    spent: dict[int, list[Spent]] = {1: [], episodes: []}
    pairs: list[list[Session]] = []
    for turn in range(rounds):
        found = []
        for workers in spent:
            with Spent() as one:
                done = run_episodes(
                    RolloutPlan(
                        lambda: LocalOperator(decoder, renderer, max_new_tokens=length),
                        0, limits, workers, threading.Event(),
                    ),
                    [Episode(scenario) for scenario in scenarios], place / f"{turn}-{workers}",
                    label=f"{workers} at once",
                )  # fmt: skip
            spent[workers].append(one)
            if lost := [one.id for one in done.values() if one.outcome in VOIDED]:
                return {"failed": f"void: {', '.join(lost)}"}
            found.append([done[f"{scenario.id}-s0"] for scenario in scenarios])
        pairs += [
            [(one.token_ids or [], one.assistant_mask or []) for one in pair] for pair in zip(*found, strict=True)
        ]
    return costs_by_workers(spent, len(scenarios)) | {"transcripts": transcripts(model, pairs)}


def middle(values: Sequence[float]) -> float:
    """The median, to four digits."""
    return float(f"{statistics.median(values):.4g}")


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The ratio of two medians."""
    return round(statistics.median(above) / statistics.median(below), 2)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="parts to run (default all)")
    parser.add_argument(
        "--weights",
        nargs="+",
        choices=["plain", "4bit"],
        help="weights of the random base (default both on CUDA, else plain)",
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each part (default %(default)s)")
    parser.add_argument("--shape", choices=sorted(SHAPES), help="shape of the base (default 7b on CUDA, else 135m)")
    parser.add_argument("--dtype", choices=loading.DTYPES, help="dtype of weights (default fp16 on CUDA, else fp32)")
    parser.add_argument("--episodes", type=int, default=8, help="episodes at once (default %(default)s)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).parent / "episodes.json",
        help="file of figures (default bench/episodes.json)",
    )
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
