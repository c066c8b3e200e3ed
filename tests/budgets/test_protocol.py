"""The rules of reserve, settle, release and expire, against the database itself."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from postmill.bind import drive, run
from postmill.client import enqueue
from postmill.domain.job import NewJob
from postmill.domain.lane import DEFAULT_TENANT
from postmill.operate import budgets
from postmill.operate.tenants import create_tenant
from postmill.store.budgets import register_budgets
from postmill.store.spending import start_budget
from tests.budgets.support import (
    EVERYTHING_RUNS,
    drop,
    end,
    expire,
    hold,
    ledger_agrees,
    make,
    reserve,
    shift,
    standing,
    tell,
)  # fmt: skip
from tests.operate.conftest import Bench


def statuses(pg: Connection[Any]) -> list[tuple[str, str]]:
    rows = pg.execute(
        "select kind, trim_scale(amount)::text from postmill.budget_line order by id"
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


@pytest.mark.matrix
def test_each_reservation_counts_once(pg: Connection[Any]) -> None:
    """Whatever is sent again, and whichever answer gets lost: the same reservation, one line."""
    make(pg)
    me = hold(pg)
    id, answer = reserve(pg, me, 0.5)
    assert answer.status == "granted"
    _, again = reserve(pg, me, 0.5, id)
    assert (again.status, standing(pg).reserved) == ("granted", Decimal("0.5"))
    assert [end(pg, me, id, "settle", 0.4, 3).booked for _ in range(3)] == [Decimal("0.4"), 0, 0]
    assert end(pg, me, id, "release").status == "spent"
    assert reserve(pg, me, 0.5, id)[1].status == "ended"
    s = standing(pg)
    assert (s.spent, s.reserved, s.calls, s.tokens_in, s.tokens_out) == (Decimal("0.4"), 0, 1, 3, 6)
    # Freed: nothing is in the ledger.
    id, _ = reserve(pg, me, 0.5)
    assert [end(pg, me, id, "release").status for _ in range(2)] == ["released"] * 2
    # Not mine: another attempt's fence ends nothing, and reserves nothing.
    id, _ = reserve(pg, me, 0.5)
    other = hold(pg)
    assert end(pg, other, id, "settle", 9).status == "unknown"
    drop(pg, other)
    assert reserve(pg, other, 0.1)[1].status == "lost"
    assert reserve(pg, me, 0.1, name="nope")[1].status == "unknown"
    assert statuses(pg) == [("spend", "0.4")]
    ledger_agrees(pg)
    with pytest.raises(psycopg.errors.RestrictViolation, match="append a correcting one"):
        pg.execute("update postmill.budget_line set amount = 0")
    with pg.transaction(force_rollback=True):
        pg.execute("set transaction isolation level repeatable read")
        with pytest.raises(psycopg.errors.RaiseException, match="READ COMMITTED"):
            reserve(pg, me, 0.1)


def test_what_a_dead_worker_held(pg: Connection[Any]) -> None:
    """Booked as an estimate if the call may have been made, freed if it never was; the truth may still come."""
    make(pg)
    dead, alive = hold(pg), hold(pg)
    called, _ = reserve(pg, dead, 0.5)
    planned, _ = reserve(pg, dead, 1, started=False)
    begun, _ = reserve(pg, dead, 0.25, started=False)
    assert run(pg, start_budget(begun, dead.fence)) is True
    kept, _ = reserve(pg, alive, 0.125)
    assert expire(pg) == []
    drop(pg, dead)
    assert run(pg, start_budget(planned, dead.fence)) is False  # too late to call
    assert sorted(expire(pg)) == ["estimated", "estimated", "released"]
    assert expire(pg) == []
    assert (standing(pg).spent, standing(pg).reserved) == (Decimal("0.75"), Decimal("0.125"))
    # The worker outlived its lease, and tells what it was.
    assert end(pg, dead, called, "settle", 0.45, 7).booked == Decimal("-0.05")
    assert end(pg, dead, begun, "release").booked == Decimal("-0.25")
    assert end(pg, dead, planned, "settle", 0.9).booked == Decimal(
        "0.9"
    )  # it was freed, and spent all the same
    assert [end(pg, dead, id, "settle", 3).booked for id in (called, planned)] == [0, 0]
    assert statuses(pg) == [
        ("estimate", "0.5"), ("estimate", "0.25"), ("adjust", "-0.05"), ("adjust", "-0.25"), ("spend", "0.9"),
    ]  # fmt: skip
    end(pg, alive, kept, "settle")  # no amount: what was reserved
    assert standing(pg).spent == Decimal("1.475")
    ledger_agrees(pg)


def test_a_month_changes(pg: Connection[Any]) -> None:
    """What was reserved before counts there; the new month is empty, alerts are told anew, the old ones are over."""
    make(pg, levels=EVERYTHING_RUNS)
    now = pg.execute("select postmill.now()").fetchone()
    assert now is not None
    to_the_20th = (datetime(2027, 1, 20, 12, tzinfo=UTC) - now[0]).total_seconds() / 86400
    shift(pg, to_the_20th)
    me = hold(pg)
    assert tell(pg) == []
    end(pg, me, reserve(pg, me, 3.75)[0], "settle", 3.75)
    assert tell(pg) == [("raised", 75)]
    end(pg, me, reserve(pg, me, 0.75)[0], "settle", 0.75)
    assert tell(pg) == [("raised", 80), ("raised", 90)]
    assert tell(pg) == []
    assert (standing(pg).period, standing(pg).level) == ("2027-01", "QUEUE")
    over, _ = reserve(pg, me, 0.5)
    assert standing(pg).level == "HARD_STOP"
    shift(pg, to_the_20th + 12)
    new = standing(pg)
    assert (new.period, new.level, new.used, new.limit) == ("2027-02", "NORMAL", 0, 5)
    assert new.starts_at.astimezone(UTC) == datetime(2027, 2, 1, tzinfo=UTC)
    assert sorted(tell(pg)) == [("resolved", 75), ("resolved", 80), ("resolved", 90)]
    end(pg, me, over, "settle", 0.5)
    assert tell(pg) == []  # nobody is told of 100 % of a month that is over
    end(pg, me, reserve(pg, me, 4)[0], "settle", 4)
    assert tell(pg) == [("raised", 75), ("raised", 80)]
    past = drive(pg, budgets.history("ai"))
    assert [(p.period, p.spent, len(p.alerts)) for p in past] == [("2027-02", 4, 2), ("2027-01", 5, 3)]
    open_now = "select key, severity from postmill.incident where kind = 'budget' and resolved_at is null order by key"
    rows = pg.execute(open_now).fetchall()
    assert [(row[0][36:], row[1]) for row in rows] == [(":2027-02:75", "info"), (":2027-02:80", "info")]
    # Thirteen months later all of it is history, and swept.
    assert [p.period for p in drive(pg, budgets.history("ai", months=1))] == ["2027-02"]
    shift(pg, to_the_20th + 12 + 450)
    tell(pg)
    pg.execute("select postmill.sweep_budgets(1000)")
    left = pg.execute(
        "select (select count(*) from postmill.budget_line), (select count(*) from postmill.budget_period),"
        " (select count(*) from postmill.budget_balance), (select count(*) from postmill.budget_reservation),"
        " (select count(*) from postmill.budget_alert)"
    ).fetchone()
    assert left == (0, 0, 0, 0, 0)


def test_days_follow_the_wall_clock(pg: Connection[Any]) -> None:
    """Periods join without a gap and without overlap through changes of the clock, of the zone and of the period."""
    window = "select starts_at, ends_at, label from postmill.read_budget_window(%s, %s, %s)"
    for period, zone, at, hours, label in (
        ("day", "Europe/Berlin", "2027-03-28 12:00+00", 23, "2027-03-28"),
        ("day", "Europe/Berlin", "2027-10-31 00:30+00", 25, "2027-10-31"),
        ("day", "America/Havana", "2026-11-01 04:30+00", 25, "2026-10-31"),  # its midnight comes twice
        ("day", "America/Havana", "2026-11-01 05:30+00", 24, "2026-11-01"),
        ("month", "Asia/Kolkata", "2027-01-31 18:29+00", 744, "2027-01"),
        ("month", "Asia/Kolkata", "2027-01-31 18:30+00", 672, "2027-02"),
    ):
        row = pg.execute(window, [period, zone, at]).fetchone()
        assert row is not None
        length = (row[1] - row[0]).total_seconds() / 3600
        assert (row[2], length) == (label, hours or length)
        assert row[0] <= datetime.fromisoformat(at) < row[1]
        after = pg.execute(window, [period, zone, row[1]]).fetchone()
        assert after is not None
        assert after[0] == row[1]
    make(pg, period="day", timezone="Pacific/Kiritimati")
    me = hold(pg)
    end(pg, me, reserve(pg, me, 1)[0], "settle", 1)
    first = standing(pg)
    make(pg, period="month", timezone="Pacific/Niue")  # 25 hours behind
    assert standing(pg).ends_at == first.ends_at  # the present period goes on to its end
    assert standing(pg).spent == 1
    shift(pg, 1.0)
    later = standing(pg)
    assert later.starts_at == first.ends_at
    assert len(later.period) == 7
    assert later.spent == 0


def test_a_limit_changes(pg: Connection[Any]) -> None:
    """At once, audited; a period's own stays; thresholds are told again only where the limit was raised after them."""
    ai = make(pg, levels=EVERYTHING_RUNS)
    me = hold(pg)
    end(pg, me, reserve(pg, me, 4.75)[0], "settle", 4.75)
    assert tell(pg) == [("raised", 75), ("raised", 80), ("raised", 90)]
    make(pg, limit=4)  # lowered below what is spent
    assert standing(pg).level == "HARD_STOP"
    assert tell(pg) == [("raised", 100)]
    assert reserve(pg, me, 0.01)[1].status == "stopped"
    make(pg, limit=10)
    assert sorted(tell(pg)) == [("resolved", 75), ("resolved", 80), ("resolved", 90), ("resolved", 100)]
    assert standing(pg).level == "NORMAL"
    end(pg, me, reserve(pg, me, 3)[0], "settle", 3)
    assert tell(pg) == [("raised", 75)]
    present = standing(pg).period
    drive(pg, budgets.limit_period("ai", present, 7.5))
    make(pg, limit=1000)
    assert (standing(pg).limit, drive(pg, budgets.budget("ai")).limit) == (Decimal("7.5"), 1000)
    shift(pg, 40)
    assert standing(pg).limit == 1000
    shift(pg, 0)
    rows = pg.execute(
        """select action, before ->> 'limit_amount', after ->> 'limit_amount'
             from postmill.audit_log where target = 'ai' order by id"""
    ).fetchall()
    limits = [row for row in rows if row[0] != "budgets.correct"]
    assert limits[0] == ("budgets.set", None, "5")
    assert limits[1:] == [
        ("budgets.set", "5", "4"), ("budgets.set", "4", "10"), ("budgets.limit", "10", "7.5"), ("budgets.set", "10", "1000"),
    ]  # fmt: skip
    assert ai.id == standing(pg).id
    ledger_agrees(pg)


def test_a_tenants_budget_is_under_the_platforms(pg: Connection[Any]) -> None:
    """A spend must fit both; what one tenant may not is nothing to others."""
    bakery = drive(pg, create_tenant("bakery", timezone="Asia/Tokyo")).id
    make(pg, limit=5)
    make(pg, tenant="bakery", limit=1, levels=EVERYTHING_RUNS)
    mine, others = hold(pg, bakery), hold(pg)
    id, answer = reserve(pg, mine, 0.9)
    assert (answer.status, answer.standing and answer.standing.tenant_id) == ("granted", bakery)
    assert reserve(pg, mine, 0.2)[1].status == "deferred"
    assert reserve(pg, others, 0.2)[1].status == "granted"
    end(pg, mine, id, "settle", 0.9)
    assert (standing(pg).spent, standing(pg, tenant=bakery).spent) == (Decimal("0.9"), Decimal("0.9"))
    assert standing(pg, tenant=bakery).starts_at.astimezone(UTC).hour == 15  # midnight in Tokyo
    shares = drive(pg, budgets.breakdown(standing(pg).id, "tenant"))
    assert [(share.key, share.amount) for share in shares] == [("bakery", Decimal("0.9"))]
    assert [s.key for s in drive(pg, budgets.breakdown(standing(pg).id, "actor"))] == ["user:ada"]
    of_bakery = "select count(*) from postmill.budget_line where job_type = 'tag' and tenant_id = %s"
    assert pg.execute(of_bakery, [bakery]).fetchone() == (2,)
    ledger_agrees(pg)


def test_a_budget_that_only_warns(pg: Connection[Any]) -> None:
    make(pg, limit=1, levels={"queue": {"action": "run"}, "hard_stop": {"action": "run"}})
    me = hold(pg)
    for _ in range(3):
        end(pg, me, reserve(pg, me, 2)[0], "settle", 2)
    assert (standing(pg).spent, standing(pg).level) == (6, "HARD_STOP")
    assert [percent for _, percent in tell(pg)] == [75, 80, 90, 100]


def test_settings_declare_and_operators_change(pg: Connection[Any]) -> None:
    """What the settings say anew counts; what an operator changed since stays."""
    declared = {"name": "ai", "tenant": None, "limit_amount": "5", "unit": "USD"}
    assert run(pg, register_budgets([declared])) == [("ai", "created")]
    make(pg, limit=9)
    assert run(pg, register_budgets([declared])) == [("ai", "kept")]
    assert standing(pg).limit == 9
    assert run(pg, register_budgets([declared | {"level_action": ["run"] * 4}])) == [("ai", "changed")]
    assert (standing(pg).limit, drive(pg, budgets.budget("ai")).levels["queue"]["action"]) == (9, "run")
    assert run(pg, register_budgets([declared | {"limit_amount": "6"}])) == [("ai", "changed")]
    assert standing(pg).limit == 6
    assert run(pg, register_budgets([declared | {"tenant": "nobody"}])) == [("ai", "unknown_tenant")]
    who = pg.execute(
        "select distinct actor_type, actor_id from postmill.audit_log where reason like 'declared%'"
    ).fetchall()
    assert who == [("system", "settings")]


def test_reservations_of_gone_history(pg: Connection[Any]) -> None:
    """A reservation that ended a week ago is forgotten; its line stays."""
    make(pg)
    me = hold(pg)
    id, _ = reserve(pg, me, 1)
    end(pg, me, id, "settle", 1)
    shift(pg, 8)
    pg.execute("select postmill.sweep_budgets(10)")
    assert end(pg, me, id, "settle", 1).status == "unknown"
    shift(pg, 0)
    assert standing(pg).spent == 1


def test_jobs_that_a_budget_ended_are_no_page(pg: Connection[Any]) -> None:
    """One incident for all of them, for the daily digest; over when an operator has dealt with them."""
    bench = Bench(pg)
    pg.execute("""select * from postmill.register_job_types('[{"key": "greet"}]')""")
    for reason in ("budget_exhausted", "budget_exhausted", "permanent_error"):
        id = enqueue(pg, NewJob("greet", b"{}")).id
        claim = bench.claim(id)
        pg.execute(
            "select postmill.bury(%s, array[%s::uuid], array[%s::bigint], array[%s::uuid], array[5000::bigint],"
            " array['failed'], array[%s], array[%s])",
            [bench.holder, id, claim, DEFAULT_TENANT, reason, f"Of{reason}"],
        )
    pg.execute("select postmill.watch()")
    found = (
        "select kind, severity::text, jobs::int from postmill.incident where resolved_at is null order by 1"
    )
    assert pg.execute(found).fetchall() == [("budget", "info", 2), ("job_exhausted", "critical", 1)]
    pg.execute("select postmill.discard_jobs(array(select id from postmill.dead_letter), 'next month')")
    pg.execute("select postmill.watch()")
    assert pg.execute(found).fetchall() == []
