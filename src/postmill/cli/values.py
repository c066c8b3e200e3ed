"""Values of options that people write in words: lengths of time, moments."""

from __future__ import annotations

from datetime import datetime

from postmill.cli.errors import CliError
from postmill.domain import duration as lengths


def duration(text: str | None, option: str) -> float | None:
    """`30`, `90s`, `5m`, `24h`, `7d` in seconds; None stays None. Raises CliError (usage)."""
    if text is None:
        return None
    try:
        return lengths.parse(text, option)
    except ValueError as fault:
        raise CliError(str(fault)) from None


def moment(text: str | None, option: str) -> datetime | None:
    """An instant as ISO 8601 with its zone; None stays None. Raises CliError (usage)."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise CliError(
            f"{option} {text!r} is no moment", f"write it as in: {option} 2031-05-17T09:30+02:00"
        ) from None
    if found.tzinfo is None:
        raise CliError(
            f"{option} {text!r} has no time zone",
            f"add it: {text}Z for UTC, {text}+02:00 for two hours ahead of it",
        )
    return found
