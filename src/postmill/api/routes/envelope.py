"""The contract of seed 5: a job's envelope, and idempotency keys."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Limit, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import payloads
from postmill.operate.idempotency import idempotency_keys
from postmill.shapes.envelope import Envelope, IdempotencyKey
from postmill.shapes.paging import CURSOR, Page

router = new_router("envelope")

LongCursor = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=2000,
        pattern=CURSOR,
        description="Where the page begins: the `next` of the page before.",
    ),
]
"""A key has up to 512 bytes."""


@router.get("/jobs/{job_id}/envelope", operation_id="get_job_envelope", response_model_exclude_unset=True)
async def get_job_envelope(
    asked: Annotated[Asked, Depends(may(Action.PAYLOADS_READ))], job_id: UUID
) -> Envelope:
    """One job as the contract's JSON; optional fields without a value are left out."""
    ring = asked.backend.settings.encryption.ring
    return Envelope(**await asked.drive(payloads.envelope(job_id, ring, schema=asked.schema)))


@router.get("/idempotency-keys", operation_id="list_idempotency_keys")
async def list_idempotency_keys(
    asked: Annotated[Asked, Depends(may(Action.JOBS_READ))],
    key: Annotated[str | None, Query(max_length=512, description="Exactly this key.")] = None,
    job_type: Annotated[str | None, Query(max_length=128, description="Only of this job type.")] = None,
    limit: Limit = 50,
    cursor: LongCursor = None,
) -> Page[IdempotencyKey]:
    """Idempotency keys in the order of tenant, project and key, with the status of their jobs."""
    after = None
    if cursor:
        tenant, project, last = parts_of(cursor, UUID, UUID, str)
        after = (tenant, project, last)
    flow = idempotency_keys(key=key, job_type=job_type, after=after, most=limit, schema=asked.schema)
    found = await asked.drive(flow)
    items = [IdempotencyKey.model_validate(one) for one in found]
    return Page(items=items, next=cursor_of(*found[-1].position) if len(found) == limit else None)
