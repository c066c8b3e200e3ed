"""One console and one database for each module."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from postmill.local.server import LocalServer
from tests.console.harness import Console
from tests.support.api import opened
from tests.support.databases import Database, fresh_database


@pytest.fixture(scope="module")
def console_database(cluster: LocalServer, template: str) -> Iterator[Database]:
    """The module's own migrated database."""
    with fresh_database(cluster, template) as database:
        yield database


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def console(console_database: Database) -> AsyncIterator[Console]:
    """The module's application, with its lifespan."""
    async with opened(console_database) as api:
        yield Console(api)
