"""Begins, resumes and aborts moves of tenants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

import psycopg

from postmill.cells import steps
from postmill.cells.mover import Mover, MoveStopped, Told
from postmill.cells.preview import Preview, find_place, preview, resident
from postmill.cells.sides import Side, directory_name, side
from postmill.domain.access import Via
from postmill.domain.errors import InvalidValue, NotFound, PostmillError
from postmill.domain.settings_cells import CellSettings
from postmill.store.access import set_actor
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.cells import (
    Move,
    Place,
    abort_move,
    audit_move,
    begin_move,
    left_moves,
    lock_move,
    place_tenant,
    read_moves,
    read_places,
    set_place,
)
from postmill.store.statement import Statement

Cells = Mapping[str, CellSettings]

LINGER = 6.0
"""Seconds that a tenant's old rows stay after the switch: longer than anybody believes what the directory said before."""


@dataclass(frozen=True, slots=True)
class By:
    """Who acts, for the audit log: an operator at a command line, unless more is said."""

    actor_id: str
    actor_type: str = "user"
    via: Via = "cli"
    role: str | None = None
    request_id: str | None = None
    address: str | None = None

    def entered(self, schema: str) -> Statement[None]:
        """Says so for the rest of the transaction."""
        more = (self.role, self.request_id, self.address)
        return set_actor(self.via, self.actor_type, self.actor_id, *more, schema=schema)


class MoveRefused(PostmillError):
    """The move cannot begin; says why."""


class MoveBusy(PostmillError):
    """Another mover is at it."""


@contextmanager
def directory(cells: Cells, *, schema: str = DEFAULT_SCHEMA) -> Iterator[Side]:
    """A connection to the directory. Raises SettingsError where there are no cells, and what `side` does."""
    with side(cells, directory_name(cells), schema) as found:
        yield found


def look(cells: Cells, tenant: str | UUID, to: str, *, schema: str = DEFAULT_SCHEMA) -> Preview:
    """What a move would carry, and what stands in its way.

    Raises:
        NotFound: there is no such tenant or cell.
        InvalidValue: it lives there already.
    """
    with directory(cells, schema=schema) as home:
        place = find_place(home, tenant, schema=schema)
        with side(cells, place.cell, schema) as source, side(cells, to, schema) as target:
            return preview(source, target, place, schema=schema)


def begin(
    cells: Cells,
    tenant: str | UUID,
    to: str,
    *,
    actor: str | By,
    reason: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> UUID:
    """Writes a move into the directory and returns its id; `resume` does it.

    Raises:
        MoveRefused: something stands in its way; says what.
        NotFound, InvalidValue: as `look` does.
    """
    by = _by(actor)
    found = look(cells, tenant, to, schema=schema)
    if found.blockers:
        raise MoveRefused(f"tenant {found.tenant!r} cannot be moved: " + "; ".join(found.blockers))
    with directory(cells, schema=schema) as home, home.conn.transaction():
        home.run(by.entered(schema))
        entered = home.run(place_tenant(found.tenant_id, found.tenant, found.from_cell, schema=schema))
        id = home.run(
            begin_move(
                found.tenant_id,
                found.tenant,
                found.from_cell,
                found.to_cell,
                reason,
                (by.actor_type, by.actor_id, by.via),
                schema=schema,
            )
        )
        if not entered or id is None:
            raise MoveRefused(f"tenant {found.tenant!r} is being moved by somebody else")
        after = {"move": str(id), "from": found.from_cell, "to": found.to_cell}
        home.run(audit_move("tenants.move", found.tenant, after, reason, schema=schema))
    return id


def note_resumed(cells: Cells, id: UUID, *, actor: str | By, schema: str = DEFAULT_SCHEMA) -> Move:
    """Writes into the log that somebody goes on with a move; the move. Raises NotFound, InvalidValue where it has ended."""
    with directory(cells, schema=schema) as home, home.conn.transaction():
        move = _found(home, id, schema)
        if move.status != "running":
            raise InvalidValue(
                f"the move of tenant {move.tenant!r} is {move.status}: there is nothing to go on with"
            )
        home.run(_by(actor).entered(schema))
        home.run(audit_move("tenants.move_resumed", move.tenant, _facts(move), None, schema=schema))
        return move


def resume(
    cells: Cells,
    id: UUID,
    *,
    told: Told = lambda move: None,
    before: Callable[[str], object] = lambda step: None,
    linger: float = LINGER,
    schema: str = DEFAULT_SCHEMA,
) -> Move:
    """Does what is left of a move, and returns it when it is done.

    Raises:
        NotFound: there is no such move.
        MoveBusy: another mover is at it.
        MoveStopped: it was aborted.
    """
    with _mover(cells, id, told, before, schema) as mover:
        return steps.run(replace(mover, linger=linger))


def abort(
    cells: Cells, id: UUID, *, actor: str | By, reason: str | None = None, schema: str = DEFAULT_SCHEMA
) -> Move:
    """Puts both sides back as they were before. A mover that is at it stops.

    Raises:
        NotFound: there is no such move.
        InvalidValue: the tenant lives in the other cell already, or the move has ended.
        MoveBusy: the mover that is at it has not stopped within ten seconds.
    """
    with directory(cells, schema=schema) as home:
        if not home.run(abort_move(id, "aborting", schema=schema)):
            move = _found(home, id, schema)
            raise InvalidValue(
                f"the move of tenant {move.tenant!r} is at step {move.step!r} ({move.status}): it can only go on"
            )
    with _mover(cells, id, lambda move: None, lambda step: None, schema, patience=10) as mover:
        steps.take_back(mover, mover.move())
        with mover.directory.conn.transaction():
            mover.directory.run(_by(actor).entered(schema))
            mover.directory.run(abort_move(id, "aborted", schema=schema))
            move = mover.move()
            mover.directory.run(
                audit_move("tenants.move_aborted", move.tenant, _facts(move), reason, schema=schema)
            )
        return move


def moves(
    cells: Cells, *, before: UUID | None = None, most: int = 50, schema: str = DEFAULT_SCHEMA
) -> list[Move]:
    """The latest moves; `before`: those that began before that one."""
    with directory(cells, schema=schema) as home:
        return home.run(read_moves(before=before, most=most, schema=schema))


def move(cells: Cells, id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Move:
    """One move. Raises NotFound."""
    with directory(cells, schema=schema) as home:
        return _found(home, id, schema)


def left(cells: Cells, *, schema: str = DEFAULT_SCHEMA) -> list[UUID]:
    """Moves that servers were asked for and that nobody is at."""
    with directory(cells, schema=schema) as home:
        return home.run(left_moves(schema=schema))


def where(cells: Cells, tenant: str | UUID, *, schema: str = DEFAULT_SCHEMA) -> Place:
    """Where a tenant lives, and whether it moves. Raises NotFound."""
    with directory(cells, schema=schema) as home:
        return find_place(home, tenant, schema=schema)


def place(
    cells: Cells,
    tenant: str | UUID,
    cell: str,
    *,
    actor: str | By,
    reason: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Place:
    """Puts the directory right: says that a tenant lives in the cell where it does. Moves nothing.

    Raises:
        NotFound: there is no such cell, or no such tenant in it.
        InvalidValue: the tenant moves just now, or the directory has another one of its name.
    """
    with side(cells, cell, schema) as there:
        found = resident(there, tenant, schema=schema)
    with directory(cells, schema=schema) as home, home.conn.transaction():
        before = home.run(read_places(id=found.id, schema=schema))
        home.run(_by(actor).entered(schema))
        if not home.run(set_place(found.id, found.slug, cell, schema=schema)):
            raise InvalidValue(
                f"tenant {found.slug!r} moves just now, or the directory has another tenant of that name"
            )
        after = {"from": before[0].cell if before else None, "to": cell}
        home.run(audit_move("tenants.place", found.slug, after, reason, schema=schema))
        return home.run(read_places(id=found.id, schema=schema))[0]


def places(
    cells: Cells,
    *,
    cell: str | None = None,
    after: str = "",
    most: int = 1000,
    schema: str = DEFAULT_SCHEMA,
) -> list[Place]:
    """Tenants of the directory by slug."""
    with directory(cells, schema=schema) as home:
        return home.run(read_places(cell=cell, after=after, most=most, schema=schema))


def placed(cells: Cells, slug: str, *, schema: str = DEFAULT_SCHEMA) -> bool:
    """Whether the directory has a tenant of that name, in whatever cell."""
    with directory(cells, schema=schema) as home:
        return bool(home.run(read_places(slug=slug, most=1, schema=schema)))


def enter(cells: Cells, id: UUID, slug: str, cell: str, *, schema: str = DEFAULT_SCHEMA) -> None:
    """Writes a tenant into the directory. Raises InvalidValue where its slug is another's, or it lives elsewhere."""
    with directory(cells, schema=schema) as home:
        if not home.run(place_tenant(id, slug, cell, schema=schema)):
            raise InvalidValue(
                f"the directory has another tenant {slug!r}, or has this one in another cell than {cell!r}"
            )


def _by(actor: str | By) -> By:
    return actor if isinstance(actor, By) else By(actor)


def _facts(move: Move) -> dict[str, str]:
    return {"move": str(move.id), "from": move.from_cell, "to": move.to_cell}


def _found(home: Side, id: UUID, schema: str) -> Move:
    found = home.run(read_moves(id=id, schema=schema))
    if not found:
        raise NotFound(f"there is no move {id}")
    return found[0]


@contextmanager
def _mover(
    cells: Cells,
    id: UUID,
    told: Told,
    before: Callable[[str], object],
    schema: str,
    patience: float = 0.0,
) -> Iterator[Mover]:
    """One mover for a move, for as long as its connection to the directory holds a lock on it."""
    with directory(cells, schema=schema) as home:
        move = _found(home, id, schema)
        home.conn.execute(f"set lock_timeout = {max(1, int(patience * 1000))}")
        try:
            home.run(lock_move(id, schema=schema))
        except psycopg.errors.LockNotAvailable:
            raise MoveBusy(
                f"another mover is at the move of tenant {move.tenant!r}, at step {move.step!r}; it goes on there"
            ) from None
        home.conn.execute("set lock_timeout = 0")
        with side(cells, move.from_cell, schema) as source, side(cells, move.to_cell, schema) as target:
            yield Mover(home, source, target, id, told, schema, before)


__all__ = [
    "By",
    "MoveBusy",
    "MoveRefused",
    "MoveStopped",
    "abort",
    "begin",
    "enter",
    "left",
    "look",
    "move",
    "moves",
    "note_resumed",
    "place",
    "places",
    "resume",
    "where",
]
