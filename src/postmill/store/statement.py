"""A statement as data: what to send and how to read the answer. Running it is the business of a binding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T", covariant=True)

Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Statement(Generic[T]):
    """One SQL statement with its arguments and the function that decodes its rows.

    Attributes:
        name: the file's name in ``sql/`` without its ending, also the name of the operation.
        sql: the text, parameters as ``$1``, ``$2`` …
        args: one value per parameter, of types that every supported driver takes.
        decode: turns the fetched rows into the result.
    """

    name: str
    sql: str
    args: tuple[Any, ...]
    decode: Callable[[Rows], T]
