"""Jobs as the database has them, in the shapes of the API."""

from __future__ import annotations

from postmill.domain.boost import Raised
from postmill.domain.job import JobView
from postmill.domain.lifecycle import State
from postmill.domain.redaction import redacted_text
from postmill.shapes.jobs import Attempt, Job, Progress, WholeJob
from postmill.shapes.jobs import Raised as RaisedShape
from postmill.store.job_rows import AttemptView
from postmill.store.reads import JobRow

WAITS = frozenset({State.SCHEDULED, State.QUEUED, State.BLOCKED})


def listed(row: JobRow) -> Job:
    """A job of a list."""
    return Job.model_construct(
        id=row.id,
        tenant_id=row.tenant_id,
        status=row.status,
        definition_key=row.job_type,
        queued_at=row.created_at,
        queue=row.queue,
        source=row.source,
        source_ref=row.source_ref,
        priority=row.priority,
        scheduled_for=row.scheduled_for,
        started_at=row.started_at,
        finished_at=row.finished_at,
        attempt_count=row.attempt_count,
        max_attempts=row.max_attempts,
        dedupe_key=row.key,
        correlation_id=row.correlation_id,
        claimed_by_worker=row.worker_id,
        reason=row.reason,
        error_class=row.error_class,
        last_error=None if row.error_message is None else redacted_text(row.error_message),
        actor_type=row.actor_type,
        created_by=row.actor_id,
        project_id=row.project_id,
        replayed_from=row.replayed_from,
    )


def whole(job: JobView, raised: Raised | None, *, payloads: bool) -> WholeJob:
    """One job; `payloads`: with what whoever asks may see of its payload and result."""
    return WholeJob(
        raised=None if raised is None else RaisedShape.model_validate(raised),
        id=job.id,
        tenant_id=job.tenant_id,
        status=job.status.value,
        definition_key=job.job_type,
        queued_at=job.created_at,
        queue=job.queue,
        source=job.source,  # type: ignore[arg-type]  # one of four, says the database
        source_ref=job.source_ref,
        priority=job.priority,
        scheduled_for=job.scheduled_for,
        started_at=job.started_at,
        finished_at=job.finished_at,
        attempt_count=job.attempt - 1 if job.status in WAITS else job.attempt,
        max_attempts=job.max_attempts,
        dedupe_key=job.key,
        correlation_id=job.correlation_id,
        claimed_by_worker=job.worker_id,
        reason=job.reason,
        error_class=job.error_class,
        error_code=job.error_code,
        last_error=None if job.error_message is None else redacted_text(job.error_message),
        actor_type=job.actor_type,
        created_by=job.actor_id,
        project_id=job.project_id,
        replayed_from=job.replayed_from,
        replayed_as=job.replayed_as,
        tags=list(job.tags),
        request_id=job.request_id,
        traceparent=job.traceparent,
        cancel_requested=job.cancel_requested,
        progress=None
        if job.progress is None
        else Progress(done=job.progress.done, total=job.progress.total, text=job.progress.text),
        payload=job.payload if payloads else None,
        result=job.result if payloads else None,
    )


def attempt(view: AttemptView) -> Attempt:
    """One execution."""

    def clean(text: str | None) -> str | None:
        return None if text is None else redacted_text(text)

    return Attempt(
        attempt_no=view.run,
        attempt=view.attempt,
        status=view.status,  # type: ignore[arg-type]  # the table has a CHECK
        worker_id=view.worker_id,
        build=view.build,
        pid=view.pid,
        started_at=view.started_at,
        finished_at=view.finished_at,
        exit_code=view.exit_code,
        error_class=view.error_class,
        error_code=view.error_code,
        error_status=view.error_status,
        error_text=clean(view.error_message),
        stack=clean(view.stack),
        stdout_tail=clean(view.stdout_tail),
        stderr_tail=clean(view.stderr_tail),
    )
