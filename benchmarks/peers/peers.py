"""The systems that run beside Postmill, each with the settings that served it best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Peer:
    """One system: its program, its settings, and how its own tables tell that all is done.

    ``unfinished`` and ``finished`` count jobs in the peer's tables; a peer that keeps no history
    has no ``finished``. ``most_jobs`` caps the drain for a peer that would take too long.
    """

    name: str
    package: str
    program: str
    history: bool
    unfinished: str
    finished: str | None
    settings: dict[str, Any] = field(default_factory=dict)
    most_jobs: int | None = None

    @property
    def slug(self) -> str:
        """A word for command lines and database names."""
        return self.name.lower().replace("-", "_")

    @property
    def is_node(self) -> bool:
        """Whether the program wants Node.js."""
        return self.program.endswith(".mjs")


PEERS = (
    Peer(
        name="PgQueuer",
        package="pgqueuer",
        program="run_pgqueuer.py",
        history=True,
        unfinished="select count(*) from pgqueuer",
        finished="select count(*) from pgqueuer_log where status = 'successful'",
        # batch_size: claims and reports in batches; 500 was the best of 100, 200, 500, 1000 and 2000.
        settings={"pool": 5, "batch_size": 500, "enqueue_batch": 5000},
    ),
    Peer(
        name="Procrastinate",
        package="procrastinate",
        program="run_procrastinate.py",
        history=True,
        unfinished="select count(*) from procrastinate_jobs where status in ('todo', 'doing')",
        finished="select count(*) from procrastinate_jobs where status = 'succeeded'",
        # It claims and reports one by one, so concurrency is all that can be set (5, 20, 50: within 5 %).
        settings={"pool": 10, "concurrency": 20, "enqueue_batch": 1000},
        most_jobs=5000,
    ),
    Peer(
        name="graphile-worker",
        package="graphile-worker",
        program="run_graphile_worker.mjs",
        history=False,
        unfinished="select count(*) from graphile_worker._private_jobs",
        finished=None,
        # As on its page on performance, with a local queue of 1000 (better than its 500 here).
        settings={
            "concurrentJobs": 24,
            "maxPoolSize": 25,
            "localQueue": {"size": 1000},
            "completeJobBatchDelay": 0,
            "failJobBatchDelay": 0,
            "enqueueBatch": 5000,
        },
    ),
    Peer(
        name="pg-boss",
        package="pg-boss",
        program="run_pg_boss.mjs",
        history=True,
        unfinished="select count(*) from pgboss.job where state <> 'completed'",
        finished="select count(*) from pgboss.job where state = 'completed'",
        settings={
            "pool": 10,
            "insertBatch": 5000,
            # Two local workers: one fetches while the other reports (42 in place of 26 k/s with one process).
            "work": {
                "batchSize": 1000,
                "localConcurrency": 2,
                "burstWhenBatchFull": True,
                "pollingIntervalSeconds": 0.5,
            },
        },
    ),
)
