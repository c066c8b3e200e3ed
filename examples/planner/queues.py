"""The queues: stable names, who answers for each, and its SLO, 95 % finished within so many seconds once due."""

from __future__ import annotations

from postmill import Limit, Queue

CRITICAL = Queue("q:critical", owner="planning core", color="salmon", sla=10, limits=[Limit(max_running=4)])
"""What unblocks a core flow. Kept small: never more than four at once over the whole fleet, whatever the slots."""

DEFAULT = Queue("q:default", owner="planning core", color="blue", sla=60)
"""Follow-ups of what a user has written, and audit enrichment."""

NOTIFICATIONS = Queue("q:notifications", owner="crew relations", color="green", sla=2 * 60)
PLANNING = Queue("q:planning", owner="planning core", color="lavender", sla=5 * 60)
EXPORTS = Queue("q:exports", owner="back office", color="yellow", sla=15 * 60)
"""Imports, too."""

MAINTENANCE = Queue("q:maintenance", owner="platform", color="grey", sla=6 * 3600)
"""What is scheduled."""

DEADLETTER = "q:deadletter"
"""What the contract, metrics and alerts call the planner's dead letters: no queue that anything is claimed from."""

QUEUES = (CRITICAL, DEFAULT, NOTIFICATIONS, PLANNING, EXPORTS, MAINTENANCE)
NAMES = (*(queue.name for queue in QUEUES), DEADLETTER)
