"""Rounds of pruner and archivist as a worker runs them, on a connection whose clock is ahead; and what history there is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from postmill.archive.place import Place
from postmill.archive.reading import rows_of
from postmill.archive.storage import ArchiveStorage
from postmill.domain.archive import MANIFEST
from postmill.domain.settings_archive import ArchiveSettings
from postmill.engine.link import Link
from postmill.engine.outage import Outage
from postmill.engine.upkeep.archivist import Archivist
from postmill.engine.upkeep.pruner import Pruner
from postmill.engine.upkeep.retention import RetentionConfig
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.event import Event
from postmill.telemetry.events import ArchiveSpent, HistoryArchived, PartitionsPruned, UpkeepFailed
from tests.support.databases import Database


def settings(url: str, **more: object) -> ArchiveSettings:
    return ArchiveSettings.model_validate({"url": url, **more})


class Keeper:
    """A worker's two rounds, as often as there is something to do, and what they told."""

    def __init__(self, prune: Link, archive: Link, to: ArchiveSettings, config: RetentionConfig) -> None:
        self.told: list[Event] = []
        bus = Bus()
        bus.subscribe(self.told.append, PartitionsPruned, HistoryArchived, ArchiveSpent, UpkeepFailed)
        self.links = prune, archive
        self.pruner = Pruner(prune, bus, "test", config)
        self.storage = ArchiveStorage(to)
        self.archivist = Archivist(archive, bus, "test", self.storage, Counters())

    async def at(self, offset: str) -> None:
        """From now on it is so much later."""
        for link in self.links:
            conn = await link.connection()
            await conn.execute("select set_config('postmill.clock_offset', $1, false)", [offset])

    async def prune(self) -> None:
        """Rounds of the pruner until it has nothing more to do."""
        while await self.pruner.guarded() is not None:
            pass

    async def archive(self) -> list[Event]:
        """One round of the archivist; what it told."""
        self.told.clear()
        await self.archivist.guarded()
        return list(self.told)

    async def run(self, offset: str) -> list[Event]:
        """All that is due by then; units that are filled for a day are not waited for."""
        await self.at(offset)
        await self.archivist.link.rows("archive/here")
        await self.prune()
        conn = await self.archivist.link.connection()
        await conn.execute("select postmill.sweep_tags(1000)")
        await conn.execute(
            "update postmill.archive_unit set status = 'waiting' where status = 'filling' and rows > 0"
        )
        return await self.archive()

    @property
    def place(self) -> Place:
        return self.storage.opened()

    def rows(self, source: str) -> list[dict[str, Any]]:
        """Every row of a table that is in the archive."""
        return [json.loads(line) for line in self.lines(source)]

    def lines(self, source: str) -> list[bytes]:
        """The same as lines, sorted."""
        found = []
        for folder in self.place.folders(source):
            if MANIFEST not in self.place.files(folder):
                continue  # not whole yet, so it is no unit
            found += [row.line for row in rows_of(self.place, self.place.manifest(folder))]
        return sorted(found)


@asynccontextmanager
async def keeping(
    database: Database, to: ArchiveSettings, config: RetentionConfig | None = None
) -> AsyncIterator[Keeper]:
    outage = Outage(Bus(), "test")
    links = (
        Link(database.dsn, "postmill", "prune", outage),
        Link(database.dsn, "postmill", "archive", outage, raw=False),
    )
    try:
        # Wide partitions: a jump of a year makes and drops few.
        yield Keeper(*links, to, config or RetentionConfig(width=40 * 86400))
    finally:
        for link in links:
            await link.close()
