"""Puts the console on the API's application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from postmill import api
from postmill.api.face import Face
from postmill.console import pages
from postmill.console.frame.faces import face_of
from postmill.console.frame.known import Known
from postmill.console.frame.readings import Readings
from postmill.console.frame.sharing import SharedParts
from postmill.console.frame.timings import Timings
from postmill.console.live import routes as live
from postmill.console.live.hub import Hub
from postmill.console.static_files import STATIC, router
from postmill.domain.settings import Settings
from postmill.telemetry.bus import Bus


def create_app(settings: Settings, bus: Bus | None = None) -> FastAPI:
    """The API with the console beside it, on the database of the settings.

    The application opens its connections at start-up and closes them at the end. It can be mounted into another one
    (FastAPI, Starlette) under any path; that one then has to enter its lifespan:
    `lifespan=lambda _: console.router.lifespan_context(console)`.

    Args:
        settings: `database_url` and `schema` are needed, `server` and `console` are heeded.
        bus: where events about jobs of HTTP workers, and of the live listener, go; default: nobody listens.

    A server that is told to end calls `app.state.live.send_home()` first: browsers hold their live streams open, and
    would be waited for (`postmill server` does so).
    """
    bus = bus or Bus()
    hub = Hub(bus)
    known = Known(hub.quiet)
    face = Face(
        routers=(router, live.router, *pages.ROUTERS),
        open=frozenset({("GET", "/login"), ("POST", "/login")}),
        open_below=(("GET", STATIC), ("HEAD", STATIC)),
        problem_page=face_of,
        known=known.answer,
    )
    app = api.create_app(settings, bus, face=face)

    def acted() -> None:
        known.over()
        # A page of readings that others have made asks no connection, which would refuse a key that is revoked.
        app.state.backend.keys.forget()

    hub.acted = acted
    app.state.live = hub
    app.state.known = known
    app.state.shared = SharedParts(hub.unchanged)
    app.state.readings = Readings(lambda: hub.listening, hub.unchanged, hub.quiet)
    app.state.timings = Timings()
    opened = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opened(app):
            try:
                yield
            finally:
                await hub.close()  # while there are connections: it says that nobody watches any more

    app.router.lifespan_context = lifespan
    return app
