"""A seller gives a listing more time."""

from __future__ import annotations

from uuid import UUID

from examples.homepage.statements import Connection, Row, row

TERM = 30
"""Days that a renewal adds."""


async def renew(conn: Connection, listing_id: UUID, days: float = TERM) -> Row | None:
    """Begin another term, also of one that has expired; it has a reminder of its own. The new `term` and `expires_at`, or
    None where there is nothing to renew."""
    return await row(conn, "renew_listing", id=listing_id, days=days)
