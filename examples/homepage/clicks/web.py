"""`POST /click`, and the way back from it: who withdraws consent is forgotten."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from fastapi import APIRouter, Request, status
from pydantic import AwareDatetime, BaseModel, ConfigDict, model_validator

from examples.homepage.statements import row, text

clicks = APIRouter(tags=["clicks"])

LATEST = timedelta(days=1)
"""A browser that was offline may tell of clicks that are no older than this."""


class Click(BaseModel):
    """A click on a site. Without consent nothing else of it is needed, and nothing of it is kept."""

    model_config = ConfigDict(extra="forbid")

    site_id: UUID
    consent: bool = False
    visitor: UUID | None = None
    """An id that the visitor's browser made, and keeps."""
    clicked_at: AwareDatetime | None = None
    """When it was, where that is not now."""

    @model_validator(mode="after")
    def _whose(self) -> Click:
        if self.consent and self.visitor is None:
            raise ValueError("visitor: whose consent is it?")
        return self


class Clicked(BaseModel):
    """Whether the click will be counted."""

    counted: bool


@clicks.post("/click", status_code=status.HTTP_202_ACCEPTED)
async def click(request: Request, new: Click) -> Clicked:
    """Keep a click that may be kept. One that is older than a day comes too late, and is not counted."""
    if not new.consent:
        return Clicked(counted=False)
    async with request.app.state.pool.connection() as conn:
        kept = await row(conn, "keep_click", **new.model_dump(), latest=LATEST)
    return Clicked(counted=kept is not None)


@clicks.delete("/clicks/{visitor}", status_code=status.HTTP_204_NO_CONTENT)
async def forget(request: Request, visitor: UUID) -> None:
    """Consent is withdrawn: no click of the visitor's is kept; those that are counted stay counts."""
    async with request.app.state.pool.connection() as conn:
        await conn.execute(text("forget_clicks"), {"visitor": visitor})
