"""The steps of a move, from the first gate to the last row that was left behind.

Each step is written in the directory when it is done, and can be done again: a mover that is killed at any point is
followed by another one (`resume`). Until the switch everything can be undone (`abort`); after it the move only ends.

What keeps both sides right, whoever is killed when: the source gives nothing away before its gate is `closed`; the target
takes rows only while its gate says `arriving` for this very move; and the switch is one transaction of the directory.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from postmill.cells.carrying import slices
from postmill.cells.copying import copy
from postmill.cells.mover import Mover, MoveStopped
from postmill.cells.sides import Side
from postmill.cells.switching import drain, open_, switch
from postmill.cells.waiting import settle
from postmill.store import carrying as rows
from postmill.store.cells import Move


def run(mover: Mover) -> Move:
    """Does what is left to do. Raises MoveStopped; what the databases raise leaves the move where it is."""
    while (move := mover.move()).status == "running":
        mover.told(move)
        mover.before(move.step)
        _STEPS[move.step](mover, move)
    if move.status != "done":
        raise MoveStopped(f"the move of tenant {move.tenant!r} is {move.status}")
    return move


def _prepare(mover: Mover, move: Move) -> None:
    mover.gate(mover.target, "arriving", move.from_cell, ["here", "gone"])
    mover.gate(mover.source, "leaving", move.to_cell, ["here", "gone"])
    # From here on who begins to enqueue sees the gate.
    settle(mover, move)
    mover.note(move, step="copy")


def _clean(mover: Mover, move: Move) -> None:
    """What is not in use any more goes, in pieces."""
    mover.note(move, "what is left behind goes soon")
    until = time.monotonic() + mover.linger
    while time.monotonic() < until:
        mover.before("linger")
        time.sleep(min(0.2, mover.linger))
    _take_away(mover, mover.source, move)
    mover.note(move, step="done")


def _take_away(mover: Mover, side: Side, move: Move) -> None:
    now, _, first = side.run(rows.open_transactions(schema=mover.schema))
    for table in reversed(mover.tables()):
        if table.how == "grows" and table.moment is not None:
            pieces = [*slices(first or now, now), (now, None)]
        elif table.how in ("grows", "bulk", "state"):
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


_STEPS: dict[str, Callable[[Mover, Move], None]] = {
    "prepare": _prepare,
    "copy": copy,
    "drain": drain,
    "switch": switch,
    "open": open_,
    "clean": _clean,
}
