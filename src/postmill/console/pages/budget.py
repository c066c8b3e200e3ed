"""One budget: its course, its past, what waits for it, and what is changed or asked for."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from markupsafe import Markup
from starlette.responses import Response

from postmill.console.charts import Bar, Level, Series, Unit, bars, line
from postmill.console.frame.arguments import refused
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages.budgets import named, row_of, slugs
from postmill.console.pages.moments import read_moment
from postmill.domain.access import Action
from postmill.domain.errors import DefinitionConflict, InvalidValue
from postmill.operate import budget_requests
from postmill.operate import budgets as operate
from postmill.store.audit import AuditRow, LogFilter, audit_log
from postmill.store.budget_requests import read_burn, read_waiting
from postmill.store.budgets import BudgetView, Share

router = Pages()

FIELDS = ("limit", "until", "reason")
LINES = 20
CHANGES = 10
STEPS = {"month": 86400.0, "day": 3600.0}


@router.page("/budgets/{id:uuid}", Action.BUDGETS_READ)
async def budget(visit: Visit) -> Response:
    """A budget and all about it."""
    return await _page(visit, {}, {})


@router.act("/budgets/{id:uuid}/limit", Action.BUDGETS_WRITE)
async def change(visit: Visit) -> Response:
    """Another limit, for good or until a moment."""
    id: UUID = visit.request.path_params["id"]
    values, until, errors = _read(visit)
    if not errors:
        try:
            changed = await visit.drive(
                budget_requests.change(
                    id, values["limit"], until=until, reason=values["reason"], schema=visit.schema
                )
            )
            told = _("The limit of %s was changed.") % changed.name
            return visit.done(told, visit.url(f"/budgets/{id}"))
        except (InvalidValue, DefinitionConflict) as fault:
            errors = named(fault, FIELDS)
    return await _page(visit, values, errors)


@router.act("/budgets/{id:uuid}/ask", Action.BUDGETS_REQUEST, ops=False)
async def ask(visit: Visit) -> Response:
    """Asks the platform for another limit."""
    id: UUID = visit.request.path_params["id"]
    values, until, errors = _read(visit)
    if not errors:
        try:
            await visit.drive(
                budget_requests.ask(id, values["limit"], values["reason"], until=until, schema=visit.schema)
            )
            return visit.done(_("The platform was asked."), visit.url(f"/budgets/{id}"))
        except (InvalidValue, DefinitionConflict) as fault:
            errors = named(fault, FIELDS)
    return await _page(visit, values, errors)


@router.act("/budget-requests/{id:uuid}/grant", Action.BUDGETS_WRITE, tenant=False)
async def grant(visit: Visit) -> Response:
    """Changes the budget as was asked."""
    return await _decide(visit, True)


@router.act("/budget-requests/{id:uuid}/decline", Action.BUDGETS_WRITE, tenant=False)
async def decline(visit: Visit) -> Response:
    """Says why not."""
    return await _decide(visit, False)


async def _decide(visit: Visit, granted: bool) -> Response:
    id: UUID = visit.request.path_params["id"]
    answer = visit.form.text("answer", None)
    if not granted and answer is None:
        raise refused("answer", _("say why it is declined; the tenant reads it"))
    flow = budget_requests.decide(id, grant=granted, answer=answer, schema=visit.schema)
    decided = await visit.drive(flow)
    told = _("Granted: %s.") if granted else _("Declined: %s.")
    return visit.done(told % f"{decided.budget}, {decided.tenant_slug}", visit.back())


def _read(visit: Visit) -> tuple[dict[str, str], datetime | None, dict[str, str]]:
    values = {name: visit.form.text(name) for name in FIELDS}
    errors = {name: _("is missing") for name in ("limit", "reason") if not values[name]}
    until = None
    try:
        until = read_moment(values["until"])
    except ValueError as fault:
        errors["until"] = str(fault)
    return values, until, errors


async def _page(visit: Visit, values: dict[str, str], errors: dict[str, str]) -> Response:
    id: UUID = visit.request.path_params["id"]
    one = await visit.see(operate.budget(id, schema=visit.schema))
    assert visit.now is not None
    burn = await visit.attempt(_("course"), read_burn(one.id, None, STEPS[one.period], schema=visit.schema))
    shares = await visit.attempt(_("shares"), operate.breakdown(one.id, schema=visit.schema))
    waiting = await visit.attempt(_("jobs that wait"), read_waiting(one.id, schema=visit.schema))
    changes: list[AuditRow] = []
    if visit.may(Action.AUDIT_READ):
        chosen = LogFilter(target_kind="budget", target=one.name, tenant=one.tenant_id)
        found = await visit.attempt(_("changes"), audit_log(chosen=chosen, most=CHANGES, schema=visit.schema))
        changes = [row for row in found or [] if row.tenant_id == one.tenant_id]
    return visit.page(
        "budgets/detail.html",
        422 if errors else 200,
        row=row_of(one, visit.now),
        one=one,
        slugs=await slugs(visit, [one.tenant_id]),
        course=_course(visit, one, burn or []),
        shares=_shares(shares or []),
        waiting=waiting or [],
        history=await visit.see(operate.history(one.id, schema=visit.schema)),
        lines=await visit.see(operate.lines(one.id, most=LINES, schema=visit.schema)),
        changes=changes,
        requests=await visit.see(budget_requests.requests(budget=one.id, most=10, schema=visit.schema)),
        values=values,
        errors=errors,
        shown=FIELDS,
    )


def _course(visit: Visit, one: BudgetView, burn: list[tuple[datetime, Decimal]]) -> Markup | None:
    """What was spent so far, step by step, against the limit."""
    if not burn:
        return None
    assert visit.now is not None
    step, at = timedelta(seconds=STEPS[one.period]), one.standing.starts_at
    by_step, total = dict(burn), 0.0
    times, values = [at], [0.0]
    while at < min(visit.now, one.standing.ends_at):
        total += float(by_step.get(at, 0))
        at += step
        times.append(min(at, visit.now))
        values.append(max(total, 0.0))
    return line(
        times,
        [Series(_("spent"), values)],
        id="course",
        title=_("Spent of %s") % one.name,
        unit=Unit.MONEY,
        levels=[Level(_("limit"), float(one.standing.limit), "bad")],
        since=one.standing.starts_at,
        until=one.standing.ends_at,
    )


def _shares(found: list[Share]) -> Markup | None:
    shown = [Bar(share.key or _("corrections"), float(share.amount)) for share in found if share.amount > 0]
    if not shown:
        return None
    return bars(shown[:10], id="shares", title=_("What it went to"), unit=Unit.MONEY)
