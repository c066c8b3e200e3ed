"""What a worker says of itself at each sign of life: how much it runs, what it ended, what went wrong last."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from postmill.engine.child_memory import resident
from postmill.telemetry.type_counters import TypeCounters

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
        **ended_with(types),
        "last_error": error,
        "python": sys.version.split()[0],
        "config": config,
    }
    if ranged:
        report["slots"] = {queue.name: queue.slots for queue in ranged}
        report["ranges"] = {
            queue.name: {
                "least": queue.floor,
                "most": queue.ceiling,
                "because": queue.because,
                "held": queue.held,
            }
            for queue in ranged
        }
    return Standing(running, 0 < slots <= running, draining, report)


def ended_with(types: Iterable[TypeCounters]) -> dict[str, int]:
    """What a worker has ended since its start: jobs that succeeded, attempts that failed."""
    known = list(types)
    return {
        "succeeded": sum(one.succeeded for one in known),
        "failed": sum(sum(one.failed.values()) for one in known),
    }


def became(types: Iterable[TypeCounters]) -> dict[str, int]:
    """What became of its jobs: those that ended, and attempts after which one runs again (`retried`)."""
    known = list(types)
    return {
        "succeeded": sum(one.succeeded for one in known),
        "failed": sum(one.ended for one in known),
        "dead_letters": sum(sum(one.dead.values()) for one in known),
        "retried": sum(one.retried for one in known),
        "canceled": sum(one.canceled for one in known),
    }
