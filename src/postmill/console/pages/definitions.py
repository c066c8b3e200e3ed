"""Definitions: the list, with what workers serve and how their jobs do."""

from __future__ import annotations

from datetime import timedelta

from starlette.responses import Response

from postmill.console.charts import sparkline
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages import definition_words as words
from postmill.domain.access import Action
from postmill.operate import definitions as operate
from postmill.store.definition_figures import read_costs, read_homes
from postmill.store.stats import Stat, read_stats
from postmill.store.type_pauses import read_type_pauses

router = Pages()

PAGE = 50
HOURS = ("1", "24")


@router.page("/definitions", Action.DEFINITIONS_READ)
async def definitions(visit: Visit) -> Response:
    """All definitions, in the order of their keys."""
    args = visit.args
    kind = args.one_of("kind", ("function", "command", "http"), None)
    queue = args.text("queue", None)
    state = args.one_of("state", ("active", "inactive"), None)
    hours = int(args.one_of("hours", HOURS, "1"))
    after = args.text("after", None)
    found = await visit.see(
        operate.definitions(
            kind=kind,
            queue=queue,
            active=None if state is None else state == "active",
            after=after,
            most=PAGE + 1,
            schema=visit.schema,
        )
    )
    shown = found[:PAGE]
    keys = [one.key for one in shown]
    homes = await visit.read(read_homes(keys, schema=visit.schema))
    pauses = {one.job_type: one for one in await visit.read(read_type_pauses(schema=visit.schema))}
    figures, courses = await _figures(visit, hours)
    costs: dict[str, list[str]] = {}
    for cost in await visit.attempt(_("costs"), read_costs(keys, schema=visit.schema)) or []:
        costs.setdefault(cost.job_type, []).append(f"{cost.per_run:.4g} {cost.unit}")
    rows = [
        {
            "one": one,
            "home": homes.get(one.key),
            "pause": pauses.get(one.key),
            "retry": words.retry_words(one),
            "limits": words.limits_words(one),
            "unique": words.unique_words(one),
            "stat": figures.get(one.key),
            "trend": _trend(one.key, courses.get(one.key, [])),
            "cost": ", ".join(costs.get(one.key, [])),
            "same": sum(worker.same for worker in one.served_by),
        }
        for one in shown
    ]
    return visit.page(
        "definitions/list.html",
        rows=rows,
        kind=kind,
        queue=queue,
        state=state,
        hours=str(hours),
        filtered=bool(kind or queue or state),
        before=visit.same() if after else None,
        after=visit.same(after=shown[-1].key) if len(found) > PAGE else None,
    )


async def _figures(visit: Visit, hours: int) -> tuple[dict[str, Stat], dict[str, list[Stat]]]:
    """What happened of late by type, in all and in twelfths or hours."""
    assert visit.now is not None
    since = visit.now - timedelta(hours=hours)
    bucket = 300.0 if hours == 1 else 3600.0
    whole = await visit.attempt(
        _("figures"), read_stats(since=since, by="job_type", times=("run",), schema=visit.schema)
    )
    parts = await visit.attempt(
        _("trends"), read_stats(since=since, bucket=bucket, by="job_type", times=(), schema=visit.schema)
    )
    courses: dict[str, list[Stat]] = {}
    for stat in parts or []:
        courses.setdefault(stat.name, []).append(stat)
    return {stat.name: stat for stat in whole or []}, courses


def _trend(key: str, course: list[Stat]) -> object:
    if not course:
        return None
    return sparkline([float(stat.ended) for stat in course], title=_("Runs of %s") % key, as_bars=True)
