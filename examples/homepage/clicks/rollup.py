"""Counts clicks by site and hour, and deletes those that have been kept long enough: each batch is one statement.

A click says itself whether it is counted. So a batch that was interrupted is counted by the next run, one that was done is
not counted again, and a click that comes late counts for its own hour, however long that is over.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from examples.homepage.statements import Connection, row

RETENTION = timedelta(days=90)
"""How long a click is kept; its count stays."""
BATCH = 5000
"""Most clicks of one statement."""


async def roll_up(conn: Connection) -> int:
    """Count what is not counted yet, at most a batch; how many these were."""
    return await _clicks(conn, "roll_up_clicks", most=BATCH)


async def delete_old(conn: Connection) -> int:
    """Delete what is counted and old, at most a batch; how many these were."""
    return await _clicks(conn, "delete_old_clicks", most=BATCH, age=RETENTION)


async def _clicks(conn: Connection, statement: str, **values: Any) -> int:
    found = await row(conn, statement, **values)
    return int(found["clicks"]) if found else 0
