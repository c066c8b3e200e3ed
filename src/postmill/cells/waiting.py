"""What a mover waits for: transactions that are open, and jobs that run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime

from postmill.cells.mover import Mover
from postmill.store import carrying as rows
from postmill.store.cells import Move

PATIENCE = 1.0
"""Seconds that a round waits for open transactions; what they have recorded goes with the next one."""


def settle(mover: Mover, move: Move) -> tuple[datetime, datetime]:
    """Waits until whatever is open in the source now has ended; when history begins there, and the clock from before."""
    moment, open_, first = mover.source.run(rows.open_transactions(schema=mover.schema))
    while not ended(mover, open_, PATIENCE):
        lasting = mover.source.run(rows.lasting_transactions(open_, schema=mover.schema))
        if lasting:
            one = lasting[0]
            mover.note(
                move, f"{len(lasting)} transaction(s) are open, such as pid {one.pid} ({one.application})"
            )
    return first or moment, moment


def ended(mover: Mover, open_: Sequence[str], patience: float) -> bool:
    """Whether these transactions end within so many seconds; those as well that one of them became by being prepared."""
    until = time.monotonic() + patience
    for _ in range(2):
        while mover.source.run(rows.lasting_transactions(open_, schema=mover.schema)):
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        now = mover.source.run(rows.open_transactions(schema=mover.schema))[1]
        open_ = [id for id in now if id.startswith("x")]
    return True


def what_holds(mover: Mover, move: Move) -> str | None:
    """What the switch waits for."""
    found = mover.source.run(rows.hold_tickets(move.tenant_id, schema=mover.schema))
    if found.running:
        return f"{len(found.running)} job(s) run: " + ", ".join(
            f"{id} ({kind})" for id, kind in found.running[:3]
        )
    if found.busy:
        return "a bulk operation or a workflow within the tenant goes on"
    return "jobs came back to wait" if found.parked else None
