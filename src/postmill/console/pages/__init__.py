"""The pages, one file per kind."""

from __future__ import annotations

from fastapi import APIRouter

from postmill.console.pages import entrance, preferences, queues, workers

ROUTERS: tuple[APIRouter, ...] = (
    entrance.router,
    preferences.router,
    queues.router,
    workers.router,
)
"""All of them, in the order in which paths are compared."""
