"""The job `regenerate-embeddings`: up to 100 businesses in one call of the API, for the batch command."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from examples.yellowbook.gemini.client import MOST_IN_A_BATCH
from examples.yellowbook.gemini.errors import GeminiError
from examples.yellowbook.generate import regeneration
from examples.yellowbook.resources import entries, gemini
from examples.yellowbook.retrying import ATTEMPTS, CLASSIFIER, RETRY
from examples.yellowbook.statements import Row, rows, vector
from postmill import Context, NewJob, aenqueue_many, job


@job(
    "regenerate-embeddings",
    queue="embeddings-bulk",
    retry=RETRY,
    max_attempts=ATTEMPTS,
    classifier=CLASSIFIER,
    timeout=300,
)
async def regenerate_embeddings(
    ctx: Context, businessIds: list[UUID], enqueuedAt: datetime
) -> dict[str, int]:
    """Embeds the present texts of these businesses. Where the API refuses one, each gets a job of its own."""
    if len(businessIds) > MOST_IN_A_BATCH:
        raise ValueError(f"businessIds: at most {MOST_IN_A_BATCH} in one batch, not {len(businessIds)}")
    pool = ctx.resource(entries)
    async with pool.connection() as conn:
        found = await rows(conn, "entries_to_embed", ids=businessIds, enqueued_at=enqueuedAt)
    if not found:
        return {"embedded": 0}
    try:
        embeddings = await ctx.resource(gemini).embed_many([entry["text"] for entry in found])
    except GeminiError as error:
        if not _one_is_wrong(error):
            raise
        async with pool.connection() as conn, conn.transaction():
            made = await aenqueue_many(conn, [_apart(entry, enqueuedAt) for entry in found])
            ids = [entry["id"] for entry in found]
            await rows(conn, "hand_over", ids=ids, job_ids=[job.id for job in made])
        return {"embedded": 0, "apart": len(found)}
    async with ctx.transaction() as transaction:
        saved = await rows(
            transaction,
            "save_embeddings",
            ids=[entry["id"] for entry in found],
            hashes=[entry["hash"] for entry in found],
            vectors=[vector(embedding) for embedding in embeddings],
            enqueued_at=enqueuedAt,
        )
        transaction.result = told = {"embedded": len(saved)}
    return told


def _one_is_wrong(error: GeminiError) -> bool:
    """A bad request that another key would not make a good one."""
    return error.status == 400 and error.code != "API_KEY_INVALID"


def _apart(entry: Row, moment: datetime) -> NewJob:
    return regeneration(entry["id"], entry["text"], moment)
