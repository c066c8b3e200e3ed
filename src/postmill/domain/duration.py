"""Lengths of time, however they are written: a number of seconds, a timedelta, or text such as `90s`."""

from __future__ import annotations

import math
import re
from datetime import timedelta

# Ten years: far beyond any sensible wait, and safely inside what Python and PostgreSQL can add to a date.
LONGEST = 10 * 365 * 86400.0

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d|w)?\s*", re.ASCII | re.IGNORECASE)


def seconds(value: object, what: str = "a duration", *, zero: bool = True) -> float:
    """`value` in seconds.

    Takes int, float or timedelta. Raises TypeError for anything else (bool too) and ValueError for NaN,
    infinity, a negative length, more than ten years, and for 0 where `zero` is false.
    """
    if isinstance(value, timedelta):
        number = value.total_seconds()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    else:
        raise TypeError(f"{what} must be seconds (a number) or a timedelta, not {type(value).__name__}")
    if math.isnan(number):
        raise ValueError(f"{what} must be a number of seconds, not NaN")
    if number < 0 or (number == 0 and not zero):
        raise ValueError(f"{what} must be {'0 or more' if zero else 'more than 0'} seconds, not {number:g}")
    if number > LONGEST:
        raise ValueError(f"{what} must be at most ten years, not {number:g} s")
    return number


def written(value: float) -> str:
    """Seconds as `parse` reads them, in the largest unit that needs no fraction: `30d`, `90s`, `200ms`."""
    for unit in ("d", "h", "m", "s"):
        if value >= _UNITS[unit] and value % _UNITS[unit] == 0:
            return f"{value / _UNITS[unit]:.0f}{unit}"
    return f"{value * 1000:g}ms" if 0 < value < 1 else f"{value:g}s"


def parse(text: str, what: str = "") -> float:
    """Text such as `30`, `30s`, `1.5 min`, `24h`, `7d`, `200ms` in seconds; ValueError for anything else."""
    found = _TEXT.fullmatch(text[:64])
    if found is None:
        subject = f"{what} {text[:64]!r}".lstrip()
        raise ValueError(f"{subject} is not a duration; write 30, 30s, 5m, 24h, 7d or 200ms")
    return seconds(float(found[1]) * _UNITS[(found[2] or "s").lower()], what or "a duration")
