"""How a tenant's work goes, and whether what is wrong is the platform's or its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.error_groups import ErrorGroupView
from postmill.store.flow import Flow
from postmill.store.standing import Attainment, QueueStanding, read_queue_standing
from postmill.store.stats import Stat

Whose = Literal["platform", "paused", "tenant", "suspended", "nobody"]

FAILING = 0.05
"""From this share of jobs that end badly on, something is wrong with the jobs."""


@dataclass(frozen=True, slots=True)
class Blame:
    """Whose it is, if anything is wrong.

    Attributes:
        whose: platform (a queue is late or has no workers), paused (a queue is, by the platform), tenant (its jobs fail),
            suspended (the tenant is), nobody.
        queues: of those that the tenant uses, how each stands.
        failing: the share of jobs that ended badly lately; None: none ended.
    """

    whose: Whose
    queues: list[QueueStanding]
    failing: float | None


def blame(
    status: str, attained: Sequence[Attainment], minutes: Sequence[Stat], *, schema: str = DEFAULT_SCHEMA
) -> Flow[Blame]:
    """Whether it is the platform or the tenant: the state of the queues that it uses, with nothing of who else does.

    Args:
        status: of the tenant.
        attained: what it did lately, which says what queues it uses.
        minutes: of the last hour.
    """
    used = {one.queue for one in attained}
    queues: list[QueueStanding] = (yield read_queue_standing(used, schema=schema)) if used else []
    states = {one.state for one in queues}
    ended = sum(one.ended for one in minutes)
    failing = sum(one.n("failed", "dead_letter") for one in minutes) / ended if ended else None
    whose: Whose = "nobody"
    if status == "suspended":
        whose = "suspended"
    elif states & {"late", "no_workers"}:
        whose = "platform"
    elif "paused" in states:
        whose = "paused"
    elif failing is not None and failing >= FAILING:
        whose = "tenant"
    return Blame(whose, queues, failing)


def worst(groups: Sequence[ErrorGroupView], most: int = 5) -> list[ErrorGroupView]:
    """The causes that failed most, of those seen lately."""
    return sorted(groups, key=lambda one: -one.count)[:most]
