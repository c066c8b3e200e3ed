"""What tenants ask for their budgets, and what the platform answers. Flows, to be run as those of `commands` are; all audited."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from postmill.domain.budget import amount
from postmill.domain.errors import DefinitionConflict, InvalidValue, NotFound
from postmill.operate import budgets
from postmill.store import budget_requests as store
from postmill.store.budget_requests import BudgetRequest
from postmill.store.budgets import BudgetView
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow


def requests(
    *,
    budget: UUID | None = None,
    status: str | None = None,
    before: UUID | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[BudgetRequest]]:
    """Requests in scope, the newest first; `before`: the id of the last one read."""
    found: list[BudgetRequest] = yield store.read_requests(
        budget=budget, status=status, before=before, most=most, schema=schema
    )
    return found


def request(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[BudgetRequest]:
    """One request. Raises NotFound."""
    found: list[BudgetRequest] = yield store.read_requests(before=UUID(int=id.int + 1), most=1, schema=schema)
    if not found or found[0].id != id:
        raise NotFound(f"there is no request {id}")
    return found[0]


def ask(
    name: str | UUID,
    limit: object,
    reason: str,
    *,
    until: datetime | None = None,
    tenant: str | UUID | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[BudgetRequest]:
    """Asks for another limit of a tenant's own budget, for good or until a moment within its present period.

    Raises:
        InvalidValue: no such limit, no reason, or a moment that is over or after the period.
        NotFound: there is no such budget of a tenant in scope.
        DefinitionConflict: one is asked for already.
    """
    cost, why = amount(limit, "limit"), _reason(reason)
    found = yield from budgets.budget(name, tenant=tenant, schema=schema)
    _within(found, until)
    id, status = yield store.request_budget(found.id, cost, until, why, actor_id=actor_id, schema=schema)
    if status == "unknown":
        raise NotFound(f"the budget {found.name!r} is the platform's: nobody asks for that")
    if status == "open":
        raise DefinitionConflict(f"another limit of {found.name!r} is asked for already; wait for the answer")
    if status == "past":
        raise InvalidValue("until: is over")
    return (yield from request(id, schema=schema))


def decide(
    id: UUID,
    *,
    grant: bool,
    answer: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[BudgetRequest]:
    """Grants a request, which changes the budget as it asks, or declines it.

    Args:
        answer: for the tenant to read; required to decline.

    Raises:
        NotFound: there is no such request, or only the platform may.
        DefinitionConflict: it was decided before.
        InvalidValue: no answer; or what it asks for is over by now.
    """
    if not grant and not (answer or "").strip():
        raise InvalidValue("answer: say why it is declined")
    said = None if answer is None else budgets.checked_reason(answer.strip() or None)
    asked = yield from request(id, schema=schema)
    status = yield store.decide_request(id, grant, said, actor_id=actor_id, schema=schema)
    if status == "unknown":
        raise NotFound(f"there is no request {id} that may be decided from here")
    if status == "over":
        raise DefinitionConflict(f"the request was {asked.status} before")
    if grant:
        yield from change(
            asked.budget_id,
            asked.limit,
            reason=asked.reason,
            until=asked.until,
            actor_id=actor_id,
            schema=schema,
        )
    return (yield from request(id, schema=schema))


def change(
    name: str | UUID,
    limit: object,
    *,
    reason: str | None,
    until: datetime | None = None,
    tenant: str | UUID | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[BudgetView]:
    """Another limit: for good, or until a moment within the present period, after which it is what it was.

    Raises:
        InvalidValue: no such limit, or a moment that is over or after the period.
        NotFound: there is no such budget.
    """
    found = yield from budgets.budget(name, tenant=tenant, schema=schema)
    if until is None:
        changed: BudgetView = yield from budgets.set_budget(
            found.name,
            tenant=found.tenant_id,
            mode="change",
            reason=reason,
            actor_id=actor_id,
            schema=schema,
            limit=limit,
        )
        return changed
    _within(found, until)
    return (
        yield from budgets.limit_period(
            found.id,
            found.standing.period,
            limit,
            until=until,
            reason=reason,
            actor_id=actor_id,
            schema=schema,
        )
    )


def _within(found: BudgetView, until: datetime | None) -> None:
    if until is not None and until.utcoffset() is None:
        raise InvalidValue("until: needs a time zone, as in 2026-11-28T09:00:00Z")
    if until is not None and until > found.standing.ends_at:
        raise InvalidValue(
            f"until: is after the end of the period {found.standing.period}, with which such a limit ends anyway"
        )


def _reason(reason: str) -> str:
    checked = budgets.checked_reason(reason)
    if not checked or not checked.strip():
        raise InvalidValue("reason: say what it is for")
    return checked.strip()
