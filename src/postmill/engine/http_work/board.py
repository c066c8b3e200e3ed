"""What the HTTP workers of one kind (scope, queues and types) share in this process: lanes, turns, and who waits."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import datetime
from itertools import count
from math import inf
from time import monotonic
from typing import Any, TypeVar
from uuid import UUID

from postmill.domain.lane import NO_LANE
from postmill.engine.lanes import Entry, QueueLanes, Room
from postmill.engine.raw import instant, raw_instant
from postmill.store.statement import Statement
from postmill.store.work import Taken, WorkLane, claim_work, work_lanes

T = TypeVar("T")
Run = Callable[[Statement[Any]], Awaitable[Any]]
"""Runs a statement in the transaction of a request."""

_LANES_MOST = 20_000
_WIDEST = 400  # tickets that one claim asks for, however few it may take
_ONCE_MORE = 5  # tries while somebody else holds a limit


class Waiter:
    """One request that waits for work."""

    __slots__ = ("call", "tried")

    def __init__(self) -> None:
        self.call = asyncio.Event()
        self.tried = -1  # the ring that its last look has answered


class Board:
    """Lanes take turns over all requests, as they do in a worker over all claims. `lock` is held during a claim."""

    def __init__(self, tenant: UUID | None, schema: str) -> None:
        self.lock = asyncio.Lock()
        self.queues: frozenset[str] = frozenset()
        self._tenant = None if tenant is None else tenant.bytes
        self._schema = schema
        self._lanes: dict[str, QueueLanes] = {}
        self._priorities: dict[str, int] = {}
        self._turns: dict[str, int] = {}  # of each queue its last one
        self._turn = count(1)
        self._looked_at = -inf
        self._stale = False
        self._news: set[tuple[str, bytes, int]] = set()
        self._waiters: deque[Waiter] = deque()
        self.rings = 0

    @property
    def idle(self) -> bool:
        """Nobody waits or claims."""
        return not self._waiters and not self.lock.locked()

    def serve(self, queues: list[str]) -> None:
        """These are the queues by now."""
        if self.queues != frozenset(queues):
            self.queues = frozenset(queues)
            self._lanes = {name: self._lanes.get(name) or QueueLanes(name) for name in queues}
            self._looked_at = -inf

    def forget(self) -> None:
        """What is known may be wrong: a claim was undone."""
        self._lanes = {name: QueueLanes(name) for name in self.queues}
        self._looked_at = -inf

    def rung(self, queue: str, lane: bytes | None, priority: int | None) -> None:
        """Somebody says that there is work. Heard by the next claim: one that is under way may have looked before."""
        lanes = self._lanes.get(queue)
        if lanes is None:
            return
        own = self._tenant is None or lane in (self._tenant, NO_LANE.bytes) or lane in lanes.lanes
        if lane is not None and priority is not None and own:
            self._news.add((queue, lane, priority))
        else:
            self._stale = True  # whose lane it is, only the database knows
        self.rings += 1
        self.call_next()

    def look_again(self) -> None:
        """A ring may have been missed."""
        self._stale = True
        self.rings += 1
        self.call_next()

    def _hear(self) -> None:
        """What was rung since the last claim began."""
        if self._stale:
            self._stale, self._looked_at = False, -inf
        news, self._news = self._news, set()
        for queue, lane, priority in news:
            lanes = self._lanes.get(queue)
            if lanes is not None:
                lanes.news(lane, priority, discovered=True)

    def call_next(self) -> None:
        """Let one look who has not looked since the last ring; it calls the next one if it leaves something over."""
        for waiter in self._waiters:
            if waiter.tried < self.rings and not waiter.call.is_set():
                waiter.call.set()
                return

    def call_all(self) -> None:
        """Let everybody look."""
        for waiter in self._waiters:
            waiter.call.set()

    def add(self, waiter: Waiter) -> None:
        """It waits from now on, behind the others."""
        self._waiters.append(waiter)

    def remove(self, waiter: Waiter) -> None:
        """It waits no longer; a call that it did not answer goes to the next."""
        self._waiters.remove(waiter)
        if waiter.call.is_set() and waiter.tried < self.rings:
            self.call_next()

    def next_open(self) -> float:
        """Seconds until a lane that waits for a token of its limit may be asked."""
        now = monotonic()
        return max(0.0, min((lanes.next_open(now) for lanes in self._lanes.values()), default=inf) - now)

    def left_over(self) -> None:
        """There is more than was taken."""
        if any(lanes.claimable(monotonic()) for lanes in self._lanes.values()):
            self.rings += 1
            self.call_next()

    async def claim(
        self, run: Run, holder: UUID, most: int, lease: float, types: list[str], since: float
    ) -> list[Taken]:
        """Up to `most` jobs. Looks for lanes where nothing known has work and the last look began before `since`."""
        self._hear()
        jobs: list[Taken] = []
        shut: dict[str, list[int]] = {}
        wanted, tries = most, _ONCE_MORE
        while len(jobs) < most:
            entries = self._plan(wanted, shut)
            if not entries:
                if jobs or self._looked_at >= since:
                    break
                await self._look(run)
                continue
            lines = [
                (
                    e.queue,
                    UUID(bytes=e.lane),
                    e.priority,
                    None if e.start is None else instant(e.start),
                    e.count,
                )
                for e in entries
            ]
            room = most - len(jobs)
            began = monotonic()
            rows: list[Taken] = await run(claim_work(holder, room, lease, types, lines, schema=self._schema))
            taken = [row for row in rows if row.job is not None]
            jobs += taken
            if self._note(entries, rows, len(taken) >= room, monotonic() - began, shut, tries):
                tries -= 1
                await asyncio.sleep(random.uniform(0.001, 0.005))
            wanted = min(_WIDEST, wanted * 4)
        return jobs

    def _plan(self, wanted: int, shut: Room) -> list[Entry]:
        """The lines of the next claim: queues by priority, those of one priority in turns, and in each its lanes."""
        now = monotonic()
        entries: list[Entry] = []
        for name in sorted(
            self._lanes, key=lambda name: (self._priorities.get(name, 100), self._turns.get(name, 0))
        ):
            entries += self._lanes[name].plan(wanted - sum(e.count for e in entries), now, shut)
        return entries

    def _note(
        self,
        entries: list[Entry],
        rows: list[Taken],
        full: bool,
        cost: float,
        shut: dict[str, list[int]],
        tries: int,
    ) -> bool:
        """What the claim says of the lanes. True: somebody else held a limit, and it is worth another try."""
        now = monotonic()
        got = [0] * len(entries)
        last: list[bytes | None] = [None] * len(entries)
        contended = False
        for row in rows:
            entry = entries[row.slot - 1]
            if row.job is not None:
                got[row.slot - 1] += 1
                self._turns[entry.queue] = next(self._turn)
                last[row.slot - 1] = raw_instant(datetime.fromisoformat(row.job["ready_at"]))
                continue
            entry.count = row.asked
            if row.contended and tries > 0:
                contended = True
            elif row.wait_seconds > 0:
                self._lanes[entry.queue].lanes[entry.lane].shut_until = now + row.wait_seconds
            else:
                # This worker may hold no more of its type; the board knows no types, so the lane is one of its own.
                lane = self._lanes[entry.queue].lanes[entry.lane]
                lane.job_type = entry.lane.hex()
                shut[lane.job_type] = [0]
        for name, lanes in self._lanes.items():
            lanes.passed_over(e.lane for e in entries if e.queue == name and e.count == 0)
        # A claim that is full has not seen what lies behind its last job.
        end = max((n for n, number in enumerate(got) if number), default=-1) if full else len(entries)
        for n, entry in enumerate(entries[:end]):
            if entry.count > 0:
                self._lanes[entry.queue].taken(entry, got[n], last[n], now, cost)
        if full and end >= 0:
            entries[end].count = min(entries[end].count, got[end])
            self._lanes[entries[end].queue].taken(entries[end], got[end], last[end], now, cost)
        return contended

    async def _look(self, run: Run) -> None:
        began = monotonic()
        found: list[WorkLane] = await run(work_lanes(sorted(self.queues), _LANES_MOST, schema=self._schema))
        for row in found:
            self._priorities[row.queue] = row.queue_priority
            lanes = self._lanes[row.queue]
            lanes.lane(row.lane.bytes).weight = row.weight
            lanes.news(row.lane.bytes, row.priority, discovered=True)
        self._looked_at = began
