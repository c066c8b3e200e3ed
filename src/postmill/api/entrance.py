"""Where jobs come in by HTTP: those that come at the same time go in together, and share a statement and its commit.

Nobody waits for company: while statements run, requests gather, and go with the next one. A lone request goes at once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from postmill.bind import arun
from postmill.domain.access import Principal
from postmill.domain.job import NewJob
from postmill.store.doors import Entered, request_enqueue

AT_ONCE = 2
"""Statements under way: while the database works on one, the other is made ready or read. More gather fewer each."""

MOST = 64
"""Requests in a statement: what one costs is by then mostly its jobs."""


@dataclass(frozen=True, slots=True, eq=False)
class _One:
    request_id: str
    job: NewJob
    version: int | None
    answer: asyncio.Future[Entered]


@dataclass(slots=True)
class Entrance:
    """Enqueues jobs for requests that do nothing else."""

    pool: AsyncConnectionPool[AsyncConnection[Any]]
    schema: str
    _waiting: OrderedDict[Principal, list[_One]] = field(default_factory=OrderedDict)
    _under_way: set[asyncio.Task[None]] = field(default_factory=set)

    async def enqueue(
        self, principal: Principal, request_id: str, job: NewJob, version: int | None
    ) -> Entered:
        """One job, within the principal's scope; returns when it is committed.

        Raises:
            psycopg.errors.InvalidAuthorizationSpecification: the key opens no longer.
        """
        one = _One(request_id, job, version, asyncio.get_running_loop().create_future())
        if job.key is not None:
            # It may wait for another transaction with its key: not while others wait for it.
            await self._enter(principal, [one])
        else:
            self._waiting.setdefault(principal, []).append(one)
            if len(self._under_way) < AT_ONCE:
                task = asyncio.create_task(self._work())
                self._under_way.add(task)
                task.add_done_callback(self._under_way.discard)
        return await one.answer

    async def _work(self) -> None:
        """Enters what waits, principal by principal, until nothing does."""
        while self._waiting:
            principal, gathered = self._waiting.popitem(last=False)
            if gathered[MOST:]:
                self._waiting[principal] = gathered[MOST:]
            await self._enter(principal, gathered[:MOST])

    async def _enter(self, principal: Principal, some: list[_One]) -> None:
        asked = [(one.request_id, one.job, one.version) for one in some]
        try:
            async with self.pool.connection() as conn:
                found = await arun(conn, request_enqueue(principal, asked, schema=self.schema))
        except Exception as error:
            if len(some) > 1 and _undone(error):
                # One of them cannot be entered: the others shall not bear it.
                for one in some:
                    await self._enter(principal, [one])
                return
            for one in some:
                if not one.answer.done():
                    one.answer.set_exception(error)
            return
        for one, entered in zip(some, found, strict=True):
            if not one.answer.done():
                one.answer.set_result(entered)


def _undone(error: Exception) -> bool:
    """Whether the database refused the statement, so that none of it was done. A connection that broke says nothing."""
    return isinstance(error, psycopg.DatabaseError) and not isinstance(error, psycopg.OperationalError)
