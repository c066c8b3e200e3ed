"""The limit: the worker's own SQL in a bare loop, with nothing of the worker around it.

Claims 200 at a time from a head cursor, awaits one coroutine that does nothing per job, and reports the batch on a
second connection while the next claim is under way. `python -m postmill.bench.limit_child`.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import Any

import uvloop

from postmill.bench import wire
from postmill.bench.bare_lanes import BareLanes
from postmill.bench.jobs import DATA, QUEUE, noop_for
from postmill.engine.database import connect
from postmill.engine.raw import Ids, Instants, Longs
from postmill.engine.session import Session
from postmill.engine.work import ID, READY_AT, SLOT, TENANT
from postmill.store.catalog import sql

BATCH = 200
IDLE = 0.002
"""Seconds to rest after a claim that found nothing."""

Rows = list[tuple[Any, ...]]


class BareLoop:
    """One process of the limit."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._dsn: str = order["dsn"]
        self._schema: str = order["schema"]
        self._keep: str = order["keep"]
        self._fn: Any = noop_for(self._keep).fn
        self._session = Session(86400.0)
        self._lanes = BareLanes(BATCH)
        self.done = 0
        self.claims = 0

    async def open(self) -> None:
        """Connect, and take a lease that outlasts the case."""
        self._claims = await connect(self._dsn, "bench claim")
        self._reports = await connect(self._dsn, "bench report")
        who = [self._session.holder, self._session.lease, f"bench:{os.getpid()}", "bench", os.getpid(), ""]
        what = [[QUEUE], json.dumps({QUEUE: BATCH}), [], "{}", None]
        await self._rows(self._claims, "leases/open_session", [*who, *what])

    async def close(self) -> None:
        """Give the lease back."""
        await self._rows(self._claims, "leases/close_session", [self._session.holder, "{}"])
        await self._claims.close()
        await self._reports.close()

    async def run(self, words: wire.Words) -> None:
        """Until the parent says stop."""
        reporting: asyncio.Task[None] | None = None
        while not words.stop.is_set():
            claim_no = self._session.next_claim()
            rows = await self._claim(claim_no)
            for _ in rows:
                await self._fn(DATA)
            if reporting is not None:
                await reporting
                reporting = None
            if rows:
                reporting = asyncio.create_task(self._report(rows, claim_no))
            else:
                await asyncio.sleep(IDLE)
        if reporting is not None:
            await reporting

    async def _claim(self, claim_no: int) -> Rows:
        if self._lanes.hungry:
            self._lanes.found(await self._rows(self._claims, "claim/discover_lanes", [[QUEUE], 20_000]))
        lanes, starts, counts = self._lanes.plan()
        if not lanes:
            return []
        n = len(lanes)
        args = [self._session.holder, claim_no, BATCH, [QUEUE] * n, Ids(lanes), [100] * n]
        rows = await self._rows(self._claims, "claim/claim_jobs", [*args, Instants(starts), counts, True])
        self._lanes.taken([(row[SLOT], row[READY_AT]) for row in rows])
        self.claims += 1
        return rows

    async def _report(self, rows: Rows, claim_no: int) -> None:
        ids, numbers = Ids([row[ID] for row in rows]), Longs([claim_no] * len(rows))
        rest: list[Any]
        if self._keep == "failures":
            path, rest = "report/complete_forgotten", [noop_for(self._keep).name]
        else:
            path = "report/complete"
            rest = [Ids([row[TENANT] for row in rows]), Longs([1] * len(rows)), None, None, None]
        missed = await self._rows(self._reports, path, [self._session.holder, ids, numbers, *rest])
        assert not missed
        self.done += len(rows)

    async def _rows(self, connection: Any, path: str, args: list[Any]) -> Rows:
        cursor = connection.cursor(binary=True)
        await cursor.execute(sql(path, self._schema).encode(), args)
        found: Rows = await cursor.fetchall()
        return found


async def main(order: dict[str, Any]) -> None:
    """Get ready, go, and tell how far it is until the parent says stop."""
    loop = BareLoop(order)
    words = wire.Words()
    await loop.open()
    wire.tell(ready=True)
    await words.go.wait()
    began = time.process_time()
    running = asyncio.create_task(loop.run(words))
    await words.report(lambda: loop.done, running)
    await running
    cpu = time.process_time() - began
    await loop.close()
    wire.tell(ended=True, cpu=cpu, reports=loop.done, claims=loop.claims, batches=loop.claims)


if __name__ == "__main__":
    uvloop.run(main(wire.order()))
