"""The pages, one file per kind."""

from __future__ import annotations

from fastapi import APIRouter

from postmill.console.pages import (
    dead,
    dead_acts,
    entrance,
    error_acts,
    errors,
    job,
    jobs,
    letter,
    now,
    operations,
    overview,
    preferences,
    queues,
    system,
    tenants,
    workers,
)

ROUTERS: tuple[APIRouter, ...] = (
    entrance.router,
    preferences.router,
    jobs.router,
    job.router,
    operations.router,
    queues.router,
    workers.router,
    tenants.router,
    system.router,
    errors.router,
    error_acts.router,
    dead.router,
    dead_acts.router,
    letter.router,
    now.router,
    overview.router,
)
"""All of them, in the order in which paths are compared."""
