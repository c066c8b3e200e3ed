"""What tenants ask for their budgets, and what the platform answers."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routes.budgets import Name, Tenant
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import budget_requests
from postmill.shapes.budgets import (
    BudgetAnswer,
    BudgetRefusal,
    BudgetRequest,
    NewBudgetRequest,
    RequestStatus,
)
from postmill.shapes.paging import Page

router = new_router("budgets")

ONE = "/budget-requests/{request_id}"


@router.get("/budget-requests")
async def list_budget_requests(
    asked: Annotated[Asked, Depends(may(Action.BUDGETS_READ))],
    status: Annotated[RequestStatus | None, Query(description="Only with this status.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[BudgetRequest]:
    """List what tenants asked for, the newest first."""
    before = parts_of(cursor, UUID)[0] if cursor else None
    found = await asked.drive(
        budget_requests.requests(status=status, before=before, most=limit, schema=asked.schema)
    )
    items = [BudgetRequest.model_validate(one) for one in found]
    return Page(items=items, next=cursor_of(items[-1].id) if len(items) == limit else None)


@router.post("/budgets/{budget}/requests", status_code=201)
async def request_budget(
    budget: Name,
    body: NewBudgetRequest,
    asked: Annotated[Asked, Depends(may(Action.BUDGETS_REQUEST))],
    tenant: Tenant = None,
) -> BudgetRequest:
    """Ask the platform for another limit of a budget of one's own. 409 where one is asked for already."""
    made = await asked.drive(
        budget_requests.ask(
            budget, body.limit, body.reason, until=body.until, tenant=tenant, schema=asked.schema
        )
    )
    return BudgetRequest.model_validate(made)


@router.post(ONE + "/grant")
async def grant_budget_request(
    request_id: UUID,
    asked: Annotated[Asked, Depends(may(Action.BUDGETS_WRITE))],
    body: BudgetAnswer | None = None,
) -> BudgetRequest:
    """Grant a request, which changes the budget as it asks. 409 where it was decided before."""
    return await _decided(asked, request_id, True, body)


@router.post(ONE + "/decline")
async def decline_budget_request(
    request_id: UUID, asked: Annotated[Asked, Depends(may(Action.BUDGETS_WRITE))], body: BudgetRefusal
) -> BudgetRequest:
    """Decline a request, with an answer that the tenant reads. 409 where it was decided before."""
    return await _decided(asked, request_id, False, body)


async def _decided(
    asked: Asked, id: UUID, grant: bool, body: BudgetAnswer | BudgetRefusal | None
) -> BudgetRequest:
    answer = None if body is None else body.answer
    flow = budget_requests.decide(id, grant=grant, answer=answer, schema=asked.schema)
    return BudgetRequest.model_validate(await asked.drive(flow))
