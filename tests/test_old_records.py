"""Records written before the code was moved into packages still load.

tests/data/written_before_packages holds files of a demo run at commit cb00539; lists of ids and axes are shortened.
"""

import json
import re
from pathlib import Path

import pytest

from model.render import Renderer
from pipeline.files import (
    read_identity,
    read_manifest,
    read_report,
    read_scenarios,
    read_trajectories,
    write_identity,
    write_manifest,
    write_report,
)
from schema import BadInputError, EvalReport
from tests.helpers import ROOT, tiny

OLD = ROOT / "tests" / "data" / "written_before_packages"


def test_scenario_loads_with_its_hash() -> None:
    (scenario,) = read_scenarios(OLD / "scenarios")
    assert scenario.compute_hash() == scenario.content_hash
    assert json.loads((OLD / "scenarios" / f"{scenario.id}.json").read_text()) == scenario.model_dump(
        mode="json", exclude_none=True
    )


def test_trajectories_load_with_their_tokens() -> None:
    reference, local = read_trajectories(OLD / "trajectories")
    assert reference.kept
    assert reference.commands[-1] == "exit"
    assert local.token_ids is not None
    assert len(local.token_ids) == len(local.assistant_mask or []) == len(local.log_probs or [])
    for one in (reference, local):
        written = json.loads((OLD / "trajectories" / f"{one.id}.json").read_text())
        assert {**written, "attempt": 1, "unusable_answer": False} == one.model_dump(mode="json", exclude_none=True)


def test_adapter_identity_and_render_load() -> None:
    identity = read_identity(OLD / "adapter")
    assert identity.flags["lora_r"] == 16
    assert [row.archetype for row in identity.trained_on] == ["broken_archive"] * 2
    assert identity.averaged is None
    # Its base is gone. Another tokenizer differs in its hash alone: the fields before that are the same today.
    with pytest.raises(BadInputError, match=r"render\.json: tokenizer_sha256: differs"):
        Renderer.for_adapter(OLD / "adapter", tiny.tokenizer("byte_level"))


@pytest.mark.parametrize("stage", ["trajectories", "adapter", "eval"])
def test_manifest_is_written_as_it_was_read(stage: str, tmp_path: Path) -> None:
    manifest = read_manifest(OLD / stage)
    assert manifest is not None
    assert manifest.finished
    write_manifest(tmp_path, manifest)
    assert (tmp_path / "manifest.json").read_text() == (OLD / stage / "manifest.json").read_text()


def test_identity_and_report_are_written_as_they_were_read(tmp_path: Path) -> None:
    write_identity(tmp_path, read_identity(OLD / "adapter"))
    assert (tmp_path / "sekft.json").read_text() == (OLD / "adapter" / "sekft.json").read_text()
    report = read_report(OLD / "eval")
    write_report(tmp_path, report)
    assert read_report(tmp_path) == report
    written = (tmp_path / "report.json").read_text()
    old = re.sub(
        r'"(operate|terminate|verified|clean)": {', r'"\1_rate": {', (OLD / "eval" / "report.json").read_text()
    )
    assert json.loads(re.sub(r'"discover_rate": null,', "", written)) == json.loads(old)


def test_report_without_later_fields_loads() -> None:
    old = json.loads((OLD / "eval" / "report.json").read_text())
    kept = {key: old[key] for key in ("subjects", "paired", "split_by", "adapter")}
    assert EvalReport.model_validate(kept).subjects["adapter"].rates.terminate_rate.successes == 8
