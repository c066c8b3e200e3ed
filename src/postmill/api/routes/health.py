"""Probes and metrics, beside the API."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import psycopg
from fastapi import APIRouter, Depends, Request
from psycopg_pool import PoolTimeout
from starlette.responses import JSONResponse, PlainTextResponse, Response

from postmill.api.asked import Asked, may
from postmill.api.backend import Backend
from postmill.api.beside import worker_of
from postmill.api.measuring import page
from postmill.domain.access import Action
from postmill.domain.errors import PostmillError
from postmill.schema.check import acheck
from postmill.shapes.health import Alive, Readiness
from postmill.telemetry.metrics import CONTENT_TYPE

router = APIRouter(tags=["health"])

PATIENCE = 2.0
"""Seconds that the database has to answer a probe."""


@router.get("/healthz", operation_id="get_health")
async def get_health() -> Alive:
    """The process answers."""
    return Alive(alive=True)


@router.get(
    "/readyz",
    operation_id="get_readiness",
    responses={
        200: {"model": Readiness},
        503: {"model": Readiness, "description": "It cannot work now."},
    },
)
async def get_readiness(request: Request) -> Response:
    """The database answers and its schema is one to work on; else 503."""
    backend: Backend = request.app.state.backend
    ready: dict[str, Any] = {"ready": True}
    try:
        async with asyncio.timeout(PATIENCE), backend.pool.connection(timeout=PATIENCE) as conn:
            (await acheck(conn, backend.schema)).require()
    except (psycopg.Error, PoolTimeout, TimeoutError, OSError):
        ready = {"ready": False, "reason": "the database does not answer"}
    except PostmillError:
        ready = {"ready": False, "reason": "the schema is not one that this version can work on"}
    worker = worker_of(request.app)
    if ready["ready"] and worker is not None:
        ready = await worker.readiness()
    return JSONResponse(ready, 200 if ready["ready"] else 503)


async def _metrics(request: Request) -> Response:
    content = await page(request.app.state.backend, request.app.state.requests, worker_of(request.app))
    return Response(content, headers={"content-type": CONTENT_TYPE})


open_metrics = APIRouter(tags=["health"])
closed_metrics = APIRouter(tags=["health"])


@open_metrics.get("/metrics", operation_id="get_metrics", include_in_schema=False)
async def get_open_metrics(request: Request) -> Response:
    """Metrics for whoever reaches this address."""
    return await _metrics(request)


@closed_metrics.get("/metrics", operation_id="get_metrics", response_class=PlainTextResponse)
async def get_metrics(
    request: Request, asked: Annotated[Asked, Depends(may(Action.METRICS_READ))]
) -> Response:
    """Metrics of the server and the fleet, as Prometheus text."""
    return await _metrics(request)
