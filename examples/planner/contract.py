"""The job contract: every field that a job must have, with what makes it valid. `read` gives a stored job in this form."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from postmill import JobView

Filled = Annotated[str, Field(min_length=1, max_length=1024)]


class Envelope(BaseModel):
    """One job. A field that is missing, unknown or of another form is an error that names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    job_id: UUID
    job_type: Filled
    org_id: UUID
    project_id: UUID | None = None
    actor_type: Literal["user", "system", "api_key"]
    actor_id: Filled
    request_id: Filled
    correlation_id: Filled
    idempotency_key: Filled
    created_at: AwareDatetime
    payload: dict[str, Any]
    scheduled_for: AwareDatetime | None = None
    traceparent: (
        Annotated[str, Field(pattern=r"^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")] | None
    ) = None


def read(job: JobView) -> Envelope:
    """A job under the names of the contract. Raises pydantic's ValidationError where it is none of ours."""
    return Envelope.model_validate(job.envelope())
