"""`LISTING_EXPIRATION`: what ends, and who is told before."""

from __future__ import annotations

import asyncio

import pytest
from psycopg import AsyncConnection

from examples.homepage.marketplace import expiration
from examples.homepage.marketplace.renewal import renew
from examples.homepage.marketplace.settings import MarketplaceSettings
from examples.homepage.tests.market.market import Market

ONE = "select status, expired_at is not null as expired from marketplace_listings where id = %s"


async def run(market: Market, later: str = "0 s") -> object:
    """A run so much later, and all that follows; its result."""
    job = await market.site.enqueue("LISTING_EXPIRATION")
    await market.site.run(later)
    return (await market.site.job(job))["result"]


async def test_a_listing_from_reminder_to_renewal_and_end(market: Market) -> None:
    """One reminder for each term, whatever the number of runs; a renewed listing has another one, an expired one none."""
    assert await run(market) == {"expired": 0, "reminded": 0}
    assert await run(market, "17 days 1 minute") == {"expired": 0, "reminded": 1}
    assert await run(market, "18 days") == {"expired": 0, "reminded": 0}
    [mail] = market.smtp.messages
    assert (mail["To"], mail["Subject"]) == ("sam@seller.example", "Your listing ends soon: Bicycle")
    assert (mail["Auto-Submitted"], market.smtp.recipients) == ("auto-generated", [["sam@seller.example"]])
    assert mail["From"].addresses[0].addr_spec == market.smtp.senders[0] != ""
    renewed = await renew(market.site.conn, market.listing, market.seller)
    assert renewed is not None
    assert renewed["term"] == 2
    assert await run(market, "21 days") == {"expired": 0, "reminded": 0}
    assert await run(market, "48 days") == {"expired": 0, "reminded": 1}
    assert await run(market, "50 days 1 minute") == {"expired": 1, "reminded": 0}
    assert await run(market, "51 days") == {"expired": 0, "reminded": 0}
    assert await market.site.row(ONE, market.listing) == {"status": "expired", "expired": True}
    assert len(market.smtp.messages) == 2


async def test_batches_and_what_is_over_already(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than fit into a batch; what nobody was reminded of in time ends without a reminder; what is sold stays."""
    monkeypatch.setenv("LISTING_BATCH", "2")
    await market.offer("Over", "-1 minute", times=5)
    await market.offer("Soon", "2 days", times=4)
    sold = await market.offer("Sold", "-1 day")
    await market.site.conn.execute("update marketplace_listings set status = 'sold' where id = %s", [sold])
    assert await run(market) == {"expired": 5, "reminded": 4}
    assert await market.site.row(ONE, sold) == {"status": "sold", "expired": False}
    assert {mail["Subject"] for mail in market.smtp.messages} == {"Your listing ends soon: Soon"}
    assert len(market.smtp.messages) == 4


async def test_two_at_once_and_one_that_fails(market: Market) -> None:
    """In one transaction each: what the other has at hand is passed over, what was rolled back is not done."""
    await market.offer("Soon", "2 days", times=3)
    await market.offer("Over", "-1 minute", times=3)
    settings = MarketplaceSettings()
    async with await AsyncConnection.connect(market.site.dsn) as failing:
        assert (await expiration.expire(failing, settings), await expiration.remind(failing, settings)) == (
            3,
            3,
        )
        async with market.site.conn.transaction():
            assert await expiration.expire(market.site.conn, settings) == 0
            assert await expiration.remind(market.site.conn, settings) == 0
        await failing.rollback()
    async with await AsyncConnection.connect(market.site.dsn) as other, market.site.conn.transaction():
        both = await asyncio.gather(
            expiration.remind(market.site.conn, settings), expiration.remind(other, settings)
        )
    assert sum(both) == 3
    assert len(await market.site.rows("select id from mail_messages")) == 3
