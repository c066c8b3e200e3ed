"""The loop that keeps the slots busy: plan, claim, hand over; sleep when there is nothing."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping
from time import monotonic, perf_counter
from typing import Any

import psycopg

from postmill.engine.alarm import Alarm
from postmill.engine.completer import Completer
from postmill.engine.database import is_conflict, is_outage
from postmill.engine.doorbell import Doorbell
from postmill.engine.executor import Executor
from postmill.engine.lanes import Entry, QueueLanes, Room
from postmill.engine.limited import LimitedAnswer
from postmill.engine.link import Link
from postmill.engine.raw import Ids, Instants, Longs
from postmill.engine.scout import Scout
from postmill.engine.seats import Seats, split
from postmill.engine.session import Session
from postmill.engine.work import (
    CLAIMED_AT,
    JOB_TYPE,
    READY_AT,
    SLOT,
    TENANT,
    Handler,
    QueueSlots,
    Row,
    Work,
)
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.event import JobFacts
from postmill.telemetry.events import JobClaimed, PollScanned, UpkeepFailed

_LOOK_AHEAD = 0.25  # seconds of work held in memory beyond the slots
_MOST_AHEAD = 1000  # tickets
_BACKLOG = 5000  # unwritten reports at which claiming stops
_IN_DOUBT_FOR = 60.0  # seconds for which a claim without an answer is looked for


class Claimer:
    def __init__(
        self,
        link: Link,
        queues: dict[str, QueueSlots],
        handlers: Mapping[str, Handler],
        executor: Executor,
        completer: Completer,
        doorbell: Doorbell,
        counters: Counters,
        hungry: Alarm,
        bus: Bus,
        facts: Callable[[Work], JobFacts],
        codes: Callable[[], Mapping[str, str]],
        *,
        prefetch: int | None = None,
    ) -> None:
        self._link = link
        self._queues = queues
        self._handlers = handlers
        self._executor = executor
        self._completer = completer
        self._doorbell = doorbell
        self._counters = counters
        self._hungry = hungry
        self._bus = bus
        self._facts = facts
        self._most_ahead = _MOST_AHEAD if prefetch is None else prefetch
        self._measured_at = monotonic()
        self.paused: frozenset[str] = frozenset()
        self.paused_types: frozenset[str] = frozenset()
        self.session: Session | None = None
        self._rung = False
        self.quiet = asyncio.Event()  # no claim is under way, and none will be
        self.lanes: dict[str, QueueLanes] = {name: QueueLanes(name) for name in queues}
        self._unsure = False  # some lane that is claimed from may be one for others
        self._scout = Scout(link, self.lanes, handlers, codes)
        self.seats = Seats()
        self._limited = LimitedAnswer(self.lanes, self._scout, self.seats)
        doorbell.awaited = lambda: self.seats.limits
        executor.permit_freed = doorbell.rung
        executor.seats_freed = completer.seats_freed = self.seats_freed

    def adopt(self, queue: QueueSlots) -> None:
        """Serve one more queue from now on."""
        self.lanes[queue.name] = QueueLanes(queue.name)
        self._queues[queue.name] = queue
        self.news(queue.name, None, None)
        self._hungry.set()

    def news(self, queue: str, lane: bytes | None, priority: int | None, *, by_name: bool = False) -> None:
        """A doorbell: there is work in this lane, or somewhere in this queue. `by_name`: it was rung for this worker."""
        lanes = self.lanes.get(queue)
        if lanes is None:
            return
        for_others = not by_name and self._scout.heard(queue, lane)
        if lane is not None and priority is not None:
            lanes.news(lane, priority, discovered=False)
            self._rung = self._rung or not for_others
        else:
            self._scout.discover_soon()
        self._counters.wakeups += 1
        self._doorbell.rung(queue)

    def types_changed(self) -> None:
        """This worker knows other job types than before: what waits for one of them may be claimed."""
        self._scout.vet_soon()
        self._scout.discover_soon()
        self._doorbell.get_up()

    def seats_freed(self, works: Iterable[Work]) -> None:
        """These have ended, and their seats are free."""
        if self._scout.limited:
            for queue in {work.queue for work in works if work.seats}:
                self.lanes[queue.name].slot_free(only_roomy=True)
        if self.seats:
            self.keys_freed(key for work in works if work.seats for key in split(work.seats))

    def keys_freed(self, keys: Iterable[bytes] | None) -> None:
        """Seats of these keys are free; None: nobody knows which, and the limits may be others."""
        if keys is None:
            self._scout.vet_soon()
        for queue in self.seats.free_all() if keys is None else self.seats.free(keys):
            self._doorbell.rung(queue)
        if keys is None:
            self._hungry.set()

    def news_of(self, found: list[Row]) -> None:
        """What a promoter or rescuer in this process has just made ready."""
        for queue, lane, priority, *_ in found:
            self.news(queue, lane, priority)

    async def run(self) -> None:
        """Until cancelled. An outage pauses it; nothing else ends it."""
        while True:
            session = self.session
            if session is None or session.lost or self._executor.draining:
                self.quiet.set()
                await self._rest(1.0)
                continue
            self.quiet.clear()
            try:
                wait = await self._round(session)
                if self._scout.for_others:
                    await self._scout.pass_on()
            except (psycopg.Error, OSError) as error:
                if is_conflict(error):
                    self._doorbell.owe()
                    await asyncio.sleep(0.05)
                    continue
                if not is_outage(error):
                    self._bus.emit(UpkeepFailed("claim", str(error)))
                    await self._link.drop()
                self._scout.discover_soon()
                self.seats.forget_lows()
                await self._link.pause(error)
                self._doorbell.get_up()
                continue
            self._link.backoff.reset()
            if wait:
                await self._rest(wait)

    async def _rest(self, seconds: float) -> None:
        await self._hungry.wait(seconds)

    async def _round(self, session: Session) -> float:
        """One look at everything that wants work. Returns for how long to rest."""
        if self._completer.backlog > _BACKLOG:
            return 0.005
        now = monotonic()
        self._look_ahead(now)
        if session.in_doubt:
            await self._release_doubtful(session, now)
        wanting = [
            queue
            for queue in self._queues.values()
            if queue.wanted > 0 and len(queue.waiting) <= queue.low and queue.name not in self.paused
        ]
        looking = [queue for queue in wanting if self._doorbell.awake(queue.name, now)]
        if not looking:
            return min(60.0, self._doorbell.until_next([queue.name for queue in wanting], now))
        self.seats.sweep(now)
        polled = [queue.name for queue in looking if self._doorbell.polls(queue.name, now)]
        self._doorbell.looking(queue.name for queue in looking)
        owed = [bed for bed in map(self._doorbell.bed, (queue.name for queue in looking)) if bed.owed]
        rung, self._rung = self._rung, False
        if rung:
            owed = []  # the doorbell named the lane: the claim comes first, what is owed in the next round
        elif owed:
            for bed in owed:
                bed.owed = False  # before the look: what is owed meanwhile is another one
            self.seats.free_all()
            await self._scout.discover([queue.name for queue in looking], doubt=True)
        else:
            await self._scout.look([queue.name for queue in looking], idle=False)
        got, contended = await self._claim(looking, session)
        empty = [queue for queue in looking if not got.get(queue.name)]
        moment = monotonic()
        if not contended and any(
            self.lanes[queue.name].claimable(moment, self._scout.room()) for queue in empty
        ):
            return 0.0  # a lane known to be open was not asked: the one before it was empty, or took the only token
        if empty and not contended and await self._scout.look([q.name for q in empty], idle=True):
            return 0.0
        self._counted_poll(polled, got)
        busy = [name for name, n in got.items() if n]
        if busy:
            more = {
                name: self.lanes[name].has_work or queue.wanted <= 0 or queue.active >= queue.slots
                for name, queue in self._queues.items()
                if name in busy
            }
            await self._doorbell.found(more, session)
            for queue in looking:
                if got.get(queue.name) and (queue.wanted <= 0 or queue.active >= queue.slots):
                    await self._doorbell.relay(queue.name, session)
            return 0.0
        if contended:
            return random.uniform(0.001, 0.005)
        if rung and any(self._doorbell.bed(queue.name).owed for queue in empty):
            return 0.0
        opens = {queue.name: self.lanes[queue.name].next_open(now) for queue in empty}
        return await self._doorbell.nothing(empty, session, opens, self._scout.cost)

    def _counted_poll(self, polled: list[str], got: Mapping[str, int]) -> None:
        """A look that nobody asked for: the fallback for lost notifications."""
        if polled:
            found = sum(got.get(name, 0) for name in polled)
            self._counters.polls += 1
            self._counters.poll_scanned += found
            if self._bus.wants(PollScanned):
                self._bus.emit(PollScanned(self._counters.worker_id, found))

    def _look_ahead(self, now: float) -> None:
        """Hold as many tickets beyond the slots as this queue ends in a quarter of a second."""
        elapsed = now - self._measured_at
        if not self._most_ahead or elapsed < 0.01:
            return
        self._measured_at = now
        for queue in self._queues.values():
            ahead = int(queue.done / elapsed * _LOOK_AHEAD)
            queue.done = 0
            queue.prefetch = min(self._most_ahead, ahead, 2 * queue.prefetch + queue.slots)
            # A claim with limits takes longer, about as long as its jobs: it has to begin earlier.
            queue.low = (
                (3 * queue.prefetch >> 2) if queue.name in self._scout.limited else queue.prefetch >> 1
            )

    async def _claim(self, looking: list[QueueSlots], session: Session) -> tuple[dict[str, int], bool]:
        self._unsure = await self._scout.vet_new()
        now = monotonic()
        room = self._scout.room()
        entries: list[Entry] = []
        limited: list[QueueSlots] = []
        for queue in sorted(looking, key=lambda queue: queue.priority):
            if queue.name in self._scout.limited:
                limited.append(queue)
            else:
                entries += self.lanes[queue.name].plan(queue.wanted, now, room)
        got: dict[str, int] = {}
        contended = False
        if entries:
            got = await self._take("claim/claim_jobs", entries, [], session)
        for queue in limited:
            taken, rivals = await self._claim_limited(queue, session, room)
            got |= taken
            contended = contended or rivals
        return got, contended

    async def _claim_limited(
        self, queue: QueueSlots, session: Session, room: Room
    ) -> tuple[dict[str, int], bool]:
        """From a queue with limits: each ticket takes its seats with the claim, and only one that can start at once, or
        whose limit is roomy, may wait here in memory.
        """
        lanes = self.lanes[queue.name]
        firm = max(0, queue.slots - queue.active - len(queue.waiting))
        if firm:
            lanes.slot_free()
        entries = lanes.plan(queue.wanted, monotonic(), room)
        if not entries:
            return {}, False
        lows = self.seats.lows(lanes.lanes[entry.lane] for entry in entries)
        more = [firm, Ids(lows), Longs(lows.values())]
        got = await self._take("claim/claim_limited", entries, more, session)
        return got, self._limited.contended

    async def _take(
        self, path: str, entries: list[Entry], more: list[Any], session: Session
    ) -> dict[str, int]:
        """Run one claim. `more`: what a claim with limits is told beside the lines."""
        claim_no = session.next_claim()
        lines: list[Any] = [
            [entry.queue for entry in entries],
            Ids([entry.lane for entry in entries]),
            [entry.priority for entry in entries],
            Instants([entry.start for entry in entries]),
            [entry.count for entry in entries],
        ]
        head = [session.holder, claim_no, sum(entry.count for entry in entries)]
        args = [*head, more[0], *lines, *more[1:]] if more else [*head, *lines, True]
        began = perf_counter()
        session.in_doubt[claim_no] = monotonic()
        rows = await (self._link.committed_rows if more else self._link.rows)(path, args)
        cost = perf_counter() - began
        self._counters.claims += 1
        if more:
            rows = self._limited.note(entries, rows)
        if not rows:
            self._counters.empty_claims += 1
        got, works = await self._read(entries, rows, claim_no, session, cost)
        del session.in_doubt[claim_no]
        self._executor.admit(works)
        return got

    async def _read(
        self, entries: list[Entry], rows: list[Row], claim_no: int, session: Session, cost: float
    ) -> tuple[dict[str, int], list[Work]]:
        if any(row[JOB_TYPE] is None for row in rows):
            rows = await self._scout.kept(rows)
        if self._unsure and rows:
            await self._scout.vet()
        foreign = self._scout.foreign
        counts = [0] * len(entries)
        last: list[bytes | None] = [None] * len(entries)
        moment = perf_counter()
        works: list[Work] = []
        handlers, queues = self._handlers, self._queues
        if self.paused_types:  # a ticket of such a type is one that cannot start
            handlers = {name: one for name, one in handlers.items() if name not in self.paused_types}
        wanted = self._bus.limit(JobClaimed)
        server = int.from_bytes(rows[0][CLAIMED_AT], "big") if rows else 0
        if rows:
            self._completer.counting.offset = server * 1e-6 - moment
        for row in rows:
            at = row[SLOT] - 1
            counts[at] += 1
            last[at] = row[READY_AT]
            handler = handlers.get(row[JOB_TYPE])
            if foreign and entries[at].lane[:8] in foreign:
                handler = None
            if handler is not None:
                handler.counters.claimed += 1
            ready = moment - (server - int.from_bytes(row[READY_AT], "big")) * 1e-6
            work = Work(
                row, claim_no, entries[at].lane, session, handler, queues[entries[at].queue], moment, ready
            )
            works.append(work)
            if wanted and handler is not None and row[0][14:] < wanted:
                self._bus.emit(JobClaimed(self._facts(work)))
            lanes = self.lanes[work.queue.name]
            if lanes.weights:
                lanes.belongs(lanes.lanes[work.lane], row[TENANT])
        now = monotonic()
        for at, since in self._limited.bound.items():
            last[at] = since  # the next scan begins at the ticket that may not start
        self._limited.bound.clear()
        got: dict[str, int] = {}
        for entry, count, key in zip(entries, counts, last, strict=True):
            self.lanes[entry.queue].taken(entry, count, key, now, cost)
            got[entry.queue] = got.get(entry.queue, 0) + count
        return got, self._newcomers_first(entries, works)

    def _newcomers_first(self, entries: list[Entry], works: list[Work]) -> list[Work]:
        """Tickets of lanes that the last claim had none of go before what still waits here from it."""
        for name in {entry.queue for entry in entries}:
            served = frozenset(entry.lane for entry in entries if entry.queue == name)
            fresh = served - self.lanes[name].last_served
            self.lanes[name].last_served = served
            if fresh and self._queues[name].waiting:
                fresh -= {
                    work.lane for work in self._queues[name].waiting
                }  # nobody passes its own lane's elder
                for work in works:
                    work.newcomer = work.newcomer or (work.queue.name == name and work.lane in fresh)
        return works

    async def _release_doubtful(self, session: Session, now: float) -> None:
        numbers = list(session.in_doubt)
        rows = await self._link.rows("claim/release_claims", [session.holder, numbers])
        self.news_of([row[1:] for row in rows])
        # Looked for a while: a backend may still be at it.
        for number in numbers:
            if now - session.in_doubt[number] > _IN_DOUBT_FOR:
                del session.in_doubt[number]
