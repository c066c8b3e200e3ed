"""What a chart says in words where its page says nothing of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from postmill.console.charts.data import Series
from postmill.console.charts.numbers import Unit, figure
from postmill.console.charts.time_axis import bucket_text
from postmill.console.frame.words import _


def nothing() -> str:
    """Of a chart without data."""
    return _("Nothing was measured in this time.")


def over_time(
    times: Sequence[datetime], series: Sequence[Series], unit: Unit, zone: tzinfo, step: float = 0.0
) -> str:
    """The highest value of each series with its moment, or its bucket of `step` seconds, and the last one."""
    told = []
    for one in series:
        known = [(value, at) for value, at in zip(one.values, times, strict=False) if value is not None]
        if not known:
            continue
        highest, at = max(known, key=lambda it: it[0])
        told.append(
            (
                _("{name}: highest {highest} in {at}, last {last}.")
                if step > 60
                else _("{name}: highest {highest} at {at}, last {last}.")
            ).format(
                name=one.name,
                highest=figure(highest, unit),
                at=bucket_text(at, step, zone),
                last=figure(known[-1][0], unit),
            )
        )
    return " ".join(told) or nothing()


def of_cells(names: Sequence[str], values: Sequence[float], unit: Unit) -> str:
    """The largest of several, and how many there are."""
    if not values:
        return nothing()
    largest = max(range(len(values)), key=values.__getitem__)
    return _("{n} in all; the largest is {name} with {value}.").format(
        n=len(values), name=names[largest], value=figure(values[largest], unit)
    )
