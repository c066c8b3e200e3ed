"""One line of a rollup while it grows."""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from postmill.telemetry.histogram import DURATION_BOUNDS

ROLLUP_BOUNDS = (*DURATION_BOUNDS, 14_400.0, 86_400.0)
"""Seconds; the database's `rollup_bounds()` says the same."""

_CELLS = len(ROLLUP_BOUNDS) + 1
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


class Cell:
    """Counts and histograms of one tenant, queue, job type and outcome."""

    __slots__ = ("n", "run_sum", "runs", "total_sum", "totals", "wait_sum", "waits")

    def __init__(self) -> None:
        self.n = 0
        self.waits, self.runs, self.totals = [0] * _CELLS, [0] * _CELLS, [0] * _CELLS
        self.wait_sum = self.run_sum = self.total_sum = 0.0

    def wait(self, seconds: float) -> None:
        """From due to start."""
        self.waits[bisect_left(ROLLUP_BOUNDS, seconds)] += 1
        self.wait_sum += max(seconds, 0.0)

    def run(self, seconds: float) -> None:
        """From start to end."""
        self.runs[bisect_left(ROLLUP_BOUNDS, seconds)] += 1
        self.run_sum += max(seconds, 0.0)

    def total(self, seconds: float) -> None:
        """From due to end."""
        self.totals[bisect_left(ROLLUP_BOUNDS, seconds)] += 1
        self.total_sum += max(seconds, 0.0)

    def row(self, minute: str, tenant: bytes, queue: str, job_type: str, outcome: str) -> dict[str, Any]:
        """As the table `rollup_part` has it."""
        return {
            "minute": minute,
            "tenant_id": str(UUID(bytes=tenant)),
            "queue": queue,
            "job_type": job_type,
            "outcome": outcome,
            "n": self.n,
            "wait_sum": self.wait_sum,
            "run_sum": self.run_sum,
            "total_sum": self.total_sum,
            "wait_hist": self.waits if any(self.waits) else None,
            "run_hist": self.runs if any(self.runs) else None,
            "total_hist": self.totals if any(self.totals) else None,
        }


def minute_text(minute: int) -> str:
    """The minute with this number since 2000."""
    return (_EPOCH + timedelta(minutes=minute)).isoformat()


def moment_text(seconds: float) -> str:
    """A moment so many seconds after 2000."""
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()
