"""Workers, as the platform sees them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer


class Worker(Answer):
    """A worker session."""

    id: UUID = Field(description="Of the session: a restarted worker has another one.")
    worker_id: str = Field(examples=["web-1:4711:9f86d081"])
    hostname: str = Field(examples=["web-1"])
    pid: int = Field(examples=[4711])
    version: str = Field(examples=["1.0.0"])
    state: Literal["running", "draining", "stopped", "lost"] = Field(
        description="lost: its lease ended, and nobody closed it.", examples=["running"]
    )
    queues: list[str] = Field(examples=[["default"]])
    slots: dict[str, Any] = Field(description="Jobs at once, by queue.", examples=[{"default": 10}])
    job_types: list[str] = Field(description="The definitions that it serves.")
    running_count: int = Field(examples=[4])
    started_at: datetime
    last_seen_at: datetime
    stopped_at: datetime | None
    lease_expires_at: datetime | None
    metadata: dict[str, Any]
