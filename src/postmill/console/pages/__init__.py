"""The pages, one file per kind."""

from __future__ import annotations

from fastapi import APIRouter

from postmill.console.pages import entrance, now, overview, preferences, queues

ROUTERS: tuple[APIRouter, ...] = (
    entrance.router,
    now.router,
    overview.router,
    preferences.router,
    queues.router,
)
"""All of them, in the order in which paths are compared."""
