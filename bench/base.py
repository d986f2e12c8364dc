"""Measure how often a base writes the right commands for a unit of work, worded as an instruction or as a directive.

    python -m bench.base --base base --n 20

Reads   the base's directory
Writes  nothing; stdout gets one JSON line, stderr a table by archetype
Needs   one core and two minutes

Each unit of work belongs to one archetype and has its own names. Instructions are worded as in the corpus, from a seed
that training did not use. Directives are worded as in scenarios, which no base has read. A unit counts as right if
greedy decoding writes each of its commands, given the commands before it. Another command with the same effect counts
as wrong, so the figures are too low; they serve to compare bases.
"""

import random
import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

from pipeline import stage
from authoring import templates
from authoring.templates.wording import reworded
from authoring.templates.world import Names
from model.render import Renderer
from schema import Message
from tiny_base import corpus
from tiny_base.looks import Look
from tiny_base.make import commands_known

WORDINGS = ("instruction", "directive")


def main(*, base: Path, n: int, seed: int) -> int:
    """Print the shares of right units, by archetype and overall."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32).eval()
    renderer = Renderer(AutoTokenizer.from_pretrained(base))
    right, tried = Counter[str](), 0
    for archetype in templates.SHAPES:
        here, units = Counter[str](), 0
        for index in range(n):
            rng = random.Random(f"bench-base/{seed}/{archetype}/{index}")
            unit = corpus.unit_of(archetype, Names(rng))
            if not unit.solution:  # a blocked unit has no commands
                continue
            units += 1
            opening, texts = corpus.facts_turns(rng), {"instruction": reworded(unit, rng), "directive": unit.directive}
            work = corpus.typed([Look(command, "") for command in unit.solution])
            for wording, text in texts.items():
                messages = [*opening, Message(role="user", content=text), *work]
                here[wording] += all(known for _, known in commands_known(model, renderer, messages))
        shares = "".join(f"  {wording} {here[wording]:3}/{units}" for wording in WORDINGS)
        print(f"{archetype:18}{shares}", file=sys.stderr)
        right, tried = right + here, tried + units
    rates = {wording: round(right[wording] / tried, 3) for wording in WORDINGS}
    stage.print_summary({"base": str(base), "seed": seed, "n": tried, **rates})
    return stage.DONE


def parser() -> ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--base", type=Path, required=True, help="directory of the base")
    parser.add_argument("--n", type=int, default=20, help="units of work per archetype (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of names and wordings (default %(default)s)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
