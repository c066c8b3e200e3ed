"""One application and one database for each module: real PostgreSQL, requests over ASGI."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from postmill.local.server import LocalServer
from tests.support.api import Api, opened
from tests.support.databases import Database, fresh_database


@pytest.fixture(scope="module")
def api_database(cluster: LocalServer, template: str) -> Iterator[Database]:
    """The module's own migrated database."""
    with fresh_database(cluster, template) as database:
        yield database


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(api_database: Database) -> AsyncIterator[Api]:
    """The module's application, with its lifespan."""
    async with opened(api_database) as made:
        yield made
