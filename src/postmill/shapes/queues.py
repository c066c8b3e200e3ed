"""Queues in bodies and answers."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import Reason
from postmill.shapes.moments import Moment


class Queue(Answer):
    """A queue. How much of its work is where is null for a tenant; numbers end at 10,000."""

    name: str = Field(examples=["q:mail"])
    priority: int = Field(description="Lower is served first.", examples=[100])
    lane: str = Field(description="Who has fair shares of it.", examples=["tenant"])
    paused: bool = Field(description="Nothing is handed out now.", examples=[False])
    paused_at: datetime | None
    paused_by: str | None
    pause_reason: str | None = Field(examples=["provider is down"])
    resume_at: datetime | None = Field(description="When it opens by itself.")
    queued: int | None = Field(examples=[12])
    scheduled: int | None = Field(examples=[3])
    blocked: int | None = Field(examples=[0])
    running: int | None = Field(examples=[4])
    dead_letters: int | None = Field(examples=[2])
    oldest_seconds: float | None = Field(description="How long its oldest queued job has been ready.")
    next_due_seconds: float | None = Field(description="Until its next scheduled job is due.")
    owner: str | None = Field(description="Who answers for it.", examples=["Platform Services Guild"])
    contact: str | None = Field(
        description="Channel on which the owner is told of a breach; null for a tenant.",
        examples=["#platform-feeds"],
    )
    color: str | None = Field(examples=["blue"])
    sla_seconds: float | None = Field(
        description="Within so long 95 % of jobs are finished once due; null: best effort.", examples=[300]
    )
    wait_target_seconds: float | None = Field(description="The same for the time until the start.")
    run_target_seconds: float | None = Field(description="The same for the time that jobs run.")
    escalation: str | None = Field(
        description="Policy, or channel, for jobs that are given up; null for a tenant.", examples=["slack"]
    )
    attained: float | None = Field(
        description="Share of the last hour's jobs done within `sla_seconds` (given up is not done); null for a tenant.",
        examples=[0.998],
    )
    burn: float | None = Field(
        description="How quickly the 5 % that may be late are used up: 1 is exactly those.", examples=[0.04]
    )


class Pause(Model):
    """How a queue is paused."""

    reason: Reason = None
    resume_at: Moment | None = Field(
        default=None,
        description="When it opens by itself; null: when it is resumed.",
        examples=["2031-01-01T00:00:00Z"],
    )


class TypePause(Answer):
    """A pause that holds a job type back now."""

    definition_key: str = Field(examples=["recompute-trained-tags"])
    paused_at: datetime
    paused_by: str | None = Field(description="Null for a tenant.", examples=["ada"])
    reason: str | None = Field(examples=["fails since v42"])
    resume_at: datetime | None = Field(description="When it resumes by itself.")
