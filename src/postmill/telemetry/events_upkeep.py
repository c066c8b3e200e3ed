"""Events of the rounds that keep the house: promote, rescue, prune, measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from postmill.telemetry.event import Event


@dataclass(frozen=True, slots=True)
class JobsPromoted(Event):
    """`n` jobs that had become due were queued; not emitted for none."""

    name: ClassVar[str] = "jobs_promoted"
    n: int


@dataclass(frozen=True, slots=True)
class JobsBoosted(Event):
    """`n` jobs of `queue` that had waited for long rose in priority; not emitted for none."""

    name: ClassVar[str] = "jobs_boosted"
    queue: str
    n: int


@dataclass(frozen=True, slots=True)
class JobsRescued(Event):
    """`n` jobs of sessions whose lease is over were taken back; `buried` of them as lost too often."""

    name: ClassVar[str] = "jobs_rescued"
    n: int
    buried: int = 0
    sessions: int = 0


@dataclass(frozen=True, slots=True)
class PartitionsPruned(Event):
    """Partitions made ahead and dropped, by name, and bodies `kept` because something still needs them."""

    name: ClassVar[str] = "partitions_pruned"
    created: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    kept: int = 0


@dataclass(frozen=True, slots=True)
class ArtifactsCleared(Event):
    """Files of `n` artifacts that nobody can see any more were cleared away, and `orphans` that never became one."""

    name: ClassVar[str] = "artifacts_cleared"
    n: int
    orphans: int = 0


@dataclass(frozen=True, slots=True)
class HistoryArchived(Event):
    """`rows` of a table went to the cold archive, in files of `size` bytes, were read back, and dropped here."""

    name: ClassVar[str] = "history_archived"
    source: str
    rows: int
    size: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ArchiveSpent(Event):
    """`rows` of a table that were past their retention were cleared away from the cold archive."""

    name: ClassVar[str] = "archive_spent"
    source: str
    rows: int


@dataclass(frozen=True, slots=True)
class UpkeepFailed(Event):
    """A round of upkeep failed; it runs again at its next turn."""

    name: ClassVar[str] = "upkeep_failed"
    round: str
    error: str


@dataclass(frozen=True, slots=True)
class QueueMeasured(Event):
    """How much waits in a queue (of one tenant, if `tenant_id` is given). `depth` maps status to jobs;
    `oldest_seconds` is how long the oldest queued job has been due."""

    name: ClassVar[str] = "queue_measured"
    queue: str
    depth: Mapping[str, int]
    oldest_seconds: float | None = None
    tenant_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class PolicyBroken(Event):
    """A job type's own retry policy or classifier gave no usable answer, says `why`; the default was used."""

    name: ClassVar[str] = "policy_broken"
    job_type: str
    why: str


@dataclass(frozen=True, slots=True)
class TicksFired(Event):
    """Ticks of schedules that a round took, by outcome (a stretch that is left out counts once); `late` is the longest
    time in seconds from a due moment to its job."""

    name: ClassVar[str] = "ticks_fired"
    outcomes: Mapping[str, int]
    late: float


@dataclass(frozen=True, slots=True)
class EventsDelivered(Event):
    """Deliveries of events to triggers that a round settled, by outcome."""

    name: ClassVar[str] = "events_delivered"
    outcomes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TriggerFailed(Event):
    """A trigger made no job, says `why`: its template did not fit, or its job type refuses."""

    name: ClassVar[str] = "trigger_failed"
    trigger_id: UUID
    label: str
    tenant_id: UUID
    why: str


@dataclass(frozen=True, slots=True)
class TriggerBroken(Event):
    """A schedule cannot be planned, says `why`; it rests until somebody edits it."""

    name: ClassVar[str] = "trigger_broken"
    trigger_id: UUID
    label: str
    tenant_id: UUID
    why: str


@dataclass(frozen=True, slots=True)
class IncidentsEscalated(Event):
    """A round took so many steps of escalation policies, and planned so many notifications."""

    name: ClassVar[str] = "incidents_escalated"
    steps: int
    planned: int


@dataclass(frozen=True, slots=True)
class BudgetAlert(Event):
    """A budget came to a threshold (`change` is raised), or what was told of it is over (resolved)."""

    name: ClassVar[str] = "budget_alert"
    budget: str
    percent: float
    severity: str
    change: str
    tenant_id: UUID | None = None


UPKEEP_EVENTS: tuple[type[Event], ...] = (
    JobsPromoted,
    JobsBoosted,
    JobsRescued,
    PartitionsPruned,
    ArtifactsCleared,
    HistoryArchived,
    ArchiveSpent,
    UpkeepFailed,
    QueueMeasured,
    PolicyBroken,
    TicksFired,
    EventsDelivered,
    IncidentsEscalated,
    TriggerFailed,
    TriggerBroken,
    BudgetAlert,
)
"""All of them, to subscribe to."""
