"""From one page of a list to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from postmill.http.call import Call
from postmill.shapes.paging import Page

T = TypeVar("T")


def page_after(call: Call[Page[T]], page: Page[T]) -> Call[Page[T]] | None:
    """What asks for the page behind `page`; None: it was the last."""
    if page.next is None:
        return None
    return replace(call, query={**call.query, "offset": None, "cursor": page.next})
