"""From an event to the fields of its log line: the seeds' names, nothing secret, everything bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from postmill.domain.redaction import field_name, printable, redact, safe_text
from postmill.telemetry import events
from postmill.telemetry.event import Event, JobEvent, JobFacts

LEVELS: Mapping[str, int] = {"debug": 10, "info": 20, "warning": 30, "error": 40}

WRITTEN = frozenset({"timestamp", "level", "event", "logger", "exception", "suppressed"})
"""Fields of a line that come from the writer, not from the event."""

ALIASES: Mapping[str, str] = {"job_type": "definition_key", "tenant_id": "org_id", "attempt": "attempt_no"}
"""Our names to those of the seeds, which stand beside them."""

STACK_TEXT = 8_000
"""Characters of a stack that a line holds; the whole is with the attempt in the database."""

HOT: tuple[type[JobEvent], ...] = (
    events.JobClaimed,
    events.JobStarted,
    events.JobCompleted,
    events.JobRetryScheduled,
    events.JobSnoozed,
)
"""Events of jobs that go well, or as their handlers wish: debug, for there may be thousands a second."""

_LEVELS: Mapping[type[Event], str] = {
    **dict.fromkeys(HOT, "debug"),
    events.NotificationReceived: "debug",
    events.PollScanned: "debug",
    events.JobsPromoted: "debug",
    events.QueueMeasured: "debug",
    events.TicksFired: "debug",
    events.EventsDelivered: "debug",
    events.IncidentsEscalated: "info",
    events.SessionClosed: "debug",
    events.JobDeadLettered: "error",
    events.UpkeepFailed: "error",
    events.TriggerBroken: "error",
    **dict.fromkeys(
        (
            events.JobFailed,
            events.JobLost,
            events.JobsRescued,
            events.LeaseLost,
            events.ReportMissed,
            events.LoopBlocked,
            events.DatabaseAway,
            events.ListenerLost,
            events.PolicyBroken,
            events.TriggerFailed,
        ),
        "warning",
    ),
}
"""What is not here is `info`."""

_RENAMED = {
    "delay": "delay_seconds",
    "waited": "waited_seconds",
    "retry_in": "retry_in_seconds",
    "grace": "grace_seconds",
    "outage": "outage_seconds",
    "status": "error_status",
}


def level_of(event_type: type[Event]) -> str:
    """The level of an event's lines."""
    return _LEVELS.get(event_type, "info")


def job_fields(facts: JobFacts) -> dict[str, Any]:
    """Which job a line is about, by our names and by those of the seeds.

    The payload fields that the type binds follow; one that has a name of ours gets `payload_` before it.
    """
    line: dict[str, Any] = {
        "job_id": str(facts.job_id),
        "job_type": printable(facts.job_type),
        "queue": printable(facts.queue),
        "tenant_id": str(facts.tenant_id),
        "project_id": None if facts.project_id is None else str(facts.project_id),
        "request_id": redact(facts.request_id),
        "correlation_id": redact(facts.correlation_id),
        "attempt": facts.attempt,
        "worker_id": printable(facts.worker_id),
    }
    line = with_aliases(line)
    return line | payload_fields(facts.fields or {}, line)


def payload_fields(fields: Mapping[str, object], line: Mapping[str, Any]) -> dict[str, Any]:
    """Payload fields as they stand in this line, without secrets; one that has a name of ours gets `payload_` before it."""
    return {
        f"payload_{name}" if name in line or name in _RESERVED else field_name(name): redact(value, key=name)
        for name, value in fields.items()
    }


def with_aliases(line: dict[str, Any]) -> dict[str, Any]:
    """The fields of a line about a job, with the seeds' names for them."""
    if "job_id" in line:
        line.update({alias: line[name] for name, alias in ALIASES.items() if name in line})
    return line


def line_of(event: Event) -> dict[str, Any]:
    """All fields of an event's line but time, level and the event's name."""
    line: dict[str, Any] = {}
    for name, value in _fields(event):
        if isinstance(value, JobFacts):
            line.update(job_fields(value))
        elif name == "stack":
            # A stack is worth its length once nothing more will be tried.
            if value and not getattr(event, "will_retry", False):
                line["stack"] = safe_text(value, STACK_TEXT)
        elif name == "duration_ms":
            line[name] = None if value is None else round(value, 3)
        elif value is not None and value != "":
            line[_RENAMED.get(name, name)] = redact(value)
    return line


def _fields(event: Event) -> list[tuple[str, Any]]:
    return [(name, getattr(event, name)) for name in _names(type(event))]


def _names(event_type: type[Event]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(event_type)) if is_dataclass(event_type) else ()


_RESERVED = WRITTEN | set(_RENAMED.values()) | {name for known in events.ALL_EVENTS for name in _names(known)}
