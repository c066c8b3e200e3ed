"""What became of the jobs that this process reported, for the rollups: counted once the database has accepted it.

Summed up here and written every few seconds, so that an end costs a few additions. A worker that is killed takes along
what it counted since the last time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Sequence
from time import perf_counter
from typing import Any

from postmill.engine.failures import Failures
from postmill.engine.reports import Report
from postmill.engine.rollup_cell import ROLLUP_BOUNDS, Cell, minute_text
from postmill.engine.work import (
    CREATED_AT,
    JOB_TYPE,
    RUN,
    SCHEDULED_FOR,
    TENANT,
    Work,
)

NOBODY = bytes(16)
_WITH_TOTAL = frozenset({"succeeded", "failed", "dead_letter"})
_NO_IDS: frozenset[bytes] = frozenset()

Key = tuple[bytes, str, str, str]
Rows = list[dict[str, Any]]


class Counting:
    """`offset`: what added to `time.perf_counter()` makes seconds since 2000 by the database's clock, as the last claim
    told it. Not `enabled`, it counts nothing."""

    def __init__(self, *, enabled: bool = True) -> None:
        self.enabled = enabled
        self.offset = 0.0
        self._cells: dict[Key, Cell] = {}
        self._minute = 0
        self._closed: list[tuple[int, dict[Key, Cell]]] = []
        self.failures = Failures()

    def succeeded(self, group: Sequence[tuple[Work, Any, int]], missed: Container[bytes] = _NO_IDS) -> None:
        """Successes, with how many microseconds each ran. Written out, for it is called for every job."""
        if not self.enabled:
            return
        cells, offset, bounds, bucket = self._current(), self.offset, ROLLUP_BOUNDS, bisect_left
        last: object = None
        queue: object = None
        tenant, cell = NOBODY, Cell()
        waits, runs, totals = cell.waits, cell.runs, cell.totals
        for work, _, micros in group:
            row = work.row
            if missed and row[0] in missed:
                continue
            handler = work.handler
            if handler is not last or row[TENANT] != tenant or work.queue is not queue:
                assert handler is not None
                last, tenant, queue = handler, row[TENANT], work.queue
                key = (tenant, work.queue.name, handler.type.name, "succeeded")
                found = cells.get(key)
                if found is None:
                    found = cells[key] = Cell()
                cell = found
                waits, runs, totals = cell.waits, cell.runs, cell.totals
            begun, ran = work.started, micros * 1e-6
            # Unsigned, for jobs are due in this century.
            due = int.from_bytes(row[SCHEDULED_FOR] or row[CREATED_AT], "big") * 1e-6 - offset
            waited = begun - due if row[RUN] == 1 else begun - work.ready
            total = begun + ran - due
            cell.n += 1
            waits[bucket(bounds, waited)] += 1
            runs[bucket(bounds, ran)] += 1
            totals[bucket(bounds, total)] += 1
            cell.run_sum += ran
            if waited > 0.0:
                cell.wait_sum += waited
            if total > 0.0:
                cell.total_sum += total

    def settled(self, work: Work, micros: int) -> None:
        """A job that was completed in its handler's own transaction."""
        self.succeeded([(work, None, micros)])

    def reported(self, reports: Sequence[Report], missed: Container[bytes] = _NO_IDS) -> None:
        """All other ends."""
        if not self.enabled:
            return
        cells = self._current()
        for report in reports:
            outcome = outcome_of(report)
            if outcome is None or report.work.id in missed:
                continue
            work, row = report.work, report.work.row
            name = work.handler.type.name if work.handler is not None else row[JOB_TYPE] or "unknown"
            cell = cells.setdefault((row[TENANT] or NOBODY, work.queue.name, name, outcome), Cell())
            cell.n += 1
            created = row[SCHEDULED_FOR] or row[CREATED_AT]
            due = (
                None if created is None else int.from_bytes(created, "big", signed=True) * 1e-6 - self.offset
            )
            ran = report.micros * 1e-6
            if work.started and report.attempt_status is not None:
                since = due if row[RUN] == 1 and due is not None else work.ready
                cell.wait(work.started - since)
                cell.run(ran)
            if due is not None and outcome in _WITH_TOTAL:
                cell.total((work.started + ran if work.started else perf_counter()) - due)
            if report.error is not None and report.group is not None:
                self.failures.add(report.group, report.error, row[TENANT] or NOBODY, work.id, self.now())

    def now(self) -> float:
        """Seconds since 2000 by the database's clock."""
        return perf_counter() + self.offset

    def _current(self) -> dict[Key, Cell]:
        """The cells of this minute."""
        minute = int(self.now() // 60)
        if minute != self._minute:
            if self._cells:
                self._closed.append((self._minute, self._cells))
                self._cells = {}
            self._minute = minute
        return self._cells

    def take(self) -> tuple[Rows, Rows]:
        """What was counted since the last time: rows of `rollup_part`, and of `error_group_part`."""
        closed, self._closed = [*self._closed, (self._minute, self._cells)], []
        self._cells = {}
        rows = [
            cell.row(minute_text(minute), *key) for minute, cells in closed for key, cell in cells.items()
        ]
        return rows, self.failures.take()


def outcome_of(report: Report) -> str | None:
    """The outcome of a report as the rollups name it; None: nothing happened, the ticket was only given back."""
    if report.verb == "bury":
        return "dead_letter"
    if report.verb == "finish":
        return report.status
    status = report.attempt_status
    return "retried" if status in ("failed", "timeout") else status
