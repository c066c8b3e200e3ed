"""Statements on operations: bulk acts that workers carry out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.pace import Kind, Pace
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

NEWEST = UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class Started:
    """`status`: started, proposed (somebody else has to approve it), or none (nothing matches: there is no operation)."""

    id: UUID | None
    status: str
    total: int


@dataclass(frozen=True, slots=True)
class ChangedOperation:
    """`status`: paused | resumed | approved | aborted | unchanged | ended | proposed | same_person | unknown."""

    status: str
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class Operation:
    """A bulk act as it stands.

    Attributes:
        status: proposed (waits for approval) | running | paused | finished | aborted.
        stage: select, while its jobs are being counted; canary, while the first replays have not all succeeded; or rest.
        filter: what was selected by: `LetterFilter.json`, `{"query": …}` or `{"ids": […]}`.
        rate, canary, again …: its `Pace`.
        total: jobs selected, so far; `done` were acted on, `skipped` left as they are, `failed` refused or in error.
        pause_reason: why it is paused; `canary: …`, `failures: …` where its replays did not succeed, `counted: …` where it
            waits for somebody to see how many jobs match.
        start_at: nothing is done before.
        cut_off: jobs enqueued later are not meant.
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
    fair: bool
    same_version: bool
    priority: int | None
    queue: str | None
    run_at: datetime | None
    stop_ratio: float | None
    start_at: datetime | None
    approve_above: int | None
    approved_by: str | None
    approved_at: datetime | None
    cut_off: UUID | None
    tags: list[str] | None
    original_version: bool

    @property
    def tried(self) -> int:
        """Jobs whose turn has been."""
        return self.done + self.skipped + self.failed

    @property
    def ended(self) -> bool:
        """Whether it does nothing any more."""
        return self.status in ("finished", "aborted")


@dataclass(frozen=True, slots=True)
class OperationItem:
    """One job of an operation. `status`: waiting, replayed, canceled …, or why not; `new_id` the job that it names."""

    n: int
    job_id: UUID
    status: str
    new_id: UUID | None
    detail: str | None
    at: datetime | None


def door_start_operation(
    kind: Kind,
    chosen: Mapping[str, Any],
    pace: Pace,
    *,
    matching: Mapping[str, Any] | None = None,
    cut_off: UUID | None = None,
    reason: str | None = None,
    actor_type: str = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Started]:
    """Selects the jobs and begins.

    Args:
        chosen: how they are described: `LetterFilter.json`, `{"query": …}` or `{"ids": […]}`.
        matching: as `read_matching` takes it; None: dead letters that `chosen` meets.
        cut_off: only jobs with ids below it.
    """
    found = None if matching is None else json.dumps(matching)
    args = (kind, json.dumps(chosen), json.dumps(pace.json), reason, actor_type, actor_id, found, cut_off)
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
    """Pauses, resumes, approves or aborts (`verb`: pause | resume | approve | abort)."""
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
    """Operations within the scope, the newest first; `open`: only those that have not ended."""
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
    """The jobs of an operation, in their order, behind number `after`."""
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
    values[-2] = None if values[-2] is None else json.loads(values[-2])
    return Operation(*values)
