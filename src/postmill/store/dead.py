"""Statements on open dead letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.job_rows import decoded
from postmill.store.statement import Rows, Statement

FIRST_PAGE = (datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A job given up on, waiting for an operator.

    `shown_as` is the queue, or the name under which that shows its dead letters (`Queue.dead_letters_as`).
    `job_type` is None where the body is gone, `error_group` where there was no error (an expired job). In lists
    `error_message` holds at most 500 characters, and `stack`, `payload` and the versions are None. `version` is that of
    the definition now, `version_then` the one from when the job was enqueued.
    """

    id: UUID
    tenant_id: UUID
    job_type: str | None
    queue: str
    reason: str
    error_class: str | None
    error_code: str | None
    error_message: str | None
    error_status: int | None
    attempts: int
    failed_at: datetime
    last_attempt_at: datetime | None
    error_group: str | None
    shown_as: str
    stack: str | None
    payload: Any
    version: int | None
    version_then: int | None

    @property
    def position(self) -> tuple[datetime, UUID]:
        """What `list_dead(before=…)` takes to go on below this letter."""
        return self.failed_at, self.id


@dataclass(frozen=True, slots=True)
class DeadPage:
    """A page of dead letters. `before` continues below it; None: that was all."""

    letters: list[DeadLetter]
    before: tuple[datetime, UUID] | None


def list_dead(
    *,
    tenant: UUID | None = None,
    queue: str | None = None,
    reason: str | None = None,
    job_type: str | None = None,
    error_group: str | None = None,
    error_status: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before: tuple[datetime, UUID] | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[DeadLetter]]:
    """Open dead letters, those given up last first; `since` and `until` bound the moment of that."""
    args = (
        *(before or FIRST_PAGE), tenant, queue, reason, job_type, error_group, error_status, since, until, most,
    )  # fmt: skip
    return Statement("list_dead", sql("dead/list_dead", schema), args, lambda rows: [*map(_letter, rows)])


def read_dead_letters(
    *,
    tenant: UUID | None = None,
    queue: str | None = None,
    reason: str | None = None,
    job_type: str | None = None,
    error_group: str | None = None,
    error_status: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before: tuple[datetime, UUID] | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[DeadPage]:
    """One page of the open dead letters within the scope, those given up last first."""
    args = (
        tenant, queue, reason, job_type, *(before or FIRST_PAGE), most, error_group, error_status, since, until,
    )  # fmt: skip
    return Statement("read_dead_letters", sql("dead/read_dead_letters", schema), args, _page)


def read_dead_letter(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[DeadLetter | None]:
    """One open dead letter within the scope, with its stack and payload."""
    return Statement("read_dead_letter", sql("dead/read_dead_letter", schema), (id,), _first)


def _page(rows: Rows) -> DeadPage:
    letters = [_letter((*row[:-2], None, None, None, None)) for row in rows if row[0] is not None]
    go_on = rows[0][-2:] if rows and rows[0][-1] is not None else None
    return DeadPage(letters, None if go_on is None else (go_on[0], go_on[1]))


def _first(rows: Rows) -> DeadLetter | None:
    return _letter(rows[0]) if rows else None


def _letter(row: Sequence[Any]) -> DeadLetter:
    values = list(row)
    values[-3] = decoded(values[-3])
    return DeadLetter(*values)
