"""A worker session that claims with limits, driven by hand."""

from __future__ import annotations

from tests.support.sessions import Held, Rows, WorkerSession


class Limited(WorkerSession):
    """`told`: what the last claim said beside its tickets: key, wait in seconds, contended."""

    told: Rows

    def take(self, n: int = 10, *, lanes: Rows | None = None, firm: int | None = None) -> list[Held]:
        """Up to `n` tickets of each lane (default: of all that have work); `firm` of them can start at once."""
        lanes = self.lanes() if lanes is None else lanes
        self.claim_no += 1
        rows = self.conn.execute(
            "select id, attempt, run, lost, job_type, tenant_id, ready_at, workflow_id, slot, key, wait_seconds, contended"
            " from postmill.claim_limited(%s, %s, %s, %s, %s, %s, %s, %s::timestamptz[], %s, '{}', '{}')",
            (
                self.holder, self.claim_no, n * len(lanes), n if firm is None else firm, [row[0] for row in lanes],
                [row[1] for row in lanes], [row[2] for row in lanes], [None] * len(lanes), [n] * len(lanes),
            ),
        ).fetchall()  # fmt: skip
        self.told = [row[9:] for row in rows if row[0] is None and row[8] > 0]
        return [Held(row[0], self.holder, self.claim_no, *row[1:8]) for row in rows if row[0] is not None]
