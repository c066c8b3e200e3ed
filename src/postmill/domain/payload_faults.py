"""Finds the one value inside another that the database could not hold, and says where it is."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from uuid import UUID

from pydantic import BaseModel

from postmill.domain.errors import Fault
from postmill.domain.text import unstorable

MAX_DEPTH = 200
"""Levels of nesting, the payload's own object counted. Both our decoder and PostgreSQL can take that many."""

MAX_DIGITS = 4300
"""Digits of an integer; Python refuses to read more."""

_PLAIN = (bool, type(None), UUID, Decimal, date, time, timedelta, PurePath, bytes)
# Comparing is cheaper than counting digits, and cannot fail as str() does for such numbers.
_TOO_LARGE = 10**MAX_DIGITS

Child = tuple[str, object, object]
"""Path, key and value of something inside a container."""


def find_fault(value: object, root: str, *, json_only: bool = False) -> Fault | None:
    """The first fault in `value`, or None.

    Faults: NUL and lone surrogates in text and keys, NaN and infinities, naive datetimes, nesting beyond 200
    levels, integers of more than 4,300 digits; with `json_only`, also objects of a kind that JSON cannot
    express.
    """
    # A loop, not a recursion: the depth of the value must not become the depth of the stack.
    waiting: list[tuple[str, object, int]] = [(root, value, 1)]
    while waiting:
        path, item, depth = waiting.pop()
        if isinstance(item, str):
            why = unstorable(item)
        elif item is None or item is True or item is False:
            continue
        elif (children := _children(path, item)) is None:
            why = _fault_of_scalar(item, json_only)
        elif depth > MAX_DEPTH:
            why = f"is nested deeper than {MAX_DEPTH} levels"
        else:
            why = next((f"a key {bad}" for _, key, _ in children if (bad := _unstorable_key(key))), None)
            waiting.extend((child_path, child, depth + 1) for child_path, _, child in reversed(children))
        if why is not None:
            return Fault(_short(path), why)
    return None


def _fault_of_scalar(item: object, json_only: bool) -> str | None:
    if isinstance(item, Enum):
        return (
            unstorable(item.value) if isinstance(item.value, str) else _fault_of_scalar(item.value, json_only)
        )
    if isinstance(item, int):
        large = not -_TOO_LARGE < item < _TOO_LARGE
        return f"is an integer of more than {MAX_DIGITS} digits" if large else None
    if isinstance(item, float):
        return None if math.isfinite(item) else f"is {item}, which is no JSON number"
    if isinstance(item, datetime):
        return "is a datetime without a time zone; give it one" if item.tzinfo is None else None
    if json_only and not isinstance(item, _PLAIN):
        name = type(item).__name__
        return f"is {'an' if name[0] in 'aeiouAEIO' else 'a'} {name}, which JSON cannot express"
    return None


def _children(path: str, item: object) -> list[Child] | None:
    """What a container holds; None for anything else."""
    if isinstance(item, dict):
        return [(_key_path(path, key), key, child) for key, child in item.items()]
    if isinstance(item, list | tuple):
        return [(f"{path}[{n}]", n, child) for n, child in enumerate(item)]
    if isinstance(item, int | float | datetime | Enum | UUID | bytes):
        return None
    if isinstance(item, BaseModel):
        return _named(path, {**item.__dict__, **(item.__pydantic_extra__ or {})})
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return _named(path, {f.name: getattr(item, f.name, None) for f in dataclasses.fields(item)})
    if isinstance(item, Mapping):
        return [(_key_path(path, key), key, item[key]) for key in item]
    if isinstance(item, Set):
        return [(f"{path}[]", None, member) for member in item]
    return None


def _named(path: str, held: Mapping[str, object]) -> list[Child]:
    return [(f"{path}.{name}", name, child) for name, child in held.items()]


def _unstorable_key(key: object) -> str | None:
    return unstorable(key) if isinstance(key, str) else None


def _key_path(path: str, key: object) -> str:
    return f"{path}.{key}" if isinstance(key, str) and key.isidentifier() else f"{path}[{key!r}]"


def _short(path: str) -> str:
    """A path 5,000 levels deep helps nobody, and would be the next thing that is too large."""
    return path if len(path) <= 200 else f"{path[:100]}…{path[-60:]}"
