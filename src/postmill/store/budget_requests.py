"""What tenants ask of the platform for their budgets, what was spent step by step, and what waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from postmill.domain.budget import plain
from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class BudgetRequest:
    """Another limit that a tenant asks for, for good or until a moment. status: open | granted | declined."""

    id: UUID
    budget_id: UUID
    budget: str
    unit: str
    tenant_id: UUID
    tenant_slug: str
    limit: Decimal
    until: datetime | None
    reason: str
    actor_type: str
    actor_id: str | None
    created_at: datetime
    status: str
    decided_at: datetime | None
    decided_by: str | None
    answer: str | None


@dataclass(frozen=True, slots=True)
class LimitView:
    """A limit that is no money: of a tenant or a job type.

    Attributes:
        what: tenant | job type.
        used, limit: now, in `unit`.
        workers: where the limit is one of each worker: those that are live; None to a tenant, and where it is not.
    """

    what: str
    name: str
    unit: str
    used: float
    limit: float
    workers: int | None


def read_requests(
    *,
    budget: UUID | None = None,
    status: str | None = None,
    before: UUID | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[BudgetRequest]]:
    """Requests in scope, the newest first."""
    return Statement(
        "read_requests",
        sql("budgets/read_requests", schema),
        (budget, status, before, most),
        lambda rows: [_request(row) for row in rows],
    )


def request_budget(
    id: UUID,
    limit: Decimal,
    until: datetime | None,
    reason: str,
    *,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[tuple[UUID | None, str]]:
    """Asks for another limit: the request's id, and requested | unknown | open | past."""
    args = (id, plain(limit), until, reason, actor_type, actor_id)
    return Statement(
        "request_budget", sql("budgets/request_budget", schema), args, lambda rows: (rows[0][0], rows[0][1])
    )


def decide_request(
    id: UUID,
    grant: bool,
    answer: str | None,
    *,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[str]:
    """Says what becomes of a request: decided | unknown | over."""
    args = (id, grant, answer, actor_type, actor_id)
    return Statement(
        "decide_request", sql("budgets/decide_request", schema), args, lambda rows: str(rows[0][0])
    )


def read_burn(
    id: UUID, period: str | None, seconds: float, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[tuple[datetime, Decimal]]]:
    """What was spent in a period, in steps of so many seconds from its beginning on; steps without any are left out."""
    return Statement(
        "read_burn",
        sql("budgets/read_burn", schema),
        (id, period, seconds),
        lambda rows: [(row[0], Decimal(row[1])) for row in rows],
    )


def read_waiting(
    id: UUID, most: int = 10_000, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[tuple[str, int]]]:
    """Jobs that wait and are of types under a budget, by type; so many tickets are looked at."""
    return Statement(
        "read_waiting",
        sql("budgets/read_waiting", schema),
        (id, most),
        lambda rows: [(row[0], row[1]) for row in rows],
    )


def read_limits(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[LimitView]]:
    """Limits that are no money, and what is used of them now."""
    return Statement(
        "read_limits",
        sql("budgets/read_limits", schema),
        (),
        lambda rows: [LimitView(*row) for row in rows],
    )


def _request(row: Sequence[Any]) -> BudgetRequest:
    values = [*row]
    values[6] = Decimal(row[6])
    return BudgetRequest(*values)
