"""A transaction within the scope of who asks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection

from postmill.api.backend import Backend
from postmill.api.problems import Problem, unauthorized
from postmill.bind import arun
from postmill.domain.access import Principal
from postmill.store.access import begin_request


@asynccontextmanager
async def begun(
    backend: Backend, principal: Principal, request_id: str
) -> AsyncIterator[AsyncConnection[Any]]:
    """A connection that sees what the principal may see; commits at the end.

    Raises:
        Problem: 401 where the key that was found a moment ago opens no longer.
    """
    async with backend.pool.connection() as conn, conn.transaction():
        if not await arun(conn, begin_request(principal, request_id, schema=backend.schema)):
            raise no_longer(backend)
        yield conn


def no_longer(backend: Backend) -> Problem:
    """401 for a key that was revoked meanwhile; keys that are remembered are looked up anew."""
    backend.keys.forget()
    return unauthorized("this API key was revoked, is over, or its tenant is suspended")
