"""The routes, one file per kind of thing."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.routing import APIRoute

from postmill.api.routes import (
    archive,
    artifacts,
    audit,
    batches,
    budget_requests,
    budgets,
    cells,
    dead_letters,
    dead_statistics,
    definitions,
    doctor,
    envelope,
    error_marks,
    errors,
    events,
    health,
    incidents,
    job_acts,
    job_insight,
    job_priority,
    job_tags,
    jobs,
    keys,
    limits,
    openapi,
    operations,
    queues,
    retention,
    scaling,
    session,
    stats,
    tenants,
    top,
    triggers,
    type_pauses,
    webhooks,
    work,
    work_artifacts,
    work_budgets,
    workers,
    workflows,
)

BELOW_PREFIX: tuple[APIRouter, ...] = tuple(
    module.router
    for module in (
        jobs,
        job_insight,
        job_acts,
        job_priority,
        job_tags,
        workflows,
        batches,
        envelope,
        dead_letters,
        dead_statistics,
        operations,
        incidents,
        errors,
        error_marks,
        type_pauses,
        stats,
        queues,
        limits,
        scaling,
        budgets,
        budget_requests,
        workers,
        top,
        doctor,
        work,
        work_artifacts,
        work_budgets,
        artifacts,
        definitions,
        triggers,
        events,
        webhooks,
        tenants,
        cells,
        keys,
        session,
        audit,
        retention,
        archive,
        openapi,
    )
)
"""The API's, below its prefix."""

BESIDE_IT: tuple[APIRouter, ...] = (health.router,)
"""Probes."""


def route_named(name: str) -> APIRoute:
    """The route of the API whose function has this name."""
    routes = (route for router in BELOW_PREFIX for route in router.routes)
    return next(route for route in routes if isinstance(route, APIRoute) and route.name == name)
