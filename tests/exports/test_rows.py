"""A foreign row is read as it is, mended, called unusable or refused; none of it ends a run with a traceback."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from exports.forms import FORMS
from exports.guards import first_look
from exports.monitor import findings
from exports.rows import MAX_NESTING, Row, foreign_row, own_row, read_rows, read_values
from pipeline.files import write_json
from schema import BadInputError
from tests.helpers import tiny
from tests.helpers.foreign import call, foreign, read_lines, trip


def read(row: dict[str, Any]) -> Row:
    return foreign_row(Path("a.json"), 2, row)


def with_arguments(arguments: Any, task: str = "Fix it.") -> Row:
    """A row with one call that has these arguments, which the monitor looked at."""
    row = foreign("x")
    row["messages"][1]["content"] = task
    row["messages"][2]["tool_calls"][0]["function"]["arguments"] = arguments
    made = read(row)
    findings(made)
    return made


def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_an_id_that_two_files_have_is_refused(tmp_path: Path) -> None:
    for name, steps in (("one", 2), ("two", 3)):
        write_json(tmp_path / f"{name}.json", tiny.trajectory(steps=steps).model_dump(mode="json"))
    with pytest.raises(BadInputError, match=r"two\.json: id 'tiny-1-s0' is that of one\.json; drop one"):
        list(read_rows([tmp_path]))


@pytest.mark.parametrize("arguments", [{"a": "x\ud800"}, '{"a": "x\\ud800"}', '{"a": "x\ud800"}', {"x\ud800": 1}])
def test_a_lone_surrogate_is_written_as_the_replacement_character(tmp_path: Path, arguments: Any) -> None:
    row = with_arguments(arguments, "Fix \udfff.")
    assert row.unusable is None
    for name, form in FORMS.items():
        made = form(tmp_path)
        made.add(row)
        made.close()
        (line,) = read_lines(tmp_path / f"sft.{name}.jsonl")
        shown = json.dumps(line, ensure_ascii=False)
        assert shown.count("\ufffd") >= 2
        assert "\\ud800" not in shown


def test_memory_of_an_array_grows_with_its_size_not_with_the_square_of_its_depth(tmp_path: Path) -> None:
    row = json.dumps(foreign("x") | {"deep": "DEEP"}).replace('"DEEP"', "[" * 20_000 + "]" * 20_000)
    (tmp_path / "a.json").write_text(f"[{row}, {json.dumps(foreign('y'))}, 3, [], {{}}]")
    tracemalloc.start()
    values = list(read_values(tmp_path / "a.json"))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [value["instance_id"] for value in values[:2]] == ["x", "y"]
    assert values[2:] == [3, [], {}]
    assert peak_bytes < 50e6  # 1 GB with the path of every level


def test_what_is_well_formed_stays_as_it_was() -> None:
    text = '{"b":1,  "a": "\\ud83d\\ude00 \U0001f600"}'
    assert with_arguments(text).messages[2]["tool_calls"][0]["function"]["arguments"] == text


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a":' * 5000 + "1" + "}" * 5000,
        json.dumps(nested(MAX_NESTING + 1)),
        nested(MAX_NESTING + 1),
        nested(5000),
        '{"t": NaN}',
        '{"t": -Infinity}',
        '{"t": 1e999}',
        {"t": float("nan")},
        '{"t": ' + "1" * 5000 + "}",
        "[]",
        "ls",
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else type(value).__name__,
)
def test_arguments_that_no_json_object_of_bounded_depth_holds_make_a_row_unusable(arguments: Any) -> None:
    assert with_arguments(arguments).unusable == "message 3: arguments of bash are no JSON object"


def test_arguments_of_the_greatest_depth_are_written_in_every_form(tmp_path: Path) -> None:
    row = with_arguments(json.dumps(nested(MAX_NESTING)))
    assert row.unusable is None
    for form in FORMS.values():
        made = form(tmp_path)
        made.add(row)
        made.close()


def test_an_id_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(BadInputError, match="row 2: instance_id"):
        read(foreign("y\udfff"))


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ({"type": "function"}, "row 2: tools.0.function: Field required"),
        ({"type": "function", "function": {"description": "x"}}, "row 2: tools.0.function.name: Field required"),
        ({"name": "bash"}, "row 2: tools.0.type: Field required"),
        ({"type": "function", "function": {"name": "x", "parameters": 3}}, "row 2: tools.0.function.parameters"),
        ({"name": "bash", "input_schema": 3}, "row 2: tools.0.function.parameters"),
        ({"type": "function", "function": {"name": "x", "parameters": nested(5000)}}, "row 2: tools.0: Value error"),
        ({"type": "function", "function": {"name": "x", "parameters": {"a": float("nan")}}}, "row 2: tools.0: Value"),
    ],
)
def test_a_tool_without_a_schema_is_refused_with_its_field(tool: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInputError) as error:
        read(foreign("x", tools=[tool]))
    assert words in str(error.value)


def test_a_tool_as_anthropic_writes_it_is_turned_into_openais_schema() -> None:
    schema = {"type": "object", "properties": {"command": {"type": "string"}}}
    given = {"name": "bash", "description": "Run.", "input_schema": schema}
    expected = {"type": "function", "function": {"name": "bash", "description": "Run.", "parameters": schema}}
    assert read(foreign("x", tools=[given])).tools == [expected]
    strict = {"type": "function", "function": {"name": "bash", "strict": True}}
    assert read(foreign("x", tools=[strict])).tools == [strict]


def test_every_call_has_exactly_one_result_before_the_next_turn() -> None:
    first, result = trip(0, [call("bash", command="ls")])
    both = trip(1, [call("bash", command="ls"), call("read", path="a")])
    user = {"role": "user", "content": "Go on."}
    last = {"role": "assistant", "content": "Done."}
    same = {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]}

    def fault(*messages: dict[str, Any]) -> str | None:
        return read(foreign("x", messages=[user, *messages])).unusable

    assert fault(first, result, last) is None
    assert fault(*both, last) is None
    assert fault(first, result, first) is None  # the session ends with a call
    assert fault(first, last) == "message 3: a call before it has no result"
    assert fault(first, user, result, last) == "message 3: a call before it has no result"
    assert fault(*both[:2], last) == "message 4: a call before it has no result"
    assert fault(*both[:2]) == "message 3: a call before it has no result"
    assert fault(first, result, result, last) == "message 4: a second result of one call"
    assert fault(result, last) == "message 2: a tool result without its call"
    assert fault(first, result, last, result) == "message 5: a tool result without its call"
    assert fault(same, {"role": "tool", "tool_call_id": "c1", "content": ""}) == "message 2: two calls have one id"


@pytest.mark.parametrize("outcome", ["sandbox_failed", "checker_failed"])
def test_an_attempt_that_nobody_judged_is_unusable_and_contradicts_nothing(outcome: str) -> None:
    kept = tiny.trajectory()
    rows = [own_row(Path("t"), kept), own_row(Path("t"), kept.model_copy(update={"outcome": outcome, "kept": False}))]
    assert rows[0].unusable is None
    assert (rows[1].unusable or "").startswith(("voided", "checker_failed"))
    assert rows[0].hash == rows[1].hash
    assert first_look(rows)[2] == set()
    assert first_look([rows[0], own_row(Path("t"), kept.model_copy(update={"kept": False}))])[2] == {rows[0].hash}
