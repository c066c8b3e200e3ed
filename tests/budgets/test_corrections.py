"""What an operator's correction does to thresholds, and the functions of SQL that correct and limit by name."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from psycopg import Connection

from postmill.bind import drive
from postmill.operate import budgets
from postmill.operate.tenants import create_tenant
from tests.budgets.support import (
    EVERYTHING_RUNS,
    drop,
    end,
    expire,
    hold,
    ledger_agrees,
    make,
    reserve,
    standing,
    tell,
)


def test_a_correction_lowers(pg: Connection[Any]) -> None:
    """What it comes below is over and counts anew; what a call has cost less, and a correction that is too small, lower none."""
    make(pg, limit=10, levels=EVERYTHING_RUNS)
    me = hold(pg)
    end(pg, me, reserve(pg, me, 8.5)[0], "settle", 8.5)
    assert tell(pg) == [("raised", 75), ("raised", 80)]
    drive(pg, budgets.correct("ai", "-0.75", reason="booked twice"))
    assert tell(pg) == [("resolved", 80)]
    drive(pg, budgets.correct("ai", "-0.20", reason="once more"))
    assert tell(pg) == []
    # Below 75 % and up again before anybody was told of the end: both are told, in their order.
    drive(pg, budgets.correct("ai", "-0.55", reason="found out"))
    end(pg, me, reserve(pg, me, 1)[0], "settle", 1)
    assert tell(pg) == [("resolved", 75), ("raised", 75), ("raised", 80)]
    assert tell(pg) == []
    # An estimate that turns out to be too high hovers about the threshold: once is enough.
    dead = hold(pg)
    late, _ = reserve(pg, dead, 1)
    drop(pg, dead)
    expire(pg)
    assert tell(pg) == [("raised", 90)]
    end(pg, dead, late, "settle", 0.9)
    assert tell(pg) == []
    end(pg, me, reserve(pg, me, 0.25)[0], "settle", 0.25)
    assert tell(pg) == []
    open_now = "select right(key, 3), severity from postmill.incident where kind = 'budget' and resolved_at is null order by 1"
    assert pg.execute(open_now).fetchall() == [(":75", "info"), (":80", "info"), (":90", "warning")]
    ledger_agrees(pg)


def test_by_name_in_sql(pg: Connection[Any]) -> None:
    """A limit and a correction of the platform's or a tenant's budget, audited under the name that is given."""
    bakery = drive(pg, create_tenant("bakery")).id
    make(pg, limit=5)
    make(pg, tenant="bakery", limit=1)
    present = standing(pg).period

    def told(call: str, *values: object) -> object:
        row = pg.execute(f"select postmill.{call}".encode(), values).fetchone()
        assert row is not None
        return row[0]

    assert (
        told("correct_budget('AI', 2, 'missing', p_actor_type => 'user', p_actor_id => 'ada')") == "corrected"
    )
    assert told("correct_budget('ai', -3, 'too much', %s, 3, 4)", present) == "below_zero"
    assert told("correct_budget('ai', 1, 'more', %s, 3, 4)", present) == "corrected"
    assert told("correct_budget('ai', 1, 'long ago', '2001-01')") == "no_period"
    assert told("correct_budget('nope', 1, 'r')") == told("limit_budget('nope', 1, 'r')") == "unknown"
    assert told("limit_budget('ai', 9, 'r')") == "changed"
    assert told("limit_budget('ai', 9, 'r', %s)", present) == "unchanged"
    assert told("limit_budget('ai', 7, 'r', p_tenant => %s)", bakery) == "changed"
    found, own = standing(pg), drive(pg, budgets.budget("ai", tenant="bakery")).standing
    assert (found.limit, found.spent, found.tokens_in, found.tokens_out) == (Decimal(9), Decimal(3), 3, 4)
    assert (own.limit, own.spent) == (Decimal(7), Decimal(0))
    who = pg.execute(
        "select actor_id, reason from postmill.audit_log where action = 'budgets.correct' order by id"
    )
    assert who.fetchall()[0] == ("ada", "missing")
