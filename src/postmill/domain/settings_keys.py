"""The keys of the settings as a tree that can be walked: for unknown keys, and for the reference page."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from postmill.domain.settings_types import Section

Kind = Literal["section", "map", "value"]


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: dotted path (`queues.<NAME>.slots`), default, description, whether it is secret."""

    path: str
    default: object
    description: str
    secret: bool


def keys(section: type[Section], prefix: str = "") -> Iterator[Key]:
    """Every key below a section, in the order of the models."""
    for name, field in section.model_fields.items():
        path = f"{prefix}{field.alias or name}"
        kind, inner = shape(field)
        if inner is not None:
            yield from keys(inner, f"{path}.<NAME>." if kind == "map" else f"{path}.")
        else:
            default = None if field.is_required() else field.get_default(call_default_factory=False)
            secret = SecretStr in (field.annotation, *typing.get_args(field.annotation))
            yield Key(path, default, field.description or "", secret)


def shape(field: FieldInfo) -> tuple[Kind, type[Section] | None]:
    """Whether a field is a section, a map of named sections (with their model), or a plain value."""
    annotation = field.annotation
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return "section", annotation
    if typing.get_origin(annotation) is dict:
        return "map", typing.get_args(annotation)[1]
    return "value", None


def fold(key: str) -> str:
    """Keys are the same in kebab-case, snake_case and any case."""
    return key.casefold().replace("-", "_")


def names(section: type[Section]) -> dict[str, str]:
    """The keys of a section as they are written, with the names of their fields."""
    return {field.alias or name: name for name, field in section.model_fields.items()}
