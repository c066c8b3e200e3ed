"""What every event is, and what an event about a job says of the job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID


class Event:
    """Something that happened. `name` is the stable name under which logs and docs know it."""

    __slots__ = ()
    name: ClassVar[str]


@dataclass(frozen=True, slots=True)
class JobFacts:
    """Which job an event is about; built once per attempt, and only if somebody wants one of its events.

    `attempt` counts from 1. `handler` is the handler's qualified name. `fields` are the payload fields that
    the job type binds to its log lines (`log_fields`), never the whole payload.
    """

    job_id: UUID
    job_type: str
    queue: str
    tenant_id: UUID
    attempt: int = 1
    worker_id: str = ""
    project_id: UUID | None = None
    request_id: str | None = None
    correlation_id: str | None = None
    traceparent: str | None = None
    handler: str | None = None
    fields: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class JobEvent(Event):
    """An event about one job. Its facts can be read from the event itself too, as in `event.job_id`."""

    name: ClassVar[str] = "job"
    job: JobFacts

    @property
    def job_id(self) -> UUID:
        """The job's id."""
        return self.job.job_id

    @property
    def job_type(self) -> str:
        """The job type's name."""
        return self.job.job_type

    @property
    def queue(self) -> str:
        """The queue that the job belongs to."""
        return self.job.queue

    @property
    def tenant_id(self) -> UUID:
        """Whose work it is (a seed's *org*)."""
        return self.job.tenant_id

    @property
    def attempt(self) -> int:
        """The number of the attempt, from 1."""
        return self.job.attempt
