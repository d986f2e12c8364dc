"""Serve a base and its adapter to clients of OpenAI's and Anthropic's protocols.

    python serve.py --adapter ckpt-run1                  # http://127.0.0.1:8000, until Ctrl-C
    curl http://127.0.0.1:8000/v1/models

Reads   the base, the adapter directory
Writes  nothing
Needs   torch; with --url a server that takes and returns token ids; SEKFT_SERVE_KEY where clients must show an API key

Chat completions, Responses, Anthropic Messages with count_tokens, and the list of models; JSON and server-sent events.
Any model name is answered, and the answer has the true one. A client may choose temperature, seed and stop texts;
top_p, top_k, min_p, penalties and logit_bias are refused, and so are images. Only this machine can connect. The adapter
must have been trained with `--render chat`, because these protocols are read through the base's chat template.

With --url another server samples (vLLM, whose completions return token ids); messages, tools and protocols stay here.
--base is then the model of that server, of which only the tokenizer is read.
"""

import argparse
import os
import sys
from pathlib import Path

from pipeline import stage
from agents.app import EndpointServer, bind, new_socket
from agents.backend import SLOTS, Backend, BackendError, CompletionsBackend, DecoderBackend, Sampling
from agents.templates import ChatTemplate
from model.decoder import Decoder
from model.loading import DTYPES, adapter_argument, fetch, load_model
from pipeline.files import read_json
from schema import BadInputError
from training.run import load_tokenizer

SOCKET_BYTES = 107  # Linux, sockaddr_un.sun_path without its end


def main(
    *,
    base: str,
    adapter: Path | None,
    name: str | None,
    url: str | None,
    model: str | None,
    port: int,
    uds: Path | None,
    temperature: float,
    max_new_tokens: int,
    slots: int | None,
    dtype: str | None,
    load_4bit: bool,
) -> int:
    """Load the model, serve it until the script is interrupted."""
    stage.require_at_least_one(max_new_tokens=max_new_tokens, slots=slots)
    if not 0 <= temperature <= 2:
        raise BadInputError(f"--temperature {temperature}: must lie between 0 and 2")
    if (url is None) != (model is None) or (url is not None and (adapter is not None or name is not None)):
        raise BadInputError("--url, --model: name both or neither; then no --adapter and no --name: it serves its own")
    if url is not None:
        for flag, given in (("--dtype", dtype is not None), ("--load-4bit", load_4bit), ("--slots", slots is not None)):
            if given:
                raise BadInputError(f"{flag} does not belong to --url, whose server holds the weights; drop one")
    if uds is None:
        with new_socket(None) as trial:
            bind(trial, port, None)  # a port that is taken is found before the weights are loaded
    else:
        require_free(uds)
    fetch(base, adapter)
    if adapter is not None and (wire := read_json(adapter / "render.json").get("wire")) != "chat":
        raise BadInputError(
            f"{adapter / 'render.json'}: wire: trained with --render {wire}, and clients send messages for the chat "
            "template; train an adapter with --render chat"
        )
    backend: Backend
    if url is not None:
        assert model is not None
        template = ChatTemplate.of(load_tokenizer(base))
        backend = other_server(url, model, template)
    else:
        loaded, tokenizer = load_model(base, adapter, dtype=dtype or "auto", load_4bit=load_4bit)
        template = ChatTemplate.of(tokenizer)
        named = name or Path(adapter or base).name
        backend = DecoderBackend(
            named, Decoder(loaded), end_ids=template.end_ids, decode=template.decode, slots=slots or SLOTS
        )
    sampling = Sampling(temperature=temperature, max_new_tokens=max_new_tokens)
    key = os.environ.get("SEKFT_SERVE_KEY") or None
    with EndpointServer(template, backend, sampling=sampling, recording=False, key=key, port=port, uds=uds) as server:
        print(f"{server.url}: serves {backend.name}; Ctrl-C ends it", file=sys.stderr)
        stage.print_summary({"url": server.url, "model": backend.name, "context_tokens": backend.context_tokens})
        server.wait()


def require_free(uds: Path) -> None:
    """Raise BadInputError where no socket can be made at a path: before the weights are loaded."""
    if not os.access(uds.parent, os.W_OK | os.X_OK) or not uds.parent.is_dir():
        raise BadInputError(f"--uds {uds}: {uds.parent} is no directory that can be written; name another")
    if uds.exists() or uds.is_symlink():
        raise BadInputError(f"--uds {uds}: exists already; delete it, or name another")
    if len(os.fsencode(uds)) > SOCKET_BYTES:
        raise BadInputError(f"--uds {uds}: a socket's path has at most {SOCKET_BYTES} bytes; name a shorter one")


def other_server(url: str, model: str, template: ChatTemplate) -> CompletionsBackend:
    """The server at `url` as a backend. Raises BadInputError where it cannot be one."""
    try:
        return CompletionsBackend(
            url, model, end_ids=template.end_ids, key=stage.env("SEKFT_OP_KEY", "SEKFT_KEY") or "none"
        )
    except BackendError as error:
        raise BadInputError(f"--url {error}; look at the address and at --model") from error


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    stage.add_base_flag(parser)
    add("--adapter", type=adapter_argument, default=None, help="adapter directory or selected.json (default none)")
    add("--name", default=None, help="the model's name (default: that of the adapter's or the base's directory)")
    add("--url", default=None, help="a server that samples instead of this process: its address, with /v1")
    add("--model", default=None, help="with --url: the name under which it serves the model")
    add("--port", type=int, default=8000, help="port on 127.0.0.1; 0: any free one (default 8000)")
    add("--uds", type=Path, default=None, help="path of a Unix socket to listen on instead")
    add("--temperature", type=float, default=0.0, help="where a client names none (default 0: greedy)")
    add("--max-new-tokens", type=int, default=1024, help="most tokens of one answer (default 1024)")
    add("--slots", type=int, default=None, help=f"answers sampled at once; others wait (default {SLOTS})")
    add("--dtype", choices=DTYPES, default=None, help="dtype of the weights (default auto)")
    add("--load-4bit", action="store_true", help="load the base in 4-bit NF4")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
