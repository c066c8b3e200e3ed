"""Jobs in bodies and answers, in the names of the seed contract."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from postmill.domain.job_options import INT_MAX
from postmill.domain.lifecycle import State
from postmill.domain.tags import LONGEST, MOST
from postmill.shapes.base import Answer, Model
from postmill.shapes.moments import Moment

ID = "6f46a1d8-6e2b-4ecf-8b46-9ec2e6a37f09"
TENANT = "1efe049f-ae71-4226-97be-236b4df4a93a"

Status = Literal[
    "scheduled", "queued", "blocked", "running", "succeeded", "failed", "canceled", "dead_letter"
]
Source = Literal["manual", "event", "schedule", "system"]
Priority = Annotated[int, Field(ge=-INT_MAX - 1, le=INT_MAX, description="Lower is sooner.", examples=[100])]
Key = Annotated[str, Field(min_length=1, max_length=200)]
Reason = Annotated[
    str | None, Field(max_length=2000, description="Why; for history.", examples=["wrong customer"])
]

Tags = Annotated[
    list[str],
    Field(
        max_length=MOST,
        description=f"Short words to find it by, as `tag:vip` in a query: at most {MOST}, each of 1 to {LONGEST} characters"
        " without blanks, commas and quotes, and without a minus at the beginning.",
        examples=[["vip", "import-2026"]],
    ),
]

assert set(Status.__args__) == set(State)  # type: ignore[attr-defined]


class EnqueueJob(Model):
    """A job to be enqueued."""

    definition_key: Key = Field(
        description="Key or alias of the job definition.", examples=["recompute-trained-tags"]
    )
    payload: dict[str, Any] = Field(
        default_factory=dict,
        description="An object that fits the definition's `arg_schema`.",
        examples=[{"model": "siglip"}],
    )
    priority: Priority | None = Field(default=None, description="Lower is sooner; null: the definition's.")
    scheduled_for: Moment | None = Field(
        default=None,
        description="When it is due; null, or a moment that has passed: now.",
        examples=["2026-02-16T10:30:00Z"],
    )
    dedupe_key: str | None = Field(
        default=None,
        min_length=1,
        max_length=500,
        description="While a job with this key waits or runs, it is answered in place of a new one.",
        examples=["tenant:bcg:training:daily"],
    )
    tenant_id: UUID | None = Field(
        default=None,
        description="Whose job it is; null: one's own, or the default tenant.",
        examples=[TENANT],
    )
    project_id: UUID | None = Field(default=None, description="A project of that tenant.")
    correlation_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="What it belongs to; null: the header X-Correlation-ID, or the request's id.",
        examples=["order-4711"],
    )
    tags: Tags = Field(default_factory=list)


class EnqueuedJob(Answer):
    """A job that was enqueued, or found under its key."""

    id: UUID = Field(examples=[ID])
    tenant_id: UUID = Field(examples=[TENANT])
    status: Status = Field(examples=["queued"])
    definition_key: str = Field(examples=["recompute-trained-tags"])
    queued_at: datetime = Field(description="When it was enqueued.", examples=["2026-02-16T10:30:01Z"])


class ReplayedJob(EnqueuedJob):
    """A job that runs an ended one again."""

    replayed_from: UUID = Field(description="The job that it runs again.")


class Job(EnqueuedJob):
    """A job in a list."""

    queue: str = Field(examples=["default"])
    source: Source = Field(examples=["manual"])
    source_ref: str | None = Field(description="The event, trigger or request that made it.")
    priority: int = Field(examples=[100])
    scheduled_for: datetime | None = Field(description="When it is or was due, where not at once.")
    started_at: datetime | None = Field(description="The last attempt's begin.")
    finished_at: datetime | None
    attempt_count: int = Field(description="Attempts that have begun.", examples=[1])
    max_attempts: int = Field(examples=[3])
    dedupe_key: str | None
    correlation_id: str | None
    claimed_by_worker: str | None = Field(description="The worker that runs it or ended it.")
    reason: str | None = Field(description="Why it ended as it did.")
    error_class: str | None
    last_error: str | None = Field(description="In lists at most 500 characters.")
    actor_type: str = Field(examples=["api_key"])
    created_by: str | None = Field(description="The actor's id.")
    project_id: UUID | None
    replayed_from: UUID | None


class Progress(Answer):
    """How far a running job says it is."""

    done: float = Field(examples=[40])
    total: float | None = Field(examples=[100])
    text: str | None = Field(examples=["resizing"])


class Raised(Answer):
    """How a job has risen by waiting."""

    from_priority: int = Field(description="Where it began.", examples=[100])
    priority: int = Field(description="Where it rose to; lower is sooner.", examples=[80])
    raised_at: datetime
    waited_seconds: float = Field(description="How long it had been ready then.", examples=[1204.5])


class WholeJob(Job):
    """A job with everything that is known of it."""

    tags: Tags
    request_id: str | None
    traceparent: str | None
    error_code: str | None
    replayed_as: UUID | None = Field(description="The job that runs it again.")
    cancel_requested: bool = Field(description="It was asked to stop and has not answered yet.")
    progress: Progress | None
    raised: Raised | None = Field(description="How it has risen by waiting; null: it has not.")
    payload: Any = Field(default=None, description="Null without the permission `payloads.read`.")
    result: Any = Field(default=None, description="Null without the permission `payloads.read`.")


class Attempt(Answer):
    """One execution of a job."""

    attempt_no: int = Field(description="Counts every execution.", examples=[1])
    attempt: int = Field(description="The number that the retry policy counts by.", examples=[1])
    status: Literal[
        "running", "succeeded", "failed", "timeout", "canceled", "lost", "snoozed", "interrupted"
    ] = Field(examples=["failed"])
    worker_id: str = Field(examples=["web-1:4711:9f86d081"])
    build: str | None = Field(
        description="What its worker's application calls the code that it ran.", examples=["2026.11.3"]
    )
    pid: int | None
    started_at: datetime
    finished_at: datetime | None
    exit_code: int | None = Field(description="Of a command.", examples=[2])
    error_class: str | None
    error_code: str | None
    error_status: int | None
    error_text: str | None
    stack: str | None
    stdout_tail: str | None
    stderr_tail: str | None


class Cancel(Model):
    """Why a job is canceled."""

    reason: Reason = None


class Retry(Model):
    """How a job is retried."""

    confirm: bool = Field(
        default=False,
        description="Somebody was asked: needed to replay a job whose definition says `replay_class = ask`.",
        examples=[True],
    )


class CanceledJob(Answer):
    """What became of a cancel."""

    id: UUID = Field(examples=[ID])
    status: Status = Field(description="canceled; or running: it was asked to stop.", examples=["canceled"])
    cancel_requested: bool = Field(examples=[False])
