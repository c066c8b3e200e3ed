"""Going to sleep without missing a ring: the state of each queue that this worker has found empty.

The order closes every race between looking and sleeping (design: engine protocols, section 1):
(a) lay down the sleeper row and commit; (b) in a new transaction take x, its transaction id; (c) look for work;
(d) look again once every transaction older than x has ended: only those can have enqueued without seeing the row;
(e) sleep until rung, or until the poll is due. Of each queue one worker, the watchman, is rung by an enqueue; it rings
one reserve when its own hands are full.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from time import monotonic

import psycopg

from postmill.engine.alarm import Alarm
from postmill.engine.link import Link
from postmill.engine.raw import Longs
from postmill.engine.session import Session
from postmill.engine.work import QueueSlots

LINGER = 0.05  # seconds of fruitless looking before a worker lies down
LOOK_EVERY = 0.003  # seconds between two such looks
_HURRIED = 4  # rings within LINGER that make a watchman get up
_RELAY_EVERY = 0.02  # seconds between two rings of a reserve
_RELAY_REST = 0.1  # seconds to wait after a ring that found no reserve
_ROW_OUTLIVES_POLL = 5.0  # seconds
_WATCH_LOCKS_AFTER = 0.1  # seconds until the writers are looked up one by one


class Bed:
    """One queue's sleep."""

    __slots__ = (
        "answered", "due", "lying", "owed", "poll_at", "rings", "rung_at", "unwatched", "watch", "worked_at",
    )  # fmt: skip

    def __init__(self) -> None:
        self.lying = False
        self.owed = True  # the next look must miss nothing: a full discovery, whatever it costs
        self.watch = False
        self.unwatched = False  # this worker got up from the watch, and nobody has it now
        self.due = 0.0  # when to look again
        self.poll_at = 0.0  # when to lie down anew
        self.worked_at = monotonic()
        self.rings = 0
        self.answered = 0  # of these, so many before the present look began
        self.rung_at: deque[float] = deque(maxlen=_HURRIED)

    def hurried(self, now: float) -> bool:
        """Is it rung so often that looking by itself is cheaper for everybody?"""
        return len(self.rung_at) == _HURRIED and now - self.rung_at[0] < LINGER


class Doorbell:
    """Decides for each queue whether to look for work now. `rung` is set whenever somebody should look."""

    def __init__(self, link: Link, hungry: Alarm, *, notify: bool) -> None:
        self._link = link
        self._closing_link = link.sibling("doze")
        self._hungry = hungry
        self._notify = notify
        self.listening = False
        self.awaited: Callable[[], list[int]] = list  # limits that bind lanes of this worker
        self._awaits = False
        self.beds: dict[str, Bed] = {}
        self._closing: asyncio.Task[None] | None = None
        self._unclosed: set[str] = set()
        self._relay_at: dict[str, float] = {}

    def bed(self, queue: str) -> Bed:
        bed = self.beds.get(queue)
        if bed is None:
            bed = self.beds[queue] = Bed()
        return bed

    def awake(self, queue: str, now: float) -> bool:
        bed = self.bed(queue)
        return not bed.lying or now >= bed.due

    def polls(self, queue: str, now: float) -> bool:
        """Is this look the one that comes round by itself?"""
        bed = self.bed(queue)
        return bed.lying and now >= bed.poll_at

    def until_next(self, queues: Iterable[str], now: float) -> float:
        """Seconds until one of these sleeping queues wants a look of its own."""
        return max(0.0, min((self.bed(queue).due - now for queue in queues), default=60.0))

    def looking(self, queues: Iterable[str]) -> None:
        """A look at these queues begins: whoever rings from here on is heard by a further one."""
        for queue in queues:
            bed = self.bed(queue)
            bed.answered = bed.rings

    def rung(self, queue: str) -> None:
        """Somebody says that there is work."""
        bed = self.bed(queue)
        bed.due = 0.0
        bed.worked_at = monotonic()
        bed.rings += 1
        bed.rung_at.append(bed.worked_at)
        self._hungry.set()

    def relayed(self, queue: str) -> None:
        """A full watchman rang this worker, a reserve: its row is gone, so it must lie down anew."""
        bed = self.bed(queue)
        bed.lying = False
        bed.owed = True
        self.rung(queue)

    async def leave_by(self, link: Link, session: Session | None) -> None:
        """This worker takes no more work: somebody else shall watch."""
        if self._notify and session is not None:
            await link.rows("doorbell/leave", [session.holder])

    def get_up(self) -> None:
        """A connection was made anew: whatever was laid down or heard before is not to be trusted."""
        for queue, bed in self.beds.items():
            bed.lying = False
            bed.owed = True
            self.rung(queue)

    def owe(self) -> None:
        """A look came to nothing."""
        for bed in self.beds.values():
            bed.owed = True

    async def found(self, queues: Mapping[str, bool], session: Session) -> None:
        """Work was found: get up, unless it trickles. The rows go after the claim, which is what somebody waits for.

        `queues` says where there may be more or the slots are full. A watchman whose claim left nothing over and who is
        rung seldom stays lying: its row stands, so that the next enqueue rings. That is sooner than any look (which
        comes every 3 ms) and spares some twenty statements a job.
        """
        rows = []
        now = monotonic()
        for queue, more in queues.items():
            bed = self.bed(queue)
            bed.worked_at = now
            rung = self._notify and self.listening and bed.watch
            if bed.lying and rung and not more and not bed.hurried(now):
                bed.due = 0.0 if bed.owed or bed.rings > bed.answered else bed.poll_at
                continue
            if bed.lying:
                bed.lying = False
                bed.unwatched = bed.watch
                rows.append(queue)
        if rows and self._notify:
            await self._link.rows("doorbell/wake", [session.holder, rows])

    async def nothing(
        self, queues: list[QueueSlots], session: Session, opens: Mapping[str, float], cost: float
    ) -> float:
        """These queues gave nothing. Returns seconds until the next look is wanted.

        `opens` says when a lane that waits for a token may be claimed from again: a queue looks again then. `cost` is
        what a full look took: lying down needs two, so where a pinned horizon makes them dear it is done less often.
        Lingers first, then lies down (a, b) and asks for one look at once (c); (d) goes on beside everything else.
        """
        now = monotonic()
        tired: list[QueueSlots] = []
        linger = max(LINGER, 20 * cost)
        for queue in queues:
            bed = self.bed(queue.name)
            if (bed.lying and now >= bed.poll_at) or (not bed.lying and now - bed.worked_at >= linger):
                tired.append(queue)
            elif bed.lying:
                bed.due = 0.0 if bed.owed or bed.rings > bed.answered else min(bed.poll_at, opens[queue.name])
        if not tired:
            return LOOK_EVERY
        rings = self._notify and self.listening
        if rings:
            await self._lie_down(tired, session)
        for queue in tired:
            bed = self.bed(queue.name)
            bed.lying, bed.poll_at, bed.owed = True, now + queue.poll_interval, True
            bed.due = 0.0 if rings else min(bed.poll_at, opens[queue.name])
        return 0.0 if rings else LOOK_EVERY

    async def _lie_down(self, queues: list[QueueSlots], session: Session) -> None:
        longest = max(queue.poll_interval for queue in queues)
        names = [queue.name for queue in queues]
        for name in names:
            self.bed(name).watch = True  # a ring may arrive before the answer does
        rows = await self._link.rows("doorbell/doze", [session.holder, names, longest + _ROW_OUTLIVES_POLL])
        for name, watch in rows:
            self.bed(name).watch = watch
        limits = self.awaited()
        if limits or self._awaits:
            self._awaits = bool(limits)
            await self._link.rows(
                "doorbell/await_seats", [session.holder, Longs(limits), longest + _ROW_OUTLIVES_POLL]
            )
        marks = await self._link.rows("doorbell/mark")
        # A later mark closes what an earlier one was to close, too: one closing at a time, for all their queues.
        if self._closing is not None:
            self._closing.cancel()
            await asyncio.gather(self._closing, return_exceptions=True)
        self._unclosed.update(names)
        self._closing = asyncio.create_task(self._close(int(marks[0][0]), longest))

    async def _close(self, mark: int, longest: float) -> None:
        """(d): wait until nobody is left who may have looked too early, then ask for one more look."""
        started = monotonic()
        pause = 0.001
        link = self._closing_link
        try:
            while monotonic() - started < _WATCH_LOCKS_AFTER:
                if (await link.rows("doorbell/is_closed", [mark]))[0][0]:
                    break
                await asyncio.sleep(pause)
                pause = min(0.02, pause * 2)
            else:
                early = set((await link.rows("doorbell/open_writers"))[0][0])
                while early and monotonic() - started < longest:
                    await asyncio.sleep(0.02)
                    early &= set((await link.rows("doorbell/open_writers"))[0][0])
        except (psycopg.Error, OSError):
            pass  # the claimer meets the same outage and starts again at (a)
        for queue in self._unclosed:
            self.bed(queue).due = 0.0
            self.bed(queue).owed = True
        self._unclosed.clear()
        self._hungry.set()

    async def relay(self, queue: str, session: Session) -> None:
        """This worker's hands are full: ring one reserve, which becomes the next watchman."""
        now = monotonic()
        bed = self.bed(queue)
        if not self._notify or (now < self._relay_at.get(queue, 0.0) and not bed.unwatched):
            return
        bed.unwatched = False
        rows = await self._link.rows("doorbell/relay", [session.holder, queue])
        self._relay_at[queue] = now + (_RELAY_EVERY if rows[0][0] else _RELAY_REST)

    async def close(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            await asyncio.gather(self._closing, return_exceptions=True)
        await self._closing_link.close()
