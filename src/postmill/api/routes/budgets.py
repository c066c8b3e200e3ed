"""Budgets: how far they are used up, and what operators change of them."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import budgets
from postmill.shapes.budgets import (
    Budget,
    BudgetChanges,
    BudgetCorrection,
    BudgetLine,
    BudgetPeriod,
    BudgetPeriodLimit,
    BudgetShare,
    WholeBudget,
)
from postmill.shapes.paging import Page
from postmill.store.budgets import BudgetView

router = new_router("budgets")

Read = Annotated[Asked, Depends(may(Action.BUDGETS_READ))]
Write = Annotated[Asked, Depends(may(Action.BUDGETS_WRITE))]
Name = Annotated[
    str, Path(min_length=1, max_length=64, description="The budget's name or id.", examples=["ai-tagging"])
]
Tenant = Annotated[
    str | None,
    Query(
        max_length=63, description="Whose budget, by slug or id; null: the platform's.", examples=["bakery"]
    ),
]
Period = Annotated[
    str | None,
    Query(max_length=10, description="Such as 2025-01; null: the present one.", examples=["2025-01"]),
]


@router.get("/budgets")
async def list_budgets(
    asked: Read, tenant: Tenant = None, limit: Limit = 50, cursor: Cursor = None
) -> Page[Budget]:
    """List budgets by name, with where they stand."""
    after = None
    if cursor:
        name, id = parts_of(cursor, str, UUID)
        after = (name, id)
    found = await asked.drive(budgets.budgets(tenant=tenant, after=after, most=limit, schema=asked.schema))
    more = cursor_of(found[-1].name, found[-1].id) if len(found) == limit else None
    return Page(items=[_shown(one) for one in found], next=more)


@router.get("/budgets/{budget}")
async def get_budget(budget: Name, asked: Read, tenant: Tenant = None) -> Budget:
    """Show a budget, and where it stands in its present period."""
    return _shown(await asked.drive(budgets.budget(budget, tenant=tenant, schema=asked.schema)))


@router.put("/budgets/{budget}")
async def put_budget(budget: Name, body: WholeBudget, asked: Write, tenant: Tenant = None) -> Budget:
    """Make a budget, or write all of it anew: what is not named is as by default."""
    given = body.model_dump(by_alias=True, exclude={"reason"})
    whole: dict[str, Any] = {"period": "month", "unit": "USD", "levels": {}, "alerts": None}
    fields = {name: whole.get(name) if value is None else value for name, value in given.items()}
    if fields["alerts"] is None:
        fields["alerts"] = budgets.default_alerts()
    return await _set(asked, budget, tenant, "put", body.reason, fields)


@router.patch("/budgets/{budget}")
async def change_budget(budget: Name, body: BudgetChanges, asked: Write, tenant: Tenant = None) -> Budget:
    """Change those fields of a budget that are named. A limit counts at once, also in the middle of a period."""
    fields = body.model_dump(by_alias=True, exclude_unset=True, exclude={"reason"})
    return await _set(asked, budget, tenant, "change", body.reason, fields)


@router.get("/budgets/{budget}/history")
async def list_budget_periods(
    budget: Name,
    asked: Read,
    tenant: Tenant = None,
    months: Annotated[int, Query(ge=1, le=120, description="How many, the present one counted.")] = 12,
) -> Page[BudgetPeriod]:
    """List the periods of the last months, the present one first. What is older than 13 months is not kept."""
    found = await asked.drive(budgets.history(budget, months=months, tenant=tenant, schema=asked.schema))
    return Page(items=[BudgetPeriod.model_validate(period) for period in found], next=None)


@router.get("/budgets/{budget}/breakdown")
async def break_down_budget(
    budget: Name,
    asked: Read,
    tenant: Tenant = None,
    by: Annotated[str, Query(max_length=20, description="job_type, tenant or actor.")] = "job_type",
    period: Period = None,
) -> Page[BudgetShare]:
    """Show what a period's money went to, the most first."""
    found = await asked.drive(
        budgets.breakdown(budget, by, period=period, tenant=tenant, schema=asked.schema)
    )
    return Page(items=[BudgetShare.model_validate(share) for share in found], next=None)


@router.get("/budgets/{budget}/lines")
async def list_budget_lines(
    budget: Name,
    asked: Read,
    tenant: Tenant = None,
    period: Period = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[BudgetLine]:
    """List the ledger's lines of a period, the last first."""
    before = parts_of(cursor, UUID)[0] if cursor else None
    found = await asked.drive(
        budgets.lines(budget, period=period, before=before, most=limit, tenant=tenant, schema=asked.schema)
    )
    more = cursor_of(found[-1].id) if len(found) == limit else None
    return Page(items=[BudgetLine.model_validate(line) for line in found], next=more)


@router.post("/budgets/{budget}/lines")
async def correct_budget(budget: Name, body: BudgetCorrection, asked: Write, tenant: Tenant = None) -> Budget:
    """Append a correcting line to the ledger. Lines are never changed."""
    changed = await asked.drive(
        budgets.correct(
            budget,
            body.amount,
            reason=body.reason,
            period=body.period,
            tokens_in=body.tokens_in,
            tokens_out=body.tokens_out,
            tenant=tenant,
            schema=asked.schema,
        )
    )
    return _shown(changed)


@router.patch("/budgets/{budget}/periods/{period}")
async def limit_budget_period(
    budget: Name,
    period: Annotated[str, Path(max_length=10, description="Such as 2025-01.", examples=["2025-01"])],
    body: BudgetPeriodLimit,
    asked: Write,
    tenant: Tenant = None,
) -> Budget:
    """Give one period, the present or a later one, a limit of its own, to its end or until a moment within it."""
    changed = await asked.drive(
        budgets.limit_period(
            budget,
            period,
            body.limit,
            until=body.until,
            tenant=tenant,
            reason=body.reason,
            schema=asked.schema,
        )
    )
    return _shown(changed)


async def _set(
    asked: Asked, name: str, tenant: str | None, mode: str, reason: str | None, fields: dict[str, Any]
) -> Budget:
    made = await asked.drive(
        budgets.set_budget(name, tenant=tenant, mode=mode, reason=reason, schema=asked.schema, **fields)
    )
    return _shown(made)


def _shown(view: BudgetView) -> Budget:
    return Budget.model_validate(view)
