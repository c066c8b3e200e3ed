"""What the tests share: the API on the test's database, the world's feeds, workers in this process, a clock to turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from pydantic import SecretStr

from examples.homepage.settings import Settings, from_environment
from examples.homepage.tests.labour import labouring
from examples.homepage.web import create_app
from examples.upstreams.feeds.documents import Document
from examples.upstreams.feeds.server import FeedServer

Row = dict[str, Any]


@dataclass
class Site:
    """The application of one test."""

    dsn: str
    conn: AsyncConnection[Any]
    http: httpx.AsyncClient
    service: FeedServer

    async def source(self, path: str = "/corpus/rss-2.0.xml", **columns: object) -> UUID:
        """A source at the stand-in."""
        values: Row = {"name": path, "url": self.service.url + path, "refresh_interval_minutes": 15} | columns
        names, marks = ", ".join(values), ", ".join(["%s"] * len(values))
        row = await self.row(
            f"insert into rss_sources ({names}) values ({marks}) returning id", *values.values()
        )
        found: UUID = row["id"]
        return found

    def page(self, path: str, text: str) -> str:
        """A page of the stand-in's."""
        self.service.pages[path] = Document(text.encode())
        return path

    async def standing(self, source: UUID) -> Row:
        """The row of a source."""
        return await self.row("select * from rss_sources where id = %s", source)

    async def items(self, source: UUID) -> list[Row]:
        """The items of a source, the oldest first."""
        query = "select * from feed_items where source_id = %s order by published_at nulls last, title, id"
        return await self.rows(query, source)

    async def enqueue(self, job_type: str = "RSS_FEED_REFRESH", **payload: object) -> UUID:
        """A job by the admin API."""
        body = {"job_type": job_type, "payload": {key: _json(value) for key, value in payload.items()}}
        answer = await self.http.post("/admin/api/jobs/enqueue", json=body)
        assert answer.status_code == 202, answer.text
        return UUID(answer.json()["job_id"])

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
            return await cursor.fetchall() if cursor.description else []

    async def run(self, later: str = "0 s", *, hurry: bool = False) -> list[ReadableSpan]:
        """Let a worker do all that is due so much later; the spans of what it did. For `hurry` see `Labour.idle`."""
        async with labouring(self.later(later)) as labour:
            await labour.idle(hurry=hurry)
        return labour.spans

    def later(self, offset: str) -> str:
        """Connections whose clock is so much ahead."""
        return make_conninfo(
            self.dsn, options=f"-c postmill.clock_offset={offset.replace(' ', chr(92) + ' ')}"
        )


def happenings(span: ReadableSpan) -> list[tuple[str, Row]]:
    """The events of a span with their attributes, without those that end every span."""
    return [
        (event.name, dict(event.attributes or {}))
        for event in span.events
        if not event.name.startswith("job.")
    ]


def _json(value: object) -> object:
    return str(value) if isinstance(value, UUID) else value


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """The API without a socket."""
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost:8080") as http,
    ):
        yield http


@asynccontextmanager
async def opened(dsn: str, service: FeedServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """The API, and the environment in which workers find the feeds."""
    monkeypatch.setenv("HOMEPAGE_DATABASE_URL", dsn)
    monkeypatch.setenv("HOMEPAGE_ALLOW_PRIVATE", "127.0.0.1/32")
    monkeypatch.delenv("ADMIN_TOKEN", raising=False)
    async with (
        serving(from_environment().model_copy(update={"database_url": SecretStr(dsn)})) as http,
        await AsyncConnection.connect(dsn, autocommit=True) as conn,
    ):
        yield Site(dsn, conn, http, service)
