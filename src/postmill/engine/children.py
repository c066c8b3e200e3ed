"""Jobs in a child process of their own: those that ask for it, and suspects that took a worker down before."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
from collections.abc import Callable
from functools import partial
from time import perf_counter

from postmill.domain.error_record import ErrorRecord
from postmill.domain.outcome import WORKER_LOST, Buried, Failed, Outcome, Retrying
from postmill.domain.redaction import redacted_text
from postmill.engine.child_error import record_of, revive
from postmill.engine.child_spec import ChildResult, ChildSpec
from postmill.engine.completer import Completer
from postmill.engine.process import run_in_child
from postmill.engine.reports import Report
from postmill.engine.unsaid import secrets_of, unsaid
from postmill.engine.verdict import Verdicts, micros_of
from postmill.engine.work import ATTEMPT, LOST, MAX_ATTEMPTS, PAYLOAD, SUSPECT, TIMEOUT, Handler, Work

Ended = Callable[[Work, Report | None, str | None], None]
MakeSpec = Callable[[Work, bytes], ChildSpec]


class Children:
    def __init__(
        self, make_spec: MakeSpec, verdicts: Verdicts, completer: Completer, *, grace: float, max_lost: int
    ) -> None:
        self._make_spec = make_spec
        self._verdicts = verdicts
        self._completer = completer
        self._grace = grace
        self._max_lost = max_lost
        self._rng = random.Random()
        self._few = asyncio.Semaphore(max(2, os.cpu_count() or 2))
        self.ended: Ended = _unset

    async def run(self, work: Work, handler: Handler) -> None:
        """Run one job to its report. Suspects come in floods, and a child costs 0.3 s of a processor: a few at once."""
        assert work.stop is not None
        try:
            async with self._few if work.row[LOST] >= SUSPECT else contextlib.nullcontext():
                if work.stopping:
                    work.stop.set()
                payload = work.row[PAYLOAD][1:] if handler.guard is None else await handler.guard.admit(work)
                work.started = perf_counter()
                result = await run_in_child(
                    self._make_spec(work, payload),
                    timeout=work.row[TIMEOUT],
                    grace=self._grace,
                    cancel=work.stop,
                    on_spent=partial(self._completer.counters.spend, handler.type.name),
                    on_progress=lambda done, total, text: self._completer.progress(work, done, total, text),
                )
        except Exception as error:
            self.ended(work, self._verdicts.report(work, error), None)
            return
        work.settled = work.settled or result.settled
        work.fanned = result.fanned
        if work.lost:
            self.ended(work, None, None)  # whatever came of it is somebody else's job by now
            return
        if result.status == "timeout":
            work.why = work.why or "timeout"
        if result.status == "succeeded" and not work.stopping:
            self.ended(work, None, result.result.decode() if result.result is not None else None)
            return
        report = self._report(work, handler, result)
        report.pid, report.exit_code = result.pid, result.exit_code
        secrets = secrets_of(work)
        if report.error is not None and secrets:
            report.error = unsaid(report.error, secrets)
        report.stdout_tail = redacted_text(result.stdout_tail, secrets)
        report.stderr_tail = redacted_text(result.stderr_tail, secrets)
        self.ended(work, report, None)

    def _report(self, work: Work, handler: Handler, result: ChildResult) -> Report:
        if result.status == "died" and not work.stopping:
            return self._died(work, handler, result)
        if result.status == "raised":
            report = self._verdicts.report(work, revive(result))
            report.error = report.error and record_of(result)  # with the child's own stack
            return report
        return self._verdicts.report(work, None)

    def _died(self, work: Work, handler: Handler, result: ChildResult) -> Report:
        """The child is gone without an answer: a lost attempt, which counts towards max_lost."""
        message = str((result.error or {}).get("message") or "the child process died")
        record = ErrorRecord("ProcessDied", str(result.signal or result.exit_code), message)
        lost = work.row[LOST]
        deaths = max(0, lost - SUSPECT) + 1  # each death of a child adds one to what made it a suspect
        micros = micros_of(work)
        outcome: Outcome
        if work.row[ATTEMPT] < work.row[MAX_ATTEMPTS] and deaths < self._max_lost:
            outcome = Retrying(self._rng.uniform(0.5, 2.0), record)
        elif handler.type.on_exhausted == "fail":
            outcome = Failed(WORKER_LOST, record)
        else:
            outcome = Buried(WORKER_LOST, record)
        self._verdicts.announce(work, outcome, micros)
        report = self._verdicts.written(work, outcome, "lost", micros)
        report.deaths = max(lost, SUSPECT) + 1 - lost
        return report


def _unset(work: Work, report: Report | None, text: str | None) -> None:
    raise RuntimeError("Children.ended is not set")
