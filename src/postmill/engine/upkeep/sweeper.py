"""Clears away: expired idempotency keys and kept answers, answered cancel requests, ended sessions, old sleepers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus

_MOST = 5000


class Sweeper(Round):
    name = "sweep"
    every = 5.0

    def __init__(self, link: Link, bus: Bus, worker_id: str) -> None:
        super().__init__(link, bus, worker_id)
        self._after: Sequence[Any] = (None, None, None)

    async def once(self) -> float | None:
        await self.link.rows("upkeep/sweep", [_MOST])
        await self.link.rows("upkeep/sweep_sessions")
        await self.link.rows("upkeep/sweep_answers", [_MOST])
        await self.link.rows("upkeep/sweep_logins")
        await self.link.rows("upkeep/sweep_triggers", [_MOST])
        await self.link.rows("upkeep/sweep_http", [_MOST])
        await self.link.rows("upkeep/sweep_budgets", [_MOST])
        stopped = await self.link.rows("upkeep/sweep_keys", [*self._after, _MOST])
        if stopped:
            tenant, project, key = stopped[0]
            self._after = (UUID(bytes=tenant), UUID(bytes=project), key)
            return 1.0
        self._after = (None, None, None)
        return None
