"""No statement of a budget's reads a table from end to end, however much was ever spent; a pinned horizon slows none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psycopg import Connection

from postmill.bind import drive
from postmill.operate import budgets
from postmill.store.catalog import sql
from tests.budgets.support import end, expire, hold, make, reserve, standing, tell
from tests.support.databases import Database
from tests.support.plans import Plans, traced

FILL = """
set synchronous_commit = off;
insert into postmill.budget (name, limit_amount) select 'other-' || n, 5 from generate_series(1, 2000) n;
insert into postmill.budget_period (budget_id, starts_at, ends_at, label, limit_amount)
select b.id, postmill.now() - (m + 1) * interval '30 days', postmill.now() - m * interval '30 days', 'p' || m, 5
  from postmill.budget b cross join generate_series(1, 6) m;
insert into postmill.budget_balance select b.id, p.starts_at, 1, null, 1, 0, 1, 0, 0
  from postmill.budget b join postmill.budget_period p on p.budget_id = b.id;
insert into postmill.budget_line (id, budget_id, starts_at, at, kind, amount, job_type, actor_type, reservation_id)
select postmill.new_id(), b.id, p.starts_at, p.starts_at, 'spend', 0.001, 'tag-' || n % 14, 'system', gen_random_uuid()
  from postmill.budget b join postmill.budget_period p on p.budget_id = b.id cross join generate_series(1, 1500) n
 where b.name = 'ai';
insert into postmill.budget_reservation (id, budget_id, starts_at, tenant_id, amount, started, job_id, holder, claim_no, attempt,
       job_type, actor_type, state, reserved_at, ended_at)
select gen_random_uuid(), b.id, postmill.now(), gen_random_uuid(), 1, true, gen_random_uuid(), gen_random_uuid(), 1, 1, 'tag',
       'system', 'spent', postmill.now(), postmill.now()
  from postmill.budget b cross join generate_series(1, 5000) n where b.name = 'ai';
analyze
"""


def test_no_table_is_read_whole_and_a_pinned_horizon_slows_nothing(
    pg: Connection[Any], database: Database
) -> None:
    make(pg)
    pg.execute(FILL.encode())
    plans_are_lean(pg)
    balances_are_found_at_once(pg, database)


def plans_are_lean(filled: Connection[Any]) -> None:
    me = hold(filled)
    ai = standing(filled).id
    held: list[Any] = []

    def spend() -> None:
        id, _ = reserve(filled, me, 0.001)
        end(filled, me, id, "settle", 0.001)
        held.append(reserve(filled, hold(filled), 0.001))

    acts: dict[str, Callable[[], object]] = {
        "spend": spend,
        "expire": lambda: expire(filled),
        "tell": lambda: tell(filled),
        "history": lambda: drive(filled, budgets.history(ai)),
        "breakdown": lambda: drive(filled, budgets.breakdown(ai)),
        "lines": lambda: drive(filled, budgets.lines(ai)),
        "list": lambda: drive(filled, budgets.budgets(most=50)),
        "sweep": lambda: filled.execute("select postmill.sweep_budgets(100)"),
        "correct": lambda: drive(filled, budgets.correct(ai, 1, reason="r")),
    }
    for name, act in acts.items():
        with traced(filled) as plans:
            act()
        assert (name, large(plans)) == (name, {})


def large(plans: Plans) -> dict[str, int]:
    """Tables with more than a few rows that were read from end to end."""
    return {table: rows for table, rows in plans.sequential().items() if rows > 2500 and table != "running"}


def balances_are_found_at_once(filled: Connection[Any], database: Database) -> None:
    """The last balance is found as quickly after 500 others that no vacuum may take away."""
    me = hold(filled)
    with database.connect() as other:
        other.execute("begin isolation level repeatable read")
        other.execute("select count(*) from postmill.budget")
        looked = []
        for round in range(2):
            for _ in range(125 if round else 1):
                id, _ = reserve(filled, me, 0.001)
                end(filled, me, id, "settle", 0.001)
            with traced(filled) as plans:
                standing(filled)
            looked.append(max(node["Shared Hit Blocks"] for node in plans.scans("budget_balance")))
    assert looked[1] <= looked[0] + 4
    kept = filled.execute(
        """select count(*) from postmill.budget_balance b join postmill.budget_period p using (budget_id, starts_at)
            where p.ends_at > postmill.now()"""
    ).fetchone()
    assert kept is not None
    assert kept[0] <= 21
    filled.execute(sql("upkeep/measure_budgets").encode())
