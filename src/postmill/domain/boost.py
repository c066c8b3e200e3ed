"""How jobs rise that have waited for long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from postmill.domain.duration import seconds
from postmill.domain.errors import DefinitionError

AFTER = 600.0
STEP = 10
BEST = 0
LONGEST_STEP = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Boost:
    """For each `after` that a job has been ready, its priority rises by `step`, up to `to` (seed 1, 11).

    Args:
        after: seconds (or timedelta); 10 minutes by default.
        step: how much a priority number falls; a lower number is more urgent. 10 by default.
        to: the most urgent that a job can become so; 0 by default. What is more urgent by itself stays as it is.

    Raises:
        DefinitionError: one of them cannot be.
    """

    after: float | timedelta = AFTER
    step: int = STEP
    to: int = BEST

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "after", seconds(self.after, "after", zero=False))
        except (TypeError, ValueError) as fault:
            raise DefinitionError(f"Boost: {fault}") from None
        if not 1 <= self.step <= LONGEST_STEP:
            raise DefinitionError(f"Boost: step is a number from 1 to {LONGEST_STEP:,}, not {self.step!r}")

    def row(self) -> dict[str, object]:
        """In the column names of the table of queues."""
        return {"boost_after_seconds": self.after, "boost_step": self.step, "boost_to": self.to}


OFF: dict[str, object] = {"boost_after_seconds": None, "boost_step": None, "boost_to": None}
"""The row of a queue whose jobs do not rise."""


@dataclass(frozen=True, slots=True)
class Raised:
    """How a job has risen by waiting.

    Attributes:
        from_priority, priority: where it began, and where it is since `raised_at`.
        waiting_since: since when it had been ready.
    """

    from_priority: int
    priority: int
    raised_at: datetime
    waiting_since: datetime

    @property
    def waited_seconds(self) -> float:
        """How long it had waited when it rose last."""
        return (self.raised_at - self.waiting_since).total_seconds()
