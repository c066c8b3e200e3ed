"""Which jobs may wait for an instant: maintenance, and notifications that somebody asked to have later. Nothing else."""

from __future__ import annotations

from datetime import datetime

from examples.planner.statements import Connection, row

SCHEDULABLE = frozenset({"maintenance.expired-keys", "maintenance.rebuild-search", "notification.deliver"})
DRIFT = 60.0
"""Seconds. Clocks differ: what is so little in the past is meant for now."""


class ScheduleRefused(Exception):
    """`scheduled_for` cannot be as it was asked for."""

    retryable = False


def check_schedulable(job_type: str) -> None:
    """Raises ScheduleRefused."""
    if job_type not in SCHEDULABLE:
        raise ScheduleRefused(
            f"scheduled_for: {job_type} cannot be scheduled, only {', '.join(sorted(SCHEDULABLE))}"
        )


async def due_at(conn: Connection, job_type: str, asked: datetime | None) -> datetime | None:
    """When a job is due that was asked for at `asked`; None is now. The database's clock decides.

    Raises ScheduleRefused.
    """
    if asked is None:
        return None
    check_schedulable(job_type)
    if asked.utcoffset() is None:
        raise ScheduleRefused("scheduled_for: needs a time zone")
    found = await row(conn, "seconds_ahead", moment=asked)
    assert found is not None
    if found["seconds"] < -DRIFT:
        raise ScheduleRefused(f"scheduled_for: {asked.isoformat()} is more than {DRIFT:g} s in the past")
    return asked if found["seconds"] > 0 else None
