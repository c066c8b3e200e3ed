"""The pages, one file per kind."""

from __future__ import annotations

from fastapi import APIRouter

from postmill.console.pages import (
    access,
    audit,
    budget,
    budgets,
    dead,
    dead_acts,
    definition,
    definition_edit,
    definition_try,
    definitions,
    entrance,
    error_acts,
    errors,
    jobs,
    letter,
    now,
    overview,
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
    jobs.router,
    errors.router,
    error_acts.router,
    dead.router,
    dead_acts.router,
    letter.router,
    now.router,
    overview.router,
)
"""All of them, in the order in which paths are compared."""
