"""Values as people read them: filters and helpers of templates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup, escape

from postmill.console.frame.action_words import action_words
from postmill.console.frame.words import _
from postmill.domain.duration import written

EXACT = 10_000
"""Numbers are exact up to here (design of the console, 4.1)."""

_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


def number(value: float | None) -> str:
    """`1,204`; a dash for what is not known."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def bounded(value: int | None) -> str:
    """`1,204`, and `10,000+` beyond what is counted."""
    return "–" if value is None else f"{EXACT:,}+" if value >= EXACT else f"{value:,}"


def money(value: Any) -> str:
    """`1,204.50`: an exact amount with two places, or with as many as it has."""
    if value is None:
        return "–"
    text = f"{value:,f}"
    whole, _point, rest = text.partition(".")
    return f"{whole}.{rest.rstrip('0').ljust(2, '0')}"


def percent(share: float | None, digits: int = 1) -> str:
    """`99.5 %` of a share of 1."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def seconds(value: float | None) -> str:
    """`35 ms`, `1.2 s`, `48 s`, `3 min 10 s`, `5 h 2 min`, `12 d 4 h`."""
    if value is None:
        return "–"
    value = abs(value)
    if value < 0.9995:
        return f"{value * 1000:.0f} ms"
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    for place, (size, unit) in enumerate(_UNITS):
        if whole >= size:
            count, rest = divmod(whole, int(size))
            if place + 1 == len(_UNITS):
                return f"{count} {unit}"
            smaller, name = _UNITS[place + 1]
            second = int(rest // smaller)
            return f"{count} {unit} {second} {name}" if second and count < 20 else f"{count} {unit}"
    return "0 s"


def moment(value: datetime | None) -> str:
    """`2026-11-28 09:41:07 UTC`."""
    return "–" if value is None else _exact(_stamp(value))


def _stamp(value: datetime) -> str:
    """`2026-11-28T09:41:07.123+00:00`."""
    return (value if value.tzinfo is UTC else value.astimezone(UTC)).isoformat(timespec="milliseconds")


def _exact(stamp: str) -> str:
    """The moment of a stamp for people; cut out of it, since that takes a third of the time that a format takes."""
    return f"{stamp[:10]} {stamp[11:19]} UTC"


def relative(value: datetime, now: datetime) -> str:
    """`3 min ago`, `in 2 h`, `now`."""
    apart = (now - value).total_seconds()
    if abs(apart) < 1:
        return _("now")
    return _("%s ago") % seconds(apart) if apart > 0 else _("in %s") % seconds(apart)


def when(value: datetime | None, now: datetime | None, *, since: bool = False) -> Markup:
    """Relative, with the exact moment beside it for whoever wants it; scripts keep it true.

    Args:
        value: the moment; None is a dash.
        now: the database's time.
        since: only how long it is, without `ago`.
    """
    if value is None:
        return Markup("–")
    # A list has 150 of these, and Markup's own format takes ten times as long as this.
    stamp, mark = _stamp(value), "since" if since else ""
    exact = _exact(stamp)
    words = exact if now is None else relative(value, now)
    if since and now is not None:
        words = seconds((now - value).total_seconds())
    return Markup(f'<time datetime="{stamp}" title="{exact}" data-rel-time="{mark}">{escape(words)}</time>')


def exactly(value: datetime | None) -> Markup:
    """The exact moment; scripts show it by the browser's own clock where that was chosen."""
    if value is None:
        return Markup("–")
    stamp = _stamp(value)
    return Markup(f'<time datetime="{stamp}" data-abs-time="">{_exact(stamp)}</time>')


def duration_field(value: float | None) -> str:
    """Seconds as a form's field takes them: `90s`, `24h`."""
    return "" if value is None else written(value)


def short_id(value: Any) -> str:
    """An id's beginning and end: those made in one minute begin alike."""
    text = str(value)
    return f"{text[:8]}…{text[-6:]}" if len(text) > 16 else text


def cut(value: Any, most: int = 80) -> str:
    """The first line of a text, cut."""
    text = str(value if value is not None else "").strip()
    line = text.splitlines()[0] if text else ""
    return line if len(line) <= most and line == text else f"{line[:most]}…"


def first_upper(value: Any) -> Markup:
    """A word of the glossary as a heading has it."""
    text = str(value).replace("_", " ")
    return escape(text[:1].upper() + text[1:])


FILTERS = {
    "num": number,
    "bounded": bounded,
    "money": money,
    "percent": percent,
    "seconds": seconds,
    "moment": moment,
    "exactly": exactly,
    "duration_field": duration_field,
    "short_id": short_id,
    "cut": cut,
    "titled": first_upper,
    "action": action_words,
}
