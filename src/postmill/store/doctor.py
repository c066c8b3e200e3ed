"""The statement that looks for what must never be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Violation:
    """A job for which an invariant does not hold.

    `kind`: lost (a body without ticket and outcome) | two_places | two_outcomes | no_body (a ticket without
    one) | ghost (runs under a lease that ended more than two leases ago) | stale_cancel (an ended job's
    request still lies there after a minute).
    """

    kind: str
    job_id: UUID
    detail: str


def check_invariants(
    *,
    since: datetime | None = None,
    lease_seconds: float = 30.0,
    most: int = 1000,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Violation]]:
    """Violations among jobs made since a moment, at most `most` of each kind."""
    args = (since, lease_seconds, most)
    return Statement(
        "check_invariants",
        sql("doctor/check_invariants", schema),
        args,
        lambda rows: [Violation(*r) for r in rows],
    )
