"""Dead letters in bodies and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID, TENANT, Reason


class DeadLetter(Answer):
    """A dead letter in a list. Its id is the job's."""

    id: UUID = Field(examples=[ID])
    tenant_id: UUID = Field(examples=[TENANT])
    definition_key: str | None = Field(
        description="Null: the job's body is gone.", examples=["recompute-trained-tags"]
    )
    queue: str = Field(description="Where it was given up.", examples=["q:mail"])
    shown_as: str = Field(
        description="The name under which that queue shows its dead letters; its own where it has none.",
        examples=["q:deadletter"],
    )
    reason: str = Field(examples=["max_retries_exceeded"])
    error_class: str | None = Field(examples=["TimeoutError"])
    error_code: str | None
    error_status: int | None = Field(description="The HTTP status that a service answered.")
    last_error: str | None = Field(description="In lists at most 500 characters.")
    attempts: int = Field(examples=[3])
    failed_at: datetime
    last_attempt_at: datetime | None
    error_group: str | None = Field(
        default=None, description="Errors that are alike have one.", examples=["9f86d081884c7d65"]
    )


class WholeDeadLetter(DeadLetter):
    """A dead letter with all that is known of it."""

    stack: str | None
    payload: Any = Field(default=None, description="Null without the permission `payloads.read`.")
    version: int | None = Field(default=None, description="The definition's version now.", examples=[3])
    version_then: int | None = Field(
        default=None, description="Its version when the job was enqueued.", examples=[2]
    )


class Replay(Model):
    """How a dead letter runs again."""

    payload: dict[str, Any] | None = Field(
        default=None, description="In place of the old one; null keeps that.", examples=[{"model": "siglip"}]
    )
    edit: dict[str, Any] | None = Field(
        default=None,
        description="In place of `payload`: a JSON merge patch (RFC 7396) of the old one; null takes a field away.",
        examples=[{"model": "siglip"}],
    )
    again: bool = Field(
        default=False, description="Also if it was replayed already, and that replay has ended."
    )
    confirm: bool = Field(
        default=False,
        description="Somebody was asked: needed where the definition says `replay_class = ask`.",
    )
    despite_success: bool = Field(
        default=False,
        description="Also if a later job with the same key, or the same type and payload, has succeeded.",
    )
    version: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="Only once the definition is at this version."
    )
    original_version: bool = Field(
        default=False,
        description="Under the version of the definition that it was made under: only workers that run it take it.",
    )


class Discard(Model):
    """Why a dead letter is discarded."""

    reason: Reason = None


class DiscardedJob(Answer):
    """A dead letter that was closed: the job counts as failed."""

    id: UUID = Field(examples=[ID])
    status: str = Field(examples=["failed"])
