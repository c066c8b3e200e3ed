"""Pages: one envelope for every list, cut by opaque cursors that keep their place while rows come and go."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Annotated, Any

import orjson
from fastapi import Query

from postmill.api.problems import Problem
from postmill.shapes.paging import CURSOR

MOST = 200
"""Items of one page."""

MOST_SKIPPED = 10_000
"""The largest `offset`: whoever goes further follows `next`."""


Limit = Annotated[int, Query(ge=1, le=MOST, description=f"Items of the page, at most {MOST}.")]
Offset = Annotated[
    int, Query(ge=0, le=MOST_SKIPPED, description="Items to pass over; further down follow `next`.")
]
Cursor = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=500,
        pattern=CURSOR,
        description="Where the page begins: the `next` of the page before.",
    ),
]


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
