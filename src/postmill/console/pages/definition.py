"""One definition: what it asks, who serves it, how its jobs do, where they come from, and how it became so."""

from __future__ import annotations

import json
from datetime import timedelta

from markupsafe import Markup
from starlette.responses import Response

from postmill.console.charts import Bar, Level, Unit, bars, histogram
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages import definition_words as words
from postmill.console.pages import queue_rules
from postmill.domain.access import Action
from postmill.domain.named_links import named_links
from postmill.operate import definitions as operate
from postmill.store.definition_figures import (
    Latency,
    read_callers,
    read_costs,
    read_homes,
    read_latency,
)
from postmill.store.definition_rows import DefinitionView
from postmill.store.definitions import version_workers
from postmill.store.stats import read_stats
from postmill.store.triggers import list_triggers
from postmill.store.type_pauses import read_type_pauses

router = Pages()

HOURS = 24
VERSIONS = 10
LOOKED_AT = 50


@router.page("/definitions/{key:path}", Action.DEFINITIONS_READ)
async def definition(visit: Visit) -> Response:
    """A definition and everything about it."""
    found = await visit.see(operate.definition(visit.request.path_params["key"], schema=visit.schema))
    assert visit.now is not None
    since = visit.now - timedelta(hours=HOURS)
    homes = await visit.read(read_homes([found.key], schema=visit.schema))
    stats = await visit.attempt(
        _("figures"), read_stats(since=since, job_type=found.key, times=("wait",), schema=visit.schema)
    )
    latency = await visit.attempt(_("latency"), read_latency(found.key, since, schema=visit.schema))
    costs = await visit.attempt(_("costs"), read_costs([found.key], schema=visit.schema))
    versions = await visit.see(operate.versions(found.id, most=VERSIONS + 1, schema=visit.schema))
    makers = await visit.attempt(
        _("triggers"), list_triggers(definition_key=found.key, most=LOOKED_AT, schema=visit.schema)
    )
    rules = None
    if visit.scope.ops:
        rules = await visit.attempt(_("limits of the fleet"), queue_rules.everything(schema=visit.schema))
    callers = await visit.attempt(_("callers"), read_callers(found.key, most=LOOKED_AT, schema=visit.schema))
    pauses = await visit.read(read_type_pauses(found.key, schema=visit.schema))
    return visit.page(
        "definitions/detail.html",
        one=found,
        pause=pauses[0] if pauses else None,
        home=homes.get(found.key),
        links=named_links(found.description),
        retry=words.retry_words(found),
        curve=_curve(found),
        limits=words.limits_words(found),
        unique=words.unique_words(found),
        schema_text=json.dumps(found.arg_schema, indent=2, ensure_ascii=False),
        argv=None if found.argv_template is None else json.dumps(found.argv_template, ensure_ascii=False),
        stat=stats[0] if stats else None,
        latency=latency,
        run_chart=_runs(found, latency),
        costs=costs or [],
        versions=words.with_changes(versions),
        runs_on=await visit.read(version_workers(found.key, schema=visit.schema)),
        rules=[one for one in rules or [] if one.limit.job_type == found.key],
        makers=makers or [],
        callers=(callers or [])[:10],
        looked_at=sum(one.n for one in callers or []),
        hours=HOURS,
    )


def _curve(found: DefinitionView) -> Markup | None:
    delays = words.retry_delays(found)
    if not delays:
        return None
    shown = [Bar(_("before attempt %s") % (n + 2), delay) for n, delay in enumerate(delays)]
    return bars(shown, id="retry", title=_("Waits between attempts"), unit=Unit.SECONDS)


def _runs(found: DefinitionView, latency: Latency | None) -> Markup | None:
    if latency is None or not any(latency.runs):
        return None
    used = [n for n, count in enumerate(latency.runs) if count]
    last = min(max(used) + 2, len(latency.bounds))
    counts = latency.runs[: last + 1] if last == len(latency.bounds) else latency.runs[:last]
    levels = [
        Level(name, value)
        for name, value in (("P50", latency.p50), ("P95", latency.p95))
        if value is not None
    ]
    return histogram(latency.bounds[:last], counts, id="runs", title=_("How long runs took"), levels=levels)
