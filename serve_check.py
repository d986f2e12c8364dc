"""Find what a server gets wrong with an adapter: template, BOS, truncation, stop strings, sampling, weights.

    python serve_check.py --url http://localhost:8000/v1 --model merged --adapter ckpt-run1
    python serve_check.py --url http://localhost:8080/v1 --model adapter --adapter ckpt-run1 --completions

Reads   the base, the adapter directory; with --scenarios its *.json (schema.Scenario)
Writes  nothing
Needs   torch; a server of base and adapter that speaks OpenAI's protocol; SEKFT_OP_KEY where it wants a key

Asks the server for commands in sessions that the adapter has not read, as `rollout.py --operator endpoint` asks, and
compares its token counts and answers with the model's here. stderr has one line for each check: pass, FAIL with the
remedy, or ? where the answers do not tell. The exit code is 1 where a check fails.

reachable   the server does not answer at this address, or not for this model
bos         it puts one token too many or too few before every prompt
template    it renders the turns otherwise, or reads the markers of a rendered prompt as other tokens
truncation  it cuts or refuses a prompt of --context-tokens
stop        it goes on after the end of the operator's turn
steady      two equal greedy requests have different answers
commands    it gives other commands where the model is sure: another base, no adapter, another adapter
"""

import argparse
import sys
from pathlib import Path

from pipeline import stage
from model.decoder import Decoder
from model.loading import adapter_argument, fetch, load_model
from model.render import Renderer, Wire
from operators.chat import ChatClient
from pipeline.files import read_json
from pipeline.hidden import as_text
from schema import BadInputError
from serving.checks import Served, ask_first, expectations, run_checks
from serving.held_out import held_out_sessions


def main(
    *,
    url: str | None,
    model: str | None,
    completions: bool,
    base: str,
    adapter: Path | None,
    render: Wire | None,
    scenarios: Path | None,
    n: int,
    max_new_tokens: int,
    context_tokens: int,
    timeout_seconds: float,
) -> int:
    """Ask the server, compare, print one line per check."""
    url, model = url or stage.env("SEKFT_OP_URL", "SEKFT_URL"), model or stage.env("SEKFT_OP_MODEL")
    for flag, value in (("--url", url), ("--model", model)):
        if not value:
            raise BadInputError(f"{flag}: missing; name the server's, or set SEKFT_OP_URL and SEKFT_OP_MODEL")
    assert url
    assert model
    stage.require_seconds(timeout_seconds)
    stage.require_at_least_one(n=n, max_new_tokens=max_new_tokens)
    if context_tokens <= 2 * max_new_tokens:
        raise BadInputError(f"--context-tokens {context_tokens}: must be more than twice --max-new-tokens")
    fetch(base, adapter)
    if adapter is not None and render is not None:
        raise BadInputError("--render: the adapter says which render it was trained with; drop the flag")
    wire = read_json(adapter / "render.json").get("wire") if adapter is not None else render or "chat"
    if wire != "chat" and not completions:
        raise BadInputError(f"{adapter or '--render markers'}: no server renders markers; pass --completions")
    sessions = held_out_sessions(base, adapter, scenarios, n)
    client = ChatClient(url, key=stage.env("SEKFT_OP_KEY", "SEKFT_KEY") or "none", timeout_seconds=timeout_seconds,
                        retries=1)  # fmt: skip
    checks = ask_first(client, model, completions=completions)
    if not checks:
        loaded, tokenizer = load_model(base, adapter, dtype="fp32")
        renderer = Renderer.of(tokenizer, adapter, wire)
        served = Served(client, model, renderer, completions, max_new_tokens)
        expected = expectations(Decoder(loaded), renderer, sessions, max_new_tokens)
        checks = run_checks(served, expected, min(context_tokens, int(loaded.config.max_position_embeddings)))
    for check in checks:
        print(as_text(str(check)), file=sys.stderr)
    words = {True: "pass", False: "fail", None: "unknown"}
    failed = [check.name for check in checks if check.passed is False]
    stage.print_summary({"url": url, "failed": failed, **{check.name: words[check.passed] for check in checks}})
    return stage.WORLD_FAILED if failed else stage.DONE


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("--url", default=None, help="the server's address, with /v1 (default SEKFT_OP_URL)")
    add("--model", default=None, help="the name under which it serves the model (default SEKFT_OP_MODEL)")
    add("--completions", action="store_true", help="send the rendered prompt as text, not messages")
    stage.add_base_flag(parser, "the base that is served")
    add("--adapter", type=adapter_argument, default=None, help="the adapter that is served on it (default: none)")
    add("--render", choices=("markers", "chat"), default=None, help="without an adapter: render format (chat)")
    add("--scenarios", type=Path, default=None, help="held-out scenarios (default: new ones of the offline author)")
    add("--n", type=int, default=6, help="number of sessions, one context of each (default 6)")
    add("--max-new-tokens", type=int, default=48, help="tokens per command (default 48)")
    add("--context-tokens", type=int, default=4096, help="length of a prompt that must not be cut (default 4096)")
    add("--timeout-seconds", type=float, default=300.0, help="seconds for one answer (default 300)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
