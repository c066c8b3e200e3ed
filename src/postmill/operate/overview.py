"""How a tenant's work goes, and whether what is wrong is the platform's or its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.error_groups import ErrorGroupView
from postmill.store.flow import Flow
from postmill.store.standing import (
    Attainment,
    QueueStanding,
    SharedFailure,
    read_queue_standing,
    shared_failures,
)
from postmill.store.stats import Stat
from postmill.store.type_pauses import TypePause, read_type_pauses

Whose = Literal["platform", "paused", "shared", "tenant", "mended", "suspended", "nobody"]

HOUR = 3600.0
"""Seconds of which failures are told."""

FAILING = 0.05
"""From this share of jobs that end badly on, something is wrong with the jobs."""


@dataclass(frozen=True, slots=True)
class Blame:
    """Whose it is, if anything is wrong.

    Attributes:
        whose: platform (a queue is late or has no workers), paused (a queue or job type is, by the platform), shared (its
            jobs fail, and those of other tenants fail in the same way), tenant (its jobs fail), mended (they did, and what
            failed was replayed or closed), suspended (the tenant is), nobody.
        queues: of those that the tenant uses, how each stands.
        failing: the share of jobs that ended badly lately; None: none ended.
        pauses: of job types that the tenant uses.
        failures: causes for which jobs of it were given up of late, those of most jobs first.
    """

    whose: Whose
    queues: list[QueueStanding]
    failing: float | None
    pauses: list[TypePause]
    failures: list[SharedFailure]

    @property
    def shared_types(self) -> list[str]:
        """Job types that fail for others, too."""
        return sorted({one.job_type for one in self.failures if one.shared})

    @property
    def ours(self) -> bool:
        """Whether most of its jobs that failed did so as those of others."""
        return 2 * sum(one.jobs for one in self.failures if one.shared) > self.jobs

    @property
    def jobs(self) -> int:
        """How many jobs were given up."""
        return sum(one.jobs for one in self.failures)

    @property
    def replayed(self) -> int:
        """How many of them were replayed."""
        return sum(one.replayed for one in self.failures)

    @property
    def succeeded(self) -> int:
        """How many of the replays succeeded."""
        return sum(one.succeeded for one in self.failures)

    @property
    def last_at(self) -> datetime | None:
        """When the last of them failed."""
        return max((one.last_seen_at for one in self.failures), default=None)


def blame(
    status: str, attained: Sequence[Attainment], minutes: Sequence[Stat], *, schema: str = DEFAULT_SCHEMA
) -> Flow[Blame]:
    """Whether it is the platform or the tenant: the state of the queues that it uses, with nothing of who else does.

    Args:
        status: of the tenant.
        attained: what it did lately, which says what queues it uses.
        minutes: of the last hour.
    """
    used, types = {one.queue for one in attained}, {one.job_type for one in attained}
    queues: list[QueueStanding] = (yield read_queue_standing(used, schema=schema)) if used else []
    held: list[TypePause] = yield read_type_pauses(schema=schema)
    pauses = [one for one in held if one.job_type in types]
    states = {one.state for one in queues}
    ended = sum(one.ended for one in minutes)
    failing = sum(one.n("failed", "dead_letter") for one in minutes) / ended if ended else None
    failures: list[SharedFailure] = []
    if failing is not None and failing >= FAILING:
        found: list[SharedFailure] = yield shared_failures(HOUR, schema=schema)
        failures = [one for one in found if one.jobs]
    made = Blame("nobody", queues, failing, pauses, failures)
    bad = failing is not None and failing >= FAILING
    whose: Whose = "nobody"
    if status == "suspended":
        whose = "suspended"
    elif states & {"late", "no_workers"}:
        whose = "platform"
    elif "paused" in states or pauses:
        whose = "paused"
    elif bad and failures and not any(one.going_on for one in failures):
        whose = "mended"
    elif bad:
        whose = "shared" if made.ours else "tenant"
    return replace(made, whose=whose)


def worst(groups: Sequence[ErrorGroupView], most: int = 5) -> list[ErrorGroupView]:
    """The causes that failed most, of those seen lately."""
    return sorted(groups, key=lambda one: -one.count)[:most]
