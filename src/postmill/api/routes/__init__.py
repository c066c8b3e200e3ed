"""The routes, one file per kind of thing."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.routing import APIRoute

from postmill.api.routes import (
    artifacts,
    audit,
    dead_letters,
    definitions,
    envelope,
    events,
    health,
    job_acts,
    job_insight,
    job_priority,
    jobs,
    keys,
    openapi,
    queues,
    session,
    tenants,
    triggers,
    webhooks,
    welcome,
    work,
    work_artifacts,
    workers,
)

BELOW_PREFIX: tuple[APIRouter, ...] = tuple(
    module.router
    for module in (
        jobs,
        job_insight,
        job_acts,
        job_priority,
        envelope,
        dead_letters,
        queues,
        workers,
        work,
        work_artifacts,
        artifacts,
        definitions,
        triggers,
        events,
        webhooks,
        tenants,
        keys,
        session,
        audit,
        openapi,
    )
)
"""The API's, below its prefix."""

BESIDE_IT: tuple[APIRouter, ...] = (health.router, session.links, welcome.router)
"""Probes, login links, and where those lead."""


def route_named(name: str) -> APIRoute:
    """The route of the API whose function has this name."""
    routes = (route for router in BELOW_PREFIX for route in router.routes)
    return next(route for route in routes if isinstance(route, APIRoute) and route.name == name)
