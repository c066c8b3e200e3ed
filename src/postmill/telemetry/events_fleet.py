"""Events of a worker's own life: sessions, leases, the database, wake-ups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from postmill.telemetry.event import Event


@dataclass(frozen=True, slots=True)
class WorkerStarted(Event):
    """A worker process began to work. `queues` maps queue to slots; `build` is what its application calls its code."""

    name: ClassVar[str] = "worker_started"
    worker_id: str
    queues: Mapping[str, int]
    version: str = ""
    build: str | None = None


@dataclass(frozen=True, slots=True)
class SlotsChanged(Event):
    """The slots of a queue whose number is a range went from `before` to `slots`, because of `because`: backlog, latency
    (the P95 is `slower` times the usual one), cpu, memory (shares in use), or idle."""

    name: ClassVar[str] = "slots_changed"
    worker_id: str
    queue: str
    before: int
    slots: int
    because: str
    slower: float | None = None
    cpu: float | None = None
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class WorkerDraining(Event):
    """It claims nothing more; `running` jobs have `grace` seconds to finish."""

    name: ClassVar[str] = "worker_draining"
    worker_id: str
    running: int = 0
    grace: float | None = None


@dataclass(frozen=True, slots=True)
class WorkerStopped(Event):
    """It ended. `summary` counts what became of its jobs, as in `{"succeeded": 12, "released": 1}`."""

    name: ClassVar[str] = "worker_stopped"
    worker_id: str
    summary: Mapping[str, int | float]


@dataclass(frozen=True, slots=True)
class SessionOpened(Event):
    """The worker has a new lease, under the id `session`."""

    name: ClassVar[str] = "session_opened"
    worker_id: str
    session: UUID


@dataclass(frozen=True, slots=True)
class SessionClosed(Event):
    """The worker gave its lease back."""

    name: ClassVar[str] = "session_closed"
    worker_id: str
    session: UUID
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LeaseLost(Event):
    """The lease ended while it was needed: `running` handlers are stopped, and a new session starts."""

    name: ClassVar[str] = "lease_lost"
    worker_id: str
    session: UUID
    running: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReportMissed(Event):
    """Reports changed nothing, since these jobs were no longer this session's."""

    name: ClassVar[str] = "report_missed"
    worker_id: str
    job_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class LoopBlocked(Event):
    """The event loop did not run for `seconds`; `job_id` and `job_type` tell the job that held
    it, if that is known."""

    name: ClassVar[str] = "loop_blocked"
    worker_id: str
    seconds: float
    job_id: UUID | None = None
    job_type: str | None = None


@dataclass(frozen=True, slots=True)
class DatabaseAway(Event):
    """The database cannot be reached, or is read-only; the next try is in `retry_in` seconds."""

    name: ClassVar[str] = "database_away"
    worker_id: str
    error: str
    retry_in: float


@dataclass(frozen=True, slots=True)
class DatabaseBack(Event):
    """The database answers again, after `outage` seconds."""

    name: ClassVar[str] = "database_back"
    worker_id: str
    outage: float


@dataclass(frozen=True, slots=True)
class ListenerLost(Event):
    """The LISTEN connection is gone or dead; polling goes on, the next try is in `retry_in` seconds."""

    name: ClassVar[str] = "listener_lost"
    worker_id: str
    error: str
    retry_in: float = 0.0


@dataclass(frozen=True, slots=True)
class ListenerRestored(Event):
    """LISTEN works again, and a full claim follows."""

    name: ClassVar[str] = "listener_restored"
    worker_id: str
    outage: float = 0.0


@dataclass(frozen=True, slots=True)
class NotificationReceived(Event):
    """A notification came in on `channel`, about `queue` if it names one."""

    name: ClassVar[str] = "notification_received"
    channel: str
    queue: str | None = None


@dataclass(frozen=True, slots=True)
class PollScanned(Event):
    """A worker looked for work without being told of any, and claimed `found` jobs."""

    name: ClassVar[str] = "poll_scanned"
    worker_id: str
    found: int = 0


FLEET_EVENTS: tuple[type[Event], ...] = (
    WorkerStarted,
    SlotsChanged,
    WorkerDraining,
    WorkerStopped,
    SessionOpened,
    SessionClosed,
    LeaseLost,
    ReportMissed,
    LoopBlocked,
    DatabaseAway,
    DatabaseBack,
    ListenerLost,
    ListenerRestored,
    NotificationReceived,
    PollScanned,
)
"""All of them, to subscribe to."""
