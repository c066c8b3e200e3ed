"""A project's planning in pages, read one after the other: no page is in memory when the next one is made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from examples.planner.statements import Row

PAGE = 40
"""Missions on a page."""

Read = Callable[[Row | None], Awaitable[list[Row]]]
"""The page that comes after a mission; the first one after None."""


async def pages(read: Read) -> AsyncIterator[list[Row]]:
    """The pages that have something; an empty planning has none."""
    last: Row | None = None
    while found := await read(last):
        yield found
        if len(found) < PAGE:
            return
        last = found[-1]
