"""The application's API: `python -m examples.planner.web --port 8080`; the first line on stdout is the address."""

from __future__ import annotations

import argparse
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import APIRouter, FastAPI

from examples.planner.api.faults import harden
from examples.planner.api.files import files
from examples.planner.api.operations import operations
from examples.planner.api.planning import planning
from examples.planner.api.projects import projects
from examples.planner.api.requests import within_trace
from examples.planner.resources import pool_of
from examples.planner.settings import Settings, SettingsMissing, from_environment
from postmill import AsyncClient

PATIENCE = 5.0
"""Seconds that a request waits for a connection; then it is answered 503."""


def create_app(settings: Settings) -> FastAPI:
    """The ASGI application. It writes and enqueues; it does nothing that is slow."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        dsn = settings.database_url.get_secret_value()
        async with (
            pool_of(settings, "planner_app", PATIENCE) as app.state.pool,
            AsyncClient(dsn, connections=settings.connections) as app.state.client,
        ):
            yield

    app = FastAPI(title="Planner", lifespan=lifespan)
    harden(app)
    app.middleware("http")(
        within_trace
    )  # around it: an exception that reading raises would not come through this one
    of_org = APIRouter(prefix="/api/orgs/{org}")
    for router in (projects, planning, files, operations):
        of_org.include_router(router)
    app.include_router(of_org)
    return app


def main() -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(prog="python -m examples.planner.web")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    try:
        app = create_app(from_environment())
    except SettingsMissing as fault:
        parser.error(str(fault))
    with socket.create_server((options.host, options.port)) as listener:
        host, port = listener.getsockname()[:2]
        print(f"http://{host}:{port}", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
