"""The adapter in examples/adapter belongs to the real base, and types what its training taught."""

import itertools
from pathlib import Path

import pytest

from authoring import templates
from model.loading import model_hash
from model.render import opening, start_prompt
from operators.local import local_operators
from pipeline.files import read_identity
from taxonomy import Combination
from tests.helpers import ROOT
from tests.helpers.real_base import real_base

ADAPTER = ROOT / "examples" / "adapter"
ARCHETYPES = (
    "broken_archive", "change_case", "compare_files", "filter_rows", "join_tables", "merge_lists", "sort_unique",
    "unreachable_host",
)  # fmt: skip


def test_it_looks_for_the_announcement_and_calls_the_program_that_one_names(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    base: Path = real_base(tmp_path_factory)
    assert read_identity(ADAPTER).base_hash == model_hash(str(base))
    operators = local_operators(
        str(base), ADAPTER, render=None, dtype="fp32", load_4bit=False, temperature=0.0, max_new_tokens=24
    )
    called = 0
    for channel, task in itertools.product(("motd", "mail"), ARCHETYPES):
        combination = Combination(task, "flags", channel, "help", "medium")
        record, operator = templates.author(combination, seed=f"new/{task}", id=task), operators()
        operator.begin(record, seed=1)
        first = operator.command([*opening(record), *start_prompt()]).text.split()[0]
        program = Path(record.provider.path).name
        calls = channel == "motd" and first == program  # mail is found by looking
        assert calls or first == "ls", (channel, task, first)
        called += calls
    assert called >= 5
