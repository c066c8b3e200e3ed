"""Statements on the contract of seed 5: envelopes, idempotency keys, and sealed payloads."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

NO_PROJECT = UUID(int=0)


@dataclass(frozen=True, slots=True)
class KeyView:
    """An idempotency key, and where the job stands that holds it.

    `status` is seed 5's; None where the job's history is gone. `expires_at` is None for keys that last as long as the
    job. `result_ref` and `error_ref` are paths below the API.
    """

    tenant_id: UUID
    project_id: UUID | None
    key: str
    job_type: str
    job_id: UUID
    mode: str
    status: Literal["pending", "running", "succeeded", "failed", "dead"] | None
    first_seen_at: datetime
    last_seen_at: datetime
    expires_at: datetime | None
    result_ref: str | None
    error_ref: str | None

    @property
    def position(self) -> tuple[UUID, UUID, str]:
        """Where a list goes on behind it."""
        return self.tenant_id, self.project_id or NO_PROJECT, self.key


@dataclass(frozen=True, slots=True)
class SealedPayload:
    """An encrypted payload at rest."""

    id: UUID
    tenant_id: UUID
    job_type: str
    payload: str


def read_envelope(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[dict[str, Any] | None]:
    """The job as the contract's JSON, its payload as it is stored; None: there is no such job."""
    return Statement(
        "read_envelope",
        sql("jobs/read_envelope", schema),
        (id,),
        lambda rows: None if rows[0][0] is None else json.loads(rows[0][0]),
    )


def idempotency_keys(
    *,
    key: str | None = None,
    job_type: str | None = None,
    after: tuple[UUID, UUID, str] | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[KeyView]]:
    """Idempotency keys in the order of tenant, project, key, those after a `position`."""
    return Statement(
        "idempotency_keys",
        sql("jobs/idempotency_keys", schema),
        (key, job_type, *(after or (None, None, None)), most),
        lambda rows: [KeyView(*row) for row in rows],
    )


def sealed_payloads(
    after: UUID, key: str, most: int, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[SealedPayload]]:
    """Payloads sealed under other keys than this one, in the order of the jobs' ids."""
    args = (after, key, most)
    return Statement(
        "sealed_payloads",
        sql("jobs/sealed_payloads", schema),
        args,
        lambda rows: [SealedPayload(*r) for r in rows],
    )


def reseal(id: UUID, old: str, new: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """Puts a payload sealed anew in the place of the old one; false if that is not there any more."""
    return Statement("reseal", sql("jobs/reseal", schema), (id, old, new), lambda rows: bool(rows[0][0]))
