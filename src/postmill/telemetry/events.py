"""Every event there is, under one roof: `from postmill.telemetry.events import JobFailed`."""

from __future__ import annotations

from postmill.telemetry.event import Event, JobEvent, JobFacts
from postmill.telemetry.events_fleet import (
    FLEET_EVENTS,
    DatabaseAway,
    DatabaseBack,
    LeaseLost,
    ListenerLost,
    ListenerRestored,
    LoopBlocked,
    NotificationReceived,
    PollScanned,
    ReportMissed,
    SessionClosed,
    SessionOpened,
    WorkerDraining,
    WorkerStarted,
    WorkerStopped,
)
from postmill.telemetry.events_jobs import (
    JOB_EVENTS,
    JobCanceled,
    JobClaimed,
    JobCompleted,
    JobDeadLettered,
    JobFailed,
    JobInterrupted,
    JobLost,
    JobRetryScheduled,
    JobSnoozed,
    JobStarted,
)
from postmill.telemetry.events_upkeep import (
    UPKEEP_EVENTS,
    JobsPromoted,
    JobsRescued,
    PartitionsPruned,
    PolicyBroken,
    QueueMeasured,
    UpkeepFailed,
)

ALL_EVENTS: tuple[type[Event], ...] = (*JOB_EVENTS, *FLEET_EVENTS, *UPKEEP_EVENTS)
"""Every event type, to subscribe to."""

__all__ = [
    "ALL_EVENTS",
    "FLEET_EVENTS",
    "JOB_EVENTS",
    "UPKEEP_EVENTS",
    "DatabaseAway",
    "DatabaseBack",
    "Event",
    "JobCanceled",
    "JobClaimed",
    "JobCompleted",
    "JobDeadLettered",
    "JobEvent",
    "JobFacts",
    "JobFailed",
    "JobInterrupted",
    "JobLost",
    "JobRetryScheduled",
    "JobSnoozed",
    "JobStarted",
    "JobsPromoted",
    "JobsRescued",
    "LeaseLost",
    "ListenerLost",
    "ListenerRestored",
    "LoopBlocked",
    "NotificationReceived",
    "PartitionsPruned",
    "PolicyBroken",
    "PollScanned",
    "QueueMeasured",
    "ReportMissed",
    "SessionClosed",
    "SessionOpened",
    "UpkeepFailed",
    "WorkerDraining",
    "WorkerStarted",
    "WorkerStopped",
]
