"""The rank of a site: what visitors do for it counts less as time goes by.

A submission and a vote weigh 1, a click CLICK_WEIGHT. At the moment T each is worth weight × 2^((t - T) / half-life), t
being when it was: half of it a half-life later, a quarter after two. The score of a site is the sum.

    rank = log2(sum of weight × 2^((t - EPOCH) / half-life))

So score = 2^(rank - (T - EPOCH) / half-life): all scores fall alike, and none overtakes another by waiting. A rank changes
only by what happens to its own site, and this is why it is what is stored. `sql/recalculate_ranks.sql` is the same sum over
all sites; clicks are of the beginning of their hour there.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from math import fsum, log2

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
CLICK_WEIGHT = 0.1
FAINT = 60
"""What is so many half-lives older than the latest of its site is left out: together that is below a rank's precision."""


def place(moment: datetime, half_life: timedelta) -> float:
    """Half-lives since the epoch."""
    return (moment - EPOCH) / half_life


def rank(marks: Iterable[tuple[datetime, float]], half_life: timedelta) -> float:
    """The rank that moments and their weights (above 0) make; there is one at least, the submission. Raises ValueError."""
    placed = [(place(moment, half_life), weight) for moment, weight in marks]
    latest = max(where for where, _ in placed)
    near = (weight * 2.0 ** (where - latest) for where, weight in placed if where > latest - FAINT)
    return latest + log2(fsum(near))


def score(rank: float, moment: datetime, half_life: timedelta) -> float:
    """What a rank is worth at a moment: about the votes that it would take then to have it."""
    return float(2.0 ** max(rank - place(moment, half_life), -1000.0))
