"""Job definitions: list, show, make, edit, and their versions (seed 3, API contract)."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import definitions
from postmill.shapes.definitions import (
    Definition,
    DefinitionChanges,
    DefinitionVersion,
    Kind,
    NewDefinition,
)
from postmill.shapes.paging import Page

router = new_router("definitions")

PATH = "/admin/jobs/definitions"

Reader = Annotated[Asked, Depends(may(Action.DEFINITIONS_READ))]
Writer = Annotated[Asked, Depends(may(Action.DEFINITIONS_WRITE))]


@router.get(PATH, operation_id="list_definitions")
async def list_definitions(
    asked: Reader,
    kind: Annotated[Kind | None, Query(description="Only of this kind.")] = None,
    queue: Annotated[str | None, Query(max_length=128, description="Only of this queue.")] = None,
    is_active: Annotated[bool | None, Query(description="Only such that are, or are not.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Definition]:
    """Job definitions in the order of their keys, with the live workers that serve them and where the two part."""
    flow = definitions.definitions(
        kind=kind,
        queue=queue,
        active=is_active,
        after=parts_of(cursor, str)[0] if cursor else None,
        most=limit,
        schema=asked.schema,
    )
    items = [Definition.model_validate(found) for found in await asked.drive(flow)]
    return Page(items=items, next=cursor_of(items[-1].key) if len(items) == limit else None)


@router.post(PATH, operation_id="create_definition", status_code=201)
async def create_definition(asked: Writer, body: NewDefinition) -> Definition:
    """Put a job type on the allow-list. 409 where its key or alias is taken, or its queue serves another kind."""
    flow = definitions.create(
        body.model_dump(exclude_unset=True),
        default_argv=asked.backend.settings.commands.argv_template,
        schema=asked.schema,
    )
    return Definition.model_validate(await asked.drive(flow))


@router.get(PATH + "/{definition_id}", operation_id="get_definition")
async def get_definition(asked: Reader, definition_id: UUID) -> Definition:
    """One job definition."""
    found = await asked.drive(definitions.definition(definition_id, schema=asked.schema))
    return Definition.model_validate(found)


@router.patch(PATH + "/{definition_id}", operation_id="edit_definition")
async def edit_definition(asked: Writer, definition_id: UUID, body: DefinitionChanges) -> Definition:
    """Change fields. Of a type that code registers they are the operator's from then on, until released.

    409 where the version is another one by now, an alias is taken, or the queue serves another kind.
    """
    flow = definitions.edit(
        definition_id,
        body.model_dump(exclude_unset=True, exclude={"release", "version"}),
        release=body.release,
        version=body.version,
        schema=asked.schema,
    )
    return Definition.model_validate(await asked.drive(flow))


@router.get(PATH + "/{definition_id}/versions", operation_id="list_definition_versions")
async def list_definition_versions(
    asked: Reader, definition_id: UUID, limit: Limit = 50, cursor: Cursor = None
) -> Page[DefinitionVersion]:
    """The versions of a definition, the newest first. Only the platform's roles see them; to a tenant there are none."""
    flow = definitions.versions(
        definition_id,
        before=parts_of(cursor, int)[0] if cursor else None,
        most=limit,
        schema=asked.schema,
    )
    items = [DefinitionVersion.model_validate(found) for found in await asked.drive(flow)]
    return Page(items=items, next=cursor_of(items[-1].version) if len(items) == limit else None)
