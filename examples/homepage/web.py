"""The application's API: `python -m examples.homepage.web`, on port 8080; the first line on stdout is the address."""

from __future__ import annotations

import argparse
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import APIRouter, Depends, FastAPI
from starlette.middleware.trustedhost import TrustedHostMiddleware

from examples.homepage.admin.access import LOOPBACK, administrator, may_listen
from examples.homepage.admin.ai_usage import ai_usage
from examples.homepage.admin.jobs import jobs
from examples.homepage.admin.rss_sources import rss_sources
from examples.homepage.clicks.web import clicks
from examples.homepage.directory.sitemap_web import sitemaps
from examples.homepage.directory.web import good_sites
from examples.homepage.environment import SettingsMissing
from examples.homepage.marketplace.web import UPLOADS, listings
from examples.homepage.resources import pool_of
from examples.homepage.settings import Settings, from_environment
from examples.homepage.web_faults import harden

PUBLIC = (good_sites, clicks, sitemaps, listings)
ADMIN = (jobs, rss_sources, ai_usage)
PORT = 8080


def create_app(settings: Settings) -> FastAPI:
    """The ASGI application. It enqueues, and works on nothing."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with pool_of(settings, patience=5.0) as app.state.pool:
            yield

    app = FastAPI(title="Homepage", lifespan=lifespan)
    app.state.settings = settings
    harden(app, UPLOADS)
    if settings.admin_token is None:
        # So that no page of another site reaches it by a name of its own for this machine.
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*LOOPBACK, "[::1]"])
    admin = APIRouter(prefix="/admin/api", tags=["administration"], dependencies=[Depends(administrator)])
    for router in ADMIN:
        admin.include_router(router)
    for router in (admin, *PUBLIC):
        app.include_router(router)
    return app


def main() -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(prog="python -m examples.homepage.web")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=PORT)
    options = parser.parse_args()
    try:
        settings = from_environment()
    except SettingsMissing as fault:
        parser.error(str(fault))
    if not may_listen(settings, options.host):
        parser.error(f"--host {options.host}: without ADMIN_TOKEN it listens on this machine only; set one")
    with socket.create_server((options.host, options.port)) as listener:
        host, port = listener.getsockname()[:2]
        print(f"http://{host}:{port}", flush=True)
        app = create_app(settings)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
