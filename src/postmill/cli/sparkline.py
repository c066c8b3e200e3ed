"""A row of numbers as a row of bars."""

from __future__ import annotations

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float]) -> str:
    """One character for each value, the highest bar for the largest; a space for nought."""
    most = max(values, default=0)
    return "".join(
        " " if value <= 0 else BARS[min(len(BARS) - 1, int(value / most * len(BARS) - 1e-9))]
        for value in values
    )
