"""All counters of one process: plain numbers on the hot path, turned into metrics at the scrape."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from postmill.telemetry.gauges import Gauges
from postmill.telemetry.type_counters import OTHER, TypeCounters

__all__ = ["Counters", "TypeCounters"]

MAX_TYPES = 1_000
"""(job type, queue) pairs counted apart; all further ones count as (`other`, `other`)."""

MAX_CHANNELS = 50


class Counters:
    """The counters of this process, by (job type, queue) and for the worker as a whole.

    The engine raises the plain fields directly (`counters.polls += 1`), each from one thread.
    """

    __slots__ = (
        "_spending",
        "_types",
        "archived",
        "claims",
        "deliveries",
        "empty_claims",
        "gauges",
        "lease_renewals",
        "leases_lost",
        "missed_reports",
        "notifications",
        "poll_scanned",
        "polls",
        "reconnects",
        "report_batches",
        "reports",
        "spent",
        "tick_late",
        "ticks",
        "wakeups",
        "worker_id",
    )  # fmt: skip

    def __init__(self, worker_id: str = "", *, clock: Callable[[], float] = time.monotonic) -> None:
        self.worker_id = worker_id
        self._spending = threading.Lock()  # handlers in threads spend, too
        self._types: dict[tuple[str, str], TypeCounters] = {}
        self.gauges = Gauges(clock)
        self.notifications: dict[str, int] = {}
        """Notifications received, by channel; see `notified`."""
        self.spent: dict[tuple[str, str], float] = {}
        """What was booked in budgets by this process's jobs, by job type and unit; see `spend`."""
        self.polls = 0
        """Rounds in which the worker looked for work unasked."""
        self.poll_scanned = 0
        """Jobs found by those rounds."""
        self.claims = 0
        """Claim statements run."""
        self.empty_claims = 0
        """Claim statements that found nothing."""
        self.reports = 0
        """Ended attempts written."""
        self.report_batches = 0
        """Statements that wrote them."""
        self.missed_reports = 0
        """Reports that changed nothing, since the job was no longer ours."""
        self.wakeups = 0
        """Times that a sleeping worker was woken."""
        self.lease_renewals = 0
        self.leases_lost = 0
        self.ticks: dict[str, int] = {}
        """Ticks of schedules by outcome; a stretch that is left out counts once."""
        self.tick_late = 0.0
        """Longest time from a due moment to its job, in the last round that had one; seconds."""
        self.deliveries: dict[str, int] = {}
        """Deliveries of events that rounds settled, by outcome."""
        self.archived: dict[str, int] = {}
        """Rows that went to the cold archive, by table."""
        self.reconnects = 0
        """Connections to the database made anew after a loss."""

    def of(self, job_type: str, queue: str) -> TypeCounters:
        """The counters of a job type in a queue, made at the first call; keep the answer on the hot path."""
        found = self._types.get((job_type, queue))
        if found is None:
            if len(self._types) >= MAX_TYPES:
                job_type = queue = OTHER
            found = self._types.setdefault((job_type, queue), TypeCounters(job_type, queue))
        return found

    def types(self) -> list[TypeCounters]:
        """A snapshot of all type counters; safe from any thread."""
        return list(self._types.values())

    def spend(self, job_type: str, unit: str, amount: float) -> None:
        """Count what was newly booked; a counter never falls, so what turned out to be less is not taken back."""
        if amount > 0:
            with self._spending:
                self._spend(job_type, unit, amount)

    def _spend(self, job_type: str, unit: str, amount: float) -> None:
        if (job_type, unit) not in self.spent and len(self.spent) >= MAX_TYPES:
            job_type = OTHER
        self.spent[job_type, unit] = self.spent.get((job_type, unit), 0.0) + amount

    def notified(self, channel: str) -> None:
        """Count a notification."""
        if channel not in self.notifications and len(self.notifications) >= MAX_CHANNELS:
            channel = OTHER
        self.notifications[channel] = self.notifications.get(channel, 0) + 1
