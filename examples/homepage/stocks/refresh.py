"""One run: as many quotes as the day allows by now, those that have waited longest first; the rest stays as it is."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import datetime
from typing import Literal, NamedTuple

from psycopg import Rollback

from examples.homepage.outbound.services import ServiceError, kept
from examples.homepage.resources import Pool
from examples.homepage.statements import Row, row
from examples.homepage.stocks import telemetry
from examples.homepage.stocks.client import AlphaVantage
from examples.homepage.stocks.quote import SERVICE, KeyRefused, Limited, UnknownSymbol

MOST_IN_A_RUN = 5
"""What was released while no worker ran is not asked for all at once."""

Outcome = Literal["quoted", "unknown", "limited"]


class Run(NamedTuple):
    """How many symbols were refreshed, and whether the service asked for an end."""

    refreshed: int
    limited: bool


async def refresh(pool: Pool, client: AlphaVantage, begun: datetime, *, haste: bool = False) -> Run:
    """One run; symbols asked for since `begun` are done. In `haste` the first request does not wait for its hour.

    Raises ServiceError or KeyRefused, which end the run: what fails for one symbol would fail for all.
    """
    client.check()
    refreshed = 0
    for number in range(MOST_IN_A_RUN):
        turn = await _turn(pool, begun, haste=haste and number == 0)
        if turn is None:
            break
        if number:
            await asyncio.sleep(client.spacing)
        outcome = await _ask(pool, client, turn)
        if outcome == "limited":
            return Run(refreshed, limited=True)
        refreshed += outcome == "quoted"
    return Run(refreshed, limited=False)


async def _turn(pool: Pool, begun: datetime, *, haste: bool) -> Row | None:
    """A symbol and a request for it, or neither. The request counts from here, whatever becomes of this process."""
    turn: Row | None = None
    async with pool.connection() as conn, conn.transaction() as transaction:
        symbol = await row(conn, "next_stock", begun=begun)
        taken = symbol and await row(conn, "take_stock_request", haste=haste)
        if symbol and taken:
            turn = symbol | taken
        else:
            raise Rollback(transaction)
    return turn


async def _ask(pool: Pool, client: AlphaVantage, turn: Row) -> Outcome:
    outcome: Outcome | Literal["failed"] = "failed"
    error: str | None = None
    try:
        quote = await client.quote(turn["symbol"])
        async with pool.connection() as conn:
            with kept(SERVICE):
                await row(conn, "stock_quoted", symbol=turn["symbol"], **asdict(quote))
        outcome = "quoted"
    except UnknownSymbol as unknown:
        outcome, error = "unknown", str(unknown)
    except Limited as limited:
        outcome, error = "limited", str(limited)
        if limited.day:
            async with pool.connection() as conn:
                await row(conn, "close_stock_day", day=turn["day"])
    except (ServiceError, KeyRefused) as fault:
        error = str(fault)
        raise
    finally:
        telemetry.requests.labels(outcome=outcome).inc()
        if error is not None:
            async with pool.connection() as conn:
                await row(conn, "stock_failed", symbol=turn["symbol"], error=error)
    return outcome
