"""What happens while the demo runs: schedules that need not wait for their hour, people's requests, and an accident."""

from __future__ import annotations

from itertools import cycle

from examples.homepage.demo.accident import Accident
from examples.homepage.demo.look import Standing
from examples.homepage.demo.people import People
from examples.homepage.demo.stage import Stage
from examples.homepage.job_types import JobType

BETWEEN_RUNS = 1.0
BETWEEN_REQUESTS = 4.0
"""Seconds: between two schedules that are run by hand, and between two requests of a portal."""
ORDER = (
    JobType.RSS_FEED_REFRESH,
    JobType.WEATHER_REFRESH,
    JobType.STOCK_REFRESH,
    JobType.SOCIAL_REFRESH,
    JobType.LISTING_EXPIRATION,
    JobType.CLICK_ROLLUP,
    JobType.RANK_RECALCULATION,
    JobType.LINK_HEALTH_CHECK,
    JobType.INBOUND_EMAIL,
    JobType.AI_TAGGING,
    JobType.SITEMAP_GENERATION,
)
"""What the work of others needs comes before it: clicks are counted, then sites are ranked."""


class Life:
    """One step after another, by the seconds that have gone by; `notes` tell what was done."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.notes: list[str] = []
        labels = tuple(f"{portal.slug}: " for portal in stage.portals)
        triggers = [
            item
            for item in stage.root.every("/jobs/triggers", trigger_type="schedule")
            if not item["label"].startswith(labels) and item["definition_key"] not in stage.missing
        ]
        triggers.sort(key=lambda item: ORDER.index(JobType(item["definition_key"])))
        self._runs = cycle([item["id"] for item in triggers])
        self._run_at, self._request_at = 0.0, 0.5
        self._people = [People(stage.conn, portal, stage.told) for portal in stage.portals]
        self._accident = Accident(stage, self.notes)

    def step(self, seconds: float, now: Standing) -> None:
        """What is due."""
        if seconds >= self._run_at:
            self._run_at = seconds + BETWEEN_RUNS
            self._stage.root.post(f"/jobs/triggers/{next(self._runs)}/run")
        if seconds >= self._request_at:
            self._request_at = seconds + BETWEEN_REQUESTS
            for people in self._people:
                people.ask(self._stage.missing)
        self._accident.step(seconds, now)
