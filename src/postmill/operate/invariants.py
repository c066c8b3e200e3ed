"""Law 5, checked: a job is never lost and never stuck. Every fault test ends with it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from postmill import bind
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.doctor import Violation, check_invariants

__all__ = ["Violation", "acheck", "check"]


def check(
    conn: Any,
    schema: str = DEFAULT_SCHEMA,
    *,
    since: datetime | None = None,
    lease_seconds: float = 30.0,
    most: int = 1000,
) -> list[Violation]:
    """Every violation among jobs made since a moment, at most `most` of each kind; empty where all is well.

    One statement on one snapshot: two passes over bodies and tickets, a few seconds for a million jobs.

    Args:
        conn: a connection of any kind that blocks.
        schema: where Postmill's tables are.
        since: None looks at all jobs.
        lease_seconds: the setting `worker.lease`; a ghost is what runs two leases after its own has ended.
        most: see above.
    """
    statement = check_invariants(since=since, lease_seconds=lease_seconds, most=most, schema=schema)
    return bind.run(conn, statement)


async def acheck(
    conn: Any,
    schema: str = DEFAULT_SCHEMA,
    *,
    since: datetime | None = None,
    lease_seconds: float = 30.0,
    most: int = 1000,
) -> list[Violation]:
    """`check` on a connection that is awaited."""
    statement = check_invariants(since=since, lease_seconds=lease_seconds, most=most, schema=schema)
    return await bind.arun(conn, statement)
