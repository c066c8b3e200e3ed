"""A row of the archive: from the texts that PostgreSQL gives to a line of JSON, and to values with types.

The line is the measure: whatever a unit's format is, its rows read back give the very same lines. JSON columns are never
parsed, for PostgreSQL's numbers are longer than a float.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

Columns = Sequence[tuple[str, str]]

MOMENT = "timestamp with time zone"
INTEGERS = frozenset({"smallint", "integer", "bigint"})
FLOAT = "double precision"
JSON = frozenset({"json", "jsonb"})


def value_of(kind: str) -> Callable[[str], Any]:
    """How a text of this type becomes a value: int, float, bool, a moment in UTC, or text as it is."""
    if kind in INTEGERS:
        return int
    if kind == FLOAT:
        return float
    if kind == "boolean":
        return lambda text: text in ("t", "true")
    if kind == MOMENT:
        return lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC)
    return lambda text: text


def values_of(columns: Columns) -> Callable[[Sequence[str | None]], list[Any]]:
    """The values of a row's texts."""
    readers = [value_of(kind) for _, kind in columns]
    return lambda fields: [
        None if text is None else read(text) for read, text in zip(readers, fields, strict=True)
    ]


def liner(columns: Columns) -> Callable[[Sequence[Any]], bytes]:
    """How a row's values become a line of JSON, with its end."""
    writers = [_writer(name, kind) for name, kind in columns]

    def line(values: Sequence[Any]) -> bytes:
        told = ",".join(write(value) for write, value in zip(writers, values, strict=True))
        return f"{{{told}}}\n".encode()

    return line


def _writer(name: str, kind: str) -> Callable[[Any], str]:
    key = f"{json.dumps(name)}:"
    written = _written(kind)
    return lambda value: key + ("null" if value is None else written(value))


def _written(kind: str) -> Callable[[Any], str]:
    if kind in JSON:
        return str
    if kind in INTEGERS:
        return int.__repr__
    if kind == FLOAT:
        return lambda value: repr(value) if value - value == 0 else json.dumps(str(value))
    if kind == "boolean":
        return lambda value: "true" if value else "false"
    if kind == MOMENT:
        return lambda value: f'"{moment(value)}"'
    return lambda value: json.dumps(value, ensure_ascii=False)


def moment(value: datetime) -> str:
    """A moment as lines have it: in UTC, always of the same length, so that texts compare as moments do."""
    at = value.astimezone(UTC)
    return f"{at.year:04}-{at:%m-%dT%H:%M:%S.%f}Z"
