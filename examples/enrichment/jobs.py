"""The job of the application. A worker serves it by `postmill worker examples.enrichment.jobs`."""

from __future__ import annotations

from uuid import UUID

from examples.enrichment.resources import resources
from examples.enrichment.statements import one
from postmill import ByErrorClass, Constant, Context, Idempotency, Steps, job

BACKOFF = Steps((30, 300))
"""Attempt 1 at once, attempt 2 after 30 s, attempt 3 after 5 min; then the job is FAILED."""

RETRY = ByErrorClass(
    {
        # The service said itself how long to wait: its Retry-After counts, from 1 s on.
        "ApiBusy": Constant(1),
        # Our own database was away for a moment. That says nothing about the text or the service.
        "OperationalError": Constant(2),
    },
    default=BACKOFF,
)


@job(
    "enrichment",
    queue="enrichment",
    retry=RETRY,
    max_attempts=3,
    timeout=60,
    idempotency=Idempotency(key="item:{item_id}"),
    log_fields=("item_id",),
)
async def enrich(ctx: Context, item_id: UUID) -> None:
    """Finds out language, title, key phrases and summary of an item's text, and makes it READY_TO_CONFIRM.

    The slow call happens outside of any transaction. The effect and the job's success are one commit, and
    only an item that is ENRICHING is changed: running twice, or after a discard, succeeds without effect.
    """
    held = await resources()
    async with held.items.connection() as conn:
        text = await one(conn, "text_to_enrich", id=item_id)
    if text is None:
        ctx.log.info("nothing_to_enrich")
        return
    found = await held.api.enrich(text)
    async with ctx.transaction() as transaction:
        changed = await one(transaction, "apply_enrichment", id=item_id, **found.model_dump())
        transaction.result = {"language": found.language, "effect": changed is not None}
