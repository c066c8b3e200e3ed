"""Cells, where tenants live, and moves of tenants between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import Depends, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.problems import Problem
from postmill.api.routing import new_router
from postmill.cells import moves
from postmill.cells.moves import By, MoveBusy, MoveRefused
from postmill.domain.access import Action
from postmill.domain.errors import DatabaseMissing, SchemaMissing, SchemaTooNew, SchemaTooOld
from postmill.operate.cells import list_cells
from postmill.shapes.cells import Cell, Move, MovePreview, MoveReason, NewMove, TenantPlace
from postmill.shapes.paging import Page
from postmill.store.cells import Place

router = new_router("cells")
T = TypeVar("T")

Read = Annotated[Asked, Depends(may(Action.TENANTS_READ))]
Write = Annotated[Asked, Depends(may(Action.TENANTS_WRITE))]
CellName = Annotated[str | None, Query(max_length=32, description="Only of this cell.")]
AWAY: dict[int | str, dict[str, Any]] = {
    503: {"description": "A cell that is needed does not answer, or its schema is not one to work on."}
}


@router.get("/cells", operation_id="list_cells")
async def list_all_cells(asked: Read) -> Page[Cell]:
    """The cells and their state, in the order of the settings; none where one database has all tenants."""
    settings = asked.backend.settings
    found = await asyncio.to_thread(list_cells, settings.cells, schema=settings.schema_name)
    return Page(items=[Cell.model_validate(cell) for cell in found], next=None)


@router.get("/cells/tenants", operation_id="list_places", responses=AWAY)
async def list_places(
    asked: Read, lives_in: CellName = None, limit: Limit = 50, cursor: Cursor = None
) -> Page[TenantPlace]:
    """Tenants of the directory and where they live, by slug. Who is not in it lives in the directory's own cell."""
    after = parts_of(cursor, str)[0] if cursor else ""
    if not asked.backend.settings.cells:
        return Page(items=[], next=None)
    found = await _do(asked, moves.places, cell=lives_in, after=after, most=limit)
    items = [_place(one) for one in found]
    return Page(items=items, next=cursor_of(items[-1].tenant) if len(items) == limit else None)


@router.get("/cells/moves", operation_id="list_moves", responses=AWAY)
async def list_moves(asked: Read, limit: Limit = 50, cursor: Cursor = None) -> Page[Move]:
    """Moves of tenants, the latest first."""
    before = parts_of(cursor, UUID)[0] if cursor else None
    if not asked.backend.settings.cells:
        return Page(items=[], next=None)
    items = [_move(one) for one in await _do(asked, moves.moves, before=before, most=limit)]
    return Page(items=items, next=cursor_of(items[-1].id) if len(items) == limit else None)


@router.get("/cells/moves/{move_id:uuid}", operation_id="get_move", responses=AWAY)
async def get_move(move_id: UUID, asked: Read) -> Move:
    """One move: where it stands, what it waits for, how many rows it has carried."""
    return _move(await _do(asked, moves.move, move_id))


@router.post(
    "/cells/moves/{move_id:uuid}/resume", operation_id="resume_move", status_code=202, responses=AWAY
)
async def resume_move(move_id: UUID, asked: Write) -> Move:
    """Go on with a move whose mover is gone; this server does it. One that goes on is left alone."""
    _at_home(asked)
    found = await _do(asked, moves.note_resumed, move_id, actor=_by(asked))
    asked.backend.movers.start(move_id)
    return _move(found)


@router.post("/cells/moves/{move_id:uuid}/abort", operation_id="abort_move", responses=AWAY)
async def abort_move(move_id: UUID, body: MoveReason, asked: Write) -> Move:
    """Take a move back: both cells are as before. Not possible once the tenant lives in the other cell."""
    _at_home(asked)
    return _move(await _do(asked, moves.abort, move_id, actor=_by(asked), reason=body.reason))


@router.get("/tenants/{tenant}/cell", operation_id="get_place", responses=AWAY)
async def get_place(tenant: str, asked: Read) -> TenantPlace:
    """In which cell a tenant, named by slug or id, lives, and whether it is being moved."""
    return _place(await _do(asked, moves.where, tenant))


@router.get("/tenants/{tenant}/move", operation_id="preview_move", responses=AWAY)
async def preview_move(
    tenant: str,
    asked: Read,
    to: Annotated[str, Query(min_length=1, max_length=32, description="The cell to move it to.")],
) -> MovePreview:
    """What a move would carry, and what stands in its way. Nothing is done."""
    return MovePreview.model_validate(await _do(asked, moves.look, tenant, to))


@router.post("/tenants/{tenant}/move", operation_id="move_tenant", status_code=202, responses=AWAY)
async def move_tenant(tenant: str, body: NewMove, asked: Write) -> Move:
    """Move a tenant to another cell with all that it has, while everything else goes on. This server does it; ask for
    the move to see how far it is. If the server ends, the next one goes on."""
    _at_home(asked)
    id = await _do(asked, moves.begin, tenant, body.to, actor=_by(asked), reason=body.reason)
    found = await _do(asked, moves.move, id)
    asked.backend.movers.start(id)
    return _move(found)


def _at_home(asked: Asked) -> None:
    if asked.backend.settings.cells and not asked.backend.movers.at_home:
        raise Problem(
            409,
            "another-cell",
            "moves are begun and ended at the server of the cell that holds the directory",
        )


async def _do(asked: Asked, act: Callable[..., T], *args: Any, **more: Any) -> T:
    """One of `moves`, on connections of its own, in a thread."""
    settings = asked.backend.settings
    if not settings.cells:
        raise Problem(404, "not-found", "there are no cells: one database has all tenants")
    try:
        return await asyncio.to_thread(act, settings.cells, *args, **more, schema=settings.schema_name)
    except (MoveRefused, MoveBusy) as fault:
        raise Problem(409, "move-refused", str(fault)) from None
    except (DatabaseMissing, SchemaMissing, SchemaTooOld, SchemaTooNew) as fault:
        which, away, _ = str(fault).partition(" does not answer")  # what follows is an address
        raise Problem(503, "cell-unavailable", which + away) from None


def _by(asked: Asked) -> By:
    who = asked.principal
    return By(who.actor_id, who.actor_type, who.via, who.role, asked.request_id, who.address)


def _place(found: Place) -> TenantPlace:
    return TenantPlace(
        tenant_id=found.tenant_id,
        tenant=found.slug,
        cell=found.cell,
        move_id=found.move_id,
        moving_to=found.moving_to,
        step=found.step,  # type: ignore[arg-type]
    )


def _move(found: Any) -> Move:
    return Move.model_validate(found)
