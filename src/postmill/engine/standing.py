"""What a worker says of itself at each sign of life: how much it runs, what it ended, what went wrong last."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from postmill.engine.child_memory import resident

if TYPE_CHECKING:
    from postmill.engine.verdict import LastError
    from postmill.engine.worker import Worker

_LONGEST = 300  # characters of the message of the last error

_OF_CONFIG = (
    "lease",
    "grace",
    "notify",
    "poll_interval",
    "threads",
    "max_jobs",
    "upkeep",
    "work",
    "memory_limit",
)


@dataclass(frozen=True, slots=True)
class Standing:
    """Attributes:
    running: jobs that run.
    full: every slot is taken.
    draining: it claims nothing more.
    report: what else people want to know; JSON.
    """

    running: int
    full: bool
    draining: bool
    report: dict[str, Any]


def standing_of(worker: Worker, running: int, draining: bool, last_error: LastError | None) -> Standing:
    """How a worker stands. May be called from any thread."""
    types = worker.counters.types()
    slots = sum(queue.ceiling for queue in list(worker.queues.values()))
    config = {name: getattr(worker.config, name) for name in _OF_CONFIG}
    error = (
        None
        if last_error is None
        else {
            "at": last_error[0].isoformat(),
            "job_id": str(last_error[1].job_id),
            "job_type": last_error[1].job_type,
            "error_class": last_error[2],
            "message": last_error[3][:_LONGEST],
        }
    )
    ranged = [queue for queue in list(worker.queues.values()) if queue.ranged]
    report: dict[str, Any] = {
        "memory_bytes": resident(),
        "succeeded": sum(one.succeeded for one in types),
        "failed": sum(sum(one.failed.values()) for one in types),
        "last_error": error,
        "python": sys.version.split()[0],
        "config": config,
    }
    if ranged:
        report["slots"] = {queue.name: queue.slots for queue in ranged}
        report["ranges"] = {
            queue.name: {"least": queue.floor, "most": queue.ceiling, "because": queue.because}
            for queue in ranged
        }
    return Standing(running, 0 < slots <= running, draining, report)
