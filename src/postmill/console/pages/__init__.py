"""The pages, one file per kind."""

from __future__ import annotations

from fastapi import APIRouter

from postmill.console.pages import entrance, jobs, operations, preferences, queues

ROUTERS: tuple[APIRouter, ...] = (
    entrance.router,
    preferences.router,
    jobs.router,
    operations.router,
    queues.router,
)
"""All of them, in the order in which paths are compared."""
