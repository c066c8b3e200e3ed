"""The statement that sums up rollups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import orjson

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

By = Literal["queue", "job_type", "tenant"]
Length = Literal["wait", "run", "total"]

LENGTHS: tuple[Length, ...] = ("wait", "run", "total")


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds: the average, and below what half, 95 and 99 of a hundred were."""

    average: float
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Stat:
    """What happened in one bucket of time, to one queue, job type or tenant.

    Attributes:
        bucket: the moment at which it begins.
        name: of the queue or job type, the tenant's id; empty where all are together.
        counts: by outcome, as the rollups name them: enqueued, succeeded, failed, canceled, dead_letter, retried, lost,
            snoozed, interrupted, discarded, replayed.
        wait: from due to the handler's start.
        run: how long handlers ran.
        total: from due to finished, of jobs that succeeded, failed or became dead letters. None: nothing was measured.
    """

    bucket: datetime
    name: str
    counts: dict[str, int]
    wait: Spread | None
    run: Spread | None
    total: Spread | None

    def n(self, *outcomes: str) -> int:
        """How often one of these happened."""
        return sum(self.counts.get(outcome, 0) for outcome in outcomes)

    @property
    def ended(self) -> int:
        """Jobs that succeeded, failed or became dead letters."""
        return self.n("succeeded", "failed", "dead_letter")

    @property
    def failure_rate(self) -> float | None:
        """The share of ended jobs that did not succeed; None: none has ended."""
        return self.n("failed", "dead_letter") / self.ended if self.ended else None

    @property
    def retry_rate(self) -> float | None:
        """The share of attempts that failed and were tried again; None: none has ended."""
        attempts = self.ended + self.n("retried", "lost")
        return self.n("retried", "lost") / attempts if attempts else None


def read_stats(
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    seconds: float = 3600.0,
    bucket: float | None = None,
    by: By | None = None,
    tenant: UUID | None = None,
    queue: str | None = None,
    job_type: str | None = None,
    times: Sequence[Length] = LENGTHS,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Stat]]:
    """What happened since a moment, or in so many seconds before `until` (default: now), within the scope.

    Of lengths of time those in `times` are read: without any it is ten times as fast.
    """
    args = (since, until, seconds, bucket, by, tenant, queue, job_type, list(times))
    return Statement("read_stats", sql("insight/read_stats", schema), args, lambda rows: [*map(_stat, rows)])


def _stat(row: Sequence[Any]) -> Stat:
    bucket, name, counts, *spreads = row
    return Stat(bucket, name, orjson.loads(counts), *(_spread(one) for one in spreads))


def _spread(values: Sequence[float | None]) -> Spread | None:
    return None if values[0] is None else Spread(*(value or 0.0 for value in values))
