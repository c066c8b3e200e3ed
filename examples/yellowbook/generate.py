"""The job `generate-embedding`: one business, one call of the API, 768 floats."""

from __future__ import annotations

from datetime import datetime
from time import monotonic
from typing import Any
from uuid import UUID

from examples.yellowbook.payload import EmbeddingJobPayload
from examples.yellowbook.resources import entries, gemini
from examples.yellowbook.retrying import ATTEMPTS, CLASSIFIER, RETRY, should_retry
from examples.yellowbook.statements import row, vector
from postmill import Bury, Context, Idempotency, Mode, NewJob, Rate, job

SUBJECT_DELETED = "subject_deleted"
"""The reason of dead letters whose business is gone: nothing can be done, and they are kept for the audit."""


@job(
    "generate-embedding",
    queue="embeddings",
    retry=RETRY,
    max_attempts=ATTEMPTS,
    classifier=CLASSIFIER,
    timeout=60,
    rate=Rate(3000, per=60, burst=200),
    idempotency=Idempotency(Mode.WINDOW, key="embedding:{businessId}", content=("text",)),
    log_fields=("businessId",),
    action="Check Gemini API status and quotas",
)
async def generate_embedding(
    ctx: Context, businessId: UUID, text: str, enqueuedAt: datetime, attempt: int = 1
) -> dict[str, Any]:
    """Embeds the text of a business and saves it, unless the business has another text by now, or has it embedded already."""
    payload = EmbeddingJobPayload(businessId, text, ctx.attempt, enqueuedAt)
    about: dict[str, Any] = {"jobId": str(ctx.job.id), "businessId": str(businessId)}
    begun = monotonic()
    ctx.log.info("embedding_job_started", **about, attempt=payload.attempt)
    try:
        told = await _embed(ctx, payload)
    except Exception as error:
        will_retry = not isinstance(error, Bury) and should_retry(error, payload.attempt)
        ctx.log.error(
            "embedding_job_failed", **about, attempt=payload.attempt, error=str(error), willRetry=will_retry
        )
        raise
    ctx.log.info("embedding_job_completed", **about, duration=round((monotonic() - begun) * 1000), **told)
    return told


def regeneration(business: UUID, text: str, moment: datetime) -> NewJob:
    """A job that somebody asked for by hand: the window of 24 hours does not hold it back, one that waits does."""
    by_hand = generate_embedding.using(key=f"embedding:{business}:regenerate", mode=Mode.ACTIVE)
    return by_hand.new(businessId=business, text=text, enqueuedAt=moment)


async def _embed(ctx: Context, payload: EmbeddingJobPayload) -> dict[str, Any]:
    """The job's result. The slow call happens outside of any transaction; the effect and the success are one commit."""
    values = {"id": payload.businessId, "hash": payload.hash, "enqueued_at": payload.enqueuedAt}
    async with ctx.resource(entries).connection() as conn:
        found = await row(conn, "entry_to_embed", **values)
    if found is None:
        raise Bury(SUBJECT_DELETED)
    if not found["wanted"]:
        return {"skipped": True, "why": "the business has another text by now"}
    if found["fresh"]:
        return {"skipped": True, "why": "embedding already generated"}
    embedding = await ctx.resource(gemini).embed(payload.text)
    async with ctx.transaction() as transaction:
        if await row(transaction, "save_embedding", **values, vector=vector(embedding)) is not None:
            told: dict[str, Any] = {"embeddingSize": len(embedding)}
        elif await row(transaction, "entry_exists", id=payload.businessId) is not None:
            told = {"skipped": True, "why": "another job already updated this entry"}
        else:
            raise Bury(SUBJECT_DELETED)
        transaction.result = told
    return told
