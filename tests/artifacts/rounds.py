"""Rounds of the clearer, and what it tells."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from postmill.artifacts.storage import Storage
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.engine.link import Link
from postmill.engine.outage import Outage
from postmill.engine.upkeep.clearer import Clearer
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import ArtifactsCleared, UpkeepFailed
from tests.artifacts.support import Conn
from tests.support.databases import Database


class Told(list[Any]):
    """What was told, and rounds that tell it."""

    def __init__(self, clearer: Clearer, conn: Conn) -> None:
        self.clearer = clearer
        self.conn = conn

    async def round(self) -> list[Any]:
        """One round, whenever the last one was."""
        await self.conn.execute("update postmill.upkeep set last_run_at = null where name = 'artifacts'")
        self.clear()
        await self.clearer.guarded()
        return list(self)


@asynccontextmanager
async def rounds(database: Database, conn: Conn, settings: ArtifactSettings) -> AsyncIterator[Told]:
    bus = Bus()
    link = Link(database.dsn, "postmill", "artifacts", Outage(bus, "test"), raw=False)
    told = Told(Clearer(link, bus, "test", Storage(settings)), conn)
    bus.subscribe(told.append, ArtifactsCleared, UpkeepFailed)
    try:
        yield told
    finally:
        await link.close()
