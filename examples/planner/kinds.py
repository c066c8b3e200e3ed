"""What is said of several job types: how long keys of follow-ups are kept, and what an operator does with dead letters."""

from __future__ import annotations

from datetime import timedelta

from postmill import Idempotency, Mode

PLAN = ("replay", "discard", "fix-forward")
"""What can be done with a dead letter: run it again, close it, or run it with another payload."""

FOLLOW_UP = Idempotency(Mode.TTL, timedelta(days=7))
"""Of what follows a user's write, which is of none of the five categories: keys are kept for 7 days."""
