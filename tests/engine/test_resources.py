"""What a worker process opens for its handlers: opened before the first job, closed after the last, whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from postmill.domain.errors import DefinitionError, PostmillError, ResourceFailed
from postmill.domain.job_type import job
from postmill.domain.registry import Registry
from postmill.domain.resource import Resource, resource
from postmill.engine.config import WorkerConfig
from postmill.engine.context import Context
from postmill.engine.worker import Worker
from tests.engine import resource_jobs
from tests.engine.test_outcomes import end
from tests.support.databases import Database
from tests.support.workers import enqueue, until, working

Conn = psycopg.AsyncConnection[Any]


class Diary:
    """Resources that write down what becomes of them."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def awaited(self, name: str, *, breaks: str = "", waits: asyncio.Event | None = None) -> Resource[str]:
        @resource
        async def made() -> AsyncIterator[str]:
            # A task group cares in which task it is closed.
            async with asyncio.timeout(60):
                self.lines.append(f"open {name}")
                try:
                    if waits is not None:
                        await waits.wait()
                    if breaks == "open":
                        raise OSError("refused")
                    yield name
                finally:
                    self.lines.append(f"close {name}")
                if breaks == "close":
                    raise OSError("stuck")

        return made

    def plain(self, name: str) -> Resource[str]:
        @resource
        def made() -> Iterator[str]:
            self.lines.append(f"open {name}")
            yield name
            self.lines.append(f"close {name}")

        return made


def worker(database: Database, *parts: Any) -> Worker:
    return Worker(database.dsn, Registry.collect(*parts), config=WorkerConfig(grace=5.0, poll_interval=2.0))


async def test_handlers_of_every_kind_get_what_was_yielded(database: Database, apg: Conn) -> None:
    diary = Diary()
    first, second = diary.awaited("first"), diary.plain("second")
    strange = diary.plain("strange")

    @job
    async def coroutine(ctx: Context) -> str:
        diary.lines.append("job")
        return ctx.resource(first) + ctx.resource(second)

    @job
    def function(ctx: Context) -> str:
        return ctx.resource(second)

    @job(max_attempts=1)
    async def asks_for_another(ctx: Context) -> str:
        return ctx.resource(strange)

    async with working(database.dsn, coroutine, function, asks_for_another, first, second, first):
        id = await enqueue(apg, "coroutine")
        assert (await end(apg, id, "succeeded"))[3] == "firstsecond"
        id = await enqueue(apg, "function")
        assert (await end(apg, id, "succeeded"))[3] == "second"
        id = await enqueue(apg, "asks_for_another")
        assert (await end(apg, id, "dead_letter"))[2] == "postmill.domain.errors.ResourceFailed"
    assert diary.lines == ["open first", "open second", "job", "close second", "close first"]


async def test_one_that_cannot_be_opened_ends_the_worker_before_it_works(
    database: Database, apg: Conn
) -> None:
    diary = Diary()
    parts = diary.awaited("good"), diary.awaited("bad", breaks="open"), diary.plain("never")
    with pytest.raises(ResourceFailed, match=r"made could not be opened: OSError: refused"):
        await worker(database, *parts).run()
    assert diary.lines == ["open good", "open bad", "close bad", "close good"]
    cursor = await apg.execute("select count(*) from postmill.worker")
    assert await cursor.fetchone() == (0,)


async def test_a_drain_does_not_wait_for_an_opening(database: Database) -> None:
    diary = Diary()
    slow = worker(database, diary.plain("first"), diary.awaited("slow", waits=asyncio.Event()))
    task = asyncio.create_task(slow.run())
    await until(lambda: "open slow" in diary.lines)
    slow.drain()
    await task
    assert diary.lines == ["open first", "open slow", "close slow", "close first"]


async def test_all_are_closed_whatever_ends_the_worker(database: Database) -> None:
    diary = Diary()
    parts = diary.awaited("one", breaks="close"), diary.plain("two")
    broken = worker(database, *parts)
    task = asyncio.create_task(broken.run())
    await broken.ready.wait()
    broken.drain()
    with pytest.raises(PostmillError, match=r"made could not be closed: OSError: stuck"):
        await task
    assert diary.lines == ["open one", "open two", "close two", "close one"]
    killed = worker(database, *parts)
    task = asyncio.create_task(killed.run())
    await killed.ready.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert diary.lines[4:] == diary.lines[:4]


async def test_a_child_process_has_its_own(
    database: Database, apg: Conn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    monkeypatch.setenv("NOTES", str(notes))
    types = Registry.collect(resource_jobs)
    async with working(database.dsn, *types):  # the worker itself opens none here
        ids = [await enqueue(apg, job_type.name) for job_type in types]
        results = [(await end(apg, id, "succeeded"))[3] for id in ids]
    assert sorted(results, key=str) == [["awaited", "plain"], ["awaited", "plain"], "needs none"]
    lines = [line.rpartition(" ") for line in notes.read_text().splitlines()]
    whole = ["open awaited", "open plain", "close plain", "close awaited"]
    assert [[word for word, _, by in lines if by == pid] for pid in {by for *_, by in lines}] == [whole] * 2


def test_what_is_no_resource_is_refused() -> None:
    def returns() -> None: ...
    def takes(url: str) -> Iterator[str]:
        yield url

    @asynccontextmanager
    async def manages() -> AsyncIterator[None]:
        yield

    for wrong, why in ((returns, "yields once"), (takes, "no parameters"), (manages, "no other decorator")):
        with pytest.raises(DefinitionError, match=why):
            resource(wrong)  # type: ignore[arg-type]


def test_resources_stay_with_their_job_types() -> None:
    types = Registry.collect(resource_jobs)
    assert types.resources == (resource_jobs.awaited, resource_jobs.plain)
    assert types.with_lanes(lambda queue: "none").with_limits(lambda name: 1).resources == types.resources
    assert Registry.collect(types, resource_jobs).resources == types.resources
