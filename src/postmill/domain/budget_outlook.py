"""How a budget will stand if it is spent from as until now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from postmill.domain.budget import Standing


@dataclass(frozen=True, slots=True)
class Outlook:
    """Where a period ends up at the rate of its beginning.

    Attributes:
        projected: what will be spent at its end, in the budget's unit; None: nothing is known yet.
        exhausted_at: when the limit is reached; None: not within the period. In the past: it is reached.
    """

    projected: Decimal | None
    exhausted_at: datetime | None


def outlook(standing: Standing, now: datetime) -> Outlook:
    """Straight on from what was spent since the period began. Less than a hundredth of a period says nothing yet."""
    whole = (standing.ends_at - standing.starts_at).total_seconds()
    passed = min((now - standing.starts_at).total_seconds(), whole)
    if standing.spent >= standing.limit:
        return Outlook(standing.spent if passed < whole / 100 else _projected(standing, passed, whole), now)
    if passed < whole / 100 or not standing.spent:
        return Outlook(None, None)
    projected = _projected(standing, passed, whole)
    if projected < standing.limit:
        return Outlook(projected, None)
    seconds = passed * float(standing.limit / standing.spent)
    return Outlook(projected, standing.starts_at + timedelta(seconds=seconds))


def _projected(standing: Standing, passed: float, whole: float) -> Decimal:
    return standing.spent * Decimal(whole) / Decimal(passed)
