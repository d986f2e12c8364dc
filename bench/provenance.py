"""Count the tokens that an agent's session encodes, and those that encoding every request whole would take.

    python -m bench.provenance --base base/smollm2

Reads   the tokenizer of --base
Writes  the figures as JSON to --out (default bench/provenance.json), a table to stderr, one JSON line on stdout
Needs   no torch, no Docker; a minute

Each turn of an episode is a reply with one call of a tool and a result of --result-words words. The counts are exact;
the seconds are medians of --rounds episodes, in which the two ways take turns.
"""

import argparse
import random
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from pipeline import stage
from agents.canonical import ChatMessage, ToolCall, ToolSpec
from agents.provenance import AgentSession
from agents.templates import ChatTemplate
from pipeline.files import write_json
from schema import BadInputError

TURNS = (1, 2, 4, 8, 16, 32, 64)
WORDS = (
    "amber",
    "basalt",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "garnet",
    "harbor",
    "17",
    "204",
    "/home/operator",
    "-rw-r--r--",
)
TOOLS = [ToolSpec("sh", "Run a command.", {"type": "object", "properties": {"command": {"type": "string"}}})]
HEAD = f"{'turns':>5} {'context':>8} {'encoded':>8} {'whole':>9} {'seconds':>8} {'whole':>8}"


@dataclass(frozen=True)
class EpisodeCost:
    """One length of episode: `context_tokens` of the last request, and the cost of each way over all requests."""

    turns: int
    context_tokens: int
    encoded_tokens: int
    encoded_tokens_whole: int
    seconds: float
    seconds_whole: float


def main(*, base: str, result_words: int, rounds: int, seed: int, out: Path) -> int:
    """Play episodes of each length, print the table, write the figures."""
    from transformers import AutoTokenizer

    from model.loading import silence_transformers

    for flag, value in (("--result-words", result_words), ("--rounds", rounds)):
        if value < 1:
            raise BadInputError(f"{flag} is {value}; it must be at least 1")
    if not (Path(base) / "tokenizer.json").is_file():
        raise BadInputError(f"{base}: tokenizer.json: there is none; name a base (python get_base.py makes one)")
    silence_transformers()
    template = ChatTemplate.of(AutoTokenizer.from_pretrained(base))
    print(HEAD, file=sys.stderr)
    rows = []
    for turns in TURNS:
        rows.append(measured(template, turns, result_words, rounds, seed))
        print(table_row(rows[-1]), file=sys.stderr)
    about = {"date": time.strftime("%Y-%m-%d"), "seed": seed, "rounds": rounds, "result_words": result_words}
    figures = {**about, "rows": [asdict(row) for row in rows]}
    write_json(out, figures)
    stage.print_summary({"out": str(out), **asdict(rows[-1])})
    return stage.DONE


def table_row(row: EpisodeCost) -> str:
    """A row of the table."""
    return (
        f"{row.turns:5} {row.context_tokens:8,} {row.encoded_tokens:8,} {row.encoded_tokens_whole:9,} "
        f"{row.seconds:8.3f} {row.seconds_whole:8.3f}"
    )


def measured(template: ChatTemplate, turns: int, result_words: int, rounds: int, seed: int) -> EpisodeCost:
    """One row: the same episodes with a session, and with every request encoded whole."""
    seconds: list[float] = []
    seconds_whole: list[float] = []
    for index in range(rounds):
        episode = written(random.Random(f"{seed}/{index}"), turns, result_words)
        start = time.perf_counter()
        session, context = appended(template, episode)
        middle = time.perf_counter()
        whole = sum(len(template.opening_ids(history, TOOLS)) for history, _ in episode)
        seconds_whole.append(time.perf_counter() - middle)
        seconds.append(middle - start)
    counts: dict[str, Any] = session.counts()
    if counts["forks"] or len(session.segments()) != 1:
        raise AssertionError(f"a linear episode came out in parts: {counts}")
    return EpisodeCost(turns, context, counts["encoded_tokens"], whole, median(seconds), median(seconds_whole))


def written(randomness: random.Random, turns: int, result_words: int) -> list[tuple[list[ChatMessage], ChatMessage]]:
    """The requests of an episode: the history that the client sends, and the reply to it."""
    history = [ChatMessage("system", "Use the shell."), ChatMessage("user", "Find the file and count its lines.")]
    requests = []
    for turn in range(turns):
        command = f"cat notes/{randomness.choice(WORDS)}.txt | head -n {turn}"
        reply = ChatMessage("assistant", "Look.", tool_calls=(ToolCall(f"call{turn}", "sh", {"command": command}),))
        requests.append((list(history), reply))
        output = " ".join(randomness.choices(WORDS, k=result_words))
        history += [reply, ChatMessage("tool", output, tool_call_id=f"call{turn}")]
    return requests


def appended(template: ChatTemplate, episode: list[tuple[list[ChatMessage], ChatMessage]]) -> tuple[AgentSession, int]:
    """The session after an episode, and the number of context tokens of its last request."""
    session, context = AgentSession(template), 0
    for history, reply in episode:
        request = session.prepare(history, TOOLS)
        context = len(request.context_ids)
        ids = template.write(reply)
        session.record(request, ids, [-0.5] * len(ids), "tool")
    return session, context


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    stage.add_base_flag(parser, "base whose tokenizer and chat template are used")
    parser.add_argument("--result-words", type=int, default=150, help="words of a tool's result (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="episodes per length (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the episodes (default 0)")
    parser.add_argument("--out", type=Path, default=Path("bench/provenance.json"), help="figures (default %(default)s)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
