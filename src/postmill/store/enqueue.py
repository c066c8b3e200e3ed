"""The statements that enqueue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

from postmill.domain.job import NewJob
from postmill.domain.lane import DEFAULT_TENANT
from postmill.store.arguments import arrays, envelope, interval
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.flow import Load
from postmill.store.statement import Rows, Statement

INTAKE_COLUMNS = ("batch", "n", "job_type", "payload", "tenant_id", "priority", "delay")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the database says to one job: its id if it has one, a status, and a detail of that status.

    Statuses: created | duplicate | unknown_type (detail may_register: this role could) | inactive | busy |
    invalid (detail: option and fault) | other_type (detail: the other type) | serialization.
    """

    id: UUID | None
    status: str
    detail: str | None


def enqueue_quick(job: NewJob, *, schema: str = DEFAULT_SCHEMA) -> Statement[UUID | None]:
    """One plain job without a delay (see `is_quick`). None: nothing was done, and enqueue_one tells why."""
    args = (job.job_type, job.payload.decode(), job.tenant_id, job.priority)
    return Statement("enqueue_quick", sql("jobs/enqueue_quick", schema), args, lambda rows: rows[0][0])


def enqueue_one(job: NewJob, *, schema: str = DEFAULT_SCHEMA) -> Statement[Answer]:
    """One job without a key and without tags, with any other option."""
    args = (job.job_type, job.payload.decode(), *envelope(job))
    return Statement("enqueue_one", sql("jobs/enqueue_one", schema), args, lambda rows: Answer(*rows[0]))


def enqueue_many(
    jobs: Sequence[NewJob], *, wait: timedelta | None = None, schema: str = DEFAULT_SCHEMA
) -> Statement[list[Answer]]:
    """Jobs with or without keys, answered in their order.

    `wait` bounds the wait for other transactions that hold an equal key; beyond it a job's status is busy.
    None: as long as the session's lock_timeout allows.
    """
    *given, lane_keys, tags = arrays(jobs)
    args = (*given, interval(wait), lane_keys, tags)
    return Statement("enqueue_many", sql("jobs/enqueue_many", schema), args, in_order)


def enqueue_intake(batch: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Answer]]:
    """Moves one batch from the intake to the jobs."""
    return Statement("enqueue_intake", sql("jobs/enqueue_intake", schema), (batch,), in_order)


def load(jobs: Sequence[NewJob], *, chunk: int, schema: str = DEFAULT_SCHEMA) -> Load:
    """Many plain jobs (see `is_plain`) by COPY, moved on `chunk` at a time. Answers: a list per chunk."""
    chunks = [(uuid4(), jobs[start : start + chunk]) for start in range(0, len(jobs), chunk)]
    return Load(
        "enqueue_load",
        sql("jobs/copy_intake", schema),
        schema,
        "intake",
        INTAKE_COLUMNS,
        _copy_rows(chunks),
        tuple(enqueue_intake(batch, schema=schema) for batch, _ in chunks),
    )


def is_plain(job: NewJob) -> bool:
    """Whether the intake has a column for everything that the job says."""
    return (
        job.key is None
        and job.scheduled_for is None
        and job.project_id is None
        and job.actor_id is None
        and job.request_id is None
        and job.correlation_id is None
        and job.traceparent is None
        and job.max_attempts is None
        and job.timeout is None
        and job.expires_at is None
        and job.lane_key is None
        and job.source_ref is None
        and not job.tags
        and job.actor_type == "system"
        and job.source == "manual"
    )


def is_quick(job: NewJob) -> bool:
    """Whether the job says nothing but its type, payload, tenant and priority."""
    return job.delay is None and is_plain(job)


def in_order(rows: Rows) -> list[Answer]:
    """The answers by the position of their jobs."""
    return [Answer(*row[1:]) for row in sorted(rows, key=lambda row: row[0])]


def _copy_rows(chunks: Sequence[tuple[UUID, Sequence[NewJob]]]) -> Iterator[bytes]:
    for batch, jobs in chunks:
        head = str(batch).encode()
        yield b"".join(_copy_row(head, n, job) for n, job in enumerate(jobs, 1))


def _copy_row(batch: bytes, n: int, job: NewJob) -> bytes:
    payload = job.payload
    if b"\\" in payload or not payload.isascii() or b"\n" in payload or b"\t" in payload or b"\r" in payload:
        payload = _escaped(payload)
    tenant = b"\\N" if job.tenant_id == DEFAULT_TENANT else str(job.tenant_id).encode()
    priority = b"\\N" if job.priority is None else b"%d" % job.priority
    delay = b"\\N" if job.delay is None else (interval(job.delay) or "").encode()
    return b"%b\t%d\t%b\t%b\t%b\t%b\t%b\n" % (
        batch, n, _escaped(job.job_type.encode()), payload, tenant, priority, delay
    )  # fmt: skip


def _escaped(text: bytes) -> bytes:
    return text.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\t", b"\\t").replace(b"\r", b"\\r")
