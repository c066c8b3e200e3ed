"""Job definitions."""

from __future__ import annotations

from datetime import datetime

from postmill.http.call import Call, Id, at, get, model, nothing, write
from postmill.shapes.definitions import (
    Definition,
    DefinitionChanges,
    DefinitionVersion,
    Kind,
    NewDefinition,
)
from postmill.shapes.paging import Page
from postmill.shapes.queues import TypePause

PATH = ("admin", "jobs", "definitions")


def list_definitions(
    *,
    kind: Kind | None = None,
    queue: str | None = None,
    is_active: bool | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Definition]]:
    """Job definitions, by key."""
    return get(
        at(*PATH),
        model(Page[Definition]),
        kind=kind,
        queue=queue,
        is_active=is_active,
        limit=limit,
        cursor=cursor,
    )


def create_definition(definition: NewDefinition, *, idempotency_key: str | None = None) -> Call[Definition]:
    """Puts a job type on the allow-list."""
    return write("POST", at(*PATH), model(Definition), definition, key=idempotency_key)


def get_definition(definition_id: Id) -> Call[Definition]:
    """One job definition."""
    return get(at(*PATH, definition_id), model(Definition))


def edit_definition(
    definition_id: Id, changes: DefinitionChanges, *, idempotency_key: str | None = None
) -> Call[Definition]:
    """Changes the fields that are set in `changes`; one that is set to None goes back to its default."""
    return write("PATCH", at(*PATH, definition_id), model(Definition), changes, key=idempotency_key)


def list_definition_versions(
    definition_id: Id, *, limit: int | None = None, cursor: str | None = None
) -> Call[Page[DefinitionVersion]]:
    """The versions of a definition, the newest first."""
    return get(
        at(*PATH, definition_id, "versions"), model(Page[DefinitionVersion]), limit=limit, cursor=cursor
    )


PAUSED = ("admin", "jobs", "paused-types")


def list_paused_types() -> Call[Page[TypePause]]:
    """The job types that are paused now."""
    return get(at(*PAUSED), model(Page[TypePause]))


def pause_type(
    definition_key: str,
    *,
    reason: str | None = None,
    resume_at: datetime | None = None,
    idempotency_key: str | None = None,
) -> Call[TypePause]:
    """Holds back the jobs of a type, until `resume_at` or until it is resumed. Running ones go on."""
    body = {"reason": reason, "resume_at": resume_at}
    return write("PUT", at(*PAUSED, definition_key), model(TypePause), body, key=idempotency_key)


def resume_type(definition_key: str, *, idempotency_key: str | None = None) -> Call[None]:
    """Lets the jobs of a type run again."""
    return write("DELETE", at(*PAUSED, definition_key), nothing, key=idempotency_key)
