"""The console's own routes, from its application's table: what is added is walked from the moment it is there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from fastapi.routing import APIRoute, iter_route_contexts

from postmill import api, console
from postmill.domain.access import PERMISSIONS, Action, Role
from postmill.domain.settings import Settings
from tests.access.doors import dependants
from tests.access.world import Tenant

OPEN = {"/static/{mark}/{name}", "/login"}
"""Without a login."""
STREAMS = {"/ops/live", "/t/{slug}/live"}
"""They go on, and are tried on sockets."""
OWN = {"/", "/logout"}
"""Of everybody who is somebody, in no scope."""

# What stands in a path's parameter, by the part of the path before it: a part that is not here fails the walk.
THINGS = {
    "jobs": "dead",
    "views": "saved_view",
    "ops-log": "operation",
    "dead": "dead",
    "incidents": "incident",
    "triggers": "trigger",
    "keys": "api_key",
    "logins": "console_session",
    "budgets": "budget",
    "budget-requests": "budget_request",
    "workflows": "workflow",
    "workers": "worker",
}
SHARED = {
    "queues",
    "definitions",
    "definition-try",
    "definition-edit",
    "definition-pause",
    "definition-resume",
    "workers",
}
"""Things of the platform, which everybody sees."""

MORE = {
    scope + path: action
    for scope in ("/ops", "/t/{slug}")
    for path, action in (
        ("/jobs/{id}/text", Action.PAYLOADS_READ),
        ("/jobs/{id}/file", Action.PAYLOADS_READ),
        ("/ops-log/new", Action.DEAD_REPLAY),
    )
}
"""Pages that ask for more once they know for what: of the payload, for a replay, unless something else is named."""


@dataclass(frozen=True)
class Door:
    """A method of a route. `action`: what it asks for; None: anybody in the scope."""

    method: str
    path: str
    action: Action | None

    def denied(self, role: Role) -> Action | None:
        """What the role lacks for it; None: nothing."""
        for action in (self.action, MORE.get(self.path)):
            if action is not None and action not in PERMISSIONS[role]:
                return action
        return None

    @property
    def ops(self) -> bool:
        """Whether it is of the platform's pages."""
        return not self.path.startswith("/t/")

    @property
    def things(self) -> list[str]:
        """The parts of the path that name what its parameters are, without the scope's."""
        return [before for before, name in re.findall(r"([^/]+)/{(\w+)", self.path) if name != "slug"]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def doors() -> list[Door]:
    """Those with a scope; each asks for exactly one thing."""
    known = {
        (m, r.path_format)
        for r in iter_route_contexts(api.create_app(Settings()).routes)
        for m in r.methods or ()
    }
    made = []
    for route in iter_route_contexts(console.create_app(Settings()).routes):
        assert isinstance(route.original_route, APIRoute), (
            f"{route} is no plain route: let the walk know of it"
        )
        path = str(route.path_format)
        if path in OPEN | STREAMS | OWN:
            continue
        for method in sorted((route.methods or set()) - {"HEAD"}):
            if (method, path) in known:
                continue
            asked = [d.call.action for d in dependants(route.dependant) if hasattr(d.call, "action")]  # type: ignore[union-attr]
            assert len(asked) == 1, (
                f"{method} {path} asks for {asked or 'nothing'}: give it one visiting(action)"
            )
            assert path.startswith(("/ops", "/t/{slug}")), path
            made.append(Door(method, path, asked[0]))
    return made


DOORS = doors()
PAGES = [door for door in DOORS if door.method == "GET"]
ACTS = [door for door in DOORS if door.method != "GET"]


def filled(door: Door, slug: str, has: Tenant, shared: str, **others: str) -> str:
    """The path, of a scope, with what a tenant has in the places of its parameters.

    Args:
        slug: of the scope.
        has: whose things.
        shared: the job type and the queue.
        others: things by the parts of paths, before all else.
    """

    def value(found: re.Match[str]) -> str:
        before, name = found[1], found[2].partition(":")[0]
        if before == "t":
            return f"t/{slug}"
        if before in others:
            return f"{before}/{quote(others[before], safe='')}"
        if name == "verb":
            return f"{before}/pause"
        made = {
            "errors": has.group,
            "tenants": has.mark,
            "budget-named": has.mark,
            "queues": shared,
            "definitions": shared,
            "definition-try": shared,
            "definition-edit": shared,
            "definition-pause": shared,
            "definition-resume": shared,
        }.get(before)
        if made is None:
            assert before in THINGS, f"{door}: what is {before}/{{{name}}}? tell THINGS"
            made = str(has.ids[THINGS[before]])
        return f"{before}/{quote(made, safe='')}"

    # A parameter after another one (`{id}/{verb}`) has that one's value before it.
    path = re.sub(r"([^/{}]+)/{([^}]*)}", value, door.path)
    return re.sub(r"/{verb}", "/pause", path)
