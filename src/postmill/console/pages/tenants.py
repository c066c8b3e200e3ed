"""Tenants: list and detail; throttle, suspend, limits, and looking at their pages as their people see them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.responses import RedirectResponse, Response

from postmill.api.asked import Asked
from postmill.api.problems import not_found
from postmill.bind import arun
from postmill.console.charts import gauge
from postmill.console.charts.numbers import Unit
from postmill.console.frame import durations, view_as
from postmill.console.frame.arguments import refused
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages import queue_rules
from postmill.domain.access import Action
from postmill.domain.tenant import STATUSES
from postmill.operate import fleet, tenants
from postmill.store import fleet as store
from postmill.store.audit import deny
from postmill.store.budgets import read_budgets
from postmill.store.error_groups import read_error_groups
from postmill.store.keys import list_keys, list_logins
from postmill.store.now import read_hurt
from postmill.store.reads import read_summary
from postmill.store.retention import rules
from postmill.store.tenants import TenantView, list_projects
from postmill.store.top import top_moment

router = Pages()

PAGE = 50


@router.page("/tenants", Action.TENANTS_READ, tenant=False)
async def list_(visit: Visit) -> Response:
    """Tenants by slug, or those with the most work first."""
    status = visit.args.one_of("state", STATUSES, None)
    begins = visit.args.text("q", None)
    sort = visit.args.one_of("sort", ("slug", "busy"), "slug")
    after, schema = visit.args.text("after"), visit.schema
    affected = visit.args.one_of("affected", ("1",), None) is not None
    if affected:
        slugs = (await visit.read(read_hurt(PAGE, schema=schema))).tenants
        found = await visit.read(
            store.tenant_page(slugs=slugs, status=status, begins=begins, most=PAGE, schema=schema)
        )
        found.sort(key=lambda one: slugs.index(one.slug))
        more = None
    elif sort == "busy":
        slugs = fleet.busiest(await visit.read(store.depths(schema=schema)), PAGE)
        found = await visit.read(
            store.tenant_page(slugs=slugs, status=status, begins=begins, most=PAGE, schema=schema)
        )
        found.sort(key=lambda one: slugs.index(one.slug))
        more = None
    else:
        found = await visit.read(
            store.tenant_page(after=after, status=status, begins=begins, most=PAGE + 1, schema=schema)
        )
        more = found[PAGE - 1].slug if len(found) > PAGE else None
        found = found[:PAGE]
    cards = await visit.attempt(_("what tenants do"), fleet.tenant_cards(found, schema=schema))
    return visit.page(
        "tenants.html",
        tenants=found,
        cards={card.tenant.id: card for card in cards or []},
        more=more,
        state=status,
        statuses=STATUSES,
        begins=begins,
        sort=sort,
        affected=affected,
        narrowed=bool(status or begins or after or affected),
    )


@router.page("/tenants/{which}", Action.TENANTS_READ, tenant=False)
async def one(visit: Visit) -> Response:
    """One tenant: what it does, and what it may."""
    schema = visit.schema
    tenant = await visit.see(tenants.tenant(visit.request.path_params["which"], schema=schema))
    [card] = await visit.see(fleet.tenant_cards([tenant], schema=schema))
    summary = await visit.attempt(_("counts by state"), read_summary(tenant=tenant.id, schema=schema))
    errors = await visit.attempt(
        _("causes of failures"), read_error_groups(tenant=tenant.id, most=5, schema=schema)
    )
    budgets = await visit.read(read_budgets(tenant=tenant.id, most=20, schema=schema))
    inside = _within(visit, tenant)
    rules_ = await visit.attempt(_("its limits"), queue_rules.of_tenant(tenant.slug, schema=schema))
    keys = logins = None
    if visit.may(Action.KEYS_READ):
        keys = await inside.run(list_keys(most=20, tenant_id=tenant.id, live=True, schema=schema))
        logins = await inside.run(list_logins(most=20, schema=schema))
    return visit.page(
        "tenant.html",
        tenant=tenant,
        card=card,
        summary=summary,
        errors=errors or [],
        budgets=[
            (
                one,
                gauge(float(one.standing.spent), float(one.standing.limit), title=one.name, unit=Unit.MONEY),
            )
            for one in budgets
        ],
        projects=await visit.read(list_projects(tenant.id, schema=schema)),
        keys=keys,
        logins=logins,
        kept=await visit.read(rules(tenant.id, schema=schema)) if visit.may(Action.RETENTION_READ) else None,
        log=await visit.read(store.object_log("tenant", tenant.slug, 30, schema=schema)),
        choices=durations.CHOICES,
        own=next((one for one in rules_ or [] if one.limit.name == f"tenant:{tenant.slug}"), None),
        rules=[one for one in rules_ or [] if one.limit.name != f"tenant:{tenant.slug}"],
        may_view=view_as.may_view(visit.asked.principal),
    )


@router.act("/tenants/{which}/throttle", Action.TENANTS_WRITE, tenant=False)
async def throttle(visit: Visit) -> Response:
    """Run only a tenth of what it may."""
    return await _status(visit, "throttled", _("%s is throttled."))


@router.act("/tenants/{which}/suspend", Action.TENANTS_WRITE, tenant=False)
async def suspend(visit: Visit) -> Response:
    """Take nothing more of it in, and start nothing of it."""
    return await _status(visit, "suspended", _("%s is suspended: its keys and logins open nothing."))


@router.act("/tenants/{which}/activate", Action.TENANTS_WRITE, tenant=False)
async def activate(visit: Visit) -> Response:
    """As it was."""
    return await _status(visit, "active", _("%s is active again."))


@router.act("/tenants/{which}/limits", Action.TENANTS_WRITE, tenant=False)
async def limits(visit: Visit) -> Response:
    """Its own limit and weight."""
    most = visit.form.whole("max_running", None, least=0, most=2**31 - 1)
    weight = visit.form.whole("weight", 1, least=1, most=1000)
    found = await _change(visit, max_running=most or None, weight=weight)
    return visit.done(_("The limits of %s are changed.") % found.slug, visit.back())


@router.act("/tenants/{which}/raise", Action.TENANTS_WRITE, tenant=False)
async def raise_(visit: Visit) -> Response:
    """A higher limit for a time, or the end of it."""
    to = visit.form.whole("raised_to", None, least=1, most=2**31 - 1)
    if to is None:
        found = await _change(visit, raised_to=None, raised_until=None)
        return visit.done(_("The limit of %s is its own again.") % found.slug, visit.back())
    now = await visit.run(top_moment(schema=visit.schema))
    until = durations.until(visit, "for", now)
    if until is None:
        raise refused("for", _("say for how long, such as 4h: a raised limit ends by itself"))
    found = await _change(visit, raised_to=to, raised_until=until)
    said = _("The limit of %(tenant)s is %(n)d until %(until)s UTC.")
    return visit.done(
        said % {"tenant": found.slug, "n": to, "until": f"{until:%Y-%m-%d %H:%M}"}, visit.back()
    )


@router.act("/tenants/{which}/view-as", Action.TENANTS_READ, tenant=False)
async def begin_viewing(visit: Visit) -> Response:
    """See what its people see, for an hour; noted in the audit log."""
    if not view_as.may_view(visit.asked.principal):
        raise not_found("page")
    tenant = await visit.see(tenants.tenant(visit.request.path_params["which"], schema=visit.schema))
    why = visit.form.text("reason", None)
    await _noted(visit, "tenants.view_as", tenant, why)
    answer = RedirectResponse(visit.root(f"/t/{tenant.slug}"), 303)
    view_as.begin(answer, visit.request, tenant.slug)
    return answer


@router.act("/view-as/end", None, ops=False, viewing=True)
async def end_viewing(visit: Visit) -> Response:
    """Be oneself again."""
    tenant = visit.scope.tenant
    if tenant is None or not visit.scope.viewing:
        raise not_found("page")
    await _noted(visit, "tenants.view_as_end", tenant, None)
    answer = RedirectResponse(visit.root(f"/ops/tenants/{tenant.slug}"), 303)
    view_as.end(answer, visit.request)
    return answer


async def _noted(visit: Visit, action: str, tenant: TenantView, why: str | None) -> None:
    """In the log, as the tenant's own: its people may see who looked. By the server itself, since who only reads may not
    write there.
    """
    asked = visit.asked
    row = deny(
        replace(asked.principal, tenant_id=tenant.id),
        action,
        target_kind="tenant",
        target=tenant.slug,
        reason=why,
        result="done",
        request_id=asked.request_id,
        schema=visit.schema,
    )
    async with asked.backend.pool.connection() as conn:
        await arun(conn, row)


async def _status(visit: Visit, status: str, said: str) -> Response:
    durations.reason(visit)
    found = await _change(visit, status=status)
    visit.asked.backend.keys.forget()
    return visit.done(said % found.slug, visit.back())


async def _change(visit: Visit, **settings: Any) -> TenantView:
    why = durations.reason(visit)
    which = visit.request.path_params["which"]
    return await visit.drive(tenants.change_tenant(which, reason=why, schema=visit.schema, **settings))


def _within(visit: Visit, tenant: TenantView) -> Asked:
    """The request within the tenant: nothing of others is seen there."""
    return replace(visit.asked, principal=replace(visit.asked.principal, tenant_id=tenant.id))
