"""A job as its maker sees it before the enqueue, what the enqueue answers, and how a job reads afterwards."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Unpack
from uuid import UUID

from postmill.domain.envelope import envelope
from postmill.domain.idempotency import Mode, default_key
from postmill.domain.job_options import ActorType, JobOptions, Source, normalize
from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.lifecycle import TERMINAL, State
from postmill.domain.payload import check_line, check_text, encode

if TYPE_CHECKING:
    from postmill.domain.job_type import JobType


@dataclass(frozen=True, slots=True)
class NewJob:
    """One unit of work that is not enqueued yet: pure data, to be inserted in the caller's own transaction.

    `payload` is the text of a JSON object. None means: as the job type (or the server) has it. `delay` is
    added to the server's clock at the enqueue; `scheduled_for` is an instant; at most one of them. `timeout`
    is in seconds. `tags` are up to 8 short words to find it by. `key_derived` tells that `key` was made from
    the tenant, the project and the arguments, and
    follows them.
    """

    job_type: str
    payload: bytes = b"{}"
    tenant_id: UUID = DEFAULT_TENANT
    project_id: UUID | None = None
    priority: int | None = None
    delay: timedelta | None = None
    scheduled_for: datetime | None = None
    key: str | None = None
    mode: Mode | None = None
    window: timedelta | None = None
    actor_type: ActorType = "system"
    actor_id: str | None = None
    request_id: str | None = None
    correlation_id: str | None = None
    traceparent: str | None = None
    max_attempts: int | None = None
    timeout: float | None = None
    expires_at: datetime | None = None
    lane_key: str | None = None
    source: Source = "manual"
    source_ref: str | None = None
    tags: tuple[str, ...] = ()
    key_derived: bool = field(default=False, compare=False, repr=False)
    definition: JobType[..., ..., Any] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls, job_type: str, payload: Mapping[str, object] | bytes | str = b"{}", **options: Unpack[JobOptions]
    ) -> NewJob:
        """A job of a type known by name only, with a mapping or the text of a JSON object as payload.

        Raises PayloadRefused for what cannot be stored, TypeError for an unknown option.
        """
        raw = check_text(payload) if isinstance(payload, bytes | str) else encode(payload)
        made: dict[str, Any] = normalize(options)
        return cls(check_line("job_type", job_type), raw, **made)

    def using(self, **changes: Unpack[JobOptions]) -> NewJob:
        """A copy with other options.

        Raises TypeError for an unknown option (with what was probably meant), PayloadRefused for a bad value.
        """
        options: dict[str, Any] = normalize(changes)
        for name, other in (("delay", "scheduled_for"), ("scheduled_for", "delay")):
            if options.get(name) is not None:
                options[other] = None
        if "key" in options:
            options["key_derived"] = False
        made = dataclasses.replace(self, **options)
        idempotency = made.definition.idempotency if made.definition is not None else None
        # The default key holds tenant and project, and follows them. A template's key does not: its scope is
        # the tenant anyway.
        if made.key_derived and idempotency is not None and idempotency.key is None:
            key = default_key(made.job_type, made.tenant_id, made.project_id, made.payload)
            return dataclasses.replace(made, key=key)
        return made


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The answer to an enqueue: the job's id, and whether this call created it or found it under its key."""

    id: UUID
    created: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running job says it is. `total` and `text` as far as it says so."""

    done: float
    total: float | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A job as it is read back: the body as enqueued, and where it stands now.

    `queue` is where the ticket waits or runs, else the one of the enqueue. `attempt` is the number of the
    attempt that waits, runs or ended the job, from 1. `result` is decoded JSON. `worker_id` is the worker that
    runs the job or ended it. `cancel_requested`: a cancel was asked for and not answered yet. `progress` is the
    last report of a running job. `tags` are in the order of the alphabet. A replayed
    dead letter `finished_at` the end of its last attempt.
    """

    id: UUID
    tenant_id: UUID
    job_type: str
    queue: str
    status: State
    priority: int
    attempt: int
    max_attempts: int
    payload: Any
    created_at: datetime
    scheduled_for: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    project_id: UUID | None = None
    key: str | None = None
    source: str = "manual"
    source_ref: str | None = None
    actor_type: str = "system"
    actor_id: str | None = None
    request_id: str | None = None
    correlation_id: str | None = None
    traceparent: str | None = None
    result: Any = None
    reason: str | None = None
    error_class: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    replayed_from: UUID | None = None
    replayed_as: UUID | None = None
    worker_id: str | None = None
    cancel_requested: bool = False
    progress: Progress | None = None
    tags: tuple[str, ...] = ()

    def envelope(self) -> dict[str, Any]:
        """The job as the contract of seed 5 has it: see `postmill.domain.envelope`."""
        return envelope(self)

    @property
    def finished(self) -> bool:
        """Whether the job has ended, in whatever way."""
        return self.status in TERMINAL

    @property
    def succeeded(self) -> bool:
        """Whether the job has ended well."""
        return self.status is State.SUCCEEDED
