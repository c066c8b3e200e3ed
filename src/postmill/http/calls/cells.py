"""Cells, where tenants live, and moves of tenants between them."""

from __future__ import annotations

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.cells import Cell, Move, MovePreview, MoveReason, NewMove, TenantPlace
from postmill.shapes.paging import Page


def list_cells() -> Call[Page[Cell]]:
    """The cells and their state; none where one database has all tenants."""
    return get(at("cells"), model(Page[Cell]))


def list_places(
    *, lives_in: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[TenantPlace]]:
    """Tenants of the directory and where they live, by slug."""
    return get(
        at("cells", "tenants"), model(Page[TenantPlace]), lives_in=lives_in, limit=limit, cursor=cursor
    )


def list_moves(*, limit: int | None = None, cursor: str | None = None) -> Call[Page[Move]]:
    """Moves of tenants, the latest first."""
    return get(at("cells", "moves"), model(Page[Move]), limit=limit, cursor=cursor)


def get_move(move_id: Id) -> Call[Move]:
    """One move: where it stands, what it waits for, how many rows it has carried."""
    return get(at("cells", "moves", move_id), model(Move))


def resume_move(move_id: Id, *, idempotency_key: str | None = None) -> Call[Move]:
    """Goes on with a move whose mover is gone; the server does it."""
    return write("POST", at("cells", "moves", move_id, "resume"), model(Move), key=idempotency_key)


def abort_move(move_id: Id, *, reason: str | None = None, idempotency_key: str | None = None) -> Call[Move]:
    """Takes a move back: both cells are as before. Raises Refused once the tenant lives in the other cell."""
    body = MoveReason(reason=reason)
    return write("POST", at("cells", "moves", move_id, "abort"), model(Move), body, key=idempotency_key)


def get_place(tenant: Id) -> Call[TenantPlace]:
    """In which cell a tenant lives, and whether it is being moved."""
    return get(at("tenants", tenant, "cell"), model(TenantPlace))


def preview_move(tenant: Id, to: str) -> Call[MovePreview]:
    """What a move would carry, and what stands in its way."""
    return get(at("tenants", tenant, "move"), model(MovePreview), to=to)


def move_tenant(
    tenant: Id, to: str, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Move]:
    """Begins to move a tenant to another cell; the server does it. Ask `get_move` how far it is."""
    body = NewMove(to=to, reason=reason)
    return write("POST", at("tenants", tenant, "move"), model(Move), body, key=idempotency_key)
