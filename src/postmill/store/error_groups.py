"""Statements on error groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

FIRST_PAGE = (datetime.max.replace(tzinfo=UTC), "")


@dataclass(frozen=True, slots=True)
class ErrorGroupView:
    """Failed attempts that fail alike. Within a tenant all numbers are its own.

    Attributes:
        id: the fingerprint, 16 hexadecimal digits.
        error_class: `other` stands for all further errors of a job type that has too many groups.
        message: with `*` for what differs.
        frame: the user's code that it came from, `module:function`; empty if unknown.
        error_code, error_status: of the latest one.
        count: attempts that failed so.
        tenants: how many are affected.
        sample_job: one of the latest jobs.
        status: new (first seen within a day) | ongoing | ignored | resolved | regressed (it was resolved, and came back).
        first_version, last_version: of the definition, that failed so: the first one to do it and the highest; the platform's
            to see, and None where nobody knows.
        ignored_until: until then it is `ignored`.
        resolved_version, resolved_at: the platform says that this version of the definition fails so no more. A failure of
            it, or of a later one, is a relapse (`regressed_at`).
        resolved_build: the build of the application that carries the repair: failures of builds that first ran before it are
            no relapse. None: every build counts; the platform's to see.
        marked_by, mark_note: who said so, and why; the platform's to see.
    """

    id: str
    job_type: str
    error_class: str
    message: str
    frame: str
    error_code: str | None
    error_status: int | None
    first_seen_at: datetime
    last_seen_at: datetime
    count: int
    tenants: int
    sample_job: UUID | None
    status: str
    first_version: int | None
    last_version: int | None
    ignored_until: datetime | None
    resolved_version: int | None
    resolved_at: datetime | None
    regressed_at: datetime | None
    marked_by: str | None
    mark_note: str | None
    resolved_build: str | None = None

    @property
    def position(self) -> tuple[datetime, str]:
        """What `read_error_groups(before=…)` takes to go on below this one."""
        return self.last_seen_at, self.id


@dataclass(frozen=True, slots=True)
class AffectedTenant:
    """What a group means to one tenant. `slug` is None where the tenant has no row of its own."""

    tenant_id: UUID
    slug: str | None
    first_seen_at: datetime
    last_seen_at: datetime
    count: int
    sample_job: UUID | None


def read_error_groups(
    *,
    id: str | None = None,
    tenant: UUID | None = None,
    job_type: str | None = None,
    error_class: str | None = None,
    since: datetime | None = None,
    before: tuple[datetime, str] | None = None,
    most: int = 50,
    statuses: Sequence[str] | None = None,
    text: str | None = None,
    first: datetime | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[ErrorGroupView]]:
    """Error groups within the scope, those seen last first; `text`: a part of class, message or frame, in any case; `first`:
    only those first seen since."""
    found = None if statuses is None else list(statuses)
    args = (tenant, job_type, error_class, since, *(before or FIRST_PAGE), most, id, found, text, first)
    return Statement(
        "read_error_groups",
        sql("errors/read_error_groups", schema),
        args,
        lambda rows: [ErrorGroupView(*row) for row in rows],
    )


def read_error_tenants(
    id: str, *, most: int = 20, schema: str = DEFAULT_SCHEMA
) -> Statement[list[AffectedTenant]]:
    """The tenants that a group affects, within the scope, the most affected first."""
    return Statement(
        "read_error_tenants",
        sql("errors/read_error_tenants", schema),
        (id, most),
        lambda rows: [AffectedTenant(*row) for row in rows],
    )
