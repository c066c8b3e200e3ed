"""How a job type is declared here: strict envelope, a category's retries and keys, and what an operator does with dead ones.

Further options are those of `@job`, which refuses unknown ones by name.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal

from postmill import Idempotency, Mode, Queue, job
from postmill.domain.job_type import Decorator

Category = Literal["notifications", "audit", "planning", "exports", "imports", "maintenance"]
PLAN = ("replay", "discard", "fix-forward")
"""What can be done with a dead letter: run it again, close it, or run it with another payload."""

FOLLOW_UP_TTL = timedelta(days=7)


def planned(name: str, queue: Queue, category: Category, **options: Any) -> Decorator:
    """A job type of one of the five categories; imports are exports' other direction."""
    return job(name, queue=queue, category=category, strict_envelope=True, **options)


def follow_up(name: str, queue: Queue, **options: Any) -> Decorator:
    """What follows a user's write. Of no category: default retries, keys kept for 7 days."""
    kept = Idempotency(Mode.TTL, FOLLOW_UP_TTL)
    return job(name, queue=queue, idempotency=kept, strict_envelope=True, **options)
