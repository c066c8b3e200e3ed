"""What may be done to jobs: cancel, retry, prioritize, tag."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from postmill.http.call import Call, Id, at, model, write
from postmill.shapes.job_priority import Prioritized, PrioritizedJob, WaitingJobs
from postmill.shapes.job_tags import TaggedJob
from postmill.shapes.jobs import CanceledJob, EnqueuedJob, ReplayedJob


def cancel_job(
    job_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[CanceledJob]:
    """Cancels a job. One that waits ends at once; one that runs is asked to stop (`cancel_requested`)."""
    path = at("jobs", job_id, "cancel")
    return write("POST", path, model(CanceledJob), {"reason": reason}, key=idempotency_key)


def retry_job(
    job_id: Id, *, confirm: bool = False, idempotency_key: str | None = None
) -> Call[EnqueuedJob | ReplayedJob]:
    """Retries a job: one that waits for its next attempt is due now, one that ended without success runs again as a new
    one (`ReplayedJob`). Conflict where the definition says `replay_class = ask` and `confirm` is not true."""
    path = at("jobs", job_id, "retry")
    return write("POST", path, _rerun, {"confirm": confirm}, key=idempotency_key)


def set_priority(
    job_id: Id, priority: int, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[PrioritizedJob]:
    """Gives a job that waits another priority; lower is sooner."""
    body = {"priority": priority, "reason": reason}
    return write("PATCH", at("jobs", job_id, "priority"), model(PrioritizedJob), body, key=idempotency_key)


def set_priorities(
    priority: int,
    filter: WaitingJobs,
    *,
    reason: str | None = None,
    cursor: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Prioritized]:
    """Gives the waiting jobs that a filter meets another priority, at most 1,000 in one request, the newest first.

    `next` of the answer is the `cursor` of the next request, until it is None.
    """
    body = {
        "priority": priority,
        "filter": filter.model_dump(exclude_unset=True),
        "reason": reason,
        "cursor": cursor,
    }
    return write("PATCH", at("jobs", "priority"), model(Prioritized), body, key=idempotency_key)


def set_tags(
    job_id: Id,
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> Call[TaggedJob]:
    """Gives a job tags and takes others away, whatever state it is in. Conflict where it would have more than 8."""
    body = {"add": list(add), "remove": list(remove), "reason": reason}
    return write("PATCH", at("jobs", job_id, "tags"), model(TaggedJob), body, key=idempotency_key)


def _rerun(response: httpx.Response) -> EnqueuedJob | ReplayedJob:
    kind = ReplayedJob if response.status_code == 201 else EnqueuedJob
    return kind.model_validate_json(response.content)
