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
    following = job.attempt if job.state == "running" else job.attempt + 1
    moment = job.due_at if job.state == "scheduled" and job.due_at is not None else job.moment
    for attempt in range(2, min(job.max_attempts, MOST + 1) + 1):
        bounds = bounds_of(policy, attempt - 1, error_class=job.error_class)
        if bounds is None:
            return None
        least, most = bounds
        at = None
        if not ended and attempt > following:
            moment = at = moment + timedelta(seconds=(least + most) / 2)
        elif attempt == following and job.state == "scheduled":
            at = moment
        made.append(Try(attempt, least, most, at, attempt == following))
    return made


def lane(definition: DefinitionView) -> str:
    """What jobs are held apart by, in words."""
    words = {"tenant": _("one lane a tenant"), "type": _("one lane for the job type")}
    return words.get(definition.lane, definition.lane)
