"""Statements on workers, as people see them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

FIRST_PAGE = (datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker session. `state`: running | draining | stopped | lost (its lease ended, nobody closed it)."""

    holder: UUID
    worker_id: str
    hostname: str
    pid: int
    version: str
    queues: tuple[str, ...]
    slots: dict[str, Any]
    job_types: tuple[str, ...]
    state: str
    running: int
    started_at: datetime
    last_seen_at: datetime
    stopped_at: datetime | None
    lease_expires_at: datetime | None
    metadata: dict[str, Any]


def list_workers(
    *, seen_within: float | None = None, schema: str = DEFAULT_SCHEMA
) -> Statement[list[WorkerView]]:
    """Worker sessions, the live ones first; `seen_within` in seconds, None for all that history speaks of."""
    args = (seen_within,)
    return Statement(
        "list_workers", sql("workers/list_workers", schema), args, lambda rows: [*map(_worker, rows)]
    )


def read_workers(
    *,
    seen_within: float | None = None,
    before: tuple[datetime, UUID] | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[WorkerView]]:
    """Worker sessions as the platform may see them, those that started last first."""
    args = (seen_within, *(before or FIRST_PAGE), most)
    return Statement(
        "read_workers", sql("workers/read_workers", schema), args, lambda rows: [*map(_worker, rows)]
    )


def _worker(row: Sequence[Any]) -> WorkerView:
    values = list(row)
    values[5], values[7] = tuple(values[5]), tuple(values[7])
    values[6], values[14] = json.loads(values[6]), json.loads(values[14])
    return WorkerView(*values)
