"""The five queue families: who answers for each, what it promises, and whom it tells when a job is given up.

How many jobs run at once in a pod, and how often an idle worker looks for work, is in `homepage.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass

from postmill import Boost, Queue

HIGHEST, LOWEST = 0, 10
"""Priorities of jobs; a lower number goes first."""


@dataclass(frozen=True, slots=True)
class Family:
    """A queue. Its jobs have the priority that it has among queues; a lower number goes first."""

    queue: Queue

    @property
    def priority(self) -> int:
        """Of the queue, and of its jobs."""
        assert self.queue.priority is not None
        return self.queue.priority


RISING = Boost(after=10 * 60, step=1, to=HIGHEST)
"""Section 11: who has sat in a queue for ten minutes is put before those that have not, one step for each ten more."""

HIGH = Family(
    Queue(
        "HIGH",
        priority=HIGHEST,
        owner="Ops On-Call",
        contact="vc-ops-high",
        color="salmon",
        sla=30,
        escalation="on-call",
    )
)
"""Stock refresh in market hours, message relay, urgent notifications."""

DEFAULT = Family(
    Queue(
        "DEFAULT",
        priority=5,
        owner="Platform Services Guild",
        contact="#platform-feeds",
        color="blue",
        sla=5 * 60,
        escalation="ops-alerts",
        boost=RISING,
    )
)
"""Feed refresh, weather refresh, listing expiration, rank recalculation, inbound e-mail."""

SCREENSHOT = Family(
    Queue(
        "SCREENSHOT",
        priority=6,
        owner="Good Sites Platform",
        contact="#good-sites",
        color="lavender",
        sla=2 * 60,
        escalation="ops-alerts",
        boost=RISING,
    )
)
"""Screenshots of Good Sites."""

LOW = Family(
    Queue(
        "LOW",
        priority=7,
        owner="Data Insights Pod",
        contact="#analytics",
        color="green",
        sla=30 * 60,
        escalation="daily-digest",
        boost=RISING,
    )
)
"""Social refresh, link health checks, sitemap generation, click rollup."""

BULK = Family(
    Queue(
        "BULK",
        priority=8,
        owner="Content Intelligence Squad",
        contact="#ai-pipelines",
        color="yellow",
        escalation="daily-digest",
        boost=RISING,
    )
)
"""AI tagging, image processing, bulk imports: best effort."""

FAMILIES = (HIGH, DEFAULT, SCREENSHOT, LOW, BULK)
