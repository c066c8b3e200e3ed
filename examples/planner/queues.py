"""The queues: stable names, who answers for each, and its SLO, 95 % finished within so many seconds once due."""

from __future__ import annotations

from postmill import Limit, Queue

DEADLETTER = "q:deadletter"
"""What contract, metrics, console and API call the planner's dead letters: no queue that anything is claimed from."""

CRITICAL = Queue(
    "q:critical",
    dead_letters_as=DEADLETTER,
    owner="planning core",
    color="salmon",
    sla=10,
    limits=[Limit(max_running=4)],
)
"""What unblocks a core flow. Kept small: never more than four at once over the whole fleet, whatever the slots."""

DEFAULT = Queue("q:default", dead_letters_as=DEADLETTER, owner="planning core", color="blue", sla=60)
"""Follow-ups of what a user has written, and audit enrichment."""

NOTIFICATIONS = Queue(
    "q:notifications", dead_letters_as=DEADLETTER, owner="crew relations", color="green", sla=2 * 60
)
PLANNING = Queue(
    "q:planning", dead_letters_as=DEADLETTER, owner="planning core", color="lavender", sla=5 * 60
)
EXPORTS = Queue("q:exports", dead_letters_as=DEADLETTER, owner="back office", color="yellow", sla=15 * 60)
"""Imports, too."""

MAINTENANCE = Queue("q:maintenance", dead_letters_as=DEADLETTER, owner="platform", color="grey", sla=6 * 3600)
"""What is scheduled."""

QUEUES = (CRITICAL, DEFAULT, NOTIFICATIONS, PLANNING, EXPORTS, MAINTENANCE)
NAMES = (*(queue.name for queue in QUEUES), DEADLETTER)
