"""What goes on right now."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer
from postmill.shapes.jobs import ID
from postmill.shapes.workers import Worker


class TopQueue(Answer):
    """A queue; counts end at 10,000, rates are of the last five minutes."""

    name: str = Field(examples=["q:mail"])
    paused: bool
    pause_reason: str | None
    queued: int = Field(examples=[12])
    scheduled: int = Field(examples=[3])
    running: int = Field(examples=[4])
    dead_letters: int = Field(examples=[2])
    oldest_seconds: float | None = Field(
        description="How long the oldest queued job has been ready.", examples=[1.7]
    )
    ended_per_minute: float = Field(examples=[310.0])
    failed_per_minute: float = Field(description="Attempts that failed.", examples=[4.0])
    p95_seconds: float | None = Field(
        description="From due to finished, of 95 % of the jobs that ended.", examples=[2.4]
    )


class RunningJob(Answer):
    """A running job."""

    id: UUID = Field(examples=[ID])
    tenant_id: UUID | None
    job_type: str | None = Field(examples=["send_mail"])
    queue: str = Field(examples=["q:mail"])
    attempt: int = Field(examples=[1])
    max_attempts: int | None = Field(examples=[3])
    worker_id: str | None = Field(examples=["web-1:4711:9f86d081"])
    seconds: float = Field(description="Since it was claimed.", examples=[12.5])
    progress_done: float | None
    progress_total: float | None
    progress_message: str | None


class Failure(Answer):
    """An error group that was seen in the last day."""

    group: str = Field(examples=["9f86d081884c7d65"])
    job_type: str = Field(examples=["send_mail"])
    error_class: str = Field(examples=["smtplib.SMTPServerDisconnected"])
    message: str = Field(examples=["Connection unexpectedly closed"])
    count: int = Field(description="Failed attempts since it was first seen.", examples=[1204])
    tenants: int = Field(examples=[37])
    first_seen_at: datetime
    last_seen_at: datetime
    sample_job: UUID | None = Field(examples=[ID])


class LiveIncident(Answer):
    """An incident that is not resolved."""

    id: UUID = Field(examples=[ID])
    kind: str = Field(examples=["sla_breach"])
    severity: str = Field(examples=["critical"])
    status: str = Field(examples=["open"])
    title: str = Field(examples=["q:mail is late"])
    queue: str | None = Field(examples=["q:mail"])
    opened_at: datetime
    last_at: datetime
    jobs: int = Field(examples=[1204])


class Top(Answer):
    """Queues, workers, what runs, what failed lately, what is wrong."""

    at: datetime = Field(description="The database's moment.")
    queues: list[TopQueue]
    workers: list[Worker] = Field(description="Those that have not stopped.")
    running: list[RunningJob] = Field(description="The longest first.")
    failures: list[Failure] = Field(description="The one that was seen last first.")
    incidents: list[LiveIncident] = Field(description="The newest first.")
