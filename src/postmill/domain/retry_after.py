"""The HTTP header Retry-After in all its forms (RFC 9110, section 10.2.3), and those that occur besides."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

LONGEST = 86400.0
"""No server can make a job wait longer than 24 hours."""

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?", re.ASCII)
_MONTHS = {
    m: n
    for n, m in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_CLOCK = r"(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)"
_ZONE = r"(?P<zone>GMT|UTC|UT|Z|[+-]\d{4})"
_IMF = re.compile(rf"\w{{3}}, (?P<day>\d\d?) (?P<mon>\w{{3}}) (?P<year>\d{{4}}) {_CLOCK} {_ZONE}", re.ASCII)
_RFC850 = re.compile(rf"\w{{6,9}}, (?P<day>\d\d)-(?P<mon>\w{{3}})-(?P<year>\d\d) {_CLOCK} {_ZONE}", re.ASCII)
_ASCTIME = re.compile(rf"\w{{3}} (?P<mon>\w{{3}}) {{1,2}}(?P<day>\d\d?) {_CLOCK} (?P<year>\d{{4}})", re.ASCII)


def retry_after(value: object, now: datetime | None) -> float | None:
    """Seconds to wait, in [0, 24 h], or None for what cannot be read (the policy's own curve then decides).

    Takes a number or text: delta seconds (fractions and surrounding blanks too), the three HTTP dates, and
    ISO 8601 with a zone. Dates count from `now` (aware) and are unreadable without it. Of several values the
    longest wait wins. Never raises.
    """
    if isinstance(value, list | tuple):
        waits = [wait for item in value[:16] if (wait := retry_after(item, now)) is not None]
        return max(waits, default=None)
    if isinstance(value, timedelta):
        return _clamp(value.total_seconds())
    if isinstance(value, int | float) and not isinstance(value, bool):
        # A comparison, not float(value): an int may be too large for a float, and NaN must fall through.
        return LONGEST if value >= LONGEST else float(max(value, 0)) if value == value else None
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return _of_text(value.strip(), now) if isinstance(value, str) else None


def _of_text(text: str, now: datetime | None) -> float | None:
    if _NUMBER.fullmatch(text):
        return _clamp(float(text))
    parts = [part.strip() for part in text[:4096].split(",")]
    if len(parts) > 1 and all(_NUMBER.fullmatch(part) for part in parts):
        # Two headers, joined by the client.
        return _clamp(max(map(float, parts)))
    if now is None or len(text) > 64:
        return None
    for read in _READERS:
        try:
            moment = read(text, now)
            if moment is not None:
                return _clamp((moment - now).total_seconds())
        except (ValueError, OverflowError):
            return None
    return None


def _clamp(wait: float) -> float:
    return min(max(wait, 0.0), LONGEST)


def _http_date(form: re.Pattern[str]) -> Callable[[str, datetime], datetime | None]:
    def read(text: str, now: datetime) -> datetime | None:
        found = form.fullmatch(text)
        if found is None:
            return None
        field = found.groupdict()
        month = _MONTHS.get(field["mon"].lower())
        if month is None:
            return None
        year = int(field["year"])
        # RFC 850 has two digits: more than 50 years ahead means the century before.
        if len(field["year"]) == 2:
            year += now.year - now.year % 100
            year -= 100 if year > now.year + 50 else 0
        # A leap second is no time for datetime; the second before is near enough.
        second = min(int(field["s"]), 59)
        zone = _zone(field.get("zone") or "GMT")
        return datetime(year, month, int(field["day"]), int(field["h"]), int(field["m"]), second, tzinfo=zone)

    return read


def _zone(text: str) -> timezone:
    if text[0] not in "+-":
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[3:5]))
    return timezone(-offset if text[0] == "-" else offset)


def _iso(text: str, now: datetime) -> datetime | None:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else None


_READERS = (_http_date(_IMF), _http_date(_RFC850), _http_date(_ASCTIME), _iso)
