"""`/admin/api/rss-sources`: the sources, how they stand, and the way back of one that was disabled."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg.errors
from fastapi import APIRouter, HTTPException, Request, status

from examples.homepage.admin.shapes import Source, SourceChanges
from examples.homepage.statements import row, rows

rss_sources = APIRouter(prefix="/rss-sources")


@rss_sources.get("")
async def listed(request: Request) -> list[Source]:
    """All sources, by name."""
    async with request.app.state.pool.connection() as conn:
        return [Source.model_validate(one) for one in await rows(conn, "list_sources", id=None)]


@rss_sources.patch("/{source}")
async def change(request: Request, source: UUID, changes: SourceChanges) -> Source:
    """Change what is given; `{"is_active": true, "error_count": 0}` brings a disabled source back."""
    values: dict[str, Any] = changes.model_dump(mode="json")
    async with request.app.state.pool.connection() as conn:
        try:
            found = await row(
                conn, "change_source", id=source, given=sorted(changes.model_fields_set), **values
            )
        except psycopg.errors.UniqueViolation:
            raise HTTPException(status.HTTP_409_CONFLICT, "another source has this url") from None
        if found is None:
            raise HTTPException(status.HTTP_404_NOT_FOUND, f"there is no source {source}")
        return Source.model_validate(await row(conn, "list_sources", id=source))
