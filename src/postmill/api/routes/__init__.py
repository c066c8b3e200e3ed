"""The routes, one file per kind of thing."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.routing import APIRoute

from postmill.api.routes import (
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
    work,
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

BESIDE_IT: tuple[APIRouter, ...] = (health.router, session.links)
"""Probes, and where a login link leads."""


def route_named(name: str) -> APIRoute:
    """The route of the API whose function has this name."""
    routes = (route for router in BELOW_PREFIX for route in router.routes)
    return next(route for route in routes if isinstance(route, APIRoute) and route.name == name)
