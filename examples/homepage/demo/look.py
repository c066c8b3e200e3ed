"""Where everything stands, read from the database."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg import Connection

from examples.homepage.demo.data import rows

OPEN = ("queued", "running")


@dataclass
class Tally:
    """Jobs by where they are (`queued`, `running`, `succeeded`, `failed`, `canceled`, `dead_letter`); `healed` have succeeded
    after a failure."""

    jobs: Counter[str] = field(default_factory=Counter)
    healed: int = 0

    @property
    def open(self) -> int:
        """Those that are not over."""
        return sum(self.jobs[status] for status in OPEN)

    @property
    def lost(self) -> int:
        """Those that were given up."""
        return self.jobs["failed"] + self.jobs["dead_letter"]


@dataclass(frozen=True, slots=True)
class Incident:
    """Something that people were told of."""

    kind: str
    title: str
    opened_at: datetime
    resolved_at: datetime | None
    told: list[str]


@dataclass(frozen=True, slots=True)
class Standing:
    """One moment."""

    by_type: dict[str, Tally]
    by_queue: dict[str, Tally]
    by_tenant: dict[str, Tally]
    incidents: list[Incident]

    @property
    def total(self) -> Counter[str]:
        """All jobs by where they are."""
        return _sum(self.by_type)

    def agree(self) -> bool:
        """Whether the sums by type, by queue and by tenant are one."""
        return self.total == _sum(self.by_queue) == _sum(self.by_tenant)


def _sum(tallies: dict[str, Tally]) -> Counter[str]:
    whole: Counter[str] = Counter()
    for tally in tallies.values():
        whole.update(tally.jobs)
    return whole


def standing(conn: Connection[Any], since: datetime) -> Standing:
    """Now, of what has been made since the demo began or was left over by the one before."""
    by_type: dict[str, Tally] = {}
    by_queue: dict[str, Tally] = {}
    by_tenant: dict[str, Tally] = {}
    for row in rows(conn, "counts", since=since):
        places = ((by_type, row["job_type"]), (by_queue, row["queue"]), (by_tenant, row["tenant"]))
        for tallies, name in places:
            tally = tallies.setdefault(name, Tally())
            tally.jobs[row["status"]] += row["jobs"]
            tally.healed += row["again"] if row["status"] == "succeeded" else 0
    incidents = [
        Incident(row["kind"], row["title"], row["opened_at"], row["resolved_at"], row["told"])
        for row in rows(conn, "incidents", since=since)
    ]
    return Standing(by_type, by_queue, by_tenant, incidents)
