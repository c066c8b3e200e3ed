"""Marks on the time axis: what happened while the figures changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from markupsafe import Markup

from postmill.console.charts.data import Mark, MarkKind
from postmill.console.charts.plot import Plot, text
from postmill.console.charts.svg import element, linked
from postmill.console.charts.time_axis import moment_text, time_label, time_ticks
from postmill.console.frame.words import _

_NEAR = 11.0


def kind_name(kind: MarkKind) -> str:
    """The kind of a mark in words."""
    return {
        MarkKind.DEPLOY: _("Deploy"),
        MarkKind.PAUSE: _("Pause"),
        MarkKind.REPLAY: _("Replay"),
        MarkKind.WORKER_LOSS: _("Worker lost"),
        MarkKind.OTHER: _("Change"),
    }[kind]


def letters(marks: Sequence[Mark]) -> str:
    """What the letters on top of the marks stand for; empty where there are none."""
    kinds = dict.fromkeys(kind_name(mark.kind) for mark in marks)
    if not kinds:
        return ""
    told = ", ".join(f"{name[:1]} {name.lower()}" for name in kinds)
    if len(marks) > 1:
        told += ", " + _("a number: so many at once")
    return " " + _("Marks: %s.") % told


def mark_text(mark: Mark, zone: tzinfo) -> str:
    """What a mark says: `Deploy 2031-03-12 02:41 UTC: ChargeInvoice v42`."""
    return f"{kind_name(mark.kind)} {moment_text(mark.at, zone)}: {mark.label}"


def within(marks: Sequence[Mark], since: datetime, until: datetime) -> list[Mark]:
    """The marks of a span, in their order."""
    return sorted((mark for mark in marks if since <= mark.at <= until), key=lambda mark: mark.at)


def time_axis(plot: Plot, since: datetime, until: datetime, marks: Sequence[Mark], zone: tzinfo) -> Markup:
    """The floor with its moments, and the marks as dashed lines with their letter on top; those that would
    lie upon each other are one, with their number.
    """
    length = (until - since).total_seconds() or 1.0

    def x(moment: datetime) -> float:
        return plot.x((moment - since).total_seconds() / length)

    ticks = time_ticks(since, until, zone, max(2, int(plot.across // 80)))
    axis = [
        element(
            "line",
            cls="axis",
            x1=plot.left,
            x2=plot.x(1),
            y1=plot.floor,
            y2=plot.floor,
            stroke="currentColor",
        )
    ]
    edge = plot.width - 18
    axis += [
        text(
            min(x(at), plot.width),
            plot.height - 4,
            time_label(at, since, until, zone),
            anchor="middle" if x(at) < edge else "end",
        )
        for at in ticks
    ]
    near: list[list[Mark]] = []
    for mark in within(marks, since, until):
        if near and x(mark.at) - x(near[-1][0].at) < _NEAR:
            near[-1].append(mark)
        else:
            near.append([mark])
    return element("g", *axis, aria_hidden="true") + Markup("").join(
        _marked(plot, x(group[0].at), group, zone) for group in near
    )


def _marked(plot: Plot, x: float, group: Sequence[Mark], zone: tzinfo) -> Markup:
    letter = kind_name(group[0].kind)[:1] if len(group) == 1 else str(min(len(group), 99))
    line = element(
        "line",
        cls="axis",
        x1=x,
        x2=x,
        y1=plot.top - 2,
        y2=plot.floor,
        stroke="currentColor",
        stroke_dasharray="2 2",
    )
    words = " · ".join(mark_text(mark, zone) for mark in group)
    return linked(group[0].href, words, line, text(x, plot.top - 4, letter, anchor="middle"))
