"""What is measured now and then: depths by the monitor's round, slots and limits when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MAX_TENANTS = 100
"""Tenants shown apart by depth, the deepest first; the rest is summed as `other`."""

OTHER = "other"

STALE_AFTER = 180.0
"""Seconds after which a measurement is no longer shown: by then another worker measures."""


@dataclass(frozen=True, slots=True)
class Depth:
    """`count` jobs of a tenant in a queue are in this status."""

    queue: str
    tenant: str
    status: str
    count: int


@dataclass(frozen=True, slots=True)
class Rate:
    """So many jobs of a type may start a second; `wait`: for so many seconds none may any more."""

    job_type: str
    per_second: float
    wait: float


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """How far a budget is used up in its present period; `level` from 1 (NORMAL) to 4 (HARD_STOP)."""

    budget: str
    tenant: str
    unit: str
    level: int
    limit: float
    spent: float
    reserved: float

    @property
    def ratio(self) -> float:
        """What is spent or reserved, as a share of the limit; 1 of a limit of 0."""
        return (self.spent + self.reserved) / self.limit if self.limit else 1.0


@dataclass(frozen=True, slots=True)
class Archive:
    """Units that wait for the cold archive, seconds since the oldest does, and how many could not be written."""

    waiting: int
    oldest: float
    failing: int


@dataclass(frozen=True, slots=True)
class Usage:
    """How many of `size` slots (of a queue) or permits (of a job type's worker limit) this process uses."""

    size: int
    used: int

    @property
    def available(self) -> int:
        """How many are free."""
        return max(self.size - self.used, 0)


class Gauges:
    """The last measurements of this process.

    `slots` (by queue), `limits` (by job type), `ranges` (floor and ceiling of slots, by queue) and `pressure` (of cpu and
    memory) are asked at the scrape, so that the engine keeps no gauge on the hot path: set them to functions that read
    its own numbers (from another thread).
    """

    __slots__ = (
        "_archive",
        "_budgets",
        "_clock",
        "_depths",
        "_incidents",
        "_measured_at",
        "_oldest",
        "_rates",
        "_types",
        "_workers",
        "dead_letters_as",
        "enqueued",
        "limits",
        "pressure",
        "ranges",
        "slots",
    )

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._measured_at: float | None = None
        self._depths: list[Depth] = []
        self._oldest: dict[str, float] = {}
        self._types: dict[str, int] = {}
        self._archive: Archive | None = None
        self._workers: dict[str, int] = {}
        self._rates: list[Rate] = []
        self._budgets: list[BudgetUse] = []
        self._incidents: dict[tuple[str, str, str], int] = {}
        self.enqueued: Mapping[tuple[str, str], int] = {}
        """Jobs that were ever made, by (job type, queue): the fleet's, where a server asked for it."""
        self.dead_letters_as: Mapping[str, str] = {}
        """Names under which queues show their dead letters, of those that have one; never stale."""
        self.slots: Callable[[], Mapping[str, Usage]] = dict
        self.limits: Callable[[], Mapping[str, Usage]] = dict
        self.ranges: Callable[[], Mapping[str, tuple[int, int]]] = dict
        self.pressure: Callable[[], Mapping[str, float]] = dict

    def measured(
        self,
        depths: Iterable[Depth],
        *,
        oldest: Mapping[str, float] | None = None,
        types: Mapping[str, int] | None = None,
    ) -> None:
        """Replace the measurement of jobs: depths, age in seconds of the oldest queued job by queue, and queued
        jobs by job type."""
        self._depths = _capped(depths)
        self._oldest = dict(oldest or {})
        self._types = dict(types or {})
        self._measured_at = self._clock()

    def noted(self, note: Mapping[str, Any]) -> None:
        """Replace the measurement by what a monitor has noted: its own or another's."""
        oldest: dict[str, float] = {}
        for queue, _, status, _, age in note["depths"]:
            if status == "queued" and age is not None:
                oldest[queue] = max(age, oldest.get(queue, 0.0))
        self.measured(
            [Depth(queue, tenant, status, n) for queue, tenant, status, n, _ in note["depths"]],
            oldest=oldest,
            types=note["types"],
        )
        archive = note.get("archive")
        self._archive = None if archive is None else Archive(*archive)
        self._workers = dict(note.get("workers", {}))
        self.dead_letters_as = dict(note.get("dead_letters_as", self.dead_letters_as))
        self._rates = [Rate(*row) for row in note.get("limits", ())]
        self._budgets = [BudgetUse(*row) for row in note.get("budgets", ())]
        self._incidents = {
            (kind, severity, queue): n for kind, severity, queue, n in note.get("incidents", ())
        }

    @property
    def rates(self) -> list[Rate]:
        """Limits by rate; none if stale."""
        return self._rates if self.fresh else []

    @property
    def fresh(self) -> bool:
        """Whether there is a measurement that is not stale."""
        return self._measured_at is not None and self._clock() - self._measured_at <= STALE_AFTER

    @property
    def depths(self) -> list[Depth]:
        """Depths by queue, tenant and status; none if stale."""
        return self._depths if self.fresh else []

    @property
    def oldest(self) -> dict[str, float]:
        """Age in seconds of the oldest queued job by queue; none if stale."""
        return self._oldest if self.fresh else {}

    @property
    def incidents(self) -> dict[tuple[str, str, str], int]:
        """Open incidents by (kind, severity, queue); none if stale."""
        return self._incidents if self.fresh else {}

    @property
    def workers(self) -> dict[str, int]:
        """Workers by state: running, draining, lost; none if stale."""
        return self._workers if self.fresh else {}

    @property
    def types(self) -> dict[str, int]:
        """Queued jobs by job type; none if stale."""
        return self._types if self.fresh else {}

    @property
    def budgets(self) -> list[BudgetUse]:
        """Budgets in use, the fullest first; none if stale."""
        return self._budgets if self.fresh else []

    @property
    def archive(self) -> Archive | None:
        """What waits for the cold archive; None if stale, or if nothing has to go there."""
        return self._archive if self.fresh else None


def _capped(depths: Iterable[Depth]) -> list[Depth]:
    rows = list(depths)
    weight: dict[str, int] = {}
    for row in rows:
        weight[row.tenant] = weight.get(row.tenant, 0) + row.count
    shown = set(sorted(weight, key=lambda tenant: (-weight[tenant], tenant))[:MAX_TENANTS])
    sums: dict[tuple[str, str, str], int] = {}
    for row in rows:
        key = (row.queue, row.tenant if row.tenant in shown else OTHER, row.status)
        sums[key] = sums.get(key, 0) + row.count
    return [Depth(*key, count) for key, count in sums.items()]
