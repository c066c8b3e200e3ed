from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import Any
from uuid import UUID

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracerProvider, SpanKind, StatusCode

from postmill.telemetry import events, tracing
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import ALL_EVENTS, Event, JobFacts
from postmill.telemetry.tracing import trace_jobs

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> Iterator[TracerProvider]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider
    provider.shutdown()


@pytest.fixture
def bus(provider: TracerProvider) -> Iterator[Bus]:
    bus = Bus()
    stop = trace_jobs(bus, provider)
    assert stop is not None
    yield bus
    stop()


def run(bus: Bus, *emitted: Event) -> None:
    """In a context of its own, as each job runs in."""

    def emit() -> None:
        for event in emitted:
            bus.emit(event)

    copy_context().run(emit)


def only(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exporter.get_finished_spans()
    return span


def happenings(span: ReadableSpan) -> list[str]:
    return [event.name for event in span.events]


def test_without_a_provider_nothing_is_subscribed() -> None:
    bus = Bus()
    assert trace_jobs(bus) is None
    assert trace_jobs(bus, NoOpTracerProvider()) is None
    assert not any(bus.wants(known) for known in ALL_EVENTS)


def test_one_span_per_execution(
    bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts]
) -> None:
    job = facts()
    run(bus, events.JobStarted(job), events.JobCompleted(job, duration_ms=250.0))
    span = only(exporter)
    assert span.name == "enrich"
    assert span.kind is SpanKind.CONSUMER
    assert span.parent is None
    assert (
        dict(span.attributes or {}).items()
        >= {
            "job.id": str(job.job_id),
            "job.type": "enrich",
            "job.queue": "default",
            "job.attempt": 2,
            "job.handler": "app.enrich",
        }.items()
    )
    assert happenings(span) == ["job.completed"]
    assert span.status.status_code is StatusCode.UNSET
    assert (span.end_time or 0) - (span.start_time or 0) == 250_000_000


def test_it_belongs_to_the_trace_of_its_request(
    bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts]
) -> None:
    job = facts(traceparent=TRACEPARENT)
    run(bus, events.JobStarted(job), events.JobCompleted(job))
    span = only(exporter)
    assert span.parent is not None
    assert f"{span.context.trace_id:032x}" == TRACEPARENT[3:35]
    assert f"{span.parent.span_id:016x}" == TRACEPARENT[36:52]
    assert [link.context.span_id for link in span.links] == [span.parent.span_id]


@pytest.mark.parametrize(
    "broken", ["", "x", "00-0-0-00", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "é" * 600]
)
def test_a_broken_traceparent_makes_a_root(
    bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts], broken: str
) -> None:
    job = facts(traceparent=broken)
    run(bus, events.JobStarted(job), events.JobCompleted(job))
    assert only(exporter).parent is None
    assert only(exporter).links == ()


def failed(job: JobFacts, **more: Any) -> events.JobFailed:
    return events.JobFailed(
        job, error_class="HTTPError", error_code="503", error_message="token=s3cr3t", **more
    )


def test_a_failure_and_its_retry(
    bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts]
) -> None:
    job = facts()
    run(
        bus,
        events.JobStarted(job),
        failed(job, will_retry=True, delay=30.0),
        events.JobRetryScheduled(job, 30.0),
    )
    span = only(exporter)
    assert happenings(span) == ["job.failed", "job.retry_scheduled"]
    assert dict(span.events[0].attributes or {}) == {
        "exception.type": "HTTPError",
        "exception.message": "token=[redacted]",
        "error.code": "503",
        "will_retry": True,
    }
    assert dict(span.events[1].attributes or {}) == {"delay": 30.0}
    assert span.status.status_code is StatusCode.ERROR


def test_an_exhausted_job(bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts]) -> None:
    job = facts()
    run(bus, events.JobStarted(job), failed(job, reason="max_retries_exceeded"), events.JobDeadLettered(job))
    span = only(exporter)
    assert happenings(span) == ["job.failed", "job.exhausted"]
    assert dict(span.events[1].attributes or {}) == {"reason": "max_retries_exceeded"}


def test_the_other_ends(bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts]) -> None:
    job = facts()
    ends: dict[str, Event] = {
        "job.interrupted": events.JobInterrupted(job),
        "job.snoozed": events.JobSnoozed(job, delay=5.0),
        "job.canceled": events.JobCanceled(job),
        "job.lost": events.ReportMissed("w", (UUID(int=3), job.job_id)),
    }
    for name, end in ends.items():
        run(bus, events.JobStarted(job), end)
        assert happenings(only(exporter)) == [name]
        exporter.clear()


def test_ends_of_jobs_that_never_started_here_are_nothing(
    bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts]
) -> None:
    run(bus, failed(facts()), events.JobCompleted(facts()))
    assert exporter.get_finished_spans() == ()


async def test_the_handlers_own_spans_are_children_and_siblings_do_not_mix(
    bus: Bus, exporter: InMemorySpanExporter, provider: TracerProvider, facts: Callable[..., JobFacts]
) -> None:
    tracer = provider.get_tracer("app")
    both_started = asyncio.Barrier(2)

    async def execute(job: JobFacts) -> None:
        bus.emit(events.JobStarted(job))
        await both_started.wait()
        with tracer.start_as_current_span(f"fetch {job.job_type}"):
            await asyncio.to_thread(lambda: tracer.start_span(f"parse {job.job_type}").end())
        bus.emit(events.JobCompleted(job))
        assert not trace.get_current_span().get_span_context().is_valid

    a, b = facts(job_type="a"), facts(job_type="b", job_id=UUID(int=2))
    await asyncio.gather(asyncio.create_task(execute(a)), asyncio.create_task(execute(b)))
    spans = {span.name: span for span in exporter.get_finished_spans()}
    for name in "ab":
        fetch, parse = spans[f"fetch {name}"], spans[f"parse {name}"]
        assert fetch.parent is not None
        assert parse.parent is not None
        assert fetch.parent.span_id == spans[name].context.span_id
        assert parse.parent.span_id == fetch.context.span_id


async def test_a_report_from_another_task_ends_the_span_too(
    bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts], caplog: pytest.LogCaptureFixture
) -> None:
    job = facts()

    async def execute() -> None:
        bus.emit(events.JobStarted(job))

    await asyncio.create_task(execute())
    bus.emit(events.JobCompleted(job))
    assert happenings(only(exporter)) == ["job.completed"]
    assert caplog.text == ""


async def test_the_next_job_of_the_same_task_is_no_child_of_the_last(
    bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts]
) -> None:
    async def slot() -> None:
        for n in range(3):
            bus.emit(events.JobStarted(facts(job_id=UUID(int=n))))

    await asyncio.create_task(slot())
    for n in range(3):
        bus.emit(events.JobCompleted(facts(job_id=UUID(int=n))))
    assert [span.parent for span in exporter.get_finished_spans()] == [None] * 3


def test_spans_do_not_pile_up(
    bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "MAX_OPEN", 5)
    for n in range(20):
        run(bus, events.JobStarted(facts(job_id=UUID(int=n))))
    assert len(exporter.get_finished_spans()) == 15


def test_a_job_that_starts_again_ends_the_span_of_its_lost_run(
    bus: Bus, exporter: InMemorySpanExporter, facts: Callable[..., JobFacts]
) -> None:
    run(bus, events.JobStarted(facts()))
    run(bus, events.JobStarted(facts(attempt=3)))
    assert happenings(only(exporter)) == ["job.lost"]


def test_the_end_of_the_subscription_ends_what_is_open(
    exporter: InMemorySpanExporter, provider: TracerProvider, facts: Callable[..., JobFacts]
) -> None:
    bus = Bus()
    stop = trace_jobs(bus, provider)
    assert stop is not None
    run(bus, events.JobStarted(facts()))
    stop()
    assert happenings(only(exporter)) == ["job.interrupted"]
    assert not bus.wants(events.JobStarted)
