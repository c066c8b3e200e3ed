"""The use case that everything begins with: an item and its job, in one transaction of the application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from examples.enrichment.jobs import enrich
from examples.enrichment.statements import one
from postmill import aenqueue


@dataclass(frozen=True, slots=True)
class CreatedItem:
    """The item, and the job that will enrich it."""

    id: UUID
    job_id: UUID


class CreateItem:
    """Inserts an item as CAPTURED, enqueues its job, and makes it ENRICHING: all three are there, or none.

    The connection is the application's own. Inside a transaction of the caller's the three join it;
    otherwise they are one of their own.
    """

    def __init__(self, conn: AsyncConnection[Any]) -> None:
        self._conn = conn

    async def __call__(self, *, capture_id: UUID, source: str, body: str) -> CreatedItem:
        """A new item. The worker is woken by the commit, not by this call."""
        async with self._conn.transaction():
            item_id = await one(self._conn, "capture_item", capture_id=capture_id, source=source, body=body)
            job = await aenqueue(self._conn, enrich.new(item_id=item_id))
            await one(self._conn, "begin_enriching", id=item_id, job_id=job.id)
        return CreatedItem(item_id, job.id)
