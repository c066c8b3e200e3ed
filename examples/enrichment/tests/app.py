"""What the tests share: the application in a database of the test's own, a stand-in, workers in this process."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

from psycopg import AsyncConnection
from psycopg.rows import dict_row

from examples.enrichment import jobs
from examples.enrichment.create_item import CreatedItem, CreateItem
from examples.upstreams.script import Answer, Rule, Script
from examples.upstreams.scripted import ScriptedServer
from postmill import Registry, Worker
from postmill.engine.config import WorkerConfig

T = TypeVar("T")

CALM = Script(latency=(0.0, 0.01))
TEXT = (
    "A post mill turns its whole body into the wind. The body stands on a single post, which a trestle holds. "
    "The miller climbs a ladder at the back, and turns the mill by a long tail pole."
)


def failing(*answers: Answer) -> Script:
    """Every text gets these answers first."""
    return Script(latency=(0.0, 0.0), rules=(Rule(every=1, answers=answers),))


async def until(look: Callable[[], Awaitable[T]], timeout: float = 10.0, what: str = "it") -> T:
    """Look until the answer is true, and return it. AssertionError with the last answer after `timeout` seconds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while not (answer := await look()):
        assert loop.time() < deadline, f"{what} was not so within {timeout:g} s; last answer: {answer!r}"
        await asyncio.sleep(0.02)
    return answer


@contextmanager
def serving(script: Script = CALM) -> Iterator[ScriptedServer]:
    """The enrichment service in a thread."""
    # Only here: every test process reads this file, few run these tests, and what analyses texts is large.
    from examples.upstreams.enrichment_api import server

    api = server(script)
    thread = threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.01}, name="stand-in")
    thread.start()
    try:
        yield api
    finally:
        api.shutdown()
        thread.join()
        api.server_close()


@asynccontextmanager
async def working(dsn: str, count: int = 1, slots: int = 8, **config: Any) -> AsyncIterator[list[Worker]]:
    """So many workers in this process, ready; drained at the end."""
    settings: dict[str, Any] = {"poll_interval": 30.0, "grace": 5.0, "modules": (jobs.__name__,)} | config
    registry = Registry.collect(jobs)
    workers = [
        Worker(dsn, registry, {"enrichment": slots}, config=WorkerConfig(**settings)) for _ in range(count)
    ]
    tasks = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        await asyncio.wait_for(asyncio.gather(*(worker.ready.wait() for worker in workers)), 10)
        yield workers
    finally:
        for worker in workers:
            worker.drain()
        await asyncio.gather(*tasks)


@dataclass(frozen=True)
class App:
    """The application of one test."""

    dsn: str
    conn: AsyncConnection[Any]
    service: ScriptedServer | None
    capture_id: UUID

    @classmethod
    def of(cls, dsn: str, conn: AsyncConnection[Any], api: ScriptedServer) -> App:
        """With a capture of its own."""
        return cls(dsn, conn, api, uuid4())

    @classmethod
    def elsewhere(cls, dsn: str, conn: AsyncConnection[Any]) -> App:
        """With the service in a process of its own."""
        return cls(dsn, conn, None, uuid4())

    @property
    def api(self) -> ScriptedServer:
        """The service in this process."""
        assert self.service is not None
        return self.service

    @staticmethod
    def use(api: ScriptedServer) -> None:
        """Let handlers that have not yet called any service call this one. The fixture undoes it."""
        os.environ["ENRICHMENT_API_URL"] = api.url

    async def create(self, body: str = TEXT) -> CreatedItem:
        """One item."""
        return await CreateItem(self.conn)(capture_id=self.capture_id, source="test", body=body)

    async def create_many(self, bodies: Sequence[str]) -> list[CreatedItem]:
        """One item each, in transactions of their own."""
        return [await self.create(body) for body in bodies]

    async def item(self, item: CreatedItem) -> dict[str, Any]:
        """The row of an item."""
        return await self._row("select * from items where id = %s", item.id)

    async def outbox(self, item: CreatedItem) -> dict[str, Any]:
        """The row of its job in the outbox."""
        return await self._row("select * from enrichment_outbox where id = %s", item.job_id)

    async def statuses(self) -> dict[str, int]:
        """How many items of the capture are in each status."""
        cursor = await self.conn.execute(
            "select status, count(*) from items where capture_id = %s group by 1", [self.capture_id]
        )
        return dict(await cursor.fetchall())

    async def becomes(self, item: CreatedItem, status: str, timeout: float = 10.0) -> dict[str, Any]:
        """Wait until the item's job has this status in the outbox; returns that row."""

        async def look() -> dict[str, Any] | None:
            row = await self.outbox(item)
            return row if row["status"] == status else None

        found = await until(look, timeout, f"the job's being {status}")
        assert found is not None
        return found

    async def worker_asleep(self) -> None:
        """Wait until a worker has found nothing and sleeps at the queue, to be rung."""
        await until(lambda: self.count("select from postmill.sleeper where queue = 'enrichment'"))

    async def all_ready(self, count: int, timeout: float = 10.0) -> None:
        """Wait until so many items are ready to confirm and no job is left."""

        async def look() -> bool:
            return await self.statuses() == {"READY_TO_CONFIRM": count} and await self.open_jobs() == 0

        await until(look, timeout, f"all {count} items' being ready")

    async def open_jobs(self) -> int:
        """Jobs that still wait or run."""
        return await self.count("select from enrichment_outbox where status in ('PENDING', 'IN_PROGRESS')")

    async def idle(self) -> bool:
        """Whether no job waits or runs."""
        return await self.open_jobs() == 0

    async def count(self, query: str, *values: object) -> int:
        """How many rows a query has."""
        return (await self.conn.execute(query.encode(), values)).rowcount

    async def attempts(self, item: CreatedItem) -> list[str]:
        """How the attempts of an item's job ended, in order."""
        cursor = await self.conn.execute(
            "select status from postmill.job_attempts where job_id = %s order by attempt_no", [item.job_id]
        )
        return [status for (status,) in await cursor.fetchall()]

    async def _row(self, query: str, *values: object) -> dict[str, Any]:
        async with self.conn.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(query.encode(), values)
            row = await cursor.fetchone()
        assert row is not None
        return row
