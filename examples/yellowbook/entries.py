"""The use cases: each on the application's own connection, the entry and its job in one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from examples.yellowbook.bulk import regenerate_embeddings
from examples.yellowbook.gemini.client import MOST_IN_A_BATCH
from examples.yellowbook.generate import generate_embedding, regeneration
from examples.yellowbook.statements import Row, row, rows
from postmill import Enqueued, aenqueue

Conn = AsyncConnection[Any]


@dataclass(frozen=True, slots=True)
class Saved:
    """An entry that was written, and the job that embeds it; None where none was needed."""

    id: UUID
    job: Enqueued | None


async def create(conn: Conn, fields: Row) -> Saved:
    """A new business. A job is made where it has a description."""
    async with conn.transaction():
        entry = await row(conn, "create_entry", **fields)
        assert entry is not None
        return Saved(entry["id"], await _want(conn, entry) if fields["description"] else None)


async def change(conn: Conn, business: UUID, fields: Row) -> Saved | None:
    """Change the fields that are given; None where there is no such business.

    A job is made where the description is among them. Within 24 hours the same text answers with the job that there was;
    another text makes a new job, in place of one that still waits.
    """
    async with conn.transaction():
        names = ("name", "description", "categories", "city", "phone")
        values = {name: fields.get(name) for name in names}
        entry = await row(conn, "change_entry", id=business, given=list(fields), **values)
        if entry is None:
            return None
        return Saved(business, await _want(conn, entry) if "description" in fields else None)


async def delete(conn: Conn, business: UUID) -> bool:
    """Whether it was there. A job that still waits for it becomes a dead letter, `subject_deleted`."""
    return await row(conn, "delete_entry", id=business) is not None


async def regenerate(conn: Conn, business: UUID, actor: str) -> Enqueued | None:
    """The button: embed the present text now, whatever there is; None where there is no such business.

    If its last job is a dead letter, that one is replayed with the present text, so that the letter is answered.
    """
    async with conn.transaction():
        entry = await row(conn, "entry_to_regenerate", id=business)
        if entry is None:
            return None
        job = regeneration(business, entry["text"], entry["moment"])
        made: Enqueued | None = None
        if entry["dead_id"] is not None:
            payload = job.payload.decode()
            answer = await row(conn, "replay_edited", id=entry["dead_id"], actor=actor, payload=payload)
            if answer is not None and answer["new_id"] is not None:
                made = Enqueued(answer["new_id"], answer["status"] == "replayed")
        made = made or await aenqueue(conn, job)
        await row(conn, "want_embedding", id=business, hash=entry["hash"], job_id=made.id)
        return made


async def regenerate_many(conn: Conn, businesses: Iterable[UUID]) -> list[Enqueued]:
    """Batches of up to 100 businesses, each with its job in a transaction of its own."""
    made: list[Enqueued] = []
    waiting = list(dict.fromkeys(businesses))
    while waiting:
        batch, waiting = waiting[:MOST_IN_A_BATCH], waiting[MOST_IN_A_BATCH:]
        async with conn.transaction():
            [now] = await rows(conn, "moment")
            job = await aenqueue(conn, regenerate_embeddings.new(businessIds=batch, enqueuedAt=now["moment"]))
            await rows(conn, "want_embeddings", ids=batch, job_id=job.id)
        made.append(job)
    return made


async def _want(conn: Conn, entry: Row) -> Enqueued:
    text: str = entry["text"]
    moment: datetime = entry["moment"]
    job = await aenqueue(conn, generate_embedding.new(businessId=entry["id"], text=text, enqueuedAt=moment))
    await row(conn, "want_embedding", id=entry["id"], hash=entry["hash"], job_id=job.id)
    return job
