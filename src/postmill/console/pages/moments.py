"""Moments that people type into forms: read as UTC where they name no zone, and shown in the same way."""

from __future__ import annotations

from datetime import UTC, datetime

from postmill.console.frame.words import _


def read_moment(text: str) -> datetime | None:
    """`2026-11-28 09:30`, `2026-11-28T09:30` or with a zone; None: nothing was typed.

    Raises:
        ValueError: what was expected.
    """
    text = text.strip()
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.utcoffset() is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(_("is a moment such as 2026-11-28 09:30 (UTC), not %s") % repr(text[:40])) from None
