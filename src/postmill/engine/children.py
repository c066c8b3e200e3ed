"""Jobs in a child process of their own: those that ask for it, and suspects that took a worker down before."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

from postmill.domain.error_record import ErrorRecord
from postmill.engine.child_error import revive
from postmill.engine.child_spec import ChildResult, ChildSpec
from postmill.engine.completer import Completer
from postmill.engine.process import run_in_child
from postmill.engine.reports import Report
from postmill.engine.verdict import Verdicts, micros_of
from postmill.engine.work import ATTEMPT, LOST, MAX_ATTEMPTS, PAYLOAD, Handler, Work

_MAX_LOST = 3  # deaths of a job's own child before it is buried

Ended = Callable[[Work, Report | None, str | None], None]
MakeSpec = Callable[[Work], ChildSpec]


class Children:
    def __init__(
        self, make_spec: MakeSpec, verdicts: Verdicts, completer: Completer, *, grace: float
    ) -> None:
        self._make_spec = make_spec
        self._verdicts = verdicts
        self._completer = completer
        self._grace = grace
        self._rng = random.Random()
        self.ended: Ended = _unset

    async def run(self, work: Work, handler: Handler) -> None:
        """Run one job to its report. Timeouts are the wheel's, as for every other job: it sets `work.stop`."""
        work.stop = asyncio.Event()
        if work.stopping:
            work.stop.set()
        try:
            result = await run_in_child(
                self._make_spec(work),
                timeout=None,
                grace=self._grace,
                cancel=work.stop,
                on_progress=lambda done, total, text: self._completer.progress(work, done, total, text),
            )
        except Exception as error:
            self.ended(work, self._verdicts.report(work, error), None)
            return
        work.settled = work.settled or result.settled
        if result.status == "succeeded" and not work.stopping:
            self.ended(work, None, result.result.decode() if result.result is not None else None)
            return
        report = self._report(work, handler, result)
        report.pid, report.exit_code = result.pid, result.exit_code
        report.stdout_tail, report.stderr_tail = result.stdout_tail, result.stderr_tail
        self.ended(work, report, None)

    def _report(self, work: Work, handler: Handler, result: ChildResult) -> Report:
        if result.status == "died" and not work.stopping:
            return self._died(work, handler, result)
        if result.status == "raised":
            return self._verdicts.report(work, revive(result))
        return self._verdicts.report(work, None)

    def _died(self, work: Work, handler: Handler, result: ChildResult) -> Report:
        """The child is gone without an answer: a lost attempt, which counts towards max_lost."""
        message = str((result.error or {}).get("message") or "the child process died")
        record = ErrorRecord("ProcessDied", str(result.signal or result.exit_code), message)
        deaths = max(1, work.row[LOST]) if work.row[LOST] else 1
        spent = work.row[ATTEMPT] >= work.row[MAX_ATTEMPTS] or deaths >= _MAX_LOST
        micros = micros_of(work)
        handler.counters.failed_attempt("ProcessDied", micros / 1e6, 0.0, retried=not spent)
        if not spent:
            # lost counts the worker's loss as 1 and each death of the child as one more.
            more = 1 if work.row[LOST] else 2
            delay = self._rng.uniform(0.5, 2.0)
            return Report(work, "put_back", "lost", micros, delay=delay, error=record, deaths=more)
        handler.counters.bury("worker_lost", work.row[ATTEMPT])
        if handler.type.on_exhausted == "fail":
            return Report(work, "finish", "lost", micros, status="failed", reason="worker_lost", error=record)
        return Report(work, "bury", "lost", micros, reason="worker_lost", error=record)


def context_of(work: Work) -> dict[str, Any]:
    """What the child needs to know of its job."""
    return {
        "id": str(UUID(bytes=work.id)),
        "attempt": work.row[ATTEMPT],
        "payload_bytes": len(work.row[PAYLOAD]),
    }


def _unset(work: Work, report: Report | None, text: str | None) -> None:
    raise RuntimeError("Children.ended is not set")
