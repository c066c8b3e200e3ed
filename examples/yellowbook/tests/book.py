"""What the tests share: the API on the test's database, the service, workers in this process, a clock to turn."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from pydantic import SecretStr

from examples.upstreams.gemini.server import KEY, GeminiServer
from examples.yellowbook import jobs
from examples.yellowbook.settings import Settings, from_environment
from examples.yellowbook.statements import text
from examples.yellowbook.web import create_app
from tests.support.workers import until, working

TOKEN = "the administrator's token"
BAKERY = {
    "name": "Ember & Crumb",
    "description": "A bakery with sourdough loaves, rye bread and cinnamon buns, baked in a wood-fired oven.",
    "categories": ["food", "bakery"],
    "city": "Utrecht",
}
Row = dict[str, Any]


@dataclass
class Book:
    """The application of one test."""

    dsn: str
    conn: AsyncConnection[Any]
    http: httpx.AsyncClient
    service: GeminiServer

    async def add(self, **fields: Any) -> Row:
        """A business, by the API."""
        answer = await self.http.post("/api/yellow-books", json=BAKERY | fields)
        assert answer.status_code == 201, answer.text
        made: Row = answer.json()
        return made

    async def change(self, entry: Row, **fields: Any) -> Row:
        """A change by the API."""
        answer = await self.http.patch(f"/api/yellow-books/{entry['id']}", json=fields)
        assert answer.status_code == 200, answer.text
        made: Row = answer.json()
        return made

    async def delete(self, entry: Row) -> None:
        """Take it out by the API."""
        answer = await self.http.delete(f"/api/yellow-books/{entry['id']}")
        assert answer.status_code == 204, answer.text

    async def regenerate(self, entry: Row) -> Row:
        """Press the button."""
        answer = await self.admin("POST", f"/api/yellow-books/{entry['id']}/regenerate-embedding")
        assert answer.status_code == 202, answer.text
        made: Row = answer.json()
        return made

    async def admin(self, method: str, path: str, **more: Any) -> httpx.Response:
        """A request of the administrator's."""
        return await self.http.request(method, path, headers={"Authorization": f"Bearer {TOKEN}"}, **more)

    async def entry(self, entry: Row) -> Row:
        """The row of an entry."""
        return await self.row("select * from yellow_book_entry where id = %s", entry["id"])

    async def job(self, job_id: object) -> Row:
        """Where a job is, and what came of it."""
        return await self.row("select * from postmill.job_state(array[%s::uuid])", job_id)

    async def row(self, query: str, *values: object) -> Row:
        """The only row of a query."""
        [found] = await self.rows(query, *values)
        return found

    async def rows(self, query: str, *values: object) -> list[Row]:
        """The rows of a query."""
        async with self.conn.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(query.encode(), values)
            return await cursor.fetchall()

    async def idle(self) -> bool:
        """Whether no job waits or runs. Jobs that wait for their next attempt are due at once: nobody waits in a test."""
        await self.conn.execute(text("hurry"))
        [open_jobs] = await self.rows(
            "select count(*) as n from postmill.jobs where status in ('queued', 'running')"
        )
        return bool(open_jobs["n"] == 0)

    @asynccontextmanager
    async def worker(self, later: str = "0 s", slots: int = 8) -> AsyncIterator[None]:
        """A worker, so much later than now; at the end all jobs have ended."""
        async with working(
            self.later(later), *MODULES, queues={"embeddings": slots, "embeddings-bulk": 1}, lease=60.0
        ):
            yield
            await until(self.idle)

    async def run(self, later: str = "0 s") -> None:
        """Let a worker do all there is."""
        async with self.worker(later):
            pass

    def later(self, offset: str) -> str:
        """Connections whose clock is so much ahead."""
        return make_conninfo(
            self.dsn, options=f"-c postmill.clock_offset={offset.replace(' ', chr(92) + ' ')}"
        )

    @asynccontextmanager
    async def at(self, offset: str) -> AsyncIterator[Book]:
        """The application so much later."""
        settings = from_environment().model_copy(update={"database_url": SecretStr(self.later(offset))})
        async with serving(settings) as http:
            yield replace(self, http=http)


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """The API without a socket."""
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://book") as http,
    ):
        yield http


MODULES = (jobs.generate_embedding, jobs.regenerate_embeddings, jobs.entries, jobs.gemini)


def embedding(row: Row) -> list[float]:
    """The vector of a row."""
    found: list[float] = json.loads(row["embedding"])
    return found


@asynccontextmanager
async def opened(dsn: str, service: GeminiServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Book]:
    """The API, and the environment in which workers find the service."""
    monkeypatch.setenv("YELLOWBOOK_DATABASE_URL", dsn)
    monkeypatch.setenv("YELLOWBOOK_ADMIN_TOKEN", TOKEN)
    monkeypatch.setenv("GEMINI_API_URL", service.url)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    async with (
        serving(from_environment()) as http,
        await AsyncConnection.connect(dsn, autocommit=True) as conn,
    ):
        yield Book(dsn, conn, http, service)
