"""A test's clock that stands at a moment of New York, and the application's pool under it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from examples.homepage.outbound.services import Service
from examples.homepage.resources import Pool, pool_of
from examples.homepage.settings import Settings
from examples.homepage.stocks.client import AlphaVantage
from examples.homepage.stocks.quote import SERVICE
from examples.homepage.stocks.settings import from_environment
from examples.homepage.tests.site import Site

NEW_YORK = ZoneInfo("America/New_York")


def offset(moment: datetime) -> str:
    """How far ahead the clock must be for it to be that moment now, or a second later."""
    return f"{(moment - datetime.now(UTC)).total_seconds() + 1:.0f} s"


def newyork(text: str) -> datetime:
    """`2027-03-08 09:30`, there."""
    return datetime.fromisoformat(text).replace(tzinfo=NEW_YORK)


def upcoming(weekday: int, time: str = "00:00") -> datetime:
    """The next such day there that is wholly to come, 0 for Monday."""
    today = datetime.now(NEW_YORK).replace(tzinfo=None)
    day = today.date() + timedelta(days=1 + (weekday - today.weekday() - 1) % 7)
    return newyork(f"{day} {time}")


@asynccontextmanager
async def pool(site: Site, moment: datetime, connections: int = 8) -> AsyncIterator[Pool]:
    """Connections whose clock begins at that moment."""
    dsn = site.later(offset(moment))
    async with pool_of(Settings(database_url=SecretStr(dsn), connections=connections)) as made:
        yield made


@asynccontextmanager
async def client() -> AsyncIterator[AlphaVantage]:
    """The client that a worker would have."""
    settings = from_environment()
    async with Service(SERVICE, settings.base_url, user_agent="tests") as service:
        yield AlphaVantage(service, settings)


def later(moment: datetime, minutes: int) -> datetime:
    """So many minutes later, as time passes."""
    return moment.astimezone(UTC) + timedelta(minutes=minutes)
