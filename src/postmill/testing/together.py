"""The fixture `postmill`: the helpers, bound to the test's own database."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import psycopg

from postmill import connections
from postmill.client import AsyncClient, Client
from postmill.domain.job import JobView
from postmill.domain.registry import Source
from postmill.testing import draining, looking
from postmill.testing.looking import Wanted


class PostmillTest:
    """A database, and what tests ask of it.

    Attributes:
        dsn: connection string, for your own connections and engines.
    """

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    @functools.cached_property
    def conn(self) -> psycopg.Connection[Any]:
        """A psycopg connection in autocommit mode; it sees what is committed."""
        return connections.connect(self.dsn, "postmill-test")

    @functools.cached_property
    def client(self) -> Client:
        """A client."""
        return Client(self.dsn)

    @functools.cached_property
    def aclient(self) -> AsyncClient:
        """A client for asyncio; close it in the loop that used it: `await postmill.aclient.close()`."""
        return AsyncClient(self.dsn)

    def enqueued(
        self, job_type: Wanted | None = None, arguments: Mapping[str, Any] | None = None, **more: Any
    ) -> list[JobView]:
        """As `postmill.testing.enqueued`, of what is committed."""
        return looking.enqueued(self.conn, job_type, arguments, **more)

    def assert_enqueued(
        self, job_type: Wanted, arguments: Mapping[str, Any] | None = None, **more: Any
    ) -> JobView:
        """As `postmill.testing.assert_enqueued`, of what is committed."""
        __tracebackhide__ = True
        return looking.assert_enqueued(self.conn, job_type, arguments, **more)

    def assert_not_enqueued(
        self, job_type: Wanted | None = None, arguments: Mapping[str, Any] | None = None, **more: Any
    ) -> None:
        """As `postmill.testing.assert_not_enqueued`, of what is committed."""
        __tracebackhide__ = True
        looking.assert_not_enqueued(self.conn, job_type, arguments, **more)

    def drain(self, *sources: Source, **how: Any) -> draining.Drained:
        """As `postmill.testing.drain`."""
        return draining.drain(self.dsn, *sources, **how)

    async def adrain(self, *sources: Source, **how: Any) -> draining.Drained:
        """As `postmill.testing.adrain`."""
        return await draining.adrain(self.dsn, *sources, **how)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for name in ("conn", "client"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()
