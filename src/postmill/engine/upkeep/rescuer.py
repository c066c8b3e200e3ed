"""Takes back what dead sessions held. Recovery time follows the lease, not any job's timeout."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from postmill.engine.link import Link
from postmill.engine.session import Session
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.event import JobFacts
from postmill.telemetry.events import JobDeadLettered, JobLost, JobsRescued

_MOST = 500
_JITTER = 2.0  # seconds over which the rescued come back


class Rescuer(Round):
    name = "rescue"
    every = 2.0

    def __init__(
        self,
        link: Link,
        bus: Bus,
        worker_id: str,
        session: Callable[[], Session | None],
        lease: float,
        counters: Counters,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(link, bus, worker_id)
        self._session = session
        self._lease = lease
        self._counters = counters
        self._ended = ended
        self.every = min(2.0, lease / 4)  # type: ignore[misc]
        self.longest = lease / 2  # who looks less often lets jobs wait for longer than their lease

    async def once(self) -> float | None:
        session = self._session()
        if session is None or session.lost:
            return None
        jitter = min(_JITTER, self._lease / 4)
        rows = await self.link.rows("upkeep/rescue", [session.holder, self._lease, jitter, _MOST])
        await self.link.rows("upkeep/replace_watchmen")
        for row in rows:
            self._tell(*row)
        if rows:
            self._ended()
            buried = sum(row[2] in ("dead_letter", "failed", "undecodable") for row in rows)
            self.bus.emit(JobsRescued(len(rows), buried=buried, sessions=len({row[6] for row in rows})))
        return 0.0 if len(rows) >= _MOST else None

    def _tell(
        self,
        id: bytes,
        queue: str,
        verdict: str,
        job_type: str | None,
        tenant: bytes | None,
        attempt: int,
        holder: bytes,
    ) -> None:
        name = job_type or "unknown"
        facts = JobFacts(
            UUID(bytes=id), name, queue, UUID(bytes=tenant or bytes(16)), attempt, self.worker_id
        )
        self.bus.emit(JobLost(facts, holder=str(UUID(bytes=holder))))
        counters = self._counters.of(name, queue)
        if verdict in ("dead_letter", "undecodable"):
            counters.bury("worker_lost" if verdict == "dead_letter" else verdict, attempt)
            self.bus.emit(JobDeadLettered(facts, reason="worker_lost", error_class="WorkerLost"))
        elif verdict == "failed":
            counters.ended_failed(attempt)
        elif verdict == "canceled":
            counters.cancel()
