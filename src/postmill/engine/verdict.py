"""From a handler's error to the report of its attempt, with the events and counters that go with it."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, TypeAlias
from uuid import UUID

from postmill.domain import outcome as outcomes
from postmill.domain.classify import classify
from postmill.domain.errors import TimedOut
from postmill.domain.outcome import Outcome, decide
from postmill.engine.logged import log_fields
from postmill.engine.reports import Report
from postmill.engine.unsaid import without_secrets
from postmill.engine.work import (
    ATTEMPT,
    CORRELATION_ID,
    MAX_ATTEMPTS,
    PROJECT,
    REQUEST_ID,
    TENANT,
    TIMEOUT,
    TRACEPARENT,
    Work,
)
from postmill.telemetry.bus import Bus
from postmill.telemetry.event import JobFacts
from postmill.telemetry.events import (
    JobCanceled,
    JobCompleted,
    JobDeadLettered,
    JobDeferred,
    JobFailed,
    JobInterrupted,
    JobRetryScheduled,
    JobSnoozed,
    JobStarted,
    PolicyBroken,
)

LastError: TypeAlias = tuple[datetime, JobFacts, str, str]
"""When which job failed, the class of its error and what it said."""


def micros_of(work: Work) -> int:
    """Microseconds since the handler's start; 0 if it never started."""
    return int((perf_counter() - work.started) * 1_000_000) if work.started else 0


class Verdicts:
    """Decides, counts and tells. The only place of the engine that emits events about a job's end."""

    def __init__(self, bus: Bus, worker_id: str, rng: random.Random | None = None) -> None:
        self._bus = bus
        self._worker_id = worker_id
        self._rng = rng or random.Random()
        self.last_error: LastError | None = None
        self.refresh()

    def refresh(self) -> None:
        """Look again who listens, and to how many jobs; the hot path asks two plain attributes."""
        self.wants_started = self._bus.limit(JobStarted)
        self.wants_completed = self._bus.limit(JobCompleted)

    def facts(self, work: Work) -> JobFacts:
        row, handler = work.row, work.handler
        assert handler is not None
        return JobFacts(
            job_id=UUID(bytes=row[0]),
            job_type=handler.type.name,
            queue=work.queue.name,
            tenant_id=UUID(bytes=row[TENANT]),
            attempt=row[ATTEMPT],
            worker_id=self._worker_id,
            project_id=UUID(bytes=row[PROJECT]) if row[PROJECT] else None,
            request_id=row[REQUEST_ID],
            correlation_id=row[CORRELATION_ID],
            traceparent=row[TRACEPARENT],
            handler=handler.function,
            fields=log_fields(work),
        )

    def started(self, work: Work) -> None:
        self._bus.emit(JobStarted(self.facts(work), waited=work.started - work.ready))

    def completed(self, work: Work, seconds: float) -> None:
        self._bus.emit(JobCompleted(self.facts(work), duration_ms=seconds * 1000))

    def settled(self, work: Work) -> None:
        """It completed within its own transaction; what came after does not count."""
        assert work.handler is not None
        seconds = perf_counter() - work.started
        work.handler.counters.done(seconds, work.row[ATTEMPT], work.started - work.ready)
        if work.row[0][14:] < self.wants_completed:
            self.completed(work, seconds)

    def succeeded(self, work: Work) -> Report:
        """The report of a success that has more to tell than its result: a command's."""
        self.settled(work)
        return Report(work, "finish", "succeeded", micros_of(work), status="succeeded")

    def expired(self, work: Work) -> None:
        assert work.handler is not None
        work.handler.counters.bury("expired", work.row[ATTEMPT])
        self._bus.emit(JobDeadLettered(self.facts(work), reason="expired"))

    def report(self, work: Work, error: BaseException | None) -> Report:
        """The report of an attempt that did not simply succeed."""
        if work.why == "drain":
            return self._interrupted(work)
        if work.why == "cancel":
            return self._told(work, outcomes.Canceled(work.cancel_reason), error)
        if work.why == "timeout":
            error = TimedOut(work.row[TIMEOUT])
        return self._told(work, self.decide(work, error), error)

    def decide(self, work: Work, error: BaseException | None) -> Outcome:
        assert work.handler is not None
        job_type = work.handler.type
        verdict = None
        if error is not None:
            verdict = classify(error, now=datetime.now(UTC), classifier=job_type.classifier)
        return decide(
            error,
            attempt=work.row[ATTEMPT],
            max_attempts=work.row[MAX_ATTEMPTS],
            policy=job_type.retry,
            verdict=verdict,
            on_exhausted=job_type.on_exhausted,
            rng=self._rng,
        )

    def _interrupted(self, work: Work) -> Report:
        assert work.handler is not None
        micros = micros_of(work)
        work.handler.counters.interrupt()
        self._bus.emit(JobInterrupted(self.facts(work), duration_ms=micros / 1000))
        return Report(work, "put_back", "interrupted", micros)

    def _told(self, work: Work, outcome: Outcome, error: BaseException | None) -> Report:
        micros = micros_of(work)
        failed = "timeout" if work.why == "timeout" else "failed"
        outcome = without_secrets(work, outcome)
        report = self.written(work, outcome, failed, micros)
        self.announce(work, outcome, micros)
        return report

    def written(self, work: Work, outcome: Outcome, failed: str, micros: int) -> Report:
        """The report that stores this outcome; `failed` is the status of a failed attempt in history."""
        match outcome:
            case outcomes.Retrying(delay=delay, error=record):
                return Report(work, "put_back", failed, micros, delay=delay, error=record)
            case outcomes.Snoozed(delay=delay):
                return Report(work, "put_back", "snoozed", micros, delay=delay)
            case outcomes.Deferred(reason=reason):
                return Report(work, "finish", "succeeded", micros, status="succeeded", reason=reason)
            case outcomes.Canceled(reason=reason):
                reason = reason or "canceled"
                return Report(work, "finish", "canceled", micros, status="canceled", reason=reason)
            case outcomes.Failed(reason=reason, error=record):
                return Report(work, "finish", failed, micros, status="failed", reason=reason, error=record)
            case outcomes.Buried(reason=reason, error=record):
                return Report(work, "bury", failed, micros, reason=reason, error=record)
        raise AssertionError(outcome)

    def announce(self, work: Work, outcome: Outcome, micros: int) -> None:
        assert work.handler is not None
        counters, attempt = work.handler.counters, work.row[ATTEMPT]
        seconds, waited, ms = micros / 1e6, work.started - work.ready, micros / 1000
        facts = self.facts(work)
        match outcome:
            case outcomes.Retrying(delay=delay, error=error, fallback=fallback):
                if fallback is not None:
                    self._bus.emit(PolicyBroken(facts.job_type, fallback))
                counters.failed_attempt(error.error_class, seconds, waited, retried=True)
                self._failed(facts, error, ms, will_retry=True, delay=delay, fallback=fallback)
                self._bus.emit(JobRetryScheduled(facts, delay=delay))
            case outcomes.Snoozed(delay=delay, reason=reason):
                counters.snooze()
                self._bus.emit(JobSnoozed(facts, delay=delay, reason=reason, duration_ms=ms))
            case outcomes.Deferred(reason=reason):
                counters.done(seconds, attempt, waited)
                counters.throttled["defer"] += 1
                self._bus.emit(JobDeferred(facts, reason=reason))
                self._bus.emit(JobCompleted(facts, duration_ms=ms))
            case outcomes.Canceled(reason=reason):
                counters.cancel()
                self._bus.emit(JobCanceled(facts, reason=reason, duration_ms=ms))
            case outcomes.Failed(reason=reason, error=error):
                counters.throttled["stop"] += reason == outcomes.BUDGET_EXHAUSTED
                counters.failed_attempt(error.error_class, seconds, waited, retried=False)
                counters.ended_failed(attempt)
                self._failed(facts, error, ms, reason=reason)
            case outcomes.Buried(reason=reason, error=error):
                counters.throttled["stop"] += reason == outcomes.BUDGET_EXHAUSTED
                counters.failed_attempt(error.error_class, seconds, waited, retried=False)
                counters.bury(reason, attempt)
                self._failed(facts, error, ms, reason=reason)
                self._bus.emit(
                    JobDeadLettered(
                        facts,
                        reason=reason,
                        error_class=error.error_class,
                        error_code=error.error_code,
                        error_message=error.message,
                    )
                )

    def _failed(self, facts: JobFacts, error: Any, ms: float, **more: Any) -> None:
        self.last_error = (datetime.now(UTC), facts, error.error_class, error.message)
        self._bus.emit(
            JobFailed(
                facts,
                error_class=error.error_class,
                error_code=error.error_code,
                error_message=error.message,
                status=error.status,
                stack=error.stack,
                duration_ms=ms,
                **more,
            )
        )
