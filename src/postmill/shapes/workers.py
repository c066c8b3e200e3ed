"""Workers, as the platform sees them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import Reason


class Worker(Answer):
    """A worker session."""

    id: UUID = Field(description="Of the session: a restarted worker has another one.")
    worker_id: str = Field(examples=["web-1:4711:9f86d081"])
    hostname: str = Field(examples=["web-1"])
    pid: int = Field(examples=[4711])
    version: str = Field(description="Of Postmill.", examples=["1.0.0"])
    build: str | None = Field(
        description="What its application calls the code that it runs.", examples=["2026.11.3"]
    )
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
    asked: Literal["drain", "resume", "stop"] | None = Field(description="What an operator asked of it last.")
    asked_at: datetime | None
    asked_by: str | None
    asked_reason: str | None
    draining_since: datetime | None = Field(description="Since when it claims nothing more.")
    full_since: datetime | None = Field(description="Since when all its slots have been taken.")
    skew_seconds: float | None = Field(
        description="How far its own clock is ahead of the database's.", examples=[0.004]
    )
    report: dict[str, Any] = Field(
        description="What it says of itself: memory, what it ended, its last error; of queues whose slots follow their work "
        "`ranges`, by name: `least`, `most`, `because` (of their last change), `held` (what keeps them from more now)."
    )


class AskWorker(Model):
    """Why a worker is asked something."""

    reason: Reason = None


class HeldJob(Answer):
    """A job that a worker holds: it runs, or the worker has it ready."""

    id: UUID
    tenant_id: UUID | None
    job_type: str | None = Field(examples=["send_mail"])
    queue: str = Field(examples=["default"])
    attempt: int = Field(examples=[1])
    max_attempts: int | None = Field(examples=[3])
    claimed_at: datetime
    timeout_seconds: float | None
    replay_class: str | None = Field(description="safe, ask or never: may it run again?", examples=["safe"])
    lost: int = Field(description="How often a worker was lost under it.", examples=[0])
    progress_done: float | None
    progress_total: float | None
    progress_message: str | None


class RescuedJob(Answer):
    """A job that was taken back."""

    id: UUID
    queue: str = Field(examples=["default"])
    verdict: str = Field(
        description="scheduled (it runs again), dead_letter, failed, canceled or undecodable.",
        examples=["scheduled"],
    )


class RescuedWorker(Answer):
    """What came of a rescue."""

    jobs: list[RescuedJob]
