"""Claimed tickets to running handlers to outcomes: slots, timeouts, cancellation, drain."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import copy_context
from functools import partial
from time import monotonic, perf_counter
from typing import Any

from postmill.domain.workflow_told import Told
from postmill.engine.alarm import Alarm
from postmill.engine.children import Children
from postmill.engine.commands import Commands
from postmill.engine.completer import Completer
from postmill.engine.deadlines import Deadlines
from postmill.engine.refusals import refusal
from postmill.engine.reports import HELD, Report
from postmill.engine.result import encode_result
from postmill.engine.runner import MakeContext, Runner
from postmill.engine.verdict import Verdicts, micros_of
from postmill.engine.work import (
    EXPIRED,
    JOB_TYPE,
    LOST,
    SUSPECT,
    WORKFLOW,
    Handler,
    QueueSlots,
    TypeLimit,
    Work,
)

CheckBudget = Callable[[Work], Awaitable[None]]
"""Raises what ends a run that the budget of its type does not allow."""

AskWorkflow = Callable[[Work], Awaitable[Told]]
"""What the handler of a step may know of its workflow."""


class Executor:
    """Owns `running` and the queues' waiting tickets. Everything here happens on the loop, in no I/O."""

    def __init__(
        self,
        queues: Mapping[str, QueueSlots],
        completer: Completer,
        verdicts: Verdicts,
        make_context: MakeContext,
        children: Children,
        commands: Commands,
        hungry: Alarm,
        check_budget: CheckBudget,
        ask_workflow: AskWorkflow,
        *,
        limits: Iterable[TypeLimit],
        threads: int | None,
        stop_again: float,
    ) -> None:
        self.queues = queues
        self.running: set[Work] = set()  # by identity: after a lost lease the same job may be here twice
        self.draining = False
        self.paused_types: frozenset[str] = frozenset()
        self.limits = list(limits)
        self._stop_again = stop_again  # seconds between two cancellations of a coroutine that swallows them
        self._completer = completer
        self._verdicts = verdicts
        self._hungry = hungry
        self._check_budget = check_budget
        self._ask_workflow = ask_workflow
        self._children = children
        self._commands = commands
        self._children.ended = self._commands.ended = self.child_ended
        slots = sum(queue.ceiling for queue in queues.values())
        self._runner = Runner(self._ended, make_context, max(1, threads or slots))
        self.deadlines = Deadlines(self._timed_out, self.running)
        self._idle = asyncio.Event()
        self.permit_freed: Callable[[str], None] = lambda queue: None
        self.seats_freed: Callable[[Iterable[Work]], None] = lambda works: None
        self._create_task = _task_factory()

    def admit(self, works: Iterable[Work]) -> None:
        """Take over freshly claimed tickets. A drain that began meanwhile gives them straight back."""
        touched: dict[str, QueueSlots] = {}
        first: list[Work] = []
        room = {name: len(queue.waiting) >> 2 for name, queue in self.queues.items()}
        for work in works:
            handler = work.handler
            if handler is None:
                self._refuse(work)  # at once: others may start it
                continue
            queue = work.queue
            if work.newcomer and room[queue.name] > 0:
                room[queue.name] -= 1
                first.append(work)
            else:
                queue.waiting.append(work)
            if handler.limit is not None:
                handler.limit.held += 1
            touched[queue.name] = queue
        for work in reversed(first):
            work.queue.waiting.appendleft(work)
        if self.draining:
            self.release_waiting()
        for queue in touched.values():
            self._fill(queue)

    def resized(self, queue: QueueSlots) -> None:
        """There are more slots, or fewer: what waits here may start."""
        self._fill(queue)
        self._hungry.set()

    def _fill(self, queue: QueueSlots) -> None:
        # Eager tasks end within _start, which frees the slot, which would fill it again: no recursion here.
        if queue.filling:
            return
        queue.filling = True
        waiting = queue.waiting
        try:
            while waiting and queue.active < queue.slots:
                self._start(waiting.popleft())
        finally:
            queue.filling = False

    def _start(self, work: Work) -> None:
        handler = work.handler
        if handler is None or work.row[EXPIRED]:
            self._refuse(work)
            return
        limit = handler.limit
        if limit is not None:
            if limit.active >= limit.share:
                limit.parked.append(work)
                return
            limit.active += 1
        work.queue.active += 1
        self.running.add(work)
        handler.counters.started += 1
        work.started = perf_counter()
        if handler.budget is not None or work.row[WORKFLOW] is not None:
            runs = self._prepared(work, handler)
        elif handler.child or work.row[LOST] >= SUSPECT:
            work.stop = asyncio.Event()
            runs = (self._children if handler.command is None else self._commands).run(work, handler)
        elif handler.is_async:
            runs = self._runner.coroutine(work, handler)
        else:
            runs = self._runner.thread(work, handler)
        wanted = self._verdicts.wants_started
        if wanted and work.row[0][14:] < wanted:
            # In the handler's own context, so that a span that is opened there is current in the handler.
            context = copy_context()
            context.run(self._verdicts.started, work)
            work.task = self._create_task(runs, context=context)
        else:
            work.task = self._create_task(runs)

    async def _prepared(self, work: Work, handler: Handler) -> None:
        """A type with a budget: looked at before each run, which may end here. A step: told of its workflow."""
        try:
            if handler.budget is not None:
                await self._check_budget(work)
            if work.row[WORKFLOW] is not None and handler.ctx_param is not None:
                work.told = await self._ask_workflow(work)
        except BaseException as error:
            self._ended(work, error, None)
            return
        if handler.child or work.row[LOST] >= SUSPECT:
            work.stop = asyncio.Event()
            await (self._children if handler.command is None else self._commands).run(work, handler)
        elif handler.is_async:
            await self._runner.coroutine(work, handler)
        else:
            await self._runner.thread(work, handler)

    def _refuse(self, work: Work) -> None:
        """A ticket that cannot start: past its time, without a body, or of a type that others serve."""
        self._unheld(work)
        report = refusal(work)
        if report is None and work.row[JOB_TYPE] in self.paused_types:
            report = Report(work, "put_back", None, 0, delay=HELD)
        elif report is None:
            report = Report(work, "refuse", None, 0)
        elif report.reason == "expired" and work.handler is not None:
            self._verdicts.expired(work)
        self._completer.report(report)

    def _ended(self, work: Work, error: BaseException | None, result: Any) -> None:
        """A handler has returned or raised. The hot path is a success without a result."""
        if work.ended:
            return
        handler = work.handler
        assert handler is not None
        if error is None and not work.stopping:
            text = None
            if result is not None:
                try:
                    text = (encode_result(result) or b"null").decode()
                except Exception as unstorable:
                    self._settle(work, unstorable)
                    return
            elapsed = perf_counter() - work.started
            work.ended = True
            handler.counters.done(elapsed, work.row[3], work.started - work.ready)
            wanted = self._verdicts.wants_completed
            if wanted and work.row[0][14:] < wanted:
                self._verdicts.completed(work, elapsed)
            if not work.settled:
                self._completer.succeeded(work, text, int(elapsed * 1_000_000))
            else:
                self._completer.counting.settled(work, int(elapsed * 1_000_000))
            self._free(work, handler)
        else:
            self._settle(work, error)

    def _settle(self, work: Work, error: BaseException | None) -> None:
        work.ended = True
        handler = work.handler
        assert handler is not None
        if work.settled:
            self._verdicts.settled(work)
            self._completer.counting.settled(work, micros_of(work))
        elif not work.lost:
            try:
                report = self._verdicts.report(work, error)
            except BaseException as fault:  # an error that cannot even be looked at
                report = self._verdicts.report(
                    work, RuntimeError(f"{type(error).__name__}, unreadable: {type(fault).__name__}")
                )
            self._completer.report(report)
        self._free(work, handler)

    def child_ended(self, work: Work, report: Report | None, text: str | None) -> None:
        """A child process has reported: a success with its result text, or a finished report."""
        if work.ended:
            return
        work.ended = True
        handler = work.handler
        assert handler is not None
        if report is not None and not work.lost and not work.settled:
            self._completer.report(report)
        elif report is None and not work.lost:
            elapsed = perf_counter() - work.started
            handler.counters.done(elapsed, work.row[3], work.started - work.ready)
            wanted = self._verdicts.wants_completed
            if wanted and work.row[0][14:] < wanted:
                self._verdicts.completed(work, elapsed)
            if not work.settled:
                self._completer.succeeded(work, text, micros_of(work))
            else:
                self._completer.counting.settled(work, micros_of(work))
        self._free(work, handler)

    def _free(self, work: Work, handler: Handler) -> None:
        self.running.discard(work)
        if work.settled and work.row[WORKFLOW] is not None:
            self._completer.stirred()
        queue = work.queue
        queue.active -= 1
        queue.done += 1
        if work.settled:
            self.seats_freed((work,))
        limit = handler.limit
        if limit is not None:
            limit.active -= 1
            limit.held -= 1
            self.permit_freed(queue.name)
            if limit.parked and queue.active < queue.slots:
                queue.waiting.appendleft(limit.parked.popleft())
        if queue.waiting:
            self._fill(queue)
        if len(queue.waiting) <= queue.low:
            self._hungry.set()
        if not self.running:
            self._idle.set()

    def _timed_out(self, work: Work) -> None:
        work.why = work.why or "timeout"
        self._stop(work)

    def cancel(self, requests: Mapping[bytes, str]) -> None:
        """Cancel requests, reason by id: stop what runs here, end what waits here."""
        if not requests:
            return
        for work in self.running:
            if work.id in requests and not work.stopping:
                work.why, work.cancel_reason = "cancel", requests[work.id]
                self._stop(work)
        for work in self._waiting():
            reason = requests.get(work.id)
            if reason is not None:
                self._unqueue(work)
                report = Report(work, "finish", None, 0, status="canceled", reason=reason or "canceled")
                self._completer.report(report)

    def _stop(self, work: Work) -> None:
        """Ask a running handler to stop; again and again where a coroutine swallows it."""
        if work.ended:
            return
        handler = work.handler
        if work.stop is not None:
            work.stop.set()
        elif handler is not None and handler.is_async and work.task is not None:
            work.task.cancel()
            asyncio.get_running_loop().call_later(self._stop_again, self._stop, work)

    def _waiting(self) -> list[Work]:
        parked = [work for limit in self.limits for work in limit.parked]
        return parked + [work for queue in self.queues.values() for work in queue.waiting]

    def _unqueue(self, work: Work) -> None:
        if work in work.queue.waiting:
            work.queue.waiting.remove(work)
        elif work.handler is not None and work.handler.limit is not None:
            work.handler.limit.parked.remove(work)
        self._unheld(work)

    def _unheld(self, work: Work) -> None:
        """It leaves without having run."""
        work.ended = True
        if work.handler is not None and work.handler.limit is not None:
            work.handler.limit.held -= 1

    def release_waiting(self, queues: Iterable[str] | None = None, older_than: float = 0.0) -> int:
        """Give back tickets that have not started: of paused queues, of a drain, or waiting too long here."""
        edge = perf_counter() - older_than
        released = 0
        for work in self._waiting():
            if (queues is None or work.queue.name in queues) and work.claimed <= edge:
                # A parked one would come straight back: somebody else shall have it, or this one in a while.
                parked = work not in work.queue.waiting
                delay = random.uniform(1.0, 5.0) if parked and not self.draining else -1.0
                self._unqueue(work)
                self._completer.report(Report(work, "put_back", None, 0, delay=delay))
                released += 1
        return released

    def pause_types(self, names: frozenset[str]) -> None:
        """Tickets of these types do not start: what waits here of them is held until the pause is over."""
        fresh, self.paused_types = names - self.paused_types, names
        for work in self._waiting() if fresh else ():
            if work.row[JOB_TYPE] in fresh:
                self._unqueue(work)
                self._completer.report(Report(work, "put_back", None, 0, delay=HELD))

    async def finished(self, grace: float) -> bool:
        """Wait until nothing runs, at most `grace` seconds."""
        deadline = monotonic() + grace
        while self.running:
            self._idle.clear()
            try:
                await asyncio.wait_for(self._idle.wait(), max(0.0, deadline - monotonic()))
            except TimeoutError:
                return not self.running
        return True

    def interrupt(self) -> None:
        """Stop every running handler; each is put back as interrupted, at no cost of an attempt."""
        for work in list(self.running):
            work.why = work.why or "drain"
            self._stop(work)

    def abandon(self) -> int:
        """Report what still runs as interrupted and look at it no more: threads that cannot be stopped."""
        left = list(self.running)
        for work in left:
            self._settle(work, None)
        return len(left)

    def void(self) -> None:
        """The lease is over: whatever runs here is somebody else's. Stop it, report nothing."""
        for work in self._waiting():
            self._unqueue(work)
        for work in list(self.running):
            self._stop(work)

    def close(self) -> None:
        self._runner.close()


def _task_factory() -> Any:
    """Eager tasks where Python has them (3.12): a coroutine that never suspends needs no turn of the loop."""
    loop = asyncio.get_running_loop()
    eager = getattr(asyncio, "eager_task_factory", None)
    if eager is None:
        return loop.create_task
    return partial(eager, loop)
