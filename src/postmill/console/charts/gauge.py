"""How much of a limit is used."""

from __future__ import annotations

from markupsafe import Markup

from postmill.console.charts.data import Look
from postmill.console.charts.figure import svg
from postmill.console.charts.numbers import Unit, checked, figure, share
from postmill.console.charts.plot import area
from postmill.console.charts.svg import element
from postmill.console.frame.words import _


def gauge(
    value: float,
    limit: float | None,
    *,
    title: str,
    unit: Unit = Unit.COUNT,
    warn_at: float = 0.8,
    bad_at: float = 1.0,
    projected: float | None = None,
    width: int = 120,
    height: int = 12,
) -> Markup:
    """A bar filled by the share of `limit`; without a limit nothing is filled, and words say so. No table.

    Args:
        warn_at, bad_at: the shares from which on it has the colours `warn` and `bad`.
        projected: what will be used at the end of the period: a stroke.

    Raises:
        ValueError: a value that is not a number from 0 up.
    """
    used, cap, end = (*checked([value]), *checked([limit]), *checked([projected]))
    used = used or 0.0
    if cap is None:
        said = _("{value}, without a limit").format(value=figure(used, unit))
    else:
        said = _("{value} of {limit}").format(value=figure(used, unit), limit=figure(cap, unit))
    part = _share(used, cap)
    if cap:
        said += f" ({share(used / cap)})"
    if end is not None:
        said += _(", projected {value}").format(value=figure(end, unit))
    look: Look = "bad" if part >= bad_at else "warn" if part >= warn_at else "ok"
    drawn = [area(0, 2, width, height - 4, "grid"), area(0, 2, min(part, 1.0) * width, height - 4, look)]
    if end is not None and cap is not None:
        x = min(_share(end, cap), 1.0) * (width - 2)
        drawn.append(area(x, 0, 2, height, "axis"))
    return svg(f"{title}: {said}", said, element("g", *drawn), width=width, height=height)


def _share(value: float, cap: float | None) -> float:
    if cap is None:
        return 0.0
    return value / cap if cap else float(value > 0)
