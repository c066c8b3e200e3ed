"""The whole application in simulated time: a real worker and its handlers, the scheduler and the other rounds, stand-ins.

The clock is turned from one due moment to the next, and what is due is done before it is turned again. So a week takes minutes,
and waits and lengths of time are still those of real work.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from examples.homepage.tests.week.turned_clock import TurnedClock
from postmill import Registry, Worker
from postmill.alerts.equipment import Equipment, equipment
from postmill.cli.plan import make_plan
from postmill.domain.settings import Settings
from postmill.engine.link import Link
from postmill.engine.outage import Outage
from postmill.engine.upkeep.budgets import Budgets
from postmill.engine.upkeep.monitor import Monitor
from postmill.engine.upkeep.promoter import Promoter
from postmill.engine.upkeep.pruner import Pruner
from postmill.engine.upkeep.retention import RetentionConfig
from postmill.engine.upkeep.roller import Roller
from postmill.engine.upkeep.round import Round
from postmill.engine.upkeep.scheduler import Scheduler
from postmill.engine.upkeep.sealer import Sealer
from postmill.engine.upkeep.sweeper import Sweeper
from postmill.engine.work import QueueSlots
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from tests.support.workers import until

HANDLERS = ("examples.homepage.jobs", "examples.homepage.previews.jobs")
NEXT = """
    select least((select min(next_run_at) from postmill.trigger where is_enabled and deleted_at is null and not broken),
                 (select min(run_at) from postmill.scheduled),
                 (select min(due_at) from postmill.notification where status = 'pending' and due_at > postmill.now()))
"""
AT_REST = "select not exists (select from postmill.running) and not exists (select from postmill.ready)"
NOTHING_DUE = """
    select not exists (select from postmill.scheduled where run_at <= postmill.now())
       and not exists (select from postmill.notification where status = 'pending' and due_at <= postmill.now())
"""
# Who sleeps is rung for some seconds after its last look; an hour that has passed in no time is not to end that.
WATCH = "update postmill.sleeper set valid_until = postmill.now() + interval '1 hour'"
SLOW = ("budgets", "prune", "monitor", "rollup", "sweep", "seal")
"""Rounds that a worker makes every few seconds, and the simulation every few minutes."""
PATIENCE = 300.0
"""Seconds of real time that what is due at one moment may take, such as a page's picture on a busy machine."""


class Rounds:
    """The rounds of upkeep, each made when the simulation says so."""

    def __init__(self, dsn: str, equipped: Equipment) -> None:
        self._bus, self._dsn = Bus(), dsn
        self._outage, counters = Outage(self._bus, "rounds"), Counters("rounds")
        self._links: list[Link] = []
        bus = self._bus
        made = [
            Scheduler(self._link(raw=False), bus, "rounds", counters),
            Promoter(self._link(), bus, "rounds", lambda found: None),
            *(make(self._link(raw=False), bus, "rounds") for make in equipped.rounds.values()),
            Budgets(self._link(), bus, "rounds", counters),
            Roller(self._link(raw=False), bus, "rounds"),
            Monitor(self._link(), bus, "rounds", counters),
            Pruner(self._link(), bus, "rounds", RetentionConfig()),
            Sweeper(self._link(), bus, "rounds"),
            Sealer(self._link(), bus, "rounds"),
        ]
        self._rounds: list[Round] = made

    def _link(self, *, raw: bool = True) -> Link:
        self._links.append(Link(self._dsn, "postmill", "rounds", self._outage, raw=raw))
        return self._links[-1]

    async def make(self, *, slow: bool) -> None:
        """Each of them until it has nothing more to do; the slow ones once."""
        for round in self._rounds:
            if round.name not in SLOW:
                pause: float | None = 0.0
                while pause is not None and pause < 0.1:
                    pause = await round.guarded()
            elif slow:
                await round.guarded()

    async def close(self) -> None:
        """Close the connections."""
        for link in self._links:
            await link.close()


@dataclass
class Simulation:
    """The application at work."""

    clock: TurnedClock
    worker: Worker
    looking: AsyncConnection[Any]
    rounds: Rounds
    slow_every: float = 600.0
    _slow_at: datetime | None = None

    async def to(self, end: datetime) -> None:
        """All that is due until that moment, and with it, is done at its time."""
        await self.settle()
        while (moment := await self._next()) <= end:
            await self._turn(moment)
            await self.settle()
        await self._turn(end)
        await self.settle(slow=True)

    async def settle(self, *, slow: bool = False) -> None:
        """All that is due now."""
        now = self.clock.now()
        slow = slow or self._slow_at is None or (now - self._slow_at).total_seconds() >= self.slow_every
        self._slow_at = now if slow else self._slow_at
        await self.rounds.make(slow=slow)
        await until(self._idle, PATIENCE)
        if slow:
            # Jobs that were given up just now have been counted; who is to be told is told.
            await self.rounds.make(slow=False)
            await until(self._idle, PATIENCE)

    async def _turn(self, moment: datetime) -> None:
        if self.clock.now() < moment:  # what was done before may have taken longer than until then
            self.clock.turn(moment)
        await self.looking.execute(WATCH)

    async def _next(self) -> datetime:
        [[moment]] = await (await self.looking.execute(NEXT)).fetchall()
        assert isinstance(moment, datetime)
        return moment

    async def _idle(self) -> bool:
        """Whether nothing is left to do. The clock goes on meanwhile: what has just come due is given to the rounds."""
        # A success may be committed by the job's own process, which ends after that: until then its time is not counted.
        if any(queue.active for queue in self.worker.queues.values()) or not await self._says(AT_REST):
            return False
        if await self._says(NOTHING_DUE):
            return True
        await self.rounds.make(slow=False)
        return False

    async def _says(self, query: str) -> bool:
        [[answer]] = await (await self.looking.execute(query.encode())).fetchall()
        return bool(answer)


@asynccontextmanager
async def simulated(
    dsn: str, clock: TurnedClock, settings: Settings, *more: Any
) -> AsyncIterator[Simulation]:
    """A worker for all queues as `postmill worker` makes it, `more` job types included; its upkeep is made by the simulation."""
    equipped = equipment(settings, "postmill")
    assert equipped is not None
    plan = replace(make_plan(HANDLERS, (), 1, settings), equipment=equipped)
    # A lease is a length of real time, and this clock is turned by hours.
    config = replace(plan.config(0), upkeep=False, lease=90 * 86400.0)
    own = Registry.collect(*more)
    queues = {name: QueueSlots(name, 4) for name in own.queues} | plan.queues(0)
    worker = Worker(dsn, plan.served.joined(own), queues, config=config)
    task = asyncio.create_task(worker.run())
    rounds = Rounds(dsn, equipped)
    try:
        await until(lambda: worker.ready.is_set() or task.done())
        async with await AsyncConnection.connect(dsn, autocommit=True) as looking:
            yield Simulation(clock, worker, looking, rounds)
    finally:
        worker.drain()
        await task
        await rounds.close()
