"""A worker process: composes the loops, opens and replaces sessions, drains."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import psycopg

from postmill.domain.errors import PostmillError
from postmill.domain.registry import Registry
from postmill.engine.config import WorkerConfig
from postmill.engine.database import is_conflict, is_outage
from postmill.engine.identity import new_worker_id
from postmill.engine.lessor import Lessor
from postmill.engine.resources import Resources
from postmill.engine.session import Session
from postmill.engine.standing import Standing, became, ended_with, standing_of
from postmill.engine.work import QueueSlots, Work
from postmill.engine.workshop import Workshop
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import (
    LeaseLost,
    LoopBlocked,
    NotificationReceived,
    SessionClosed,
    SessionOpened,
    WorkerDraining,
    WorkerStarted,
    WorkerStopped,
)
from postmill.version import VERSION


class Worker:
    """Runs jobs from the given queues until drained.

    Args:
        dsn: connection string of the database.
        registry: the job types that this worker serves.
        queues: slots by queue name, or full `QueueSlots`.
        schema: Postmill's schema.
        config: leases, grace, notifications and the rest.
        bus, counters: where events go and what `/metrics` reads; default: own ones that nobody listens to.

    `await run()` returns when the worker has drained; `drain()` asks for it, `abort()` ends it at once.
    """

    def __init__(
        self,
        dsn: str,
        registry: Registry,
        queues: Mapping[str, int | QueueSlots] | None = None,
        *,
        schema: str = "postmill",
        config: WorkerConfig | None = None,
        bus: Bus | None = None,
        counters: Counters | None = None,
    ) -> None:
        self.config = config or WorkerConfig()
        self.bus = bus or Bus()
        self.worker_id = new_worker_id()
        self.counters = counters or Counters(self.worker_id)
        self.counters.worker_id = self.worker_id
        self.registry = registry
        self.schema = schema
        self.dsn = dsn
        self.resources = Resources(registry.resources)
        self.queues = {
            name: slots
            if isinstance(slots, QueueSlots)
            else QueueSlots(
                name, slots, priority=registry.priority_of(name), poll_interval=self.config.poll_interval
            )
            for name, slots in ({"default": 10} if queues is None else queues).items()
        }
        self.ready = asyncio.Event()
        self.summary: dict[str, int | float] = {}
        self._draining = asyncio.Event()
        self._held = False  # an operator has asked it to claim nothing more
        self._ending: asyncio.Task[None] | None = None
        self._aborted = asyncio.Event()
        self._session: Session | None = None
        self._lost = asyncio.Event()
        self._lessor: Lessor | None = None
        self._shop: Workshop | None = None

    def drain(self) -> None:
        """Claim nothing more, finish or put back what runs within the grace period, then `run` returns."""
        self._draining.set()

    def abort(self) -> None:
        """End at once: what runs is put back as interrupted where the database answers within a second."""
        self._aborted.set()
        self._draining.set()

    async def run(self) -> None:
        """Work until drained. Waits for a database that is away, at the start too.

        Raises ResourceFailed if a resource cannot be opened, PostmillError if one cannot be closed in the grace period.
        """
        leaving = asyncio.Event()
        keeping = asyncio.create_task(self.resources.keep(leaving))
        drained = asyncio.create_task(self._draining.wait())
        opened = asyncio.create_task(self.resources.opened.wait())
        try:
            await asyncio.wait({keeping, drained, opened}, return_when=asyncio.FIRST_COMPLETED)
            if not keeping.done():
                await self._work()
        finally:
            leaving.set()
            patience = 1.0 if self._aborted.is_set() else self.config.grace
            opening = not self.resources.opened.is_set()
            await asyncio.wait({keeping}, timeout=0.0 if opening else patience)
            late = not (opening or keeping.done())
            await _ended([keeping, drained, opened])
        if late:
            raise PostmillError(f"resources could not be closed within {patience:g} s")
        if not keeping.cancelled():
            keeping.result()

    async def _work(self) -> None:
        shop = self._shop = Workshop(self)
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._open(shop)
            shop.start(tasks)
            self.bus.emit(
                WorkerStarted(
                    self.worker_id,
                    {q.name: q.slots for q in self.queues.values()},
                    VERSION,
                    self.config.build,
                )
            )
            self.ready.set()
            await self._until_drained(shop, tasks)
            await self._drain(shop)
        finally:
            await _ended(tasks if self._ending is None else [*tasks, self._ending])
            await self._close(shop)

    async def _until_drained(self, shop: Workshop, tasks: list[asyncio.Task[None]]) -> None:
        """Watch for the drain, a lost lease, and loops that must not end."""
        draining = asyncio.create_task(self._draining.wait())
        try:
            while not self._draining.is_set():
                lost = asyncio.create_task(self._lost.wait())
                done, _ = await asyncio.wait({draining, lost, *tasks}, return_when=asyncio.FIRST_COMPLETED)
                lost.cancel()
                for task in tasks:
                    if task in done:
                        task.result()
                        raise RuntimeError(f"{task.get_name()} ended by itself")
                if self._lost.is_set() and not self._draining.is_set():
                    await self._reopen(shop)
        finally:
            draining.cancel()

    async def _open(self, shop: Workshop) -> None:
        """Open a session; with it goes the thread that renews its lease."""
        while not self._draining.is_set():
            session = Session(self.config.lease)
            try:
                await shop.register()
                args = [
                    session.holder,
                    session.lease,
                    self.worker_id,
                    socket.gethostname(),
                    os.getpid(),
                    VERSION,
                    *shop.served(),
                    self.config.build,
                ]
                await shop.control.rows("leases/open_session", args)
                paused = await shop.control.rows("leases/paused", [list(self.queues)])
            except (psycopg.Error, OSError) as error:
                if not (is_outage(error) or is_conflict(error)):
                    raise
                await self._pause(shop, error)
                continue
            shop.control.backoff.reset()
            self._session = session
            self._lost.clear()
            # Before the first claim: what a paused type has waiting must not start in between.
            types = frozenset(name for queue, name in paused if not queue)
            self._told([], frozenset(name for queue, name in paused if queue), types, None)
            shop.use(session)
            self._lessor = Lessor(
                self.dsn,
                self.schema,
                session,
                self.queues,
                self.counters,
                self._standing,
                self._told,
                self._lease_lost,
                self._loop_blocked,
                prepared=self.config.prepared,
            )
            self._lessor.start()
            self.bus.emit(SessionOpened(self.worker_id, session.holder))
            return

    async def _pause(self, shop: Workshop, error: BaseException) -> None:
        pause = asyncio.create_task(shop.control.pause(error))
        draining = asyncio.create_task(self._draining.wait())
        await asyncio.wait({pause, draining}, return_when=asyncio.FIRST_COMPLETED)
        pause.cancel()
        draining.cancel()

    async def _reopen(self, shop: Workshop) -> None:
        """The lease was lost: stop what runs, then go on under a new session."""
        shop.executor.void()
        if self._lessor is not None:
            self._lessor.stop()
            await self._lessor.joined()
        await self._open(shop)

    def session(self) -> Session | None:
        return self._session

    def _standing(self) -> Standing:
        shop = self._shop
        running = 0 if shop is None else len(shop.executor.running)
        last_error = None if shop is None else shop.verdicts.last_error
        return standing_of(self, running, self._held or self._draining.is_set(), last_error)

    def _told(
        self,
        requests: list[tuple[bytes, str]],
        paused: frozenset[str],
        paused_types: frozenset[str],
        asked: str | None,
    ) -> None:
        shop = self._shop
        if shop is None:
            return
        shop.executor.cancel(dict(requests))
        self._asked(shop, asked)
        if self._held:
            paused = frozenset(self.queues)
        shop.claimer.paused_types = paused_types
        shop.executor.pause_types(paused_types)
        if paused - shop.claimer.paused:
            shop.executor.release_waiting(paused)
        resumed, shop.claimer.paused = shop.claimer.paused - paused, paused
        for queue in resumed:
            shop.claimer.news(queue, None, None)

    def _asked(self, shop: Workshop, asked: str | None) -> None:
        """Claim nothing more, claim again, or end once nothing runs. A new session has not been asked anything: it goes on
        as it was, and so does the fleet's view of it.
        """
        if asked is None:
            return
        held, self._held = self._held, asked != "resume"
        if asked == "stop" and self._ending is None:
            self._ending = asyncio.create_task(self._end_idle(shop))
        elif asked != "stop" and self._ending is not None:
            self._ending.cancel()
            self._ending = None
        if held != self._held and self._lessor is not None:
            self._lessor.poke()  # say so at once

    async def _end_idle(self, shop: Workshop) -> None:
        while not await shop.executor.finished(3600.0):
            pass
        self.drain()

    def heard(self, payload: str) -> None:
        """A notification: `lane priority queue`, `@holder queue` for one reserve, `%` for limits, `+deliver` for events,
        or `!` for others."""
        shop, session = self._shop, self._session
        if shop is None or session is None:
            return
        if payload == "!definitions":
            shop.following.wake()
            return
        if payload == "+deliver":
            shop.deliverer.wake()
            return
        if payload == "!workflows":
            shop.advancer.wake()
            return
        if payload == "!operations":
            shop.operator.wake()
            return
        if payload.startswith("%"):
            self._limits_news(shop, session, payload[1:])
            return
        if payload.startswith("!"):
            if self._lessor is not None:
                self._lessor.poke()
            return
        queue: str | None = None
        if payload.startswith("@"):
            holder, _, queue = payload[1:].partition(" ")
            if holder == str(session.holder) and queue in self.queues:
                shop.doorbell.relayed(queue)
                shop.claimer.news(queue, None, None, by_name=True)
        else:
            lane, _, rest = payload.partition(" ")
            priority, _, queue = rest.partition(" ")
            if queue in self.queues and shop.doorbell.bed(queue).watch:
                try:
                    shop.claimer.news(queue, UUID(lane).bytes, int(priority))
                except ValueError:  # "*", or not from Postmill: look everywhere
                    shop.claimer.news(queue, None, None)
        if self.bus.wants(NotificationReceived):
            self.bus.emit(NotificationReceived(self.schema, queue))

    def _limits_news(self, shop: Workshop, session: Session, news: str) -> None:
        """`*`: limits have changed; `holder key,…`: seats are free that this one waits for, `holder *`: of any key."""
        holder, _, keys = news.partition(" ")
        if holder == "*":
            shop.claimer.keys_freed(None)
        elif holder == str(session.holder):
            shop.claimer.keys_freed(None if keys == "*" else [UUID(key).bytes for key in keys.split(",")])

    def _lease_lost(self, session: Session, why: str) -> None:
        if session is not self._session or session.lost:
            return
        session.lost = True
        running = len(self._shop.executor.running) if self._shop is not None else 0
        self.counters.leases_lost += 1
        self.bus.emit(LeaseLost(self.worker_id, session.holder, running, why))
        self._lost.set()

    def _loop_blocked(self, seconds: float, task: Any) -> None:
        work: Work | None = None
        if self._shop is not None:
            with contextlib.suppress(RuntimeError):  # the set may change under this thread's hands
                work = next((w for w in self._shop.executor.running if w.task is task), None)
        job_id = UUID(bytes=work.id) if work is not None else None
        job_type = work.handler.type.name if work is not None and work.handler is not None else None
        self.bus.emit(LoopBlocked(self.worker_id, seconds, job_id, job_type))

    async def _drain(self, shop: Workshop) -> None:
        """Finish or put back: nothing is lost, and no attempt is used up by a drain."""
        executor = shop.executor
        executor.draining = True
        grace = 0.0 if self._aborted.is_set() else self.config.grace
        self.bus.emit(WorkerDraining(self.worker_id, len(executor.running), grace))
        # First nothing more may arrive: a claim that is under way is waited for, and handed straight back.
        shop.hungry.set()
        if self.config.work:
            with contextlib.suppress(TimeoutError, psycopg.Error, OSError):
                await asyncio.wait_for(shop.claimer.quiet.wait(), 5.0)
                await asyncio.wait_for(shop.doorbell.leave_by(shop.control, self._session), 2.0)
        released = executor.release_waiting()
        waiting = asyncio.create_task(executor.finished(grace))
        aborted = asyncio.create_task(self._aborted.wait())
        await asyncio.wait({waiting, aborted}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        aborted.cancel()
        interrupted = len(executor.running)
        if interrupted:
            executor.interrupt()
            await executor.finished(min(1.0 if self._aborted.is_set() else 2.0, self.config.grace))
        abandoned = executor.abandon()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(shop.completer.flushed(), 5.0 if not self._aborted.is_set() else 1.0)
        self.summary = {"released": released, "interrupted": interrupted, "abandoned": abandoned}

    async def _close(self, shop: Workshop) -> None:
        session = self._session
        if self._lessor is not None:
            self._lessor.stop()
            await self._lessor.joined()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(shop.bookkeeper.write(), 2.0)
        if session is not None and not session.lost:
            ended = json.dumps(ended_with(self.counters.types()) | self.summary)
            with contextlib.suppress(psycopg.Error, OSError, TimeoutError):
                await asyncio.wait_for(
                    shop.control.rows("leases/close_session", [session.holder, ended]), 2.0
                )
            self.bus.emit(SessionClosed(self.worker_id, session.holder, "drained"))
        await shop.close()
        self.summary = {**became(self.counters.types()), **self.summary}
        self.bus.emit(WorkerStopped(self.worker_id, self.summary))


async def _ended(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel loops until all have ended: a library on the way may swallow one cancellation."""
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=0.5)
    await asyncio.gather(*tasks, return_exceptions=True)
