"""The producer: items come in one by one, each in a transaction of its own, as users would send them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from examples.enrichment.create_item import CreateItem
from examples.enrichment.discard_item import DiscardItem
from examples.enrichment.statements import one
from examples.enrichment.texts.found import FoundText

DISCARD_EVERY = 50
"""Of so many items a person discards one, right after its capture: often before a worker has got to it."""


async def capture(
    conn: AsyncConnection[Any], capture_id: UUID, texts: Sequence[FoundText], *, rate: float, most_open: int
) -> None:
    """All texts, at most `rate` of them a second and never more than `most_open` that wait for their enrichment.

    So the demo goes as fast as the machine does, and the times shown are those of jobs and not of a backlog.
    """
    create, discard = CreateItem(conn), DiscardItem(conn)
    loop = asyncio.get_running_loop()
    for number, text in enumerate(texts, start=1):
        due = loop.time() + 1 / rate
        while await one(conn, "open_items", capture_id=capture_id) >= most_open:  # noqa: ASYNC110 - only the database knows
            await asyncio.sleep(0.01)
        item = await create(capture_id=capture_id, source=text.source, body=text.body)
        if number % DISCARD_EVERY == 0:
            await discard(item.id)
        await asyncio.sleep(due - loop.time())
