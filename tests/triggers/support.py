"""Schedules and schedulers for tests: rows written by SQL, and rounds that a test runs at a time of its choice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from postmill.engine.link import Link
from postmill.engine.outage import Outage
from postmill.engine.upkeep.deliverer import Deliverer
from postmill.engine.upkeep.scheduler import Scheduler
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.event import Event
from postmill.telemetry.events import UPKEEP_EVENTS

REGISTER = """select * from postmill.register_job_types('[{"key": "noop"}, {"key": "other"}]')"""


def one(conn: Connection[Any], text: str, *args: Any) -> Any:
    """The first row of a query; of a row with one column its value."""
    row = conn.execute(text.encode(), args).fetchone()
    return row[0] if row is not None and len(row) == 1 else row


def many(conn: Connection[Any], text: str, *args: Any) -> list[Any]:
    """The rows of a query; of rows with one column their values."""
    rows = conn.execute(text.encode(), args).fetchall()
    return [row[0] if len(row) == 1 else row for row in rows]


def trigger(
    conn: Connection[Any], label: str, *, job: str = "noop", payload: Any = None, **columns: Any
) -> UUID:
    """A trigger by plain SQL, as any tool would write it; a schedule by default."""
    if "event_name" not in columns:
        columns = {"timezone": "UTC"} | columns
        if "every" not in columns:
            columns.setdefault("cron_expr", "* * * * *")
    facts: dict[str, Any] = {
        "label": label,
        "trigger_type": "event" if "event_name" in columns else "schedule",
    } | columns
    facts["payload_template"] = Jsonb(payload or {})
    names = ", ".join(facts)
    marks = ", ".join(["%s"] * len(facts))
    id: UUID = one(
        conn,
        f"insert into postmill.trigger ({names}, definition_id)"
        f" select {marks}, d.id from postmill.job_definition d where d.key = %s returning id",
        *facts.values(),
        job,
    )
    return id


def due_at(conn: Connection[Any], id: UUID, ago: str) -> None:
    """The schedule was due so long ago, and nobody was there."""
    conn.execute(
        "update postmill.trigger set next_run_at = date_trunc('minute', postmill.now()) - %s::interval where id = %s",
        (ago, id),
    )


class Upkeep:
    """A scheduler and a deliverer on connections of their own, without a worker; `told` is what they emitted."""

    def __init__(self, dsn: str, offset: str = "") -> None:
        if offset:
            dsn = make_conninfo(dsn, options=f"-c postmill.clock_offset={offset.replace(' ', chr(92) + ' ')}")
        bus, self.told = Bus(), list[Event]()
        bus.subscribe(self.told.append, *UPKEEP_EVENTS)
        outage, self.counters = Outage(bus, "test"), Counters("test")
        self.links = [Link(dsn, "postmill", name, outage, raw=False) for name in ("schedule", "deliver")]
        self.scheduler = Scheduler(self.links[0], bus, "test", self.counters)
        self.deliverer = Deliverer(self.links[1], bus, "test", self.counters)

    async def schedule(self) -> None:
        """Rounds until nothing is due."""
        async with asyncio.timeout(60):
            while (pause := await self.scheduler.guarded()) is not None and pause <= 0.1:
                await asyncio.sleep(0)

    async def deliver(self) -> None:
        """One round."""
        await self.deliverer.guarded()

    async def close(self) -> None:
        for link in self.links:
            await link.close()


@asynccontextmanager
async def upkeep(dsn: str, offset: str = "") -> AsyncIterator[Upkeep]:
    """Rounds at a shifted time of the database's clock, such as `3 days`."""
    made = Upkeep(dsn, offset)
    try:
        yield made
    finally:
        await made.close()
