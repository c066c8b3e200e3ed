"""The policy in force of a job: when it would be tried again, and what bounds it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from postmill.console.frame.words import _
from postmill.domain.policy_json import from_json
from postmill.domain.retry import DEFAULT, bounds_of
from postmill.store.definition_rows import DefinitionView
from postmill.store.finding import FoundJob

MOST = 12
"""Attempts that are told of."""


@dataclass(frozen=True, slots=True)
class Try:
    """The wait before an attempt: at least and at most so many seconds, since a random part is in it.

    Attributes:
        at: when it is due, or would be if each one before failed at once; None: it has been.
        sure: it is due then, not about then.
    """

    attempt: int
    least: float
    most: float
    at: datetime | None
    sure: bool


def curve(job: FoundJob, definition: DefinitionView | None) -> list[Try] | None:
    """The attempts behind the first; None: a function of the job type decides, which only workers can ask."""
    stored = None if definition is None else definition.retry
    if stored is not None and stored.get("kind") == "custom":
        return None
    policy = DEFAULT if stored is None else from_json(stored)
    made: list[Try] = []
    ended = job.state in ("succeeded", "failed", "canceled", "dead_letter")
    moment: datetime | None = None
    for attempt in range(2, min(job.max_attempts, MOST + 1) + 1):
        bounds = bounds_of(policy, attempt - 1, error_class=job.error_class)
        if bounds is None:
            return None
        least, most = bounds
        at, sure = None, False
        if not ended and attempt > job.attempt:
            if (
                moment is None
                and job.state == "scheduled"
                and attempt == job.attempt + 1
                and job.due_at is not None
            ):
                at, sure = job.due_at, True
            elif attempt > job.attempt + 1 or job.state == "running":
                at = (moment or job.moment) + timedelta(seconds=(least + most) / 2)
            moment = at or job.moment
        made.append(Try(attempt, least, most, at, sure))
    return made


def lane(definition: DefinitionView) -> str:
    """What jobs are held apart by, in words."""
    words = {"tenant": _("one lane a tenant"), "type": _("one lane for the job type")}
    return words.get(definition.lane, definition.lane)
