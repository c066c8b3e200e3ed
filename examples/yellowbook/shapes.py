"""What the API takes and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=6_000)]
Phone = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=40)]


class _Shape(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class NewEntry(_Shape):
    """A business that is to be listed."""

    name: Name
    description: Description | None = None
    categories: list[Word] = Field(default=[], max_length=20)
    city: Name
    phone: Phone | None = None


class EntryChanges(_Shape):
    """What is to change of a business; what is not named stays. `null` takes a description or a phone away."""

    name: Name = ""
    description: Description | None = None
    categories: list[Word] = Field(default=[], max_length=20)
    city: Name = ""
    phone: Phone | None = None


class Entry(_Shape):
    """A business. `embedding`: none, pending, ready, failed, or stale (not of the present text)."""

    id: UUID
    name: str
    description: str | None
    categories: list[str]
    city: str
    phone: str | None
    created_at: datetime
    updated_at: datetime
    job_id: UUID | None
    embedding: Literal["none", "pending", "ready", "failed", "stale"]
    embedded_at: datetime | None


class Result(_Shape):
    """A business that was found, and by what."""

    id: UUID
    name: str
    description: str | None
    categories: list[str]
    city: str
    found_by: Literal["meaning", "words"]
    score: float


class Results(_Shape):
    """`fallback` says why a search that was to be by meaning was by words."""

    mode: Literal["semantic", "keyword"]
    fallback: str | None
    results: list[Result]


class Asked(_Shape):
    """A job that was asked for; `created` is false where it waited already."""

    job_id: UUID
    created: bool


class JobError(_Shape):
    """Why a job failed the last time."""

    message: str
    code: str | None = None
    status: int | None = None
    stack: str | None = None


class DLQEntry(_Shape):
    """A job that was given up on."""

    id: UUID
    job_id: UUID
    job_type: Literal["generate-embedding"]
    payload: dict[str, Any]
    error: JobError
    failed_at: datetime
    attempts: int
    last_attempt_at: datetime
    reason: str


class ErrorCount(_Shape):
    """How many dead letters have this status and reason; no status is no answer."""

    status: int | None
    reason: str
    count: int


class ProcessingTime(_Shape):
    """Seconds that handlers ran; none where none did."""

    p50: float | None
    p95: float | None
    p99: float | None


class Metrics(_Shape):
    """How the embeddings go. Rates are shares from 0 to 1; none where nothing has ended."""

    throughput_per_minute: float
    success_rate: float | None = Field(description="Of the jobs that ended.")
    retry_rate: float | None = Field(description="Of the attempts that ended.")
    dlq_size: int
    processing_time: ProcessingTime
    queue_depth: int
