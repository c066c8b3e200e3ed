"""The application's table of routes, as the walk needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from postmill.api import create_app
from postmill.api.guard import is_open
from postmill.domain.access import Action
from postmill.domain.settings import Settings
from tests.access.world import Tenant

# Whose names stand in paths: a parameter that is not here fails the walk. Others' ids are Bob's.
PARAMETERS = {
    "job_id": "queued",
    "trigger_id": "trigger",
    "event_id": "event",
    "webhook_id": "webhook",
    "incident_id": "incident",
    "key_id": "api_key",
    "login_id": "console_session",
    "tenant": None,
    "definition_id": "definition",
    "queue": "queue",
    "worker_id": "00000000-0000-0000-0000-0000000000ff",
    "artifact_id": "artifact",
    "operation_id": "operation",
    "artifact_name": "planning.csv",
    "budget": "budget",
    "request_id": "budget_request",
    "period": "2025-01",
    "reservation_id": "budget_reservation",
    "subject": "failed",
    "definition_key": "world",
    "workflow_id": "workflow",
    "batch_id": "workflow",
    "limit_name": "queue:world",
    "move_id": "00000000-0000-0000-0000-0000000000fe",
}
SHARED = {"definition_id", "definition_key", "queue", "subject", "limit_name"}
"""Things of the platform that everybody sees."""


@dataclass(frozen=True)
class Door:
    """A method of a route. `action`: what it asks for; None is anybody who is somebody."""

    method: str
    path: str
    action: Action | None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def dependants(dependant: Dependant) -> Iterator[Dependant]:
    for inner in dependant.dependencies:
        yield inner
        yield from dependants(inner)


def doors() -> tuple[list[Door], list[Door]]:
    """Those that need credentials, and those that do not."""
    closed, opened_ = [], []
    for route in iter_route_contexts(create_app(Settings()).routes):
        assert isinstance(route.original_route, APIRoute), (
            f"{route} is no plain route: let the walk know of it"
        )
        path = str(route.path_format)
        for method in sorted(route.methods or ()):
            if is_open(method, re.sub(r"{[^}]*}", "x", path)):
                opened_.append(Door(method, path, None))
                continue
            asked = [d.call.action for d in dependants(route.dependant) if hasattr(d.call, "action")]  # type: ignore[union-attr]
            assert len(asked) == 1, f"{method} {path} asks for {asked or 'nothing'}: give it one may(action)"
            closed.append(Door(method, path, asked[0]))
    return closed, opened_


CLOSED, OPENED = doors()


def filled(door: Door, tenant: Tenant) -> str:
    """The path with what a tenant has in the places of its parameters."""

    def value(found: re.Match[str]) -> str:
        name = found[1].partition(":")[0]
        if name == "group_id":
            return tenant.group
        assert name in PARAMETERS, f"{door}: what is {{{name}}}? tell PARAMETERS"
        kind = PARAMETERS[name]
        return str(tenant.id) if kind is None else str(tenant.ids.get(kind, kind))

    return re.sub(r"{([^}]*)}", value, door.path)
