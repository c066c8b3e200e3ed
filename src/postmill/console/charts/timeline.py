"""Stretches of time in rows: waits and runs of a job, jobs in the slots of a worker, to scale."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from markupsafe import Markup

from postmill.console.charts.data import Mark, Row, Span
from postmill.console.charts.figure import whole
from postmill.console.charts.marks import mark_text, time_axis, within
from postmill.console.charts.messages import nothing
from postmill.console.charts.numbers import seconds
from postmill.console.charts.plot import Plot, area, hit, text
from postmill.console.charts.svg import clean, element, linked
from postmill.console.charts.table import table
from postmill.console.charts.time_axis import moment_text
from postmill.console.frame.words import _

_ROW = 22.0


def timeline(
    rows: Sequence[Row],
    *,
    id: str,
    title: str,
    now: datetime,
    message: str | None = None,
    marks: Sequence[Mark] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    zone: tzinfo = UTC,
    width: int = 640,
) -> Markup:
    """A row for each name, its spans from their beginning to their end; a short one is still seen.

    Args:
        now: the database's moment, where spans that go on end.
        message: what it says in words; None: from when to when, and how long.
        since, until: ends of the axis; None: of the data.
    """
    spans = [span for row in rows for span in row.spans]
    since = since or min((span.since for span in spans), default=now)
    until = until or max((span.until or now for span in spans), default=now)
    if until <= since:
        until = since + timedelta(seconds=1)
    near = within(marks, since, until)
    height = int(len(rows) * _ROW + 24 + (14 if near else 0))
    plot = Plot(width, height, 1.0, left=110, top=18.0 if near else 4.0)
    drawn: list[Markup] = []
    for n, row in enumerate(rows):
        y = plot.top + n * _ROW
        drawn.append(text(plot.left - 6, y + 15, clean(row.name, 16), anchor="end"))
        for span in row.spans:
            start, end = max(span.since, since), min(span.until or now, until)
            if end < since or start > until:
                continue
            x = plot.x((start - since) / (until - since))
            wide = max(plot.x((end - since) / (until - since)) - x, 2.0)
            bar = (hit(x, y + 2, wide, _ROW - 4), area(x, y + 4, wide, _ROW - 8, span.look))
            drawn.append(linked(span.href, _told(row, span, now, zone), *bar))
    drawing = element("g", *drawn, time_axis(plot, since, until, near, zone))
    cells = [
        [
            f"{row.name}: {span.label}",
            moment_text(span.since, zone),
            seconds(((span.until or now) - span.since).total_seconds()),
        ]
        for row in rows
        for span in row.spans
    ]
    notes = [(mark_text(mark, zone), mark.href) for mark in near]
    details = table(
        id, title, [_("What"), _("Since"), _("Length")], cells, [span.href for span in spans], notes
    )
    if message is None:
        told = _("From {since} on, {length} in all.")
        length = seconds((until - since).total_seconds())
        message = told.format(since=moment_text(since, zone), length=length) if spans else nothing()
    return whole(id, title, message, drawing, details, width=width, height=height)


def _told(row: Row, span: Span, now: datetime, zone: tzinfo) -> str:
    length = seconds(((span.until or now) - span.since).total_seconds())
    going = "" if span.until else " " + _("(goes on)")
    return f"{row.name}: {span.label}, {moment_text(span.since, zone)}, {length}{going}"
