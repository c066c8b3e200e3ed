"""A planning as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO

from examples.planner.statements import Row

HEAD = ("starts_at", "ends_at", "mission", "skill", "collaborator")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The last four are as wide as a Chinese letter: spreadsheets take them for the others."""


def page(missions: Iterable[Row], *, first: bool) -> bytes:
    """The lines of a page; the first one has the names of the columns."""
    made = StringIO()
    writer = csv.writer(made, lineterminator="\r\n")
    if first:
        writer.writerow(HEAD)
    for one in missions:
        times = one["starts_at"].isoformat(), one["ends_at"].isoformat()
        writer.writerow([*times, *map(_inert, (one["title"], one["skill"], one["name"] or ""))])
    return made.getvalue().encode()


def _inert(cell: str) -> str:
    """Spreadsheets run what begins like a formula; a quote before it makes it text."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell
