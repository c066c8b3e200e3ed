"""Postmill: background jobs whose whole body turns on one Postgres.

The names here are the public interface. Each is imported at its first use, so that `import postmill` costs
nothing and no part is loaded that a program does not use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postmill.client import (
        AsyncCells,
        AsyncClient,
        Cells,
        Client,
        acancel,
        aenqueue,
        aenqueue_many,
        apublish,
        astart_batch,
        astart_workflow,
        cancel,
        enqueue,
        enqueue_many,
        publish,
        start_batch,
        start_workflow,
    )
    from postmill.domain.artifact import Artifact
    from postmill.domain.batch import Batch
    from postmill.domain.boost import Boost
    from postmill.domain.classify import Classifier
    from postmill.domain.declared import on_event, schedule
    from postmill.domain.errors import EnqueueRefused, PostmillError
    from postmill.domain.idempotency import Idempotency, Mode, stable_hash
    from postmill.domain.job import Enqueued, JobView, NewJob
    from postmill.domain.job_type import JobType, job
    from postmill.domain.limit import Limit, Rate
    from postmill.domain.policy import ByErrorClass, Constant, Exponential, Steps
    from postmill.domain.queue import Queue
    from postmill.domain.registry import Registry
    from postmill.domain.resource import resource
    from postmill.domain.settings import Settings
    from postmill.domain.signals import BudgetDeferred, BudgetExhausted, Bury, Cancel, Fail, Retry, Snooze
    from postmill.domain.workflow import Workflow
    from postmill.engine.context import Context
    from postmill.engine.worker import Worker

__all__ = [
    # defining jobs
    "job",
    "JobType",
    "resource",
    "Registry",
    "Queue",
    "Boost",
    "Exponential",
    "Steps",
    "Constant",
    "ByErrorClass",
    "Classifier",
    "Idempotency",
    "Mode",
    "Limit",
    "Rate",
    # declaring triggers
    "schedule",
    "on_event",
    # enqueuing them
    "enqueue",
    "aenqueue",
    "enqueue_many",
    "aenqueue_many",
    "publish",
    "apublish",
    "cancel",
    "acancel",
    # jobs that wait for one another, jobs that are watched together
    "Workflow",
    "Batch",
    "start_workflow",
    "astart_workflow",
    "start_batch",
    "astart_batch",
    "Client",
    "AsyncClient",
    "Cells",
    "AsyncCells",
    "NewJob",
    "Enqueued",
    "JobView",
    "stable_hash",
    # running them
    "Context",
    "Artifact",
    "Worker",
    "Settings",
    "Retry",
    "Snooze",
    "Cancel",
    "Bury",
    "Fail",
    "BudgetDeferred",
    "BudgetExhausted",
    # what goes wrong
    "PostmillError",
    "EnqueueRefused",
]

_HOMES = {
    "postmill.client": (
        "AsyncCells AsyncClient Cells Client acancel aenqueue aenqueue_many apublish astart_batch astart_workflow cancel"
        " enqueue enqueue_many publish start_batch start_workflow"
    ),
    "postmill.domain.artifact": "Artifact",
    "postmill.domain.batch": "Batch",
    "postmill.domain.workflow": "Workflow",
    "postmill.domain.boost": "Boost",
    "postmill.domain.classify": "Classifier",
    "postmill.domain.declared": "on_event schedule",
    "postmill.domain.errors": "EnqueueRefused PostmillError",
    "postmill.domain.idempotency": "Idempotency Mode stable_hash",
    "postmill.domain.job": "Enqueued JobView NewJob",
    "postmill.domain.job_type": "JobType job",
    "postmill.domain.limit": "Limit Rate",
    "postmill.domain.policy": "ByErrorClass Constant Exponential Steps",
    "postmill.domain.queue": "Queue",
    "postmill.domain.registry": "Registry",
    "postmill.domain.resource": "resource",
    "postmill.domain.settings": "Settings",
    "postmill.domain.signals": "BudgetDeferred BudgetExhausted Bury Cancel Fail Retry Snooze",
    "postmill.engine.context": "Context",
    "postmill.engine.worker": "Worker",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
