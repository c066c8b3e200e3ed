"""Jobs: enqueue, list, show, explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.envelope import Envelope, IdempotencyKey
from postmill.shapes.job_insight import Summary, Why
from postmill.shapes.jobs import Attempt, EnqueuedJob, Job, Source, Status, WholeJob
from postmill.shapes.paging import Page


def enqueue_job(
    definition_key: str,
    payload: Mapping[str, object] | None = None,
    *,
    priority: int | None = None,
    scheduled_for: datetime | None = None,
    dedupe_key: str | None = None,
    tenant_id: Id | None = None,
    project_id: Id | None = None,
    correlation_id: str | None = None,
    traceparent: str | None = None,
    tags: Sequence[str] = (),
    idempotency_key: str | None = None,
) -> Call[EnqueuedJob]:
    """Enqueues a job, once: sent again after a lost answer, it makes no second one.

    Args:
        definition_key: key or alias of the job definition.
        payload: an object that fits the definition's `arg_schema`; dates, times and UUIDs become text.
        priority: lower is sooner; None: the definition's.
        scheduled_for: when it is due; None: now.
        dedupe_key: while a job with this key waits or runs, it is answered in place of a new one.
        tenant_id: whose job it is; None: the key's own tenant, or the default one.
        project_id: a project of that tenant.
        correlation_id: what it belongs to; None: the request's id.
        traceparent: the trace that it belongs to (W3C Trace Context).
        tags: at most 8 short words to find it by.
        idempotency_key: of the request; with one of your own it is done once also across restarts, within 24 hours.
    """
    body = {
        "definition_key": definition_key,
        "payload": payload,
        "priority": priority,
        "scheduled_for": scheduled_for,
        "dedupe_key": dedupe_key,
        "tenant_id": tenant_id,
        "project_id": project_id,
        "correlation_id": correlation_id,
        "tags": list(tags),
    }
    return write(
        "POST",
        at("jobs"),
        model(EnqueuedJob),
        body,
        key=idempotency_key,
        headers={"traceparent": traceparent},
    )


def list_jobs(
    *,
    status: Status | None = None,
    source: Source | None = None,
    definition_key: str | None = None,
    queue: str | None = None,
    tenant_id: Id | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    limit: int | None = None,
    offset: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Job]]:
    """Jobs, the newest first."""
    return get(
        at("jobs"),
        model(Page[Job]),
        status=status,
        source=source,
        definition_key=definition_key,
        queue=queue,
        tenant_id=tenant_id,
        created_after=created_after,
        created_before=created_before,
        limit=limit,
        offset=offset,
        cursor=cursor,
    )


def get_job(job_id: Id) -> Call[WholeJob]:
    """One job. Payload and result need the permission `payloads.read`."""
    return get(at("jobs", job_id), model(WholeJob))


def list_attempts(job_id: Id) -> Call[Page[Attempt]]:
    """Every execution of a job, the first one first, the running one last."""
    return get(at("jobs", job_id, "attempts"), model(Page[Attempt]))


def summarize_jobs(*, tenant_id: Id | None = None) -> Call[Summary]:
    """How many jobs are in each state."""
    return get(at("jobs", "summary"), model(Summary), tenant_id=tenant_id)


def explain_job(job_id: Id) -> Call[Why]:
    """Why a job does not run."""
    return get(at("jobs", job_id, "why"), model(Why))


def get_job_envelope(job_id: Id) -> Call[Envelope]:
    """One job as its contract: who asked for it, for which organization, within which request."""
    return get(at("jobs", job_id, "envelope"), model(Envelope))


def list_idempotency_keys(
    *,
    key: str | None = None,
    job_type: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[IdempotencyKey]]:
    """Idempotency keys of jobs, and where the jobs stand that hold them."""
    return get(
        at("idempotency-keys"),
        model(Page[IdempotencyKey]),
        key=key,
        job_type=job_type,
        limit=limit,
        cursor=cursor,
    )
