"""Everything that one worker run is made of, put together in one place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterable
from time import monotonic
from typing import TYPE_CHECKING, Any

from postmill.archive.storage import ArchiveStorage
from postmill.artifacts.storage import Storage
from postmill.domain.registering import refuse_budgets, refuse_unregistered
from postmill.engine.alarm import Alarm
from postmill.engine.bookkeeper import Bookkeeper
from postmill.engine.children import Children
from postmill.engine.claimer import Claimer
from postmill.engine.commands import Commands
from postmill.engine.completer import Completer
from postmill.engine.contexts import Contexts
from postmill.engine.counting import Counting
from postmill.engine.doorbell import Doorbell
from postmill.engine.executor import Executor
from postmill.engine.following import Following
from postmill.engine.held import Held
from postmill.engine.link import Link
from postmill.engine.listener import Listener
from postmill.engine.outage import Outage
from postmill.engine.session import Session
from postmill.engine.transaction import Transactions
from postmill.engine.tuner import Tuner
from postmill.engine.upkeep.advancer import Advancer
from postmill.engine.upkeep.archivist import Archivist
from postmill.engine.upkeep.booster import Booster
from postmill.engine.upkeep.budgets import Budgets
from postmill.engine.upkeep.clearer import Clearer
from postmill.engine.upkeep.deliverer import Deliverer
from postmill.engine.upkeep.monitor import Monitor
from postmill.engine.upkeep.operator import Operator
from postmill.engine.upkeep.promoter import Promoter
from postmill.engine.upkeep.pruner import Pruner
from postmill.engine.upkeep.rescuer import Rescuer
from postmill.engine.upkeep.roller import Roller
from postmill.engine.upkeep.round import Round
from postmill.engine.upkeep.scheduler import Scheduler
from postmill.engine.upkeep.sealer import Sealer
from postmill.engine.upkeep.sweeper import Sweeper
from postmill.engine.verdict import Verdicts
from postmill.engine.work import Handler
from postmill.store.budgets import register_budgets
from postmill.store.queues import register_queues
from postmill.store.registration import register_job_types
from postmill.store.triggers import register_triggers
from postmill.telemetry.gauges import Usage

if TYPE_CHECKING:
    from postmill.engine.worker import Worker

_LOOK_EVERY = 0.05  # seconds between two looks at the deadlines
_WAIT_AT_MOST = 2.0  # seconds for which a claimed ticket may wait here for a slot


class Workshop:
    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        dsn, schema, config = worker.dsn, worker.schema, worker.config
        self.hungry = Alarm()
        self.outage = Outage(worker.bus, worker.worker_id)
        self.control = Link(dsn, schema, "control", self.outage, prepared=config.prepared)
        self._links = [self.control]
        claims, reports = self._link("claim"), self._link("report")
        counting = Counting(enabled=config.statistics)
        self.completer = Completer(reports, Held(self._link("held")), worker.bus, worker.counters, counting)
        self.bookkeeper = Bookkeeper(self.control, self.completer.counting, worker.session)
        self.verdicts = Verdicts(worker.bus, worker.worker_id)
        self.handlers = self._handlers()
        slots = sum(queue.ceiling for queue in worker.queues.values())
        # Two each: a handler may put an artifact while a transaction of its own is open.
        self.transactions = Transactions(dsn, schema, 2 * slots, prepared=config.prepared)
        self.storage = Storage(config.artifacts)
        contexts = Contexts(
            dsn, schema, self.completer, self.transactions, worker.resources, self.storage, config
        )
        children = Children(
            contexts.spec,
            self.verdicts,
            self.completer,
            grace=min(5.0, config.grace),
            max_lost=config.max_lost,
        )
        self.executor = Executor(
            worker.queues,
            self.completer,
            self.verdicts,
            contexts.make,
            children,
            Commands(self.verdicts, self.storage, contexts.artifacts, grace=min(5.0, config.grace)),
            self.hungry,
            contexts.within_budget,
            contexts.of_workflow,
            limits=[handler.limit for handler in set(self.handlers.values()) if handler.limit is not None],
            threads=config.threads,
            stop_again=min(5.0, max(0.5, config.grace)),
        )
        self.doorbell = Doorbell(claims, self.hungry, notify=config.notify)
        self.claimer = Claimer(
            claims,
            worker.queues,
            self.handlers,
            self.executor,
            self.completer,
            self.doorbell,
            worker.counters,
            self.hungry,
            worker.bus,
            self.verdicts.facts,
            lambda: self.following.codes,
            prefetch=config.prefetch,
        )
        self.tuner = Tuner(
            worker.queues,
            worker.counters,
            worker.bus,
            lambda name: self.claimer.lanes[name].wants_slots(monotonic()),
            self.executor.resized,
        )
        self.following = Following(
            self._link("definitions"),
            self.handlers,
            worker.registry,
            worker.counters,
            worker.bus,
            ring=config.keys,
            limits=config.worker_limits,
            changed=self._definitions_changed,
            tell=self._tell_served,
        )
        self.deliverer = Deliverer(
            self._link("deliver", raw=False), worker.bus, worker.worker_id, worker.counters
        )
        self.operator = Operator(
            self._link("operate", raw=False), worker.bus, worker.worker_id, config.letters, config.keys
        )
        self.advancer = Advancer(self._link("workflows", raw=False), worker.bus, worker.worker_id)
        self.completer.stirred = self.advancer.wake
        # Until the monitor has noted what all of the fleet declares.
        worker.counters.gauges.dead_letters_as = {
            one.name: one.dead_letters_as for one in worker.registry.declared.values() if one.dead_letters_as
        }
        worker.counters.gauges.slots = lambda: {
            queue.name: Usage(queue.slots, queue.active) for queue in list(worker.queues.values())
        }
        worker.counters.gauges.ranges = lambda: {
            queue.name: (queue.floor, queue.ceiling) for queue in list(worker.queues.values()) if queue.ranged
        }
        worker.counters.gauges.pressure = self._pressure
        worker.counters.gauges.limits = lambda: {
            name: Usage(handler.limit.share, handler.limit.active)
            for name, handler in list(self.handlers.items())
            if handler.limit is not None
        }

    def _pressure(self) -> dict[str, float]:
        """What slots follow beside the work, where they do."""
        seen = self.tuner.pressure
        return {
            kind: share for kind, share in (("cpu", seen.cpu), ("memory", seen.memory)) if share is not None
        }

    def _link(self, role: str, *, raw: bool = True) -> Link:
        worker = self._worker
        link = Link(worker.dsn, worker.schema, role, self.outage, prepared=worker.config.prepared, raw=raw)
        self._links.append(link)
        return link

    def _handlers(self) -> dict[str, Handler]:
        """Handlers by job type and by each alias."""
        worker = self._worker
        made: dict[str, Handler] = {}
        for job_type in worker.registry:
            counters = worker.counters.of(job_type.name, job_type.queue)
            limit = worker.config.worker_limits.get(job_type.name, job_type.worker_limit)
            handler = Handler(job_type, counters, limit)
            for name in (job_type.name, *job_type.aliases):
                made[name] = handler
        return made

    async def register(self) -> None:
        """Make this worker's job types and budgets known; what an operator edited stays."""
        if self._worker.config.budgets:
            budgets = register_budgets(self._worker.config.budgets, schema=self._worker.schema)
            rows = await self.control.rows("budgets/register_budgets", budgets.args)
            refuse_budgets([(str(name), str(status)) for name, status in rows])
        if not self._worker.config.work:
            return
        await self._register_queues()
        statement = register_job_types(
            self._worker.registry, max_lost=self._worker.config.max_lost, schema=self._worker.schema
        )
        rows = await self.control.rows("jobs/register_job_types", statement.args)
        refuse_unregistered({str(name): str(status) for name, status in rows})
        declared = self._worker.registry
        if declared.modules:
            columns = [trigger.columns(module) for module, trigger in declared.triggers]
            triggers = register_triggers(declared.modules, columns, schema=self._worker.schema)
            await self.control.rows("triggers/register_triggers", triggers.args)
        await self.following.load()

    async def _register_queues(self) -> None:
        """Who answers for the queues, and what is promised, as settings and code declare it."""
        declared = list(self._worker.registry.declared.values())
        if declared:
            await self.control.rows("queues/register_queues", register_queues(declared).args)

    def _definitions_changed(self, queues: Iterable[str]) -> None:
        """Serve the commands there are: their queues, where nobody said which ones, and their limits."""
        worker = self._worker
        adopt = worker.config.adopt
        for name in queues if adopt is not None else ():
            made = adopt(name) if adopt is not None and name not in worker.queues else None
            if made is not None:
                self.claimer.adopt(made)
        self.executor.limits = [
            handler.limit for handler in set(self.handlers.values()) if handler.limit is not None
        ]

    def served(self) -> list[Any]:
        """What this worker serves, as the database keeps it of a session: queues, slots, job types, their versions."""
        queues = self._worker.queues
        slots = {name: queue.slots for name, queue in queues.items()}
        codes = {"definitions": self.following.codes}
        return [list(queues), json.dumps(slots), sorted(self.handlers), json.dumps(codes)]

    async def _tell_served(self, link: Link) -> None:
        session = self._worker.session()
        if session is not None:
            await link.rows("definitions/serve", [session.holder, *self.served()])
        # Not before: who has put a job back meanwhile has rung those of whom the database knew that they know its type. Nor is
        # a look enough, which does not see what has not committed; whoever lies down anew waits for that.
        self.claimer.types_changed()

    def use(self, session: Session) -> None:
        self.claimer.session = session
        self.completer.session = session
        self.doorbell.get_up()
        self.hungry.set()

    def start(self, tasks: list[asyncio.Task[None]]) -> None:
        """Start every loop; each runs until cancelled."""
        worker, config = self._worker, self._worker.config
        self.verdicts.refresh()
        self._loop(tasks, "completer", self.completer.run())
        self._loop(tasks, "held", self.completer.held.run())
        self._loop(tasks, "chores", self._chores())
        self._loop(tasks, "bookkeeper", self.bookkeeper.run())
        if config.work:
            self._loop(tasks, "claimer", self.claimer.run())
            self._loop(tasks, "definitions", self.following.run())
            self._loop(tasks, "tuner", self.tuner.run())
        if config.notify and config.work:
            listener = Listener(
                config.listen_dsn or worker.dsn,
                worker.schema,
                worker.heard,
                self._listening,
                worker.bus,
                worker.counters,
                probe_every=config.probe_every,
            )
            self._loop(tasks, "listener", listener.run())
        if config.upkeep:
            for round in self._rounds():
                self._loop(tasks, round.name, round.run())

    def _rounds(self) -> list[Round]:
        worker = self._worker
        bus, id = worker.bus, worker.worker_id
        return [
            Promoter(self._link("promote"), bus, id, self.claimer.news_of),
            Booster(self._link("boost", raw=False), bus, id),
            Rescuer(
                self._link("rescue"),
                bus,
                id,
                worker.session,
                worker.config.lease,
                worker.counters,
                self.advancer.wake,
            ),
            Pruner(self._link("prune"), bus, id, worker.config.retention),
            Sweeper(self._link("sweep"), bus, id),
            Budgets(self._link("budgets"), bus, id, worker.counters),
            Sealer(self._link("seal"), bus, id),
            *([Roller(self._link("rollup", raw=False), bus, id)] if worker.config.statistics else []),
            Monitor(self._link("monitor"), bus, id, worker.counters),
            Scheduler(self._link("schedule", raw=False), bus, id, worker.counters),
            self.deliverer,
            self.operator,
            self.advancer,
            *self._clearers(),
            *(make(self._link(role, raw=False), bus, id) for role, make in worker.config.rounds.items()),
            *self._archivists(),
        ]

    def _clearers(self) -> list[Round]:
        worker = self._worker
        if not self.storage.configured:
            return []  # others know where the files are
        return [Clearer(self._link("artifacts", raw=False), worker.bus, worker.worker_id, self.storage)]

    def _archivists(self) -> list[Round]:
        worker = self._worker
        storage = ArchiveStorage(worker.config.archive)
        if not storage.configured:
            return []
        link = self._link("archive", raw=False)
        return [Archivist(link, worker.bus, worker.worker_id, storage, worker.counters)]

    def _loop(self, tasks: list[asyncio.Task[None]], name: str, body: Coroutine[Any, Any, None]) -> None:
        tasks.append(asyncio.create_task(body, name=name))

    def _listening(self, listening: bool) -> None:
        self.doorbell.listening = listening
        self.doorbell.get_up()
        self.following.wake()  # what was told while nobody listened was told to nobody

    async def _chores(self) -> None:
        """Deadlines, tickets that wait too long here, progress."""
        written = monotonic()
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            self.executor.deadlines.look()
            now = monotonic()
            most = self._worker.config.max_jobs
            if most is not None and sum(type.started for type in self._worker.counters.types()) >= most:
                self._worker.drain()
            if now - written >= 1.0:
                written = now
                self.executor.release_waiting(older_than=_WAIT_AT_MOST)
                if self.completer.has_progress and not self.outage.lasting:
                    await self.completer.write_progress(self.control)

    async def close(self) -> None:
        await self.doorbell.close()
        await self.following.close()
        self.executor.close()
        await self.transactions.close()
        for link in self._links:
            await link.close()
