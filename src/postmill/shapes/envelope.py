"""A job's envelope, and idempotency keys (seed 5)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from postmill.shapes.base import Answer

_JOB = "0198f3a2-7c11-7abc-8000-000000000001"
_ORG = "1efe049f-ae71-4226-97be-236b4df4a93a"


class Envelope(Answer):
    """A job as its contract: who asked for it, for which organization, within which request."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "job_id": _JOB,
                    "job_type": "conflict_scan",
                    "org_id": _ORG,
                    "project_id": "5a2f1c7e-4f0e-4b39-9a55-0d3a3a3f8a11",
                    "actor_type": "user",
                    "actor_id": "ann",
                    "request_id": "req-7f3",
                    "correlation_id": "corr-2",
                    "idempotency_key": f"conflict_scan:{_ORG}:5a2f1c7e-4f0e-4b39-9a55-0d3a3a3f8a11:9f86d081",
                    "created_at": "2026-02-16T10:30:01.000000Z",
                    "payload": {"week": "2026-W08"},
                }
            ]
        }
    )

    job_id: UUID
    job_type: str
    org_id: UUID
    project_id: UUID | None = None
    actor_type: Literal["user", "system", "api_key"]
    actor_id: str | None
    request_id: str | None
    correlation_id: str | None
    idempotency_key: str | None
    created_at: str = Field(description="RFC 3339.")
    payload: Any = Field(description="Decrypted where this server has the key; secrets are `[redacted]`.")
    scheduled_for: str | None = Field(default=None, description="RFC 3339.")
    traceparent: str | None = None


class IdempotencyKey(Answer):
    """An idempotency key, and where the job stands that holds it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "tenant_id": _ORG,
                    "project_id": None,
                    "key": "tenant:bcg:training:daily",
                    "job_type": "recompute-trained-tags",
                    "job_id": _JOB,
                    "mode": "ttl",
                    "status": "succeeded",
                    "first_seen_at": "2026-02-16T10:30:01Z",
                    "last_seen_at": "2026-02-16T10:30:01Z",
                    "expires_at": "2026-03-18T10:30:01Z",
                    "result_ref": f"jobs/{_JOB}",
                    "error_ref": None,
                }
            ]
        },
    )

    tenant_id: UUID
    project_id: UUID | None
    key: str
    job_type: str
    job_id: UUID
    mode: Literal["active", "queued", "window", "ttl"]
    status: Literal["pending", "running", "succeeded", "failed", "dead"] | None = Field(
        description="Null where the job's history is gone."
    )
    first_seen_at: datetime
    last_seen_at: datetime
    expires_at: datetime | None = Field(description="Null: as long as the job lasts.")
    result_ref: str | None = Field(description="Path below the API where the result is.")
    error_ref: str | None = Field(description="Path below the API where the errors are.")
