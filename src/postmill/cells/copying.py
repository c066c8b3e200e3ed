"""The step `copy`, and the rounds that follow it: what a tenant has goes over while all goes on."""

from __future__ import annotations

from datetime import timedelta

from postmill.cells import rounds
from postmill.cells.carrying import carry, slices
from postmill.cells.mover import Mover
from postmill.cells.waiting import PATIENCE, ended, settle
from postmill.store import carrying as rows
from postmill.store.cells import Move

MARGIN = timedelta(seconds=10)
"""By so much a clock may step back."""


def copy(mover: Mover, move: Move) -> None:
    """History goes twice: what came in during the first time goes in the second. Then once what else may be much."""
    ahead = [table for table in mover.tables() if table.ahead]
    missing = [table for table in mover.tables() if table.how == "missing"]
    for _ in range(2):
        before = mover.move()
        first, until = settle(mover, move)
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
            counts = added(counts, arrived)
            mover.before("copy slice")
            mover.note(move, f"history, {n} of {len(stretches)}", carried=counts)
        mover.note(move, "history is copied", copied_until=until)
    go_ahead(mover, move)
    mover.note(move, step="drain")


def go_ahead(mover: Mover, move: Move) -> None:
    """One round: what has come in and what has changed since the last one. Nothing waits for it."""
    now = mover.move()
    mark, open_, _ = mover.source.run(rows.open_transactions(schema=mover.schema))
    since = now.copied_until - MARGIN if now.copied_until else None
    settled = ended(mover, open_, PATIENCE)
    arrived = rounds.ahead(mover.source, mover.target, move.tenant_id, since, schema=mover.schema)
    mover.before("round")
    mover.note(
        move,
        "what has changed is copied",
        carried=added(now.carried, arrived),
        copied_until=mark if settled else None,
    )


def added(counts: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    """Rows by table, and those that came now."""
    return counts | {name: counts.get(name, 0) + count for name, count in more.items()}
