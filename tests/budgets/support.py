"""Budgets by hand: attempts that hold jobs, and what the ledger says."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection

from postmill.bind import drive, run
from postmill.domain.budget import Standing
from postmill.domain.lane import DEFAULT_TENANT
from postmill.operate import budgets
from postmill.store.budgets import BudgetView
from postmill.store.spending import (
    Ended,
    Reserved,
    Spender,
    Verb,
    budget_standing,
    end_reservation,
    reserve_budget,
)

EVERYTHING_RUNS = {"queue": {"action": "run", "factor": 0.5}}
"""Levels of a budget that spends up to its very limit."""


def make(pg: Connection[Any], name: str = "ai", **fields: Any) -> BudgetView:
    return drive(pg, budgets.set_budget(name, **{"limit": 5, **fields}))


def hold(pg: Connection[Any], tenant: UUID = DEFAULT_TENANT, job_type: str = "tag") -> Spender:
    """An attempt that holds a job."""
    job, holder = uuid4(), uuid4()
    pg.execute(
        "insert into postmill.running (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at)"
        " values (%s, %s, 1, 'default', %s, 100, 1, 1, 0, postmill.now())",
        [job, holder, tenant],
    )
    return Spender(job, holder, 1, tenant, 1, job_type, "user", "ada")


def drop(pg: Connection[Any], spender: Spender) -> None:
    """The attempt is over, as a rescue ends it."""
    pg.execute("delete from postmill.running where id = %s", [spender.job_id])


def reserve(
    pg: Connection[Any],
    spender: Spender,
    cost: float | str,
    id: UUID | None = None,
    *,
    name: str = "ai",
    started: bool = True,
) -> tuple[UUID, Reserved]:
    id = id or uuid4()
    return id, run(pg, reserve_budget(id, name, Decimal(str(cost)), spender, started=started))


def end(
    pg: Connection[Any], spender: Spender, id: UUID, verb: Verb, cost: float | str | None = None, n: int = 0
) -> Ended:
    amount = None if cost is None else Decimal(str(cost))
    return run(pg, end_reservation(id, spender.fence, verb, amount, n, 2 * n))


def standing(pg: Connection[Any], name: str = "ai", tenant: UUID = DEFAULT_TENANT) -> Standing:
    return run(pg, budget_standing(name, tenant))[0]


def expire(pg: Connection[Any]) -> list[str]:
    rows = pg.execute("select status from postmill.expire_reservations(1000)").fetchall()
    return [row[0] for row in rows]


def tell(pg: Connection[Any]) -> list[tuple[str, int]]:
    """One round of alerts: raised or resolved, and the percent."""
    rows = pg.execute("select status, percent::int from postmill.tell_budget_alerts(1000)").fetchall()
    return [(row[0], row[1]) for row in rows]


def shift(pg: Connection[Any], days: float) -> None:
    """This connection's clock, from now on."""
    pg.execute("select set_config('postmill.clock_offset', %s, false)", [f"{days * 86400} seconds"])


def ledger_agrees(pg: Connection[Any]) -> None:
    """Every period's balance is the sum of its lines, what is held is what is reserved, nothing is there twice."""
    rows = pg.execute(
        """select p.label, coalesce(s.spent, 0), coalesce(s.reserved, 0),
                  (select coalesce(sum(l.amount), 0) from postmill.budget_line l
                    where (l.budget_id, l.starts_at) = (p.budget_id, p.starts_at)),
                  (select coalesce(sum(r.amount), 0) from postmill.budget_reservation r
                    where (r.budget_id, r.starts_at) = (p.budget_id, p.starts_at) and r.state = 'held')
             from postmill.budget_period p
             left join lateral (select * from postmill.budget_balance b
                                 where (b.budget_id, b.starts_at) = (p.budget_id, p.starts_at)
                                 order by b.seq desc limit 1) s on true"""
    ).fetchall()
    for label, spent, reserved, lines, held in rows:
        assert (label, spent, reserved) == (label, lines, held)
