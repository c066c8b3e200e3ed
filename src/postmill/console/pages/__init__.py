"""The pages, one file per kind."""

from __future__ import annotations

from fastapi import APIRouter

from postmill.console.pages import (
    entrance,
    preferences,
    queues,
    trigger_backfill,
    trigger_form,
    triggers,
)

ROUTERS: tuple[APIRouter, ...] = (
    entrance.router,
    preferences.router,
    queues.router,
    trigger_backfill.router,
    trigger_form.router,
    triggers.router,
)
"""All of them, in the order in which paths are compared."""
