"""Lengths of time in the doctor's sentences."""

from __future__ import annotations


def span(seconds: float) -> str:
    """`12 s`, `7 min`, `5 h`, `3 d`: the largest unit that fits twice."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
