"""Case 83: a coroutine that is stopped cleans up to the end before anything is written about it, whoever stops it; and one
that will not hear is stopped all the same, or given up by the drain."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from uuid import UUID

import psycopg
import pytest

from postmill.domain.job_type import job
from tests.engine.test_outcomes import end, one
from tests.support.databases import Database
from tests.support.workers import enqueue, state, until, working

Conn = psycopg.AsyncConnection[Any]


@pytest.mark.parametrize("stop", ["cancel", "timeout", "shutdown"])
async def test_the_cleanup_is_over_before_the_state_is_written(
    database: Database, apg: Conn, stop: str
) -> None:
    runs = asyncio.Event()
    seen: list[str | None] = []
    ids: list[UUID] = []

    @job(timeout=0.3 if stop == "timeout" else None, max_attempts=1)
    async def held() -> None:
        try:
            runs.set()
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(1)
            seen.append(await state(apg, ids[0]))

    async with working(database.dsn, held, grace=1.5 if stop == "shutdown" else 5.0) as worker:
        id = await enqueue(apg, "held")
        ids.append(id)
        await until(runs.is_set)
        if stop == "cancel":
            await apg.execute("select * from postmill.cancel_jobs(array[%s])", [id])
        elif stop == "shutdown":
            worker.drain()
        await until(lambda: seen)
    assert seen == ["running"]
    assert (
        await state(apg, id) == {"cancel": "canceled", "timeout": "dead_letter", "shutdown": "queued"}[stop]
    )
    if stop == "shutdown":
        assert await one(apg, "select status from postmill.attempt") == "interrupted"
        assert await one(apg, "select attempt from postmill.ready") == 1


@pytest.mark.parametrize("stop", ["cancel", "timeout"])
async def test_who_swallows_is_stopped_again(database: Database, apg: Conn, stop: str) -> None:
    swallowed: list[float] = []

    @job(timeout=0.2 if stop == "timeout" else None, max_attempts=1)
    async def swallower() -> None:
        while not swallowed:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                swallowed.append(time.monotonic())
        await asyncio.sleep(60)

    async with working(database.dsn, swallower):
        id = await enqueue(apg, "swallower")

        async def running() -> bool:
            return await state(apg, id) == "running"

        await until(running)
        if stop == "cancel":
            await apg.execute("select * from postmill.cancel_jobs(array[%s])", [id])
        await end(apg, id, "canceled" if stop == "cancel" else "dead_letter")
    assert len(swallowed) == 1


async def test_who_swallows_for_ever_does_not_hold_up_the_shutdown(database: Database, apg: Conn) -> None:
    """The drain gives it up: what it does then counts for nothing, and the job is free for another worker."""
    runs, done = asyncio.Event(), asyncio.Event()

    @job
    async def deaf() -> None:
        runs.set()
        while not done.is_set():
            try:
                await asyncio.sleep(0.2)
            except asyncio.CancelledError:
                continue

    async with working(database.dsn, deaf, grace=0.3):
        id = await enqueue(apg, "deaf")
        await until(runs.is_set)
        began = time.monotonic()
    assert time.monotonic() - began < 40
    assert await state(apg, id) == "queued"
    done.set()
    await asyncio.sleep(0.5)  # the handler ends; nobody listens
    assert await state(apg, id) == "queued"
    assert await one(apg, "select status from postmill.attempt") == "interrupted"
