"""What a worker process holds open for its handlers: connections to the application's tables, and the way out to feeds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from examples.homepage.outbound.addresses import Addresses
from examples.homepage.rss.fetch import FeedFetcher
from examples.homepage.settings import Settings, from_environment
from postmill import resource
from postmill.connections import apool

Pool = AsyncConnectionPool[AsyncConnection[Any]]


ALIVE = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""Of connections: a server that is gone without a word (a failover, a cable) is noticed within half a minute."""


def pool_of(settings: Settings, patience: float = 30.0) -> Pool:
    """Connections in autocommit, not yet open. One from before a restart of the server is replaced, and nobody sees it.

    `patience`: seconds for which a free one is waited for.
    """
    dsn = settings.database_url.get_secret_value()
    bounds: dict[str, Any] = {"min_size": 0, "max_size": settings.connections, "timeout": patience}
    return apool(dsn, "homepage", prepared=True, options=dict(ALIVE), **bounds)


def fetcher_of(settings: Settings) -> FeedFetcher:
    """What asks for feeds, within the bounds of the settings."""
    return FeedFetcher(
        Addresses(settings.allow_private),
        user_agent=settings.user_agent,
        timeout=settings.feed_timeout,
        most_bytes=settings.feed_bytes,
        most_entries=settings.feed_entries,
    )


@resource
async def database() -> AsyncIterator[Pool]:
    """The pool of a worker process."""
    async with pool_of(from_environment()) as pool:
        yield pool


@resource
async def feeds() -> AsyncIterator[FeedFetcher]:
    """The fetcher of a worker process."""
    async with fetcher_of(from_environment()) as fetcher:
        yield fetcher
