"""Reports, grouped for a few milliseconds and written by one fenced statement per verb."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

import psycopg

from postmill.domain.error_record import ErrorRecord
from postmill.domain.text import clean
from postmill.engine.counting import Counting
from postmill.engine.database import is_conflict, is_outage
from postmill.engine.held import Held
from postmill.engine.link import Link
from postmill.engine.raw import Ids, Longs
from postmill.engine.reports import Report, Verb, arguments
from postmill.engine.session import Session
from postmill.engine.work import JOB_TYPE, TENANT, WORKFLOW, Work
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import ReportMissed

_GROUP_FOR = 0.002  # seconds; at 30,000 jobs a second a group of 60, which costs 1.3 times a group of 200
_AT_MOST = 500  # rows of one statement

_BYTES_AT_MOST = 8 << 20  # of results in one statement: the server takes no message above 1 GiB

Success = tuple[Work, str | None, int]


def _groups(succeeded: list[Success]) -> Iterator[list[Success]]:
    """Slices of bounded length and size."""
    group: list[Success] = []
    size = 0
    for line in succeeded:
        if len(group) >= _AT_MOST or size > _BYTES_AT_MOST:
            yield group
            group, size = [], 0
        group.append(line)
        if line[1] is not None:
            size += len(line[1])
    if group:
        yield group


class Completer:
    """One loop, one connection. `backlog` counts what is not written yet; the claimer stops above a bound."""

    def __init__(self, link: Link, held: Held, bus: Bus, counters: Counters, counting: Counting) -> None:
        self._link = link
        self.held = held
        self._bus = bus
        self.counters = counters
        self.counting = counting
        self.session: Session | None = None
        self.seats_freed: Callable[[Iterable[Work]], None] = lambda works: None
        self.backlog = 0
        self._succeeded: list[Success] = []
        self._forgotten: dict[str, list[Success]] = {}
        self._others: dict[Verb, list[Report]] = {}
        self._fanning: list[Success] = []
        self.stirred: Callable[[], None] = lambda: None  # called when a job of a workflow has ended
        self._progress: dict[bytes, tuple[Work, float, float | None, str | None]] = {}
        self._wake = asyncio.Event()
        self._flushed = asyncio.Event()
        self._flushed.set()

    def succeeded(self, work: Work, result: str | None, micros: int) -> None:
        if work.completes:
            self.held.keep(work, lambda: self._succeed(work, result, micros))
        else:
            self._succeed(work, result, micros)

    def _succeed(self, work: Work, result: str | None, micros: int) -> None:
        if work.fanned is not None:
            self._fanning.append((work, result, micros))
        elif work.handler is not None and work.handler.forget and work.row[WORKFLOW] is None:
            self._forgotten.setdefault(work.handler.type.name, []).append((work, None, micros))
        else:
            self._succeeded.append((work, result, micros))
        self._more()

    def report(self, report: Report) -> None:
        if report.work.completes:
            self.held.keep(report.work, lambda: self._put(report))
        else:
            self._put(report)

    def _put(self, report: Report) -> None:
        self._others.setdefault(report.verb, []).append(report)
        self._more()

    def progress(self, work: Work, done: float, total: float | None, text: str | None) -> None:
        self._progress[work.id] = (work, done, total, None if text is None else clean(text, 1000))

    def _more(self) -> None:
        self.backlog += 1
        if self.backlog == 1:
            self._flushed.clear()
            self._wake.set()

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self.backlog < _AT_MOST:
                await asyncio.sleep(_GROUP_FOR)
            while self.backlog:
                await self._flush()
            self._flushed.set()

    async def flushed(self) -> None:
        """Until everything reported so far is written (or void)."""
        await self.held.empty()
        await self._flushed.wait()

    async def _flush(self) -> None:
        succeeded, self._succeeded = self._succeeded, []
        forgotten, self._forgotten = self._forgotten, {}
        others, self._others = self._others, {}
        fanning, self._fanning = self._fanning, []
        for group in _groups(succeeded):
            await self._complete(group)
        for name, group in forgotten.items():
            for at in range(0, len(group), _AT_MOST):
                await self._forget(name, group[at : at + _AT_MOST])
        for line in fanning:
            await self._fan(line)
        for verb, reports in others.items():
            for at in range(0, len(reports), _AT_MOST):
                await self._report(verb, reports[at : at + _AT_MOST])

    async def _complete(self, group: list[Success]) -> None:
        self.backlog -= len(group)
        group = [line for line in group if not line[0].lost]
        results = [line[1] for line in group]
        flows = [line[0].row[WORKFLOW] for line in group]
        in_flow = any(flow is not None for flow in flows)
        args: list[Any] = [
            Ids([work.row[0] for work, _, _ in group]),
            Longs([work.claim_no for work, _, _ in group]),
            Ids([work.row[TENANT] for work, _, _ in group]),
            Longs([micros for _, _, micros in group]),
            results if any(result is not None for result in results) else None,
            None,
            [None if flow is None else UUID(bytes=flow) for flow in flows] if in_flow else None,
        ]
        try:
            missed = await self._write("report/complete", args, [work for work, _, _ in group])
        except psycopg.Error as error:
            # A result that cannot be stored. Alone it fails its job; the others are not its business.
            if len(group) > 1:
                for line in group:
                    self.backlog += 1
                    await self._complete([line])
                return
            work, _, micros = group[0]
            record = ErrorRecord("Unstorable", message=f"the result could not be stored: {error}")
            report = Report(work, "bury", "failed", micros, reason="permanent_error", error=record)
            await self._send("bury", [report])
            return
        if in_flow:
            self.stirred()
        if missed is not None:
            self.counting.succeeded(group, missed)

    async def _fan(self, line: Success) -> None:
        """A step that brings more of them: its success and they are one transaction."""
        work, result, micros = line
        self.backlog -= 1
        if work.lost:
            return
        flow = UUID(bytes=work.row[WORKFLOW])
        ids = [UUID(bytes=work.id), work.claim_no, UUID(bytes=work.row[TENANT])]
        try:
            args = [*ids, micros, result, flow, work.fanned]
            missed = await self._write("report/complete_fanning", args, [work])
        except psycopg.Error as error:
            told = error.diag.message_primary or str(error)
            record = ErrorRecord("WorkflowRefused", message=told.removeprefix("postmill: "))
            report = Report(work, "bury", "failed", micros, reason="permanent_error", error=record)
            await self._send("bury", [report])
            return
        self.stirred()
        if missed is not None:
            self.counting.succeeded([line], missed)

    async def _forget(self, name: str, group: list[Success]) -> None:
        self.backlog -= len(group)
        group = [line for line in group if not line[0].lost]
        works = [work for work, _, _ in group]
        args: list[Any] = [Ids([w.row[0] for w in works]), Longs([w.claim_no for w in works]), name]
        missed = await self._write("report/complete_forgotten", args, works)
        if missed is not None:
            self.counting.succeeded(group, missed)

    async def _report(self, verb: Verb, group: list[Report]) -> None:
        self.backlog -= len(group)
        group = [report for report in group if not report.work.lost]
        try:
            await self._send(verb, group)
        except psycopg.Error as error:
            # Something in the texts cannot be stored. Alone the culprit is reported without them.
            if len(group) > 1:
                for report in group:
                    self.backlog += 1
                    await self._report(verb, [report])
                return
            report = group[0]
            report.error = ErrorRecord(
                error_class="Unstorable", message=f"the error could not be stored: {error}"
            )
            report.stdout_tail = report.stderr_tail = None
            await self._send(verb, group)

    async def _send(self, verb: Verb, group: list[Report]) -> None:
        for report in group:
            if report.error is not None:
                handler, row = report.work.handler, report.work.row
                name = handler.type.name if handler is not None else row[JOB_TYPE] or "unknown"
                report.group = self.counting.failures.group(name, report.error)
        args = arguments(verb, None, group)[1:]
        works = [report.work for report in group]
        missed = await self._write(f"report/{verb}", args, works)
        if any(work.row[WORKFLOW] is not None for work in works):
            self.stirred()
        if missed is not None:
            self.counting.reported(group, missed)

    async def _write(self, path: str, args: Sequence[Any], works: list[Work]) -> Collection[bytes] | None:
        """One statement, repeated until the database has answered or the lease is over.

        The ids of the jobs that it did not end; None: nobody knows of any.
        """
        session = self.session
        if not works or session is None:
            return None
        uncertain = False
        while True:
            if session.lost:
                return None
            try:
                rows = await self._link.rows(path, [session.holder, *args])
            except (psycopg.Error, OSError) as error:
                if is_conflict(error):
                    await asyncio.sleep(0.05)
                    continue
                if not is_outage(error):
                    raise
                # The answer is lost, not the effect: repeat, and ask history about what the repetition missed.
                uncertain = True
                await self._link.pause(error)
                continue
            self._link.backoff.reset()
            self.counters.report_batches += 1
            self.counters.reports += len(works)
            self.seats_freed(works)
            if not rows:
                return ()
            return await self._missed(path, [bytes(row[0]) for row in rows], works, session, uncertain)

    async def _missed(
        self, path: str, ids: list[bytes], works: list[Work], session: Session, uncertain: bool
    ) -> Collection[bytes]:
        claims = {work.id: work for work in works}
        if uncertain or any(claims[id].ctx is not None for id in ids):
            numbers = Longs([claims[id].claim_no for id in ids])
            rows = await self._link.retried("report/settled", [session.holder, Ids(ids), numbers])
            applied = {bytes(row[0]) for row in rows}
            ids = [id for id in ids if id not in applied]
            if uncertain and path == "report/complete_forgotten":
                ids = []  # it leaves no trace to be found
        if ids:
            self.counters.missed_reports += len(ids)
            self._bus.emit(
                ReportMissed(worker_id=self.counters.worker_id, job_ids=tuple(UUID(bytes=id) for id in ids))
            )
        return ids

    @property
    def has_progress(self) -> bool:
        return bool(self._progress)

    async def write_progress(self, link: Link) -> None:
        """Write the last word of each job that told something since the last call. What cannot be written is dropped."""
        told, self._progress = self._progress, {}
        for id, (work, done, total, text) in told.items():
            if not work.ended and self.session is not None:
                holder = self.session.holder
                args = [UUID(bytes=id), holder, work.claim_no, done, total, text]
                try:
                    await link.rows("report/progress", args)
                except (psycopg.Error, OSError):
                    return
