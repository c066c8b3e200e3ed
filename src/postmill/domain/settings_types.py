"""What all settings are made of: the frozen section, and the kinds of values."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.fields import FieldInfo

from postmill.domain import duration


def _length(value: object) -> float:
    return duration.parse(value) if isinstance(value, str) else duration.seconds(value)


def _positive_length(value: object) -> float:
    found = _length(value)
    return duration.seconds(found, zero=False)


def comma_separated(value: object) -> object:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


Seconds = Annotated[float, BeforeValidator(_length)]
"""A number of seconds, or text such as `90s`, `5m`, `24h`, `7d`."""

PositiveSeconds = Annotated[float, BeforeValidator(_positive_length)]
Count = Annotated[int, Field(ge=1)]


def is_length(field: FieldInfo) -> bool:
    """Whether a setting is a length of time (`Seconds`, `PositiveSeconds`, or one of them or None)."""
    marks: list[Any] = [*field.metadata]
    for kind in get_args(field.annotation):
        marks += getattr(kind, "__metadata__", ())
    return any(
        isinstance(mark, BeforeValidator) and mark.func in (_length, _positive_length) for mark in marks
    )


class Section(BaseModel):
    """A frozen group of settings; unknown keys are refused, and values never appear in errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, populate_by_name=True)
