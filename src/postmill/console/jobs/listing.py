"""What the page Jobs reads: the whole of it, or what one live part needs."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from markupsafe import Markup

from postmill.console.charts import Series, stacked_bars
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _, many
from postmill.console.jobs import links
from postmill.console.jobs.acts import ACTS
from postmill.console.jobs.columns import COLUMNS, MOST_ARGS, Chosen, chosen
from postmill.console.jobs.lines import Line, lines
from postmill.console.jobs.rows import rows
from postmill.domain.access import Action
from postmill.domain.artifact import made_at
from postmill.domain.query import Query
from postmill.domain.query_fields import REPLAYED, RETRYING
from postmill.domain.query_words import QueryError, written
from postmill.operate import finding
from postmill.operate.finding import Wanted
from postmill.store import finding as store
from postmill.store.finding import FoundBars, FoundCount
from postmill.store.queues import read_queue_names
from postmill.store.reads import StateCount, read_summary
from postmill.store.type_pauses import read_type_pauses
from postmill.store.views import read_saved_views

MOST = 50
MOST_FRESH = 100
PATIENCE, DEEP = 0.5, 4.0
"""Seconds for which a page that is not full goes on looking: at first, and where somebody asked it to look further."""
DENSITIES = ("compact",)
"""How rows may stand, where not comfortably."""
MOST_TYPES, MOST_OFFERED = 10, 12
"""Job types whose arguments are offered as columns, and how many are."""
NOBODY = UUID(int=0)


async def listing(visit: Visit, text: str, want: Wanted | None, fault: QueryError | None) -> dict[str, Any]:
    """The context of the template; `want` None: the query has a fault."""
    query = Query() if want is None else want.query
    payloads = visit.may(Action.PAYLOADS_READ)
    shown = chosen(visit.args, ops=visit.scope.ops, payloads=payloads)
    made: dict[str, Any] = {
        "q": text, "query": query, "fault": fault, "chosen": shown, "payloads": payloads, "secret": bool(shown.paths),
        "all_columns": [column for column in COLUMNS if visit.scope.ops or not column.ops], "most_fresh": MOST_FRESH,
        "acts": ACTS, "quoted": written, "density": visit.args.one_of("density", DENSITIES, ""),
        "permitted": [act.action for act in ACTS if visit.may(act.action)], "by_argument": None, "arguments": [],
    }  # fmt: skip
    if visit.wants("rows"):
        made |= await _rows(visit, want, shown.paths)
        made["rows"] = partial(rows, visit, shown, made["lines"])
        if not visit.parts and payloads and made["lines"]:
            made["arguments"] = await _arguments(visit, shown, made["lines"])
        if not visit.parts and query.pasted is not None and payloads and not made["lines"]:
            meant = finding.by_argument(query.pasted.text, schema=visit.schema)
            made["by_argument"] = await visit.attempt(_("what the value may be"), meant)
    summary = None
    if visit.wants("summary", "tabs"):
        summary = await visit.attempt(_("the counts"), read_summary(schema=visit.schema))
        made["cards"] = [one.shown for word in links.CARDS for one in summary or () if one.state == word]
    if not visit.parts:
        made["pauses"] = await visit.read(read_type_pauses(schema=visit.schema))
    if visit.wants("tabs"):
        counts = None if want is None else await _counts(visit, want, summary)
        made["tabs"] = links.tabs(visit, query, counts)
        # Of a query only; counts of a whole scope end at 10,000.
        filtered = want is not None and bool(want.filter["terms"])
        made["looked_at"] = filtered and any(one.at_least for one in counts or ())
    if visit.wants("chart"):
        bars = (
            None
            if want is None
            else await visit.attempt(_("the chart"), finding.bars(want, schema=visit.schema))
        )
        made |= {"bars": bars, "chart": None if not bars or not bars.bars else _chart(visit, query, bars)}
    if visit.wants("fresh"):
        made["fresh"] = await _fresh(visit, want, made.get("top"))
    if not visit.parts:
        if visit.scope.ops and visit.may(Action.QUEUES_WRITE):
            made["queues"] = await visit.read(read_queue_names(schema=visit.schema))
        saved = await visit.read(read_saved_views("jobs", schema=visit.schema))
        made |= {
            "views": links.views(visit, None if want is None else query, saved),
            "spans": links.spans(visit, query),
        }
    return made


async def _rows(visit: Visit, want: Wanted | None, paths: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    """A page of the list; or, for a live part, how those stand that are on the screen."""
    kept = visit.args.ids("_row")[:MOST]
    if kept:
        jobs = await visit.read(store.read_job_lines(kept, paths=paths, schema=visit.schema))
        return {
            "lines": await visit.see(lines(jobs, paths, schema=visit.schema)),
            "older": None,
            "cut": False,
            "top": None,
        }
    if want is None:
        return {"lines": [], "older": None, "cut": False, "top": None}
    deep = visit.args.one_of("deep", ("1",), "") == "1"
    page = await visit.see(
        finding.page(want, before=visit.args.id("before"), most=MOST, patience=DEEP if deep else PATIENCE, paths=paths,
                     schema=visit.schema)
    )  # fmt: skip
    shown = await visit.see(lines(page.jobs, paths, schema=visit.schema))
    # Whoever goes on where a search stopped is told of larger steps, and takes them.
    on = "1" if page.cut else None
    older = None if page.before is None else visit.same(before=str(page.before), deep=on)
    top, began = None, visit.args.id("before")
    if began is None:
        top = page.jobs[0].id if page.jobs else NOBODY
    return {
        "lines": shown,
        "older": older,
        "cut": page.cut,
        "went_to": page.before,
        "back": page.before and made_at(page.before),
        "began": None if began is None else made_at(began),
        "top": top,
    }


async def _arguments(visit: Visit, shown: Chosen, lines: list[Line]) -> list[tuple[str, str]]:
    """What can be shown of the payloads of these jobs, as their types declare it: name and link, those shown already not."""
    types = sorted({line.job.job_type for line in lines})[:MOST_TYPES]
    names = await visit.see(finding.arguments(types, schema=visit.schema))
    here = [".".join(path) for path in shown.paths]
    if len(here) >= MOST_ARGS:
        return []
    return [
        (name, visit.same(args=", ".join(f"args.{each}" for each in (*here, name))))
        for name in dict.fromkeys(names)
        if name not in here
    ][:MOST_OFFERED]


async def _counts(visit: Visit, want: Wanted, summary: list[StateCount] | None) -> list[FoundCount] | None:
    """Of the query; where it asks for nothing but states, of the whole scope."""
    if want.filter["terms"]:
        return await visit.attempt(_("the counts of states"), finding.counts(want, schema=visit.schema))
    if summary is None:
        return None
    shown = [one.shown for one in summary]
    made = [FoundCount(str(one.state), one.n, one.at_least) for one in shown]
    for one in summary:
        if one.open_letters is not None:
            made.append(FoundCount(REPLAYED, max(one.n - one.open_letters, 0), one.at_least))
        if one.retrying is not None:
            made.append(FoundCount(RETRYING, one.retrying, bool(one.retrying_at_least)))
    return made


async def _fresh(visit: Visit, want: Wanted | None, top: UUID | None) -> int | None:
    """How many jobs of the query have come since the page was made; None: it is not the first page."""
    asked = visit.args.id("_top")
    if not visit.parts or want is None or asked is None:
        return None if top is None else 0
    above = {
        "field": "id",
        "not": False,
        "ranges": [[UUID(int=min(asked.int + 1, 2**128 - 1)).hex, "f" * 32]],
    }
    filter = {**want.filter, "terms": [*want.filter["terms"], above]}
    ids, _below = await visit.read(store.read_matching_ids(filter, most=MOST_FRESH, schema=visit.schema))
    return len(ids)


def _chart(visit: Visit, query: Query, bars: FoundBars) -> Markup:
    times = [at for at, _n in bars.bars]
    total = f"{bars.total:,}" if bars.complete_to is None else f"{min(bars.total, 10_000):,}+"
    message = many("%s job", "%s jobs", bars.total) % total
    if bars.complete_to is not None:
        message += _("; those before %s are not counted") % f"{bars.complete_to:%Y-%m-%d %H:%M} UTC"
    return stacked_bars(
        times,
        [Series(_("Jobs"), [n for _at, n in bars.bars])],
        id="jobs-over-time",
        title=_("When the jobs of this list were enqueued"),
        message=message,
        step=bars.width,
        width=1040,
        height=110,
        hrefs=links.within(visit, query, times, bars.width),
        until=times[-1] + timedelta(seconds=bars.width),
    )
