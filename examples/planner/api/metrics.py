"""The planner's dead letters under their own name, for Prometheus. Everything else of jobs is on the workers' pages."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from examples.planner.statements import rows

metrics = APIRouter(tags=["metrics"])


@metrics.get("/metrics")
async def page(request: Request) -> Response:
    """`planner_deadletter_open{job_type,queue}`; the queue is `q:deadletter`. Numbers only, of all organizations."""
    registry = CollectorRegistry()
    gauge = Gauge(
        "planner_deadletter_open", "Dead letters of the planner's.", ("job_type", "queue"), registry=registry
    )
    async with request.app.state.operators.connection() as conn:
        for one in await rows(conn, "deadletter_counts"):
            gauge.labels(one["job_type"], one["queue"]).set(one["letters"])
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
