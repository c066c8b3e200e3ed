"""The pages, one file per kind."""

from __future__ import annotations

from fastapi import APIRouter

from postmill.console.pages import (
    access,
    audit,
    budget,
    budgets,
    definition,
    definition_edit,
    definition_try,
    definitions,
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
    access.router,
    audit.router,
    budgets.router,
    budget.router,
    definition_try.router,
    definition_edit.router,
    definitions.router,
    definition.router,
    trigger_backfill.router,
    trigger_form.router,
    triggers.router,
)
"""All of them, in the order in which paths are compared."""
