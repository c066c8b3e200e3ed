"""The one way in: every job of the planner's is enqueued here, under the whole contract, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from examples.planner.caller import Caller
from examples.planner.scheduling import due_at
from postmill import Enqueued, NewJob, aenqueue, stable_hash


def key_of(job_type: str, org: UUID, project: UUID | None, inputs: object) -> str:
    """`<job_type>:<org_id>:<project_id?>:<stable_hash>`; `inputs` are plain data, or JSON in bytes."""
    return f"{job_type}:{org}:{project or ''}:{stable_hash(inputs)}"


async def submit(
    conn: Any,
    caller: Caller,
    job: NewJob,
    *,
    project: UUID | None = None,
    scheduled_for: datetime | None = None,
    identity: Mapping[str, object] | None = None,
) -> Enqueued:
    """Enqueues a job for the caller.

    Args:
        conn: with an open transaction, scoped to the caller's organization.
        job: made by the type's `.new(…)`.
        project: of a job that is scoped to one.
        scheduled_for: an instant; refused but for maintenance and delayed notifications.
        identity: what makes it the same work, where that is not the whole payload.

    Raises:
        ScheduleRefused: see `due_at`.
        EnqueueRefused: as `postmill.aenqueue`.
    """
    due = await due_at(conn, job.job_type, scheduled_for)
    key = key_of(job.job_type, caller.org_id, project, job.payload if identity is None else dict(identity))
    whole = job.using(
        tenant=caller.org_id,
        project=project,
        actor_type=caller.actor_type,
        actor_id=caller.actor_id,
        request_id=caller.request_id,
        correlation_id=caller.correlation_id,
        traceparent=caller.traceparent,
        key=key,
    )
    return await aenqueue(conn, whole if due is None else whole.using(scheduled_for=due))
