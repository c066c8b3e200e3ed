"""The charts of one queue: waits, runs, depths, what came and went, with what happened meanwhile."""

from __future__ import annotations

from markupsafe import Markup

from postmill.console.charts import Level, Mark, MarkKind, Series, Unit, line, stacked_bars
from postmill.console.frame.shown import cut
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.operate.fleet import QueueCard
from postmill.store.fleet import CoursePoint, LogLine

SPANS = {"1h": (3600.0, 60.0), "6h": (21600.0, 300.0), "24h": (86400.0, 900.0)}
"""Ranges of time that can be chosen: seconds, and seconds of a bucket."""

KINDS = {
    "queues.pause": MarkKind.PAUSE,
    "queues.resume": MarkKind.OTHER,
    "queues.declare": MarkKind.DEPLOY,
    "types.pause": MarkKind.PAUSE,
    "types.resume": MarkKind.OTHER,
}


def charts(
    card: QueueCard, points: list[CoursePoint], log: list[LogLine], span: str, visit: Visit
) -> list[tuple[str, Markup]]:
    """Each with its title."""
    assert visit.now is not None
    step = SPANS[span][1]
    times = [point.bucket for point in points]
    marks = [
        Mark(one.at, KINDS[one.action], f"{_word(one.action)} {cut(one.reason or one.actor_id or '', 40)}")
        for one in log
        if one.action in KINDS
    ]
    row = card.row
    waits = [
        Series("p50", [p.waits[0] for p in points], "series-1"),
        Series("p95", [p.waits[1] for p in points], "series-2"),
        Series("p99", [p.waits[2] for p in points], "series-3"),
    ]
    runs = [
        Series("p50", [p.runs[0] for p in points], "series-1"),
        Series("p95", [p.runs[1] for p in points], "series-2"),
        Series("p99", [p.runs[2] for p in points], "series-3"),
    ]
    depth = [
        Series(_("waiting"), [float(p.queued) for p in points], "series-1"),
        Series(_("running"), [float(min(p.running, p.slots or p.running)) for p in points], "series-2"),
        Series(_("slots"), [float(p.slots) for p in points], "series-4"),
    ]
    # What workers hold beyond their slots does not run yet. Of HTTP workers nobody knows the slots.
    ahead = [float(max(p.running - p.slots, 0)) if p.slots else 0.0 for p in points]
    if any(ahead):
        depth.append(Series(_("handed out ahead"), ahead, "series-3"))
    flow = [
        Series(_("arrived"), [float(p.arrived) for p in points], "series-1"),
        Series(_("ended"), [float(p.ended) for p in points], "series-2"),
    ]
    failed = [Series(_("failed attempts"), [float(p.failed) for p in points], "bad")]
    end = visit.now

    def drawn(
        id: str, title: str, series: list[Series], unit: Unit, levels: list[Level]
    ) -> tuple[str, Markup]:
        chart = line(
            times,
            series,
            id=id,
            title=title,
            step=step,
            unit=unit,
            levels=levels,
            marks=marks,
            until=end,
            now=end,
        )
        return title, chart

    title = _("Failures")
    return [
        drawn("chart-wait", _("Wait"), waits, Unit.SECONDS, _level(row.wait_target_seconds)),
        drawn("chart-run", _("Run"), runs, Unit.SECONDS, _level(row.run_target_seconds)),
        drawn("chart-depth", _("Depth"), depth, Unit.COUNT, []),
        drawn("chart-flow", _("Arrivals and ends"), flow, Unit.COUNT, []),
        (
            title,
            stacked_bars(
                times, failed, id="chart-failed", title=title, step=step, marks=marks, until=end, now=end
            ),
        ),
    ]


def _level(target: float | None) -> list[Level]:
    return [] if target is None else [Level(_("target"), target)]


def _word(action: str) -> str:
    return {
        "queues.pause": _("paused"),
        "queues.resume": _("resumed"),
        "queues.declare": _("declared"),
        "types.pause": _("job type paused"),
        "types.resume": _("job type resumed"),
    }[action]
