"""Clears away: expired idempotency keys, answered cancel requests, ended sessions, old sleepers."""

from __future__ import annotations

from postmill.engine.upkeep.round import Round

_MOST = 5000


class Sweeper(Round):
    name = "sweep"
    every = 15.0

    async def once(self) -> float | None:
        await self.link.rows("upkeep/sweep", [_MOST])
        await self.link.rows("upkeep/sweep_sessions")
        return None
