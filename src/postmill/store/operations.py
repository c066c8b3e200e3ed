"""Statements on operations: bulk acts on dead letters that workers carry out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.letters import Kind, LetterFilter, Pace
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

NEWEST = UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class Started:
    """`status`: started, or none (no letter matches: there is no operation)."""

    id: UUID | None
    status: str
    total: int


@dataclass(frozen=True, slots=True)
class ChangedOperation:
    """`status`: paused | resumed | aborted | unchanged | ended | unknown."""

    status: str
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class Operation:
    """A bulk act as it stands.

    Attributes:
        status: running | paused | finished | aborted.
        stage: canary, while the first replays have not all succeeded, or rest.
        filter: what was selected by, as `LetterFilter.json`.
        rate, canary, again, confirm, despite_success, version: its `Pace`.
        total: letters selected at the start; `done` were replayed or discarded, `skipped` left as they are, `failed`
            refused or in error.
        pause_reason: why it is paused; `canary: …` where its first replays did not succeed.
    """

    id: UUID
    tenant_id: UUID | None
    kind: Kind
    status: str
    stage: str
    filter: dict[str, Any]
    rate: float | None
    canary: int
    again: bool
    confirm: bool
    despite_success: bool
    version: int | None
    reason: str | None
    total: int
    done: int
    skipped: int
    failed: int
    actor_type: str
    actor_id: str | None
    created_at: datetime
    started_at: datetime | None
    paused_at: datetime | None
    paused_by: str | None
    pause_reason: str | None
    ended_at: datetime | None

    @property
    def tried(self) -> int:
        """Letters whose turn has been."""
        return self.done + self.skipped + self.failed

    @property
    def ended(self) -> bool:
        """Whether it does nothing any more."""
        return self.status in ("finished", "aborted")


@dataclass(frozen=True, slots=True)
class OperationItem:
    """One letter of an operation. `status`: waiting, replayed, discarded, or why not; `new_id` the job that it names."""

    n: int
    job_id: UUID
    status: str
    new_id: UUID | None
    detail: str | None
    at: datetime | None


def door_start_operation(
    kind: Kind,
    chosen: LetterFilter,
    pace: Pace,
    *,
    reason: str | None = None,
    actor_type: str = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Started]:
    """Selects the letters and begins."""
    args = (kind, json.dumps(chosen.json), json.dumps(pace.json), reason, actor_type, actor_id)
    return Statement(
        "door_start_operation",
        sql("operations/door_start_operation", schema),
        args,
        lambda rows: Started(*rows[0]),
    )


def door_change_operation(
    id: UUID,
    verb: str,
    *,
    reason: str | None = None,
    actor_type: str = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[ChangedOperation]:
    """Pauses, resumes or aborts (`verb`: pause | resume | abort)."""
    args = (id, verb, reason, actor_type, actor_id)
    return Statement(
        "door_change_operation",
        sql("operations/door_change_operation", schema),
        args,
        lambda rows: ChangedOperation(*rows[0]),
    )


def read_operations(
    *,
    id: UUID | None = None,
    before: UUID | None = None,
    most: int = 50,
    open: bool = False,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Operation]]:
    """Operations within the scope, the newest first; `open`: only those that run or are paused."""
    args = (id, before or NEWEST, most, open)
    return Statement(
        "read_operations",
        sql("operations/read_operations", schema),
        args,
        lambda rows: [_operation(row) for row in rows],
    )


def read_operation_items(
    id: UUID, *, status: str | None = None, after: int = 0, most: int = 100, schema: str = DEFAULT_SCHEMA
) -> Statement[list[OperationItem]]:
    """The letters of an operation, in their order, behind number `after`."""
    return Statement(
        "read_operation_items",
        sql("operations/read_operation_items", schema),
        (id, status, after, most),
        lambda rows: [OperationItem(*row) for row in rows],
    )


def read_operation_results(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[dict[str, int]]:
    """Where the last 10,000 replays of an operation stand now, by state."""
    return Statement(
        "read_operation_results",
        sql("operations/read_operation_results", schema),
        (id,),
        lambda rows: dict(json.loads(rows[0][0])),
    )


def _operation(row: Sequence[Any]) -> Operation:
    values = list(row)
    values[5] = json.loads(values[5])
    return Operation(*values)
