"""Many dead letters at once, in answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer
from postmill.shapes.jobs import ID, TENANT

GROUP = "9f86d081884c7d65"


class Cause(Answer):
    """Letters of one HTTP status and reason."""

    status: int | None = Field(examples=[429])
    reason: str = Field(examples=["max_retries_exceeded"])
    count: int = Field(examples=[45])


class ErrorGroupCount(Answer):
    """Letters of one error group: which error, since when, whose."""

    error_group: str | None = Field(examples=[GROUP])
    definition_key: str | None = Field(examples=["recompute-trained-tags"])
    error_class: str | None = Field(examples=["QuotaExceeded"])
    error_message: str | None = Field(description="Of its latest letter; at most 500 characters.")
    count: int = Field(examples=[45])
    tenants: int = Field(description="How many tenants have it.", examples=[3])
    opened_hour: int = Field(description="Given up within the last hour.", examples=[12])
    oldest: datetime | None
    newest: datetime | None


class NamedCount(Answer):
    """Letters of one definition, queue or tenant."""

    name: str = Field(examples=["recompute-trained-tags"])
    count: int = Field(examples=[45])
    id: UUID | None = Field(default=None, description="A tenant's id.", examples=[TENANT])


class DeadStatistics(Answer):
    """The open dead letters at a glance. Lists have the largest first, and end at 50."""

    open: int = Field(examples=[55])
    oldest: datetime | None
    opened_hour: int = Field(description="Given up within the last hour, to ten minutes.", examples=[12])
    closed_hour: int = Field(description="Replayed or discarded within the last hour.", examples=[0])
    opened_day: int = Field(examples=[55])
    closed_day: int = Field(examples=[20])
    by_cause: list[Cause]
    by_group: list[ErrorGroupCount]
    by_definition: list[NamedCount]
    by_queue: list[NamedCount]
    by_tenant: list[NamedCount]


class MetCause(Answer):
    """Letters of one cause that a bulk act would meet."""

    status: int | None = Field(examples=[429])
    reason: str = Field(examples=["max_retries_exceeded"])
    error_group: str | None = Field(examples=[GROUP])
    definition_key: str | None = Field(examples=["recompute-trained-tags"])
    error_class: str | None = Field(examples=["QuotaExceeded"])
    count: int = Field(examples=[45])


class SampleLetter(Answer):
    """One of the letters that a bulk act would meet."""

    id: UUID = Field(examples=[ID])
    definition_key: str | None = Field(examples=["recompute-trained-tags"])
    reason: str = Field(examples=["max_retries_exceeded"])
    last_error: str | None
    failed_at: datetime


class DeadPreview(Answer):
    """What a bulk act would meet."""

    count: int = Field(examples=[45])
    tenants: int = Field(examples=[3])
    oldest: datetime | None
    newest: datetime | None
    by_cause: list[MetCause]
    by_replay_class: dict[str, int] = Field(
        description="Letters by their definition's `replay_class`: safe, ask, never; or inactive, unknown_type.",
        examples=[{"safe": 40, "ask": 5}],
    )
    sample: list[SampleLetter]


class RecoveryRule(Answer):
    """A recovery rule that workers have run, and what came of it."""

    name: str = Field(examples=["quota"])
    rule: dict[str, Any] = Field(
        examples=[{"message": "quota", "older_than": 86400, "times": 1, "most": 1000}]
    )
    last_run_at: datetime | None
    replayed: int = Field(examples=[45])
    skipped: int = Field(
        description="Matched, and not replayed: as often as the rule allows, a later success, the replay class.",
        examples=[2],
    )
    replayed_hour: int = Field(examples=[0])
