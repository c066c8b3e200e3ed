"""Somebody's long transaction pins the vacuum horizon, so every ticket that ever was stays in the tables and indexes
as a dead row. Counted in pages touched, not in seconds: a claim, a report and a renewal cost the same at the end of many
thousand jobs as at the beginning, for a claim begins at its cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from postmill.local.server import LocalServer
from tests.support import sessions
from tests.support.invariants import invariants
from tests.support.plans import traced
from tests.support.sessions import DEFAULT_TENANT, Held, WorkerSession

BATCH = 500
LANE = ("default", DEFAULT_TENANT, 100)


class Pinned:
    """One worker session and many jobs, beside the transaction that pins the horizon since before they came."""

    def __init__(self, dsn: str, jobs: int) -> None:
        self.conn: Connection[Any] = psycopg.connect(dsn, autocommit=True)
        self.conn.execute("set synchronous_commit = off")
        self.conn.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
        self.worker = WorkerSession(self.conn, lease=600)
        self.pin: Connection[Any] = psycopg.connect(dsn)
        self.pin.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self.pin.execute("select count(*) from postmill.ready")
        for _ in range(jobs // BATCH):
            self.conn.execute(
                """select count(*) from postmill.enqueue_many(array_fill('plain'::text, array[%(n)s]),
                       array_fill('{}'::jsonb, array[%(n)s]))""",
                {"n": BATCH},
            )
        self.cursor: Any = None

    def claim(self, n: int = BATCH) -> list[Held]:
        held = self.worker.claim(n, lanes=[LANE], start=self.cursor)
        self.cursor = held[-1].ready_at if held else self.cursor
        return held

    def turn(self) -> None:
        held = self.claim()
        assert len(held) == BATCH
        assert not sessions.complete(self.conn, held)
        assert self.worker.renew()

    def measured_turn(self) -> list[int]:
        """Pages touched by a claim, a report and a renewal."""
        held: list[Held] = []
        return [
            self.pages(lambda: held.extend(self.claim())),
            self.pages(lambda: sessions.complete(self.conn, held)),
            self.pages(self.worker.renew),
        ]

    def pages(self, do: Callable[[], object]) -> int:
        with traced(self.conn) as plans:
            do()
        return plans.buffers

    def close(self) -> None:
        self.pin.close()
        self.conn.close()


@pytest.fixture
def pinned(own_cluster: LocalServer, request: pytest.FixtureRequest) -> Iterator[Pinned]:
    made = Pinned(own_cluster.dsn(), request.param)
    yield made
    made.close()


def _most(turns: list[list[int]]) -> list[int]:
    return [max(pages) for pages in zip(*turns, strict=True)]


SIZES = [pytest.param(40_000, id="40k"), pytest.param(500_000, id="500k", marks=pytest.mark.long)]


@pytest.mark.parametrize("pinned", SIZES, indirect=True)
@pytest.mark.timeout(600)
def test_claims_reports_and_renewals_stay_flat(pinned: Pinned) -> None:
    for _ in range(8):
        pinned.turn()  # plpgsql has settled on its plans
    early = [pinned.measured_turn() for _ in range(3)]
    left = sessions.one(pinned.conn, "select count(*) from postmill.ready") // BATCH
    for _ in range(left - 4):
        pinned.turn()
    late = [pinned.measured_turn() for _ in range(3)]
    for what, before, after in zip(("claim", "report"), _most(early), _most(late), strict=False):
        assert after <= 1.2 * before + 50, (what, early, late)
    # A renewal updates two rows in place: their own old versions, one for each renewal so far, are all that it meets.
    assert _most(late)[2] <= _most(early)[2] + 2 * left, (early, late)

    # The dead are really there: without its cursor a claim walks over all of them.
    cursor, pinned.cursor = pinned.cursor, None
    from_the_head = pinned.pages(lambda: pinned.claim(50))
    pinned.cursor = cursor
    assert from_the_head > pinned.pages(lambda: pinned.claim(50)) + 150
    invariants(pinned.conn)
