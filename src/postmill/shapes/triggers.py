"""Triggers in bodies and answers, in the names of the seed contract."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.moments import Moment

ID = "0198f3a2-7c11-7abc-8d2e-5a1c9f0b7e42"
TENANT = "1efe049f-ae71-4226-97be-236b4df4a93a"
JOB = "6f46a1d8-6e2b-4ecf-8b46-9ec2e6a37f09"

Type = Literal["event", "schedule"]
Missed = Literal["skip", "once", "all"]
Overlap = Literal["allow", "skip", "cancel_previous"]
Dst = Literal["once", "skip", "wall"]
Object = dict[str, Any]

# Seed 3, "Triggers (tenant admin)".
EVENT_EXAMPLE: Object = {
    "label": "Resync on folder change",
    "trigger_type": "event",
    "event_name": "provider.folder.updated",
    "definition_key": "sync-dropbox",
    "payload_template": {"provider_id": "{{event.provider_id}}", "path_prefix": "{{event.folder_path}}"},
    "dedupe_window_seconds": 120,
}
SCHEDULE_EXAMPLE: Object = {
    "label": "Nightly provider sync",
    "trigger_type": "schedule",
    "cron_expr": "0 2 * * *",
    "timezone": "America/New_York",
    "definition_key": "sync-dropbox",
    "payload_template": {"path_prefix": "/"},
}


class TriggerFields(Model):
    """What may be written of a trigger; every field can be left out."""

    label: str | None = Field(default=None, max_length=200, description="For people.")
    is_enabled: bool | None = None
    event_name: str | None = Field(
        default=None, max_length=200, description="Of an event: its name, or the beginning of names and `.*`."
    )
    cron_expr: str | list[str] | None = Field(
        default=None,
        description="Of a schedule: a line of cron, or several. Minute, hour, day of month, month, day of week.",
    )
    every: str | float | None = Field(
        default=None, description="Of a schedule, in place of cron lines: `15m`, or seconds; at least 1."
    )
    timezone: str | None = Field(
        default=None, max_length=100, description="Of the cron lines; null: the tenant's."
    )
    definition_key: str | None = Field(default=None, max_length=200, description="What to make a job of.")
    payload_template: Object | None = Field(
        default=None,
        description="The payload; its texts may hold `{{ event.… }}`, `{{ meta.… }}` or `{{ schedule.… }}`. A text that is "
        "one whole expression keeps the JSON type of its value.",
    )
    dedupe_window_seconds: int | None = Field(
        default=None,
        ge=0,
        le=31_536_000,
        description="For so long an equal payload makes no other job; 0: each does. Null: 300, or less where a schedule "
        "runs more often than that.",
    )
    missed: Missed | None = Field(
        default=None,
        description="Ticks that nobody was there to run: left out, run once for all, or run all.",
    )
    missed_limit: int | None = Field(default=None, ge=1, le=1000, description="With `all`: the last so many.")
    overlap: Overlap | None = Field(
        default=None, description="What a tick does while the job of the tick before is not over."
    )
    dst: Dst | None = Field(
        default=None, description="A fixed time that a change of the clock leaves out or repeats."
    )
    jitter_seconds: int | None = Field(
        default=None, ge=0, le=86_400, description="The job is due up to so much later than its tick."
    )


class NewTrigger(TriggerFields):
    """A trigger to be made."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [EVENT_EXAMPLE, SCHEDULE_EXAMPLE]}
    )

    label: str = Field(max_length=200, description="For people.")
    trigger_type: Type
    definition_key: str = Field(max_length=200, description="What to make a job of.")
    tenant_id: UUID | None = Field(
        default=None, description="Whose it is; null: one's own, or the default tenant.", examples=[TENANT]
    )


class TriggerChanges(TriggerFields):
    """What is to change of a trigger; null takes a field away. Its type never changes."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"is_enabled": False}]})

    trigger_type: Type | None = Field(default=None, description="Must be what it is.")


class Trigger(Answer):
    """A trigger, and where it stands."""

    id: UUID = Field(examples=[ID])
    tenant_id: UUID = Field(examples=[TENANT])
    label: str = Field(examples=["Nightly provider sync"])
    is_enabled: bool
    trigger_type: Type = Field(examples=["schedule"])
    event_name: str | None
    cron_expr: str | None = Field(description="One line, or several.", examples=["0 2 * * *"])
    every_seconds: float | None
    timezone: str | None = Field(examples=["America/New_York"])
    definition_id: UUID
    definition_key: str = Field(examples=["sync-dropbox"])
    payload_template: Object = Field(examples=[{"path_prefix": "/"}])
    dedupe_window_seconds: int = Field(examples=[300])
    missed: Missed
    missed_limit: int = Field(examples=[100])
    overlap: Overlap
    dst: Dst
    jitter_seconds: int = Field(examples=[0])
    origin: Literal["api", "code"] = Field(description="`code`: only its module changes it.")
    declared_in: str | None = Field(description="That module.")
    created_by: str | None = Field(description="The actor's id.")
    created_at: datetime
    updated_at: datetime
    next_run_at: datetime | None = Field(description="Null also just after it was written by SQL.")
    broken: bool = Field(description="Its schedule cannot be planned; `error` says why.")
    last_run_at: datetime | None = Field(description="The due moment of the last tick.")
    last_job_id: UUID | None
    error: str | None = Field(description="The last thing that went wrong, until something goes well.")
    error_at: datetime | None


class DueMoment(Answer):
    """A due moment of a schedule."""

    due: datetime = Field(description="The instant, in UTC.", examples=["2026-11-29T07:00:00Z"])
    local: datetime = Field(
        description="What the clock on the wall shows then.", examples=["2026-11-29T02:00:00-05:00"]
    )


class SavedTrigger(Trigger):
    """A trigger as it was saved, with its next runs."""

    next_runs: list[DueMoment] = Field(description="Of a schedule that is enabled: the next ten.")
    warnings: list[str] = Field(description="What will probably not be as it was meant.")


class TriedTrigger(NewTrigger):
    """A trigger that is tried and not saved."""

    context: Object | None = Field(
        default=None,
        description="Of an event that it is tried with; only for what waits for events.",
        examples=[{"provider_id": JOB, "folder_path": "/invoices"}],
    )


class TriggerPreview(Answer):
    """What a trigger would do that is not saved."""

    next_runs: list[DueMoment]
    dedupe_window_seconds: int = Field(examples=[300])
    warnings: list[str]
    payload: Object | None = Field(
        description="Of the next run, or for the `context` that was given.", examples=[{"path_prefix": "/"}]
    )
    problem: str | None = Field(description="Why there would be no job.")


class Backfill(Model):
    """A window of due moments to make up for."""

    since: Moment = Field(description="The window begins here.", examples=["2026-11-20T00:00:00Z"])
    until: Moment = Field(
        description="Before this moment, which is not in the future.", examples=["2026-11-28T00:00:00Z"]
    )
    reason: str | None = Field(
        default=None, max_length=2000, description="For the audit log.", examples=["the cellar was flooded"]
    )


class BackfillPlan(Answer):
    """What a backfill would do."""

    due: list[DueMoment] = Field(description="Due moments that made no job: each would make one.")
    kept: int = Field(description="Due moments of the window that made one.", examples=[3])
    problem: str | None = Field(description="Why the first of them would make no job.")


class Backfilled(Answer):
    """What came of a due moment."""

    due: datetime = Field(examples=["2026-11-29T07:00:00Z"])
    outcome: Literal["enqueued", "duplicate", "skipped", "failed", "refused", "kept", "pending"] = Field(
        description="As of ticks; `kept`: it had made a job; `pending`: somebody holds its key just now."
    )
    detail: str | None
    job_id: UUID | None = Field(examples=[JOB])


class RunTrigger(Model):
    """With what to run a trigger by hand."""

    context: Object | None = Field(
        default=None,
        description="Of the event that it is run with; only for what waits for events.",
        examples=[{"provider_id": JOB, "folder_path": "/invoices"}],
    )


class RanTrigger(Answer):
    """A run by hand."""

    trigger_id: UUID = Field(examples=[ID])
    job_id: UUID = Field(examples=[JOB])
    outcome: Literal["enqueued", "duplicate"] = Field(
        description="`duplicate`: the job's definition has an idempotency key, and a job holds it."
    )


class Tick(Answer):
    """A due moment that has passed, and what came of it."""

    due: datetime = Field(examples=["2026-11-29T07:00:00Z"])
    outcome: Literal["enqueued", "duplicate", "skipped", "failed", "refused"]
    detail: str | None = Field(description="The reason where there is no new job.")
    job_id: UUID | None = Field(examples=[JOB])
    fired_at: datetime
    last_due: datetime | None = Field(description="Of several that were left out together: the last.")
    ticks: int = Field(description="How many these are; 1000 may be more.", examples=[1])
