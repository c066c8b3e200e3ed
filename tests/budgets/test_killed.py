"""Parallel calls on worker processes, some killed between call and settle: never above the limit, nothing booked twice,
levels and alerts right, and the next month begins empty."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection
from psycopg.sql import SQL, Identifier

from postmill.bind import drive
from postmill.domain.registry import Registry
from postmill.operate import budgets, commands
from tests.budgets import jobs
from tests.budgets.support import EVERYTHING_RUNS, ledger_agrees, make, standing
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.fleet import Fleet, fleet

COST = Decimal("0.09")

# A witness that sees every balance, also those that are gone in a moment.
WITNESS = """
create table called (reservation uuid, job uuid, cost numeric);
create table overrun (seq bigint, used numeric);
create function witness() returns trigger language plpgsql as $$
begin
    insert into public.overrun select new.seq, new.spent + new.reserved
     where new.spent + new.reserved > (select p.limit_amount from postmill.budget_period p
                                        where (p.budget_id, p.starts_at) = (new.budget_id, new.starts_at));
    return null;
end $$;
create trigger witness after insert on postmill.budget_balance for each row execute function witness()
"""


@pytest.fixture
def workers(database: Database, tmp_path: Path) -> Iterator[Fleet]:
    with fleet(database.dsn, tmp_path / "workers.log") as made:
        yield made


def prepared(pg: Connection[Any], spent: str) -> None:
    pg.execute(WITNESS.encode())
    drive(pg, commands.register(Registry.collect(jobs.call)))
    make(pg, levels=EVERYTHING_RUNS)
    if Decimal(spent):
        drive(pg, budgets.correct("ai", spent, reason="before this test"))


def calls(pg: Connection[Any], n: int, deaths: int) -> None:
    """So many calls, of which the first ones are the death of their worker."""
    before = calls_made(pg)
    for number in range(n):
        if number == deaths > 0:  # the others must not spend what is left before one of these has called
            eventually(lambda: calls_made(pg) > before, 60)
        payload = json.dumps({"cost": str(COST), "die": number < deaths})
        pg.execute("select postmill.enqueue('call', %s::text::jsonb)", [payload])


def calls_made(pg: Connection[Any]) -> int:
    """Calls that were made."""
    row = pg.execute("select count(*) from called").fetchone()
    assert row is not None
    return int(row[0])


def over(pg: Connection[Any]) -> bool:
    """No job waits or runs, and no reservation is held."""
    row = pg.execute(
        "select (select count(*) from postmill.ready) + (select count(*) from postmill.scheduled)"
        " + (select count(*) from postmill.running)"
        " + (select count(*) from postmill.budget_reservation where ended_at is null)"
    ).fetchone()
    return row == (0,)


def check(pg: Connection[Any], before: Decimal, deaths: int) -> None:
    """What was called is what is booked: each once; at no moment was it more than the limit."""
    assert pg.execute("select * from overrun").fetchall() == []
    ledger_agrees(pg)
    found = standing(pg)
    assert found.spent <= found.limit
    start = [found.starts_at]
    lines = pg.execute(
        "select reservation_id, kind, amount from postmill.budget_line where starts_at = %s and kind <> 'correct'",
        start,
    ).fetchall()
    # A worker may have died with other calls in hand, of which it had made some: those are estimates, too.
    made = {row[0] for row in pg.execute("select reservation from called").fetchall()}
    of_period = {
        row[0]
        for row in pg.execute(
            "select id from postmill.budget_reservation where starts_at = %s", start
        ).fetchall()
    }
    assert {id for id, _, _ in lines} >= made & of_period
    assert len({id for id, _, _ in lines}) == len(lines)
    assert {amount for _, _, amount in lines} == {COST}
    assert found.spent == before + COST * len(lines)
    assert sum(kind == "estimate" for _, kind, _ in lines) >= (deaths > 0)
    assert found.limit - found.spent < COST  # and what could be spent was
    row = pg.execute("select count(*) from postmill.outcome where status = 'succeeded'").fetchone()
    assert row is not None


def run(workers: Fleet, pg: Connection[Any], *, processes: int, n: int, deaths: int, seconds: float) -> None:
    settings = {"POSTMILL_WORKER__LEASE": "1"}
    for _ in range(processes):
        workers.start("--queues", "default=5", module="tests.budgets.jobs", settings=settings)
    workers.ready(pg, processes)
    calls(pg, n, deaths)

    def done() -> bool:
        pg.execute(
            "select postmill.expire_reservations(1000)"
        )  # as the round of upkeep does every few seconds
        return over(pg)

    eventually(done, seconds)


def alerts(pg: Connection[Any]) -> list[tuple[int, bool]]:
    """Thresholds of the present period, and whether an incident is open for each."""
    pg.execute("select postmill.tell_budget_alerts(1000)")
    found = standing(pg)
    rows = pg.execute(
        """select a.percent::int, exists (select from postmill.incident i where i.kind = 'budget' and i.resolved_at is null
                  and i.key = a.budget_id || ':' || %s || ':' || a.percent)
             from postmill.budget_alert a where a.starts_at = %s order by 1""",
        [found.period, found.starts_at],
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


def test_a_worker_dies_between_call_and_settle(workers: Fleet, pg: Connection[Any]) -> None:
    prepared(pg, "4.55")
    run(workers, pg, processes=2, n=30, deaths=1, seconds=60)
    check(pg, Decimal("4.55"), deaths=1)
    assert (standing(pg).spent, standing(pg).level) == (Decimal("5.00"), "HARD_STOP")
    assert alerts(pg) == [(75, True), (80, True), (90, True), (100, True)]


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_two_hundred_calls_on_eight_workers(workers: Fleet, pg: Connection[Any], database: Database) -> None:
    """5.00 with 4.75 spent; then the month changes, and 200 more go on with 5.00."""
    prepared(pg, "4.75")
    run(workers, pg, processes=8, n=200, deaths=2, seconds=300)
    check(pg, Decimal("4.75"), deaths=2)
    assert (standing(pg).spent, standing(pg).level) == (Decimal("4.93"), "QUEUE")
    assert alerts(pg) == [(75, True), (80, True), (90, True)]
    for worker in workers.workers:
        worker.end()
    later_on = SQL("alter database {} set postmill.clock_offset = '32 days'")
    pg.execute(later_on.format(Identifier(database.name)))
    with database.connect() as later:
        assert standing(later).spent == 0
        run(workers, later, processes=8, n=200, deaths=6, seconds=300)
        check(later, Decimal(0), deaths=6)
        assert (standing(later).spent, standing(later).level) == (Decimal("4.95"), "QUEUE")
        assert alerts(later) == [(75, True), (80, True), (90, True)]
        resolved = "select count(*) from postmill.incident where kind = 'budget' and resolved_at is not null"
        assert later.execute(resolved).fetchone() == (3,)
