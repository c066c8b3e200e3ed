"""After whatever happened: every job has exactly one ticket or outcome, and nothing runs under a dead lease."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from postmill.operate import invariants as operate
from postmill.store.catalog import DEFAULT_SCHEMA


def invariants(conn: Connection[Any], schema: str = DEFAULT_SCHEMA, *, lease_seconds: float = 30.0) -> None:
    """Fail with the jobs for which an invariant does not hold, by the checker that `postmill doctor` runs.

    Pass the lease of the test's workers: what runs two leases after its own has ended is a ghost.
    """
    found = operate.check(conn, schema, lease_seconds=lease_seconds)
    assert not found, "invariants broken:\n" + "\n".join(map(str, found))
