"""docs/records.md is generated from the models, and every field has a row."""

from typing import Literal

from pydantic import BaseModel, Field

from pipeline import records_page
from schema import every_record
from tests.helpers import ROOT


def test_page_is_current() -> None:
    made = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    assert made == records_page.page(), "run python -m pipeline.records_page --out docs/records.md"


def test_every_field_has_a_row() -> None:
    page = records_page.page()
    for record in every_record():
        for name in record.model_fields:
            assert f"| `{name}` |" in page, (record, name)
    assert page.count("### Step\n") == 1


def test_types_are_named_as_in_json() -> None:
    class Inner(BaseModel):
        """A part."""

    class Outer(BaseModel):
        kind: Literal["a", "b"] | None
        rows: list[Inner] = Field(description="the parts")
        by_name: dict[str, float]

    names = [records_page.type_name(field.annotation) for field in Outer.model_fields.values()]
    assert names == ["`a` `b` or null", "list of [Inner](#inner)", "object: text to number"]
