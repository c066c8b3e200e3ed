"""Seals the audit log: appends what was written since the last round to the chain, and settles history for readers."""

from __future__ import annotations

import json
from time import monotonic

from postmill.domain.audit import GENESIS, chain_hash
from postmill.engine.raw import Ids
from postmill.engine.upkeep.round import Round

_MOST = 1000
_AT_LEAST_EVERY = 60.0  # seconds between two rounds, so that it is seen that they run


class Sealer(Round):
    """The lock of the round gives the chain its one order. A row that commits late is sealed late, and once."""

    name = "seal"
    every = 1.0
    _ran_at = float("-inf")

    async def guarded(self) -> float | None:
        """A step of the horizon; then a round only if something waits to be sealed."""
        await self.link.rows("audit/advance_horizon")
        if monotonic() - self._ran_at < _AT_LEAST_EVERY and not await self.link.rows("audit/unsealed", [1]):
            return None
        pause = await super().guarded()
        self._ran_at = monotonic()
        return pause

    async def once(self) -> float | None:
        unsealed = Ids(row[0] for row in await self.link.rows("audit/unsealed", [_MOST]))
        rows = dict(await self.link.rows("audit/canonical", [unsealed]))
        waiting = sorted(rows)
        if not waiting:
            return None
        ends = await self.link.rows("audit/chain_end")
        n, end = (ends[0][0], bytes(ends[0][1])) if ends else (0, GENESIS)
        hashes = []
        for id in waiting:
            end = chain_hash(end, rows[id])
            hashes.append(end)
        await self.link.rows("audit/seal", [n + 1, Ids(waiting), hashes])
        note = json.dumps({"n": n + len(waiting), "hash": end.hex()})
        await self.link.rows("upkeep/note", [self.name, note])
        return 0.0 if len(waiting) >= _MOST else None
