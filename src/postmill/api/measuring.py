"""Metrics of the server: its own requests, and what the fleet's monitor measured, or the page of the worker beside it."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import Any

import orjson
import psycopg
from fastapi.routing import iter_route_contexts
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import generate_latest
from psycopg import AsyncConnection
from psycopg_pool import PoolTimeout
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from postmill.api.backend import Backend
from postmill.api.beside import Worker
from postmill.bind import arun
from postmill.store.catalog import sql
from postmill.store.statement import Rows, Statement
from postmill.telemetry.gauges import STALE_AFTER
from postmill.telemetry.metrics import render
from postmill.telemetry.pages import merged


class Requests:
    """Counts and times requests by route, never by path: paths hold ids."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.count = Counter(
            "postmill_http_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "postmill_http_request_seconds",
            "Seconds from request to answer.",
            ["method", "route"],
            registry=self.registry,
        )

    def page(self) -> bytes:
        """In Prometheus' text format."""
        return generate_latest(self.registry)


class Measured:
    """The middleware that feeds `Requests`."""

    def __init__(self, app: ASGIApp, *, requests: Requests) -> None:
        self.app = app
        self._requests = requests
        self._paths: dict[int, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = monotonic()
        status = "500"

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, seen)
        finally:
            route = self._path(scope)
            method = scope["method"] if route != "none" else "any"
            self._requests.count.labels(method, route, status).inc()
            self._requests.seconds.labels(method, route).observe(monotonic() - began)

    def _path(self, scope: Scope) -> str:
        """As the OpenAPI document writes it; `none` for what is no path of ours."""
        route = scope.get("route")
        if route is None:
            return "none"
        if not self._paths:
            found = iter_route_contexts(scope["app"].routes)
            self._paths = {id(one.original_route): str(one.path_format) for one in found}
        return self._paths.get(id(route), "none")


async def page(backend: Backend, requests: Requests, worker: Worker | None) -> bytes:
    """The page for a scrape: the server's own requests after what the worker beside it, or the fleet, has to tell."""
    if worker is None:
        return await _fleet(backend) + requests.page()
    # Without the database the worker's own page is better than none: a counter stays where it was.
    with suppress(psycopg.Error, PoolTimeout):
        async with backend.pool.connection() as conn:
            await _enqueued(backend, conn)
    # Of the jobs that HTTP workers reported here only this process knows.
    return merged(await worker.metrics(), render(backend.desk.counters)) + requests.page()


async def _fleet(backend: Backend) -> bytes:
    """The gauges of the whole fleet, as whichever worker is the monitor has noted them."""

    def decode(rows: Rows) -> dict[str, object] | None:
        fresh = [row for row in rows if row[1] is not None and row[1] <= STALE_AFTER]
        found: dict[str, object] | None = orjson.loads(fresh[0][0]) if fresh else None
        return found

    async with backend.pool.connection() as conn:
        note = await arun(
            conn, Statement("server_gauges", sql("insight/server_gauges", backend.schema), (), decode)
        )
        await _enqueued(backend, conn)
    counters = backend.desk.counters  # of the jobs of HTTP workers that reported here
    if note is not None:
        counters.gauges.noted(note)
    return render(counters)


async def _enqueued(backend: Backend, conn: AsyncConnection[Any]) -> None:
    """How many jobs were ever made: once per fleet, so this is the server's to tell."""
    backend.desk.counters.gauges.enqueued = await arun(
        conn,
        Statement(
            "enqueued_totals",
            sql("insight/enqueued_totals", backend.schema),
            (),
            lambda rows: {(job_type, queue): n for job_type, queue, n in rows},
        ),
    )
