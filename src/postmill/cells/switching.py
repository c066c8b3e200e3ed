"""The steps `drain`, `switch` and `open`: what runs ends, the gate closes, the rest goes over, the other gate opens.

All that can be done before the gate closes is done before: history and what else may be much has gone ahead, the other cell
has said what it has, the query for the rest is made, and the place for it is there.
"""

from __future__ import annotations

import time
from contextlib import ExitStack

from postmill.cells import rounds
from postmill.cells.copying import MARGIN, added, go_ahead
from postmill.cells.mover import Mover, MoveStopped
from postmill.cells.waiting import what_holds
from postmill.store import carrying as rows
from postmill.store.cells import Move, switch_tenant

ROUND = 5.0
"""Seconds between two rounds while a running job is waited for."""


def drain(mover: Mover, move: Move) -> None:
    """New jobs wait, and what runs ends; what is recorded meanwhile goes ahead, so that it is not left for the switch."""
    mover.gate(mover.source, "draining", move.to_cell, ["leaving", "closed", "draining"])
    mover.before("draining")
    until = time.monotonic() + ROUND
    while (held := what_holds(mover, move)) is not None:
        mover.note(move, held)
        time.sleep(0.05)
        if time.monotonic() > until:
            go_ahead(mover, move)
            until = time.monotonic() + ROUND
    mover.source.run(rows.sum_up(schema=mover.schema))
    mover.note(move, step="switch")


def switch(mover: Mover, move: Move) -> None:
    """From `closed` to `open` nothing comes in for the tenant."""
    tenant, schema = move.tenant_id, mover.schema
    source, target = mover.source, mover.target
    go_ahead(mover, move)
    now = mover.move()
    since = now.copied_until - MARGIN if now.copied_until else None
    rounds.tell(source, target, tenant, since, schema=schema)
    rest = source.run(rows.carry_rest(tenant, since, True, schema=schema))
    known = source.run(rows.definitions_here(schema=schema))
    parts: dict[str, float] = {}
    with ExitStack() as locked:
        with target.conn.transaction():
            if target.run(rows.lock_gate(tenant, move.id, schema=schema)) != "arriving":
                raise MoveStopped(f"cell {move.to_cell!r} does not wait for tenant {move.tenant!r} any more")
            _without_state(mover, move)
            target.run(rows.note_definitions(known, schema=schema))
            place = target.run(rows.carry_place(schema=schema))
            took = mover.gate(source, "closed", move.to_cell, ["draining", "closed"])
            clock = Clock(parts)
            mover.note(move, "the tenant is carried over", closed=took)
            mover.before("closed")
            if what_holds(mover, move) is not None and what_holds(mover, move) is not None:
                mover.note(move, "something began to run again", step="drain")
                return
            clock.done("checking")
            locked.enter_context(source.conn.transaction())
            source.run(rows.lock_tickets(tenant, schema=schema))
            clock.done("locking")
            rounds.pour(source, rest, target, place)
            clock.done("carrying")
            arrived = target.run(rows.carry_down(tenant, schema=schema))
            mover.before("filled")
        clock.done("writing")
        mover.before("flip")
        if not mover.directory.run(switch_tenant(move.id, schema=schema)):
            raise MoveStopped(f"the move of tenant {move.tenant!r} was aborted")
    clock.done("switching")
    mover.before("open")
    _let_in(mover, mover.move(), parts, added(now.carried, arrived))


TOLD = ("notification", "incident_job", "incident_part", "incident")
"""Of these people are told: from one cell, so they go from the other one at once."""


class Clock:
    """How long each part of something took, in seconds, one after the other."""

    def __init__(self, parts: dict[str, float]) -> None:
        self._parts = parts
        self._since = time.perf_counter()

    def done(self, name: str) -> None:
        """The part of that name is over, and the next one begins."""
        now = time.perf_counter()
        self._parts[name] = round(now - self._since, 4)
        self._since = now


def open_(mover: Mover, move: Move) -> None:
    """The tenant's jobs wait and run in the other cell."""
    mover.before("opening")
    _let_in(mover, move, {}, move.carried)
    mover.target.run(rows.unpark_tickets(move.tenant_id, schema=mover.schema))
    for table in TOLD:
        mover.source.run(rows.carry_off(table, move.tenant_id, move.id, schema=mover.schema))
    mover.note(move, step="clean")


def _let_in(mover: Mover, move: Move, parts: dict[str, float], carried: dict[str, int]) -> None:
    took = mover.gate(mover.target, "here", move.from_cell, ["arriving"])
    parts = parts | {"opening": round(took, 4)} if parts else {}
    mover.note(move, "the tenant lives there now", opened=0.0, parts=parts, carried=carried)
    # From now on who asks here hears where it is, and need not wait for its tickets.
    mover.gate(mover.source, "gone", move.to_cell, ["closed"])


def _without_state(mover: Mover, move: Move) -> None:
    """A mover before this one came so far and no farther."""
    if mover.target.run(rows.has_tenant(move.tenant_id, schema=mover.schema)):
        for table in reversed(mover.tables()):
            if table.how == "state":
                mover.target.run(rows.carry_off(table.name, move.tenant_id, move.id, schema=mover.schema))
