"""A Harbor task from elsewhere becomes a scenario that the gate admits, or is refused by a named rule."""

import re
from pathlib import Path

import pytest

from authoring.gate import gate
from formats.foreign import foreign_task as read_foreign
from formats.unfit import RULES, UnfitError
from schema import HOME
from tests.helpers import ROOT
from tests.helpers.foreign_tasks import SPOILT, foreign_task


def test_a_task_that_fits_keeps_its_words(tmp_path: Path) -> None:
    scenario = read_foreign(foreign_task(tmp_path / "Sort Fruit!"))
    assert (scenario.id, scenario.task, scenario.difficulty) == ("sort-fruit", "sort_unique", "easy")
    assert scenario.directives == ["Save the different lines of fruit.txt, in order, as sorted.txt, in /home/operator."]
    assert scenario.reference_solution == ["sort -u fruit.txt > sorted.txt"]
    assert {one.path: one.text for one in scenario.fixtures} == {
        f"{HOME}/fruit.txt": "plum\napple\nmelon\nplum\n",
        f"{HOME}/lists/old.txt": "cherry\n",
    }
    assert scenario == read_foreign(tmp_path / "Sort Fruit!")


def test_the_archetype_can_be_named_by_the_caller(tmp_path: Path) -> None:
    assert read_foreign(foreign_task(tmp_path / "a"), archetype="take_lines").task == "take_lines"


@pytest.mark.parametrize("target", ["lists", "/home/operator/lists/", "./lists", "app"])
def test_a_file_that_is_copied_to_a_directory_goes_into_it(target: str, tmp_path: Path) -> None:
    lines = ("FROM x", "COPY lists /home/operator/lists", "WORKDIR app", f"WORKDIR {HOME}", f"COPY fruit.txt {target}")
    task = foreign_task(tmp_path / "a", environment__Dockerfile="\n".join(lines))
    names = {one.path.removeprefix(f"{HOME}/") for one in read_foreign(task).fixtures}
    assert names == {"lists/old.txt", f"{'app' if target == 'app' else 'lists'}/fruit.txt"}


@pytest.mark.parametrize("what", SPOILT)
def test_what_does_not_fit_is_refused_by_its_rule(what: str, tmp_path: Path) -> None:
    rule, spoil = SPOILT[what]
    spoil(foreign_task(tmp_path / "task"))
    with pytest.raises(UnfitError) as refused:
        read_foreign(tmp_path / "task")
    assert refused.value.rule == rule, refused.value


def test_the_page_has_every_rule() -> None:
    page = (ROOT / "docs" / "formats.md").read_text().partition("| rule | refuses |")[2].partition("\n\n")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", page, flags=re.MULTILINE)) == RULES


@pytest.mark.docker
def test_the_gate_admits_the_task_that_fits(tmp_path: Path) -> None:
    result = gate(read_foreign(foreign_task(tmp_path / "sort-fruit")))
    assert result.admitted, result.reason
