"""Statements on the directory of cells: which cell holds a tenant, and the moves between them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tenant lives.

    Attributes:
        cell: the cell's name.
        move_id, moving_to, step: of the move that goes on; None: none does.
    """

    tenant_id: UUID
    slug: str
    cell: str
    changed_at: datetime
    move_id: UUID | None = None
    moving_to: str | None = None
    step: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A tenant on its way from one cell to another.

    Attributes:
        step: prepare, copy, drain, switch, open, clean or done.
        status: running, aborting, aborted or done.
        note: what it waits for, or does.
        carried: rows by table.
        copied_until: what was recorded before this moment has been copied.
        closed_at, opened_at: between them nothing came in for the tenant, by the directory's clock.
        parts: what of that took how many seconds.
        via: who moves it: cli, a command; api or console, the server that was asked.
    """

    id: UUID
    tenant_id: UUID
    tenant: str
    from_cell: str
    to_cell: str
    step: str
    status: str
    note: str | None
    carried: dict[str, int]
    copied_until: datetime | None
    closed_at: datetime | None
    opened_at: datetime | None
    reason: str | None
    actor_id: str | None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    parts: dict[str, float]
    via: str

    @property
    def closed_seconds(self) -> float | None:
        """How long nothing came in; None: it has not come to that, or goes on."""
        if self.closed_at is None or self.opened_at is None:
            return None
        return (self.opened_at - self.closed_at).total_seconds()


@dataclass(frozen=True, slots=True)
class Crowd:
    """Tenants of one cell, and those that are being moved from or to it."""

    tenants: int = 0
    leaving: int = 0
    arriving: int = 0


def read_places(
    *,
    id: UUID | None = None,
    slug: str | None = None,
    cell: str | None = None,
    after: str = "",
    most: int = 1000,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Place]]:
    """Tenants of the directory by slug; who is not in it lives in the directory's own cell."""
    args = (id, slug, cell, after, most)
    return Statement(
        "read_places", sql("cells/read_places", schema), args, lambda rows: [Place(*row) for row in rows]
    )


def place_tenant(id: UUID, slug: str, cell: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """Enters a tenant; False where its slug belongs to another one, or it lives in another cell."""
    return Statement("place_tenant", sql("cells/place_tenant", schema), (id, slug, cell), bool)


def set_place(id: UUID, slug: str, cell: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """Says where a tenant lives; False where it moves just now, or its slug belongs to another one."""
    return Statement("set_place", sql("cells/set_place", schema), (id, slug, cell), bool)


def crowds(*, schema: str = DEFAULT_SCHEMA) -> Statement[dict[str, Crowd]]:
    """How many tenants the directory has in each cell, and how many are on their way."""
    return Statement(
        "crowds", sql("cells/crowds", schema), (), lambda rows: {row[0]: Crowd(*row[1:]) for row in rows}
    )


def begin_move(
    tenant_id: UUID,
    slug: str,
    from_cell: str,
    to_cell: str,
    reason: str | None,
    actor: tuple[str, str | None, str],
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[UUID | None]:
    """A new move; None where one of this tenant goes on. `actor`: type, id, and the face it came by."""
    args = (tenant_id, slug, from_cell, to_cell, reason, *actor)
    return Statement(
        "begin_move", sql("cells/begin_move", schema), args, lambda rows: rows[0][0] if rows else None
    )


def read_moves(
    *,
    id: UUID | None = None,
    tenant_id: UUID | None = None,
    before: UUID | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Move]]:
    """Moves, the latest first; `before`: those that began before that one."""
    return Statement(
        "read_moves",
        sql("cells/read_moves", schema),
        (id, tenant_id, most, before),
        lambda rows: [_move(row) for row in rows],
    )


def note_move(
    id: UUID,
    at: str,
    *,
    status: str = "running",
    step: str | None = None,
    note: str | None = None,
    carried: Mapping[str, int] | None = None,
    copied_until: datetime | None = None,
    closed: float | None = None,
    opened: float | None = None,
    parts: Mapping[str, float] | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[bool]:
    """What was done at step `at`, and which one is next; False where the move is not at that step any more.

    `closed`, `opened`: so many seconds ago the gate closed or opened.
    """
    counts = None if carried is None else json.dumps(dict(carried))
    times = None if parts is None else json.dumps(dict(parts))
    args = (id, at, status, step, note, counts, copied_until, closed, opened, times)
    return Statement("note_move", sql("cells/note_move", schema), args, bool)


def abort_move(id: UUID, status: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """aborting, then aborted; False where the tenant has switched already, or the move has ended."""
    return Statement("abort_move", sql("cells/abort_move", schema), (id, status), bool)


def switch_tenant(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """From here on the tenant lives in the other cell; False where the move was aborted, or is past this."""
    return Statement(
        "switch_tenant", sql("cells/switch_tenant", schema), (id,), lambda rows: bool(rows[0][0])
    )


def _move(row: Sequence[Any]) -> Move:
    values = list(row)
    for n in (8, 17):
        if isinstance(values[n], str):
            values[n] = json.loads(values[n])
    return Move(*values)


def lock_move(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Only one mover has it, until its connection ends. Waits as long as lock_timeout says."""
    return Statement("lock_move", sql("cells/lock_move", schema), (id,), lambda rows: None)


def left_moves(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[UUID]]:
    """Moves that servers were asked for and that nobody is at."""
    return Statement("left_moves", sql("cells/left_moves", schema), (), lambda rows: [row[0] for row in rows])


def audit_move(
    action: str, tenant: str, after: Mapping[str, Any], reason: str | None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[None]:
    """Writes into the cell's log what was done to a tenant."""
    args = (action, tenant, json.dumps(after), reason)
    return Statement("audit_move", sql("cells/audit_move", schema), args, lambda rows: None)


def find_place(tenant: UUID | str, *, schema: str = DEFAULT_SCHEMA) -> Statement[str | None]:
    """The cell that holds a tenant, named by id or slug; None: the directory does not know it."""
    return Statement("find_place", sql("cells/find_place", schema), (str(tenant),), lambda rows: rows[0][0])


def find_credential(hash: bytes, *, schema: str = DEFAULT_SCHEMA) -> Statement[tuple[bool, UUID | None]]:
    """Whether this cell knows a key, login or login link by its hash, and whose it is."""
    return Statement(
        "find_credential",
        sql("cells/find_credential", schema),
        (hash,),
        lambda rows: (bool(rows[0][0]), rows[0][1]),
    )


def has_webhook(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """Whether messages for this webhook belong to this cell."""
    return Statement("has_webhook", sql("cells/has_webhook", schema), (id,), lambda rows: bool(rows[0][0]))
