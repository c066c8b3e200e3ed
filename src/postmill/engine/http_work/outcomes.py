"""What comes of a job in the hands of an HTTP worker: flows, each to be run in one transaction.

The rules are those of every worker: the same functions decide, and the same statements of the database write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter
from typing import Any
from uuid import UUID

from postmill.domain.error_group import group_of
from postmill.domain.error_record import ErrorRecord
from postmill.domain.errors import LeaseLost, NotFound, WorkflowRefused
from postmill.domain.outcome import Failed
from postmill.engine.http_work.fanning import FanOut
from postmill.engine.http_work.handlers import Handlers
from postmill.engine.http_work.reported import ErrorReport, revive
from postmill.engine.http_work.works import work_of
from postmill.engine.reports import Report
from postmill.engine.unsaid import without_secrets
from postmill.engine.verdict import Verdicts
from postmill.engine.work import Work
from postmill.store import work as store
from postmill.store.flow import Flow
from postmill.telemetry.bus import Bus

Answer = dict[str, Any]
Progress = tuple[float, float | None, str | None]


@dataclass(frozen=True, slots=True)
class Held:
    """The fence under which a worker reports."""

    job_id: UUID
    holder: UUID
    claim_no: int


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The flows, and what they tell others by.

    Attributes:
        handlers: of definitions.
        verdicts: by the name of the worker.
        bus: where events go.
        schema: where Postmill's tables are.
    """

    handlers: Handlers
    verdicts: Callable[[str], Verdicts]
    bus: Bus
    schema: str

    def heartbeat(self, held: Held, progress: Progress | None) -> Flow[Answer]:
        """Renew the job's lease. Past its deadline the job is ended instead: `timed_out`.

        Raises:
            NotFound: there is no such job in scope.
            LeaseLost: the fence holds no more.
        """
        beat: store.Beat = yield store.beat_work(
            held.job_id, held.holder, held.claim_no, progress, schema=self.schema
        )
        if beat.status == "renewed":
            return {
                "job_id": str(held.job_id),
                "lease_expires_at": _text(beat.lease_expires_at),
                "deadline": _text(beat.deadline),
                "cancel_requested": bool(beat.cancel_requested),
                "cancel_reason": beat.cancel_reason,
                "timed_out": False,
            }
        found = yield from self._held(held, "timeout")
        if found.answer is not None:
            return _timed_out(held)
        if beat.status == "over":
            raise LeaseLost(_OVER)
        work, verdicts = yield from self._work(held, found)
        work.why = "timeout"
        yield from self._report(held, "timeout", work, verdicts.report(work, None))
        return _timed_out(held)

    def complete(self, held: Held, result: str | None, fan_out: FanOut | None = None) -> Flow[Answer]:
        """The job has succeeded; `result` is JSON text. The same fence once more has the same answer.

        Args:
            fan_out: steps that come with it.

        Raises as `heartbeat` does, and WorkflowRefused, PayloadRefused: the steps cannot be, and nothing was changed.
        """
        found = yield from self._held(held, "complete")
        if found.answer is not None:
            return found.answer
        work, verdicts = yield from self._work(held, found)
        handler = work.handler
        assert handler is not None
        report = "complete_forgotten" if handler.forget else "complete"
        fields = {"job_type": handler.type.name}
        answer = {"job_id": str(held.job_id), "status": "succeeded", "attempt": work.row[3], "steps": []}
        if fan_out is not None:
            assert found.job is not None
            names, text = yield from fan_out.made(self.schema, found.job.get("workflow"))
            done, why = yield store.fan_work(
                held.job_id, held.holder, held.claim_no, text, schema=self.schema
            )
            if done == "over":
                raise LeaseLost(_OVER)
            if done == "refused":
                raise WorkflowRefused(why or "the steps are refused")
            answer["steps"] = names
        written = yield from self._write(held, "complete", report, fields, result, answer)
        elapsed = perf_counter() - work.started
        handler.counters.done(elapsed, work.row[3], work.started - work.ready)
        if verdicts.wants_completed:
            verdicts.completed(work, elapsed)
        return written

    def workflow(self, held: Held) -> Flow[Answer]:
        """What the job's worker is told of its workflow, and of what the parents gave.

        Raises as `heartbeat` does; NotFound also where the job is in no workflow.
        """
        status, told = yield store.work_workflow(held.job_id, held.holder, held.claim_no, schema=self.schema)
        if status == "over":
            raise LeaseLost(_OVER)
        if told is None:
            what = f"there is no job {held.job_id}"
            raise NotFound(what if status == "unknown" else f"job {held.job_id} is in no workflow")
        return dict(told)

    def fail(self, held: Held, error: ErrorReport) -> Flow[Answer]:
        """The attempt has failed: retried, given up or, where that was asked for, canceled, by the definition's rules.

        Raises as `heartbeat` does.
        """
        found = yield from self._held(held, "fail")
        if found.answer is not None:
            return found.answer
        work, verdicts = yield from self._work(held, found)
        if found.cancel_requested:
            work.why, work.cancel_reason = "cancel", found.cancel_reason or ""
        report = verdicts.report(work, revive(error))
        if report.error is not None and error.stack:
            report.error = _with_stack(work, report.error, error.stack)
        return (yield from self._report(held, "fail", work, report))

    def refuse(self, held: Held, report: Report) -> Flow[Answer]:
        """End a job that was claimed and cannot be handed out."""
        return (yield from self._report(held, "refuse", report.work, report))

    def _held(self, held: Held, verb: str) -> Flow[store.HeldWork]:
        """The job under the fence, or the answer to this verb that it had before."""
        found: store.HeldWork = yield store.held_work(
            held.job_id, held.holder, held.claim_no, schema=self.schema
        )
        if found.status == "unknown":
            raise NotFound(f"there is no job {held.job_id}")
        if found.status == "over" or (found.status == "ended" and found.verb != verb):
            raise LeaseLost(_OVER)
        return found

    def _work(self, held: Held, found: store.HeldWork) -> Flow[tuple[Work, Verdicts]]:
        facts = found.job
        assert facts is not None
        name, queue = facts.get("job_type") or "", facts["queue"]
        rows = yield store.work_types([name], schema=self.schema)
        known = self.handlers.of(rows).get(name)
        handler = known[0] if known else self.handlers.unknown(name, queue)
        return work_of(facts, held.holder, handler), self.verdicts(facts["worker_id"] or "")

    def _report(self, held: Held, verb: str, work: Work, report: Report) -> Flow[Answer]:
        error = report.error
        fields = {
            "attempt_status": report.attempt_status,
            "delay": report.delay,
            "status": report.status,
            "reason": report.reason,
            "error_class": error and error.error_class,
            "error_code": error and error.error_code,
            "error_message": error and error.message,
            "error_status": error and error.status,
            "stack": error and error.stack,
        }
        if error is not None:
            name = work.handler.type.name if work.handler is not None else "unknown"
            group = group_of(name, error)
            fields |= {"error_group": group.id, "group_message": group.message}
        status = {"put_back": "scheduled", "bury": "dead_letter"}.get(report.verb, report.status)
        answer = {
            "job_id": str(held.job_id),
            "status": status,
            "attempt": work.row[3],
            "reason": report.reason,
            "retry_at": None,
        }
        return (yield from self._write(held, verb, report.verb, fields, None, answer))

    def _write(
        self, held: Held, verb: str, report: str, fields: Answer, result: str | None, answer: Answer
    ) -> Flow[Answer]:
        written: Answer | None = yield store.report_work(
            held.job_id, held.holder, held.claim_no, verb, report, fields, result, answer, schema=self.schema
        )
        if written is None:
            raise LeaseLost(_OVER)
        return written


_OVER = "this fence holds no more: the job's lease ended, or it was reported already; drop the work"


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _timed_out(held: Held) -> Answer:
    return {
        "job_id": str(held.job_id),
        "lease_expires_at": None,
        "deadline": None,
        "cancel_requested": False,
        "cancel_reason": None,
        "timed_out": True,
    }


def _with_stack(work: Work, error: ErrorRecord, stack: str) -> ErrorRecord:
    """The record with the worker's own stack, its secrets hidden like the message's."""
    shown = without_secrets(work, Failed("", replace(error, stack=stack)))
    assert isinstance(shown, Failed)
    return shown.error
