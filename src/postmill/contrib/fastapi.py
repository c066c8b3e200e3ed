"""Postmill in a FastAPI (or Starlette) application: `lifespan` opens a client, `Jobs` is the dependency that gives it.

    app = FastAPI(lifespan=lifespan())

    @app.post("/orders")
    async def order(jobs: Jobs) -> None:
        await jobs.enqueue(send_receipt.new(order=1))

Where an order is written in a transaction of yours, enqueue in that: `await aenqueue(session, job)`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Annotated, Any, TypeAlias

from fastapi import Depends
from starlette.requests import HTTPConnection

from postmill.client import AsyncClient
from postmill.client.address import find_database
from postmill.domain.registry import Registry
from postmill.engine.worker import Worker
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.telemetry.bus import Bus
from postmill.telemetry.logs import log_subscriber

Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]

STATE = "postmill"
"""The name under which the client is in the state of a request."""


def lifespan(
    conninfo: str | None = None,
    *,
    schema: str = DEFAULT_SCHEMA,
    connections: int = 10,
    inner: Lifespan | None = None,
    serve: Registry | None = None,
    slots: Mapping[str, int] | int = 10,
) -> Lifespan:
    """A lifespan that opens an AsyncClient before the first request and closes it after the last.

    Args:
        conninfo, schema, connections: as those of AsyncClient.
        inner: a lifespan of the application's own, entered after the client is there; its state is kept.
        serve: run a worker with these job types beside the application, in its process and on its event loop: for small
            applications, and development. It is drained at the end (30 s at most), and writes its log to standard error.
        slots: how many jobs it runs at once, for each queue or by queue.

    Raises what AsyncClient does; at the end what the worker has died of.
    """

    @asynccontextmanager
    async def opened(app: Any) -> AsyncIterator[dict[str, Any]]:
        async with AsyncClient(conninfo, schema=schema, connections=connections) as client:
            beside = (
                nullcontext() if serve is None else _worker(find_database(conninfo), schema, serve, slots)
            )
            async with beside, nullcontext() if inner is None else inner(app) as state:
                yield {**(state or {}), STATE: client}

    return opened


def client(connection: HTTPConnection) -> AsyncClient:
    """The client that `lifespan` has opened: of a request or a web socket.

    Raises RuntimeError: the application has no such lifespan.
    """
    found = getattr(connection.state, STATE, None)
    if found is None:
        raise RuntimeError("no client is open: make the application with FastAPI(lifespan=lifespan(…))")
    assert isinstance(found, AsyncClient)
    return found


Jobs: TypeAlias = Annotated[AsyncClient, Depends(client)]
"""A parameter of this type receives the client."""


@asynccontextmanager
async def _worker(
    dsn: str, schema: str, registry: Registry, slots: Mapping[str, int] | int
) -> AsyncIterator[None]:
    bus = Bus()
    log_subscriber(sys.stderr, "auto", "info").subscribe(bus)
    queues = dict.fromkeys(registry.queues, slots) if isinstance(slots, int) else slots
    worker = Worker(dsn, registry, queues, schema=schema, bus=bus)
    running = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.drain()
        await running
