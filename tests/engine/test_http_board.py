"""Who is called when there is work for HTTP workers of one kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from postmill.domain.lane import NO_LANE
from postmill.engine.http_work.bell import Bell
from postmill.engine.http_work.board import Board, Waiter
from postmill.store.statement import Statement
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters

TENANT = UUID(int=7)


def board(waiters: int, tenant: UUID | None = None) -> tuple[Board, list[Waiter]]:
    made = Board(tenant, "postmill")
    made.serve(["q"])
    every = [Waiter() for _ in range(waiters)]
    for waiter in every:
        made.add(waiter)
        looks(made, waiter)
    return made, every


def looks(made: Board, waiter: Waiter) -> None:
    waiter.tried = made.rings
    waiter.call.clear()


def called(waiters: list[Waiter]) -> list[bool]:
    return [waiter.call.is_set() for waiter in waiters]


def test_a_ring_calls_one_and_the_next_if_that_one_took_nothing() -> None:
    made, waiters = board(3)
    made.rung("q", TENANT.bytes, 100)
    assert called(waiters) == [True, False, False]
    for n, expected in enumerate(([False, True, False], [False, False, True], [False, False, False])):
        looks(made, waiters[n])
        made.call_next()
        assert called(waiters) == expected
    # Everybody has looked: it ends there.
    made.call_next()
    assert called(waiters) == [False] * 3


def test_a_ring_by_name_for_those_who_know_a_type_is_heard() -> None:
    made, waiters = board(1)
    bell = Bell(None, "postmill", lambda: [made], Bus(), Counters("w"))
    for payload, heard in (
        ("@0198f3a2-7c11-7abc-8000-0123456789ab q", False),
        ("@* other", False),
        ("@* q", True),
    ):
        bell.heard(payload)
        assert called(waiters) == [heard], payload


def test_two_rings_call_two() -> None:
    made, waiters = board(3)
    for _ in range(2):
        made.rung("q", TENANT.bytes, 100)
    assert called(waiters) == [True, True, False]


def test_who_goes_without_an_answer_passes_the_call_on() -> None:
    made, waiters = board(2)
    made.rung("q", TENANT.bytes, 100)
    made.remove(waiters[0])
    assert called(waiters[1:]) == [True]


def test_what_is_left_over_calls_the_next() -> None:
    made, waiters = board(2)
    made._lanes["q"].news(TENANT.bytes, 100, discovered=True)
    made.left_over()
    made.remove(waiters[0])
    assert called(waiters[1:]) == [True]


def test_other_queues_ring_nobody() -> None:
    made, waiters = board(1)
    made.rung("another", TENANT.bytes, 100)
    assert called(waiters) == [False]


class Database:
    """What a board asks: how many times it looked for lanes, and which lanes it asked for jobs."""

    def __init__(self, made: Board) -> None:
        self.board = made
        self.looks = 0
        self.asked: list[UUID] = []
        self.meanwhile: Callable[[], None] | None = None

    async def run(self, statement: Statement[Any]) -> Any:
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        if statement.name == "work_lanes":
            self.looks += 1
        else:
            self.asked += statement.args[5]
        return []

    async def claim(self, since: float = 0.0) -> None:
        await self.board.claim(self.run, UUID(int=1), 1, 60.0, ["t"], since)


async def test_a_ring_during_a_claim_is_heard_by_the_next() -> None:
    """That claim's look may have been before; a lane that it found empty must not stay closed."""
    made, _ = board(1)
    database = Database(made)
    made.rung("q", TENANT.bytes, 100)
    database.meanwhile = lambda: made.rung("q", TENANT.bytes, 100)
    await database.claim()
    assert database.asked == [TENANT]
    await database.claim()
    assert database.asked == [TENANT] * 2
    await database.claim()
    assert database.asked == [TENANT] * 2
    # The same with one that does not say where.
    looks = database.looks
    made.rung("q", None, None)
    database.meanwhile = lambda: made.rung("q", None, None)
    await database.claim()
    assert database.looks == looks + 1
    await database.claim()
    assert database.looks == looks + 2


async def test_a_lane_of_who_knows_whom_is_for_the_database_to_judge() -> None:
    """A tenant's worker does not ask in lanes of others; in its own, and in that of no lane, it does at once."""
    made, _ = board(0, TENANT)
    database = Database(made)
    await database.claim()
    assert database.looks == 1
    made.rung("q", UUID(int=8).bytes, 100)
    await database.claim()
    assert (database.looks, database.asked) == (2, [])
    for lane in (TENANT, NO_LANE):
        made.rung("q", lane.bytes, 100)
        await database.claim()
    assert (database.looks, database.asked) == (2, [TENANT, NO_LANE])


def test_the_end_calls_everybody() -> None:
    made, waiters = board(3)
    made.call_all()
    assert called(waiters) == [True] * 3
