"""Pauses of queues and job types in words: what is held back, and until when by the clock."""

from __future__ import annotations

from datetime import UTC, datetime

from postmill.console.frame.words import _


def clock_text(moment: datetime, now: datetime | None) -> str:
    """`21:58 UTC`, with the day where it is another one."""
    local = moment.astimezone(UTC)
    today = now is not None and now.astimezone(UTC).date() == local.date()
    return f"{local:%H:%M} UTC" if today else f"{local:%Y-%m-%d %H:%M} UTC"


def paused_until(name: str, until: datetime | None, now: datetime | None) -> str:
    """`ChargeInvoice is paused until 21:58 UTC`. `until` None: somebody has to resume it."""
    if until is None:
        return _("%s is paused until somebody resumes it") % name
    return _("%(name)s is paused until %(time)s") % {"name": name, "time": clock_text(until, now)}
