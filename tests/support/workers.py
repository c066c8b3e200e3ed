"""Workers for tests: in this process, and helpers to wait for what they did."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import psycopg

from postmill.domain.registry import AnyJobType, Registry
from postmill.domain.resource import Resource
from postmill.engine.config import WorkerConfig
from postmill.engine.worker import Worker
from postmill.telemetry.bus import Bus
from tests.support.eventually import pause


@asynccontextmanager
async def working(
    dsn: str,
    *types: AnyJobType | Resource[Any],
    queues: Mapping[str, int] | None = None,
    bus: Bus | None = None,
    **config: Any,
) -> AsyncIterator[Worker]:
    """A worker in this process, drained at the end; whatever ended it early is raised."""
    settings = {"lease": 6.0, "grace": 5.0, "poll_interval": 2.0} | config
    worker = Worker(dsn, Registry.collect(*types), queues, config=WorkerConfig(**settings), bus=bus)
    task = asyncio.create_task(worker.run())
    ready = asyncio.create_task(worker.ready.wait())
    await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED, timeout=30)
    ready.cancel()
    try:
        yield worker
    finally:
        worker.drain()
        await task


async def until(true: Any, seconds: float = 60.0) -> None:
    """Wait until the callable (or coroutine function) says true; AssertionError after so many seconds."""
    began = time.monotonic()
    async with asyncio.timeout(seconds):
        while True:
            looked = time.monotonic()
            answer = true()
            if asyncio.iscoroutine(answer):
                answer = await answer
            if answer:
                return
            await asyncio.sleep(pause(began, looked))


async def state(conn: psycopg.AsyncConnection[Any], id: UUID) -> str | None:
    """Where a job is, in the words of the life cycle."""
    cursor = await conn.execute("select state from postmill.job_state(%s)", ([id],))
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def enqueue(
    conn: psycopg.AsyncConnection[Any], job_type: str, payload: str = "{}", **options: Any
) -> UUID:
    """One job by plain SQL, as any language would."""
    named = "".join(f", {name} => %({name})s" for name in options)
    text = f"select postmill.enqueue(%(job_type)s, %(payload)s::jsonb{named})"
    cursor = await conn.execute(text, {"job_type": job_type, "payload": payload, **options})
    row = await cursor.fetchone()
    assert row is not None
    return UUID(str(row[0]))
