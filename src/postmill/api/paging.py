"""Pages: one envelope for every list, cut by opaque cursors that keep their place while rows come and go."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Annotated, Any, Generic, TypeVar

import orjson
from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from postmill.api.problems import Problem

T = TypeVar("T")

MOST = 200
"""Items of one page."""

MOST_SKIPPED = 10_000
"""The largest `offset`: whoever goes further follows `next`."""

Limit = Annotated[int, Query(ge=1, le=MOST, description=f"Items of the page, at most {MOST}.")]
Offset = Annotated[
    int, Query(ge=0, le=MOST_SKIPPED, description="Items to pass over; further down follow `next`.")
]
Cursor = Annotated[
    str | None, Query(max_length=500, description="Where the page begins: the `next` of the page before.")
]


class Page(BaseModel, Generic[T]):
    """One page of a list."""

    model_config = ConfigDict(extra="forbid")

    items: list[T] = Field(description="The page; it may be short, or even empty, while there is a `next`.")
    next: str | None = Field(
        description="The `cursor` of the next page; null: that was all.", examples=["WyIwMTljNmQ1ZSJd"]
    )


def cursor_of(*parts: object) -> str:
    """Values as a cursor: what JSON has, and UUIDs and instants, which come back as text."""
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def parts_of(cursor: str, *kinds: Any) -> Sequence[Any]:
    """The values of a cursor, each made by its kind (`UUID`, `datetime.fromisoformat`, `str` …).

    Raises:
        Problem: 422 where it is none that this list has given.
    """
    try:
        found = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(found, list):
            raise ValueError
        return [kind(part) for kind, part in zip(kinds, found, strict=True)]
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise Problem(422, "invalid-cursor", "cursor: take the `next` of the page before, as it is") from None
