"""Times for people: relative ages and short lengths."""

from __future__ import annotations

from datetime import datetime

_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


def length(seconds: float) -> str:
    """`0.4 ms`, `35 ms`, `1.2 s`, `48 s`, `3 min 10 s`, `5 h 2 min`, `12 d 4 h`."""
    seconds = abs(seconds)
    if seconds < 0.00995:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for place, (size, unit) in enumerate(_UNITS):
        if whole >= size:
            count, rest = divmod(whole, int(size))
            if place + 1 == len(_UNITS):
                return f"{count} {unit}"
            smaller, smaller_unit = _UNITS[place + 1]
            second = int(rest // smaller)
            return f"{count} {unit}" + (f" {second} {smaller_unit}" if second and count < 20 else "")
    return "0 s"


def relative(moment: datetime | None, now: datetime) -> str:
    """`3 min 10 s ago`, `in 48 s`, `just now`, or a dash for None. Both are aware; `now` is the server's."""
    if moment is None:
        return "–"
    seconds = (now - moment).total_seconds()
    if abs(seconds) < 1:
        return "just now"
    return f"{length(seconds)} ago" if seconds > 0 else f"in {length(seconds)}"


def between(start: datetime | None, end: datetime | None) -> str:
    """The length from start to end, or a dash where one is missing."""
    return "–" if start is None or end is None else length((end - start).total_seconds())
