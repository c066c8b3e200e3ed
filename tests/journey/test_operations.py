"""A hundred thousand dead letters of twelve causes: asked about, and one cause replayed while its workers die."""

from __future__ import annotations

import time
from typing import Any

import pytest
from psycopg import Connection

from postmill.bind import drive
from postmill.domain.letters import LetterFilter
from postmill.domain.pace import Pace
from postmill.operate import operations
from tests.journey.conftest import Journey
from tests.support.eventually import eventually
from tests.support.letters import seed_letters

EMBED = "select count(*) from postmill.audit_log where action = 'dead.replay'"


def statistics_seconds(conn: Connection[Any]) -> float:
    """The median of nine."""
    taken = []
    for _ in range(9):
        began = time.perf_counter()
        drive(conn, operations.statistics())
        taken.append(time.perf_counter() - began)
    return sorted(taken)[4]


def replay_one_cause(journey: Journey, many: int, rate: float, *, twice: bool) -> dict[str, float]:
    """Killed, paused, resumed: exactly the letters of the cause, each once, and at no more than the rate."""
    conn = journey.conn
    seed_letters(conn, many)
    conn.execute("select postmill.fold_dead_tally(1)")
    figures = {"statistics": statistics_seconds(conn)}
    chosen = [
        row[0]
        for row in conn.execute("select id from postmill.dead_letter where error_status = 429 order by id")
    ]
    assert len(chosen) == many // 12
    embed = ("--queues", "default=10")
    worker = journey.fleet.start(*embed)
    journey.fleet.ready(conn)
    begun = drive(
        conn, operations.start("replay", LetterFilter(error_status=429), Pace(rate=rate), actor_id="ann")
    )
    assert begun.id is not None
    assert begun.total == len(chosen)
    id = begun.id

    def tried() -> int:
        return drive(conn, operations.operation(id)).tried

    first = time.monotonic()
    eventually(lambda: tried() >= len(chosen) // 5, 600)
    worker.kill()  # in the midst of it
    worker = journey.fleet.start(*embed)
    at_death = tried()
    eventually(lambda: tried() > at_death, 60)
    drive(conn, operations.change(id, "pause", reason="lunch"))
    at_pause = tried()
    if twice:
        worker.kill()
        journey.fleet.start(*embed)
        journey.fleet.ready(conn, 2)
    time.sleep(0.5)
    assert tried() == at_pause
    drive(conn, operations.change(id, "resume"))
    eventually(lambda: drive(conn, operations.operation(id)).status == "finished", 600)
    figures["seconds"] = time.monotonic() - first
    if twice:  # those that the dead held come back with the end of their leases
        eventually(
            lambda: drive(conn, operations.results(id)) == {"succeeded": min(len(chosen), 10_000)}, 600
        )

    found = drive(conn, operations.operation(id))
    assert (found.done, found.skipped, found.failed) == (len(chosen), 0, 0)
    replays = conn.execute(
        "select replayed_from, count(*) from postmill.any_job where replayed_from is not null group by 1 order by 1"
    ).fetchall()
    assert replays == [(one, 1) for one in chosen]
    assert journey.one("select count(*) from postmill.dead_letter") == many - len(chosen)
    assert journey.one(EMBED) == len(chosen)
    per_second = "select max(n) from (select count(*) as n from postmill.operation_item group by date_trunc('second', at)) x"
    figures["most in a second"] = journey.one(per_second)
    assert figures["most in a second"] <= 2 * rate + 1  # what a stop left over, and the second's own
    assert drive(conn, operations.statistics()).open == many - len(chosen)
    return figures


def test_a_bulk_replay_outlives_pauses_and_deaths(journey: Journey) -> None:
    replay_one_cause(journey, 1200, 40.0, twice=False)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_hundred_thousand_dead_letters(journey: Journey, record_property: Any) -> None:
    figures = replay_one_cause(journey, 100_000, 200.0, twice=True)
    for name, value in figures.items():
        record_property(name, value)
    assert figures["statistics"] <= 0.05
