"""The course of a job on one line of time: what it waited for, its runs, and the replays that branch off."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from markupsafe import Markup

from postmill.console.charts import Look, Row, Span, timeline
from postmill.console.frame.shown import short_id
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.store.finding import FoundJob
from postmill.store.job_page import AttemptText

MOST = 30
"""Attempts that are drawn, the latest ones."""

_LOOKS: dict[str, Look] = {
    "succeeded": "ok",
    "running": "series-2",
    "canceled": "axis",
    "snoozed": "axis",
    "interrupted": "axis",
}


def course(
    visit: Visit, job: FoundJob, attempts: Sequence[AttemptText], kin: Sequence[FoundJob]
) -> Markup | None:
    """None where nothing has happened yet.

    Args:
        attempts: the latest first.
        kin: what it was replayed from, and its replays.
    """
    some = [*reversed(attempts[:MOST])]
    rows: list[Row] = []
    before: datetime = job.created_at
    if len(attempts) > MOST and attempts[MOST].finished_at is not None:
        before = attempts[MOST].finished_at or before
    due = job.due_at if job.state == "scheduled" else None
    for attempt in some:
        spans = []
        if attempt.started_at > before:
            spans.append(Span(before, attempt.started_at, _("waited"), "grid"))
        look = _LOOKS.get(attempt.status, "bad")
        href = f"{visit.root(visit.here.partition('?')[0])}#attempt-{attempt.run}"
        spans.append(Span(attempt.started_at, attempt.finished_at, attempt.status, look, href))
        rows.append(Row(_("attempt %s") % attempt.run, spans))
        before = attempt.finished_at or job.moment
    if job.state in ("queued", "scheduled", "blocked"):
        until = due if due and due > job.moment else None
        rows.append(Row(_("next"), [Span(before, until, _("waits"), "grid")]))
    for one in kin:
        end = one.finished_at if one.state not in ("queued", "scheduled", "blocked", "running") else None
        name = _("replay %s") if one.replayed_from == job.id else _("replay of %s")
        look = "ok" if one.state == "succeeded" else "series-2" if end is None else "bad"
        label = one.state.replace("_", " ")
        rows.append(
            Row(
                name % short_id(one.id)[-7:],
                [Span(one.created_at, end, label, look, visit.url(f"/jobs/{one.id}"))],
            )
        )
    if not rows:
        return None
    return timeline(rows, id="course", title=_("Waits and attempts"), now=job.moment)
