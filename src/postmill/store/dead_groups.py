"""The statement that groups open dead letters for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class DeadGroup:
    """Open dead letters of one error group, tenant and job type; those without an error group of one reason, too.

    Attributes:
        key: tells it from the others.
        reason: one of theirs.
        count: all of them.
        hour, day, week: those given up within that time; each counted up to 10,000.
        expires_at: when the oldest one is removed by retention; None: never.
        frame, status, resolved_version, resolved_at: of the error group (`store.error_groups`).
        total, groups: letters and groups of the whole list.
    """

    key: str
    error_group: str | None
    tenant_id: UUID
    slug: str | None
    job_type: str | None
    reason: str
    count: int
    hour: int
    day: int
    week: int
    oldest: datetime | None
    newest: datetime | None
    expires_at: datetime | None
    error_class: str | None
    error_message: str | None
    frame: str | None
    status: str | None
    resolved_version: int | None
    resolved_at: datetime | None
    total: int
    groups: int

    @property
    def older(self) -> int:
        """Those given up more than a week ago."""
        return max(0, self.count - self.week)

    @property
    def position(self) -> tuple[int, str]:
        """What `read_dead_groups(after=…)` takes to go on below this one."""
        return self.count, self.key


def read_dead_groups(
    *,
    tenant: UUID | None = None,
    job_type: str | None = None,
    queue: str | None = None,
    after: tuple[int, str] | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[DeadGroup]]:
    """Open dead letters within the scope by error group, tenant and job type, the most first."""
    args = (tenant, job_type, queue, *(after or (None, None)), most)
    return Statement(
        "read_dead_groups",
        sql("dead/read_dead_groups", schema),
        args,
        lambda rows: [DeadGroup(*row) for row in rows],
    )
