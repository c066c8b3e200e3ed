"""The application's API: `python -m examples.yellowbook.web --port 8080`; the first line on stdout is the address."""

from __future__ import annotations

import argparse
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI

from examples.yellowbook.admin import admin
from examples.yellowbook.books import books
from examples.yellowbook.resources import gemini_of, pool_of
from examples.yellowbook.settings import Settings, SettingsMissing, from_environment


def create_app(settings: Settings) -> FastAPI:
    """The ASGI application. It enqueues and never embeds; only a search asks the Gemini API, and not for long."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with pool_of(settings) as pool, gemini_of(settings, settings.search_timeout) as gemini:
            app.state.pool, app.state.gemini, app.state.settings = pool, gemini, settings
            yield

    app = FastAPI(title="Yellow book", lifespan=lifespan)
    app.include_router(books)
    app.include_router(admin)
    return app


def main() -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(prog="python -m examples.yellowbook.web")
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
