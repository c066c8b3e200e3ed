"""A database in which `greet` and `other` are registered, and one caller per kind of connection."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from psycopg import Connection

from postmill.bind import run
from postmill.store.registration import register_job_types
from tests.bind.callers import CALLERS, Caller
from tests.bind.job_types import greet, other
from tests.support.databases import Database


@pytest.fixture
def outside(pg: Connection[Any]) -> Connection[Any]:
    """A connection that sees what was committed."""
    run(pg, register_job_types([greet, other]))
    return pg


@pytest_asyncio.fixture(params=CALLERS, ids=lambda kind: kind.__name__)
async def caller(
    request: pytest.FixtureRequest, database: Database, outside: Connection[Any]
) -> AsyncIterator[Caller]:
    """A connection of one kind, as an application would have it."""
    caller: Caller = request.param(database.dsn)
    await caller.open()
    yield caller
    await caller.close()
