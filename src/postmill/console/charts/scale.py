"""Where a value lies on an axis, and the few round values that are written beside it."""

from __future__ import annotations

import math
import sys

from postmill.console.charts.numbers import Unit

_LENGTHS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


def nice_ticks(highest: float, unit: Unit = Unit.COUNT, most: int = 4) -> list[float]:
    """Round values from 0 to at least `highest`, at most `most` steps; [0, 1] where nothing was seen."""
    highest = min(highest, sys.float_info.max / 100)
    if unit is Unit.SHARE and highest > 0.5:
        return [0.0, 0.25, 0.5, 0.75, 1.0] if highest <= 1 else _stepped(highest, _step(highest / most))
    if highest <= 0:
        return [0.0, 1.0]
    step = _step(highest / most)
    if unit is Unit.COUNT:
        step = max(step, 1.0)
    if unit is Unit.SECONDS and 1 <= highest / most <= _LENGTHS[-1]:
        step = float(next(length for length in _LENGTHS if length >= highest / most))
    return _stepped(highest, step)


def _step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below."""
    power: float = 10.0 ** math.floor(math.log10(max(least, sys.float_info.min)))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= least * (1 - 1e-9))


def _stepped(highest: float, step: float) -> list[float]:
    return [float(f"{step * n:.12g}") for n in range(max(1, math.ceil(highest / step - 1e-9)) + 1)]
