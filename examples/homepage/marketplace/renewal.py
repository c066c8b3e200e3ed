"""A seller gives a listing more time."""

from __future__ import annotations

from uuid import UUID

from examples.homepage.statements import Connection, Row, row

TERM = 30
"""Days that a renewal adds; with as many left there is nothing to renew yet."""


async def renew(conn: Connection, listing_id: UUID, seller_id: UUID) -> Row | None:
    """Begin another term, also of a listing that has expired; it has a reminder of its own.

    Whether it is `renewed`, and its `status`, `term` and `expires_at` then. None: this member sells no such listing.
    """
    return await row(conn, "renew_listing", id=listing_id, seller_id=seller_id, days=TERM)
