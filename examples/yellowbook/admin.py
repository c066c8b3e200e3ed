"""What an administrator may do: the button, and the dead letters as their design knows them."""

from __future__ import annotations

import secrets
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, HTTPException, Query, Request, status

from examples.yellowbook import entries
from examples.yellowbook.shapes import Asked, DLQEntry, ErrorCount, Metrics, ProcessingTime
from examples.yellowbook.statements import rows

ADMIN = "admin"


def administrator(request: Request) -> None:
    """Lets through whoever has the token. Raises 401, or 403 where there is none to have."""
    token = request.app.state.settings.admin_token
    if token is None:
        raise HTTPException(status.HTTP_403_FORBIDDEN, "closed: YELLOWBOOK_ADMIN_TOKEN is not set")
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    if kind != "Bearer" or not secrets.compare_digest(given.encode(), token.get_secret_value().encode()):
        raise HTTPException(status.HTTP_401_UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})


admin = APIRouter(prefix="/api", tags=["administration"], dependencies=[Depends(administrator)])


@admin.post("/yellow-books/{business}/regenerate-embedding", status_code=status.HTTP_202_ACCEPTED)
async def regenerate(request: Request, business: UUID) -> Asked:
    """The button "Regenerate Embedding": embed the present text anew, whatever became of it before."""
    async with request.app.state.pool.connection() as conn:
        made = await entries.regenerate(conn, business, ADMIN)
    if made is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"there is no business {business}")
    return Asked(job_id=made.id, created=made.created)


@admin.get("/admin/dlq")
async def dead_letters(
    request: Request,
    reason: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[DLQEntry]:
    """The dead letters, by the reason for which they failed, the latest first."""
    async with request.app.state.pool.connection() as conn:
        found = await rows(conn, "dead_entries", reason=reason, most=limit)
    return [DLQEntry.model_validate(one) for one in found]


@admin.get("/admin/dlq/statistics")
async def statistics(request: Request) -> list[ErrorCount]:
    """How many there are of each status and reason: what is broken, at one look."""
    async with request.app.state.pool.connection() as conn:
        return [ErrorCount.model_validate(one) for one in await rows(conn, "dead_statistics")]


@admin.get("/admin/metrics")
async def metrics(request: Request, minutes: Annotated[int, Query(ge=1, le=1440)] = 60) -> Metrics:
    """The key metrics of the last minutes."""
    async with request.app.state.pool.connection() as conn:
        [found] = await rows(conn, "metrics", minutes=minutes)
    times = {name: found.pop(name) for name in ("p50", "p95", "p99")}
    return Metrics(**found, processing_time=ProcessingTime(**times))
