from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any
from uuid import UUID

import pytest

from postmill.telemetry import events
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import ALL_EVENTS, Event, JobFacts
from postmill.telemetry.log_lines import HOT, STACK_TEXT, level_of
from postmill.telemetry.logs import log_subscriber

JOB_FIELDS = {
    "job_id", "job_type", "definition_key", "queue", "tenant_id", "org_id", "project_id", "request_id",
    "correlation_id", "attempt", "attempt_no", "worker_id", "item_id",
}  # fmt: skip


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(emitted: list[Event], **options: Any) -> list[dict[str, Any]]:
    stream, bus = io.StringIO(), Bus()
    log_subscriber(stream, "json", **options).subscribe(bus)
    for event in emitted:
        bus.emit(event)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def example(known: type[Event], facts: JobFacts) -> Event:
    """An event with something in each field."""
    values = {
        "job": facts, "queues": {"default": 10}, "summary": {"succeeded": 3}, "session": UUID(int=9), "n": 4,
        "job_ids": (UUID(int=9),), "seconds": 6.5, "retry_in": 1.0, "outage": 30.0, "depth": {"queued": 3},
        "worker_id": "host:1:boot", "error": "gone", "channel": "postmill", "round": "pruner", "queue": "default",
        "job_type": "enrich", "why": "it returned NaN", "outcomes": {"enqueued": 3}, "late": 0.2, "label": "nightly",
        "trigger_id": UUID(int=8), "tenant_id": UUID(int=1), "budget": "ai", "percent": 90.0, "severity": "warning",
        "change": "raised", "steps": 2, "planned": 3, "source": "outcome", "rows": 7, "size": 900,
        "before": 5, "slots": 6, "because": "backlog",
    }  # fmt: skip
    given = {field.name: values[field.name] for field in fields(known) if field.default is MISSING}  # type: ignore[arg-type]
    return known(**given)


@pytest.mark.parametrize("known", ALL_EVENTS, ids=lambda known: known.__name__)
def test_every_event_is_one_json_object_on_one_line(
    known: type[Event], facts: Callable[..., JobFacts]
) -> None:
    (line,) = lines([example(known, facts())], level="debug")
    assert line["event"] == known.name
    assert line["level"] == ("error" if known is events.JobFailed else level_of(known))
    assert line["timestamp"].endswith("Z")
    assert list(line)[:3] == ["timestamp", "level", "event"]
    if issubclass(known, events.JobEvent):
        assert set(line) >= JOB_FIELDS
        assert line["job_id"] == "01890000-0000-7000-8000-0000000000ff"
        assert line["org_id"] == line["tenant_id"] == str(UUID(int=1))
        assert (line["definition_key"], line["attempt_no"], line["item_id"]) == ("enrich", 2, "i-7")
    if known is not events.QueueMeasured:
        assert all(isinstance(name, str) for name in line)


def test_the_lines_of_seed_2(facts: Callable[..., JobFacts]) -> None:
    claimed, completed, failed = lines(
        [
            events.JobClaimed(facts()),
            events.JobCompleted(facts(), duration_ms=1234.5678),
            events.JobFailed(facts(), will_retry=True, error_class="HTTPError", error_code="503", delay=30.0),
        ],
        level="debug",
    )
    assert (
        claimed.items()
        >= {"event": "job_claimed", "item_id": "i-7", "attempt": 2, "worker_id": "host:1:boot"}.items()
    )
    assert completed.items() >= {"event": "job_completed", "item_id": "i-7", "duration_ms": 1234.568}.items()
    assert failed.items() >= {"event": "job_failed", "error_code": "503", "will_retry": True}.items()
    assert failed["delay_seconds"] == 30.0


def test_success_is_silent_by_default_and_its_events_are_not_even_built(
    facts: Callable[..., JobFacts],
) -> None:
    bus = Bus()
    log_subscriber(io.StringIO(), "json").subscribe(bus)
    assert not any(bus.wants(known) for known in HOT)
    assert not bus.wants(events.PollScanned)
    assert bus.wants(events.JobFailed)
    assert lines([events.JobCompleted(facts()), events.JobStarted(facts())]) == []


def test_a_sample_takes_whole_jobs(facts: Callable[..., JobFacts]) -> None:
    emitted: list[Event] = []
    for n in range(1024):
        job = facts(job_id=UUID(int=n * 64))
        emitted += [events.JobStarted(job), events.JobCompleted(job)]
    written = lines(emitted, sample=0.25, per_second=10_000)
    assert len(written) == 512
    assert len({line["job_id"] for line in written}) == 256
    assert len(lines(emitted, sample=1.0, per_second=10_000)) == 2048


def test_a_failure_that_is_retried_warns_and_the_last_one_is_an_error(facts: Callable[..., JobFacts]) -> None:
    retried = events.JobFailed(facts(), will_retry=True, error_class="E", stack="Traceback …")
    last = events.JobFailed(
        facts(), will_retry=False, error_class="E", reason="max_retries_exceeded", stack="T" * 50_000
    )
    warning, error = lines([retried, last])
    assert (warning["level"], error["level"]) == ("warning", "error")
    assert "stack" not in warning
    assert len(error["stack"]) == STACK_TEXT + 1
    assert [line["reason"] for line in lines([retried, last], level="error")] == ["max_retries_exceeded"]


def test_no_secret_and_no_payload_but_the_named_fields(facts: Callable[..., JobFacts]) -> None:
    bound = {
        "item_id": "i",
        "api_key": "s3cr3t",
        "note": "password=s3cr3t",
        "deep": {"token": "s3cr3t", "n": 1},
    }
    job = facts(fields=bound, request_id="Bearer s3cr3ts3cr3t")
    event = events.JobFailed(
        job,
        error_class="E",
        error_message="cannot reach postgres://app:s3cr3t@db/x",
        stack="raise E('token=s3cr3t')",
    )
    (line,) = lines([event])
    assert "s3cr3t" not in json.dumps(line)
    assert line["deep"] == {"token": "[redacted]", "n": 1}


def test_a_payload_field_never_hides_one_of_ours(facts: Callable[..., JobFacts]) -> None:
    hostile: Mapping[str, object] = {"event": "job_completed", "level": "debug", "job_id": "x", "org_id": "y",
                                     "timestamp": 0, "duration_ms": 1, "self": 1, "method_name": 2}  # fmt: skip
    (line,) = lines([events.JobFailed(facts(fields=hostile), duration_ms=5.0)])
    assert (line["event"], line["level"], line["duration_ms"]) == ("job_failed", "error", 5.0)
    assert (line["payload_event"], line["payload_job_id"], line["payload_duration_ms"]) == (
        "job_completed",
        "x",
        1,
    )
    assert (line["self"], line["method_name"]) == (1, 2)


@pytest.mark.parametrize("format", ["json", "console"])
def test_no_text_forges_a_line_or_drives_a_terminal(format: Any, facts: Callable[..., JobFacts]) -> None:
    evil = 'a\x00\x1b[31m\x9b2J\ud800\u202e\r\n{"event": "job_completed"}'
    stream, bus = io.StringIO(), Bus()
    log_subscriber(stream, format, "debug").subscribe(bus)
    job = facts(job_type=evil, queue=evil, worker_id=evil, request_id=evil, fields={evil: evil, "x": [evil]})
    bus.emit(events.JobCanceled(job, reason=evil))
    text = stream.getvalue()
    assert text
    assert not {"\x00", "\x1b", "\x9b", "\ud800", "\u202e", "\r"} & set(text)
    if format == "json":
        assert len(text.splitlines()) == 1
        json.loads(text)
    else:
        assert not any(line.startswith('{"event"') for line in text.splitlines())


def test_people_at_a_terminal_get_colours_without_the_seeds_doubles(facts: Callable[..., JobFacts]) -> None:
    stream, bus = Terminal(), Bus()
    log_subscriber(stream).subscribe(bus)
    bus.emit(events.JobCanceled(facts(project_id=None), reason="no need"))
    text = stream.getvalue()
    assert "\x1b[" in text
    assert "job_canceled" in text
    assert "org_id" not in text
    assert "project_id" not in text


def test_machines_get_json_and_a_console_elsewhere_has_no_colours(facts: Callable[..., JobFacts]) -> None:
    plain = io.StringIO()
    log_subscriber(plain)(events.JobCanceled(facts()))
    assert json.loads(plain.getvalue())["event"] == "job_canceled"
    console = io.StringIO()
    log_subscriber(console, "console")(events.JobCanceled(facts()))
    assert "\x1b" not in console.getvalue()


def test_a_flood_is_held_back_and_counted(facts: Callable[..., JobFacts], clock: Any) -> None:
    stream = io.StringIO()
    subscriber = log_subscriber(stream, "json", per_second=3, clock=clock)
    for _ in range(10):
        subscriber(events.JobFailed(facts(), error_class="E"))
    subscriber(events.JobFailed(facts(job_type="other"), error_class="E"))
    clock.now += 1
    subscriber(events.JobFailed(facts(), error_class="E"))
    written = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["job_type"] for line in written] == ["enrich"] * 3 + ["other", "enrich"]
    assert [line.get("suppressed") for line in written] == [None, None, None, None, 7]


def test_each_line_gets_what_is_bound(facts: Callable[..., JobFacts]) -> None:
    (line,) = lines([events.JobsRescued(3)], bind={"service": "shop"})
    assert (line["service"], line["n"]) == ("shop", 3)


def test_a_closed_stream_hurts_nobody(
    facts: Callable[..., JobFacts], caplog: pytest.LogCaptureFixture
) -> None:
    stream, bus = io.StringIO(), Bus()
    log_subscriber(stream, "json").subscribe(bus)
    stream.close()
    bus.emit(events.JobsRescued(3))
    assert "subscriber" in caplog.text


def test_unknown_levels_formats_and_shares_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="did you mean 'warning'"):
        log_subscriber(io.StringIO(), level="warnin")
    with pytest.raises(ValueError, match="auto, json, console"):
        log_subscriber(io.StringIO(), "xml")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="from 0 to 1"):
        log_subscriber(io.StringIO(), sample=5)
