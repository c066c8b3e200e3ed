"""Traces as one subscriber: one OpenTelemetry span per execution, in its request's trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, Tracer, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from postmill.domain.redaction import safe_text
from postmill.telemetry import events
from postmill.telemetry.bus import Bus
from postmill.telemetry.event import Event, JobFacts

MAX_OPEN = 10_000
"""Spans open at a time; one more ends the oldest, so that an end that never comes leaks no memory."""

EVENT_TYPES: tuple[type[Event], ...] = (
    events.JobStarted,
    events.JobCompleted,
    events.JobFailed,
    events.JobSnoozed,
    events.JobCanceled,
    events.JobInterrupted,
    events.ReportMissed,
)

Attributes = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class _Open:
    """A span under way, the context that its own replaced, and its start in nanoseconds since 1970."""

    span: Span
    before: Context
    started: int


class Tracing:
    """Opens a span at JobStarted, and ends it at the event that ends the attempt.

    The span becomes the current one of the context that JobStarted is emitted in, so that the spans of a
    handler which runs there (or in a thread with a copy of it) are its children. Its own parent is the job's
    `traceparent`, which it is linked to as well; without one it is a root.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._open: dict[UUID, _Open] = {}
        self._propagator = TraceContextTextMapPropagator()

    def __call__(self, event: Event) -> None:
        """Follow one event."""
        match event:
            case events.JobStarted():
                self._start(event.job)
            case events.JobCompleted():
                self._end(event.job_id, "job.completed", ms=event.duration_ms)
            case events.JobFailed():
                self._failed(event)
            case events.JobSnoozed():
                self._end(event.job_id, "job.snoozed", {"delay": event.delay}, event.duration_ms)
            case events.JobCanceled():
                self._end(event.job_id, "job.canceled", ms=event.duration_ms)
            case events.JobInterrupted():
                self._end(event.job_id, "job.interrupted", ms=event.duration_ms)
            case events.ReportMissed():
                for job_id in event.job_ids:
                    self._end(job_id, "job.lost")

    def close(self) -> None:
        """End all spans that are still open."""
        for job_id in list(self._open):
            self._end(job_id, "job.interrupted")

    def _start(self, facts: JobFacts) -> None:
        self._end(facts.job_id, "job.lost")
        if len(self._open) >= MAX_OPEN:
            self._end(next(iter(self._open)), "job.lost")
        before, started = context.get_current(), time.time_ns()
        # Not from the task's own context, which may still have the span of the job that ran there before.
        parent = Context()
        if facts.traceparent:
            parent = self._propagator.extract({"traceparent": facts.traceparent}, parent)
        request = trace.get_current_span(parent).get_span_context()
        links = [Link(request)] if request.is_valid else []
        span = self._tracer.start_span(
            safe_text(facts.job_type),
            parent,
            SpanKind.CONSUMER,
            _attributes(facts),
            links,
            start_time=started,
        )
        context.attach(trace.set_span_in_context(span, before))
        self._open[facts.job_id] = _Open(span, before, started)

    def _failed(self, event: events.JobFailed) -> None:
        found = self._open.get(event.job_id)
        if found is None:
            return
        at = _at(found, event.duration_ms)
        message = safe_text(event.error_message)
        found.span.set_status(StatusCode.ERROR, message)
        error = {"exception.type": event.error_class, "exception.message": message}
        if event.error_code is not None:
            error["error.code"] = event.error_code
        found.span.add_event("job.failed", {**error, "will_retry": event.will_retry}, at)
        if event.will_retry:
            self._end(event.job_id, "job.retry_scheduled", {"delay": event.delay or 0.0}, event.duration_ms)
        else:
            self._end(event.job_id, "job.exhausted", {"reason": event.reason or ""}, event.duration_ms)

    def _end(
        self, job_id: UUID, name: str, attributes: Attributes | None = None, ms: float | None = None
    ) -> None:
        found = self._open.pop(job_id, None)
        if found is None:
            return
        at = _at(found, ms)
        found.span.add_event(name, dict(attributes or {}), at)
        found.span.end(at)
        # Only where the span is the current one: reports come from other tasks, whose context is not ours.
        # (No detach: its token is of no use in a copy of the context.)
        if trace.get_current_span() is found.span:
            context.attach(found.before)


def _at(found: _Open, ms: float | None) -> int:
    """When it ended: by the measured duration, for the report may come much later."""
    return time.time_ns() if ms is None else found.started + int(ms * 1e6)


def _attributes(facts: JobFacts) -> dict[str, str | int]:
    made: dict[str, str | int] = {
        "job.id": str(facts.job_id),
        "job.type": facts.job_type,
        "job.queue": facts.queue,
        "job.attempt": facts.attempt,
        "job.handler": facts.handler or facts.job_type,
        "job.tenant_id": str(facts.tenant_id),
        "job.worker_id": facts.worker_id,
    }
    for name in ("request_id", "correlation_id"):
        if value := getattr(facts, name):
            made[f"job.{name}"] = safe_text(value)
    return made


def trace_jobs(bus: Bus, provider: TracerProvider | None = None) -> Callable[[], None] | None:
    """Subscribe spans to the bus; the answer ends that, and all open spans.

    Without a `provider` the process's own is used. If none is configured, nothing is subscribed and the
    answer is None: then no event is built for traces.
    """
    provider = provider or trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    tracing = Tracing(provider.get_tracer("postmill"))
    unsubscribe = bus.subscribe(tracing, *EVENT_TYPES)

    def end() -> None:
        unsubscribe()
        tracing.close()

    return end
