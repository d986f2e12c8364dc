"""Every record is immutable, and the registry that schema.py exports holds each record that has a file of its own."""

import inspect

import pytest
from pydantic import ValidationError

import schema
from records import base, outcomes
from records.base import Record, canonical, sha256
from records.outcomes import Rate


def test_a_record_cannot_be_changed() -> None:
    rate = Rate(successes=1, n=2, rate=0.5, interval=(0.1, 0.9))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(rate, "n", 3)  # noqa: B010 (mypy knows that it is frozen)


def test_a_hash_does_not_depend_on_the_order_of_fields() -> None:
    assert canonical({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()
    assert sha256(canonical({"b": 1, "a": 2})) == sha256(canonical({"a": 2, "b": 1}))


def test_every_record_can_be_imported_from_the_schema() -> None:
    for module in (base, outcomes):
        for name, kind in vars(module).items():
            if inspect.isclass(kind) and issubclass(kind, Record):
                assert getattr(schema, name) is kind
