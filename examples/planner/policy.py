"""Who may do what: asked by the API before a write, and by every job before it does anything, with the same functions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from uuid import UUID

from examples.planner.caller import Caller
from examples.planner.statements import Connection, rows


class Action(StrEnum):
    """What can be allowed."""

    VIEW = "view"
    EDIT = "edit"
    ASSIGN = "assign"
    PLAN = "plan"
    NOTIFY = "notify"
    EXPORT = "export"
    IMPORT = "import"
    OPERATE = "operate"
    MAINTAIN = "maintain"


_VIEWER = frozenset({Action.VIEW, Action.EXPORT})
_PLANNER = _VIEWER | {Action.EDIT, Action.ASSIGN, Action.PLAN, Action.NOTIFY, Action.IMPORT}
ROLES: Mapping[str, frozenset[Action]] = {
    "viewer": _VIEWER,
    "planner": _PLANNER,
    "owner": frozenset(Action),
}
SYSTEM = frozenset({Action.MAINTAIN})
"""What nobody in particular may do: housekeeping."""


class Forbidden(Exception):
    """The actor may not do this (any more). A request is answered 403; a job ends for good."""

    retryable = False


async def allows(conn: Connection, caller: Caller, action: Action, project: UUID | None) -> bool:
    """Whether the actor may do this in the project; None: in the whole organization. `conn` is scoped to it."""
    if caller.actor_type == "system":
        return action in SYSTEM
    held = await rows(
        conn, "roles_of", actor_type=caller.actor_type, actor_id=caller.actor_id, project=project
    )
    return any(action in ROLES[one["role"]] for one in held)


async def require(conn: Connection, caller: Caller, action: Action, project: UUID | None) -> None:
    """Raises Forbidden unless `allows`."""
    if not await allows(conn, caller, action, project):
        where = f"project {project}" if project else "the organization"
        raise Forbidden(f"{caller.actor_type} {caller.actor_id} may not {action} in {where}")
