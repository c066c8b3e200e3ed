"""The application before it begins to work: what the world offers to it, and whom it tells."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from examples.homepage.queues import BULK
from examples.homepage.tests.site import Site
from examples.homepage.tests.weather.places import NEW_YORK, place
from examples.homepage.tests.week.simulation import Simulation, simulated
from examples.homepage.tests.week.turned_clock import TurnedClock
from examples.upstreams.alerts.mailbox import Mailbox
from postmill import job
from postmill.domain.settings import Settings

FEEDS = ("/changing/growing", "/corpus/atom-1.0.xml")


@job("BULK_IMPORT", queue=BULK.queue, priority=BULK.priority, max_attempts=1)
def bulk_import(file: str) -> None:
    """One that is given up, with another fault for each file."""
    raise ValueError(f"{file} is no list of feeds")


@dataclass(frozen=True)
class Scene:
    """`told`: where stand-ins and folders are, by variable; `post`: what operators are sent."""

    site: Site
    clock: TurnedClock
    told: Mapping[str, str]
    settings: Settings
    post: Mailbox

    def digest_at(self, time: str) -> Scene:
        """With another time of the day for the digest."""
        escalation = self.settings.escalation.model_copy(update={"digest": time})
        return replace(self, settings=self.settings.model_copy(update={"escalation": escalation}))

    @asynccontextmanager
    async def begun(self, begin: datetime) -> AsyncIterator[Simulation]:
        """The application at work, at that moment, with feeds, stocks and a place that has weather."""
        self.clock.turn(begin - timedelta(seconds=1))
        for path in FEEDS:
            await self.site.source(path)
        await self.site.rows("insert into stocks (symbol) values ('AAPL'), ('IBM'), ('MSFT')")
        await place(self.site, *NEW_YORK)
        async with simulated(self.site.dsn, self.clock, self.settings, bulk_import) as simulation:
            await simulation.to(begin)
            yield simulation

    async def fail(self, simulation: Simulation) -> None:
        """An import is given up, of which the next digest tells."""
        await self.site.rows(
            "select postmill.enqueue('BULK_IMPORT', jsonb_build_object('file', %s::text))",
            f"feeds of {self.clock.now():%A}",
        )
        await simulation.settle(slow=True)
