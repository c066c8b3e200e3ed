"""The five queue families: who answers for each, what it promises, and whom it tells when a job is given up.

How many jobs run at once in a pod, and how often an idle worker looks for work, is in `homepage.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass

from postmill import Queue


@dataclass(frozen=True, slots=True)
class Family:
    """A queue, and the priority of its jobs; a lower number goes first."""

    queue: Queue
    priority: int


HIGH = Family(
    Queue("HIGH", owner="Ops On-Call", contact="vc-ops-high", color="salmon", sla=30, escalation="on-call"),
    0,
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
    ),
    8,
)
"""AI tagging, image processing, bulk imports: best effort."""

FAMILIES = (HIGH, DEFAULT, SCREENSHOT, LOW, BULK)
