"""Lengths of time in forms: how long a pause or a raised limit holds."""

from __future__ import annotations

from datetime import datetime, timedelta

from postmill.console.frame.arguments import refused
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.duration import parse

CHOICES = ("15m", "1h", "4h", "24h")
"""What forms offer; any other length may be typed."""


def until(visit: Visit, name: str, now: datetime) -> datetime | None:
    """The moment that a field such as `1h` leads to; None: it is empty. Raises Problem (422) for what is no length."""
    text = visit.form.text(name)
    if not text:
        return None
    try:
        seconds = parse(text)
    except ValueError as fault:
        raise refused(name, str(fault)) from None
    if not 1 <= seconds <= 366 * 86400:
        raise refused(name, _("from a second to a year, such as 30m or 4h"))
    return now + timedelta(seconds=seconds)


def reason(visit: Visit) -> str:
    """The field `reason`, which must say something. Raises Problem (422)."""
    text = visit.form.text("reason")
    if not text:
        raise refused("reason", _("say why: it is shown beside it, and kept in the audit log"))
    if len(text) > 2000:
        raise refused("reason", _("is longer than 2,000 characters"))
    return text
