"""The last hour minute by minute as a chart: what was made, what was finished, what failed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from postmill.console.charts import Mark, Series, line
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.store.stats import Stat

LENGTH = 60
MINUTE = timedelta(minutes=1)


def strip(
    visit: Visit,
    counted: Sequence[Stat],
    marks: Sequence[Mark],
    queue: str | None = None,
    *,
    width: int = 520,
) -> Markup:
    """The chart, of about this width on a wide screen; a minute in which nothing happened is zero."""
    assert visit.now is not None
    last = visit.now.astimezone(UTC).replace(second=0, microsecond=0)
    times = [last - (LENGTH - 1 - n) * MINUTE for n in range(LENGTH)]
    known = {one.bucket: one for one in counted}
    made, finished, failed = ([], [], [])
    for at in times:
        one = known.get(at)
        made.append(one.n("enqueued") if one else 0)
        finished.append(one.n("succeeded") if one else 0)
        failed.append(one.n("failed", "dead_letter", "retried", "lost") if one else 0)
    series = [
        Series(_("made"), made, "series-1"),
        Series(_("succeeded"), finished, "ok"),
        Series(_("attempts failed"), failed, "bad"),
    ]
    return line(
        times,
        series,
        id="minutes",
        step=60.0,
        title=_("Jobs a minute, the last hour")
        if queue is None
        else _("Jobs a minute in %s, the last hour") % queue,
        message=said(times, made, finished, failed),
        hrefs=[_jobs(visit, at, queue) for at in times],
        marks=marks,
        since=times[0],
        until=times[-1] + MINUTE,
        now=visit.now,
        width=width,
        height=92,
    )


def said(
    times: Sequence[datetime], made: Sequence[int], finished: Sequence[int], failed: Sequence[int]
) -> str:
    """What the chart says in words."""
    told = _(
        "In the last hour %(made)s jobs were made, %(finished)s succeeded and %(failed)s attempts failed"
    )
    text = told % {"made": f"{sum(made):,}", "finished": f"{sum(finished):,}", "failed": f"{sum(failed):,}"}
    if any(failed):
        worst = max(range(len(failed)), key=failed.__getitem__)
        text += _("; most failed at %(at)s UTC (%(n)s)") % {
            "at": f"{times[worst]:%H:%M}",
            "n": f"{failed[worst]:,}",
        }
    return text + "."


def _jobs(visit: Visit, at: datetime, queue: str | None) -> str:
    # Without ours the chart's links would end where the console is mounted; url() knows.
    query = f"since:{at:%Y-%m-%dT%H:%MZ} until:{at + MINUTE:%Y-%m-%dT%H:%MZ}"
    return visit.url("/jobs", q=f'{query} queue:"{queue}"' if queue else query)
