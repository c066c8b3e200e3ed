"""Budgets and limits: how far they are used up, what is asked for, and new ones."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from starlette.responses import Response

from postmill.console.charts import Unit, gauge
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages import queue_rules
from postmill.domain.access import Action
from postmill.domain.budget_outlook import outlook
from postmill.domain.errors import AlreadyThere, DefinitionConflict, InvalidValue, NotFound
from postmill.operate import budget_requests, tenants
from postmill.operate import budgets as operate
from postmill.store.budget_requests import read_limits
from postmill.store.budgets import BudgetView
from postmill.store.console import tenant_slugs

router = Pages()

PAGE = 50
FIELDS = ("name", "tenant", "limit", "unit", "period", "timezone", "reason")


@router.page("/budgets", Action.BUDGETS_READ)
async def budgets(visit: Visit) -> Response:
    """Budgets by name, limits that are no money, and requests."""
    name, id = visit.args.text("after", None), visit.args.id("id")
    after = None if name is None or id is None else (name, id)
    found = await visit.see(operate.budgets(after=after, most=PAGE + 1, schema=visit.schema))
    shown = found[:PAGE]
    assert visit.now is not None
    requests = await visit.see(
        budget_requests.requests(status="open" if visit.scope.ops else None, most=20, schema=visit.schema)
    )
    limits = await visit.attempt(_("limits"), read_limits(schema=visit.schema))
    rules = None
    if visit.scope.ops:
        limits = [one for one in limits or [] if one.workers is not None]
        rules = await visit.attempt(_("limits of the fleet"), queue_rules.everything(schema=visit.schema))
    return visit.page(
        "budgets/list.html",
        rows=[row_of(one, visit.now) for one in shown],
        slugs=await slugs(visit, [one.tenant_id for one in shown]),
        requests=requests,
        limits=[(one, gauge(one.used, one.limit, title=one.name)) for one in limits or []],
        rules=rules or [],
        newer=visit.same(after=None, id=None) if after else None,
        older=visit.same(after=shown[-1].name, id=shown[-1].id) if len(found) > PAGE else None,
    )


@router.page("/budget-new", Action.BUDGETS_WRITE, tenant=False)
async def new(visit: Visit) -> Response:
    """An empty form."""
    return _form(visit, {"unit": "USD", "period": "month"}, {})


@router.act("/budget-new", Action.BUDGETS_WRITE, tenant=False)
async def create(visit: Visit) -> Response:
    """A new budget, of a tenant or of the platform."""
    values = {name: visit.form.text(name) for name in FIELDS}
    errors: dict[str, str] = {}
    if not values["reason"]:
        errors["reason"] = _("say what it is for")
    if not errors:
        try:
            if values["tenant"]:
                await visit.drive(tenants.tenant(values["tenant"], schema=visit.schema))
            made = await visit.drive(
                operate.set_budget(
                    values["name"],
                    tenant=values["tenant"] or None,
                    mode="create",
                    reason=values["reason"],
                    limit=values["limit"] or None,
                    unit=values["unit"] or None,
                    period=values["period"] or None,
                    timezone=values["timezone"] or None,
                    schema=visit.schema,
                )
            )
            return visit.done(_("The budget %s was made.") % made.name, visit.url(f"/budgets/{made.id}"))
        except (InvalidValue, DefinitionConflict) as fault:
            errors = named(fault, FIELDS)
        except AlreadyThere as fault:
            errors = {"name": str(fault)}
        except NotFound as fault:
            errors = {"tenant": str(fault)}
    return _form(visit, values, errors)


def row_of(one: BudgetView, now: datetime) -> dict[str, Any]:
    """A budget with where it will stand and its gauge."""
    stands, ahead = one.standing, outlook(one.standing, now)
    return {
        "one": one,
        "ahead": ahead,
        "gauge": gauge(
            max(float(stands.spent + stands.reserved), 0.0),
            float(stands.limit),
            title=one.name,
            unit=Unit.MONEY,
            warn_at=0.75,
            projected=None if ahead.projected is None else float(ahead.projected),
        ),
    }


async def slugs(visit: Visit, ids: list[UUID | None]) -> dict[UUID, str]:
    """Slugs of tenants; outside of the platform there is one."""
    if visit.scope.tenant is not None:
        return {visit.scope.tenant.id: visit.scope.tenant.slug}
    known = {one for one in ids if one is not None}
    return await visit.read(tenant_slugs(known, schema=visit.schema)) if known else {}


def named(fault: Exception, names: tuple[str, ...]) -> dict[str, str]:
    """An error by the field that it names first; of the whole where it names none."""
    name, mark, why = str(fault).partition(": ")
    return {name: why} if mark and name in names else {"": str(fault)}


def _form(visit: Visit, values: dict[str, str], errors: dict[str, str]) -> Response:
    return visit.page("budgets/form.html", 422 if errors else 200, values=values, errors=errors, shown=FIELDS)
