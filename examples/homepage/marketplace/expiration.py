"""Listings whose time is over, and those whose time soon is. Each call is one batch, to be run in a transaction of its own.

Two that run at once pass over what the other has at hand, so that nothing is done twice.
"""

from __future__ import annotations

from datetime import UTC
from typing import Any

from psycopg import AsyncConnection

from examples.homepage.mail.outbox import post
from examples.homepage.marketplace.settings import MarketplaceSettings
from examples.homepage.statements import Row, rows

_REMINDER = """\
Your listing “{title}” ends on {date} (UTC). Renew it in the marketplace if it shall stay; otherwise there is nothing to do.
"""


async def expire(conn: AsyncConnection[Any], settings: MarketplaceSettings) -> int:
    """End listings whose time is over; how many it were."""
    return len(await rows(conn, "expire_listings", most=settings.batch))


async def remind(conn: AsyncConnection[Any], settings: MarketplaceSettings) -> int:
    """Write to the sellers of listings that soon end, once for each term of a listing; to how many."""
    ending = await rows(conn, "remind_listings", days=settings.reminder_days, most=settings.batch)
    for listing in ending:
        await post(conn, _reminder(listing))
    return len(ending)


def _reminder(listing: Row) -> Row:
    ends = listing["expires_at"].astimezone(UTC)
    return {
        "recipient_id": listing["seller_id"],
        "kind": "reminder",
        "subject": f"Your listing ends soon: {listing['title']}",
        "body": _REMINDER.format(title=listing["title"], date=f"{ends:%-d %B %Y, %H:%M}"),
    }
