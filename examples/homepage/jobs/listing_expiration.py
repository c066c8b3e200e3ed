"""`LISTING_EXPIRATION`: once a day ends the listings whose time is over, and reminds the sellers of those that soon end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from psycopg import AsyncConnection

from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.marketplace import expiration
from examples.homepage.marketplace.settings import MarketplaceSettings, marketplace_settings
from examples.homepage.resources import database
from postmill import Context, Idempotency, Mode

Batch = Callable[[AsyncConnection[Any], MarketplaceSettings], Awaitable[int]]


@handles(
    JobType.LISTING_EXPIRATION,
    timeout=1800,
    idempotency=Idempotency(Mode.ACTIVE, key="listing-expiration"),
)
async def ListingExpirationHandler(ctx: Context) -> dict[str, int]:
    """Batch by batch, each in a transaction of its own: what was done before an error is not done again."""
    # First the end, or whoever was not reminded in time would be told that something ends which is over.
    expired = await _batches(ctx, expiration.expire)
    reminded = await _batches(ctx, expiration.remind)
    return {"expired": expired, "reminded": reminded}


[ListingExpirationScheduler] = schedules(JobType.LISTING_EXPIRATION, ListingExpirationHandler)


async def _batches(ctx: Context, batch: Batch) -> int:
    settings, done = marketplace_settings(), 0
    while True:
        ctx.checkpoint()
        async with ctx.resource(database).connection() as conn, conn.transaction():
            found = await batch(conn, settings)
        done += found
        if found < settings.batch:
            return done
        ctx.progress(done)
