"""A job as the contract of seed 5 has it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postmill.domain.job import JobView


def envelope(job: JobView) -> dict[str, Any]:
    """The job's envelope and payload under the names of the contract, times in RFC 3339, ids as text.

    `project_id`, `scheduled_for` and `traceparent` are left out where there are none; the others are always there, and
    None where a definition without a strict envelope let them be left out.
    """
    made: dict[str, Any] = {
        "job_id": str(job.id),
        "job_type": job.job_type,
        "org_id": str(job.tenant_id),
        "actor_type": job.actor_type,
        "actor_id": job.actor_id,
        "request_id": job.request_id,
        "correlation_id": job.correlation_id,
        "idempotency_key": job.key,
        "created_at": rfc3339(job.created_at),
        "payload": job.payload,
    }
    optional = {
        "project_id": str(job.project_id) if job.project_id else None,
        "scheduled_for": rfc3339(job.scheduled_for) if job.scheduled_for else None,
        "traceparent": job.traceparent,
    }
    return made | {name: value for name, value in optional.items() if value is not None}


def rfc3339(moment: datetime) -> str:
    """An instant in UTC, with microseconds and `Z`, as the SQL function writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
