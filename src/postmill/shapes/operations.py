"""Operations in bodies and answers: bulk acts on dead letters."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from postmill.domain.pace import MOST_RATE, Kind
from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID, TENANT, Key, Reason
from postmill.shapes.moments import Moment

GROUP = "9f86d081884c7d65"


class LetterSelection(Model):
    """Which open dead letters: those that meet all of this; nothing is all of them."""

    tenant_id: UUID | None = None
    definition_key: Key | None = Field(default=None, examples=["recompute-trained-tags"])
    queue: Key | None = Field(default=None, examples=["default"])
    reason: Key | None = Field(default=None, examples=["max_retries_exceeded"])
    error_group: Key | None = Field(default=None, examples=[GROUP])
    error_class: Key | None = Field(default=None, examples=["QuotaExceeded"])
    error_code: Key | None = None
    error_status: int | None = Field(default=None, ge=0, le=999, examples=[429])
    message: Key | None = Field(default=None, description="A part of the error's message, in any case.")
    given_up_after: Moment | None = None
    given_up_before: Moment | None = Field(default=None, examples=["2026-02-16T10:30:00Z"])
    ids: list[UUID] | None = Field(
        default=None, max_length=10_000, description="These ones.", examples=[[ID]]
    )


class PreviewOperation(Model):
    """Letters of which a bulk act is thought."""

    filter: LetterSelection = Field(default_factory=LetterSelection)


class NewOperation(Model):
    """A bulk act on the dead letters that a filter meets now."""

    kind: Kind = Field(examples=["replay"])
    filter: LetterSelection
    rate: float | None = Field(
        default=None,
        gt=0,
        le=MOST_RATE,
        description="Letters a second at most; null: what a worker gets done.",
        examples=[50],
    )
    canary: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="So many are replayed first; the rest waits until they have succeeded. One that does not pauses it.",
        examples=[5],
    )
    again: bool = Field(default=False, description="Also those whose replay has ended already.")
    confirm: bool = Field(
        default=False,
        description="Somebody was asked: also those whose definition says `replay_class = ask`.",
    )
    despite_success: bool = Field(
        default=False,
        description="Also those of which a later job with the same key, or the same type and payload, has succeeded.",
    )
    version: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="Only once the definition is at this version."
    )
    reason: Reason = None


class ChangeOperation(Model):
    """Why an operation is changed."""

    reason: Reason = None


class Operation(Answer):
    """A bulk act as it stands."""

    id: UUID = Field(examples=[ID])
    tenant_id: UUID | None = Field(description="Whose letters; null: of several tenants.", examples=[TENANT])
    kind: Kind = Field(examples=["replay"])
    status: Literal["running", "paused", "finished", "aborted"] = Field(examples=["running"])
    stage: Literal["canary", "rest"] = Field(
        description="canary: the first replays have not all succeeded yet.", examples=["rest"]
    )
    filter: dict[str, Any] = Field(examples=[{"error_status": 429}])
    rate: float | None = Field(examples=[50])
    canary: int = Field(examples=[5])
    again: bool
    confirm: bool
    despite_success: bool
    version: int | None
    reason: str | None
    total: int = Field(description="Letters selected at the start.", examples=[8333])
    done: int = Field(description="Replayed or discarded.", examples=[4100])
    skipped: int = Field(description="Left as they are.", examples=[3])
    failed: int = Field(description="Refused, or in error.", examples=[1])
    actor_type: str = Field(examples=["user"])
    actor_id: str | None = Field(examples=["ada"])
    created_at: datetime
    started_at: datetime | None
    paused_at: datetime | None
    paused_by: str | None
    pause_reason: str | None = Field(description="`canary: …`: its first replays did not all succeed.")
    ended_at: datetime | None


class WholeOperation(Operation):
    """A bulk act, and what its replays have come to."""

    results: dict[str, int] = Field(
        description="Its last 10,000 replays by their state now.",
        examples=[{"succeeded": 4000, "running": 100}],
    )


class OperationLetter(Answer):
    """One letter of an operation."""

    n: int = Field(examples=[1])
    job_id: UUID = Field(examples=[ID])
    status: str = Field(
        description="waiting, replayed, discarded, or why not: succeeded_since, already_replayed, invalid, error …",
        examples=["replayed"],
    )
    new_id: UUID | None = Field(description="The replay, or the job that stands in its way.", examples=[ID])
    detail: str | None
    at: datetime | None
