"""Errors: causes of failures, and one of them closely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from markupsafe import Markup
from starlette.responses import Response

from postmill.api.paging import cursor_of, parts_of
from postmill.api.problems import not_found
from postmill.console.charts import Mark, MarkKind, Series, sparkline, stacked_bars
from postmill.console.charts.time_axis import bucket_text
from postmill.console.failures import compare
from postmill.console.failures.replaying import wizard
from postmill.console.failures.tracebacks import Part, folded
from postmill.console.frame.pages import Pages
from postmill.console.frame.shown import moment
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.access import Action
from postmill.domain.redaction import redacted_text
from postmill.operate import error_groups as acts
from postmill.operate.payloads import secret_names
from postmill.store import error_samples as look
from postmill.store.error_groups import ErrorGroupView, read_error_groups, read_error_tenants
from postmill.store.error_samples import Sample, Trace, TypeMark
from postmill.store.stats import read_stats
from postmill.store.tenants import TenantView, list_tenants
from postmill.store.type_pauses import read_type_pauses

router = Pages()

PAGE = 25

SORTS = ("last", "often")
"""Orders of the list: seen last, or most failures in the span of time first."""

RANKED = 200
"""Of how many groups, those seen last, the most frequent are looked for."""

JOBS = 1000
"""Jobs of each group that the list counts; the group's page goes on to 10,000."""

RANGES: dict[str, tuple[float, float]] = {
    "1h": (3600.0, 60.0),
    "24h": (86400.0, 1800.0),
    "7d": (7 * 86400.0, 2 * 3600.0),
    "30d": (30 * 86400.0, 12 * 3600.0),
}
"""Lengths of time to look back, with that of a bar; older than two days is known by the hour."""

TABS: dict[str, tuple[str, ...] | None] = {
    "open": ("new", "ongoing", "regressed"),
    "new": ("new",),
    "regressed": ("regressed",),
    "ignored": ("ignored",),
    "resolved": ("resolved",),
    "all": None,
}

RUNS = ("succeeded", "failed", "dead_letter", "retried", "lost")
"""Outcomes that are the end of a run."""

_MARKS = {
    "deploy": MarkKind.DEPLOY,
    "build": MarkKind.DEPLOY,
    "build_again": MarkKind.DEPLOY,
    "pause": MarkKind.PAUSE,
    "resume": MarkKind.OTHER,
    "replay": MarkKind.REPLAY,
}


@dataclass(frozen=True, slots=True)
class Line:
    """A group as the list shows it. `jobs`, `share`: None where they were left out."""

    group: ErrorGroupView
    bars: Markup
    lately: int
    jobs: int | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A traceback. `what`: first | last | odd, or both: the last, which the first is like."""

    what: str
    trace: Trace
    message: str
    parts: list[Part]


@router.page("/errors", Action.DEAD_READ)
async def errors(visit: Visit) -> Response:
    """Groups, those seen last first."""
    args = visit.args
    tab = args.one_of("status", TABS, "open")
    span = args.one_of("range", RANGES, "24h")
    given = args.text("after", None)
    before = None if given is None else parts_of(given, datetime.fromisoformat, str)
    tenant = await named_tenant(visit)
    length, step = RANGES[span]
    sort = args.one_of("sort", SORTS, "last")
    often = sort == "often"
    now = await visit.moment()
    recent = args.one_of("first", RANGES, None)
    found = await visit.read(
        read_error_groups(
            tenant=None if tenant is None else tenant.id,
            job_type=args.text("type", None),
            error_class=args.text("class", None),
            since=now - timedelta(seconds=length),
            before=None if before is None or often else (before[0], before[1]),
            most=RANKED if often else PAGE + 1,
            statuses=TABS[tab],
            text=args.text("text", None),
            first=None if recent is None else now - timedelta(seconds=RANGES[recent][0]),
            schema=visit.schema,
        )
    )
    ranked = often and len(found) == RANKED
    if often:
        found = await _most_often(visit, found, now - timedelta(seconds=length), now, tenant)
    page = found[:PAGE]
    filtered = any(args.text(name) for name in ("type", "class", "text", "tenant", "first"))
    anything = bool(found) or bool(await visit.read(read_error_groups(most=1, schema=visit.schema)))
    return visit.page(
        "errors.html",
        lines=await _lines(visit, page, now, length, step, tenant),
        tab=tab,
        sort=sort,
        ranked=RANKED if ranked else None,
        tabs=TABS,
        span=span,
        ranges=RANGES,
        tenant=tenant,
        most=JOBS,
        filtered=filtered,
        anything=anything,
        next=visit.same(after=cursor_of(*page[-1].position)) if len(found) > PAGE and not often else None,
        first=visit.same() if given else None,
    )


async def _most_often(
    visit: Visit, groups: list[ErrorGroupView], since: datetime, until: datetime, tenant: TenantView | None
) -> list[ErrorGroupView]:
    """The same, those with the most failures in the time first."""
    own = None if tenant is None else tenant.id
    ids, length = [group.id for group in groups], (until - since).total_seconds()
    counts = await visit.read(
        look.read_error_minutes(ids, since, until, length, tenant=own, schema=visit.schema)
    )
    return sorted(groups, key=lambda group: -sum(counts[group.id].values()))


async def _lines(
    visit: Visit,
    groups: Sequence[ErrorGroupView],
    now: datetime,
    length: float,
    step: float,
    tenant: TenantView | None,
) -> list[Line]:
    if not groups:
        return []
    ids = [group.id for group in groups]
    own = None if tenant is None else tenant.id
    since = now - timedelta(seconds=length)
    minutes = await visit.read(
        look.read_error_minutes(ids, since, now, step, tenant=own, schema=visit.schema)
    )
    jobs = None
    if tenant is None:
        jobs = await visit.attempt(
            _("the number of jobs"), look.read_error_jobs(ids, most=JOBS, schema=visit.schema)
        )
    stats = await visit.attempt(
        _("the share of all attempts"),
        read_stats(since=since, until=now, by="job_type", tenant=own, times=(), schema=visit.schema),
    )
    runs = None if stats is None else {one.name: one.n(*RUNS) for one in stats}
    made = []
    for group in groups:
        counts = minutes[group.id]
        lately = sum(counts.values())
        ended = 0 if runs is None else runs.get(group.job_type, 0)
        values = [float(counts.get(n, 0)) for n in range(int(length / step))]
        bars = sparkline(values, title=_("Failures"), look="bad", as_bars=True)
        share = min(1.0, lately / ended) if ended else None
        made.append(Line(group, bars, lately, None if jobs is None else jobs.get(group.id, 0), share))
    return made


@router.page("/errors/{fp}", Action.DEAD_READ)
async def error(visit: Visit) -> Response:
    """One group: when, whom, what the failures share, how they failed."""
    group = await the_group(visit)
    span = visit.args.one_of("range", RANGES, "24h")
    length, step = RANGES[span]
    now = await visit.moment()
    since = _floor(now - timedelta(seconds=length), step)
    made: dict[str, Any] = {"group": group, "span": span, "ranges": RANGES}
    counts: dict[int, int] = {}
    if visit.wants("curve", "facts"):
        minutes = await visit.read(look.read_error_minutes([group.id], since, now, step, schema=visit.schema))
        counts = minutes[group.id]
    if visit.wants("curve"):
        marks = await visit.read(look.read_type_marks(group.job_type, since, schema=visit.schema))
        times = [since + timedelta(seconds=n * step) for n in range(int(length / step) + 1)]
        made["chart"] = stacked_bars(
            times,
            [Series(_("Failures"), [float(counts.get(n, 0)) for n in range(len(times))], "bad")],
            id="chart-failures",
            title=_("Failures"),
            step=step,
            message=_said(group, times, counts, step, span),
            marks=[_mark(visit, group, one) for one in marks],
            since=since,
            until=times[-1] + timedelta(seconds=step),
            now=now,
        )
    if visit.wants("shares"):
        made |= await _samples(visit, group)
    if visit.wants("facts", "acts", "whom"):
        made["dead"] = await visit.read(look.read_error_dead(group.id, schema=visit.schema))
    if visit.wants("acts"):
        pauses = await visit.read(read_type_pauses(group.job_type, schema=visit.schema))
        made |= {"pause": pauses[0] if pauses else None, "replay": wizard(visit, error=group.id)}
        made["builds"] = await _builds(visit, group, now)
    if visit.wants("whom"):
        made["tenants"] = await visit.read(read_error_tenants(group.id, most=20, schema=visit.schema))
    if visit.wants("facts"):
        made |= await _facts(visit, group, counts)
    if not visit.parts:
        made["notes"] = await visit.see(acts.notes(group.id, schema=visit.schema))
    return visit.page("error.html", secret=True, **made)


async def _facts(visit: Visit, group: ErrorGroupView, counts: dict[int, int]) -> dict[str, Any]:
    """How often, of how many jobs, and of which other job types there is the same error."""
    alike = await visit.attempt(
        _("the same error of other job types"),
        read_error_groups(
            error_class=group.error_class, text=group.message or None, most=20, schema=visit.schema
        ),
    )
    jobs = await visit.attempt(_("the number of jobs"), look.read_error_jobs([group.id], schema=visit.schema))
    return {
        "lately": sum(counts.values()),
        "jobs": None if jobs is None else jobs.get(group.id, 0),
        "alike": [one for one in alike or [] if one.message == group.message and one.id != group.id],
    }


async def _builds(visit: Visit, group: ErrorGroupView, now: datetime) -> list[str]:
    """Builds of its job type that began to run of late, the latest first."""
    if not visit.may(Action.ERRORS_WRITE) or group.status == "resolved":
        return []
    began = look.read_type_marks(group.job_type, now - timedelta(days=30), schema=visit.schema)
    marks = await visit.attempt(_("the builds that ran of late"), began) or []
    return list(dict.fromkeys(one.label for one in marks if one.kind == "build"))[:20]


async def _samples(visit: Visit, group: ErrorGroupView) -> dict[str, Any]:
    """What the failures share, beside the successes, and how some of them failed."""
    found = await visit.attempt(
        _("what the failures share"),
        look.read_error_samples(group.id, group.job_type, schema=visit.schema),
    )
    samples = found or []
    names = await visit.see(secret_names(group.job_type, visit.schema))
    return {
        "shares": _shares(visit, samples),
        "compared": (sum(one.failed for one in samples), sum(not one.failed for one in samples)),
        "leads": lambda name, value: _leads(visit, group, name, value),
        "arguments": compare.arguments(samples, names) if visit.may(Action.PAYLOADS_READ) else None,
        "traces": await _traces(visit, group, samples),
    }


def _floor(moment: datetime, step: float) -> datetime:
    """Where a bucket begins: at round moments, so that what stands beside the bars stands where it belongs."""
    return datetime.fromtimestamp(moment.timestamp() // step * step, UTC)


def _said(
    group: ErrorGroupView, times: Sequence[datetime], counts: dict[int, int], step: float, span: str
) -> str:
    """What the curve says: how many there were, when the first of all was, and in which bar the most."""
    n = sum(counts.values())
    if not n:
        return _("None in the last %(span)s; the last one was %(at)s.") % {
            "span": span,
            "at": moment(group.last_seen_at),
        }
    told = _("%(n)s in the last %(span)s") % {"n": f"{n:,}", "span": span}
    if group.first_seen_at >= times[0]:
        told += _("; the first of all %s") % moment(group.first_seen_at)
    place = max(counts, key=counts.__getitem__)
    if place < len(times):
        told += _("; the most (%(n)s) in %(bar)s") % {
            "n": f"{counts[place]:,}",
            "bar": bucket_text(times[place], step),
        }
    return told + "."


def _shares(visit: Visit, samples: Sequence[Sample]) -> list[compare.Comparison]:
    made = [compare.shares(samples, _("Version"), lambda one: one.version and f"v{one.version}")]
    if visit.scope.ops:
        # Where some say of which build they are, those that do not are none of these.
        silent = _("not told") if any(one.build for one in samples) else None
        made += [
            compare.shares(samples, _("Build"), lambda one: one.build or (one.worker and silent)),
            compare.shares(samples, _("Host"), lambda one: one.host),
            compare.shares(samples, _("Worker"), lambda one: one.worker),
        ]
    return [one for one in made if one.shares]


def _leads(visit: Visit, group: ErrorGroupView, name: str, value: str) -> str | None:
    """Where a value that failures share is looked at, and what runs it is stopped."""
    if not visit.scope.ops:
        return None
    if name == _("Worker"):
        return visit.url("/workers", worker=value, seen="30d")
    if name == _("Build") and value != _("not told"):
        return visit.url("/workers", build=value, seen="24h")
    return visit.url(f"/definitions/{group.job_type}") if name == _("Version") else None


async def _traces(visit: Visit, group: ErrorGroupView, samples: Sequence[Sample]) -> list[Shown]:
    """The first one, the last one, and the odd one out."""
    first = await visit.read(look.read_error_first(group.id, schema=visit.schema))
    last = next((one.job_id for one in samples if one.failed), group.sample_job)
    chosen = {"last": last, "first": first}
    chosen["odd"] = compare.odd_one(samples, [id for id in (first, last) if id is not None])
    wanted: dict[UUID, str] = {}
    for what, id in chosen.items():
        if id is not None:
            wanted.setdefault(id, what)
    traces = await visit.read(look.read_error_stacks(group.id, list(wanted), schema=visit.schema))
    first_one = next((one for one in traces if wanted[one.job_id] == "first"), None)
    last_one = next((one for one in traces if wanted[one.job_id] == "last"), None)
    if first_one and last_one and compare.alike(first_one.stack, last_one.stack):
        traces = [one for one in traces if one is not first_one]
        wanted[last_one.job_id] = "both"
    return [
        Shown(
            wanted[one.job_id],
            one,
            redacted_text(one.error_message or ""),
            folded(None if one.stack is None else redacted_text(one.stack)),
        )
        for one in traces
    ]


def _mark(visit: Visit, group: ErrorGroupView, mark: TypeMark) -> Mark:
    label, href = mark.label, None
    if mark.kind == "deploy":
        label, href = f"{group.job_type} {mark.label}", visit.url(f"/definitions/{group.job_type}")
    elif mark.kind in ("build", "build_again"):
        words = _("build %s") if mark.kind == "build" else _("build %s again")
        label, href = words % mark.label, visit.url(f"/workers/{mark.target}")
    elif mark.kind == "resume":
        label = _("%s runs again") % group.job_type
    elif mark.kind == "replay":
        label, href = _("%s dead letters") % mark.label, visit.url(f"/ops-log/{mark.target}")
    return Mark(mark.at, _MARKS.get(mark.kind, MarkKind.OTHER), label or group.job_type, href)


async def the_group(visit: Visit) -> ErrorGroupView:
    """The group of the path. Raises Problem 404 for one that is not there, or that the tenant has no part in."""
    found = await visit.read(
        read_error_groups(id=visit.request.path_params["fp"], most=1, schema=visit.schema)
    )
    if not found:
        raise not_found("error group")
    return found[0]


async def named_tenant(visit: Visit) -> TenantView | None:
    """The tenant that the platform's list is narrowed to. Raises Problem 404 for one that is not there."""
    slug = visit.args.text("tenant", None)
    if slug is None or not visit.scope.ops:
        return None
    found = await visit.read(list_tenants(slug=slug, most=1, schema=visit.schema))
    if not found:
        raise not_found("tenant")
    return found[0]
