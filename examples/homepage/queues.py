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
    """A queue, and the priority of its jobs; a lower number goes first."""

    queue: Queue
    priority: int


RISING = Boost(after=10 * 60, step=1, to=HIGHEST)
"""Section 11: who has sat in a queue for ten minutes is put before those that have not, one step for each ten more."""

HIGH = Family(
    Queue("HIGH", owner="Ops On-Call", contact="vc-ops-high", color="salmon", sla=30, escalation="on-call"),
    HIGHEST,
)
"""Stock refresh in market hours, message relay, urgent notifications."""

DEFAULT = Family(
    Queue(
        "DEFAULT",
        owner="Platform Services Guild",
        contact="#platform-feeds",
        color="blue",
        sla=5 * 60,
        escalation="ops-alerts",
        boost=RISING,
    ),
    5,
)
"""Feed refresh, weather refresh, listing expiration, rank recalculation, inbound e-mail."""

SCREENSHOT = Family(
    Queue(
        "SCREENSHOT",
        owner="Good Sites Platform",
        contact="#good-sites",
        color="lavender",
        sla=2 * 60,
        escalation="ops-alerts",
        boost=RISING,
    ),
    6,
)
"""Screenshots of Good Sites."""

LOW = Family(
    Queue(
        "LOW",
        owner="Data Insights Pod",
        contact="#analytics",
        color="green",
        sla=30 * 60,
        escalation="daily-digest",
        boost=RISING,
    ),
    7,
)
"""Social refresh, link health checks, sitemap generation, click rollup."""

BULK = Family(
    Queue(
        "BULK",
        owner="Content Intelligence Squad",
        contact="#ai-pipelines",
        color="yellow",
        escalation="daily-digest",
        boost=RISING,
    ),
    8,
)
"""AI tagging, image processing, bulk imports: best effort."""

FAMILIES = (HIGH, DEFAULT, SCREENSHOT, LOW, BULK)
