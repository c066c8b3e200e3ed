"""Who moves one tenant: the connections to three cells, what is written down in the directory, and the gates."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg

from postmill.cells.sides import Side
from postmill.domain.errors import PostmillError
from postmill.store import carrying as rows
from postmill.store.carrying import Carried
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.cells import Move, note_move, read_moves

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

    def gate(self, side: Side, stage: str, cell: str, after: Sequence[str]) -> float:
        """Puts a gate to a stage, however long an open transaction of the tenant keeps it; how long that took at last."""
        move = self.move()
        while True:
            began = time.perf_counter()
            try:
                with side.conn.transaction():
                    side.conn.execute("select set_config('lock_timeout', %s, true)", [LOCK_PATIENCE])
                    done, _ = side.run(
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
            return time.perf_counter() - began
