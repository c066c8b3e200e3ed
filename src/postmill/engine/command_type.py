"""A stored definition of kind `command` as a worker runs it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from postmill.domain.argv import Template
from postmill.engine.guarded import Guard
from postmill.engine.work import (
    ACTOR_ID,
    ATTEMPT,
    CORRELATION_ID,
    ID,
    KEY,
    PROJECT,
    REQUEST_ID,
    TENANT,
    TRACEPARENT,
    Work,
)


@dataclass(frozen=True, slots=True)
class CommandType:
    """What of a definition its runs need; `arg_schema` is JSON text."""

    key: str
    version: int
    template: Template
    arg_schema: str
    env_allow: tuple[str, ...]
    secret_keys: tuple[str, ...]
    guard: Guard

    def facts(self, work: Work) -> dict[str, str | None]:
        """What the template may name besides the payload."""
        row = work.row
        return {
            "tenant_id": str(UUID(bytes=row[TENANT])),
            "project_id": str(UUID(bytes=row[PROJECT])) if row[PROJECT] else None,
            "job_id": str(UUID(bytes=row[ID])),
            "attempt": str(row[ATTEMPT]),
            "actor_id": row[ACTOR_ID],
            "request_id": row[REQUEST_ID],
            "correlation_id": row[CORRELATION_ID],
            "idempotency_key": row[KEY],
        }

    def environment(self, facts: dict[str, str | None], work: Work) -> dict[str, str]:
        """Variables of the command's own: who it works for, and the trace that it belongs to."""
        given = {
            "POSTMILL_JOB_ID": facts["job_id"],
            "POSTMILL_JOB_TYPE": self.key,
            "POSTMILL_TENANT_ID": facts["tenant_id"],
            "POSTMILL_ATTEMPT": facts["attempt"],
            "POSTMILL_CORRELATION_ID": facts["correlation_id"],
            "TRACEPARENT": work.row[TRACEPARENT],
        }
        return {name: value for name, value in given.items() if value is not None}
