"""Statements that look closely at one error group: when it happened, and what the failures share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class Sample:
    """One job that failed so, or one of the same type that succeeded.

    Attributes:
        worker, host, build: who ran it; None outside of the platform, or where nobody knows any more.
        version: of the definition, that its worker ran.
        shape: of its traceback without figures; None where it has none.
        payload: its JSON, as stored; None where that is longer than 4,000 characters, or gone.
    """

    failed: bool
    job_id: UUID
    tenant_id: UUID
    finished_at: datetime
    worker: str | None
    host: str | None
    build: str | None
    version: int | None
    shape: str | None
    payload: str | None


@dataclass(frozen=True, slots=True)
class Trace:
    """How one job failed. Texts are cut: the message at 2,000 characters, the stack at 20,000."""

    job_id: UUID
    tenant_id: UUID
    attempt: int
    finished_at: datetime
    error_class: str | None
    error_message: str | None
    stack: str | None


@dataclass(frozen=True, slots=True)
class TypeMark:
    """What changed for a job type: a deploy (`target`: the version), a build of the application (its first worker), a pause or
    a replay (their ids)."""

    at: datetime
    kind: str
    label: str
    target: str


def read_error_minutes(
    ids: Sequence[str],
    since: datetime,
    until: datetime,
    seconds: float,
    *,
    tenant: UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[dict[str, dict[int, int]]]:
    """How often groups happened within the scope: by group, and by the number of the bucket from `since` on.

    Minutes older than two days are known by their hour only.
    """

    def decode(rows: Rows) -> dict[str, dict[int, int]]:
        found: dict[str, dict[int, int]] = {id: {} for id in ids}
        for id, bucket, n in rows:
            found[id][bucket] = n
        return found

    args = (list(ids), since, until, seconds, tenant)
    return Statement("read_error_minutes", sql("errors/read_error_minutes", schema), args, decode)


def read_error_jobs(
    ids: Sequence[str], *, most: int = 10_000, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[str, int]]:
    """How many jobs failed so, of each group: those whose history is there, counted up to `most`."""
    return Statement(
        "read_error_jobs",
        sql("errors/read_error_jobs", schema),
        (list(ids), most),
        lambda rows: {id: min(n, most) for id, n in rows},
    )


def read_error_dead(id: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[dict[UUID, int]]:
    """How many open dead letters of a group each tenant has, within the scope."""
    return Statement(
        "read_error_dead",
        sql("errors/read_error_dead", schema),
        (id,),
        lambda rows: {row[0]: row[1] for row in rows},
    )


def read_error_samples(id: str, job_type: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Sample]]:
    """The 300 latest jobs that failed so, and 200 of the same type that succeeded lately, to be compared."""
    return Statement(
        "read_error_samples",
        sql("errors/read_error_samples", schema),
        (id, job_type),
        lambda rows: [Sample(*row) for row in rows],
    )


def read_error_stacks(
    id: str, jobs: Sequence[UUID], *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[Trace]]:
    """How these jobs failed so: the last time of each."""
    return Statement(
        "read_error_stacks",
        sql("errors/read_error_stacks", schema),
        (id, list(jobs)),
        lambda rows: [Trace(*row) for row in rows],
    )


def read_error_first(id: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[UUID | None]:
    """The oldest job whose failure in this group is still in history."""
    return Statement(
        "read_error_first", sql("errors/read_error_first", schema), (id,), lambda rows: rows[0][0]
    )


def read_type_marks(
    job_type: str, since: datetime, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[TypeMark]]:
    """Deploys, pauses and replays of a job type, the latest first; none outside of the platform."""
    return Statement(
        "read_type_marks",
        sql("errors/read_type_marks", schema),
        (job_type, since),
        lambda rows: [TypeMark(*row) for row in rows],
    )
