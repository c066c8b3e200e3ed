"""Budgets."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.budgets import (
    Budget,
    BudgetChanges,
    BudgetLine,
    BudgetPeriod,
    BudgetRequest,
    BudgetShare,
    RequestStatus,
    WholeBudget,
)
from postmill.shapes.paging import Page


def list_budgets(
    *, tenant: Id | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[Budget]]:
    """Budgets by name, with where they stand."""
    return get(at("budgets"), model(Page[Budget]), tenant=tenant, limit=limit, cursor=cursor)


def get_budget(budget: Id, *, tenant: Id | None = None) -> Call[Budget]:
    """A budget, by name or id: the tenant's where one is named, else the platform's."""
    return get(at("budgets", budget), model(Budget), tenant=tenant)


def put_budget(
    budget: Id, whole: WholeBudget, *, tenant: Id | None = None, idempotency_key: str | None = None
) -> Call[Budget]:
    """Makes a budget, or writes all of it anew: what is not named is as by default."""
    return write(
        "PUT", at("budgets", budget), model(Budget), whole, key=idempotency_key, query={"tenant": tenant}
    )


def change_budget(
    budget: Id, changes: BudgetChanges, *, tenant: Id | None = None, idempotency_key: str | None = None
) -> Call[Budget]:
    """Changes those fields of a budget that are named. A limit counts at once."""
    return write(
        "PATCH", at("budgets", budget), model(Budget), changes, key=idempotency_key, query={"tenant": tenant}
    )


def list_budget_periods(
    budget: Id, *, tenant: Id | None = None, months: int | None = None
) -> Call[Page[BudgetPeriod]]:
    """The periods of the last months (12 by default), the present one first."""
    return get(at("budgets", budget, "history"), model(Page[BudgetPeriod]), tenant=tenant, months=months)


def break_down_budget(
    budget: Id, *, tenant: Id | None = None, by: str | None = None, period: str | None = None
) -> Call[Page[BudgetShare]]:
    """What a period's money went to, by `job_type` (the default), `tenant` or `actor`, the most first."""
    return get(
        at("budgets", budget, "breakdown"), model(Page[BudgetShare]), tenant=tenant, by=by, period=period
    )


def list_budget_lines(
    budget: Id,
    *,
    tenant: Id | None = None,
    period: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[BudgetLine]]:
    """The ledger's lines of a period, the last first."""
    return get(
        at("budgets", budget, "lines"),
        model(Page[BudgetLine]),
        tenant=tenant,
        period=period,
        limit=limit,
        cursor=cursor,
    )


def correct_budget(
    budget: Id,
    amount: Decimal | float,
    reason: str,
    *,
    period: str | None = None,
    tokens_in: int | None = None,
    tokens_out: int | None = None,
    tenant: Id | None = None,
    idempotency_key: str | None = None,
) -> Call[Budget]:
    """Appends a correcting line to the ledger; below 0 where too much was booked."""
    body = {
        "amount": amount,
        "reason": reason,
        "period": period,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
    }
    path = at("budgets", budget, "lines")
    return write("POST", path, model(Budget), body, key=idempotency_key, query={"tenant": tenant})


def limit_budget_period(
    budget: Id,
    period: str,
    limit: Decimal | float,
    *,
    until: datetime | None = None,
    reason: str | None = None,
    tenant: Id | None = None,
    idempotency_key: str | None = None,
) -> Call[Budget]:
    """Gives one period, the present or a later one, a limit of its own, to its end or until a moment within it."""
    path = at("budgets", budget, "periods", period)
    body = {"limit": limit, "until": until, "reason": reason}
    return write("PATCH", path, model(Budget), body, key=idempotency_key, query={"tenant": tenant})


def list_budget_requests(
    *, status: RequestStatus | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[BudgetRequest]]:
    """What tenants asked for, the newest first."""
    return get(at("budget-requests"), model(Page[BudgetRequest]), status=status, limit=limit, cursor=cursor)


def request_budget(
    budget: Id,
    limit: Decimal | float,
    reason: str,
    *,
    until: datetime | None = None,
    tenant: Id | None = None,
    idempotency_key: str | None = None,
) -> Call[BudgetRequest]:
    """Asks the platform for another limit of a budget of one's own, for good or until a moment of its period."""
    body = {"limit": limit, "until": until, "reason": reason}
    path = at("budgets", budget, "requests")
    return write("POST", path, model(BudgetRequest), body, key=idempotency_key, query={"tenant": tenant})


def grant_budget_request(
    request_id: Id, answer: str | None = None, *, idempotency_key: str | None = None
) -> Call[BudgetRequest]:
    """Grants a request, which changes the budget as it asks."""
    path = at("budget-requests", request_id, "grant")
    return write("POST", path, model(BudgetRequest), {"answer": answer}, key=idempotency_key)


def decline_budget_request(
    request_id: Id, answer: str, *, idempotency_key: str | None = None
) -> Call[BudgetRequest]:
    """Declines a request, with an answer that the tenant reads."""
    path = at("budget-requests", request_id, "decline")
    return write("POST", path, model(BudgetRequest), {"answer": answer}, key=idempotency_key)
