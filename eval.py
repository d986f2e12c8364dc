"""Drop the tuned model into held-out scenarios with no scaffold and report how it behaves.

    python eval.py --adapter ckpt-run1 --scenarios holdout-scenarios --n 20 --compare-base

Reads   <scenarios>/*.json (schema.Scenario), the base, the adapter directory
Writes  <out>/{adapter,base,clean_up}/*.json (schema.Trajectory), <out>/report.json, <out>/manifest.json
Needs   a Docker engine with the sandbox image, torch

`report.py --help` defines the rates. Output does not depend on --workers, except where the two best logits differ by
less than 1e-4. --compare-base also plays the bare base; --clean-up also plays the base with fences and prose removed
from its answers, to show what such tidying alone would give.

An adapter that was trained on one of the scenarios is refused, or selected on one (select_adapter.py). Where the
scenarios were split by archetype, so is one that was trained or selected on one of their archetypes. Above 2 % voided
episodes the exit code is 1; a rerun retries only those. --against counts the greedy transcripts that differ from an
earlier run's, for example one with --no-cache.
"""

import argparse

from pipeline import stage
from operators.evaluation import EvalSettings, add_flags, evaluate


def main(settings: EvalSettings) -> int:
    """Evaluate; the exit code."""
    return evaluate(settings)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    return add_flags(stage.command_line(__doc__))


if __name__ == "__main__":
    stage.run_script(main, parser())
