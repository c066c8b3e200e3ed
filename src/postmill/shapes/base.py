"""What bodies and answers are made of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticKnownError
from pydantic_core.core_schema import no_info_before_validator_function


def _exact(schema: Any) -> None:
    if isinstance(schema, list | tuple):
        for one in schema:
            _exact(one)
    elif isinstance(schema, dict) and not _is_exact(schema):
        for name, one in schema.items():
            if name not in ("default", "metadata", "serialization", "expected"):
                _exact(one)
        if schema.get("type") in ("bool", "float"):
            schema["strict"] = True
        elif schema.get("type") == "int":
            inner = {**schema}
            schema.clear()
            schema.update(no_info_before_validator_function(_number, inner))


def _is_exact(schema: dict[str, Any]) -> bool:
    # Pydantic hands a model's schema out again for each model and route that holds it: one wrapper is enough.
    return isinstance(said := schema.get("function"), dict) and said.get("function") is _number


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticKnownError("int_type")
    return value


class Model(BaseModel):
    """A body; unknown fields are refused, and values of another JSON type."""

    model_config = ConfigDict(extra="forbid", from_attributes=True, frozen=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        """Pydantic's own, exact about numbers and truth values.

        JSON has types of its own for them: the text "5" is no number, and 1 is not true; but 5.0 is an integer
        (JSON Schema, section 4.2.3). Ids and moments are texts in JSON, and read as such.
        """
        made = handler(source)
        _exact(made)
        return made


class Answer(Model):
    """An answer. Whoever reads it passes over fields that are not here: a newer server may have more of them."""

    model_config = ConfigDict(extra="ignore")
