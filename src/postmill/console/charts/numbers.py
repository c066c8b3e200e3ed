"""Figures as people read them: a count, a length of time, a share; the exact one, and a short one for an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum

_SHORT = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


class Unit(StrEnum):
    """What a chart's figures are: a count, seconds, a share of 1, or money (two places; the caller names its currency)."""

    COUNT = "count"
    SECONDS = "seconds"
    SHARE = "share"
    MONEY = "money"


def figure(value: float | None, unit: Unit = Unit.COUNT) -> str:
    """The figure in full: `1,204`, `1 min 5 s`, `99.3 %`; a dash where there is none."""
    if value is None:
        return "–"
    if unit is Unit.SECONDS:
        return seconds(value)
    if unit is Unit.SHARE:
        return share(value)
    if abs(value) >= 1e15:
        return f"{float(value):.3g}"
    if unit is Unit.MONEY:
        return f"{value:,.2f}"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}".rstrip("0").rstrip(".")


def tick(value: float, unit: Unit = Unit.COUNT) -> str:
    """The figure as short as an axis wants it: `1.2k`, `5 min`, `50 %`."""
    if unit is Unit.SECONDS:
        return seconds(value)
    if unit is Unit.SHARE:
        return f"{value * 100:.3g} %"
    if value >= 1e15:
        return f"{float(value):.0e}".replace("e+", "e")
    for size, name in _SHORT:
        if value >= size:
            return f"{value / size:.3g}{name}"
    return f"{value:.3g}"


def seconds(value: float | None) -> str:
    """A length of time in its two largest units: `250 ms`, `12 s`, `1 min 5 s`, `6 h 12 min`, `3 d 4 h`."""
    if value is None:
        return "–"
    if value < 0:
        return "−" + seconds(-value)
    if value < 1:
        return "0 s" if value == 0 else f"{value * 1000:.3g} ms"
    if value < 60:
        return f"{value:.3g} s" if value < 59.95 else "1 min"
    if value >= 1e12:
        return f"{value / 86400:.3g} d"
    whole = round(value)
    for size, name, below, part in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size:,} {name}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s"


def share(value: float | None) -> str:
    """A share of 1 in per cent; nearly all is never told as all, and nearly nothing never as nothing."""
    if value is None:
        return "–"
    if 0.9995 <= value < 1:
        return "> 99.9 %"
    if 0 < value < 0.0005:
        return "< 0.1 %"
    return f"{value * 100:.1f}".removesuffix(".0") + " %"


def checked(values: Iterable[float | None]) -> list[float | None]:
    """The values of a chart.

    Raises:
        ValueError: one of them is not a number, infinite, below zero, or larger than any chart.
    """
    return [None if value is None else _checked(value) for value in values]


def _checked(value: float) -> float:
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found) or found < 0:
        raise ValueError(f"a chart shows numbers from 0 up, not {value if abs(found) < 1e300 else found}")
    return found
