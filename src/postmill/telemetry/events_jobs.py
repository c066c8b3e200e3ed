"""Events about one job: what was done with it, in the order of its life."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from postmill.telemetry.event import JobEvent


@dataclass(frozen=True, slots=True)
class JobClaimed(JobEvent):
    """A worker session took the job."""

    name: ClassVar[str] = "job_claimed"


@dataclass(frozen=True, slots=True)
class JobStarted(JobEvent):
    """Its handler is about to run, in the context (task) that this is emitted in. `waited` is the time in
    seconds since the job was ready."""

    name: ClassVar[str] = "job_started"
    waited: float | None = None


@dataclass(frozen=True, slots=True)
class JobCompleted(JobEvent):
    """The attempt succeeded, and that is committed."""

    name: ClassVar[str] = "job_completed"
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class JobFailed(JobEvent):
    """The attempt failed. `will_retry` tells whether another follows, after `delay` seconds; if none does,
    `reason` says why the job was given up, and JobDeadLettered follows unless the job's definition ends it as
    failed.

    `fallback` says why the retry policy's own answer could not be used, if so.
    """

    name: ClassVar[str] = "job_failed"
    will_retry: bool = False
    error_class: str = ""
    error_code: str | None = None
    error_message: str = ""
    status: int | None = None
    stack: str | None = None
    delay: float | None = None
    reason: str | None = None
    fallback: str | None = None
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True)
class JobRetryScheduled(JobEvent):
    """After a failure the job is due again in `delay` seconds, as attempt `attempt + 1`."""

    name: ClassVar[str] = "job_retry_scheduled"
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class JobSnoozed(JobEvent):
    """The handler put the job off for `delay` seconds, at no cost of an attempt."""

    name: ClassVar[str] = "job_snoozed"
    delay: float = 0.0
    reason: str = ""
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True)
class JobDeferred(JobEvent):
    """A budget let nothing run: the job succeeded with nothing done. Followed by JobCompleted."""

    name: ClassVar[str] = "job_deferred"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JobCanceled(JobEvent):
    """The job ended by its handler's or somebody else's wish."""

    name: ClassVar[str] = "job_canceled"
    reason: str = ""
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True)
class JobDeadLettered(JobEvent):
    """The job was given up and waits for an operator: `permanent_error | max_retries_exceeded | worker_lost |
    undecodable | expired | budget_exhausted`, or the handler's own reason."""

    name: ClassVar[str] = "job_deadlettered"
    reason: str = ""
    error_class: str | None = None
    error_code: str | None = None
    error_message: str = ""


@dataclass(frozen=True, slots=True)
class JobInterrupted(JobEvent):
    """A draining worker gave the running job back, at no cost of an attempt."""

    name: ClassVar[str] = "job_interrupted"
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True)
class JobLost(JobEvent):
    """A rescuer found the job under a lease that is over; it goes back with an attempt of status `lost`."""

    name: ClassVar[str] = "job_lost"
    holder: str = ""
    delay: float | None = None


JOB_EVENTS: tuple[type[JobEvent], ...] = (
    JobClaimed,
    JobStarted,
    JobCompleted,
    JobFailed,
    JobRetryScheduled,
    JobSnoozed,
    JobDeferred,
    JobCanceled,
    JobDeadLettered,
    JobInterrupted,
    JobLost,
)
"""All of them, to subscribe to."""
