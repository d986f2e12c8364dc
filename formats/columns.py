"""Name the type of every column of a record, as a data-set card tells it to the package `datasets`.

    columns_of(Scenario)      # [{"name": "id", "dtype": "string"}, {"name": "fixtures", "list": [...]}, ...]

Without it `datasets` takes the types from the first rows of the first split, and fails where a field that was null
there has a value later. A field that holds objects of any kind has the type json.

Source of the format: datasets.Features, as `_to_yaml_list` writes it; the package `datasets`, version 5.2.0.
"""

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

SCALARS = {str: "string", bool: "bool", int: "int64", float: "float64"}


def columns_of(record: type[BaseModel]) -> list[dict[str, Any]]:
    """The columns of a record, in the order of its fields."""
    return [{"name": name, **_type_of(field.annotation)} for name, field in record.model_fields.items()]


def _type_of(annotation: Any) -> dict[str, Any]:
    """`dtype`, `struct` or `list` of a field."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        (one,) = {argument for argument in arguments if argument is not NoneType}
        return _type_of(one)
    if origin is Literal:
        (kind,) = {type(value) for value in arguments}
        return {"dtype": SCALARS[kind]}
    if origin is list:
        (item,) = arguments
        inner = _type_of(item)
        return {"list": inner.get("dtype") or inner.get("struct") or inner}
    if hasattr(annotation, "__metadata__"):  # Annotated
        return _type_of(arguments[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {"struct": columns_of(annotation)}
    return {"dtype": SCALARS.get(annotation, "json")}
