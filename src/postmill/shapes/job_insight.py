"""How many jobs are where, and why one does not run."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer
from postmill.shapes.jobs import ID, Status


class Counts(Answer):
    """How many jobs are in each state; each number ends at 10,000."""

    scheduled: int = Field(examples=[3])
    queued: int = Field(examples=[12])
    blocked: int = Field(examples=[0])
    running: int = Field(examples=[4])
    succeeded: int = Field(examples=[9120])
    failed: int = Field(examples=[7])
    canceled: int = Field(examples=[1])
    dead_letter: int = Field(examples=[2])


class Summary(Answer):
    """Where the jobs are."""

    counts_by_status: Counts
    at_least: list[Status] = Field(
        description="States whose number may be larger than what was counted.", examples=[["succeeded"]]
    )
    oldest_queued_age_seconds: float | None = Field(
        description="How long the oldest queued job has been ready; null: none is queued.", examples=[1.7]
    )
    running_count: int = Field(examples=[4])


class Reason(Answer):
    """One thing that holds a job back, or what became of it."""

    code: str = Field(description="Stable name.", examples=["queue_paused"])
    text: str = Field(examples=["queue mail is paused: provider is down"])
    seconds: float | None = Field(description="Until it is over, or since when.", examples=[12.5])
    until: datetime | None = Field(description="When it is over by itself.")


class Why(Answer):
    """Why a job does not run."""

    id: UUID = Field(examples=[ID])
    status: Status = Field(examples=["queued"])
    reasons: list[Reason] = Field(description="The first one that holds it back first.")
