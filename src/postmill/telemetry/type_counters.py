"""The hot counters of one job type: plain numbers, written by the engine's loop, read at the scrape."""

from __future__ import annotations

from bisect import bisect_left

from postmill.telemetry.histogram import ATTEMPT_BOUNDS, DURATION_BOUNDS, LATENCY_BOUNDS, Histogram

MAX_VALUES = 50
"""Distinct error classes and bury reasons kept apart per job type; all further ones count as `other`."""

OTHER = "other"


class TypeCounters:
    """What happened to the jobs of one (job type, queue) in this process.

    `claimed` and `started` are raised by the engine directly (`+= n`). One of `done`,
    `failed_attempt`, `snooze`, `interrupt` or `cancel` is called when an attempt has ended; `ended_failed` or
    `bury` in addition when the job was given up. All lengths are in seconds.
    """

    __slots__ = (
        "attempts",
        "canceled",
        "claimed",
        "dead",
        "ended",
        "failed",
        "failure",
        "interrupted",
        "job_type",
        "latency",
        "queue",
        "retried",
        "snoozed",
        "started",
        "success",
        "throttled",
    )  # fmt: skip

    def __init__(self, job_type: str, queue: str) -> None:
        self.job_type = job_type
        self.queue = queue
        self.claimed = 0
        self.started = 0
        self.snoozed = 0
        self.retried = 0
        self.canceled = 0
        self.interrupted = 0
        self.ended = 0
        """Jobs that ended as `failed`, since their definition asks for no dead letter."""
        self.dead: dict[str, int] = {}
        """Dead letters by reason."""
        self.failed: dict[str, int] = {}
        """Failed attempts by error class."""
        self.throttled = {"defer": 0, "stop": 0}
        """Runs that a budget ended, by what came of them."""
        self.success = Histogram(DURATION_BOUNDS)
        self.failure = Histogram(DURATION_BOUNDS)
        self.latency = Histogram(LATENCY_BOUNDS)
        self.attempts = Histogram(ATTEMPT_BOUNDS)

    @property
    def succeeded(self) -> int:
        """Jobs that succeeded."""
        return self.success.total

    def done(self, seconds: float, attempt: int, latency: float) -> None:
        """A job succeeded in its `attempt`-th attempt, `seconds` after its handler started, which was
        `latency` after it was ready.

        Written out, for this is the one call per job on the hot path.
        """
        histogram = self.success
        histogram.counts[bisect_left(DURATION_BOUNDS, seconds)] += 1
        histogram.sum += seconds
        histogram = self.latency
        histogram.counts[bisect_left(LATENCY_BOUNDS, latency)] += 1
        if latency > 0:
            histogram.sum += latency
        histogram = self.attempts
        histogram.counts[bisect_left(ATTEMPT_BOUNDS, attempt)] += 1
        histogram.sum += attempt

    def failed_attempt(self, error_class: str, seconds: float, latency: float, *, retried: bool) -> None:
        """An attempt failed; `retried` tells whether the job runs again."""
        _count(self.failed, error_class or "Exception")
        self.failure.observe(seconds)
        self.latency.observe(latency)
        if retried:
            self.retried += 1

    def bury(self, reason: str, attempt: int) -> None:
        """A job was given up and is a dead letter now, after `attempt` attempts."""
        _count(self.dead, reason)
        self.attempts.observe(attempt)

    def ended_failed(self, attempt: int) -> None:
        """A job was given up and ended as `failed`, after `attempt` attempts."""
        self.ended += 1
        self.attempts.observe(attempt)

    def cancel(self) -> None:
        """A job was canceled."""
        self.canceled += 1

    def snooze(self) -> None:
        """A handler put its job off."""
        self.snoozed += 1

    def interrupt(self) -> None:
        """A draining worker gave a running job back."""
        self.interrupted += 1


def _count(counts: dict[str, int], key: str) -> None:
    if key not in counts and len(counts) >= MAX_VALUES:
        key = OTHER
    counts[key] = counts.get(key, 0) + 1
