"""Moves one tenant from cell to cell while everybody else goes on.

Each step is written in the directory when it is done, and can be done again: a mover that is killed at any point is
followed by another one (`resume`). Until the switch everything can be undone (`abort`); after it the move only ends.

What keeps both sides right, whoever is killed when: the source gives nothing away before its gate is `closed`; the target
takes rows only while its gate says `arriving` for this very move; and the switch is one transaction of the directory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import psycopg

from postmill.cells.carrying import carry, slices
from postmill.cells.sides import Side
from postmill.domain.errors import PostmillError
from postmill.store import carrying as rows
from postmill.store.carrying import Carried
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.cells import Move, note_move, read_moves, switch_tenant

MARGIN = timedelta(minutes=1)
"""By so much a clock may step back."""

LOCK_PATIENCE = "250ms"
"""So long do enqueues of the tenant wait for a mover that waits for an open transaction of theirs."""

Told = Callable[[Move], object]


class MoveStopped(PostmillError):
    """The move was aborted, or another mover has taken it further."""


@dataclass(frozen=True, slots=True)
class Mover:
    """One move, at work.

    Args:
        directory, source, target: connections; `directory` may be the same cell as one of the others, on its own connection.
        id: of the move.
        told: hears of each change.
        schema: of all cells.
        before: hears of each step before it is done, once more for each of its parts.
        linger: seconds between the switch and the taking away of what is left: so long may others believe what they knew.
    """

    directory: Side
    source: Side
    target: Side
    id: UUID
    told: Told = lambda move: None
    schema: str = DEFAULT_SCHEMA
    before: Callable[[str], object] = lambda step: None
    linger: float = 0.0

    def run(self) -> Move:
        """Does what is left to do. Raises MoveStopped; what the databases raise leaves the move where it is."""
        while (move := self.move()).status == "running":
            self.told(move)
            self.before(move.step)
            _STEPS[move.step](self, move)
        if move.status != "done":
            raise MoveStopped(f"the move of tenant {move.tenant!r} is {move.status}")
        return move

    def move(self) -> Move:
        """The move as it stands."""
        return self.directory.run(read_moves(id=self.id, schema=self.schema))[0]

    def tables(self) -> list[Carried]:
        """What is carried."""
        return self.source.run(rows.carried_tables(schema=self.schema))

    def note(self, move: Move, text: str | None = None, **facts: object) -> None:
        """Writes down what was done. Raises MoveStopped where the move is not at this step any more."""
        if not self.directory.run(
            note_move(move.id, move.step, note=text, schema=self.schema, **facts)  # type: ignore[arg-type]
        ):
            raise MoveStopped(f"the move of tenant {move.tenant!r} is not at step {move.step!r} any more")
        self.told(self.move())

    def gate(self, side: Side, stage: str, cell: str, after: Sequence[str]) -> datetime:
        """Puts a gate to a stage, however long an open transaction of the tenant keeps it; the clock of that side."""
        move = self.move()
        while True:
            try:
                with side.conn.transaction():
                    side.conn.execute("select set_config('lock_timeout', %s, true)", [LOCK_PATIENCE])
                    done, moment = side.run(
                        rows.set_gate(move.tenant_id, stage, cell, move.id, after, schema=self.schema)
                    )
            except psycopg.errors.LockNotAvailable:
                if move.status != "running":
                    time.sleep(0.1)
                    continue
                self.note(move, f"an open transaction in cell {side.cell!r} has enqueued for the tenant")
                time.sleep(0.1)
                continue
            if not done:
                raise MoveStopped(f"cell {side.cell!r} holds another gate for tenant {move.tenant!r}")
            return moment


def _prepare(mover: Mover, move: Move) -> None:
    mover.gate(mover.target, "arriving", move.from_cell, ["here", "gone"])
    mover.gate(mover.source, "leaving", move.to_cell, ["here", "gone"])
    # From here on who begins to enqueue sees the gate.
    _settle(mover, move)
    mover.note(move, step="copy")


def _copy(mover: Mover, move: Move) -> None:
    """Twice: what came in during the first time goes in the second, so that little is left for the switch."""
    ahead = [table for table in mover.tables() if table.ahead]
    missing = [table for table in mover.tables() if table.how == "missing"]
    for _ in range(2):
        before = mover.move()
        first, until = _settle(mover, move)
        stretches = (
            [*slices(first, until)]
            if before.copied_until is None
            else [(before.copied_until - MARGIN, until)]
        )
        mover.target.run(rows.ensure_partitions(min(first, until), schema=mover.schema))
        counts = dict(before.carried)
        with mover.target.conn.transaction():
            carry(mover.source, mover.target, move.tenant_id, missing, schema=mover.schema)
        for n, stretch in enumerate(stretches, 1):
            with mover.target.conn.transaction():
                arrived = carry(
                    mover.source, mover.target, move.tenant_id, ahead, stretch, schema=mover.schema
                )
            for name, count in arrived.items():
                counts[name] = counts.get(name, 0) + count
            mover.before("copy slice")
            mover.note(move, f"history, {n} of {len(stretches)}", carried=counts)
        mover.note(move, "history is copied", copied_until=until)
    mover.note(move, step="drain")


def _drain(mover: Mover, move: Move) -> None:
    """New jobs wait, and what runs ends."""
    mover.gate(mover.source, "draining", move.to_cell, ["leaving", "closed", "draining"])
    mover.before("draining")
    while (held := _held(mover, move)) is not None:
        mover.note(move, held)
        time.sleep(0.05)
    mover.note(move, step="switch")


def _held(mover: Mover, move: Move) -> str | None:
    """What the switch waits for."""
    tenant = move.tenant_id
    parked = mover.source.run(rows.park_tickets(tenant, schema=mover.schema))
    running = mover.source.run(rows.running_of(tenant, schema=mover.schema))
    if running:
        return f"{len(running)} job(s) run: " + ", ".join(f"{row[0]} ({row[1]})" for row in running[:3])
    if mover.source.run(rows.open_operations(tenant, schema=mover.schema)):
        return "a bulk operation or a workflow within the tenant goes on"
    return "jobs came back to wait" if parked else None


def _switch(mover: Mover, move: Move) -> None:
    """From `closed` to `open` nothing comes in for the tenant."""
    tenant, schema = move.tenant_id, mover.schema
    closed_at = mover.gate(mover.source, "closed", move.to_cell, ["draining", "closed"])
    mover.before("closed")
    if _held(mover, move) is not None and _held(mover, move) is not None:
        mover.note(move, "something began to run again", step="drain")
        return
    mover.note(move, "the tenant is carried over", closed_at=None if move.closed_at else closed_at)
    tables = mover.tables()
    state = [table for table in tables if table.how == "state"]
    ahead = [table for table in tables if table.ahead]
    missing = [table for table in tables if table.how == "missing"]
    since = move.copied_until - MARGIN if move.copied_until else None
    known = mover.source.run(rows.definitions_here(schema=schema))
    with mover.source.conn.transaction():
        mover.source.run(rows.lock_tickets(tenant, schema=schema))
        with mover.target.conn.transaction():
            if mover.target.run(rows.lock_gate(tenant, move.id, schema=schema)) != "arriving":
                raise MoveStopped(f"cell {move.to_cell!r} does not wait for tenant {move.tenant!r} any more")
            if mover.target.run(rows.count_rows(tenant, schema=schema)) is not None:
                # A mover before this one came so far and no farther.
                for table in reversed(state):
                    mover.target.run(rows.carry_off(table.name, tenant, move.id, schema=schema))
            mover.target.run(rows.note_definitions(known, schema=schema))
            arrived = carry(mover.source, mover.target, tenant, missing, schema=schema)
            arrived |= carry(mover.source, mover.target, tenant, ahead, (since, None), schema=schema)
            arrived |= carry(mover.source, mover.target, tenant, state, schema=schema)
            mover.before("filled")
        mover.before("flip")
        if not mover.directory.run(switch_tenant(move.id, schema=schema)):
            raise MoveStopped(f"the move of tenant {move.tenant!r} was aborted")
    counts = {
        name: count + (move.carried.get(name, 0) if name in {t.name for t in ahead} else 0)
        for name, count in arrived.items()
    }
    mover.note(mover.move(), "the tenant lives there now", carried=counts)


def _open(mover: Mover, move: Move) -> None:
    mover.before("opening")
    opened_at = mover.gate(mover.target, "here", move.from_cell, ["arriving"])
    if move.opened_at is None:
        mover.note(move, "the tenant lives there now", opened_at=opened_at)
    mover.target.run(rows.unpark_tickets(move.tenant_id, schema=mover.schema))
    mover.gate(mover.source, "gone", move.to_cell, ["closed"])
    mover.note(move, step="clean")


def _clean(mover: Mover, move: Move) -> None:
    """What is not in use any more goes, in pieces."""
    mover.note(move, "what is left behind goes soon")
    time.sleep(mover.linger)
    _take_away(mover, mover.source, move)
    mover.note(move, step="done")


def _take_away(mover: Mover, side: Side, move: Move) -> None:
    now, _, first = side.run(rows.open_transactions(schema=mover.schema))
    for table in reversed(mover.tables()):
        if table.how == "grows":
            pieces = [*slices(first or now, now), (now, None)]
        elif table.how == "state":
            pieces = [(None, None)]
        else:
            continue
        for piece in pieces:
            side.run(rows.carry_off(table.name, move.tenant_id, move.id, *piece, schema=mover.schema))
        mover.before("clean table")


def take_back(mover: Mover, move: Move) -> None:
    """Puts both sides back: what was carried goes, and the source is as if nothing had been."""
    gate = mover.target.run(rows.read_gate(move.tenant_id, schema=mover.schema))
    if gate.move_id == move.id:
        _take_away(mover, mover.target, move)
        mover.gate(mover.target, "here", move.from_cell, ["arriving"])
    if mover.source.run(rows.read_gate(move.tenant_id, schema=mover.schema)).move_id == move.id:
        mover.gate(mover.source, "here", move.to_cell, ["leaving", "draining", "closed"])
    mover.source.run(rows.unpark_tickets(move.tenant_id, schema=mover.schema))


def _settle(mover: Mover, move: Move) -> tuple[datetime, datetime]:
    """Waits until whatever is open in the source now has ended; when history begins there, and the clock from before."""
    moment, open_, first = mover.source.run(rows.open_transactions(schema=mover.schema))
    for _ in range(2):
        while lasting := mover.source.run(rows.lasting_transactions(open_, schema=mover.schema)):
            one = lasting[0]
            mover.note(
                move, f"{len(lasting)} transaction(s) are open, such as pid {one.pid} ({one.application})"
            )
            time.sleep(0.05)
        # One of them may have been prepared meanwhile.
        open_ = [
            id
            for id in mover.source.run(rows.open_transactions(schema=mover.schema))[1]
            if id.startswith("x")
        ]
    return first or moment, moment


_STEPS: dict[str, Callable[[Mover, Move], None]] = {
    "prepare": _prepare,
    "copy": _copy,
    "drain": _drain,
    "switch": _switch,
    "open": _open,
    "clean": _clean,
}
