"""Rounds of sealing, called by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from postmill.engine.link import Link
from postmill.engine.outage import Outage
from postmill.engine.upkeep.sealer import Sealer
from postmill.telemetry.bus import Bus


@asynccontextmanager
async def sealer(dsn: str, name: str = "test") -> AsyncIterator[Sealer]:
    """A round of its own connection, as a worker has it."""
    bus = Bus()
    link = Link(dsn, "postmill", "seal", Outage(bus, name))
    try:
        yield Sealer(link, bus, name)
    finally:
        await link.close()
