"""Takes back what dead sessions held. Recovery time follows the lease, not any job's timeout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from postmill.engine.link import Link
from postmill.engine.session import Session
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import JobsRescued

_MOST = 500
_JITTER = 2.0  # seconds over which the rescued come back


class Rescuer(Round):
    name = "rescue"
    every = 2.0

    def __init__(
        self, link: Link, bus: Bus, worker_id: str, session: Callable[[], Session | None], lease: float
    ) -> None:
        super().__init__(link, bus, worker_id)
        self._session = session
        self._lease = lease
        self.every = min(2.0, lease / 4)  # type: ignore[misc]

    async def once(self) -> float | None:
        session = self._session()
        if session is None or session.lost:
            return None
        jitter = min(_JITTER, self._lease / 4)
        rows = await self.link.rows("upkeep/rescue", [session.holder, self._lease, jitter, _MOST])
        if rows:
            verdicts = Counter(row[4] for row in rows)
            self.bus.emit(JobsRescued(len(rows), buried=verdicts["dead_letter"] + verdicts["failed"]))
        return 0.0 if len(rows) >= _MOST else None
