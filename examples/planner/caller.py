"""Who asks for something, and within which request: the part of the contract that requests and jobs have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from postmill import Context

ActorType = Literal["user", "system", "api_key"]


@dataclass(frozen=True, slots=True)
class Caller:
    """`traceparent` is the request's own span, where there is a trace."""

    org_id: UUID
    actor_type: ActorType
    actor_id: str
    request_id: str
    correlation_id: str
    traceparent: str | None = None


def caller_of(ctx: Context) -> Caller:
    """Who has caused a job."""
    job = ctx.job
    return Caller(
        job.tenant_id,
        job.actor_type,  # type: ignore[arg-type]  # the database lets nothing else in
        job.actor_id or "",
        job.request_id or "",
        job.correlation_id or "",
        job.traceparent,
    )
