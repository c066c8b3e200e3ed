"""Puts the console on the API's application."""

from __future__ import annotations

from fastapi import FastAPI

from postmill import api
from postmill.api.face import Face
from postmill.console import pages
from postmill.console.frame.faces import face_of
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
        bus: where events about jobs of HTTP workers go; default: nobody listens.
    """
    face = Face(
        routers=(router, *pages.ROUTERS),
        open=frozenset({("GET", "/login"), ("POST", "/login")}),
        open_below=(("GET", STATIC), ("HEAD", STATIC)),
        problem_page=face_of,
    )
    return api.create_app(settings, bus, face=face)
