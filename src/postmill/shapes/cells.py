"""Cells and moves in bodies and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model

MoveStep = Literal["prepare", "copy", "drain", "switch", "open", "clean", "done"]


class Cell(Answer):
    """One of the databases that share the tenants."""

    name: str = Field(examples=["a"])
    directory: bool = Field(description="It holds the directory.", examples=[True])
    state: Literal["answers", "unfit", "away"] = Field(
        description="unfit: its schema is missing, or too old or too new; away: it does not answer.",
        examples=["answers"],
    )
    version: int | None = Field(description="Of its schema.", examples=[66])
    tenants: int | None = Field(
        description="Tenants that the directory has there; null: the directory does not answer.",
        examples=[12],
    )
    leaving: int = Field(description="Of them, those that are being moved from it.", examples=[0])
    arriving: int = Field(description="Tenants that are being moved to it.", examples=[1])
    error: str | None = Field(description="Why one cannot work in it.", examples=[None])


class TenantPlace(Answer):
    """Where a tenant lives."""

    tenant_id: UUID
    tenant: str = Field(examples=["bakery"])
    cell: str = Field(examples=["a"])
    move_id: UUID | None = Field(description="Of the move that goes on.")
    moving_to: str | None = Field(examples=["b"])
    step: MoveStep | None = Field(examples=["copy"])


class NewMove(Model):
    """Where to move a tenant."""

    to: str = Field(min_length=1, max_length=32, description="The name of a cell.", examples=["b"])
    reason: str | None = Field(
        default=None, max_length=2000, description="Why; for the audit log.", examples=["closer to its shop"]
    )


class MoveReason(Model):
    """Why a move is taken back."""

    reason: str | None = Field(
        default=None, max_length=2000, description="For the audit log.", examples=["not tonight"]
    )


class MovePreview(Answer):
    """What a move would carry, and what stands in its way."""

    tenant_id: UUID
    tenant: str = Field(examples=["bakery"])
    from_cell: str = Field(examples=["a"])
    to_cell: str = Field(examples=["b"])
    jobs: int = Field(examples=[120_000])
    running: int = Field(examples=[3])
    dead_letters: int = Field(examples=[2])
    triggers: int = Field(examples=[4])
    keys: int = Field(description="Idempotency keys.", examples=[950])
    definitions: list[str] = Field(
        description="Job types that are made there, as they are here.", examples=[["bake"]]
    )
    blockers: list[str] = Field(description="Why it cannot begin; empty: it can.", examples=[[]])


class Move(Answer):
    """A tenant on its way from one cell to another."""

    id: UUID
    tenant_id: UUID
    tenant: str = Field(examples=["bakery"])
    from_cell: str = Field(examples=["a"])
    to_cell: str = Field(examples=["b"])
    step: MoveStep = Field(
        description="Until `switch` it can be taken back. While it is `drain` or `switch`, new jobs are taken and wait.",
        examples=["copy"],
    )
    status: Literal["running", "aborting", "aborted", "done"] = Field(examples=["running"])
    note: str | None = Field(description="What it does or waits for.", examples=["history, 3 of 9"])
    carried: dict[str, int] = Field(description="Rows by table.", examples=[{"job": 120_000}])
    closed_at: datetime | None = Field(description="From then on nothing came in for the tenant.")
    opened_at: datetime | None = Field(description="Until then.")
    closed_seconds: float | None = Field(description="For how long nothing came in.", examples=[0.25])
    parts: dict[str, float] = Field(
        description="What that time was spent on, in seconds.", examples=[{"carrying": 0.14}]
    )
    reason: str | None = Field(examples=["closer to its shop"])
    actor_id: str | None = Field(description="Who asked for it.", examples=["ops"])
    via: Literal["api", "console", "cli"] = Field(
        description="Who moves it: cli, the command; else the server that was asked, or another one that finds it left.",
        examples=["api"],
    )
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
