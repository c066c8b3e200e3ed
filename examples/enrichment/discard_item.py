"""The use case of a person who does not want an item."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from examples.enrichment.statements import one


class DiscardItem:
    """Makes an item DISCARDED, whatever it was. A job that still waits for it will succeed without effect."""

    def __init__(self, conn: AsyncConnection[Any]) -> None:
        self._conn = conn

    async def __call__(self, item_id: UUID) -> bool:
        """False where there is no such item, or it was discarded before."""
        return await one(self._conn, "discard_item", id=item_id) is not None
